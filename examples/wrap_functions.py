"""Wrapping a third-party clusterer, 2 of 3: two functions, graphs from views and labels from the fused graph.

    python examples/wrap_functions.py
    anchor-align compare fuzzy-ward --plugin examples/wrap_functions.py

Centres from scikit-learn's ``k_means``, memberships as in fuzzy c-means, and a tree from SciPy that is cut into
clusters. No subclass is needed: any functions can be used, also lambdas around them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.cluster import k_means

from anchor_align import FunctionAdapter, hookimpl, view_seeds


def memberships(views: Any, *, n_clusters: int, n_anchors: int, random_state: int) -> list[np.ndarray]:
    """Graphs: the weight of each centre in a sample, inverse to the squared distance."""
    graphs = []
    for X, seed in zip(views, view_seeds(random_state, len(views)), strict=True):
        centres, _, _ = k_means(X, n_anchors, n_init=1, random_state=seed)
        closeness = 1 / np.maximum(cdist(X, centres, "sqeuclidean"), 1e-12)
        graphs.append(closeness / closeness.sum(axis=1, keepdims=True))
    return graphs


def ward(graph: Any, *, n_clusters: int, random_state: int) -> np.ndarray:
    """Labels: Ward's tree of the fused graph's rows, cut."""
    return fcluster(linkage(graph, "ward"), n_clusters, "maxclust")


@hookimpl
def anchor_align_adapters() -> list[FunctionAdapter]:
    """Return the adapters of this plug-in."""
    return [FunctionAdapter("fuzzy-ward", memberships, ward)]


if __name__ == "__main__":
    from anchor_align.report import render
    from anchor_align.study import compare

    print(render(compare("fuzzy-ward", "digits", plugins=[__file__], repeats=30), "table"))
