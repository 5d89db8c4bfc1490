"""The table of accuracies beside published values."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import printed_by
from strategies import SHARED_DATA

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "paper" / "rivals_check.py"


@pytest.mark.slow
def test_rows_are_those_asked_for() -> None:
    """One draw of two methods: all accuracies are in their ranges."""
    if not SHARED_DATA.exists():
        pytest.skip(f"real data {SHARED_DATA} are not on this machine")
    out = printed_by(SCRIPT, SHARED_DATA, "--draws", 1, "--only", "amgl", "pmsc")
    rows = [line.split() for line in out.splitlines()[3:]]
    assert [row[-1] for row in rows] == ["yes"] * 4
    assert rows[0][:3] == ["amgl", "3-Sources", "default"]
