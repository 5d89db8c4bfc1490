"""Spectral clustering of the nearest-neighbour graph of the views side by side, by scikit-learn.

With W = 1 for the nearest neighbours of each sample, made symmetric, the embedding has the eigenvectors of the smallest
eigenvalues of the normalised Laplacian I - D^-1/2 W D^-1/2; k-means on its rows gives the labels. Every view has a
total variance of 1, so all views count the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from anchor_align import Baseline, hookimpl
from anchor_align.arrays import IndexArray
from anchor_align.blocks import row_order, scaled_rows
from anchor_align.checks import check_whole_number

from .. import side_by_side
from ._preparation import balanced_views


class SideBySideSpectral(Baseline):
    """Spectral clustering of the nearest-neighbour graph of the views side by side, by scikit-learn.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours of a sample in the graph, the sample itself included; at most the number of samples.
    n_init : int, default=10
        Runs of k-means; the best run is used.
    scale : {"spread", "standard", "unit", None}, default="spread"
        Scale of each view, as for the baseline ``kmeans``.

    Examples
    --------
    >>> from anchor_align import get_baseline
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> acc(data.labels, get_baseline("spectral").fit_predict(data.views, n_clusters=4, random_state=0))
    1.0
    """

    name = "spectral"

    def __init__(self, n_neighbors: int = 10, *, n_init: int = 10, scale: str | None = "spread") -> None:
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.scale = scale

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        """Cluster the samples by all features of all views."""
        n_init = check_whole_number("n_init", self.n_init, least=1)
        n_neighbours = check_whole_number("n_neighbors", self.n_neighbors, least=1)
        from sklearn.cluster import SpectralClustering  # takes longer to import than other methods to run

        together = side_by_side(balanced_views(self.check_input(views, n_clusters), self.scale))
        rows, order = scaled_rows(together, slice(None))[0], row_order(together)
        n = rows.shape[0]
        if n_clusters == n:  # no eigen-solver finds all eigenvectors of a sparse graph
            return np.arange(n)
        clusterer = SpectralClustering(
            n_clusters,
            affinity="nearest_neighbors",
            n_neighbors=min(n_neighbours, n),
            n_init=n_init,
            random_state=random_state % 2**32,
        )
        # With one thread the sums of k-means and BLAS are rounded in the same way on every machine.
        with warnings.catch_warnings(), threadpool_limits(1):
            # Clusters that are far apart have no neighbours in each other: that is no problem here.
            warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
            labels = np.empty(n, dtype=np.intp)
            labels[order] = clusterer.fit_predict(rows[order])  # its random starts depend on the order of the rows
            return labels


@hookimpl
def anchor_align_baselines() -> list[type[Baseline]]:
    """Baselines of this module."""
    return [SideBySideSpectral]
