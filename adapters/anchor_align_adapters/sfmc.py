"""SFMC: common anchors of all views, sparse graphs, a fused graph with k connected components.

The fused graph is the mean of the graphs B_v of the views (samples x anchors, each sample on its nearest anchors) with
weights on the simplex. The weights and the nearest graph P with exactly k connected components are found in turn,

    min |sum_v w_v B_v - P|^2,   w on the simplex,   P with k components,

and the components are the clusters (Li et al., Multiview clustering: a scalable and parameter-free bipartite graph
fusion method, TPAMI 2022). Anchors are the same samples in all views, so their columns correspond. With
``anchors="flexible"`` every view has its own anchors, which must be aligned.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align import Adapter, AnchorGraphs, hookimpl, project_rows_on_simplex
from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import ScaledRows, is_distributed, parts_of, row_order, scaled_rows
from anchor_align.checks import check_choice, check_whole_number
from anchor_align.errors import InputError

from ._kmeans_anchors import anchors_of_views, check_n_anchors, kmeans_anchors
from ._nearest_anchors import nearest_anchor_graph
from ._rank import RankResult, rank_constrained_graph
from ._rank_parts import PartsResult, rank_constrained_parts, rank_constrained_rows
from ._sampling import alternate_sampling
from ._scaling import apply_scalers, scale_views, side_by_side

STYLES = ("alternate", "random", "kmeans", "flexible")
DEFAULT_FRACTION = 0.5
DEFAULT_MOST = 200


class SFMC(Adapter):
    """SFMC: sparse graphs on shared anchors, view weights, and components of the fused graph as clusters.

    Parameters
    ----------
    anchors : {"alternate", "random", "kmeans", "flexible"}, default="alternate"
        "alternate": samples from directly alternate sampling, the same in every view. "random": random samples, the
        same in every view. "kmeans": centres of k-means on all views together. "flexible": centres of k-means in each
        view, which are then aligned.
    n_neighbors : int, default=10
        Number of anchors that each sample is connected to, at most the number of anchors minus one.
    max_iter : int, default=10
        Rounds of weights and graph in turn.
    kmeans : {"full", "minibatch", "sample"}, default="full"
        Samples for the centres. "full": all samples. For millions of samples: "sample", a random sample of 500 for each
        anchor, 20,000 at least; "minibatch", 100 random batches, each a tenth of that size.
    scale : {"max", "standard", "spread", "unit", None}, default="max"
        Scale of each view. "max": the view is divided by its largest absolute entry, as in the released code.
        "standard": every feature has mean 0 and standard deviation 1. "spread": the view is divided by the root mean
        square standard deviation of its features. "unit": every sample has a mean square of 1. None: no scaling.

    Notes
    -----
    By default half of the samples are anchors, as in the paper, but at most 200: the time grows with the third power of
    their number. Alternate sampling uses double precision for views of any dtype. If no graph with exactly
    ``n_clusters`` components is found, there is a warning and the labels come from spectral clustering.

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
    in_content_order = True
    works_on_dask = True

    def __init__(
        self,
        anchors: str = "alternate",
        *,
        n_neighbors: int = 10,
        max_iter: int = 10,
        kmeans: str = "full",
        scale: str | None = "max",
    ) -> None:
        self.anchors = anchors
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.kmeans = kmeans
        self.scale = scale

    @property
    def views_apart(self) -> bool:
        """Whether every view has its own anchors."""
        return isinstance(self.anchors, str) and self.anchors == "flexible"

    def default_n_anchors(self, n_samples: int, n_clusters: int) -> int:
        """Half of the samples, at most 200, at least one for each cluster."""
        return max(min(int(DEFAULT_FRACTION * n_samples), DEFAULT_MOST), min(n_clusters, n_samples))

    def graph_bytes(self, n_samples: int, n_anchors: int, itemsize: int) -> int:
        """Memory of one graph: for every neighbour a weight in double precision and a column."""
        return n_samples * (12 * min(check_whole_number("n_neighbors", self.n_neighbors, least=1), n_anchors) + 4)

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int | Sequence[int], random_state: int
    ) -> AnchorGraphs:
        """Choose anchors by the method in ``anchors``."""
        check_choice("anchors", self.anchors, STYLES)
        check_whole_number("n_neighbors", self.n_neighbors, least=1)
        counts = check_n_anchors(n_anchors, views)
        if min(counts) < n_clusters:
            raise InputError(f"Each of {n_clusters} clusters needs an anchor of its own, got n_anchors={n_anchors}.")
        scaled, scalers = scale_views(views, self.scale)
        anchors = self._choose_anchors(scaled, counts, random_state)
        return AnchorGraphs((), anchors, aligned=self.anchors != "flexible", state=scalers)

    def view_weights(self, graphs: Sequence[Any], *, n_clusters: int, random_state: int) -> FloatArray:
        """Find the weights of the views and the graph with k components in turn."""
        weights = np.full(len(graphs), 1.0 / len(graphs))
        if len(graphs) == 1:
            return weights
        parts = parts_of(graphs[0]).zip(*map(parts_of, graphs[1:])).map(_as_sparse).keep()
        Q = parts.total(_products)
        for _ in range(check_whole_number("max_iter", self.max_iter, least=1)):
            fused = parts.map(_weighted_sum, weights)
            if is_distributed(graphs[0]):
                P = rank_constrained_parts(fused, n_clusters).graph
            else:
                P = fused.map(lambda G: rank_constrained_graph(G, n_clusters).graph)
            s = parts.zip(P).total(_products_with)
            before, weights = weights, simplex_weights(Q, s)
            if np.array_equal(before, weights):
                break
        return weights

    def cluster(self, graph: Any, *, n_clusters: int, random_state: int) -> IndexArray:
        """Return the connected components of the nearest graph with ``n_clusters`` components."""
        find: Callable[..., RankResult | PartsResult] = rank_constrained_graph
        if is_distributed(graph):
            find = rank_constrained_rows
        result = find(graph, n_clusters)
        if result.n_components == n_clusters:
            return result.labels
        warnings.warn(
            f"sfmc found {result.n_components} connected components after {result.n_iter} rounds, expected "
            f"{n_clusters}: the labels are those of spectral clustering instead.",
            stacklevel=2,
        )
        return super().cluster(graph, n_clusters=n_clusters, random_state=random_state)

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[sp.csr_array]:
        """Graphs of samples on the anchors."""
        graphs = []
        for X, A in zip(apply_scalers(views, learned.state), learned.anchors or (), strict=True):
            rows, shift = self._samples(X, slice(None))
            # Anchors that are sparse samples have no shift either.
            graphs.append(nearest_anchor_graph(rows, A if is_sparse(A) else A + shift, self.n_neighbors))
        return graphs

    def _choose_anchors(self, views: list[ScaledRows], counts: list[int], random_state: int) -> list[Any]:
        """Anchors of every view; common anchors have the same number in each."""
        if self.anchors == "flexible":
            return anchors_of_views(
                views, counts, scale=self.scale, n_init=1, random_state=random_state, kind=self.kmeans
            )
        n_anchors = counts[0]
        if self.anchors == "kmeans":
            together, kind = side_by_side(views), self.kmeans
            centres = kmeans_anchors(together, n_anchors, n_init=1, random_state=random_state, view=0, kind=kind)
            parts = np.split(centres, np.cumsum([X.shape[1] for X in views])[:-1], axis=1)
            # Sparse rows are not shifted.
            return [A - X.offset * X.factor if X.sparse else A for X, A in zip(views, parts, strict=True)]
        n = views[0].shape[0]
        if self.anchors == "random":
            places = np.random.default_rng(random_state).choice(n, n_anchors, replace=False)
            rows = row_order(*views, places=places)
        else:
            rows = alternate_sampling(views, n_anchors)
        return [self._samples(X, rows)[0] for X in views]

    def _samples(self, X: ScaledRows, rows: slice | IndexArray) -> tuple[Any, FloatArray]:
        """Scaled samples, and the shift that sparse ones lack; in double precision for alternate sampling."""
        if self.anchors != "alternate" or X.dtype == np.float64:
            return scaled_rows(X, rows)
        block = ScaledRows(X.array).block(rows).astype(np.float64)
        return scaled_rows(ScaledRows(block, X.centre, X.divisor, X.unit, X.known), slice(None))


def simplex_weights(Q: FloatArray, s: FloatArray, max_iter: int = 500, tol: float = 1e-8) -> FloatArray:
    """Minimise w' Q w - s' w on the simplex by accelerated projected gradient steps of adaptive length.

    The objective is of the order of the number of samples, and the outer rounds need no more digits. With this ``tol``
    the results are those of the released code.
    """
    w = previous = np.full(len(s), 1.0 / len(s))
    momentum = 1.0
    point, value = w, float(w @ Q @ w - s @ w)
    for _ in range(max_iter):
        gradient = 2.0 * Q @ point - s
        at_point = float(point @ Q @ point - s @ point)
        step = 0.5
        for _ in range(20):
            w = project_rows_on_simplex((point - step * gradient)[None])[0]
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


def _as_sparse(graphs: Sequence[Any]) -> list[sp.csr_array]:
    return [sp.csr_array(B) for B in graphs]


def _products(graphs: list[sp.csr_array]) -> FloatArray:
    return np.array([[float(B.multiply(C).sum()) for C in graphs] for B in graphs])


def _products_with(item: tuple[list[sp.csr_array], sp.csr_array]) -> FloatArray:
    graphs, P = item
    return np.array([2.0 * float(B.multiply(P).sum()) for B in graphs])


def _weighted_sum(graphs: list[sp.csr_array], weights: FloatArray) -> Any:
    total = graphs[0] * weights[0]
    for B, weight in zip(graphs[1:], weights[1:], strict=True):
        total = total + B * weight
    return total


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Adapters of this module."""
    return [SFMC]
