"""The paper's projected fixed point, kept for comparison.

    P <- (1 - alpha) P + alpha * Gamma(K' + 2 lam S_2 P S_1),   alpha = 0.5,

from the uniform matrix, Gamma being the projection on the doubly stochastic matrices. The limit is rounded by a linear
assignment, so that the result is a permutation (the released code takes each column's largest entry, which is not
one-to-one). Gamma is not scale-free: the size of n and m acts as a temperature. The iteration therefore runs on the
scale of the raw graphs, as in the paper, whatever ``lam_scale`` is: ``lam_scale`` only sets the exchange rate between
the two terms.
"""

from __future__ import annotations

import numpy as np

from ._birkhoff import Projection, project_birkhoff
from ._matching import Match, PairProblem, assign

ALPHA = 0.5
MAX_ROUNDS = 50
TOLERANCE = 1e-6


def fixed_point(problem: PairProblem) -> Match:
    """Run the fixed point and round its limit to a permutation."""
    m = problem.size
    # Rows are reference anchors here, so R is the paper's P transposed.
    R = np.full((m, m), 1.0 / m)
    K, A = problem.unit * problem.K, 2.0 * problem.unit * problem.A
    projection: Projection | None = None
    history = []
    for _ in range(MAX_ROUNDS):
        structure = A @ R @ problem.B
        history.append(float(np.vdot(K, R) + np.vdot(structure, R) / 2.0) / problem.unit + problem.constant)
        projection = project_birkhoff(K + structure, projection)
        step = ALPHA * (projection.matrix - R)
        R = R + step
        if np.abs(step).max() < TOLERANCE:
            break
    permutation = assign(R)
    value = problem.value(permutation)
    return Match(permutation, value, len(history), (*history, value))
