"""Anchors that are the same in every view: directly alternate sampling (SFMC, Eqs. 28 to 31).

It gives every sample a score s in [0, 1] and takes the largest; then s <- s (1 - s), divided by its maximum, and so on.
A sample just taken has s = 1, so its score, and that of its duplicates, is 0 from then on. The map is chaotic: after
some fifty anchors the last digit of the first scores decides. They are therefore summed feature by feature in the order
of the views, in double precision, for dense and sparse views alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align.blocks import ScaledRows, map_rows, read_rows, run_rows

from ._types import FloatArray, IndexArray, is_sparse


def alternate_sampling(views: Sequence[ScaledRows], n_anchors: int) -> IndexArray:
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


def _feature_sums(views: Sequence[ScaledRows]) -> FloatArray:
    """Sum over all features of what a sample has above the feature's minimum."""
    sums = np.zeros(views[0].shape[0])
    for X in views:
        _add_features(sums, X)
    return sums


def _add_features(sums: FloatArray, X: ScaledRows) -> None:
    n, d = X.shape
    low = np.min(list(map_rows(lambda rows: _minima(_divided(X, rows)), n, width=2 * d)), axis=0)

    def add(rows: slice) -> None:
        block = _divided(X, rows)
        if is_sparse(block) and not low.any():
            # Adding the entries that are not zero, one after the other, gives the same sums.
            columns = sp.csc_array(block)
            at = np.concatenate([np.arange(block.shape[0]), columns.indices])
            sums[rows] = np.bincount(at, np.concatenate([sums[rows], columns.data]), block.shape[0])
            return
        dense = block.toarray() if is_sparse(block) else block
        # One contiguous row for each feature: added up one after the other.
        features = np.concatenate([sums[None, rows], np.ascontiguousarray((dense - low).T)])
        sums[rows] = np.add.reduce(features, axis=0)

    run_rows(add, n, width=3 * d)


def _minima(block: Any) -> FloatArray:
    return np.asarray(block.min(axis=0).toarray()).ravel() if is_sparse(block) else np.asarray(block.min(axis=0))


def _divided(X: ScaledRows, rows: slice) -> Any:
    """Scaled samples in double precision, by a true division: a product with the inverse differs in the last digit."""
    block = read_rows(X.array, rows).astype(np.float64)
    if X.unit:
        return ScaledRows(block, unit=True).block(slice(None))
    if is_sparse(block):
        if X.divisor is not None:
            block.data /= X.divisor[block.indices]
        return block
    if X.centre is not None:
        block = block - X.centre
    return block if X.divisor is None else block / X.divisor
