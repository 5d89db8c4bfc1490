"""Graphs of nearest neighbours with weights in closed form, and their Laplacians."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from anchor_align.arrays import FloatArray, IndexArray


def neighbour_graph(near: IndexArray, distances: FloatArray) -> sp.csr_array:
    """Symmetric graph of samples on their neighbours, from c + 1 neighbours, nearest first.

    With distances h_1 <= ... <= h_{c+1} the weight of the j-th neighbour is (h_{c+1} - h_j) / sum_l (h_{c+1} - h_l), or
    1/c if all distances are equal. The result is the mean of this graph and its transpose.
    """
    n, c = near.shape[0], near.shape[1] - 1
    closeness = distances[:, c:] - distances[:, :c]
    total = closeness.sum(axis=1, keepdims=True)
    weights = np.divide(closeness, total, out=np.full_like(closeness, 1.0 / c), where=total > 0)
    graph = sp.csr_array((weights.ravel(), near[:, :c].ravel(), np.arange(0, n * c + 1, c)), shape=(n, n))
    graph.sum_duplicates()
    symmetric = sp.csr_array((graph + graph.T) / 2.0)
    symmetric.eliminate_zeros()
    return symmetric


def normalised(graph: sp.csr_array) -> sp.csr_array:
    """D^-1/2 W D^-1/2; a sample without neighbours has a row of zeros."""
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    roots = sp.diags_array(1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0)))
    return sp.csr_array(roots @ graph @ roots)
