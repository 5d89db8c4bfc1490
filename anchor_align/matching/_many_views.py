"""Matching many views: every view to a reference, or all to each other."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..arrays import FloatArray, IndexArray
from ..errors import InputError, view_name
from ._ascent import FEW, SMALL
from ._certificate import Certificate, certify, certify_many_to_one
from ._consensus import ConsensusSearch, Orders
from ._pair_problem import RELATIVE_TOLERANCE, Match, PairProblem
from ._pair_solvers import CLIMB_FROM_LINEAR, CLIMB_TWICE, LINEAR, MANY_TO_ONE, SEARCH, solve_pair
from ._scaled_grams import SAME, PairTerms, ScaledGrams, without_rounding
from ._unequal import fill_columns

# References whose total over all pairs comes so near that of the consensus are matched in full. Matched by single
# climbs, they are up to 1 % lower.
NEAR = 0.03
# With a heavy structure term a climb stops early: on real graphs with up to 120 anchors, single climbs lose 0.2 % of
# the total at lam = 1 and 0.6 % at lam = 10, and nothing at lam = 0.1.
LIGHT_LAM = 0.3


@dataclass(frozen=True)
class Progress:
    """Progress of an alignment, the argument of a callback.

    Attributes
    ----------
    stage : {"grams", "match", "consensus"}
        A pass over the rows, the match of pairs of views, or the improvement of the consensus view by view.
    done : int
        Number of rows, pairs or views that are done in this stage.
    total : int or None
        Number of all; None for the consensus, which continues until nothing changes.
    objective : float or None
        Objective of the last pair, or the total of the consensus over all pairs.
    """

    stage: str
    done: int
    total: int | None
    objective: float | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """A permutation for every view, the reference (None for the consensus), and the match of every view."""

    permutations: list[IndexArray]
    reference: int | None
    matches: list[Match]


@dataclass(frozen=True, eq=False)
class Matcher:
    """Matches pairs of views and combines the pairs.

    ``seeds`` has a row for each known correspondence and a column for each view, -1 where an anchor is not known.
    ``sizes`` are the numbers of anchors of the views; higher numbers are padding.
    """

    scaled: ScaledGrams
    seeds: IndexArray
    method: str
    n_restarts: int
    seed: int
    callback: Callable[[Progress], object] | None
    sizes: tuple[int, ...]
    effort: str = "normal"

    def solve(self, reference: int | str) -> Solution:
        """Align all views to one view, to the best view ("auto") or to each other ("consensus")."""
        if isinstance(reference, int):
            self._check_named(reference)
            return self._star(reference, self._match_pairs([reference], self._pair_method))
        self._check_connected()
        candidates = self._possible_references(reference)
        light = reference == "consensus" and self._light
        matches = self._match_pairs(
            candidates,
            LINEAR
            if light
            else self.method
            if reference == "consensus" and self.scaled.n_views > 2
            else self._pair_method,
        )
        scores = np.zeros(self.scaled.n_views)
        for pair, match in matches.items():
            scores[list(pair[:1] if self._one_way else pair)] += match.value
        if self.scaled.n_views > 2:  # two views have the same match for either reference
            candidates.sort(key=self.scaled.rank.__getitem__)
        if reference == "consensus":
            return self._consensus(matches, candidates, scores)
        return self._star(_first_largest(scores, candidates), matches)

    def certificates(self, solution: Solution, guided: Matcher | None = None) -> list[Certificate]:
        """Quality of the match of every view; ``guided`` is the matcher with profiles, if it found the solution."""
        found = []
        for view, permutation in enumerate(solution.permutations):
            columns = self.fixed_columns(solution, view)
            pairs = np.column_stack([columns, permutation[columns]])
            # In the consensus, every common column is an anchor of some view.
            rows = self.scaled.n_anchors if solution.reference is None else self.sizes[solution.reference]
            terms = self.terms(solution, view)
            with_profiles = None if guided is None else guided.terms(solution, view)
            sizes = (rows, self.sizes[view])
            found.append(
                certify_many_to_one(terms, self.scaled.lam, permutation)
                if self._one_way
                else certify(terms, self.scaled.lam, permutation, pairs, sizes, with_profiles)
            )
        return found

    def terms(self, solution: Solution, view: int) -> PairTerms:
        """Terms of the match of a view to the reference or, in a consensus, to all others."""
        if solution.reference is not None or self.scaled.n_views == 1:
            return self.scaled.pair(solution.reference or 0, view)
        return self.scaled.against_others(view, solution.permutations)

    def fixed_columns(self, solution: Solution, view: int) -> IndexArray:
        """Columns with known correspondences, which hold in the common order."""
        return np.flatnonzero(np.isin(solution.permutations[view], self.seeds[:, view]))

    def problem(self, reference: int, view: int) -> PairProblem:
        return self.scaled.pair(reference, view).problem(self.scaled.lam)

    @property
    def _one_way(self) -> bool:
        """Whether every anchor of a view is matched to an anchor of the reference, which several may share."""
        return self.method == MANY_TO_ONE

    @property
    def _pair_method(self) -> str:
        """How pairs are matched that are a result, not a step on the way to a consensus."""
        return SEARCH if self.effort == "high" and self.method == "ascent" else self.method

    @property
    def _light(self) -> bool:
        """Whether a consensus takes single climbs instead of whole searches: for many anchors and a small lam."""
        is_small = self.scaled.lam_scale == "balanced" and self.scaled.lam <= LIGHT_LAM
        return self.method == "ascent" and is_small and self.scaled.n_anchors > SMALL and self.scaled.n_views > 2

    def _known(self, u: int, v: int) -> IndexArray:
        known = self.seeds[:, [u, v]]
        return known[(known >= 0).all(axis=1)]

    def _match_pairs(self, references: list[int], method: str) -> dict[tuple[int, int], Match]:
        """Match every pair with one of the references; all pairs, if a reference shares no sample with a view."""
        views = range(self.scaled.n_views)
        shared = [pair for pair in itertools.combinations(views, 2) if self.scaled.shares(*pair)]
        direct = all(self.scaled.shares(u, v) for u in references for v in views)
        if self._one_way:
            pairs = [(u, v) for u in references for v in views if u != v and self.scaled.shares(u, v)]
        else:
            pairs = [self._oriented(u, v) for u, v in shared if not direct or u in references or v in references]
        matches = {}
        for done, (u, v) in enumerate(pairs, start=1):
            matches[u, v] = solve_pair(
                self.problem(u, v), method, self._known(u, v), n_restarts=self.n_restarts, seed=self.seed
            )
            self._report(Progress("match", done, len(pairs), matches[u, v].value))
        return matches

    def _oriented(self, u: int, v: int) -> tuple[int, int]:
        """Put the view with the more even structure first: a pair has one direction for any order of the views."""
        first, second = self.scaled.evenness(u, v), self.scaled.evenness(v, u)
        if abs(first - second) <= SAME * max(first, second):
            return (u, v) if self.scaled.rank[u] < self.scaled.rank[v] else (v, u)
        return (u, v) if first > second else (v, u)

    def _star(self, reference: int, matches: dict[tuple[int, int], Match]) -> Solution:
        """Match every view to the reference; views that share no sample with it, through other views."""
        by_view = {reference: self._toward(reference, reference, matches)}
        while len(by_view) < self.scaled.n_views:
            found = {}
            for view in set(range(self.scaled.n_views)) - set(by_view):
                near = [u for u in sorted(by_view, key=self.scaled.rank.__getitem__) if self.scaled.shares(u, view)]
                if reference in near:
                    found[view] = self._toward(reference, view, matches)
                elif near:
                    steps = [self._toward(u, view, matches) for u in near]
                    best = int(np.argmax([step.value for step in steps]))
                    permutation = steps[best].permutation[by_view[near[best]].permutation]
                    for column, anchor in self._known(reference, view):
                        permutation[permutation == anchor] = permutation[column]
                        permutation[column] = anchor
                    found[view] = dataclasses.replace(steps[best], permutation=permutation)
            by_view.update(found)
        if len(set(self.sizes)) > 1 and not self._one_way:
            for view, match in by_view.items():
                if self.scaled.shares(reference, view):
                    sizes = self.sizes[reference], self.sizes[view]
                    permutation = fill_columns(self.problem(reference, view), match.permutation, *sizes)
                    by_view[view] = dataclasses.replace(match, permutation=permutation)
        in_order = [by_view[view] for view in range(self.scaled.n_views)]
        return Solution([match.permutation for match in in_order], reference, in_order)

    def _toward(self, reference: int, view: int, matches: dict[tuple[int, int], Match]) -> Match:
        """Match of a view to the reference, in this direction."""
        if view == reference:
            return Match(np.arange(self.scaled.n_anchors), 0.0, 0, ())
        if (reference, view) in matches:
            return matches[reference, view]
        match = matches[view, reference]
        return Match(np.argsort(match.permutation), match.value, match.n_iter, match.history)

    def _consensus(self, matches: dict[tuple[int, int], Match], candidates: list[int], scores: FloatArray) -> Solution:
        """Improve the best of some starts until the total stops rising; see :mod:`._consensus`."""
        scaled = self.scaled
        # More than two views take turns in an order that does not depend on their numbers.
        turns = np.lexsort([scaled.rank.astype(np.float64), -without_rounding(scores)]).tolist()
        report = None if self.callback is None else self._report_consensus
        search = ConsensusSearch(scaled, self.seeds, turns, self.n_restarts, self.seed, report)
        stars, totals = self._stars(candidates, matches)
        base = _first_largest(totals, candidates)
        if scaled.n_views <= 2:  # already matched
            best = stars[base]
            self._report_consensus(scaled.n_views, float(totals[base]))
        elif self._light:
            best = self._light_consensus(search, candidates, base, totals)
        else:
            best = search.best(search.starts(stars[base], tree=False), self.method)
            highest = sum(match.value for match in matches.values())
            if search.few_orders and self.method in ("ascent", "exact"):
                best = search.best_of_all(best)
            elif self.method == "ascent" and scaled.n_anchors <= FEW:
                best = search.other_starts(best, list(stars.values()), self.method, highest)
        if self._pair_method == SEARCH and scaled.n_views > 2:
            best = search.improve(best, SEARCH)
        in_order_of_first_view = np.argsort(best.permutations[0])
        return Solution([p[in_order_of_first_view] for p in best.permutations], None, best.matches)

    def _light_consensus(self, search: ConsensusSearch, candidates: list[int], base: int, totals: FloatArray) -> Orders:
        """Consensus by single climbs; ``totals`` are those of references that are matched by one assignment each."""
        stars, climbed = self._stars([base], self._match_pairs([base], CLIMB_FROM_LINEAR))
        best = search.best(search.starts(stars[base], tree=True), CLIMB_TWICE)
        reached = self.scaled.total(best.permutations)
        # What a climb adds to the best reference, and a little more, it may add to the others.
        expected = totals + max(float(climbed[base] - totals[base]), 0.0) + NEAR * abs(reached)
        near = [view for view in candidates if expected[view] > reached]
        if near:
            stars, totals = self._stars(near, self._match_pairs(near, self.method))
            base = _first_largest(totals, near)
            if totals[base] > reached:
                best = search.improve(stars[base], CLIMB_TWICE)
        return best

    def _stars(self, bases: list[int], matches: dict[tuple[int, int], Match]) -> tuple[dict[int, Orders], FloatArray]:
        """All views in the order of each of some references, and the totals over all pairs of views."""
        stars, totals = {}, np.full(self.scaled.n_views, -np.inf)
        for base in bases:
            star = self._star(base, matches)
            stars[base] = Orders(list(star.permutations), list(star.matches), base)
            totals[base] = self.scaled.total(star.permutations)
        return stars, totals

    def _report_consensus(self, done: int, total: float) -> None:
        self._report(Progress("consensus", done, None, total))

    def _possible_references(self, reference: str) -> list[int]:
        """Views in every row of seeds; for "auto" only those with the most anchors, which have room for all others."""
        possible = [v for v in range(self.scaled.n_views) if (self.seeds[:, v] >= 0).all()]
        if not possible:
            raise InputError(
                "No view is named in every row of seeds; the reference must be, as the other views are matched to it."
            )
        if self._one_way:
            if reference == "consensus":
                raise InputError(
                    f"method={MANY_TO_ONE!r} is not one-to-one and has no consensus; use a view's index or 'auto'."
                )
            possible = [u for u in possible if all(self.scaled.shares(u, v) for v in range(self.scaled.n_views))]
            if not possible:
                raise InputError(f"method={MANY_TO_ONE!r} needs a view that shares samples with every other view.")
        if reference == "auto":
            possible = [v for v in possible if self.sizes[v] == max(self.sizes)]
            if not possible:
                raise InputError(
                    f"No view with the most anchors ({max(self.sizes)}) is named in every row of seeds; give the "
                    "reference, or use reference='consensus'."
                )
        return possible

    def _check_named(self, reference: int) -> None:
        missing = np.flatnonzero(self.seeds[:, reference] < 0)
        if missing.size:
            raise InputError(
                f"Row {missing[0]} of seeds names no anchor of the reference, view {reference}; expected an index >= 0."
            )
        for view in range(self.scaled.n_views):
            if not self.scaled.shares(reference, view):
                raise InputError(
                    f"View {view_name(view)} shares no sample with view {view_name(reference)}, the reference; use "
                    "reference='auto' or 'consensus', which reach it through other views."
                )

    def _check_connected(self) -> None:
        views = range(self.scaled.n_views)
        shared = np.array([[self.scaled.shares(u, v) for v in views] for u in views])
        number, group = connected_components(shared, directed=False)
        if number > 1:
            inside, outside = (
                ", ".join(map(view_name, np.flatnonzero((group == group[0]) == same).tolist()))
                for same in (True, False)
            )
            raise InputError(
                f"Views {inside} share no sample with views {outside}, neither directly nor through other views; "
                "align the two groups on their own."
            )

    def _report(self, progress: Progress) -> None:
        if self.callback is not None:
            self.callback(progress)


def _first_largest(values: FloatArray, candidates: list[int]) -> int:
    """Candidate with the largest value; the first of those that differ by rounding only."""
    best = max(values[v] for v in candidates)
    slack = RELATIVE_TOLERANCE * abs(best)
    return next(v for v in candidates if values[v] >= best - slack)
