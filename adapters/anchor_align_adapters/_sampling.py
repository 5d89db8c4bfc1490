"""Common anchors of all views: directly alternate sampling (SFMC, Eqs. 28 to 31).

Every sample has a score s in [0, 1]. The sample with the largest score becomes an anchor; then s <- s (1 - s), divided
by its maximum, and so on. A chosen sample has s = 1, so its score, and the score of its duplicates, is 0 from then on.
The map is chaotic: after about fifty anchors the last digit of the first scores decides. They are therefore summed
feature by feature in the order of the views, in double precision, for dense and sparse views and for any parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import ScaledRows, is_distributed, map_rows, read_rows, run_rows, sorting_direction

# Anchors after which a cluster stores new scores. Storing costs as much as a pass; repeating the steps costs little.
STEPS = 8


@dataclass(frozen=True)
class Best:
    """The largest score, its sample, and the key of the sample; ``+`` joins parts."""

    score: float
    key: float
    row: int

    def __add__(self, other: Best) -> Best:
        return self if (self.score, self.key) >= (other.score, other.key) else other


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores and keys of some samples, and the number of the first of them.

    The key is a product of the sample with a fixed vector. Near 0.5 the map is flat, so that samples come to have the
    same score. The one with the largest key is then taken, wherever it stands; equal keys are those of duplicates.
    """

    first: int
    scores: FloatArray
    keys: FloatArray

    def best(self, divisors: Sequence[float]) -> Best:
        """After some anchors."""
        scores = self.after(divisors).scores
        highest = np.flatnonzero(scores == scores.max())
        row = int(highest[self.keys[highest].argmax()])
        return Best(float(scores[row]), float(self.keys[row]), self.first + row)

    def after(self, divisors: Sequence[float]) -> Scored:
        """The next scores; ``divisors`` are the largest scores before each of some anchors."""
        scores = self.scores
        for largest in divisors:
            scores = scores / largest
            scores = scores * (1.0 - scores)
        return replace(self, scores=scores)

    def largest_keys(self, count: int) -> LargestKeys:
        rows = np.argsort(-self.keys, kind="stable")[:count]
        return LargestKeys(self.keys[rows], self.first + rows, count)

    def keys_of(self, rows: IndexArray) -> FloatArray:
        """The keys of those of the samples that are here; the others count as zero."""
        here = (rows >= self.first) & (rows < self.first + len(self.keys))
        return np.asarray(np.where(here, self.keys[np.where(here, rows - self.first, 0)], 0.0))


@dataclass(frozen=True, eq=False)
class LargestKeys:
    """The samples with the ``count`` largest keys, in descending order; ``+`` joins parts."""

    keys: FloatArray
    rows: IndexArray
    count: int

    def __add__(self, other: LargestKeys) -> LargestKeys:
        keys, rows = np.append(self.keys, other.keys), np.append(self.rows, other.rows)
        order = np.lexsort((rows, -keys))[: self.count]
        return LargestKeys(keys[order], rows[order], self.count)


@dataclass(frozen=True, eq=False)
class Minima:
    """Smallest entry of every feature, view by view; ``+`` joins parts."""

    views: list[FloatArray]

    def __add__(self, other: Minima) -> Minima:
        return Minima([np.minimum(*each) for each in zip(self.views, other.views, strict=True)])


def alternate_sampling(views: Sequence[ScaledRows], n_anchors: int) -> IndexArray:
    """Indices of the samples that become anchors, by ascending key; one pass over the scores for each."""
    parts = views[0].parts().zip(*(X.parts() for X in views[1:]))
    scored = parts.map(_first_scores, parts.total(_lowest)).keep()
    steps = STEPS if is_distributed(views[0].array) else 1
    taken: list[int] = []
    divisors: list[float] = []
    for _ in range(n_anchors):
        best = scored.total(Scored.best, divisors)
        if best.score <= 0:
            break
        taken.append(best.row)
        divisors = [*divisors, best.score]
        if len(divisors) == steps:
            scored, divisors = scored.map(Scored.after, divisors).keep(), []
    if len(taken) < n_anchors:  # all other samples are duplicates of anchors
        largest = scored.total(Scored.largest_keys, n_anchors).rows
        taken += largest[~np.isin(largest, taken)][: n_anchors - len(taken)].tolist()
    rows = np.sort(np.asarray(taken, dtype=np.intp))
    return np.asarray(rows[np.argsort(scored.total(Scored.keys_of, rows), kind="stable")])


def _lowest(views: Sequence[ScaledRows]) -> Minima:
    def of_view(X: ScaledRows) -> FloatArray:
        n, d = X.shape
        return np.asarray(np.min(list(map_rows(lambda rows: _minima(_divided(X, rows)), n, width=2 * d)), axis=0))

    return Minima([of_view(X) for X in views])


def _first_scores(views: Sequence[ScaledRows], low: Minima) -> Scored:
    """Sum over all features of the distance of a sample from the minimum of the feature; and the key."""
    scores, keys = np.zeros((2, views[0].shape[0]))
    for view, (X, minima) in enumerate(zip(views, low.views, strict=True)):
        _add_features(scores, keys, X, minima, sorting_direction(X.shape[1], view))
    return Scored(views[0].first, scores, keys)


def _add_features(scores: FloatArray, keys: FloatArray, X: ScaledRows, low: FloatArray, direction: FloatArray) -> None:
    def add(rows: slice) -> None:
        block = _divided(X, rows)
        if is_sparse(block) and not low.any():
            # The sum of the nonzero entries, one after the other, is the same.
            columns = sp.csc_array(block)
            at = np.concatenate([np.arange(block.shape[0]), columns.indices])
            weighted = columns.data * np.repeat(direction, np.diff(columns.indptr))
            for sums, values in ((scores, columns.data), (keys, weighted)):
                sums[rows] = np.bincount(at, np.concatenate([sums[rows], values]), block.shape[0])
            return
        dense = block.toarray() if is_sparse(block) else block
        features = np.ascontiguousarray((dense - low).T)
        _add_one_by_one(scores[rows], features)
        _add_one_by_one(keys[rows], features * direction[:, None])

    run_rows(add, X.shape[0], width=5 * X.shape[1])


def _add_one_by_one(sums: FloatArray, features: FloatArray) -> None:
    """Add one contiguous row for each feature, one after the other. For a single sample numpy would add pairs."""
    rows = np.concatenate([sums[None], features])
    sums[:] = np.add.reduce(rows, axis=0) if rows.shape[1] > 1 else np.cumsum(rows)[-1]


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
