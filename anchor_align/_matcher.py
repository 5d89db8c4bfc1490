"""Matching many views: every view to a reference, or all to each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._certificate import Certificate, certify
from ._matching import RELATIVE_TOLERANCE, Match, PairProblem
from ._scale import PairTerms, ScaledGrams
from ._solvers import solve_pair
from ._types import FloatArray, IndexArray
from .errors import InputError

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


@dataclass(frozen=True, eq=False)
class Solution:
    """A permutation for every view, the reference (None for the consensus), and how the search for each view went."""

    permutations: list[IndexArray]
    reference: int | None
    matches: list[Match]


@dataclass(frozen=True, eq=False)
class Matcher:
    """Matches pairs of views and puts the pairs together.

    ``seeds`` has a row for each known correspondence and a column for each view, -1 where a view's anchor is not known.
    """

    scaled: ScaledGrams
    seeds: IndexArray
    method: str
    n_restarts: int
    seed: int
    callback: Callable[[Progress], object] | None

    def solve(self, reference: int | str) -> Solution:
        """Align all views to one of them, to the best of them ("auto") or to each other ("consensus")."""
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

    def certificates(self, solution: Solution) -> list[Certificate]:
        """Judge every view's permutation."""
        found = []
        for view, permutation in enumerate(solution.permutations):
            # In the common order, known correspondences hold already: each is a column with itself.
            columns = np.flatnonzero(np.isin(permutation, self.seeds[:, view]))
            pairs = np.column_stack([columns, permutation[columns]])
            found.append(certify(self._terms(view, solution), self.scaled.lam, permutation, pairs))
        return found

    def _terms(self, view: int, solution: Solution) -> PairTerms:
        if solution.reference is not None:
            return self.scaled.pair(solution.reference, view)
        if self.scaled.n_views == 1:
            return self.scaled.pair(0, 0)
        return self.scaled.against_others(view, solution.permutations)

    def _match_pairs(self, references: list[int]) -> dict[tuple[int, int], Match]:
        """Match every pair of views that has one of the references in it."""
        pairs = [
            self._oriented(u, v)
            for u, v in itertools.combinations(range(self.scaled.n_views), 2)
            if u in references or v in references
        ]
        matches = {}
        for done, (u, v) in enumerate(pairs, start=1):
            known = self.seeds[:, [u, v]]
            known = known[(known >= 0).all(axis=1)]
            matches[u, v] = self._solve_pair(self.scaled.pair(u, v).problem(self.scaled.lam), known)
            self._report(Progress("match", done, len(pairs), matches[u, v].value))
        return matches

    def _oriented(self, u: int, v: int) -> tuple[int, int]:
        """Put the view with the more even structure first: one way round for a pair, whatever the order of views."""
        evenness = [float(np.trace(self.scaled.structure(view))) for view in (u, v)]
        return (u, v) if evenness[0] >= evenness[1] else (v, u)

    def _solve_pair(self, problem: PairProblem, known: IndexArray) -> Match:
        return solve_pair(problem, self.method, known, n_restarts=self.n_restarts, seed=self.seed)

    def _star(self, reference: int, matches: dict[tuple[int, int], Match]) -> Solution:
        """Every view matched to the reference."""
        by_view = [self._toward(reference, view, matches) for view in range(self.scaled.n_views)]
        return Solution([match.permutation for match in by_view], reference, by_view)

    def _toward(self, reference: int, view: int, matches: dict[tuple[int, int], Match]) -> Match:
        """Match of a view to the reference, whichever way round it was found."""
        if view == reference:
            return Match(np.arange(self.scaled.n_anchors), 0.0, 0, ())
        if (reference, view) in matches:
            return matches[reference, view]
        match = matches[view, reference]
        return Match(np.argsort(match.permutation), match.value, match.n_iter, match.history)

    def _consensus(self, matches: dict[tuple[int, int], Match], candidates: list[int], scores: FloatArray) -> Solution:
        """Start from the best star; match each view to the mean of the others until the total stops rising."""
        totals = np.full(self.scaled.n_views, -np.inf)
        for base in candidates:
            totals[base] = self.scaled.total(self._star(base, matches).permutations)
        base = _first_largest(totals, candidates)
        star = self._star(base, matches)
        permutations, latest = list(star.permutations), list(star.matches)
        as_they_come = [np.arange(self.scaled.n_anchors)] * self.scaled.n_views
        allowed = all(len(set(row[row >= 0].tolist())) == 1 for row in self.seeds)
        if allowed and self.scaled.total(as_they_come) > totals[base]:
            permutations = as_they_come
        for sweep in range(1, MAX_SWEEPS + 1):
            changed = False
            # Two views are matched already; more are taken in an order that does not depend on how they are numbered.
            for view in np.argsort(-scores, kind="stable").tolist() if self.scaled.n_views > 2 else []:
                match = self._improve(view, permutations, self.seeds[self.seeds[:, view] >= 0, base])
                if match is not None:
                    permutations[view] = permutations[view][match.permutation]
                    latest[view] = match
                    changed = True
            self._report(Progress("consensus", sweep * self.scaled.n_views, None, self.scaled.total(permutations)))
            if not changed:
                break
        in_order_of_first_view = np.argsort(permutations[0])
        return Solution([p[in_order_of_first_view] for p in permutations], None, latest)

    def _improve(self, view: int, permutations: list[IndexArray], known: IndexArray) -> Match | None:
        """Better match of a view to the mean of the others, relative to its present order; None if there is none."""
        problem = self.scaled.against_others(view, permutations).problem(self.scaled.lam)
        identity = np.arange(problem.size)
        # With the view in its present order the identity is what the solver must not fall below.
        present = problem.permute(identity, permutations[view])
        match = self._solve_pair(present, np.column_stack([known, known]))
        # Both on the same footing: the solver works on rounded numbers.
        gain = present.value(match.permutation) - present.value(identity)
        return match if gain > RELATIVE_TOLERANCE * problem.scale else None

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
