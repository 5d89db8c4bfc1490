"""Views that lack samples, and clusterers for them, which several tests share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align import AlignedClusterer, get_adapter
from anchor_align.data import make_simulated

Mask = Any


def random_mask(rng: np.random.Generator, n_views: int, n: int, missing: float = 0.3) -> Mask:
    """Each view lacks samples at random; every sample is in some view."""
    mask = rng.random((n_views, n)) >= missing
    mask[rng.integers(n_views, size=n), np.arange(n)] = True
    return mask


DATA = make_simulated(5)
VIEWS = [np.asarray(X) for X in (*DATA.views, np.hstack(DATA.views))]
N = len(VIEWS[0])
MASK = random_mask(np.random.default_rng(0), 3, N)
KINDS = {
    "lmvsc": get_adapter("lmvsc"),
    "fmvacc": get_adapter("fmvacc", n_init=1, max_iter=10),
    "sfmc flexible": get_adapter("sfmc", anchors="flexible"),
    "sfmc shared": get_adapter("sfmc"),
}
APART = ("lmvsc", "fmvacc", "sfmc flexible")


def clusterer(kind: str = "lmvsc", **options: Any) -> AlignedClusterer:
    """The same settings everywhere, unless said."""
    options = {"n_clusters": 4, "n_anchors": 10, "random_state": 0} | options
    return AlignedClusterer(KINDS[kind], **options)


def spoiled(views: Sequence[Any], mask: Any = MASK, value: float = np.nan) -> list[Any]:
    """The same views with something else in the rows that they do not have."""
    return [np.where(seen[:, None], X, value) for X, seen in zip(views, mask, strict=True)]


def dense(Z: Any) -> np.ndarray:
    return np.asarray(Z.toarray() if isinstance(Z, sp.csr_array) else Z)


def assert_same_fit(found: AlignedClusterer, expected: AlignedClusterer) -> None:
    """To the last bit."""
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(dense(found.fused_graph_), dense(expected.fused_graph_))
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    assert (found.weights_ is None) == (expected.weights_ is None)
    if found.weights_ is not None:
        np.testing.assert_array_equal(found.weights_, expected.weights_)
    for got, one in zip(found.permutations_, expected.permutations_, strict=True):
        np.testing.assert_array_equal(got, one)
    for got, one in zip(found.anchor_graphs_.graphs, expected.anchor_graphs_.graphs, strict=True):
        np.testing.assert_array_equal(dense(got), dense(one))
    for got, one in zip(found.anchors_ or (), expected.anchors_ or (), strict=True):
        np.testing.assert_array_equal(dense(got), dense(one))
