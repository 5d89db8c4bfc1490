"""Weights of the views: given by the user, or by the agreement of the aligned graphs, from Gram matrices alone.

The columns of the graphs are centred first (K_uv - s_u s_v' / n, with the column sums s): all graphs have a common part
because rows sum to one, which does not depend on the samples. R_uv is the cosine between two aligned centred graphs,
over the samples of both views. The agreement of view v is the cosine between its graph and the mean of the other
graphs, each scaled to length one:

    a_v = sum_u R_uv / sqrt(sum_uw R_uw),   u, w != v.

A view that is unrelated to the others has an agreement near zero, however clear its own clusters are. The weight is a
step in the agreement relative to the largest, x^4 / (x^4 + 0.3^4): nearly one for all views that agree at least half as
well as the best, nearly zero below a tenth. Weights in proportion to the agreement, or to a power of it, would favour
similar views over views with new information: on UCI-Digit (lmvsc, powers 1 to 4) they cost 2 to 8 points of accuracy.
"""

from __future__ import annotations

import itertools
import numbers
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import FloatArray
from ..checks import is_iterable
from ..errors import InputError, InputTypeError, shown
from ..graphs import GramMatrices, Order, aligned_product, centred_pair

AUTO = "auto"
POWER = 4
HALF = 0.3  # agreement, relative to the largest, at which a view has half the weight
LEAST_WEIGHT = 1e-3  # the least weight of a view: samples that only a poor view has keep a graph
# If the largest agreement is below this, it does not show which view is poor: all weights are then equal.
LEAST_AGREEMENT = 0.1


def is_auto(weights: object) -> bool:
    """Whether weights depend on the agreement of the views."""
    return isinstance(weights, str) and weights == AUTO


def check_weights(weights: Any, n_views: int) -> FloatArray:
    """Weight of every view in the mean; they sum to one."""
    if weights is None:
        return np.full(n_views, 1.0 / n_views)
    if isinstance(weights, (dict, str)) or not is_iterable(weights):
        raise InputTypeError(f"weights must be a list of numbers, one per view, got {shown(weights)}.")
    values = list(weights)
    if not all(isinstance(w, numbers.Real) for w in values):
        raise InputTypeError(f"weights must be numbers, got {shown(values)}.")
    if len(values) != n_views:
        raise InputError(f"Got {len(values)} weights for {n_views} views.")
    if not all(0 <= w <= sys.float_info.max for w in values) or not any(values):
        raise InputError(f"weights must be finite, >= 0 and not all zero, got {shown(values)}.")
    relative = np.asarray(values, dtype=np.float64)
    relative = relative / relative.max()
    return np.asarray(relative / relative.sum())


def agreement_weights(grams: GramMatrices, permutations: Sequence[Order]) -> FloatArray:
    """Weight of every view by its agreement with the others; equal weights for one or two views.

    ``permutations`` are the orders that :class:`AnchorAligner` finds. Weights are > 0 and sum to one.

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
    weights = np.maximum(relative / (relative + HALF**POWER), LEAST_WEIGHT)
    return np.asarray(weights / weights.sum())


def agreement(R: FloatArray) -> FloatArray:
    """Cosine between every view's graph and the mean of the others, from the cosines of all pairs."""
    found = np.zeros(len(R))
    for view in range(len(R)):
        others = np.delete(np.arange(len(R)), view)
        # Cosines over different samples for each pair may be inconsistent: the divisor is at least one.
        length = np.sqrt(max(float(R[np.ix_(others, others)].sum()), 1.0))
        found[view] = R[view, others].sum() / length
    return found


def cosines(grams: GramMatrices, permutations: Sequence[Order]) -> FloatArray:
    """Cosines between the aligned centred graphs of all pairs of views; zero for a constant graph."""
    R = np.eye(grams.n_views)
    for u, v in itertools.combinations(range(grams.n_views), 2):
        pair = centred_pair(grams, u, v)
        if pair is None:
            continue
        P, Q = permutations[u], permutations[v]
        squares = _trace(pair.first, P, P) * _trace(pair.second, Q, Q)
        R[u, v] = R[v, u] = _trace(pair.cross, P, Q) / np.sqrt(squares) if squares > 0 else 0.0
    return R


def _trace(K: FloatArray, rows: Order, columns: Order) -> float:
    return float(np.trace(aligned_product(K, rows, columns)))
