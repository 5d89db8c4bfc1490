"""Gram matrices on the scale of the objective, and the terms of the match of one view to another or to all others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IndexArray
from ..errors import InputError
from ..graphs import GramMatrices
from ._pair_problem import PairProblem, frobenius_norm, permuted

LAM_SCALES = ("balanced", "paper")
# Profiles decide between partners that differ in them, features between the others. Weights of 3 to 30 gain the same.
PROFILE_WEIGHT = 10.0
LARGEST_OBJECTIVE = 1e303  # this leaves room for sums over all anchors
# Values of two views with a smaller relative difference are equal: rounding of sums depends on the order of the views.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class PairTerms:
    """K, S_1 and S_2 of a match on the chosen scale, without lam; ``unit`` times the objective is the raw one.

    S_1 and S_2 are matrices or, if the match is to several views by other samples each, stacks of matrices.
    """

    K: FloatArray
    S1: FloatArray
    S2: FloatArray
    unit: float

    def problem(self, lam: float) -> PairProblem:
        """The matching problem for one lam. With infinity only the structure term counts."""
        if np.isinf(lam):
            problem = PairProblem(np.zeros_like(self.K), self.S1, self.S2, unit=self.unit)
        else:
            with np.errstate(over="ignore"):
                problem = PairProblem(self.K, lam * self.S1, self.S2, unit=self.unit)
        # Both terms are reported, whatever lam is.
        terms = PairProblem(self.K, self.S1, self.S2)
        if not max(problem.scale, terms.scale) < LARGEST_OBJECTIVE:
            raise InputError(
                f"The objective overflows at lam = {lam:g}; use a smaller lam (or infinity, for the structure term "
                "alone), lam_scale='balanced', or graphs divided by a constant."
            )
        return problem


class ScaledGrams:
    """Gram matrices of several views, raw (``lam_scale="paper"``) or divided by the norms of the graphs ("balanced").

    ``_graph_norms[u, v]`` and ``_structure_norms[u, v]`` divide the graph and the S of view u for the pair (u, v).
    ``profiles``, groups x anchors for every view, add a term to K: see :meth:`guided_by`.
    """

    sums_structures = True  # the structure terms of several pairs of views are one term

    def __init__(
        self, grams: GramMatrices, lam: float, lam_scale: str, profiles: Sequence[FloatArray] | None = None
    ) -> None:
        self.lam = lam
        self.lam_scale = lam_scale
        self.n_views = grams.n_views
        self.n_anchors = grams.sizes[0]
        self._grams = grams
        graph_norms, structure_norms = self._norms(lam_scale)
        # The products of a graph of zeros are zero on any scale.
        self._graph_norms = np.where(graph_norms > 0, graph_norms, 1.0)
        self._structure_norms = np.where(structure_norms > 0, structure_norms, 1.0)
        self._profiles = None if profiles is None else [_of_unit_size(F) for F in profiles]
        self._guides: dict[tuple[int, int], FloatArray] = {}

    def guided_by(self, profiles: Sequence[FloatArray]) -> ScaledGrams:
        """The same with the cosines of the profiles in K, times PROFILE_WEIGHT and the norms of the graphs."""
        return type(self)(self._grams, self.lam, self.lam_scale, profiles)

    def _guide(self, u: int, v: int) -> FloatArray:
        """What the profiles of two views add to K."""
        if (u, v) not in self._guides:
            assert self._profiles is not None
            weight = PROFILE_WEIGHT * self.size_of(u, v)
            self._guides[u, v] = weight * (self._profiles[u].T @ self._profiles[v])
        return self._guides[u, v]

    def _norms(self, lam_scale: str) -> tuple[FloatArray, FloatArray]:
        v = self.n_views
        if lam_scale == "paper":
            return np.ones((v, v)), np.ones((v, v))
        of_structures = np.array([frobenius_norm(self._grams.structure(view)) for view in range(v)])
        return np.tile(self._grams.norms[:, None], v), np.tile(of_structures[:, None], v)

    def shares(self, u: int, v: int) -> bool:
        return self._grams.pairs is None or bool(self._grams.shared[u, v])

    def cross(self, u: int, v: int) -> FloatArray:
        K = np.asarray(self._grams.cross(u, v) / (self._graph_norms[u, v] * self._graph_norms[v, u]))
        return K if self._profiles is None else K + self._guide(u, v)

    def cross_rows(self, u: int, v: int, rows: IndexArray) -> FloatArray:
        """Some rows of :meth:`cross`."""
        K = np.asarray(self._grams.cross(u, v)[rows] / (self._graph_norms[u, v] * self._graph_norms[v, u]))
        return K if self._profiles is None else K + self._guide(u, v)[rows]

    def size_of(self, u: int, v: int) -> float:
        """Product of the norms of two graphs over their shared samples, on the scale of the objective."""
        norms = [np.sqrt(max(float(np.trace(self._grams.structure(a, b))), 0.0)) for a, b in ((u, v), (v, u))]
        return float(norms[0] / self._graph_norms[u, v]) * float(norms[1] / self._graph_norms[v, u])

    def structure(self, view: int, other: int) -> FloatArray:
        """S of a view, over the samples shared with another view."""
        return np.asarray(self._grams.structure(view, other) / self._structure_norms[view, other])

    def evenness(self, view: int, other: int) -> float:
        """Trace of the S of a view, as compared with another view."""
        return float(np.trace(self.structure(view, other)))

    @cached_property
    def rank(self) -> IndexArray:
        """Place of every view in an order that does not depend on the numbers of the views: it decides ties.

        Views are ordered by their structure, then by their products with the others; equal views keep their order.
        """
        views = range(self.n_views)
        alone = [self.evenness(view, view) for view in views]
        together = [sum(frobenius_norm(self.cross(u, v)) / self.n_views for u in views if u != v) for v in views]
        return np.argsort(np.lexsort([without_rounding(together), without_rounding(alone)]))

    @cached_property
    def likeness(self) -> FloatArray:
        """Similarity of any two views for any order of their anchors: |K| over the root of |S_1| |S_2|."""
        views, grams = range(self.n_views), self._grams
        sizes = np.sqrt([frobenius_norm(grams.structure(view)) for view in views])
        sizes = np.where(sizes > 0, sizes, 1.0)
        return np.array([[frobenius_norm(grams.cross(u, v) / sizes[u]) / sizes[v] for v in views] for u in views])

    def pair(self, u: int, v: int) -> PairTerms:
        """Terms of matching view v to view u."""
        return PairTerms(self.cross(u, v), self.structure(u, v), self.structure(v, u), self.unit(u, v))

    def against_others(self, view: int, permutations: Sequence[IndexArray]) -> PairTerms:
        """Terms of the match of a view, in its own order, to the mean of all other views, each in its present order.

        The mean is over the K and the S of the others, not over their graphs. The objective is then the mean over the
        pairs, so a better match of one view never lowers the total over all pairs.
        """
        present = list(permutations)
        present[view] = np.arange(self.n_anchors)
        return self.between([view], present)

    def between(
        self, group: Sequence[int], permutations: Sequence[IndexArray], others: Sequence[int] | None = None
    ) -> PairTerms:
        """Terms of the match of a group of views, as a whole, to others, by default all; all in their present order.

        The structure terms of all pairs between the groups are one term, of the sums of S over each group.
        """
        rest = [u for u in range(self.n_views) if u not in group] if others is None else others
        K = sum(self.cross_rows(u, v, permutations[u])[:, permutations[v]] for u in rest for v in group)
        S1, S2 = (sum(permuted(self.structure(u, u), permutations[u]) for u in views) for views in (rest, group))
        number = len(group) * len(rest)
        unit = sum(self.unit(u, v) for u in rest for v in group) / number
        return PairTerms(np.asarray(K) / number, np.asarray(S1) / number, np.asarray(S2), unit)

    def feature(self, u: int, v: int, p: IndexArray, q: IndexArray) -> float:
        """Feature term of two views in the orders ``p`` and ``q``, with what the profiles add."""
        own = float(self._grams.cross(u, v)[p, q].sum() / (self._graph_norms[u, v] * self._graph_norms[v, u]))
        return own if self._profiles is None else own + float(self._guide(u, v)[p, q].sum())

    def total(self, permutations: Sequence[IndexArray]) -> float:
        if self.n_views == 1:
            return 0.0
        feature = sum(
            self.feature(u, v, permutations[u], permutations[v])
            for u, v in itertools.combinations(range(self.n_views), 2)
        )
        aligned = [self.structure(v, v)[np.ix_(p, p)] for v, p in enumerate(permutations)]
        whole = np.sum(aligned, axis=0)
        structure = (float(np.vdot(whole, whole)) - sum(float(np.vdot(S, S)) for S in aligned)) / 2.0
        return structure if np.isinf(self.lam) else feature + self.lam * structure

    def unit(self, u: int, v: int) -> float:
        """Factor from the objective of a pair to that of the raw graphs."""
        norms = self._structure_norms if np.isinf(self.lam) else self._graph_norms
        return float(norms[u, v]) * float(norms[v, u])


class SharedScaledGrams(ScaledGrams):
    """The same with missing samples: each pair of views is compared by the samples that both have.

    "balanced" divides by the norms over these samples. "paper" multiplies by the number of all samples over the number
    of shared ones, so that every pair counts as if no sample were missing.
    """

    sums_structures = False

    def _norms(self, lam_scale: str) -> tuple[FloatArray, FloatArray]:
        grams = self._grams
        if lam_scale == "paper":
            fractions = grams.shared / grams.n_samples
            return np.sqrt(fractions), fractions
        graph_norms, structure_norms = np.empty(grams.shared.shape), np.empty(grams.shared.shape)
        for u, v in np.ndindex(grams.shared.shape):
            S = grams.structure(u, v)
            graph_norms[u, v] = np.sqrt(max(float(np.trace(S)), 0.0))
            structure_norms[u, v] = frobenius_norm(S)
        return graph_norms, structure_norms

    def between(
        self, group: Sequence[int], permutations: Sequence[IndexArray], others: Sequence[int] | None = None
    ) -> PairTerms:
        """The same, with one structure term for each pair: the S of a view differs between pairs."""
        rest = [u for u in range(self.n_views) if u not in group] if others is None else others
        terms = [(self.pair(u, v), permutations[u], permutations[v]) for u in rest for v in group]
        K = sum(pair.K[p][:, q] for pair, p, q in terms) / len(terms)
        S1 = np.stack([permuted(pair.S1, p) for pair, p, _ in terms]) / len(terms)
        S2 = np.stack([permuted(pair.S2, q) for pair, _, q in terms])
        return PairTerms(np.asarray(K), S1, S2, float(np.mean([pair.unit for pair, _, _ in terms])))

    def total(self, permutations: Sequence[IndexArray]) -> float:
        total = 0.0
        for u, v in itertools.combinations(range(self.n_views), 2):
            p, q = permutations[u], permutations[v]
            structure = float(np.vdot(self.structure(u, v)[np.ix_(p, p)], self.structure(v, u)[np.ix_(q, q)]))
            total += structure if np.isinf(self.lam) else self.feature(u, v, p, q) + self.lam * structure
        return total


def _of_unit_size(F: FloatArray) -> FloatArray:
    largest = np.abs(F).max(initial=0.0)
    if largest == 0:
        return F
    F = F / largest  # the norm may be larger than any number
    return F / frobenius_norm(F)


def scale_grams(grams: GramMatrices, lam: float, lam_scale: str) -> ScaledGrams:
    """Gram matrices on the scale of the objective; by pair of views if samples are missing."""
    kind = ScaledGrams if grams.pairs is None else SharedScaledGrams
    return kind(grams, lam, lam_scale)


def without_rounding(values: npt.ArrayLike) -> FloatArray:
    """Values of the views in steps larger than rounding."""
    numbers = np.asarray(values, dtype=np.float64)
    return np.asarray(np.round(numbers / (np.abs(numbers).max() or 1.0) / SAME))
