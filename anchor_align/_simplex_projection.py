"""Euclidean projection of rows on the simplex."""

from __future__ import annotations

import numpy as np

from ._types import FloatArray


def project_rows(Y: FloatArray) -> FloatArray:
    """Project finite float64 rows; the input is not checked."""
    n, m = Y.shape
    # The threshold is never more than one below the largest entry: what lies lower gets zero and may be raised to
    # there. Rows then hold numbers from -1 to 0, whatever they held before.
    with np.errstate(over="ignore"):
        Z = Y - Y.max(axis=1, keepdims=True)
    np.maximum(Z, -1.0, out=Z)
    descending = np.sort(Z, axis=1)[:, ::-1]
    excess = np.cumsum(descending, axis=1)
    excess -= 1.0
    kept = np.count_nonzero(descending * np.arange(1, m + 1) > excess, axis=1)
    Z -= (excess[np.arange(n), kept - 1] / kept)[:, None]
    np.maximum(Z, 0.0, out=Z)
    Z /= Z.sum(axis=1, keepdims=True)
    return np.asarray(Z)
