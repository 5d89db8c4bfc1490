"""Numbers of README and pages are those that scripts have found: the results are stored in examples/results."""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor_align import load_views
from anchor_align.data import make_simulated

ROOT = Path(__file__).resolve().parents[2]
PAGE_NAMES = sorted(
    path.relative_to(ROOT / "docs").as_posix()
    for path in (ROOT / "docs").rglob("*.md")
    if not path.with_name(f"{path.name}.j2").exists()  # benchmarks/render.py makes the others
)


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def example(name: str, folder: str = "examples") -> Any:
    """A script, as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / folder))
        return importlib.import_module(name)


# What examples/store.py has stored for the tables and sentences of each page.
PAGES: dict[str, tuple[str, ...]] = {
    "results/ablation.md": ("ablation",),
    "results/convergence.md": ("convergence",),
    "results/graphs.md": ("real_graphs",),
    "results/msgl.md": ("msgl_order",),
    "results/near_spectral.md": ("near_spectral",),
    "results/other_sets.md": ("other_sets",),
    "results/rivals.md": ("rivals_table", "msgl_order"),
    "results/running_time.md": ("running_time",),
    "results/sensitivity.md": ("sensitivity",),
    "results/shuffled_rows.md": ("shuffled_rows",),
    "results/simulated.md": ("simulated_table", "simulated_graphs"),
    "local.md": ("local_defaults", "scale_choice", "lam_of_local", "aligned_or_concat", "scales"),
    "settings.md": ("settings", "n_clusters"),
}
# These have tests of their own: here, in test_benchmark_numbers.py and, for commands.md and maths.md, in test_docs.py.
ELSEWHERE = ("speed.md", "dask.md", "maths.md", "commands.md")
# Settings, limits and versions: nothing was measured.
NOT_MEASURED = {
    "results/ablation.md": {"0.0001"},
    "quickstart.md": {"3.11", "7.3"},
    "settings.md": {"0.1", "0.4"},
    "studies.md": {"7.3"},
}
NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\d.]*\w)")


def numbers_in(text: str) -> list[str]:
    """All numbers, without commas; names such as 3-Sources have none."""
    found = NUMBER.findall(re.sub(r"\d-[A-Z]", "", text.replace("\N{MINUS SIGN}", "-")))
    return [each.rstrip(",").replace(",", "") for each in found]


def same(shown: str, found: str) -> bool:
    """Whether a number is another one at the precision that is shown."""
    digits = len(shown.partition(".")[2])
    return abs(float(shown) - float(found)) <= 0.5000001 * 10.0**-digits


def has(line: list[str], row: list[str]) -> bool:
    """Whether the numbers of a row are in a line, in the same order."""
    rest = iter(line)
    return all(any(same(shown, found) for found in rest) for shown in row)


def outputs(name: str) -> list[list[str]]:
    """Numbers in every line of the stored results of a page."""
    texts = [
        (ROOT / "examples" / "results" / f"{each}.txt").read_text(encoding="utf-8") for each in PAGES.get(name, ())
    ]
    return [numbers_in(line) for text in texts for line in text.splitlines()]


def published() -> list[str]:
    return numbers_in((ROOT / "examples" / "paper" / "paper_numbers.py").read_text(encoding="utf-8"))


def prose(text: str) -> str:
    """A page without programs and their output."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def table_rows(text: str, settings: Collection[str]) -> list[tuple[list[str], list[str]]]:
    """Numbers of each row of all tables that has many, or decimals other than settings: ours, and published ones."""
    found = []
    header: list[str] = []
    lines = [line.rstrip() for line in prose(text).splitlines()]
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        row = [re.sub(r"`[^`]*`", "", cell) for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if re.match(r"\|[\s:|-]+$", below):
            header = row
        elif row and not re.match(r"\|[\s:|-]+$", line):
            # The first cell names the row, unless it is nothing but a number.
            row[0] = row[0] if NUMBER.fullmatch(row[0].strip()) else ""
            theirs = [at for at, head in enumerate(header) if "pub" in head or "published" in line]
            ours = [each for at, cell in enumerate(row) if at not in theirs for each in numbers_in(cell)]
            known = [each for at in theirs for each in numbers_in(row[at])]
            if len(ours) > 3 or any("." in each and each not in settings for each in ours + known):
                found.append((ours, known))
    return found


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_rows_of_a_page_are_in_the_output_of_its_scripts(name: str) -> None:
    """The numbers of a row stand in one line of a stored output, in the same order; published ones in their list."""
    if name in ELSEWHERE:
        pytest.skip("has a test of its own")
    lines, rows = outputs(name), table_rows(page(name), NOT_MEASURED.get(name, set()))
    assert [ours for ours, _ in rows if not any(has(line, ours) for line in lines)] == []
    stated = {*published(), *(each for line in lines for each in line)}
    assert [each for _, theirs in rows for each in theirs if each not in stated] == []


def test_a_wrong_digit_is_noticed() -> None:
    """One more in the last digit of the first number with decimals: hardly any row is found by accident."""
    rows = [(name, row) for name in PAGES for row, _ in table_rows(page(name), ()) if len(row) > 2]
    noticed = []
    for name, row in rows:
        at = next((at for at, each in enumerate(row) if "." in each), 0)
        digits = len(row[at].partition(".")[2])
        wrong = [*row[:at], f"{float(row[at]) + 10.0**-digits:.{digits}f}", *row[at + 1 :]]
        noticed.append(not any(has(line, wrong) for line in outputs(name)))
    assert len(noticed) > 40
    assert np.mean(noticed) > 0.95


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_numbers_of_the_text_are_found_somewhere(name: str) -> None:
    """A number with decimals in a sentence is in a table or an output of the page, or in the stored results."""
    if name in ("speed.md", "dask.md", "maths.md"):
        pytest.skip("has a test of its own")
    text = page(name)
    lines = prose(text).splitlines()
    code = "\n".join(re.findall(r"^```.*?^```$", text, flags=re.DOTALL | re.MULTILINE))
    known = numbers_in(code + "\n".join(line for line in lines if line.startswith("|")))
    known += [each for line in outputs(name) for each in line]
    sentences = re.sub(r"\]\([^)]*\)|`[^`]*`|\$[^$]*\$", "", "\n".join(x for x in lines if not x.startswith("|")))
    shown = {each for each in numbers_in(sentences) if "." in each} - NOT_MEASURED.get(name, set())
    shown -= set(published() if "results" in name else [])
    assert {each for each in shown if not any(same(each, number) for number in known)} == set()


@pytest.mark.parametrize("name", sorted({each for names in PAGES.values() for each in names}))
def test_stored_output_is_of_the_command(name: str) -> None:
    """What is stored says how it was made, and can be made again."""
    script = example("store")
    text = (ROOT / "examples" / "results" / f"{name}.txt").read_text(encoding="utf-8")
    assert re.findall(r"^\$ (.*)$", text, re.MULTILINE) == [script.shown(each) for each in script.COMMANDS[name]]


def stored_line(name: str, start: str) -> list[float]:
    """Numbers of the first line of a stored output that starts with these words."""
    text = (ROOT / "examples" / "results" / f"{name}.txt").read_text(encoding="utf-8")
    return [float(each) for each in numbers_in(next(x for x in text.splitlines() if x.startswith(start)))]


@pytest.mark.slow
def test_stored_simulated_graphs_are_found_again() -> None:
    """The draw of simulated data that loses most without alignment."""
    script = example("simulated_graphs", "examples/paper")
    simulated = (ROOT / "examples" / "results" / "simulated_graphs.txt").read_text(encoding="utf-8").splitlines()
    rows = [[float(each) for each in numbers_in(line)] for line in simulated[-10:]]
    seed, *stored_scores = min(rows, key=lambda row: row[1])
    run = script.run(make_simulated(int(seed)), int(seed))
    found = [100 * score for each in run.scores.values() for score in each.values()]
    assert found == pytest.approx(stored_scores, abs=1.0)
    assert len(found) == 8
    assert found[0] < 90 < found[1]


@pytest.mark.slow
def test_stored_real_graphs_are_found_again() -> None:
    """The first draw of lmvsc on bundled data, unaligned and aligned."""
    script = example("real_graphs", "examples/paper")
    found = script.run("lmvsc", load_views("uci-digit"), None, 0).measures
    for fusion, (accuracy, _, blocks) in found.items():
        line = stored_line("real_graphs", f"lmvsc   {fusion}")
        assert (accuracy, blocks) == pytest.approx(line[-2:], abs=1.5)
