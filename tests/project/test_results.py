"""Pages show the stored results, and a few stored numbers are found again on bundled data."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from anchor_align import InputError, load_views
from anchor_align.data import make_simulated

ROOT = Path(__file__).resolve().parents[2]


def differences(root: Path) -> list[str]:
    """What ``render.py --check`` prints about a tree."""
    words = [sys.executable, str(root / "benchmarks" / "render.py"), "--check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == bool(lines), done.stderr
    return lines


def test_pages_show_the_stored_results(tmp_path: Path) -> None:
    """Pages are current; with another number in a result, or in a page, the check names the page."""
    for folder in ("benchmarks", "docs", "examples/images"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "README.md", tmp_path)
    assert differences(tmp_path) == []
    stored, page = tmp_path / "benchmarks" / "results" / "grams.json", tmp_path / "docs" / "dask.md"
    stored.write_text(re.sub(r'"float64": [\d.]+', '"float64": 3.9', stored.read_text()))
    page.write_text(page.read_text().replace(" MB |", "1 MB |", 1))
    assert [line.split()[0] for line in differences(tmp_path)[:-1]] == ["docs/dask.md", "docs/results/speed.md"]


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that reads results; importing a script adds folders to the path."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    import results

    return results


def test_a_data_set_that_is_not_there_is_named(results: ModuleType, tmp_path: Path) -> None:
    """A script without its data says which file it wants and where to get it; bundled sets need no file."""
    bench = results.Bench("worth", tmp_path, print)
    assert bench.path("digits") == "digits"
    with pytest.raises(InputError, match=r"Hdigit\.npz does not exist.*Data"):
        bench.path("Hdigit")


def test_stored_missing_samples_and_power_are_found_again(results: ModuleType) -> None:
    """One draw of UCI-Digit with half of the samples missing, and a rate of the test, which has the same seed."""
    script, data = results.script("missing"), load_views("uci-digit")
    mask = script.draw_mask(len(data.views), data.n_samples, 0.5, 0)
    stored = script.scores_of(results.read("missing"), "UCI-Digit_3v", "lmvsc", 0.5)[0]
    assert script.score_all("lmvsc", data, mask, 0) == pytest.approx(stored, abs=2.5)
    power, rng = results.script("power"), np.random.default_rng([6, 2])
    rate = 100 * np.mean([power.found(rng, 6, power.EFFECTS[2]) for _ in range(power.STUDIES)])
    assert rate == pytest.approx(results.read("power")["rows"][1]["rates"][2], abs=0.2)


@pytest.mark.parametrize("name", ["simulated", "mfeat", "uci-digit", "digits", "breast-cancer"])
def test_bundled_data_are_those_of_the_results(name: str, results: ModuleType) -> None:
    """The page of sources shows the checksums of the data that are installed."""
    script = results.script("data_sets")
    found = script.size_and_digest(name)
    assert found.items() <= script.of(results.read("data_sets"), name).items()


@pytest.mark.slow
def test_stored_choice_of_scales_is_found_again(results: ModuleType) -> None:
    """A row of the table on bundled data, within what rounding on other processors moves."""
    script, stored = results.script("scale_choice"), results.read("scale_choice")
    (row,) = (row for row in stored["rows"] if row["data"] == "breast-cancer")
    found = script.row_of("breast-cancer", "breast-cancer", stored["draws"])
    assert found["chosen"] == row["chosen"]
    assert [found[scale] for scale in script.SCALES] == pytest.approx([row[scale] for scale in script.SCALES], abs=2.5)


@pytest.mark.slow
def test_stored_simulated_graphs_are_found_again(results: ModuleType) -> None:
    """The draw of simulated data that loses most without alignment: all accuracies, and the labels' permutation."""
    script = results.script("simulated_graphs")
    rows = [row for row in results.read("simulated_graphs")["rows"] if row["data"] == script.SIMULATED]
    worst = min(rows, key=lambda row: row["acc"]["lmvsc"][0])
    found = script.scored(make_simulated(worst["repeat"]), worst["repeat"])
    assert found["right"]
    assert found["acc"] == {method: pytest.approx(each, abs=1.0) for method, each in worst["acc"].items()}
