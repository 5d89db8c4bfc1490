"""Two tiers of tests, and the examples of property tests: the same on every CI run, new ones on every run by hand."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import settings

# Many tests start processes of their own. Each would compile the whole package again where this is set.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("all", derandomize=bool(os.environ.get("CI")), deadline=None)
settings.register_profile("quick", settings.get_profile("all"), max_examples=20)


def pytest_configure(config: pytest.Config) -> None:
    """Property tests draw fewer examples in the quick tier; ``at_most`` is for those with a number of their own."""
    settings.load_profile("quick" if config.getoption("markexpr") == "quick" else "all")
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # pytest-xdist would start with the files of most tests


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test that is not marked as slow is quick, examples in docstrings too.

    Files with slow tests come first, so that no process is left with a long file when the others have ended.
    """
    slow_files = set()
    for item in items:
        if item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.quick)
        else:
            slow_files.add(item.path)
    n_tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in slow_files, -n_tests[item.path], item.path))
