"""The demonstration behind ``anchor-align demo``: unaligned against aligned fusion on simulated data.

K-means anchors are drawn in each view with a seed of its own, the two anchor graphs are fused as they come and
aligned, and both fused graphs are clustered in the same way: spectral embedding, unit rows, k-means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import confusion_matrix, pairwise_distances

from ._align import AnchorAligner
from ._fusion import fuse
from ._types import FloatArray
from .data import make_simulated

N_CLUSTERS = 4


@dataclass(frozen=True, eq=False)
class DemoRun:
    """Accuracies of one run, and what the aligner says about the match of the second view."""

    unaligned: float
    aligned: float
    objective: float
    upper_bound: float


def run_demo(seed: int) -> DemoRun:
    """One draw of data and anchors, clustered with and without alignment."""
    data = make_simulated(seed)
    assert data.labels is not None
    graphs = [_anchor_graph(X, seed=1000 * seed + view) for view, X in enumerate(data.views)]
    aligner = AnchorAligner(reference=0).fit(graphs)
    unaligned, aligned = (
        _accuracy(data.labels, _cluster(graph, seed)) for graph in (fuse(graphs), fuse(graphs, aligner.matrices_))
    )
    return DemoRun(unaligned, aligned, float(aligner.objective_[1]), float(aligner.upper_bound_[1]))


def _anchor_graph(X: FloatArray, seed: int) -> FloatArray:
    """Graph rows from the distances to k-means anchors: closed form, on the simplex, zero for the farthest anchor."""
    anchors = KMeans(N_CLUSTERS, n_init=10, random_state=seed).fit(X).cluster_centers_
    distances = pairwise_distances(X, anchors, metric="sqeuclidean")
    closeness = distances.max(axis=1, keepdims=True) - distances
    return np.asarray(closeness / closeness.sum(axis=1, keepdims=True))


def _cluster(graph: FloatArray, seed: int) -> FloatArray:
    embedding = np.linalg.svd(graph, full_matrices=False)[0][:, :N_CLUSTERS]
    embedding /= np.maximum(np.linalg.norm(embedding, axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(KMeans(N_CLUSTERS, n_init=10, random_state=seed).fit_predict(embedding))


def _accuracy(true: np.ndarray, found: np.ndarray) -> float:
    """Share of samples in the right cluster under the best naming of the clusters."""
    counts = confusion_matrix(true, found)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / counts.sum())
