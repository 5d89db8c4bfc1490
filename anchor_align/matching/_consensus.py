"""Consensus: the orders of all views that match each other best, without a reference.

The total over all pairs of views rises when one view, or a group of views as a whole, is matched to the mean of all
others: the structure terms of all pairs between the two groups are one structure term of sums, so a group is no harder
to match than a view. Views that are much alike hold each other where they are, and only move together. The groups are
those of a tree: the two most similar groups of views are joined, again and again, until all are one.

Starts are the best reference and, with many anchors and a small lam, the tree: groups are matched when they are joined,
which needs v - 1 matches. Then views and groups take turns until none of them improves the total. With few anchors
every turn is a whole search and there are more starts. With many anchors and a small lam, a turn is a climb from the
present order and one from the best assignment of the linear term; when a sweep gains little, only single views take
turns, by one climb from the present order. The matches of pairs, which only rank the references, are assignments. A
reference that comes near the result is matched in full, and the result is not below it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import FloatArray, IndexArray
from ._pair_problem import RELATIVE_TOLERANCE, Match, total
from ._pair_solvers import CLIMB, CLIMB_FROM_LINEAR, CLIMB_TWICE, canonical_order, solve_pair
from ._present_terms import PresentTerms
from ._scaled_grams import SAME, PairTerms, ScaledGrams, without_rounding

MAX_SWEEPS = 100
# Other starts of a consensus of v views: this number over v squared, for few anchors only. With three views, they
# lower the share of results below the best total by a factor of ten (benchmarks/speed/optimum.py).
EXTRA_STARTS = 100
MAX_ORDERS = 20_000  # up to this many joint orders of the views, all are tried
# Groups, and second climbs from the linear term, take turns while a sweep raises the total by this fraction. To go on
# until nothing changes takes half as long again with twelve views, for a total that is higher by 0.01 % on the mean.
WORTHWHILE = 1e-3
FEW_VIEWS = 6  # up to this many views, many anchors have two starts


@dataclass(eq=False)
class Orders:
    """Orders of the anchors on the way to a consensus; the first columns were the anchors of view ``base``."""

    permutations: list[IndexArray]
    matches: list[Match]
    base: int
    turns: int = 0


@dataclass(frozen=True, eq=False)
class ConsensusSearch:
    """Improves orders; ``turns`` are the views in an order that does not depend on their numbers."""

    scaled: ScaledGrams
    seeds: IndexArray
    turns: list[int]
    n_restarts: int
    seed: int
    report: Callable[[int, float], None] | None

    def improve(self, start: Orders, method: str, *, report: bool = True) -> Orders:
        """Match views and groups of views to the mean of the others in turn, until the total stops rising."""
        present, matches = PresentTerms(self.scaled, start.permutations), list(start.matches)
        groups, value = self._groups, self._total(start)
        unchanged = done = 0
        for _ in range(MAX_SWEEPS):
            for group in groups:
                match = self._better(present.terms(group), group, start.base, method)
                done += 1
                unchanged += 1
                if match is not None:
                    unchanged = 0
                    present.move(group, match.permutation)
                    for view in group:
                        matches[view] = match
                if unchanged == len(groups):
                    break
            before, value = value, self.scaled.total(present.permutations)
            if self.report is not None and report:
                self.report(start.turns + done, value)
            if unchanged == len(groups):
                break
            if method == CLIMB_TWICE and value - before < WORTHWHILE * abs(value):
                method, groups, unchanged = CLIMB, [[view] for view in self.turns], 0
        return Orders(present.permutations, matches, start.base, start.turns + done)

    def starts(self, star: Orders, *, tree: bool) -> list[Orders]:
        """The star or the orders as they are given, whichever are better, and groups matched along the tree."""
        given = [np.arange(self.scaled.n_anchors)] * self.scaled.n_views
        allowed = all(len(set(row[row >= 0].tolist())) == 1 for row in self.seeds)
        if allowed and self.scaled.total(given) > self.scaled.total(star.permutations):
            star = Orders(given, star.matches, star.base)
        if not tree or not self.scaled.sums_structures:
            return [star]
        joined = list(star.permutations)
        for first, second in self._tree:
            match = self._better(self.scaled.between(second, joined, first), second, star.base, CLIMB_FROM_LINEAR)
            if match is not None:
                for view in second:
                    joined[view] = joined[view][match.permutation]
        found = [star, Orders(joined, star.matches, star.base)]
        # Few views have a short tree, which is less often the better start, and short sweeps: there is time for both.
        return found if self.scaled.n_views <= FEW_VIEWS else [max(found, key=self._total)]

    def best(self, starts: list[Orders], method: str) -> Orders:
        """Improve every start; the best result, the first of equals."""
        return max((self.improve(start, method) for start in starts), key=self._total)

    def _total(self, orders: Orders) -> float:
        return self.scaled.total(orders.permutations)

    def other_starts(self, best: Orders, stars: list[Orders], method: str, highest: float) -> Orders:
        """Improve other stars, then random orders, with cheaper turns; nothing is better than ``highest``."""
        best_total = self.scaled.total(best.permutations)
        if best_total >= highest - RELATIVE_TOLERANCE * abs(highest):
            return best
        first = next(star for star in stars if star.base == best.base)
        starts = itertools.chain([star for star in stars if star is not first], self._random_starts(first))
        for other in itertools.islice(starts, EXTRA_STARTS // self.scaled.n_views**2):
            found = self.improve(other, CLIMB, report=False)
            if self.scaled.total(found.permutations) > best_total + SAME * abs(best_total):
                found.turns += best.turns
                best = self.improve(found, method)
                best_total = self.scaled.total(best.permutations)
        return best

    @property
    def few_orders(self) -> bool:
        """Whether there are so few joint orders of all views that every one can be tried."""
        return bool(math.factorial(self.scaled.n_anchors) ** (self.scaled.n_views - 1) <= MAX_ORDERS)

    def best_of_all(self, found: Orders) -> Orders:
        """The best of all joint orders that the seeds allow; ``found``, if none is better.

        An order of a view is written relative to the base, as the partner of each of its anchors. The total is a sum
        over pairs of views, each with one value for every permutation: the totals of all joint orders are a grid with
        an axis for each view but the base.
        """
        m, base = self.scaled.n_anchors, found.base
        others = [view for view in range(self.scaled.n_views) if view != base]
        every = np.array(list(itertools.permutations(range(m))), dtype=np.intp)
        code = m ** np.arange(m)
        # Axis ``place`` of the grid has the orders of ``others[place]``.
        orders = []
        for view in others:
            known = self.seeds[self.seeds[:, view] >= 0]
            orders.append(every[(every[:, known[:, base]] == known[:, view]).all(axis=1)])
        totals = np.zeros([len(each) for each in orders])
        for place, view in enumerate(others):
            values = self._pair_values(base, view, every)[orders[place] @ code]
            totals += np.expand_dims(values, [axis for axis in range(len(others)) if axis != place])
        for i, j in itertools.combinations(range(len(others)), 2):
            # Partners of the same anchor of the base are partners of each other.
            met = np.take_along_axis(orders[j][None], np.argsort(orders[i], axis=1)[:, None], axis=2)
            values = self._pair_values(others[i], others[j], every)[met @ code]
            totals += np.expand_dims(values, [axis for axis in range(len(others)) if axis not in (i, j)])
        at = np.unravel_index(int(totals.argmax()), totals.shape)
        permutations = list(found.permutations)
        for place, view in enumerate(others):
            permutations[view] = orders[place][at[place]][found.permutations[base]]
        best, reached = Orders(permutations, found.matches, base, found.turns), self._total(found)
        return best if self._total(best) > reached + SAME * abs(reached) else found

    def _pair_values(self, u: int, v: int, every: IndexArray) -> FloatArray:
        """Objective of a pair of views for every permutation, at the number whose digits are the permutation."""
        problem = self.scaled.pair(u, v).problem(self.scaled.lam)
        values = np.zeros(problem.size**problem.size)
        values[every @ problem.size ** np.arange(problem.size)] = [problem.value(order) for order in every]
        return values

    @cached_property
    def _tree(self) -> list[tuple[list[int], list[int]]]:
        """Pairs of groups in the order in which they are joined: most similar first, by the mean over their views."""
        groups = [[view] for view in np.argsort(self.scaled.rank).tolist()]
        likeness = self.scaled.likeness
        joined = []
        while len(groups) > 1:
            pairs = list(itertools.combinations(groups, 2))
            means = without_rounding([float(likeness[np.ix_(first, second)].mean()) for first, second in pairs])
            # The larger group keeps its order.
            first, second = sorted(pairs[int(np.argmax(means))], key=len, reverse=True)
            joined.append((first, second))
            groups = [group for group in groups if group is not first and group is not second]
            groups.append(first + second)
        return joined

    @cached_property
    def _groups(self) -> list[list[int]]:
        """Single views, then groups of the tree; of a group and all other views, only the smaller moves."""
        found = [[view] for view in self.turns]
        if self.scaled.n_views == 3 or not self.scaled.sums_structures:
            return found
        for first, second in self._tree[:-1]:
            rest = [view for view in self.turns if view not in first + second]
            smaller = min(first + second, rest, key=len)
            if not any(set(smaller) == set(other) or not set(rest) - set(other) for other in found):
                found.append(smaller)
        return found

    def _random_starts(self, star: Orders) -> Iterator[Orders]:
        """Random orders. None depends on how views or anchors are numbered."""
        terms = self.scaled.against_others(star.base, star.permutations)
        columns = canonical_order(terms.K.T, total(terms.S2))
        rng = np.random.default_rng(self.seed)
        while True:
            permutations = list(star.permutations)
            for view in np.argsort(self.scaled.rank).tolist():
                if view != star.base:
                    free = columns[~np.isin(columns, self._known(view, star.base))]
                    permutations[view] = permutations[view].copy()
                    permutations[view][free] = permutations[view][rng.permutation(free)]
            yield Orders(permutations, list(star.matches), star.base)

    def _better(self, terms: PairTerms, group: list[int], base: int, method: str) -> Match | None:
        """Better match of a group to others than its present order; None if there is none."""
        problem = terms.problem(self.scaled.lam)
        known = np.unique(np.concatenate([self._known(view, base) for view in group]))
        pairs = np.column_stack([known, known])
        match = solve_pair(problem, method, pairs, n_restarts=self.n_restarts, seed=self.seed)
        # Both values come from the same numbers; the solver uses rounded ones.
        gain = problem.value(match.permutation) - problem.value(np.arange(problem.size))
        return match if gain > RELATIVE_TOLERANCE * problem.scale else None

    def _known(self, view: int, base: int) -> IndexArray:
        """Columns whose anchor in a view is given by the seeds."""
        return np.asarray(self.seeds[self.seeds[:, view] >= 0, base])
