"""Gram matrices on the scale of the objective where views lack samples: every pair has norms and S of its own."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ._grams import GramMatrices
from ._matching import PairProblem, frobenius_norm
from ._scale import PairTerms, ScaledGrams
from ._types import FloatArray, IndexArray


class SharedScaledGrams(ScaledGrams):
    """Each pair of views as it is seen by the samples that both have.

    "balanced" divides by the norms over these samples; "paper" multiplies by the number of all samples over that of the
    shared ones, so that all pairs count as if they had been seen in full.
    """

    def __init__(self, grams: GramMatrices, lam: float, lam_scale: str) -> None:
        super().__init__(grams, lam, lam_scale)
        v = grams.n_views
        # What K_uv, and S_u for the pair (u, v), are divided by.
        self._pair_norms, self._pair_structure_norms = np.ones((v, v)), np.ones((v, v))
        for u, w in itertools.product(range(v), repeat=2):
            S = grams.structure(u, w)
            if lam_scale == "balanced":
                self._pair_norms[u, w] = np.sqrt(max(float(np.trace(S)), 0.0)) or 1.0
                self._pair_structure_norms[u, w] = frobenius_norm(S) or 1.0
            elif grams.shared[u, w]:
                share = grams.shared[u, w] / grams.n_samples
                self._pair_norms[u, w] = np.sqrt(share)
                self._pair_structure_norms[u, w] = share

    def shares(self, u: int, v: int) -> bool:
        """Whether two views have samples in common."""
        return bool(self._grams.shared[u, v])

    def cross(self, u: int, v: int) -> FloatArray:
        """K of two views."""
        return np.asarray(self._grams.cross(u, v) / (self._pair_norms[u, v] * self._pair_norms[v, u]))

    def shared_structure(self, view: int, other: int) -> FloatArray:
        """S of a view over the samples that it shares with another."""
        return np.asarray(self._grams.structure(view, other) / self._pair_structure_norms[view, other])

    def evenness(self, view: int, other: int) -> float:
        """Trace of a view's S, as it is compared with another view."""
        return float(np.trace(self.shared_structure(view, other)))

    def pair(self, u: int, v: int) -> PairTerms:
        """Terms of matching view v to view u."""
        return PairTerms(
            self.cross(u, v), self.shared_structure(u, v), self.shared_structure(v, u), self._pair_unit(u, v)
        )

    def apart(self, view: int, permutations: Sequence[IndexArray]) -> list[PairTerms]:
        """Terms whose mean is what matching a view to all others is about: one for each other view."""
        found = []
        for u in self._others(view):
            terms, p = self.pair(u, view), permutations[u]
            found.append(PairTerms(terms.K[p], terms.S1[np.ix_(p, p)], terms.S2, terms.unit))
        return found

    def against_others(self, view: int, permutations: Sequence[IndexArray]) -> PairTerms:
        """Terms of matching a view to the mean of the others: a proposal only.

        The view's own S is another one for each pair, so that the structure term of the means is not the mean of the
        structure terms: :meth:`gain` says what a step is worth.
        """
        terms = self.apart(view, permutations)
        K, S1, S2 = (np.mean([getattr(each, name) for each in terms], axis=0) for name in ("K", "S1", "S2"))
        return PairTerms(K, S1, S2, float(np.mean([each.unit for each in terms])))

    def gain(self, view: int, permutations: Sequence[IndexArray], step: IndexArray, present: PairProblem) -> float:
        """Change of the mean objective of a view's pairs when its present order is permuted by ``step``."""
        now, then = permutations[view], permutations[view][step]
        problems = [terms.problem(self.lam) for terms in self.apart(view, permutations)]
        return float(np.mean([problem.value(then) - problem.value(now) for problem in problems]))

    def total(self, permutations: Sequence[IndexArray]) -> float:
        """Objective summed over all pairs of views."""
        total = 0.0
        for u, v in itertools.combinations(range(self.n_views), 2):
            p, q = permutations[u], permutations[v]
            structure = np.vdot(self.shared_structure(u, v)[np.ix_(p, p)], self.shared_structure(v, u)[np.ix_(q, q)])
            feature = self.cross(u, v)[p, q].sum()
            total += float(structure) if np.isinf(self.lam) else float(feature) + self.lam * float(structure)
        return total

    def _others(self, view: int) -> list[int]:
        return [u for u in range(self.n_views) if u != view]

    def _pair_unit(self, u: int, v: int) -> float:
        norms = self._pair_structure_norms if np.isinf(self.lam) else self._pair_norms
        return float(norms[u, v]) * float(norms[v, u])


def scale_grams(grams: GramMatrices, lam: float, lam_scale: str) -> ScaledGrams:
    """Gram matrices on the scale of the objective, pair by pair if views lack samples."""
    kind = ScaledGrams if grams.pairs is None else SharedScaledGrams
    return kind(grams, lam, lam_scale)
