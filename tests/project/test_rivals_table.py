"""The script of the paper's tables of rivals: published numbers beside ours, footings, times and ranks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from scripts import printed_by

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "paper"


@pytest.mark.slow
def test_all_methods_are_in_the_tables(tmp_path: Path) -> None:
    """Every method of the paper and what people use anyway, three scores and times, on a bundled set."""
    words = ["simulated", "--draws", "1", "--timeout", "100", "--keep", tmp_path / "all.json", "--format", "md"]
    printed = printed_by(FOLDER / "rivals_table.py", *words)
    rows = [line.split("|")[1].strip() for line in printed.splitlines() if line.startswith("|")]
    for method in ("fmvacc", "msc-ias", "amgl", "pmsc", "rmkm", "bmvc", "lmvsc:concat", "fmcnof", "sfmc", "local"):
        assert rows.count(method) == 4
    assert {"msgl-given", "msgl-aligned", "kmeans", "spectral"} <= set(rows)
    assert len(json.loads((tmp_path / "all.json").read_text())["study"]["methods"]) == 15


def test_published_numbers_are_those_of_the_main_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns are in order: the proposed method is last, and agrees with the table of the ablation."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import paper_numbers

    for score in ("acc", "nmi", "fscore"):
        for data, row in paper_numbers.main_table(score).items():
            for method, arm, column in (("fmvacc", "aligned", "FMVACC"), ("lmvsc", "concat", "LMVSC")):
                assert (paper_numbers.published(data, score, method, arm) or "").replace(" ", "") == row[column]


@pytest.mark.slow
def test_the_order_of_anchors_in_msgl_is_compared() -> None:
    """Two rows for each data set, and the difference between them."""
    printed = printed_by(FOLDER / "msgl_order.py", "simulated", "--draws", 1, "--format", "md")
    assert printed.count("| as they come") == 3


@pytest.mark.parametrize("page", ["rivals", "msgl"])
def test_commands_of_the_pages_are_understood(page: str) -> None:
    """Each page names a script that is there, and options that it has."""
    text = (ROOT / "docs" / "results" / f"{page}.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python (examples/paper/\w+\.py)((?:.*\\\n)*.*)$", text, flags=re.MULTILINE)
    assert commands
    for script, words in commands:
        source = (ROOT / script).read_text(encoding="utf-8")
        assert [option for option in re.findall(r"--\w+", words) if f'"{option}"' not in source] == []
