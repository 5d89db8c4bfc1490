"""Rotations that bring aligned graphs as close to each other as possible, closer than permutations can.

A permutation matrix is orthogonal. Over all orthogonal matrices R_v, the feature term of all pairs of views,

    f(R) = sum_{u < v} Tr(R_u' K_uv R_v) / (|Z_u| |Z_v|),

is not combinatorial: with the others fixed, the best R_v is the orthogonal factor of the polar decomposition of
sum_u K_vu R_u / (|Z_u| |Z_v|). Views take turns (generalised Procrustes analysis, Gower 1975) and no turn lowers f. The
iteration starts from the permutations, so the rotated graphs never match worse than the aligned ones. Two views need
one turn.

Advantage: an anchor without a single partner becomes a mixture of the anchors of the others. Disadvantage: rows of
Z_v R_v may be negative and need not sum to one. Their mean is a matrix to embed, not a graph. Its singular values do
not shrink as with maps that average anchors (row-stochastic maps), which is why it clusters better.

If views have different numbers of anchors, R_v has orthonormal rows or columns, whichever are fewer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from ..arrays import FloatArray
from ..blocks import working
from ..graphs import GramMatrices, Order, order_matrix

TOLERANCE = 1e-6  # the iteration ends if a round gains less than this fraction of f
MOST_ROUNDS = 50
# Weight of the start, relative to the norm of the other views: directions that the other views do not determine stay as
# in the permutation, instead of where rounding puts them.
PULL = 1e-8


def rotations(grams: GramMatrices, orders: Sequence[Order]) -> list[FloatArray]:
    """Rotation of every view, of shape (anchors of the view, common columns), from the ``orders`` of the alignment.

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
                if others.any():  # the nearest rotation is the orthogonal polar factor
                    target = others + PULL * float(np.linalg.norm(others)) * start[v]
                    left, _, right = scipy.linalg.svd(target, full_matrices=False)
                    found[v] = np.asarray(left @ right)
                total += float(np.sum(found[v] * others))
            if total - before <= TOLERANCE * abs(total):
                break
            before = total
    return found


def _scaled_product(grams: GramMatrices, u: int, v: int) -> FloatArray:
    """K of a pair, divided by the norms of both graphs over the samples that both views have."""
    K = grams.cross(u, v)
    # Separate roots: the product of two traces may overflow or vanish.
    size = float(np.sqrt(np.trace(grams.structure(u, v)))) * float(np.sqrt(np.trace(grams.structure(v, u))))
    return K / size if size > 0 else np.zeros_like(K)
