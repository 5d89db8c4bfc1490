"""Anchors that are the same in every view: directly alternate sampling (SFMC, Eqs. 28 to 31), random samples, k-means.

Alternate sampling gives every sample a score s in [0, 1] and takes the largest; then s <- s (1 - s), divided by its
maximum, and so on. A sample just taken has s = 1, so its score, and that of its duplicates, is 0 from then on. The map
is chaotic: after some fifty anchors the last digit of the first scores decides. They are therefore summed feature by
feature in the order of the views, for dense and sparse views alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._types import FloatArray, IndexArray, is_sparse

# Numbers of a view that are made dense at once: 8 MB.
BLOCK_NUMBERS = 2**20


def alternate_sampling(views: Sequence[Any], n_anchors: int) -> IndexArray:
    """Indices of the samples that are the anchors, ascending."""
    scores = _feature_sums(views)
    taken: list[int] = []
    for _ in range(n_anchors):
        largest = scores.max()
        if largest <= 0:
            break
        scores /= largest
        taken.append(int(scores.argmax()))
        scores = scores * (1.0 - scores)
    # No sample left that differs from those taken: fill up in order.
    rest = np.setdiff1d(np.arange(len(scores)), taken)[: n_anchors - len(taken)]
    return np.sort(np.concatenate([np.asarray(taken, dtype=np.intp), rest]))


def _feature_sums(views: Sequence[Any]) -> FloatArray:
    """Sum over all features of what a sample has above the feature's minimum."""
    n = views[0].shape[0]
    sums = np.zeros(n)
    step = max(1, BLOCK_NUMBERS // n)
    for X in views:
        columns = sp.csc_array(X) if is_sparse(X) else X
        if is_sparse(X) and not columns.min(axis=0).toarray().any():
            # All minima are zero: adding the other entries one after the other gives the same sums.
            rows, entries = np.concatenate([np.arange(n), columns.indices]), np.concatenate([sums, columns.data])
            sums = np.bincount(rows, entries, n)
            continue
        for start in range(0, X.shape[1], step):
            block = columns[:, start : start + step]
            block = np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)
            # One contiguous row for each feature: added up one after the other.
            features = np.concatenate([sums[None], np.ascontiguousarray((block - block.min(axis=0)).T)])
            sums = np.add.reduce(features, axis=0)
    return sums
