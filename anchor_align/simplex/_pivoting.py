"""Exchange of whole supports (block pivoting), for rows whose solution has many anchors.

A round solves the equality-constrained problem on the support. Then anchors with a negative weight leave the support,
and anchors outside with a negative reduced gradient enter it, all at once (Kim and Park, 2011, for nonnegative least
squares). The first support is full and has one factorisation for all rows. On real data this takes four to twelve
rounds for any number of anchors in the solution. It is not guaranteed to end: rows that have not ended after some
rounds go to the active set.

If the ridge outweighs the rest of H, a better exchange is known: the optimal z is the projection of w / alpha on the
simplex, with w = (x - z A) A', so the next support is that of the projection (Newton's method on the dual problem).
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IndexArray
from ..blocks import project_rows
from ._active_set import Attempt
from ._shared_problem import CHUNK, LAPACK_FROM, RowProblems, padded_hessian, solve_on_sets, solve_systems

MAX_ROUNDS = 15
NEWTON_ROUNDS = 4  # most exchanges by projection: after more, supports repeat
TOLERANCE = 1e-13
# Least ridge in the solves, relative to H, as for the active set; whole supports are dependent more often.
RIDGE = 1e-13
NOISE = 1e-15  # gradients below the others by no more than this, relative to the row's scale, are rounding
# Small supports are padded to a multiple of this: many rows of one size are solved faster than few rows of each size.
SLOTS = 8


def block_pivoting(problems: RowProblems) -> Attempt:
    """Solve rows by exchanging supports, from all anchors; some rows may not be done."""
    n, m = problems.linear.shape
    Z = np.zeros((n, m))
    done = np.zeros(n, dtype=np.bool_)
    index = np.arange(n)
    support = np.ones((n, m), dtype=np.bool_)
    scales = problems.scales()
    n_rounds = 0
    while len(index) and n_rounds < MAX_ROUNDS:
        n_rounds += 1
        weights = _solve_on_supports(problems, support)
        gradient = problems.gradient(weights)
        excess = np.einsum("ij,ij->i", weights, gradient)[:, None] - gradient
        ended = (weights.min(axis=1) >= 0.0) & (excess.max(axis=1) <= TOLERANCE * scales)
        Z[index[ended]] = weights[ended]
        done[index[ended]] = True
        if problems.shared.easy and n_rounds <= NEWTON_ROUNDS:
            support = project_rows(weights[~ended] - gradient[~ended] / problems.shared.alpha) > 0.0
        else:
            entering = excess[~ended] > NOISE * scales[~ended, None]
            support = np.where(support[~ended], weights[~ended] > 0.0, entering)
        # A row is left without anchors only if its solve broke down; it starts again.
        support[~support.any(axis=1)] = True
        index, scales, problems = index[~ended], scales[~ended], problems.take(~ended)
    return Attempt(Z, done, n_rounds)


def _solve_on_supports(problems: RowProblems, support: np.ndarray) -> FloatArray:
    """Minimisers on the supports, with the sum constraint only."""
    shared = problems.shared
    alpha = max(shared.alpha, RIDGE * shared.size)
    if problems.coordinates is not None:
        return _solve_in_features(shared.anchors, problems.coordinates, support, alpha)
    n, m = support.shape
    hessian = padded_hessian(shared, alpha, set_size=m)
    Z = np.zeros((n, m + 1))
    sizes = support.sum(axis=1)
    slots = np.where(sizes < LAPACK_FROM, np.minimum(-(-sizes // SLOTS) * SLOTS, m), sizes)
    for K in np.unique(slots):
        rows = np.flatnonzero(slots == K)
        if (sizes[rows] == m).all():
            Z[rows, :m] = _solve_full(hessian[:m, :m], problems.linear[rows])
        else:
            sets = _sets(support[rows], int(K))
            Z[rows, sets] = solve_on_sets(hessian, problems.linear[rows], sets)
    return Z[:, :m]


def _sets(support: np.ndarray, K: int) -> IndexArray:
    """Supports as sets of K slots, the rows last; empty slots hold m."""
    n, m = support.shape
    rows, anchors = np.nonzero(support)
    first = np.searchsorted(rows, np.arange(n))
    sets = np.full((K, n), m)
    sets[np.arange(len(rows)) - first[rows], rows] = anchors
    return sets


def _solve_full(hessian: FloatArray, linear: FloatArray) -> FloatArray:
    """All anchors in the set of every row: one factorisation for all rows."""
    right = np.concatenate([linear, np.ones((1, linear.shape[1]))]).T
    solution = solve_systems(hessian, right).T
    y, v = solution[:-1], solution[-1]
    return np.asarray(y + ((1.0 - y.sum(axis=1)) / v.sum())[:, None] * v)


def _solve_in_features(B: FloatArray, Y: FloatArray, support: np.ndarray, alpha: float) -> FloatArray:
    """The same from systems of d + 1 unknowns, the residual u and the multiplier: alpha z = u B' + lambda on the set.

    Their matrices are sums of products of anchors, so one matrix product gives those of all rows.
    """
    d = B.shape[1]
    extended = np.column_stack([B, np.ones(len(B))])
    products = (extended[:, :, None] * extended[:, None, :]).reshape(len(B), -1)
    Z = np.zeros(support.shape)
    step = max(1, CHUNK // (d + 1) ** 2)
    for at in range(0, len(Z), step):
        part = slice(at, at + step)
        systems = (support[part].astype(np.float64) @ products).reshape(-1, d + 1, d + 1)
        systems[:, np.arange(d), np.arange(d)] += alpha
        right = np.full((len(systems), d + 1, 1), alpha)
        right[:, :d, 0] *= Y[part]
        solution = solve_systems(systems, right)[:, :, 0]
        np.divide(solution[:, :d] @ B.T + solution[:, d:], alpha, out=Z[part], where=support[part])
    # The sum is one up to the rounding of u over alpha.
    return np.asarray(Z / Z.sum(axis=1, keepdims=True))
