"""Every adapter on small whole numbers: ties in all distances, equal rows and constant columns, missing samples."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import seeds

from anchor_align import AlignedClusterer, AnchorAlignError, get_adapter, list_adapters

LIMIT = 20.0  # seconds for a fit of milliseconds
# Settings that take other ways through the code of an adapter.
ADAPTERS = {record.name: type(get_adapter(record.name)) for record in list_adapters()}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ADAPTERS),
    ("fmvacc", {"orthogonal": False, "n_init": 1}),
    ("sfmc", {"anchors": "flexible", "n_neighbors": 2}),
    ("sfmc", {"anchors": "random", "n_neighbors": 1, "scale": None}),
    ("lmvsc", {"alpha": 0.0, "scale": None}),
]


@contextmanager
def time_limit() -> Iterator[None]:
    """An endless loop becomes an error, where the system has alarms."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"a fit of a few samples did not end in {LIMIT:g} seconds")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "params"), VARIANTS)
@settings(max_examples=10)
@given(seed=seeds, masked=st.booleans())
def test_whole_numbers_end(name: str, params: dict[str, Any], seed: int, masked: bool) -> None:
    """A fit ends, with clusters that are numbered from 0 as they appear, or with one of our errors."""
    rng = np.random.default_rng(seed)
    n, n_views = int(rng.integers(3, 25)), int(rng.integers(1, 4))
    views = [rng.integers(0, rng.integers(2, 5), size=(n, rng.integers(1, 5))) for _ in range(n_views)]
    views[0][rng.integers(n, size=n // 3)] = views[0][0]
    mask = rng.random((n_views, n)) < 0.7
    mask[rng.integers(n_views, size=n), np.arange(n)] = True
    adapter = ADAPTERS[name](**params)
    # The graphs themselves, if they are made elsewhere.
    given = [X + 1.0 for X in views] if name == "precomputed" else views
    clusterer = AlignedClusterer(
        adapter, n_clusters=int(rng.integers(1, 4)), n_anchors=int(rng.integers(1, n + 1)), random_state=0
    )
    with time_limit(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few anchors and of rows that do not sum to one
        try:
            labels = clusterer.fit(given, mask=mask if masked else None).labels_
        except AnchorAlignError as error:
            assert len(str(error).splitlines()) == 1  # noqa: PT017  # what is raised depends on the example
            return
    first = [int(np.argmax(labels == each)) for each in range(int(labels.max()) + 1)]
    assert first == sorted(first)
    assert set(labels.tolist()) == set(range(len(first)))
