"""Terms of matches between views that move: what has not changed since the last match is not computed again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray, IndexArray
from ._pair_problem import permuted
from ._scaled_grams import PairTerms, ScaledGrams


class PresentTerms:
    """Orders of all views, and the terms of the match of a group of views to all others.

    For each view, the sum of K over the others is kept, in the order of the others, and its S in its own order. A move
    of other views changes some rows of the former. They are computed again at the next turn of the view, as sums in the
    same order as before: no rounding adds up.
    """

    def __init__(self, scaled: ScaledGrams, permutations: Sequence[IndexArray]) -> None:
        self.permutations = list(permutations)
        self._scaled = scaled
        self._views = np.argsort(scaled.rank).tolist()
        m = scaled.n_anchors
        self._sums = [np.zeros((m, m)) if scaled.sums_structures else np.empty((0, 0)) for _ in self.permutations]
        self._outdated = np.ones((scaled.n_views, m), dtype=bool)
        self._structures: list[FloatArray | None] = [None] * scaled.n_views

    def move(self, group: Sequence[int], q: IndexArray) -> None:
        """Put the anchors of all views of a group in another order."""
        changed = q != np.arange(len(q))
        for view in group:
            self.permutations[view] = self.permutations[view][q]
            self._structures[view] = None
        self._outdated[:, changed] = True

    def terms(self, group: Sequence[int]) -> PairTerms:
        """Terms of the match of a group to all other views, all in their present order."""
        scaled, p = self._scaled, self.permutations
        if not scaled.sums_structures:
            return scaled.between(group, p)
        rest = [u for u in self._views if u not in group]
        number = len(group) * len(rest)
        K = np.zeros((scaled.n_anchors, scaled.n_anchors))
        for v in group:
            K += self._sum(v)[:, p[v]]
            for u in group:
                if u != v:
                    K -= scaled.cross_rows(u, v, p[u])[:, p[v]]
        S1, S2 = np.zeros_like(K), np.zeros_like(K)
        for view in self._views:
            S = S2 if view in group else S1
            S += self._structure(view)
        K /= number
        S1 /= number
        return PairTerms(K, S1, S2, sum(scaled.unit(u, v) for u in rest for v in group) / number)

    def _sum(self, view: int) -> FloatArray:
        kept = self._sums[view]
        rows = np.flatnonzero(self._outdated[view])
        if rows.size:
            fresh = np.zeros((rows.size, kept.shape[1]))
            for u in self._views:
                if u != view:
                    fresh += self._scaled.cross_rows(u, view, self.permutations[u][rows])
            kept[rows] = fresh
            self._outdated[view] = False
        return kept

    def _structure(self, view: int) -> FloatArray:
        kept = self._structures[view]
        if kept is None:
            kept = permuted(self._scaled.structure(view, view), self.permutations[view])
            self._structures[view] = kept
        return kept
