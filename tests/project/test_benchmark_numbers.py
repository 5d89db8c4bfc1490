"""What the pages say about time and memory is what the benchmarks have found: stored in tests/benchmarks/results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from benchmark_phrases import PHRASES

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "tests" / "benchmarks" / "results"


def words(text: str) -> str:
    """The text with single spaces, so that lines may be broken anywhere."""
    return " ".join(text.split())


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def phrases(name: str) -> list[str]:
    """What a page must say about a benchmark."""
    stored = json.loads((RESULTS / f"{name.partition(' ')[0]}.json").read_text(encoding="utf-8"))
    return [words(each) for each in PHRASES[name][1](stored)]


@pytest.mark.parametrize("name", PHRASES)
def test_page_says_what_the_benchmark_found(name: str) -> None:
    """Every phrase, to the last digit that is shown."""
    text = words(page(PHRASES[name][0]))
    assert [each for each in phrases(name) if each not in text] == []


def test_page_has_the_profile() -> None:
    """The share of k-means in a default fit is that of the stored profile."""
    profile = (ROOT / "tests" / "benchmarks" / "PROFILE.md").read_text(encoding="utf-8")
    (ratio,) = re.findall(r"The fit takes ([\d.]+) times its k-means", profile)
    assert f"relative to its own k-means | {ratio}, at most 1.5 wanted" in words(page("speed.md"))


@pytest.mark.parametrize("name", sorted({name for name, _ in PHRASES.values()}))
def test_page_has_no_other_numbers(name: str) -> None:
    """A number with decimals is in a phrase, or is a setting."""
    text = words(re.sub(r"^```.*?^```$", "", page(name), flags=re.DOTALL | re.MULTILINE))
    for benchmark, (where, _) in PHRASES.items():
        if where == name:
            for phrase in phrases(benchmark):
                text = text.replace(phrase, "")
    numbers = re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", re.sub(r"\]\([^)]*\)|`[^`]*`", "", text))
    assert set(numbers) <= SETTINGS.get(name, set())


# Values of lam and beta, bars, sizes of data, and the profile, which has a test above.
SETTINGS = {
    "speed.md": {"0.01", "0.1", "0.2", "0.5", "1.05", "1.19", "1.25", "1.28", "1.5"},
    "dask.md": {"1.28"},
    "maths.md": {"0.001", "0.01", "0.1", "0.3"},
}
