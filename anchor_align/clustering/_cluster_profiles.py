"""How much weight each anchor has in the clusters of a first clustering, to match the anchors by.

The first clustering is that of the graphs side by side, which needs no match. Two anchors that stand for the same
cluster in two views need not share samples more than by chance: samples may choose freely between the anchors of their
cluster, in every view. Their clusters tell that they belong together.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from ..arrays import FloatArray, Graph, is_sparse
from ..blocks import ScaledRows, row_order
from ..fusion import FusedRows, Recipe
from ..graphs import GraphSet, StoredGraphs, check_orders, spectral_labels
from ..plugins import get_fusion

MOST_ROWS = 10_000  # samples of the first clustering; with 1000 it loses up to six points on sets of thousands


def cluster_profiles(
    graphs: GraphSet, n_clusters: int, random_state: int, *, column_scaling: float | None, directions: float
) -> list[FloatArray]:
    """For every view, clusters x anchors: the weight of an anchor in a cluster, over the root of the cluster's size.

    No sample may be missing.
    """
    sample = _sample(graphs)
    concat = Recipe(get_fusion("concat"), tuple(check_orders(None, sample.sizes)), (1.0,) * len(sample.sizes))
    fused = FusedRows(sample, concat).stored()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the clustering of the fused graph warns
        labels = spectral_labels(fused, n_clusters, random_state, column_scaling=column_scaling, directions=directions)
    sizes = np.bincount(labels, minlength=n_clusters)
    rows = np.arange(len(labels))
    members = sp.csr_array((1.0 / np.sqrt(sizes[labels]), (labels, rows)), shape=(n_clusters, len(rows)))
    return [_dense(members @ Z) for Z in sample.block(slice(0, len(rows)))]


def _dense(Z: Graph) -> FloatArray:
    return np.asarray(Z.toarray() if is_sparse(Z) else Z, dtype=np.float64)


def _sample(graphs: GraphSet) -> StoredGraphs:
    """Some rows of the graphs, in memory; they depend on what the rows are, not on where they are."""
    n = graphs.n_samples
    rows = np.arange(n)
    if n > MOST_ROWS:
        places = np.linspace(0, n - 1, MOST_ROWS).astype(np.intp)
        rows = row_order(*map(ScaledRows, graphs.sources), places=places)
    return StoredGraphs(graphs.block(rows))
