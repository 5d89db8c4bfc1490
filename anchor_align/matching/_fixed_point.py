"""The paper's projected fixed point, kept for comparison, and its projection on the doubly stochastic matrices.

    P <- (1 - alpha) P + alpha * Gamma(K' + 2 lam S_2 P S_1),   alpha = 0.5,

from the uniform matrix, where Gamma is the projection. A linear assignment rounds the limit to a permutation. The
released code sends every anchor of the view to the reference anchor with the largest entry instead: no anchor of the
view is lost, but several may share a reference anchor. ``one_to_one=False`` does the same. Gamma is not scale-free: the
size of n and m acts as a temperature. The iteration therefore runs on the scale of the raw graphs, as in the paper;
``lam_scale`` only sets the exchange rate between the two terms. Gradients out of the range of double precision are
scaled: above ``LARGEST`` the projection is a vertex in any case (or a face, if anchors tie), below ``SMALLEST`` it is
linear in the gradient.

The nearest doubly stochastic matrix to Y is ``max(Y + u 1' + 1 v', 0)``, with u and v such that all row and column sums
are one. They minimise the convex function

    theta(u, v) = |max(Y + u 1' + 1 v', 0)|^2 / 2 - sum(u) - sum(v),

here by a semismooth Newton method. The code of the paper alternates thirty times between sums and signs. That does not
give the nearest point, and not always a doubly stochastic one. Alternation with Dykstra's correction converges to the
same point as Newton's method, but takes hundreds to thousands of rounds on gradients of real graphs. Newton's method
takes two to five steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..arrays import FloatArray
from ._pair_problem import Match, PairProblem, assign, total

ALPHA = 0.5
MAX_ROUNDS = 50
TOLERANCE = 1e-6
SMALLEST, LARGEST = 1e-3, 1e6
MAX_NEWTON_STEPS, SUM_TOLERANCE = 200, 1e-12
FAR = 10.0  # matrices with larger entries are projected through smaller ones


def fixed_point(problem: PairProblem, *, one_to_one: bool = True) -> Match:
    """Run the fixed point and round its limit: to a permutation, or to the reference anchor of each anchor."""
    m = problem.size
    # Rows are reference anchors here, so R is the paper's P transposed.
    R = np.full((m, m), 1.0 / m)
    projection: Projection | None = None
    scaled_by = 0.0
    history = []
    for _ in range(MAX_ROUNDS):
        structure = total(problem.A @ R @ problem.B)
        history.append(float(np.vdot(problem.K, R) + np.vdot(structure, R)) + problem.constant)
        gradient = problem.K + 2.0 * structure
        size = float(np.abs(gradient).max())
        before, scaled_by = scaled_by, min(max(problem.unit, SMALLEST / size), LARGEST / size) if size > 0 else 1.0
        # The last potentials are useful only for a gradient on the same scale.
        projection = project_birkhoff(scaled_by * gradient, projection if scaled_by == before else None)
        step = ALPHA * (projection.matrix - R)
        R = R + step
        if np.abs(step).max() < TOLERANCE:
            break
    if one_to_one:
        permutation = assign(R)
        value = problem.value(permutation)
    else:
        # Padded anchors of the reference have no weight; they are not taken.
        present = np.asarray(problem.K.any(axis=1) | total(np.abs(problem.A)).any(axis=1))
        permutation = np.asarray(np.where(present[:, None], R, -1.0).argmax(axis=0), dtype=np.intp)
        value = problem.exchanged.value(permutation)
    return Match(permutation, value, len(history), (*history, value))


@dataclass(frozen=True, eq=False)
class Projection:
    """Nearest doubly stochastic matrix, with the row and column potentials that give it."""

    matrix: FloatArray
    rows: FloatArray
    columns: FloatArray
    n_iter: int


def project_birkhoff(Y: FloatArray, start: Projection | None = None) -> Projection:
    """Nearest doubly stochastic matrix to a square matrix. A ``start``, the projection of a similar one, saves steps.

    Examples
    --------
    >>> project_birkhoff(np.array([[3.0, 0.0], [0.0, 2.8]])).matrix
    array([[1., 0.],
           [0., 1.]])
    """
    size = float(np.abs(Y).max())
    if start is not None:
        u, v = start.rows, start.columns
    elif size > FAR:
        # Far from the polytope Newton's method starts badly: start from the solution of a smaller problem.
        near = project_birkhoff(Y / FAR)
        u, v = FAR * near.rows, FAR * near.columns
    else:
        # The projection on the row and column sums alone: exact when nothing turns out negative.
        u = Y.mean() / 2.0 - Y.mean(axis=1) + 0.5 / len(Y)
        v = Y.mean() / 2.0 - Y.mean(axis=0) + 0.5 / len(Y)
    tolerance = SUM_TOLERANCE * max(1.0, size)
    shifted, X, theta = _dual(Y, u, v)
    n_iter = 0
    while n_iter < MAX_NEWTON_STEPS:
        row_excess = X.sum(axis=1) - 1.0
        column_excess = X.sum(axis=0) - 1.0
        residual = max(float(np.abs(row_excess).max()), float(np.abs(column_excess).max()))
        if residual <= tolerance:
            break
        du, dv = _newton_direction(shifted > 0.0, row_excess, column_excess, residual)
        slope = float(row_excess @ du + column_excess @ dv)
        noise = 1e-14 * float(np.vdot(X, X) + np.abs(u).sum() + np.abs(v).sum())
        step = 1.0
        while True:
            shifted, X, value = _dual(Y, u + step * du, v + step * dv)
            # Rounding in theta hides the last decreases, which are small steps.
            if value <= theta + 1e-4 * step * slope + noise or step < 1e-12:
                break
            step /= 2.0
        u, v, theta = u + step * du, v + step * dv, value
        n_iter += 1
    return Projection(X, u, v, n_iter)


def _dual(Y: FloatArray, u: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    shifted = Y + u[:, None] + v
    X = np.maximum(shifted, 0.0)
    return shifted, X, float(np.vdot(X, X) / 2.0 - u.sum() - v.sum())


def _newton_direction(
    support: np.ndarray, row_excess: FloatArray, column_excess: FloatArray, residual: float
) -> tuple[FloatArray, FloatArray]:
    """Solve [diag(r) W; W' diag(c)] [du; dv] = -excess by elimination of du; W is the support."""
    W = support.astype(np.float64)
    # A constant added to u and subtracted from v changes nothing, so the system is singular. A ridge that decreases
    # with the residual keeps it solvable and does not slow the last steps.
    ridge = 1e-12 + 1e-3 * min(residual, 1.0)
    r = W.sum(axis=1) + ridge
    c = W.sum(axis=0) + ridge
    schur = -(W.T @ (W / r[:, None]))
    schur[np.diag_indices_from(schur)] += c
    rhs = W.T @ (row_excess / r) - column_excess
    try:
        dv = cho_solve(cho_factor(schur, check_finite=False), rhs, check_finite=False)
    except LinAlgError:
        dv = np.linalg.lstsq(schur, rhs, rcond=None)[0]
    return (-row_excess - W @ dv) / r, dv
