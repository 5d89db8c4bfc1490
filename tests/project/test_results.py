"""What the pages show is found again."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that knows scripts and results."""
    for folder in ("benchmarks", "benchmarks/paper", "benchmarks/speed"):
        monkeypatch.syspath_prepend(str(ROOT / folder))
    return importlib.import_module("results")


@pytest.mark.slow
def test_stored_choice_of_scales_is_found_again(results: Any) -> None:
    """A row of the table on bundled data, within what rounding on other processors moves."""
    script, stored = results.script("scale_choice"), results.read("scale_choice")
    (row,) = (row for row in stored["rows"] if row["data"] == "breast-cancer")
    found = script.row_of("breast-cancer", "breast-cancer", stored["draws"])
    assert found["chosen"] == row["chosen"]
    assert [found[scale] for scale in script.SCALES] == pytest.approx([row[scale] for scale in script.SCALES], abs=2.5)
