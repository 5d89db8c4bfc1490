"""The example that adds up what alignment is worth: its table, its memory, its picture, and wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripts import EXAMPLES, run_script

pytestmark = pytest.mark.slow

SCRIPT = EXAMPLES / "worth.py"


def test_example_worth(tmp_path: Path) -> None:
    """Aligned is better than unaligned where both miss clusters; a second call computes nothing and says the same."""
    words = ["breast-cancer", "simulated", "--draws", "10", "--keep", "kept.json", "--picture", "worth.png"]
    done = run_script(SCRIPT, *words, cwd=tmp_path)
    assert done.code == 0, done.err
    rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in done.out.splitlines() if "|" in line]
    head = rows[0]
    assert head == ["data", "method", "unaligned", "view 0", "auto", "consensus", "rotated", "concat"]
    means = [dict(zip(head, row, strict=True)) for row in rows if row[0] == "mean"]
    assert [row["method"] for row in means] == ["local", "lmvsc", "fmvacc"]
    # The unaligned mean of a draw has a standard deviation of more than ten points on breast-cancer.
    gains = [float(row["consensus"]) - float(row["unaligned"]) for row in means[1:]]
    assert min(gains) > 0
    assert sum(gains) / 2 > 2
    for name in ("worth.png", "worth_dark.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert len(json.loads((tmp_path / "kept.json").read_text())) == 6
    again = run_script(SCRIPT, *words, cwd=tmp_path)
    assert again.out == done.out
    assert "finished" not in again.err


def test_example_worth_used_wrongly(tmp_path: Path) -> None:
    """One line that says what is wrong."""
    for words, said in ((["nofile.mat"], "nofile.mat"), (["simulated", "--draws", "1"], "--draws must be 2 or more")):
        done = run_script(SCRIPT, *words, cwd=tmp_path)
        assert done.code == 2
        assert said in done.err.splitlines()[-1]
        assert "Traceback" not in done.err
