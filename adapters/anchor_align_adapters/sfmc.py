"""SFMC-style clustering: anchors shared by all views, sparse graphs, a fused graph with k connected components.

The graphs B_v of the views (samples x anchors, each sample on its nearest anchors) are averaged with weights on the
simplex; weights and the nearest graph P with exactly k connected components are found in turn,

    min |sum_v w_v B_v - P|^2,   w on the simplex,   P with k components,

and the components are the clusters (Li et al., Multiview clustering: a scalable and parameter-free bipartite graph
fusion method, TPAMI 2022). Anchors are the same samples in all views, so their columns correspond. With
``anchors="flexible"`` every view has anchors of its own, which have to be aligned.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align import Adapter, AnchorGraphs, hookimpl, view_seeds
from anchor_align.checks import check_whole_number
from anchor_align.errors import InputError, unknown_name

from ._anchors import check_n_anchors, kmeans_anchors
from ._neighbours import nearest_anchor_graph
from ._rank import rank_constrained_graph
from ._sampling import alternate_sampling
from ._scaling import apply_scalers, scale_views
from ._types import FloatArray, IndexArray, is_sparse

STYLES = ("alternate", "random", "kmeans", "flexible")
DEFAULT_SHARE = 0.5
DEFAULT_MOST = 200


class SFMC(Adapter):
    """SFMC: sparse graphs on shared anchors, view weights, and components of the fused graph as clusters.

    Parameters
    ----------
    anchors : {"alternate", "random", "kmeans", "flexible"}, default="alternate"
        "alternate": samples spread by directly alternate sampling, the same in every view. "random": random samples,
        the same in every view. "kmeans": centres of k-means on all views together. "flexible": centres of k-means in
        every view on its own, to be aligned.
    n_neighbors : int, default=10
        Anchors that each sample is connected to; one fewer than there are anchors at most.
    max_iter : int, default=10
        Rounds of weights and graph in turn.
    scale : {"max", "standard", "spread", "unit", None}, default="max"
        How each view is scaled first. "max": divided by its largest absolute entry, as in the released code.
        "standard": every feature to mean 0 and standard deviation 1. "spread": divided by the root mean square standard
        deviation of its features. "unit": every sample to a mean square of 1. None: left as it is.

    Notes
    -----
    By default half of the samples are anchors, as in the paper, but no more than 200: the time grows with the third
    power of their number. Alternate sampling works in double precision, whatever the views come in. If a graph with
    exactly ``n_clusters`` components is not found, a warning says so and the labels are those of spectral clustering.

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> acc(data.labels, AlignedClusterer("sfmc", n_clusters=4, n_anchors=40).fit_predict(data.views))
    1.0
    """

    name = "sfmc"

    def __init__(
        self,
        anchors: str = "alternate",
        *,
        n_neighbors: int = 10,
        max_iter: int = 10,
        scale: str | None = "max",
    ) -> None:
        self.anchors = anchors
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.scale = scale

    def default_n_anchors(self, n_samples: int, n_clusters: int) -> int:
        """Half of the samples, at most 200, at least one for each cluster."""
        return max(min(int(DEFAULT_SHARE * n_samples), DEFAULT_MOST), min(n_clusters, n_samples))

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Choose anchors as ``anchors`` says, and connect every sample to its nearest ones."""
        if not isinstance(self.anchors, str) or self.anchors not in STYLES:
            raise unknown_name("anchors", self.anchors, STYLES)
        n_neighbours = check_whole_number("n_neighbors", self.n_neighbors, least=1)
        check_n_anchors(n_anchors, views[0].shape[0])
        if n_anchors < n_clusters:
            raise InputError(f"Each of {n_clusters} clusters needs an anchor of its own, got n_anchors={n_anchors}.")
        if self.anchors == "alternate":
            # The last digit decides which samples are taken: data in single precision would get other anchors.
            views = [X.astype(np.float64, copy=False) for X in views]
        scaled, scalers = scale_views(views, self.scale)
        matrices = [X.matrix for X in scaled]
        anchors = _choose_anchors(self.anchors, matrices, n_anchors, random_state)
        graphs = [nearest_anchor_graph(X, A, n_neighbours) for X, A in zip(matrices, anchors, strict=True)]
        return AnchorGraphs(graphs, anchors, aligned=self.anchors != "flexible", state=scalers)

    def view_weights(self, graphs: Sequence[Any], *, n_clusters: int, random_state: int) -> FloatArray:
        """Weights of the views, found in turn with the graph of k components."""
        weights = np.full(len(graphs), 1.0 / len(graphs))
        if len(graphs) == 1:
            return weights
        sparse = [sp.csr_array(B) for B in graphs]
        Q = np.array([[float(B.multiply(C).sum()) for C in sparse] for B in sparse])
        for _ in range(check_whole_number("max_iter", self.max_iter, least=1)):
            P = rank_constrained_graph(_weighted_sum(sparse, weights), n_clusters).graph
            s = np.array([2.0 * float(B.multiply(P).sum()) for B in sparse])
            before, weights = weights, simplex_weights(Q, s)
            if np.array_equal(before, weights):
                break
        return weights

    def cluster(self, graph: Any, *, n_clusters: int, random_state: int) -> IndexArray:
        """Connected components of the nearest graph that has ``n_clusters`` of them."""
        result = rank_constrained_graph(graph, n_clusters)
        if result.n_components == n_clusters:
            return result.labels
        warnings.warn(
            f"sfmc found {result.n_components} connected components after {result.n_iter} rounds, expected "
            f"{n_clusters}: the labels are those of spectral clustering instead.",
            stacklevel=2,
        )
        return super().cluster(graph, n_clusters=n_clusters, random_state=random_state)

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[sp.csr_array]:
        """Graphs of new samples on the anchors."""
        scaled = apply_scalers(views, learned.state)
        return [
            nearest_anchor_graph(X.matrix, A, self.n_neighbors)
            for X, A in zip(scaled, learned.anchors or (), strict=True)
        ]


def simplex_weights(Q: FloatArray, s: FloatArray, max_iter: int = 500, tol: float = 1e-8) -> FloatArray:
    """Minimise w' Q w - s' w on the simplex by accelerated projected gradient steps of adaptive length.

    The objective is of the order of the number of samples, and the rounds around this one need no more digits; with
    this stop the results are those of the released code.
    """
    w = previous = np.full(len(s), 1.0 / len(s))
    momentum = 1.0
    point, value = w, float(w @ Q @ w - s @ w)
    for _ in range(max_iter):
        gradient = 2.0 * Q @ point - s
        at_point = float(point @ Q @ point - s @ point)
        step = 0.5
        for _ in range(20):
            w = _project(point - step * gradient)
            move = w - point
            reached = float(w @ Q @ w - s @ w)
            if reached <= at_point + gradient @ move + move @ move / (2.0 * step):
                break
            step /= 2.0
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        point = w + (momentum - 1.0) / following * (w - previous)
        previous, momentum = w, following
        if abs(value - reached) < tol:
            break
        value = reached
    return w


def _project(w: FloatArray) -> FloatArray:
    """Nearest point on the simplex to one short vector: hundreds of them are needed, one after the other."""
    descending = np.sort(w)[::-1]
    thresholds = (np.cumsum(descending) - 1.0) / np.arange(1, len(w) + 1)
    return np.asarray(np.maximum(w - thresholds[descending > thresholds][-1], 0.0))


def _weighted_sum(graphs: Sequence[Any], weights: FloatArray) -> Any:
    total = graphs[0] * weights[0]
    for B, weight in zip(graphs[1:], weights[1:], strict=True):
        total = total + B * weight
    return total


def _choose_anchors(style: str, matrices: list[Any], n_anchors: int, random_state: int) -> list[Any]:
    """Anchors of every view."""
    if style == "flexible":
        return [
            kmeans_anchors(X, n_anchors, n_init=1, random_state=seed, view=view)
            for view, (X, seed) in enumerate(zip(matrices, view_seeds(random_state, len(matrices)), strict=True))
        ]
    if style == "kmeans":
        together = sp.hstack(matrices, format="csr") if any(map(is_sparse, matrices)) else np.hstack(matrices)
        centres = kmeans_anchors(together, n_anchors, n_init=1, random_state=random_state, view=0)
        edges = np.cumsum([X.shape[1] for X in matrices])[:-1]
        return list(np.split(centres, edges, axis=1))
    if style == "random":
        n = matrices[0].shape[0]
        rows = np.sort(np.random.default_rng(random_state).choice(n, n_anchors, replace=False))
    else:
        rows = alternate_sampling(matrices, n_anchors)
    return [X[rows] for X in matrices]


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Adapters of this module."""
    return [SFMC]
