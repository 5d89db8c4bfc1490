"""Weights of the views by how much their aligned graphs agree, from Gram matrices alone.

The graphs' columns are centred first (K_uv - s_u s_v' / n, s being the sums of the columns): what all graphs have in
common because rows sum to one says nothing of the samples. R_uv is then the cosine between two aligned centred graphs,
over the samples that both views have, and the agreement of view v the cosine between its graph and the mean of the
others' graphs, each scaled to length one:

    a_v = sum_u R_uv / sqrt(sum_uw R_uw),   u, w != v.

A view that has nothing to do with the others has an agreement near zero, however good it looks on its own. The weight
is a step in the agreement relative to the largest, x^4 / (x^4 + 0.3^4): nearly one for all views that agree at least
half as well as the best, nearly zero below a tenth. Weights in proportion to the agreement, or to a power of it, would
favour views that say the same over those that add to them: on UCI-Digit (lmvsc, powers 1 to 4) they cost 4 to 10
points of accuracy.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ._columns import Order, aligned_product
from ._types import FloatArray

if TYPE_CHECKING:
    from ._grams import GramMatrices

POWER = 4
# Agreement, relative to the largest, at which a view has half the weight.
HALF = 0.3
# No view weighs less: samples that only a poor view has keep a graph.
LEAST = 1e-3
# Graphs that agree no better than this, at best, do not tell which view is the poor one: all then weigh the same.
LEAST_AGREEMENT = 0.1
ROUNDING = 1e-12


def agreement_weights(grams: GramMatrices, permutations: Sequence[Order]) -> FloatArray:
    """Weight every view by its agreement with the others.

    Parameters
    ----------
    grams : GramMatrices
        Of the graphs as they came.
    permutations : list of ndarray
        Where each view's anchors go: index arrays (-1 for none) or matrices, as :class:`AnchorAligner` finds them.

    Returns
    -------
    ndarray of shape (n_views,)
        Weights > 0 that sum to one; all the same for one or two views, which agree with each other alike.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import AnchorAligner, GramMatrices
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.dirichlet(np.full(5, 0.2), size=200)
    >>> noise = rng.dirichlet(np.full(5, 0.2), size=200)
    >>> grams = GramMatrices.from_graphs([Z, Z, noise, Z])
    >>> agreement_weights(grams, AnchorAligner().fit(grams).permutations_).round(2)
    array([0.33, 0.33, 0.02, 0.33])
    """
    v = grams.n_views
    if v <= 2:
        return np.full(v, 1.0 / v)
    agreements = np.maximum(agreement(cosines(grams, permutations)), 0.0)
    if agreements.max() < LEAST_AGREEMENT:
        return np.full(v, 1.0 / v)
    relative = (agreements / agreements.max()) ** POWER
    weights = np.maximum(relative / (relative + HALF**POWER), LEAST)
    return np.asarray(weights / weights.sum())


def agreement(R: FloatArray) -> FloatArray:
    """Cosine between every view's graph and the mean of the others, from the cosines of all pairs."""
    found = np.zeros(len(R))
    for view in range(len(R)):
        others = np.delete(np.arange(len(R)), view)
        # Cosines over other samples for each pair need not be those of any graphs: never divide by less than one.
        length = np.sqrt(max(float(R[np.ix_(others, others)].sum()), 1.0))
        found[view] = R[view, others].sum() / length
    return found


def cosines(grams: GramMatrices, permutations: Sequence[Order]) -> FloatArray:
    """Cosines between the aligned centred graphs of all pairs of views; zero where a graph does not vary."""
    R = np.eye(grams.n_views)
    for u, v in itertools.combinations(range(grams.n_views), 2):
        n = int(grams.shared[u, v])
        if not n:
            continue
        s, t = grams.column_sums(u, v), grams.column_sums(v, u)
        P, Q = permutations[u], permutations[v]
        inner = np.trace(aligned_product(grams.cross(u, v) - np.outer(s, t) / n, P, Q))
        squares = _centred_square(grams.structure(u, v), s, n, P) * _centred_square(grams.structure(v, u), t, n, Q)
        R[u, v] = R[v, u] = inner / np.sqrt(squares) if squares > 0 else 0.0
    return R


def _centred_square(S: FloatArray, sums: FloatArray, n: int, order: Order) -> float:
    """Squared length of an aligned centred graph; zero if all that is left is rounding."""
    square = float(np.trace(aligned_product(S - np.outer(sums, sums) / n, order, order)))
    return square if square > ROUNDING * float(np.trace(S)) else 0.0
