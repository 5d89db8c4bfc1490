"""Agreement of views, from Gram matrices and column sums alone: no labels, no match of the anchors.

The columns of the graphs are centred first, because all graphs have a common part that does not depend on the samples:
their rows sum to one. C_u' C_v = K_uv - s_u s_v' / n, with the column sums s over the n samples of both views. The
agreement of two views is linear CKA (centred kernel alignment; Kornblith et al., 2019), as the root

    |C_u' C_v| / sqrt(|C_u' C_u| |C_v' C_v|)   (Frobenius norms),

which no permutation or rotation of the anchors changes. Degenerate graphs may agree perfectly: if one cluster has all
samples but a few outliers, all views show it. :func:`anchors_in_use` finds such graphs.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import norm

from ..arrays import FloatArray
from ..errors import InputError, InputTypeError, shown
from ._grams import GramMatrices

ROUNDING = 1e-12
SMALLEST_SQUARE = 1e-10  # smaller eigenvalues, relative to the largest, are rounding


@dataclass(frozen=True, eq=False)
class CentredPair:
    """Products of two centred graphs, over the samples of both; zero for a graph whose rows are all equal."""

    cross: FloatArray  # C_u' C_v
    first: FloatArray  # C_u' C_u
    second: FloatArray  # C_v' C_v


def centred_pair(grams: GramMatrices, u: int, v: int) -> CentredPair | None:
    """Products of the centred graphs of two views; None if they have no sample in common."""
    n = int(grams.shared[u, v])
    if not n:
        return None
    s, t = grams.column_sums(u, v), grams.column_sums(v, u)
    return CentredPair(
        grams.cross(u, v) - np.outer(s, t) / n,
        _centred(grams.structure(u, v), s, n),
        _centred(grams.structure(v, u), t, n),
    )


def _centred(S: FloatArray, sums: FloatArray, n: int) -> FloatArray:
    centred = S - np.outer(sums, sums) / n
    return centred if float(np.trace(centred)) > ROUNDING * float(np.trace(S)) else np.zeros_like(S)


def view_agreement(grams: GramMatrices) -> float | None:
    """Mean linear CKA of all pairs of views, from 0 to 1; None for one view.

    Pairs without a common sample are left out. A graph whose rows are all equal agrees with none.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import GramMatrices
    >>> rng = np.random.default_rng(0)
    >>> Z, noise = (rng.dirichlet(np.full(5, 0.2), size=500) for _ in range(2))
    >>> same, other = (GramMatrices.from_graphs([Z, each]) for each in (Z[:, ::-1], noise))
    >>> round(view_agreement(same), 2), view_agreement(other) < 0.2
    (1.0, True)
    """
    pairs = pair_agreement(grams)[np.triu_indices(grams.n_views, 1)]
    found = pairs[~np.isnan(pairs)]
    return min(float(np.mean(found)), 1.0) if len(found) else None


def pair_agreement(grams: GramMatrices) -> FloatArray:
    """Linear CKA of every pair of views, views x views; NaN on the diagonal and for views without a common sample.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import GramMatrices, pair_agreement
    >>> Z = np.eye(3)[[0, 1, 2, 0, 1, 2]]
    >>> pair_agreement(GramMatrices.from_graphs([Z, Z[:, ::-1]])).round(2)
    array([[nan,  1.],
           [ 1., nan]])
    """
    if not isinstance(grams, GramMatrices):
        raise InputTypeError(f"pair_agreement needs GramMatrices, got {type(grams).__name__}.")
    n = grams.n_views
    found = np.full((n, n), np.nan)
    for u, v in itertools.combinations(range(n), 2):
        pair = centred_pair(grams, u, v)
        if pair is not None:
            # Neither norms nor their product may overflow or vanish.
            parts = (pair.first, pair.second, pair.cross)
            first, second, cross = (float(norm(each.ravel(), check_finite=False)) for each in parts)
            cka = cross / np.sqrt(first) / np.sqrt(second) if min(first, second) > 0 else 0.0
            found[u, v] = found[v, u] = cka
    return found


def anchors_in_use(grams: GramMatrices) -> float:
    """Evenness of the anchors' column sums, mean over the views: 1 if all anchors have equal sums, 1/m if one has all.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import GramMatrices
    >>> Z = np.zeros((6, 3))
    >>> Z[:, 0] = 1
    >>> round(anchors_in_use(GramMatrices.from_graphs([Z, np.eye(3)[[0, 1, 2, 0, 1, 2]]])), 3)
    0.667
    """
    return float(np.mean([evenness(np.abs(grams.column_sums(view))) for view in range(grams.n_views)]))


def evenness(sizes: npt.ArrayLike) -> float:
    """How evenly a total is divided: the exponential of the entropy of the parts, divided by their number.

    Examples
    --------
    >>> from anchor_align import evenness
    >>> evenness([5, 5, 5, 5]), evenness([20, 0, 0, 0])
    (1.0, 0.25)
    """
    try:
        parts = np.asarray(sizes)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise InputTypeError(f"sizes must be numbers, got {shown(sizes)}.") from error
    if parts.size and parts.dtype.kind not in "biuf":
        raise InputTypeError(f"sizes must be real numbers, got {shown(sizes)}.")
    if not (parts >= 0).all() or np.isinf(parts).any():
        raise InputError("sizes must be finite numbers >= 0.")
    largest = parts.max(initial=0)
    if largest == 0:
        return 0.0
    p = parts / largest  # their sum may be larger than any number
    p = p[p > 0] / p.sum()
    return round(float(np.exp(-(p * np.log(p)).sum())) / parts.size, 12)


def leading_agreement(grams: GramMatrices, n_directions: int) -> FloatArray | None:
    """Agreement of the views' leading directions only, for 1 to ``n_directions`` of them; None for one view.

    The directions of a view are the leading left singular vectors U of its centred graph. With d of them the agreement
    of two views is |U_u' U_v| / sqrt(d): 1 if both views have the same d directions. A direction that a view lacks,
    because its rank is lower, agrees with none.
    """
    found = []
    for u, v in itertools.combinations(range(grams.n_views), 2):
        pair = centred_pair(grams, u, v)
        if pair is not None:
            (maps_u, maps_v) = (_directions(S, n_directions) for S in (pair.first, pair.second))
            squares = (maps_u.T @ pair.cross @ maps_v) ** 2
            sums = squares.cumsum(axis=0).cumsum(axis=1).diagonal()
            found.append(np.sqrt(np.minimum(sums / np.arange(1, n_directions + 1), 1.0)))
    return np.asarray(np.mean(found, axis=0)) if found else None


def _directions(S: FloatArray, n_directions: int) -> FloatArray:
    """V / s for the largest eigenvalues s^2 of a centred Gram matrix; zero where an eigenvalue is only rounding."""
    squares, V = np.linalg.eigh(S)
    squares, V = squares[::-1][:n_directions], V[:, ::-1][:, :n_directions]
    real = squares > max(float(squares[0]), 0.0) * SMALLEST_SQUARE
    maps = np.where(real, V / np.sqrt(np.where(real, squares, 1.0)), 0.0)
    return np.pad(maps, ((0, 0), (0, n_directions - maps.shape[1])))
