"""The paper's projected fixed point, kept for comparison.

    P <- (1 - alpha) P + alpha * Gamma(K' + 2 lam S_2 P S_1),   alpha = 0.5,

from the uniform matrix, Gamma being the projection on the doubly stochastic matrices. The limit is rounded by a linear
assignment, so that the result is a permutation. The released code takes each column's largest entry instead, which is
not one-to-one: ``one_to_one=False`` does so too, for comparison. Gamma is not scale-free: the size of n and m acts as a
temperature. The iteration therefore runs on the scale of the raw graphs, as in the paper, whatever ``lam_scale`` is:
``lam_scale`` only sets the exchange rate between the two terms. Gradients beyond the reach of double precision are
scaled back: above ``LARGEST`` the projection is a vertex (or a face, where anchors tie) all the same, below
``SMALLEST`` it is linear in the gradient.
"""

from __future__ import annotations

import numpy as np

from ._birkhoff import Projection, project_birkhoff
from ._matching import Match, PairProblem, assign
from ._types import FloatArray, IndexArray

ALPHA = 0.5
MAX_ROUNDS = 50
TOLERANCE = 1e-6
SMALLEST, LARGEST = 1e-3, 1e6


def fixed_point(problem: PairProblem, *, one_to_one: bool = True) -> Match:
    """Run the fixed point and round its limit: to a permutation, or to the largest entry for each reference anchor."""
    m = problem.size
    # Rows are reference anchors here, so R is the paper's P transposed.
    R = np.full((m, m), 1.0 / m)
    projection: Projection | None = None
    scaled_by = 0.0
    history = []
    for _ in range(MAX_ROUNDS):
        structure = problem.A @ R @ problem.B
        history.append(float(np.vdot(problem.K, R) + np.vdot(structure, R)) + problem.constant)
        gradient = problem.K + 2.0 * structure
        size = float(np.abs(gradient).max())
        before, scaled_by = scaled_by, min(max(problem.unit, SMALLEST / size), LARGEST / size) if size > 0 else 1.0
        # The last potentials are of use only for a gradient on the same scale.
        projection = project_birkhoff(scaled_by * gradient, projection if scaled_by == before else None)
        step = ALPHA * (projection.matrix - R)
        R = R + step
        if np.abs(step).max() < TOLERANCE:
            break
    permutation = assign(R) if one_to_one else _largest(R, problem)
    value = problem.value(permutation)
    return Match(permutation, value, len(history), (*history, value))


def _largest(R: FloatArray, problem: PairProblem) -> IndexArray:
    """Each row's largest entry, among the anchors that are there: those that pad a view with fewer have no weight."""
    there = problem.K.any(axis=0) | problem.B.any(axis=0)
    return np.asarray(np.where(there, R, -1.0).argmax(axis=1), dtype=np.intp)
