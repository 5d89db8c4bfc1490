"""Common anchors of all views: directly alternate sampling (SFMC, Eqs. 28 to 31).

Every sample has a score s in [0, 1]. The sample with the largest score becomes an anchor; then s <- s (1 - s), divided
by its maximum, and so on. A chosen sample has s = 1, so its score, and the score of its duplicates, is 0 from then on.
The map is chaotic: after about fifty anchors the last digit of the first scores decides. They are therefore summed
feature by feature in the order of the views, in double precision, for dense and sparse views and for any parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import ScaledRows, is_distributed, map_rows, read_rows, run_rows

# Anchors after which a cluster stores new scores. Storing costs as much as a pass; repeating the steps costs little.
STEPS = 8


@dataclass(frozen=True)
class Best:
    """Largest score and the first sample with it; ``+`` joins parts."""

    score: float
    row: int

    def __add__(self, other: Best) -> Best:
        return self if self.score >= other.score else other


@dataclass(frozen=True, eq=False)
class Minima:
    """Smallest entry of every feature, view by view; ``+`` joins parts."""

    views: list[FloatArray]

    def __add__(self, other: Minima) -> Minima:
        return Minima([np.minimum(*each) for each in zip(self.views, other.views, strict=True)])


def alternate_sampling(views: Sequence[ScaledRows], n_anchors: int) -> IndexArray:
    """Indices of the samples that become anchors, ascending; one pass over the scores for each."""
    parts = views[0].parts().zip(*(X.parts() for X in views[1:]))
    scores = parts.map(_first_scores, parts.total(_lowest)).keep()
    steps = STEPS if is_distributed(views[0].array) else 1
    taken: list[int] = []
    divisors: list[float] = []
    for _ in range(n_anchors):
        best = scores.total(_best, divisors)
        if best.score <= 0:
            break
        taken.append(best.row)
        divisors = [*divisors, best.score]
        if len(divisors) == steps:
            scores, divisors = scores.map(_next_scores, divisors).keep(), []
    # All other samples are duplicates of anchors: fill up in order.
    rest = np.setdiff1d(np.arange(n_anchors), taken)[: n_anchors - len(taken)]
    return np.sort(np.concatenate([np.asarray(taken, dtype=np.intp), rest]))


# Number of the first sample, and the scores.
Scores = tuple[int, FloatArray]


def _best(part: Scores, divisors: Sequence[float]) -> Best:
    first, scores = _next_scores(part, divisors)
    row = int(scores.argmax())
    return Best(float(scores[row]), first + row)


def _next_scores(part: Scores, divisors: Sequence[float]) -> Scores:
    """Scores after some anchors; ``divisors`` are the largest scores before each of them."""
    first, scores = part
    for largest in divisors:
        scores = scores / largest
        scores = scores * (1.0 - scores)
    return first, scores


def _lowest(views: Sequence[ScaledRows]) -> Minima:
    def of_view(X: ScaledRows) -> FloatArray:
        n, d = X.shape
        return np.asarray(np.min(list(map_rows(lambda rows: _minima(_divided(X, rows)), n, width=2 * d)), axis=0))

    return Minima([of_view(X) for X in views])


def _first_scores(views: Sequence[ScaledRows], low: Minima) -> Scores:
    """Sum over all features of the distance of a sample from the minimum of the feature."""
    sums = np.zeros(views[0].shape[0])
    for X, minima in zip(views, low.views, strict=True):
        _add_features(sums, X, minima)
    return views[0].first, sums


def _add_features(sums: FloatArray, X: ScaledRows, low: FloatArray) -> None:
    def add(rows: slice) -> None:
        block = _divided(X, rows)
        if is_sparse(block) and not low.any():
            # The sum of the nonzero entries, one after the other, is the same.
            columns = sp.csc_array(block)
            at = np.concatenate([np.arange(block.shape[0]), columns.indices])
            sums[rows] = np.bincount(at, np.concatenate([sums[rows], columns.data]), block.shape[0])
            return
        dense = block.toarray() if is_sparse(block) else block
        # One contiguous row for each feature, added one after the other. For a single sample numpy would add pairs.
        features = np.concatenate([sums[None, rows], np.ascontiguousarray((dense - low).T)])
        sums[rows] = np.add.reduce(features, axis=0) if features.shape[1] > 1 else np.cumsum(features)[-1]

    run_rows(add, X.shape[0], width=3 * X.shape[1])


def _minima(block: Any) -> FloatArray:
    return np.asarray(block.min(axis=0).toarray()).ravel() if is_sparse(block) else np.asarray(block.min(axis=0))


def _divided(X: ScaledRows, rows: slice) -> Any:
    """Scaled samples in double precision, by division: a product with the inverse differs in the last digit."""
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
