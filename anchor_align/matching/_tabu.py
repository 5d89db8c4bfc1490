"""Robust tabu search (Taillard, 1991): a walk through swaps that also goes down, for more time than the ascent takes.

Every step takes the best swap of all, better or worse, except those that put two anchors back where they were a short
time ago, unless the result is better than all before. The gains of all swaps are kept. After the swap of r and s, the
gain of a swap of i and j changes by

    2 (a_i - a_j) (d_i - d_j),   a = A[:, r] - A[:, s],   d = D[:, r] - D[:, s],

with D the B in present order: O(1) for each pair. Only the swaps of r and s themselves are computed anew.
"""

from __future__ import annotations

import numpy as np

from ._climb import Climb, swap_gains
from ._pair_problem import Match, PairProblem, permuted, total

STEPS = 30  # for each anchor
MOST_WORK = 2e9  # entries of the table of gains that are updated, at most


def search_on(problem: PairProblem, match: Match, rng: np.random.Generator) -> Match:
    """Walk on from a match, and climb from the best permutation on the way; the result is never below the match."""
    reduced = problem.reduced
    m, A, tolerance = reduced.size, reduced.A, reduced.tolerance
    steps = int(min(STEPS * m, max(MOST_WORK / m**2, 1.0)))
    p = match.permutation.copy()
    C, D = reduced.L[:, p], permuted(reduced.B, p)
    M = total(A @ D)
    gains = swap_gains(C, M, A, D)
    value = best_value = reduced.value(p)
    best = p.copy()
    free_from = np.zeros((m, m))  # step from which an anchor (column) may come to a place (row) again
    below = np.tril_indices(m)
    tenures = rng.uniform(0.5 * m, 1.5 * m, size=(steps, 2))
    for step in range(steps):
        here = free_from[:, p] > step
        allowed = np.where(here & here.T & (gains <= best_value - value + tolerance), -np.inf, gains)
        allowed[below] = -np.inf
        r, s = (int(number) for number in divmod(int(allowed.argmax()), m))
        if not np.isfinite(allowed[r, s]):
            continue  # everything is forbidden for the moment
        value += float(gains[r, s])
        free_from[r, p[r]], free_from[s, p[s]] = step + tenures[step]
        a, d = A[..., r] - A[..., s], D[..., r] - D[..., s]
        gains += 2.0 * total((a[..., :, None] - a[..., None, :]) * (d[..., :, None] - d[..., None, :]))
        M -= total(a[..., :, None] * d[..., None, :])
        swapped = [s, r]
        for X in (C, M, D):
            X[..., [r, s]] = X[..., swapped]
        D[..., [r, s], :] = D[..., swapped, :]
        p[[r, s]] = p[swapped]
        gradient_diagonal = C.diagonal() + 2.0 * M.diagonal()
        for anchor in (r, s):
            row = C[anchor] + C[:, anchor] + 2.0 * (M[anchor] + M[:, anchor]) - gradient_diagonal
            row += 4.0 * total(A * D)[anchor] if A.ndim == 3 else 4.0 * A[anchor] * D[anchor]
            gains[anchor] = gains[:, anchor] = row - gradient_diagonal[anchor]
        if value > best_value + tolerance:
            best_value, best = value, p.copy()
    climb = Climb(reduced, best)
    climb.run(set())
    if climb.history[-1] <= match.value + tolerance:
        return match
    return Match(climb.p, climb.history[-1], match.n_iter + steps, (*match.history, climb.history[-1]))
