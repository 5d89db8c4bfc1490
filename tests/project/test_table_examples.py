"""The examples on tables and annotated data run, and joined views are better than any view alone."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pandas as pd
import pytest

from anchor_align import load_views

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, script: str, *words: object
) -> list[float]:
    """Accuracies that a script prints; in this process, because importing anndata takes seconds."""
    monkeypatch.setattr(sys, "argv", [script, *map(str, words)])
    runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    return [float(number) for number in re.findall(r"([\d.]+) %", capsys.readouterr().out)]


@pytest.mark.slow
def test_single_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells in both modalities get their type; the file has the clusters."""
    pytest.importorskip("mudata")
    # With 1,200 cells, half of the draws have an anchor of so few cells in both modalities that there is a warning.
    everyone, both, *alone = run(capsys, monkeypatch, "single_cell.py", "--cells", 6000, "--folder", tmp_path)
    assert everyone > max(alone)
    assert both > 90
    found = load_views(tmp_path / "cells.h5mu", views=["rna:X_pca"], labels="obs:anchor_align")
    assert found.n_clusters == 6


def test_omics_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Patients of three tables, named in different orders; one line for each in the result."""
    everyone, *alone = run(capsys, monkeypatch, "omics_tables.py", "--patients", 400, "--folder", tmp_path)
    assert everyone > 90 > max(alone)
    result = pd.read_csv(tmp_path / "subtypes.csv", index_col="patient")
    assert result.index.is_unique
    assert len(result) > 390
