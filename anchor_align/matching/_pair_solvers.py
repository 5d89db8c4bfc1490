"""Solution of one pair by a named method: known correspondences, a canonical numbering of the anchors, the solver.

Few anchors are matched exactly, by branch and bound: the anchors of the reference get their partners one by one, and a
branch is cut if the Gilmore-Lawler bound of the rest does not exceed the best known permutation. All permutations of
the last few anchors are evaluated.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..arrays import FloatArray, IndexArray
from ..errors import InputError
from ._ascent import ascend, climb
from ._fixed_point import fixed_point
from ._pair_problem import RELATIVE_TOLERANCE, Match, PairProblem, assign, gilmore_lawler, total
from ._tabu import search_on

MANY_TO_ONE: Final = "pfp-many-to-one"
# For steps on the way to another result, not for users: the best assignment of the linear term; one climb from there;
# one climb from the identity; both climbs.
LINEAR: Final = "linear"
CLIMB_FROM_LINEAR: Final = "climb from linear"
CLIMB: Final = "climb"
CLIMB_TWICE: Final = "climb twice"
SEARCH: Final = "search"  # the ascent, then a tabu search from its result: effort="high"
METHODS: Final = ("ascent", "pfp", "exact", MANY_TO_ONE)
EFFORTS: Final = ("normal", "high")
MAX_EXACT = 10
MAX_ENUMERATED = 8  # up to this many anchors, all permutations are evaluated: it takes about the time of an ascent
LEAF = 6


def solve_pair(problem: PairProblem, method: str, pairs: IndexArray, *, n_restarts: int, seed: int) -> Match:
    """Match one pair of views by one of ``METHODS``; ``n_restarts`` and ``seed`` are for the ascent.

    ``pairs``, of shape (n_pairs, 2), are anchors of the reference and of the view that are known to correspond.
    """
    if not len(pairs):
        return _solve_free(problem, method, np.arange(problem.size), n_restarts, seed)
    rows, columns = pairs[:, 0], pairs[:, 1]
    free_rows = np.setdiff1d(np.arange(problem.size), rows)
    free_columns = np.setdiff1d(np.arange(problem.size), columns)
    rest = problem.fix(rows, columns)
    # The identity is a fair comparison only if the seeds allow it.
    identity = np.arange(rest.size) if np.array_equal(rows, columns) else None
    match = _solve_free(rest, method, identity, n_restarts, seed)
    permutation = np.empty(problem.size, dtype=np.intp)
    permutation[rows] = columns
    permutation[free_rows] = free_columns[match.permutation]
    return dataclasses.replace(match, permutation=permutation)


def _solve_free(problem: PairProblem, method: str, identity: IndexArray | None, n_restarts: int, seed: int) -> Match:
    if problem.size <= 1:
        permutation = np.arange(problem.size)
        value = problem.value(permutation)
        return Match(permutation, value, 0, (value,))
    # Anchors are numbered by their values, not by their position, and the last bits, which depend on the order of
    # summation, are dropped. For shuffled columns, other threads or another scale the numbers and their order are then
    # the same, so the same random starts and the same ties lead to the same partners.
    problem = dataclasses.replace(problem, K=_round(problem.K), A=_round(problem.A), B=_round(problem.B))
    rows = canonical_order(problem.K, total(problem.A))
    columns = canonical_order(problem.K.T, total(problem.B))
    canonical = problem.permute(rows, columns)
    rng = np.random.default_rng(seed)
    if method in ("pfp", MANY_TO_ONE):
        match = fixed_point(canonical, one_to_one=method == "pfp")
    elif method in (CLIMB_FROM_LINEAR, CLIMB, CLIMB_TWICE):
        present = () if identity is None or method == CLIMB_FROM_LINEAR else (np.argsort(columns)[identity[rows]],)
        linear = () if method == CLIMB and present else (assign(canonical.reduced.L, *present),)
        match = climb(canonical, *present, *linear)
    elif method == "exact" or problem.size <= MAX_ENUMERATED:
        match = solve_exactly(canonical, rng)
    elif method == LINEAR or not problem.A.any() or not problem.B.any():
        # Without a structure term, one linear assignment is the exact answer.
        permutation = assign(canonical.reduced.L)
        value = canonical.value(permutation)
        match = Match(permutation, value, 1, (value,))
    else:
        candidates = () if identity is None else (np.argsort(columns)[identity[rows]],)
        match = ascend(canonical, n_restarts=n_restarts, rng=rng, candidates=candidates)
        if method == SEARCH:
            match = search_on(canonical, match, rng)
    if method == MANY_TO_ONE:  # from the view to the reference
        rows, columns = columns, rows
    permutation = np.empty(problem.size, dtype=np.intp)
    permutation[rows] = columns[match.permutation]
    return dataclasses.replace(match, permutation=permutation)


def _round(X: FloatArray) -> FloatArray:
    """Round each entry to 40 significant bits (1e-12): the last 12 of the 52 bits behind the point are dropped."""
    bits = np.ascontiguousarray(X).view(np.int64) + (1 << 11)
    bits &= -(1 << 12)
    return bits.view(np.float64)


def canonical_order(K: FloatArray, S: FloatArray) -> IndexArray:
    """Order of the anchors of the rows by values that do not depend on how anchors are numbered."""
    diagonal = S.diagonal()
    # The diagonal is divided by its largest entry: lam may be as large as any float.
    keys = (S @ (diagonal / (diagonal.max() or 1.0)), S.sum(axis=1), diagonal, K.max(axis=1), K.sum(axis=1))
    # Equal up to rounding is equal.
    return np.lexsort([np.round(values / (np.abs(values).max() or 1.0), 9) for values in keys])


def solve_exactly(problem: PairProblem, rng: np.random.Generator) -> Match:
    """Permutation with the largest objective, with proof."""
    if problem.size > MAX_EXACT:
        raise InputError(
            f"method='exact' takes at most {MAX_EXACT} anchors that are not fixed by seeds, got {problem.size}; "
            "use method='ascent' and see upper_bound_ for the largest distance from the optimum."
        )
    if problem.size <= MAX_ENUMERATED:
        return enumerate_all(problem)
    search = _Branching(ascend(problem, n_restarts=4, rng=rng), RELATIVE_TOLERANCE * problem.scale)
    indices = np.arange(problem.size)
    search.branch(problem, indices, indices, np.full(problem.size, -1, dtype=np.intp))
    return Match(search.permutation, problem.value(search.permutation), search.nodes, tuple(search.history))


class _Branching:
    """Depth-first search; ``rows`` and ``columns`` are the numbers of the remaining anchors in the whole problem."""

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
        for column in range(problem.size):
            taken = partial.copy()
            taken[rows[0]] = columns[column]
            rest = problem.fix(np.arange(1), np.array([column]))
            self.branch(rest, rows[1:], np.delete(columns, column), taken)


def enumerate_all(problem: PairProblem) -> Match:
    """Best of all permutations of at most ``MAX_ENUMERATED`` anchors.

    The partners of the first half of the anchors leave a linear and a quadratic term for the second half. Each is
    computed once for all permutations that share it, so a permutation costs a few additions.
    """
    m, K = problem.size, problem.K
    halves = _halves(m)
    h = m // 2
    first, second = slice(0, h), slice(h, m)
    linear = np.broadcast_to(K[second], (len(halves.first), m - h, m)).copy()
    within_first, within_second = np.zeros(len(halves.first)), np.zeros(len(halves.second))
    for A, B in problem.terms():
        linear += 2.0 * (A[second, first] @ B[halves.first])
        within_first += np.tensordot(_within(B, halves.first), A[first, first], axes=2)
        within_second += np.tensordot(_within(B, halves.second), A[second, second], axes=2)
    within_first += K[np.arange(h), halves.first].sum(axis=1)
    values = np.take_along_axis(linear.reshape(len(linear), -1), halves.cells, axis=1)
    values = values.reshape(len(values), -1, m - h).sum(axis=2)
    values += within_first[:, None]
    values += within_second[halves.rest]
    values = values.ravel() + problem.constant
    # The first of those that differ by rounding only.
    best = int(np.argmax(values >= values.max() - RELATIVE_TOLERANCE * problem.scale))
    at = np.unravel_index(best, halves.rest.shape)
    permutation = np.concatenate([halves.first[at[0]], halves.second[halves.rest[at]]])
    return Match(permutation, float(values[best]), len(values), (float(values[best]),))


def _within(B: FloatArray, partners: IndexArray) -> FloatArray:
    return B[partners[:, :, None], partners[:, None, :]]


@dataclass(frozen=True, eq=False)
class _Halves:
    """All permutations of m anchors, as partners of the first half and of the second half of the anchors.

    Permutation (i, j) is ``first[i]`` followed by ``second[rest[i, j]]``. ``cells[i]`` are the places of the latter in
    a table of second half x m, for all j one after the other.
    """

    first: IndexArray
    second: IndexArray
    rest: IndexArray
    cells: IndexArray


@functools.cache
def _halves(m: int) -> _Halves:
    h = m // 2
    first, second = (np.array(list(itertools.permutations(range(m), n)), dtype=np.intp) for n in (h, m - h))
    # Second halves by the set of their anchors, each in lexicographic order.
    groups: dict[int, list[int]] = {}
    for number, members in enumerate((1 << second).sum(axis=1).tolist()):
        groups.setdefault(members, []).append(number)
    rest = np.array([groups[(1 << m) - 1 - taken] for taken in (1 << first).sum(axis=1).tolist()], dtype=np.intp)
    cells = np.arange(m - h) * m + second[rest]
    return _Halves(first, second, rest, cells.reshape(len(first), -1))
