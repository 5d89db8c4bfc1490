"""Active-set method for many simplex-constrained least-squares problems at once (Wolfe's nearest-point method, 1976).

Each row has a small set of anchors. A round solves the equality-constrained problem on the set of every row. A row with
a positive solution moves there and adds the anchor with the most negative reduced gradient. Any other row moves until
the first weight reaches zero and drops that anchor. The objective of a row falls with every new anchor, so no set
returns. A row starts at its best single anchor and ends after few more rounds than its solution has anchors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IndexArray
from ._shared_problem import RowProblems, padded_hessian, solve_on_sets

TOLERANCE = 2e-15  # gap relative to the row's scale at which a row is done: a few roundings
# Least ridge in the solves, relative to H: with alpha = 0 and dependent anchors H is singular. The gradient has no such
# ridge, so a row that passes the gap test passes it for the true problem.
RIDGE = 1e-14


@dataclass(frozen=True, eq=False)
class Attempt:
    """Weights, which rows are at their solution, and the number of rounds; other rows hold their last point."""

    Z: FloatArray
    done: np.ndarray
    n_rounds: int


@dataclass(eq=False)
class _State:
    """Unfinished rows. Arrays of sets have slots first, rows last; empty slots hold the anchor m with weight zero."""

    index: IndexArray
    problems: RowProblems
    tolerance: FloatArray
    sets: IndexArray
    weights: FloatArray
    sizes: IndexArray
    solved: np.ndarray  # at the solution on its set, so that its gradient shows which anchor to add
    fresh: np.ndarray  # has added an anchor in this round

    @classmethod
    def at_vertices(cls, problems: RowProblems, tolerance: FloatArray) -> _State:
        n = len(problems)
        best = np.argmin(problems.shared.gram.diagonal() / 2.0 - problems.linear, axis=1)
        single = best[None, :], np.ones((1, n)), np.ones(n, dtype=np.intp)
        return cls(np.arange(n), problems, tolerance, *single, np.ones(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_))

    def keep(self, which: np.ndarray) -> _State:
        sizes = self.sizes[which]
        slots = int(sizes.max(initial=1))
        rows = self.index[which], self.problems.take(which), self.tolerance[which]
        sets = self.sets[:slots, which], self.weights[:slots, which], sizes
        return _State(*rows, *sets, self.solved[which], self.fresh[which])

    def dense(self, which: IndexArray) -> FloatArray:
        """Weights of some rows, as rows of m entries."""
        m = self.problems.shared.n_anchors
        Z = np.zeros((len(which), m + 1))
        Z[np.arange(len(which)), self.sets[:, which]] = self.weights[:, which]
        return Z[:, :m]

    def add(self, rows: IndexArray, anchors: IndexArray) -> None:
        slots = self.sizes[rows]
        if len(rows) and slots.max() == len(self.sets):
            empty = np.full((1, len(self.index)), self.problems.shared.n_anchors)
            self.sets = np.concatenate([self.sets, empty])
            self.weights = np.concatenate([self.weights, np.zeros((1, len(self.index)))])
        self.sets[slots, rows] = anchors
        self.sizes[rows] += 1
        self.fresh[:] = False
        self.fresh[rows] = True


def active_set(problems: RowProblems, *, ridge: float = RIDGE, max_size: int | None = None) -> Attempt:
    """Solve rows from their best single anchor; a row whose set would outgrow ``max_size`` is not done."""
    n, m = problems.linear.shape
    shared = problems.shared
    least = ridge * shared.size
    hessian = padded_hessian(shared, max(shared.alpha, least))
    result = Attempt(np.zeros((n, m)), np.zeros(n, dtype=np.bool_), 0)
    tolerance = TOLERANCE * problems.scales() + max(least - shared.alpha, 0.0)
    state = _State.at_vertices(problems, tolerance)
    n_rounds = 0
    # Far more rounds than rows need in practice: rounding can make sets return, and this limit ends it.
    while len(state.index) and n_rounds < 50 + 10 * m:
        n_rounds += 1
        state = _grow(state, m if max_size is None else max_size, result)
        if len(state.index):
            target = solve_on_sets(hessian, state.problems.linear, state.sets)
            stalled = _move(state, target)
            if stalled.any():
                _store(result, state, np.flatnonzero(stalled), done=True)
                state = state.keep(~stalled)
    _store(result, state, np.arange(len(state.index)), done=False)
    return Attempt(result.Z, result.done, n_rounds)


def _store(result: Attempt, state: _State, which: IndexArray, *, done: bool) -> None:
    result.Z[state.index[which]] = state.dense(which)
    result.done[state.index[which]] = done


def _grow(state: _State, max_size: int, result: Attempt) -> _State:
    """Give every solved row the anchor that it needs most. Rows that need none, or have no room, are stored."""
    solved = np.flatnonzero(state.solved)
    problems = state.problems if len(solved) == len(state.index) else state.problems.take(solved)
    weights = state.dense(solved)
    gradient = problems.gradient(weights)
    level = np.einsum("ij,ij->i", weights, gradient)
    # Within the set gradients differ by the rounding, and the ridge, of the last solve.
    gradient[weights > 0.0] = np.inf
    entering = np.argmin(gradient, axis=1)
    optimal = level - gradient[np.arange(len(solved)), entering] <= state.tolerance[solved]
    ended = optimal | (state.sizes[solved] >= max_size)
    result.Z[state.index[solved[ended]]] = weights[ended]
    result.done[state.index[solved[ended]]] = optimal[ended]
    state.add(solved[~ended], entering[~ended])
    if not ended.any():
        return state
    at_work = np.ones(len(state.index), dtype=np.bool_)
    at_work[solved[ended]] = False
    return state.keep(at_work)


def _move(state: _State, target: FloatArray) -> np.ndarray:
    """Move every row towards its target, up to the first weight that reaches zero; its anchor leaves the set.

    Returns the rows whose new anchor leaves at once: it was added because of rounding only.
    """
    m = state.problems.shared.n_anchors
    negative = (target <= 0.0) & (state.sets < m)
    state.solved = np.logical_not(negative.any(axis=0))
    stalled = np.zeros(len(state.index), dtype=np.bool_)
    blocked = np.flatnonzero(~state.solved)
    if len(blocked):
        last = state.sizes[blocked] - 1
        leaving = _step(state, target, blocked, negative[:, blocked])
        stalled[blocked] = state.fresh[blocked] & (leaving == last)
        # The last slot moves into the one that has become free.
        for slots, empty in ((state.sets, m), (target, 0.0)):
            slots[leaving, blocked] = slots[last, blocked]
            slots[last, blocked] = empty
        state.sizes[blocked] -= 1
    state.weights = target
    return stalled


def _step(state: _State, target: FloatArray, blocked: IndexArray, negative: np.ndarray) -> IndexArray:
    """Move blocked rows to where their first weight reaches zero; returns the slots of those weights."""
    before, after = state.weights[:, blocked], target[:, blocked]
    steps = np.where(negative, 0.0, np.inf)
    np.divide(before, before - after, out=steps, where=negative & (before > 0.0))
    leaving: IndexArray = np.argmin(steps, axis=0)
    step = steps[leaving, np.arange(len(blocked))]
    target[:, blocked] = np.maximum(before + step * (after - before), 0.0)
    return leaving
