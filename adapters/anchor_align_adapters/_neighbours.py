"""Sparse anchor graphs from the nearest anchors, in closed form.

With squared distances h_1 <= h_2 <= ... of a sample to the anchors and k neighbours, the weight of the j-th nearest is
(h_{k+1} - h_j) / (k h_{k+1} - h_1 - ... - h_k): rows sum to one and no kernel width has to be chosen. It minimises
sum_j h_j b_j + gamma |b|^2 on the simplex for the gamma at which exactly k weights are positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._types import FloatArray, IndexArray, is_sparse

# Distances computed at once: 32 MB.
BLOCK_NUMBERS = 2**22


def nearest_anchor_graph(X: Any, A: Any, n_neighbours: int) -> sp.csr_array:
    """Graph of the rows of X on the anchors A, dense or sparse alike; a single anchor gets all the weight."""
    n, m = X.shape[0], A.shape[0]
    k = min(n_neighbours, m - 1)
    if k == 0:
        return sp.csr_array(np.ones((n, 1)))
    A = A.astype(np.float64)
    # What is common to all anchors changes no distance but costs digits. Sparse views keep their zeros.
    centre = None if is_sparse(A) or is_sparse(X) else A.mean(axis=0)
    A = A if centre is None else A - centre
    square_norms = _square_norms(A)
    indices = np.empty((n, k), dtype=np.int32)
    weights = np.empty((n, k))
    step = max(1, BLOCK_NUMBERS // m)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        block = X[rows].astype(np.float64)
        block = block if centre is None else block - centre
        indices[rows], weights[rows] = _nearest(_square_distances(block, A, square_norms), k)
    graph = sp.csr_array((weights.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, m))
    graph.sort_indices()
    graph.eliminate_zeros()
    return graph


def _nearest(distances: FloatArray, k: int) -> tuple[IndexArray, FloatArray]:
    """The k nearest anchors of every row and their weights."""
    nearest = np.argpartition(distances, k, axis=1)[:, : k + 1] if k + 1 < distances.shape[1] else None
    if nearest is None:
        nearest = np.broadcast_to(np.arange(k + 1), distances.shape)
    h = np.take_along_axis(distances, nearest, axis=1)
    order = np.argsort(h, axis=1, kind="stable")
    h = np.take_along_axis(h, order, axis=1)
    closeness = h[:, k:] - h[:, :k]
    total = closeness.sum(axis=1, keepdims=True)
    # All as far as the next one: they share the weight.
    weights = np.divide(closeness, total, out=np.full_like(closeness, 1.0 / k), where=total > 0)
    return np.take_along_axis(nearest, order[:, :k], axis=1), weights


def _square_distances(X: Any, A: Any, square_norms: FloatArray) -> FloatArray:
    products = X @ A.T
    products = products.toarray() if is_sparse(products) else products
    return np.asarray(np.maximum(_square_norms(X)[:, None] + square_norms - 2.0 * products, 0.0))


def _square_norms(X: Any) -> FloatArray:
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))
