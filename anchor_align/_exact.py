"""Exact matching of a few anchors by branch and bound.

The anchors of the reference are given their partners one after the other; a branch is cut when the Gilmore-Lawler
bound of what is left does not exceed the best permutation known. What is left of the last few anchors is enumerated.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

from ._ascent import ascend
from ._matching import RELATIVE_TOLERANCE, Match, PairProblem, gilmore_lawler
from ._types import IndexArray
from .errors import InputError

MAX_ANCHORS = 10
# Permutations of so few anchors are evaluated all at once.
MAX_ENUMERATED = 6
LEAF = 5


def enumerate_all(problem: PairProblem) -> Match:
    """Best of all permutations of at most ``MAX_ENUMERATED`` anchors."""
    permutations = _all_permutations(problem.size)
    feature = problem.K[np.arange(problem.size), permutations].sum(axis=1)
    aligned = problem.B[permutations[:, :, None], permutations[:, None, :]]
    values = feature + np.tensordot(aligned, problem.A, axes=2) + problem.constant
    # The first of those that differ by rounding only.
    best = int(np.argmax(values >= values.max() - RELATIVE_TOLERANCE * problem.scale))
    return Match(permutations[best].copy(), float(values[best]), len(values), (float(values[best]),))


@functools.cache
def _all_permutations(m: int) -> IndexArray:
    return np.array(list(itertools.permutations(range(m))), dtype=np.intp).reshape(-1, m)


def solve_exactly(problem: PairProblem, rng: np.random.Generator) -> Match:
    """Permutation with the largest objective, proven."""
    if problem.size > MAX_ANCHORS:
        raise InputError(
            f"method='exact' takes at most {MAX_ANCHORS} anchors that are not fixed by seeds, got {problem.size}; "
            "use method='ascent', whose upper_bound_ says how far from the optimum it can be."
        )
    if problem.size <= MAX_ENUMERATED:
        return enumerate_all(problem)
    search = _Branching(ascend(problem, n_restarts=4, rng=rng), RELATIVE_TOLERANCE * problem.scale)
    indices = np.arange(problem.size)
    search.branch(problem, indices, indices, np.full(problem.size, -1, dtype=np.intp))
    return Match(search.permutation, problem.value(search.permutation), search.nodes, tuple(search.history))


class _Branching:
    """Depth-first search; ``rows`` and ``columns`` name the anchors of what is left in the whole problem."""

    def __init__(self, incumbent: Match, tolerance: float) -> None:
        self.permutation = incumbent.permutation
        self.value = incumbent.value
        self.history = [incumbent.value]
        self.nodes = 0
        self._tolerance = tolerance

    def branch(self, problem: PairProblem, rows: IndexArray, columns: IndexArray, partial: IndexArray) -> None:
        self.nodes += 1
        if problem.size <= LEAF:
            match = enumerate_all(problem)
            if match.value > self.value + self._tolerance:
                self.permutation, self.value = partial.copy(), match.value
                self.permutation[rows] = columns[match.permutation]
                self.history.append(match.value)
            return
        if gilmore_lawler(problem.reduced)[0] <= self.value + self._tolerance:
            return
        first = np.arange(1)
        for column in range(problem.size):
            taken = partial.copy()
            taken[rows[0]] = columns[column]
            rest = problem.fix(first, np.array([column]))
            self.branch(rest, rows[1:], np.delete(columns, column), taken)
