"""Matching many views: every view to a reference, or all to each other."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..arrays import FloatArray, IndexArray
from ..errors import InputError
from ._ascent import FEW
from ._certificate import Certificate, certify
from ._pair_problem import RELATIVE_TOLERANCE, Match, PairProblem, total
from ._pair_solvers import CLIMB, MANY_TO_ONE, canonical_order, solve_pair
from ._scaled_grams import SAME, PairTerms, ScaledGrams, without_rounding
from ._unequal import fill_columns

MAX_SWEEPS = 100
# Other starts of a consensus of v views: this number over v squared, for few anchors only. With three views, they
# lower the share of results below the best total by a factor of ten (tests/benchmarks/bench_optimum.py).
EXTRA_STARTS = 100


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


@dataclass(eq=False)
class _Consensus:
    """Orders of the anchors on the way to a consensus; the first columns were the anchors of view ``base``."""

    permutations: list[IndexArray]
    matches: list[Match]
    base: int
    views_done: int = 0

    def known(self, seeds: IndexArray, view: int) -> IndexArray:
        """Columns whose anchor in a view is given by the seeds."""
        return np.asarray(seeds[seeds[:, view] >= 0, self.base])


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

    def solve(self, reference: int | str) -> Solution:
        """Align all views to one view, to the best view ("auto") or to each other ("consensus")."""
        if isinstance(reference, int):
            self._check_named(reference)
            return self._star(reference, self._match_pairs([reference]))
        self._check_connected()
        candidates = self._possible_references(reference)
        matches = self._match_pairs(candidates)
        scores = np.zeros(self.scaled.n_views)
        for pair, match in matches.items():
            scores[list(pair[:1] if self._one_way else pair)] += match.value
        if self.scaled.n_views > 2:  # two views have the same match for either reference
            candidates.sort(key=self.scaled.rank.__getitem__)
        if reference == "consensus":
            return self._consensus(matches, candidates, scores)
        return self._star(_first_largest(scores, candidates), matches)

    def certificates(self, solution: Solution) -> list[Certificate]:
        found = []
        for view, permutation in enumerate(solution.permutations):
            columns = self.fixed_columns(solution, view)
            pairs = np.column_stack([columns, permutation[columns]])
            # In the consensus, every common column is an anchor of some view.
            rows = self.scaled.n_anchors if solution.reference is None else self.sizes[solution.reference]
            if self._one_way and solution.reference is not None:
                pairs = self._known(solution.reference, view)
            terms = self.terms(solution, view)
            found.append(certify(terms, self.scaled.lam, permutation, pairs, (rows, self.sizes[view])))
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
        """Whether matches are not one-to-one, so that a match has no inverse."""
        return self.method == MANY_TO_ONE

    def _known(self, u: int, v: int) -> IndexArray:
        known = self.seeds[:, [u, v]]
        return known[(known >= 0).all(axis=1)]

    def _match_pairs(self, references: list[int]) -> dict[tuple[int, int], Match]:
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
            matches[u, v] = self._solve_pair(self.problem(u, v), self._known(u, v), self.method)
            self._report(Progress("match", done, len(pairs), matches[u, v].value))
        return matches

    def _oriented(self, u: int, v: int) -> tuple[int, int]:
        """Put the view with the more even structure first: a pair has one direction for any order of the views."""
        first, second = self.scaled.evenness(u, v), self.scaled.evenness(v, u)
        if abs(first - second) <= SAME * max(first, second):
            return (u, v) if self.scaled.rank[u] < self.scaled.rank[v] else (v, u)
        return (u, v) if first > second else (v, u)

    def _solve_pair(self, problem: PairProblem, known: IndexArray, method: str) -> Match:
        return solve_pair(problem, method, known, n_restarts=self.n_restarts, seed=self.seed)

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
        """Start from the best reference; match each view to the mean of the others until the total stops rising.

        For few anchors and views the same is done from other starts, with cheaper steps, and the best total is kept.
        """
        scaled = self.scaled
        stars = {base: self._star(base, matches) for base in candidates}
        totals = np.full(scaled.n_views, -np.inf)
        for base, star in stars.items():
            totals[base] = scaled.total(star.permutations)
        base = _first_largest(totals, candidates)
        start = _Consensus(list(stars[base].permutations), list(stars[base].matches), base)
        given = [np.arange(scaled.n_anchors)] * scaled.n_views
        allowed = all(len(set(row[row >= 0].tolist())) == 1 for row in self.seeds)
        if allowed and scaled.total(given) > totals[base]:
            start.permutations = given
        # More than two views take turns in an order that does not depend on their numbers.
        order = np.lexsort([scaled.rank.astype(np.float64), -without_rounding(scores)]).tolist()
        best = self._climb(start, order, self.method)
        best_total = scaled.total(best.permutations)
        highest = sum(match.value for match in matches.values())
        extra = 0 if scaled.n_anchors > FEW or scaled.n_views == 2 else EXTRA_STARTS // scaled.n_views**2
        # Nothing is better than the best match of every single pair.
        if self.method == "ascent" and best_total < highest - RELATIVE_TOLERANCE * abs(highest):
            for other in itertools.islice(self._other_starts(best, stars), extra):
                found = self._climb(other, order, CLIMB)
                if scaled.total(found.permutations) > best_total + SAME * abs(best_total):
                    found.views_done += best.views_done
                    best = self._climb(found, order, self.method)
                    best_total = scaled.total(best.permutations)
        in_order_of_first_view = np.argsort(best.permutations[0])
        return Solution([p[in_order_of_first_view] for p in best.permutations], None, best.matches)

    def _climb(self, start: _Consensus, order: list[int], method: str) -> _Consensus:
        """Match views to the mean of the others in turn, until the total stops rising."""
        permutations, latest = list(start.permutations), list(start.matches)
        for sweep in range(1, MAX_SWEEPS + 1):
            changed = False
            # Two views are already matched.
            for view in order if self.scaled.n_views > 2 else []:
                match = self._improve(view, permutations, start.known(self.seeds, view), method)
                if match is not None:
                    permutations[view] = permutations[view][match.permutation]
                    latest[view] = match
                    changed = True
            if method == self.method:  # other starts begin below the total that was reported
                done = start.views_done + sweep * self.scaled.n_views
                self._report(Progress("consensus", done, None, self.scaled.total(permutations)))
            if not changed:
                break
        return _Consensus(permutations, latest, start.base, start.views_done + sweep * self.scaled.n_views)

    def _other_starts(self, best: _Consensus, stars: dict[int, Solution]) -> Iterator[_Consensus]:
        """The other references, then random orders. None depends on how views or anchors are numbered."""
        for base, star in stars.items():
            if base != best.base:
                yield _Consensus(list(star.permutations), list(star.matches), base)
        star = stars[best.base]
        terms = self.scaled.against_others(best.base, star.permutations)
        columns = canonical_order(terms.K.T, total(terms.S2))
        rng = np.random.default_rng(self.seed)
        while True:
            permutations = list(star.permutations)
            for view in np.argsort(self.scaled.rank).tolist():
                if view != best.base:
                    free = columns[~np.isin(columns, best.known(self.seeds, view))]
                    permutations[view] = permutations[view].copy()
                    permutations[view][free] = permutations[view][rng.permutation(free)]
            yield _Consensus(permutations, list(star.matches), best.base)

    def _improve(self, view: int, permutations: list[IndexArray], known: IndexArray, method: str) -> Match | None:
        """Better match of a view to the mean of the others, relative to its present order; None if there is none."""
        problem = self.scaled.against_others(view, permutations).problem(self.scaled.lam)
        identity = np.arange(problem.size)
        # With the view in its present order, the result must not be worse than the identity.
        present = problem.permute(identity, permutations[view])
        match = self._solve_pair(present, np.column_stack([known, known]), method)
        # Both values come from the same numbers; the solver uses rounded ones.
        gain = present.value(match.permutation) - present.value(identity)
        return match if gain > RELATIVE_TOLERANCE * problem.scale else None

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
                    f"View {view} shares no sample with view {reference}, the reference; use reference='auto' or "
                    "'consensus', which reach it through other views."
                )

    def _check_connected(self) -> None:
        views = range(self.scaled.n_views)
        shared = np.array([[self.scaled.shares(u, v) for v in views] for u in views])
        number, group = connected_components(shared, directed=False)
        if number > 1:
            inside, outside = (np.flatnonzero((group == group[0]) == same).tolist() for same in (True, False))
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
