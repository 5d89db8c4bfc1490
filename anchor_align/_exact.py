"""Exact matching of a few anchors by branch and bound.

The anchors of the reference are given their partners one after the other; a branch is cut when the Gilmore-Lawler
bound of what is left does not exceed the best permutation known.
"""

from __future__ import annotations

import numpy as np

from ._ascent import ascend
from ._matching import RELATIVE_TOLERANCE, Match, PairProblem, gilmore_lawler
from ._types import IndexArray
from .errors import InputError

MAX_ANCHORS = 10


def solve_exactly(problem: PairProblem, rng: np.random.Generator) -> Match:
    """Permutation with the largest objective, proven."""
    if problem.size > MAX_ANCHORS:
        raise InputError(
            f"method='exact' takes at most {MAX_ANCHORS} anchors that are not fixed by seeds, got {problem.size}; "
            "use method='ascent', whose upper_bound_ says how far from the optimum it can be."
        )
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
        if problem.size <= 1:
            partial = partial.copy()
            partial[rows] = columns
            value = problem.value(np.arange(problem.size))
            if value > self.value + self._tolerance:
                self.permutation, self.value = partial, value
                self.history.append(value)
            return
        if gilmore_lawler(problem.reduced)[0] <= self.value + self._tolerance:
            return
        first = np.arange(1)
        for column in range(problem.size):
            taken = partial.copy()
            taken[rows[0]] = columns[column]
            rest = problem.fix(first, np.array([column]))
            self.branch(rest, rows[1:], np.delete(columns, column), taken)
