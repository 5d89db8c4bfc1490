"""Stored results: a few of their numbers are found again on bundled data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from anchor_align.data import make_simulated

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that reads results; importing a script adds folders to the path."""
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import results

    return results


@pytest.mark.slow
def test_stored_simulated_graphs_are_found_again(results: Any) -> None:
    """The draw of simulated data that loses most without alignment: all accuracies, and the labels' permutation."""
    script = results.script("simulated_graphs")
    rows = [row for row in results.read("simulated_graphs")["rows"] if row["data"] == script.SIMULATED]
    worst = min(rows, key=lambda row: row["acc"]["lmvsc"][0])
    found = script.scored(make_simulated(worst["repeat"]), worst["repeat"])
    assert found["right"]
    assert found["acc"] == {method: pytest.approx(each, abs=1.0) for method, each in worst["acc"].items()}
