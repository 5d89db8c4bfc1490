"""Two tiers of tests, and the examples of property tests: the same on every CI run, new ones on every run by hand."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Many tests start processes of their own. Each would compile the whole package again where this is set.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("all", derandomize=bool(os.environ.get("CI")), deadline=None)
settings.register_profile("quick", settings.get_profile("all"), max_examples=20)


def pytest_configure(config: pytest.Config) -> None:
    """Property tests draw fewer examples in the quick tier; ``at_most`` is for those with a number of their own."""
    settings.load_profile("quick" if config.getoption("markexpr") == "quick" else "all")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test that is not marked as slow is quick, examples in docstrings too."""
    for item in items:
        if item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.quick)
