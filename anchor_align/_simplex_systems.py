"""Equality-constrained least squares on a set of anchors per row, for many rows at once.

Sets are small and rows many, so arrays have the rows *last*: one NumPy operation does the same step of a small
elimination in all rows. At five anchors that is ten times faster than a LAPACK call per row.
"""

from __future__ import annotations

import numpy as np

from ._simplex_problem import Quadratic
from ._types import FloatArray, IndexArray

# From this many anchors in a set, a LAPACK call per row is the faster one.
LAPACK_FROM = 24
# Numbers in the systems that are solved together: 2 MB, which a cache holds, and 8 MB.
CACHE = 2**18
CHUNK = 2**20
# Least pivot relative to H, a rounding of it: a set that is dependent up to rounding has a pivot of any sign.
LEAST_PIVOT = 1e-15


def padded_hessian(shared: Quadratic, alpha: float, set_size: int = 1) -> FloatArray:
    """H for some ridge, with a last row and column of zeros for empty slots.

    The constant added to all entries is one more feature that all anchors share: it changes nothing on the simplex, and
    makes sets positive definite that are independent only up to their affine hull, such as d + 1 anchors in d features.
    It is best conditioned where the constant times the size of the sets is as large as the rest.
    """
    m = shared.n_anchors
    hessian = np.zeros((m + 1, m + 1))
    hessian[:m, :m] = shared.gram + (float(shared.gram.diagonal().mean()) + alpha or 1.0) / set_size
    hessian[np.arange(m), np.arange(m)] += alpha
    return hessian


def solve_on_sets(hessian: FloatArray, linear: FloatArray, sets: IndexArray) -> FloatArray:
    """Minimiser of each row on its set, with the sum constraint only: H y = c, H v = 1, z = y + lambda v.

    Parameters
    ----------
    hessian : ndarray of shape (m + 1, m + 1)
        From :func:`padded_hessian`.
    linear : ndarray of shape (n, m)
        The rows' c.
    sets : ndarray of shape (K, n)
        Anchors of each row; m in empty slots.

    Returns
    -------
    z : ndarray of shape (K, n)
        Zero in empty slots.
    """
    K, n = sets.shape
    small = K < LAPACK_FROM
    z = np.empty((K, n))
    step = max(1, (CACHE if small else CHUNK) // (K * (K + 2)))
    for at in range(0, n, step):
        part = slice(at, at + step)
        solve = _eliminate if small else _lapack
        y, v = solve(hessian, linear[part], sets[:, part])
        z[:, part] = y + (1.0 - y.sum(axis=0)) / v.sum(axis=0) * v
    return z


def _eliminate(hessian: FloatArray, linear: FloatArray, sets: IndexArray) -> FloatArray:
    """The y and v of all rows, by Gaussian elimination in the upper triangles; empty slots are an equation x = 0."""
    K, n = sets.shape
    m = linear.shape[1]
    used = sets < m
    W = np.empty((K, K + 2, n))
    for i in range(K):
        np.take(hessian.ravel(), sets[i] * (m + 1) + sets[i:], out=W[i, i:K], mode="clip")
    W[np.arange(K), np.arange(K)] += ~used
    W[:, K] = _linear_on_sets(linear, sets)
    W[:, K + 1] = used
    least = LEAST_PIVOT * float(hessian.max())
    for j in range(K):
        np.maximum(W[j, j], least, out=W[j, j])
        factors = W[j, j + 1 : K] / W[j, j]
        for i in range(j + 1, K):
            W[i, i:] -= factors[i - j - 1] * W[j, i:]
    x = W[:, K:]
    for j in range(K - 1, -1, -1):
        x[j] /= W[j, j]
        x[:j] -= W[:j, j, None] * x[j]
    return np.moveaxis(x, 1, 0)


def _lapack(hessian: FloatArray, linear: FloatArray, sets: IndexArray) -> FloatArray:
    """The same with the rows first and one LAPACK call per row."""
    m = linear.shape[1]
    K = len(sets)
    first = np.ascontiguousarray(sets.T)
    systems = hessian.ravel().take(first[:, :, None] * (m + 1) + first[:, None, :])
    systems[:, np.arange(K), np.arange(K)] += first == m
    right = np.stack([_linear_on_sets(linear, sets).T, first < m], axis=2)
    return np.moveaxis(solve_systems(systems, right), 0, 2).swapaxes(0, 1)


def solve_systems(systems: FloatArray, right: FloatArray) -> FloatArray:
    """``np.linalg.solve``; the one exactly singular system that fails the call for all gets a ridge of a rounding."""
    try:
        return np.asarray(np.linalg.solve(systems, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        K = systems.shape[-1]
        ridge = K * LEAST_PIVOT * float(np.abs(systems).max())
        return np.asarray(np.linalg.solve(systems + ridge * np.eye(K), right), dtype=np.float64)


def _linear_on_sets(linear: FloatArray, sets: IndexArray) -> FloatArray:
    m = linear.shape[1]
    at = np.arange(0, linear.size, m) + np.minimum(sets, m - 1)
    return np.where(sets < m, linear.ravel().take(at), 0.0)
