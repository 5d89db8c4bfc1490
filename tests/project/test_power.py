"""The rates of the test that the page of verdicts shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts import printed_by

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
STUDIES = 150


def rates(text: str) -> dict[int, list[float]]:
    """Rates by number of repeats."""
    lines = [re.findall(r"[\d.]+", line) for line in text.splitlines() if re.match(r"\| \d+ \|", line)]
    return {int(repeats): [float(rate) / 100 for rate in found] for repeats, *found in lines}


def test_the_page_has_the_rates_that_the_script_finds() -> None:
    """Fewer studies than for the page: within four standard errors of it; false positives are at most 5 %, likewise."""
    printed = printed_by(ROOT / "examples" / "power.py", "--studies", STUDIES)
    found, shown = rates(printed), rates((ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8"))
    assert list(found) == list(shown) == [5, 6, 8, 10, 20, 30]
    for repeats, claimed in shown.items():
        assert len(claimed) == 6
        for rate, got in zip(claimed, found[repeats], strict=True):
            assert got == pytest.approx(rate, abs=4 * (max(rate * (1 - rate), 0.002) / STUDIES) ** 0.5)
        assert claimed[0] <= 0.05 + 0.014
        assert claimed[-1] <= 0.05 + 0.014
        assert claimed[1:5] == sorted(claimed[1:5])
