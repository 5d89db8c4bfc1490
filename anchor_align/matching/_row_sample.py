"""A bounded sample of the rows of all graphs: what a match reaches by chance, and how often largest anchors coincide.

Gram matrices do not know single samples. Some rows do: with the rows of one view in random order, the same S, and a
K of samples that have nothing to do with each other, a match shows what its graphs reach by chance. Whether a view has
anything in common with the others is judged by agreement (linear CKA), not by the objective: the best match of few
samples adapts to noise, while agreement does not depend on a match.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IndexArray, is_sparse
from ..blocks import ScaledRows, engine_of, row_order
from ..graphs import GraphSet
from ._ascent import climb
from ._many_views import Matcher, Solution
from ._pair_problem import PairProblem, assign
from ._scaled_grams import PairTerms

MOST_ROWS = 2000
DRAWS = 8
MANY_ANCHORS, FEW_DRAWS = 50, 3  # with more anchors a climb takes longer, and draws differ less
# Agreement is clearly above chance if it exceeds the mean over so many draws by so many standard deviations. At most so
# many rows are compared.
AGREEMENT_DRAWS, CLEARLY, AGREEMENT_ROWS = 20, 4.0, 500
# A cycle of exchanges is decided by the largest anchors if it costs each of its anchors at most this share of the mean
# contribution of an anchor to the objective, and if the largest anchors then coincide for so many more of the samples.
NEAR_TIE, LEAST_GAIN = 0.01, 0.02


@dataclass(frozen=True, eq=False)
class Chance:
    """Mean and standard deviation of the objective of every view by chance; NaN for the reference.

    ``exceeded`` says whether a view agrees with its partners clearly better than by chance; True for the reference.
    """

    mean: FloatArray
    spread: FloatArray
    exceeded: BoolArray


@dataclass(frozen=True, eq=False)
class RowSample:
    """The same few rows of every graph, padded to the same number of anchors; zero where a sample is missing."""

    graphs: list[FloatArray]
    present: BoolArray

    @classmethod
    def of_set(cls, graphs: GraphSet) -> RowSample | None:
        """A sample of graphs on this machine; None for distributed ones, whose rows are elsewhere."""
        if engine_of(graphs.sources[0]).distributed:
            return None
        # Evenly spaced in an order that depends on what the rows are, not on where they are.
        n = graphs.n_samples
        places = np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(np.intp)
        rows = row_order(*map(ScaledRows, graphs.sources), mask=graphs.mask, places=places)
        sample = []
        for part in graphs.block(rows):
            Z = np.zeros((len(rows), max(graphs.sizes)))
            Z[:, : part.shape[1]] = part.toarray() if is_sparse(part) else part
            # No product of these overflows; the size of a sample never counts.
            sample.append(Z / (np.abs(Z).max() or 1.0))
        present = graphs.present(rows)
        return cls(sample, np.ones((len(sample), len(rows)), dtype=bool) if present is None else present)

    def chance(self, matcher: Matcher, solution: Solution, seed: int) -> Chance:
        """What every view reaches against its partners if its own samples are in random order.

        Only K changes. One climb from the best assignment of the linear term takes the place of a whole search.
        """
        mean, spread = (np.full(len(self.graphs), np.nan) for _ in range(2))
        for view, Z in enumerate(self.graphs):
            others = partners(solution, view, len(self.graphs))
            rows = np.flatnonzero(self.present[view])
            if not others or not len(rows):
                continue
            terms = matcher.terms(solution, view)
            target = sum(self._target(matcher, view, u, solution.permutations[u]) for u in others) / len(others)
            rng = np.random.default_rng([seed, view])
            values = []
            for _ in range(DRAWS if Z.shape[1] <= MANY_ANCHORS else FEW_DRAWS):
                K = np.asarray(target)[rows].T @ Z[rng.permutation(rows)]
                problem = PairTerms(K, terms.S1, terms.S2, terms.unit).problem(matcher.scaled.lam)
                values.append(climb(problem, assign(problem.reduced.L)).value)
            mean[view], spread[view] = np.mean(values), np.std(values, ddof=1)
        return Chance(mean, spread, self._agreement_exceeds_chance(solution, seed))

    def _agreement_exceeds_chance(self, solution: Solution, seed: int) -> BoolArray:
        """Whether the mean CKA of each view with its partners is clearly above that of shuffled samples."""
        exceeds = np.ones(len(self.graphs), dtype=bool)
        n = len(self.graphs[0])
        rows = np.linspace(0, n - 1, min(n, AGREEMENT_ROWS)).astype(int)
        similarities = [
            _similarities(Z[rows], present[rows]) for Z, present in zip(self.graphs, self.present, strict=True)
        ]
        for view, own in enumerate(similarities):
            others = partners(solution, view, len(self.graphs))
            if not others:
                continue
            target = sum(similarities[u] for u in others)
            kept = np.flatnonzero(self.present[view][rows])
            rng = np.random.default_rng([seed, view, 1])
            orders = [np.arange(len(rows)) for _ in range(AGREEMENT_DRAWS)]
            for order in orders:
                order[kept] = rng.permutation(kept)
            draws = [np.vdot(target, own[np.ix_(order, order)]) for order in orders]
            exceeds[view] = np.vdot(target, own) - np.mean(draws) > CLEARLY * np.std(draws, ddof=1)
        return exceeds

    def _target(self, matcher: Matcher, view: int, other: int, order: IndexArray) -> FloatArray:
        """Graph of another view in the common order, such that its product with the view's rows has the scale of K."""
        both = self.present[view] & self.present[other]
        sizes = [float(np.linalg.norm(self.graphs[u][both])) for u in (view, other)]
        if not all(sizes):
            return np.zeros_like(self.graphs[other])
        scale = matcher.scaled.size_of(view, other) / (sizes[0] * sizes[1])
        return self.graphs[other][:, order] * scale

    def decide_near_ties(self, matcher: Matcher, solution: Solution) -> Solution:
        """Exchange anchors that are nearly tied where the largest anchors of the samples then coincide more often."""
        permutations = list(solution.permutations)
        for view in range(len(self.graphs)):
            others = partners(solution, view, len(self.graphs))
            if not others or (solution.reference is None and view == 0):
                continue  # view 0 keeps its order; the others follow it
            current = Solution(permutations, solution.reference, solution.matches)
            problem = matcher.terms(current, view).problem(matcher.scaled.lam)
            fixed = matcher.fixed_columns(current, view)
            permutations[view] = self._decided(problem, view, others, permutations, fixed)
        return Solution(permutations, solution.reference, solution.matches)

    def _decided(
        self, problem: PairProblem, view: int, others: list[int], permutations: list[IndexArray], fixed: IndexArray
    ) -> IndexArray:
        p, m = permutations[view], problem.size
        counts, total = np.zeros((m, m)), 0
        for u in others:
            both = self.present[view] & self.present[u]
            first = self.graphs[u][both][:, permutations[u]].argmax(axis=1)
            np.add.at(counts, (first, self.graphs[view][both].argmax(axis=1)), 1.0)
            total += int(both.sum())
        limit = NEAR_TIE * max(problem.value(p), 0.0) / m
        wanted = assign(counts)
        for cycle in cycles(p, wanted):
            if np.isin(cycle, fixed).any():
                continue
            exchanged = p.copy()
            exchanged[cycle] = wanted[cycle]
            gain = counts[cycle, exchanged[cycle]].sum() - counts[cycle, p[cycle]].sum()
            if gain > LEAST_GAIN * total and problem.value(p) - problem.value(exchanged) <= limit * len(cycle):
                p = exchanged
        return p


def _similarities(Z: FloatArray, present: BoolArray) -> FloatArray:
    """Products of the centred rows, rows x rows, of norm 1; zero for samples that the view does not have."""
    if not present.any():
        return np.zeros((len(Z), len(Z)))
    centred = (Z - Z[present].mean(axis=0)) * present[:, None]
    products = centred @ centred.T
    return np.asarray(products / (np.linalg.norm(products) or 1.0))


def partners(solution: Solution, view: int, n_views: int) -> list[int]:
    """Views that a view is matched to; none for the reference."""
    if solution.reference is None:
        return [u for u in range(n_views) if u != view]
    return [] if view == solution.reference else [solution.reference]


def cycles(before: IndexArray, after: IndexArray) -> list[IndexArray]:
    """Sets of columns that exchange their anchors with each other, from one permutation to another."""
    place = np.argsort(before)
    left = set(np.flatnonzero(before != after).tolist())
    found = []
    while left:
        column = min(left)
        cycle = []
        while column in left:
            left.remove(column)
            cycle.append(column)
            column = int(place[after[column]])
        found.append(np.array(cycle))
    return found
