"""Spectral clustering of a fused graph: leading left singular vectors, unit rows, k-means.

The left singular vectors of the graph Z (n x m) are the leading eigenvectors of Z Z', the affinity of the samples that
the anchors imply. They follow from the m x m matrix Z' Z: with its eigenvectors V and eigenvalues s^2, U = Z V / s. The
map V / s also places new samples.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ._grams import GramMatrices
from ._types import FloatArray, Graph, IndexArray, is_sparse

# The Gram matrix squares the singular values: below this share of the largest they have lost half of their digits.
TRUSTED_SHARE = 1e-4
# Real graphs fall by a factor of two at most from one singular value to the next; where the rank ends, by ten or more.
LARGEST_DROP = 0.1


@dataclass(frozen=True, eq=False)
class SpectralEmbedding:
    """Map from graph rows to the embedding.

    Attributes
    ----------
    projection : ndarray of shape (n_anchors, n_components)
        Right singular vectors divided by their singular values.
    singular_values : ndarray of shape (n_components,)
        Largest first.
    """

    projection: FloatArray
    singular_values: FloatArray

    def vectors(self, graph: Graph) -> FloatArray:
        """Coordinates of the rows: for the graph that was learned from, its left singular vectors."""
        return np.asarray(graph @ self.projection)

    def unit_rows(self, graph: Graph) -> FloatArray:
        """Coordinates of the rows, scaled to unit length; rows without direction stay zero."""
        embedding = self.vectors(graph)
        lengths = np.linalg.norm(embedding, axis=1, keepdims=True)
        return np.asarray(embedding / np.where(lengths > 0, lengths, 1.0))


def spectral_embedding(graph: Graph, n_components: int) -> SpectralEmbedding:
    """Leading singular directions of a graph: ``n_components`` of them, fewer if the graph's rank is lower.

    Graphs on more anchors than a view has features, for one, have a rank of about that number of features. What comes
    after a sudden drop of the singular values is noise, which scaled to unit length would count as much as the rest.
    """
    n, m = graph.shape
    gram = GramMatrices.from_graphs([graph]).matrix
    k = min(n_components, n, m)
    squares, V = scipy.linalg.eigh(gram, subset_by_index=(m - k, m - 1))
    values, V = np.sqrt(np.maximum(squares[::-1], 0.0)), V[:, ::-1]
    if values[-1] < TRUSTED_SHARE * values[0]:
        values, V = _accurate_directions(graph, k)
    rank = _numerical_rank(values, max(n, m) * np.finfo(float).eps)
    values, V = values[:rank], V[:, :rank]
    # The sign of a singular vector is arbitrary: its largest entry is made positive, so that results can be compared.
    V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
    return SpectralEmbedding(np.ascontiguousarray(V / np.where(values > 0, values, 1.0)), values)


def _numerical_rank(values: FloatArray, rounding: float) -> int:
    """Number of singular values before the first that rounding, or a drop after the second, sets apart."""
    noise = values <= rounding * values[0]
    noise[2:] |= values[2:] < LARGEST_DROP * values[1:-1]
    noise[0] = False
    return int(np.argmax(noise)) if noise.any() else len(values)


def _accurate_directions(graph: Graph, k: int) -> tuple[FloatArray, FloatArray]:
    """Singular values and right singular vectors with all their digits, from a triangular factor of the graph."""
    dense = graph.toarray() if is_sparse(graph) else np.asarray(graph, dtype=np.float64)
    factor = scipy.linalg.qr(dense, mode="r")[0][: min(dense.shape)]
    _, values, right = scipy.linalg.svd(factor, full_matrices=False)
    return values[:k], right[:k].T


def kmeans_labels(embedding: FloatArray, n_clusters: int, random_state: int, *, n_init: int = 10) -> IndexArray:
    """Labels of k-means run until no sample moves: every sample is with the nearest mean."""
    kmeans = KMeans(n_clusters, n_init=n_init, tol=0.0, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = np.asarray(kmeans.fit_predict(embedding), dtype=np.intp)
    found = len(np.unique(labels))
    if found < n_clusters:
        warnings.warn(
            f"Found {found} clusters instead of {n_clusters}: the fused graph has too few distinct rows.", stacklevel=2
        )
    return labels


def spectral_labels(graph: Any, n_clusters: int, random_state: int) -> IndexArray:
    """Cluster the rows of a graph."""
    return kmeans_labels(spectral_embedding(graph, n_clusters).unit_rows(graph), n_clusters, random_state)
