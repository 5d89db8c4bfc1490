"""Aligning the anchors of several views: ``align`` and ``AnchorAligner``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._certificate import PairTerms, certify
from ._fusion import permutation_matrix, permute_columns
from ._grams import GramMatrices
from ._matching import RELATIVE_TOLERANCE, Match, PairProblem, frobenius_norm
from ._solvers import METHODS, solve_pair
from ._types import FloatArray, GraphLike, IndexArray
from ._validation import (
    check_callback,
    check_choice,
    check_count,
    check_graphs,
    check_lam,
    check_reference,
    check_seed,
    check_seeds,
)
from .errors import InputError

LAM_SCALES = ("balanced", "paper")
MAX_SWEEPS = 100


@dataclass(frozen=True)
class Progress:
    """What a progress callback is told.

    Attributes
    ----------
    stage : {"grams", "match", "consensus"}
        Passing over the rows, matching pairs of views, or improving the consensus view by view.
    done : int
        Rows, pairs or views done in this stage.
    total : int or None
        How many there are; None for the consensus, which goes on until nothing changes.
    objective : float or None
        Objective of the pair just matched, or the consensus' total over all pairs.
    """

    stage: str
    done: int
    total: int | None
    objective: float | None = None


def align(
    Z_list: Iterable[GraphLike] | GramMatrices,
    lam: float = 0.1,
    *,
    lam_scale: str = "balanced",
    reference: SupportsIndex | str = "auto",
    method: str = "ascent",
    seeds: Any = None,
    n_restarts: int = 4,
    random_state: Any = 0,
    callback: Callable[[Progress], object] | None = None,
) -> list[FloatArray]:
    """Find the permutations that make the anchors of several views correspond.

    Parameters
    ----------
    Z_list : list of array-like or sparse of shape (n_samples, n_anchors), or GramMatrices
        One anchor graph per view, rows in the same order of samples: ndarray, memmap, DataFrame (rows are paired by
        position) or scipy sparse. Inputs are not modified.
    lam : float, default=0.1
        Weight of the structure term, >= 0. 0 matches on the feature term only (solved exactly), ``inf`` on the
        structure term only.
    lam_scale : {"balanced", "paper"}, default="balanced"
        "balanced" divides K by the norms of the two graphs and each S by its norm: both terms are then cosines and lam
        means the same for any number of samples and anchors. "paper" uses the raw matrices.
    reference : int, "auto" or "consensus", default="auto"
        The view whose order of anchors is kept. "auto" takes the view that all others match best (the largest total
        objective). "consensus" has no reference: starting from the best reference, every view is matched to the mean
        of all the others in turn until the total over all pairs of views no longer rises; view 0 then keeps its order.
    method : {"ascent", "pfp", "exact"}, default="ascent"
        "ascent" is fast and nearly always optimal. "pfp" is the paper's projected fixed point, for comparison. "exact"
        is proven optimal, for up to 10 anchors.
    seeds : array-like of int of shape (n_seeds, n_views), optional
        Known correspondences: the anchors in one row, one per view, go together. With two views these are pairs
        ``(anchor of view 0, anchor of view 1)``. -1 says that a view's anchor is not known; the reference's must be.
    n_restarts : int, default=4
        How hard the ascent tries where its starts disagree.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the ascent's random starts. None draws a new one.
    callback : callable, optional
        Called with a :class:`Progress` as the work goes on. What it raises stops the work.

    Returns
    -------
    list of ndarray of shape (n_anchors, n_anchors)
        One permutation matrix per view; ``Z_list[v] @ P[v]`` has its columns in the reference's order. The reference's
        matrix (view 0's for "consensus") is the identity.

    Raises
    ------
    InputError
        If the graphs or parameters cannot be used; the message names the view, what was got and what was expected.

    See Also
    --------
    AnchorAligner : the same with the objective, its upper bound and the margins of the anchors.
    fuse : the mean of the aligned graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import align
    >>> rng = np.random.default_rng(0)
    >>> Z0 = rng.dirichlet(np.full(4, 0.3), size=50)
    >>> Z1 = Z0[:, [2, 0, 3, 1]]
    >>> P = align([Z0, Z1])
    >>> P[1].argmax(axis=0)
    array([1, 3, 0, 2])
    >>> bool((Z1 @ P[1] == Z0).all())
    True
    """
    aligner = AnchorAligner(
        lam,
        lam_scale=lam_scale,
        reference=reference,
        method=method,
        seeds=seeds,
        n_restarts=n_restarts,
        random_state=random_state,
        callback=callback,
    )
    return [permutation_matrix(p) for p in aligner._solve(Z_list).permutations]


class AnchorAligner(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Align the anchors of several views and say how good the match is.

    Parameters are those of :func:`align`. All numbers about a view concern its match to the reference view, or, with
    ``reference="consensus"``, to the mean of all other views; the reference is compared with itself.

    Attributes
    ----------
    permutations_ : list of ndarray of shape (n_anchors,)
        ``Z_list[v][:, permutations_[v]]`` is aligned.
    matrices_ : list of ndarray of shape (n_anchors, n_anchors)
        The same as permutation matrices: ``Z_list[v] @ matrices_[v]`` is aligned.
    reference_ : int or None
        Index of the reference view; None for "consensus".
    feature_, structure_ : ndarray of shape (n_views,)
        The two terms of the objective, before lam; cosines in [0, 1] on the balanced scale for graphs >= 0.
    objective_ : ndarray of shape (n_views,)
        ``feature_ + lam * structure_`` (``structure_`` for infinite lam).
    upper_bound_ : ndarray of shape (n_views,)
        No permutation has a larger objective (none that respects the seeds).
    gap_ : ndarray of shape (n_views,)
        ``upper_bound_ - objective_``; 0 means proven optimal.
    margins_ : ndarray of shape (n_views, n_anchors)
        For every aligned column, how much the objective falls at least when the anchor gets another partner and the
        two anchors concerned exchange theirs. Near 0: the anchor is ambiguous. Infinite: there is no other choice.
        Negative: a better partner exists ("pfp" only).
    n_iter_ : ndarray of shape (n_views,)
        Iterations that led to the match (branches looked at, for "exact").
    history_ : list of tuple of float
        Objective along these iterations. For "consensus", those of the view's last improvement.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import AnchorAligner
    >>> rng = np.random.default_rng(0)
    >>> Z0 = rng.dirichlet(np.full(4, 0.3), size=50)
    >>> aligner = AnchorAligner(lam=0.5, reference=0).fit([Z0, Z0[:, [2, 0, 3, 1]]])
    >>> aligner.permutations_[1]
    array([1, 3, 0, 2])
    >>> print(aligner.objective_[1].round(6), aligner.upper_bound_[1].round(6))
    1.5 1.5
    >>> bool((aligner.margins_[1] > 0).all())
    True
    """

    def __init__(
        self,
        lam: float = 0.1,
        *,
        lam_scale: str = "balanced",
        reference: SupportsIndex | str = "auto",
        method: str = "ascent",
        seeds: Any = None,
        n_restarts: int = 4,
        random_state: Any = 0,
        callback: Callable[[Progress], object] | None = None,
    ) -> None:
        self.lam = lam
        self.lam_scale = lam_scale
        self.reference = reference
        self.method = method
        self.seeds = seeds
        self.n_restarts = n_restarts
        self.random_state = random_state
        self.callback = callback

    def fit(self, Z_list: Iterable[GraphLike] | GramMatrices, y: object = None) -> AnchorAligner:
        """Find the permutations.

        Parameters
        ----------
        Z_list : list of array-like or sparse of shape (n_samples, n_anchors), or GramMatrices
        y : ignored
        """
        solution = self._solve(Z_list)
        certificates = [
            certify(terms, solution.lam, p, pairs)
            for terms, p, pairs in zip(solution.terms, solution.permutations, solution.pairs, strict=True)
        ]
        self.permutations_ = solution.permutations
        self.matrices_ = [permutation_matrix(p) for p in solution.permutations]
        self.reference_ = solution.reference
        self.feature_ = np.array([c.feature for c in certificates])
        self.structure_ = np.array([c.structure for c in certificates])
        self.objective_ = np.array([c.objective for c in certificates])
        self.upper_bound_ = np.array([c.upper_bound for c in certificates])
        self.gap_ = self.upper_bound_ - self.objective_
        self.margins_ = np.array([c.margins for c in certificates])
        self.n_iter_ = np.array([match.n_iter for match in solution.matches])
        self.history_ = [match.history for match in solution.matches]
        return self

    def transform(self, Z_list: Iterable[GraphLike]) -> list[Any]:
        """Put the columns of graphs of the same anchors in the common order.

        Returns
        -------
        list of ndarray or csr
            One aligned graph per view, of any number of samples; sparse where the graph is sparse.
        """
        check_is_fitted(self)
        graphs = check_graphs(Z_list)
        if len(graphs) != len(self.permutations_):
            raise InputError(f"Got {len(graphs)} views; the aligner was fitted on {len(self.permutations_)}.")
        m = len(self.permutations_[0])
        if graphs[0].shape[1] != m:
            raise InputError(f"The views have {graphs[0].shape[1]} anchors; the aligner was fitted on {m}.")
        return [permute_columns(Z, p) for Z, p in zip(graphs, self.permutations_, strict=True)]

    def fit_transform(self, Z_list: Iterable[GraphLike], y: object = None) -> list[Any]:
        """Fit, then return the aligned graphs."""
        graphs = check_graphs(Z_list)
        return self.fit(graphs).transform(graphs)

    def _solve(self, Z_list: Iterable[GraphLike] | GramMatrices) -> _Solution:
        lam = check_lam(self.lam)
        check_choice("lam_scale", self.lam_scale, LAM_SCALES)
        check_choice("method", self.method, METHODS)
        n_restarts = check_count("n_restarts", self.n_restarts)
        seed = check_seed(self.random_state)
        check_callback(self.callback)
        grams = self._grams(Z_list)
        reference = check_reference(self.reference, grams.n_views)
        seeds = check_seeds(self.seeds, grams.n_views, grams.sizes[0])
        scaled = _ScaledGrams(grams, lam, self.lam_scale)
        matcher = _Matcher(scaled, seeds, self.method, n_restarts, seed, self.callback)
        return matcher.solve(reference)

    def _grams(self, Z_list: Iterable[GraphLike] | GramMatrices) -> GramMatrices:
        if isinstance(Z_list, GramMatrices):
            if len(set(Z_list.sizes)) > 1:
                raise InputError(f"All views must have the same number of anchors, got {Z_list.sizes}.")
            return Z_list
        callback = self.callback
        rows = None if callback is None else lambda done, total: callback(Progress("grams", done, total))
        return GramMatrices.from_graphs(check_graphs(Z_list), callback=rows)


@dataclass(frozen=True, eq=False)
class _Solution:
    """Permutations of all views, and for each what it was matched to, what was fixed, and how the search went."""

    lam: float
    permutations: list[IndexArray]
    reference: int | None
    terms: list[PairTerms]
    pairs: list[IndexArray]
    matches: list[Match]


class _ScaledGrams:
    """Gram matrices on the chosen scale."""

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
        return np.asarray(self._grams.cross(u, v) / (self._graph_norms[u] * self._graph_norms[v]))

    def structure(self, view: int) -> FloatArray:
        return np.asarray(self._grams.structure(view) / self._structure_norms[view])

    def unit(self, u: int, v: int) -> float:
        norms = self._structure_norms if np.isinf(self.lam) else self._graph_norms
        return float(norms[u]) * float(norms[v])

    def pair(self, u: int, v: int) -> PairTerms:
        """Terms of matching view v to view u."""
        return PairTerms(self.cross(u, v), self.structure(u), self.structure(v), self.unit(u, v))

    def against_others(self, view: int, permutations: list[IndexArray]) -> PairTerms:
        """Terms of matching a view to the mean of all other views, each in the order of its permutation."""
        others = [u for u in range(self.n_views) if u != view]
        K = sum(self.cross(u, view)[permutations[u]] for u in others) / len(others)
        S = sum(self.structure(u)[np.ix_(permutations[u], permutations[u])] for u in others) / len(others)
        unit = sum(self.unit(u, view) for u in others) / len(others)
        return PairTerms(np.asarray(K), np.asarray(S), self.structure(view), unit)

    def total(self, permutations: list[IndexArray]) -> float:
        """Objective summed over all pairs of views."""
        feature = sum(
            float(self.cross(u, v)[permutations[u], permutations[v]].sum())
            for u, v in itertools.combinations(range(self.n_views), 2)
        )
        aligned = [self.structure(v)[np.ix_(p, p)] for v, p in enumerate(permutations)]
        whole = np.sum(aligned, axis=0)
        structure = (float(np.vdot(whole, whole)) - sum(float(np.vdot(S, S)) for S in aligned)) / 2.0
        return structure if np.isinf(self.lam) else feature + self.lam * structure


class _Matcher:
    """Matches pairs of views and puts the pairs together."""

    def __init__(
        self,
        scaled: _ScaledGrams,
        seeds: IndexArray,
        method: str,
        n_restarts: int,
        seed: int,
        callback: Callable[[Progress], object] | None,
    ) -> None:
        self.scaled = scaled
        self.seeds = seeds
        self.method = method
        self.n_restarts = n_restarts
        self.seed = seed
        self.callback = callback

    def solve(self, reference: int | str) -> _Solution:
        if isinstance(reference, int):
            self._require_seeded(reference)
            return self._star(reference, self._match_pairs([reference]))
        candidates = self._possible_references()
        matches = self._match_pairs(candidates)
        scores = np.zeros(self.scaled.n_views)
        for pair, match in matches.items():
            scores[list(pair)] += match.value
        if reference == "consensus":
            return self._consensus(matches, candidates, scores)
        return self._star(_first_largest(scores, candidates), matches)

    def _match_pairs(self, references: list[int]) -> dict[tuple[int, int], Match]:
        """Match every pair of views that has one of the references in it."""
        pairs = [
            self._oriented(u, v)
            for u, v in itertools.combinations(range(self.scaled.n_views), 2)
            if u in references or v in references
        ]
        matches = {}
        for done, (u, v) in enumerate(pairs, start=1):
            matches[u, v] = self._solve_pair(self.scaled.pair(u, v).problem(self.scaled.lam), self._pairs(u, v))
            self._report(Progress("match", done, len(pairs), matches[u, v].value))
        return matches

    def _oriented(self, u: int, v: int) -> tuple[int, int]:
        """Put the view with the more even structure first: one way round for a pair, whatever the order of views."""
        evenness = [float(np.trace(self.scaled.structure(view))) for view in (u, v)]
        return (u, v) if evenness[0] >= evenness[1] else (v, u)

    def _solve_pair(self, problem: PairProblem, pairs: IndexArray) -> Match:
        return solve_pair(problem, self.method, pairs, n_restarts=self.n_restarts, seed=self.seed)

    def _star(self, reference: int, matches: dict[tuple[int, int], Match]) -> _Solution:
        """Every view matched to the reference."""
        views = range(self.scaled.n_views)
        identity = np.arange(self.scaled.n_anchors)
        by_view = [self._toward(reference, v, matches) for v in views]
        return _Solution(
            self.scaled.lam,
            [identity if match is None else match.permutation for match in by_view],
            reference,
            [self.scaled.pair(reference, v) for v in views],
            [self._pairs(reference, v) for v in views],
            [Match(identity, 0.0, 0, ()) if match is None else match for match in by_view],
        )

    def _toward(self, reference: int, view: int, matches: dict[tuple[int, int], Match]) -> Match | None:
        """Match of a view to the reference; None for the reference itself."""
        if view == reference:
            return None
        if (reference, view) in matches:
            return matches[reference, view]
        match = matches[view, reference]
        return Match(np.argsort(match.permutation), match.value, match.n_iter, match.history)

    def _consensus(self, matches: dict[tuple[int, int], Match], candidates: list[int], scores: FloatArray) -> _Solution:
        """Start from the best star; match each view to the mean of the others until the total stops rising."""
        stars = {base: self._star(base, matches) for base in candidates}
        totals = np.full(self.scaled.n_views, -np.inf)
        for base, star in stars.items():
            totals[base] = self.scaled.total(star.permutations)
        base = _first_largest(totals, candidates)
        permutations = list(stars[base].permutations)
        latest = list(stars[base].matches)
        fixed = self._seed_columns(base)
        for sweep in range(1, MAX_SWEEPS + 1):
            changed = False
            for view in np.argsort(-scores, kind="stable") if self.scaled.n_views > 2 else []:
                match = self._improve(int(view), permutations, fixed)
                if match is not None:
                    permutations[view] = permutations[view][match.permutation]
                    latest[view] = match
                    changed = True
            self._report(Progress("consensus", sweep * self.scaled.n_views, None, self.scaled.total(permutations)))
            if not changed:
                break
        return self._in_order_of_first_view(permutations, latest)

    def _improve(self, view: int, permutations: list[IndexArray], fixed: IndexArray) -> Match | None:
        """Better match of a view to the mean of the others, relative to its present order; None if there is none."""
        problem = self.scaled.against_others(view, permutations).problem(self.scaled.lam)
        # With the view in its present order the identity is what the solver must not fall below.
        present = problem.permute(np.arange(problem.size), permutations[view])
        known = fixed[self.seeds[:, view] >= 0]
        match = self._solve_pair(present, np.column_stack([known, known]))
        worth_it = match.value > present.value(np.arange(problem.size)) + RELATIVE_TOLERANCE * problem.scale
        return match if worth_it else None

    def _in_order_of_first_view(self, permutations: list[IndexArray], matches: list[Match]) -> _Solution:
        first = np.argsort(permutations[0])
        permutations = [p[first] for p in permutations]
        views = range(self.scaled.n_views)
        if self.scaled.n_views == 1:
            terms = [self.scaled.pair(0, 0)]
        else:
            terms = [self.scaled.against_others(v, permutations) for v in views]
        fixed = [np.flatnonzero(np.isin(p, self.seeds[:, v])) for v, p in enumerate(permutations)]
        pairs = [np.column_stack([columns, p[columns]]) for columns, p in zip(fixed, permutations, strict=True)]
        return _Solution(self.scaled.lam, permutations, None, terms, pairs, matches)

    def _pairs(self, u: int, v: int) -> IndexArray:
        """Known correspondences between two views."""
        both = self.seeds[:, [u, v]]
        return both[(both >= 0).all(axis=1)]

    def _seed_columns(self, base: int) -> IndexArray:
        return self.seeds[:, base]

    def _possible_references(self) -> list[int]:
        possible = [v for v in range(self.scaled.n_views) if (self.seeds[:, v] >= 0).all()]
        if not possible:
            raise InputError(
                "No view is named in every row of seeds; one view must be, as the others are matched to it."
            )
        return possible

    def _require_seeded(self, reference: int) -> None:
        missing = np.flatnonzero(self.seeds[:, reference] < 0)
        if missing.size:
            raise InputError(
                f"Row {missing[0]} of seeds names no anchor of the reference, view {reference}; expected an index >= 0."
            )

    def _report(self, progress: Progress) -> None:
        if self.callback is not None:
            self.callback(progress)


def _first_largest(values: FloatArray, candidates: list[int]) -> int:
    """Candidate with the largest value; the first of those that differ by rounding only."""
    best = max(values[v] for v in candidates)
    slack = RELATIVE_TOLERANCE * abs(best)
    return next(v for v in candidates if values[v] >= best - slack)
