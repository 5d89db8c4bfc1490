"""Gram matrices on the scale of the objective, and the terms of matching one view to another or to all others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ._grams import GramMatrices
from ._matching import PairProblem, frobenius_norm
from ._types import FloatArray, IndexArray
from .errors import InputError

LAM_SCALES = ("balanced", "paper")
# Leaves room for sums over all anchors.
LARGEST_OBJECTIVE = 1e303
# Numbers of two views that differ by less, relative to their size, are the same: in another order of the views sums are
# rounded otherwise.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class PairTerms:
    """K, S_1 and S_2 of one pair on the chosen scale, before lam weighs them.

    ``unit`` times the objective is that of the raw graphs.
    """

    K: FloatArray
    S1: FloatArray
    S2: FloatArray
    unit: float

    def problem(self, lam: float) -> PairProblem:
        """The matching problem for one lam; infinity leaves the structure term alone."""
        if np.isinf(lam):
            problem = PairProblem(np.zeros_like(self.K), self.S1, self.S2, unit=self.unit)
        else:
            with np.errstate(over="ignore"):
                problem = PairProblem(self.K, lam * self.S1, self.S2, unit=self.unit)
        if not problem.scale < LARGEST_OBJECTIVE:
            raise InputError(
                f"The objective overflows at lam = {lam:g}; use a smaller lam (or infinity, for the structure term "
                "alone), lam_scale='balanced', or graphs divided by a constant."
            )
        return problem


class ScaledGrams:
    """Gram matrices of several views, raw (``lam_scale="paper"``) or divided by the graphs' norms ("balanced")."""

    def __init__(self, grams: GramMatrices, lam: float, lam_scale: str) -> None:
        self.lam = lam
        self.n_views = grams.n_views
        self.n_anchors = grams.sizes[0]
        self._grams = grams
        graph_norms, structure_norms = np.ones(grams.n_views), np.ones(grams.n_views)
        if lam_scale == "balanced":
            graph_norms = grams.norms
            structure_norms = np.array([frobenius_norm(grams.structure(view)) for view in range(grams.n_views)])
        # An all-zero graph has nothing to divide: its products are zero on any scale.
        self._graph_norms = np.where(graph_norms > 0, graph_norms, 1.0)
        self._structure_norms = np.where(structure_norms > 0, structure_norms, 1.0)

    def cross(self, u: int, v: int) -> FloatArray:
        """K of two views."""
        return np.asarray(self._grams.cross(u, v) / (self._graph_norms[u] * self._graph_norms[v]))

    def structure(self, view: int) -> FloatArray:
        """S of a view."""
        return np.asarray(self._grams.structure(view) / self._structure_norms[view])

    def shares(self, u: int, v: int) -> bool:
        """Whether two views have samples in common: here, all have all."""
        return True

    def evenness(self, view: int, other: int) -> float:
        """Trace of a view's S, as it is compared with another view."""
        return float(np.trace(self.structure(view)))

    @cached_property
    def rank(self) -> IndexArray:
        """Place of every view in an order that has nothing to do with how views are numbered: it decides ties.

        Views go by their structure, then by how much they have to do with the others. Those that are alike in both stay
        as they came.
        """
        views = range(self.n_views)
        alone = [self.evenness(view, view) for view in views]
        together = [sum(frobenius_norm(self.cross(u, v)) / self.n_views for u in views if u != v) for v in views]
        return np.argsort(np.lexsort([without_rounding(together), without_rounding(alone)]))

    def pair(self, u: int, v: int) -> PairTerms:
        """Terms of matching view v to view u."""
        return PairTerms(self.cross(u, v), self.structure(u), self.structure(v), self._unit(u, v))

    def apart(self, view: int, permutations: Sequence[IndexArray]) -> list[PairTerms]:
        """Terms whose mean is what matching a view to all others is about: one is enough if views have all samples."""
        return [self.against_others(view, permutations)]

    def against_others(self, view: int, permutations: Sequence[IndexArray]) -> PairTerms:
        """Terms of matching a view to the mean of all other views, each in the order of its permutation.

        The mean is taken of the others' K and of their S, not of their graphs: the objective is then the mean over
        the pairs, so that improving one view never lowers the total over all pairs.
        """
        others = [u for u in range(self.n_views) if u != view]
        K = sum(self.cross(u, view)[permutations[u]] for u in others) / len(others)
        S = sum(self.structure(u)[np.ix_(permutations[u], permutations[u])] for u in others) / len(others)
        unit = sum(self._unit(u, view) for u in others) / len(others)
        return PairTerms(np.asarray(K), np.asarray(S), self.structure(view), unit)

    def gain(self, view: int, permutations: Sequence[IndexArray], step: IndexArray, present: PairProblem) -> float:
        """Change of the mean objective of a view's pairs when its present order is permuted by ``step``.

        ``present`` is the problem of :meth:`against_others` with the view in its present order.
        """
        # Both on the same footing: the solver works on rounded numbers.
        return present.value(step) - present.value(np.arange(present.size))

    def total(self, permutations: Sequence[IndexArray]) -> float:
        """Objective summed over all pairs of views."""
        feature = sum(
            float(self.cross(u, v)[permutations[u], permutations[v]].sum())
            for u, v in itertools.combinations(range(self.n_views), 2)
        )
        aligned = [self.structure(v)[np.ix_(p, p)] for v, p in enumerate(permutations)]
        whole = np.sum(aligned, axis=0)
        structure = (float(np.vdot(whole, whole)) - sum(float(np.vdot(S, S)) for S in aligned)) / 2.0
        return structure if np.isinf(self.lam) else feature + self.lam * structure

    def _unit(self, u: int, v: int) -> float:
        norms = self._structure_norms if np.isinf(self.lam) else self._graph_norms
        return float(norms[u]) * float(norms[v])


def without_rounding(values: npt.ArrayLike) -> FloatArray:
    """Numbers of the views in steps that are larger than what rounding may do to them."""
    numbers = np.asarray(values, dtype=np.float64)
    return np.asarray(np.round(numbers / (np.abs(numbers).max() or 1.0) / SAME))
