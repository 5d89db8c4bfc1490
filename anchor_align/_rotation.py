"""Beyond permutations: rotations that bring aligned graphs as close to each other as they can get.

A permutation matrix is orthogonal. Over all orthogonal matrices R_v, the feature term of all pairs of views,

    f(R) = sum_{u < v} Tr(R_u' K_uv R_v) / (|Z_u| |Z_v|),

has no combinatorial side: with the others fixed, the best R_v is the orthogonal factor of the polar decomposition of
sum_u K_vu R_u / (|Z_u| |Z_v|). Views take turns (generalised Procrustes analysis, Gower 1975) and no turn lowers f. The
start are the permutations, so that the rotated graphs never match worse than the aligned ones. For two views the first
turn is the last.

What is gained: an anchor that has no single partner goes to a mixture of the others' anchors. What is lost: rows of
Z_v R_v may be negative and need not sum to one. Their mean is a matrix to embed, not a graph. Its singular values do
not shrink as they would under maps that average anchors (row-stochastic ones), which is why it clusters better.

Where views have different numbers of anchors, R_v has orthonormal rows, or columns, whichever are fewer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from ._columns import Order, order_matrix
from ._grams import GramMatrices
from ._mapping import working
from ._types import FloatArray

# Share of f that a round must gain for another one to follow.
TOLERANCE = 1e-6
MOST_ROUNDS = 50
# Directions of which the other views say nothing stay where the permutation has them, instead of where rounding puts
# them: the start pulls this much, relative to the norm of what the others say.
PULL = 1e-8


def rotations(grams: GramMatrices, orders: Sequence[Order]) -> list[FloatArray]:
    """Rotations of all views that bring their graphs together.

    Parameters
    ----------
    grams : GramMatrices
    orders : list
        Where each view's anchors are among the common columns at the start, as alignment has found it.

    Returns
    -------
    list of ndarray of shape (anchors of the view, common columns)
        With orthonormal columns or rows, whichever are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import GramMatrices
    >>> Z = np.random.default_rng(0).dirichlet(np.full(4, 0.3), size=100)
    >>> Q = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    >>> start = [np.arange(4), np.arange(4)]
    >>> R = rotations(GramMatrices.from_graphs([Z, Z @ Q]), start)
    >>> bool(np.allclose(Z @ R[0], Z @ Q @ R[1]))
    True
    """
    start = [order_matrix(order, size) for order, size in zip(orders, grams.sizes, strict=True)]
    found = [P.copy() for P in start]
    views = range(grams.n_views)
    K = {(u, v): _scaled_product(grams, u, v) for u in views for v in views if u != v}
    before = -np.inf
    with working():
        for _ in range(MOST_ROUNDS):
            total = 0.0
            for v in views:
                others = np.asarray(sum((K[v, u] @ found[u] for u in views if u != v), np.zeros_like(start[v])))
                if others.any():
                    found[v] = _nearest_rotation(others + PULL * float(np.linalg.norm(others)) * start[v])
                total += float(np.sum(found[v] * others))
            if total - before <= TOLERANCE * abs(total):
                break
            before = total
    return found


def _scaled_product(grams: GramMatrices, u: int, v: int) -> FloatArray:
    """K of a pair, divided by the norms of both graphs over the samples that both views have."""
    K = grams.cross(u, v)
    # One by one: the product of two traces may overflow or vanish.
    size = float(np.sqrt(np.trace(grams.structure(u, v)))) * float(np.sqrt(np.trace(grams.structure(v, u))))
    return K / size if size > 0 else np.zeros_like(K)


def _nearest_rotation(M: FloatArray) -> FloatArray:
    """The matrix with orthonormal rows or columns that is nearest to M: its orthogonal polar factor."""
    left, _, right = scipy.linalg.svd(M, full_matrices=False)
    return np.asarray(left @ right)
