"""Examples that are used wrongly say so in one line, before they start to work."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("late_fusion.py --seeds 0", "--seeds must be 1 or more"),
        ("late_fusion.py nowhere.npz", "nowhere.npz does not exist"),
        ("late_fusion.py unlabelled.npz", "the data have no labels"),
        ("unmatched_samples.py --samples 5", "--samples must be from 100 to 1797"),
        ("unmatched_samples.py --samples 5000", "--samples must be from 100 to 1797"),
        ("unmatched_samples.py --known 0", "--known must be less than 1, and 20 samples or more: 0.05 of 400"),
        ("unmatched_samples.py --known 1", "--known must be less than 1"),
        ("unmatched_samples.py --draws 0", "--draws must be 1 or more"),
        ("on_dask.py --rows 10", "--rows must be 1000 or more"),
        ("on_dask.py --clusters 0", "--clusters must be 1 or more"),
        ("on_dask.py --scheduler nonsense", "nonsense"),
    ],
)
def test_wrong_use_is_told(
    words: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """No traceback: what is wrong, and exit code 2."""
    if words.startswith("on_dask.py"):
        pytest.importorskip("distributed")
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "unlabelled.npz", a=rng.random((50, 3)), b=rng.random((50, 4)))
    script, *arguments = words.split()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [script, *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""
