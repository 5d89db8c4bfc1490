"""Sparse graphs of samples on their nearest anchors, with weights in closed form.

With squared distances h_1 <= h_2 <= ... of a sample to the anchors and k neighbours, the weight of the j-th nearest is

    (h_{k+1} - h_j) / (k h_{k+1} - h_1 - ... - h_k).

Rows sum to one, without a kernel width. The row minimises sum_j h_j b_j + gamma |b|^2 on the simplex for the gamma that
makes exactly k weights positive (Nie et al., The constrained Laplacian rank algorithm, AAAI 2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from anchor_align.arrays import FloatArray, IndexArray, is_sparse

BLOCK_NUMBERS = 2**16  # distances to anchors computed at once: they stay in the cache until they are sorted
ROUNDING = 4.0  # largest error of a squared distance, in units of the precision and of the squared norms


def nearest_anchor_graph(X: Any, A: Any, n_neighbours: int, dtype: npt.DTypeLike = np.float64) -> sp.csr_array:
    """Sparse graph of the rows of X on their nearest anchors in A; a single anchor has weight one.

    If the k + 1 nearest anchors are equally far, up to rounding, the first k of all anchors at this distance have equal
    weights. Distances are computed in ``dtype``, which is also the type of the graph.
    """
    n, m = X.shape[0], A.shape[0]
    k = min(n_neighbours, m - 1)
    if k == 0:
        return sp.csr_array(np.ones((n, 1), dtype))
    A = A.astype(np.float64)
    # A common offset of the anchors changes no distance but costs digits. Sparse views are not shifted.
    centre = None if is_sparse(A) or is_sparse(X) else A.mean(axis=0)
    A = A if centre is None else A - centre
    # The squared norm of the sample is in all its distances, so that the weights do not depend on it.
    norms = _square_norms(A).astype(dtype)
    factors = (-2.0 * A.T).astype(dtype)
    offset = None if centre is None or not centre.any() else centre.astype(dtype)
    rounding = ROUNDING * float(np.finfo(dtype).eps)
    indices = np.empty((n, k), dtype=np.int32)
    weights = np.empty((n, k), dtype=dtype)
    step = max(1, BLOCK_NUMBERS // m)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        block = X[rows].astype(dtype, copy=False)
        block = block if offset is None else block - offset
        distances = block @ factors
        distances = distances.toarray() if is_sparse(distances) else distances
        distances += norms
        indices[rows], weights[rows] = _nearest(distances, k, rounding * (_square_norms(block) + norms.max()))
    graph = sp.csr_array((weights.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, m))
    graph.has_sorted_indices = True
    graph.eliminate_zeros()
    return graph


def _nearest(distances: npt.NDArray[Any], k: int, tolerance: npt.NDArray[Any]) -> tuple[IndexArray, npt.NDArray[Any]]:
    """The k nearest anchors of every row and their weights; a row's distances tie if they differ by its tolerance."""
    parted = np.argpartition(distances, k, axis=1)
    nearest = np.sort(parted[:, :k], axis=1)
    # Flat positions: take is faster than take_along_axis.
    first = np.arange(0, distances.size, distances.shape[1])[:, None]
    border = distances.take(first + parted[:, k : k + 1])
    closeness = border - distances.take(first + nearest)
    # Sums are needed anyway, and they are faster than maxima along short rows, which only few rows then need.
    total = np.einsum("ij->i", closeness)
    for row in np.flatnonzero(total <= k * tolerance):
        if closeness[row].max() <= tolerance[row]:
            nearest[row] = np.flatnonzero(distances[row] <= border[row] + tolerance[row])[:k]
            closeness[row], total[row] = 1.0, k
    return nearest, closeness / total[:, None]


def _square_norms(X: Any) -> FloatArray:
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def distinct_anchors(A: FloatArray) -> IndexArray:
    """Numbers of the anchors that differ from all before them."""
    return np.asarray(np.sort(np.unique(A, axis=0, return_index=True)[1]), dtype=np.int32)


def graph_on_distinct(X: Any, A: FloatArray, used: IndexArray, n_neighbours: int, dtype: npt.DTypeLike) -> sp.csr_array:
    """Graph on all anchors; the columns of those that are not ``used`` are zero."""
    Z = nearest_anchor_graph(X, A[used], n_neighbours, dtype)
    return sp.csr_array((Z.data, used[Z.indices], Z.indptr), shape=(Z.shape[0], len(A)))
