"""Local anchor graphs: k-means anchors in every view, each sample on its nearest anchors, spectral clustering.

The weights have a closed form (:mod:`._nearest_anchors`), so there is no kernel width and nothing to solve. Graphs are
sparse: ``n_neighbors`` entries in a row. More anchors than in other methods, and the scale of the views, matter most
for the clusters; see the page of the adapter in the documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.sparse as sp

from anchor_align import Adapter, AnchorGraphs, hookimpl
from anchor_align.arrays import BoolArray
from anchor_align.blocks import scaled_rows
from anchor_align.checks import check_choice, check_whole_number

from ._kmeans_anchors import anchors_of_views, check_n_anchors
from ._nearest_anchors import distinct_anchors, graph_on_distinct
from ._scale_choice import choose_scales
from ._scaling import SCALES, apply_scalers, scale_views

ANCHORS_PER_CLUSTER, SAMPLES_PER_ANCHOR, MOST_ANCHORS = 10, 3, 400
AUTO, CHOSEN_FROM = "auto", ("unit", "standard")


class Local(Adapter):
    """Local anchor graphs: k-means anchors, each sample on its nearest ones, spectral clustering.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of anchors that each sample is connected to, at most the number of distinct anchors minus one.
    scale : {"auto", "unit", "standard", "spread", "max", None}, or a list with one for each view, default="auto"
        Scale of each view. "auto": "unit", but "standard" for views that then agree clearly better with the others,
        see ``AlignedClusterer.chosen_``. "unit": every sample has a mean square of 1, so that only its direction
        counts; samples of zeros stay zero and have equal rows in the graph. "standard": every feature has mean 0 and
        standard deviation 1, for features in different units, and for clusters that differ by the length of their
        samples. "spread" and "max" divide the whole view by one number and give the same graph as None, no scaling.
    column_scaling : float or None, default=1.0
        Scale of the columns of the fused graph before its embedding: each is divided by the root of its sum plus
        ``column_scaling`` times the mean of all sums. None: no scaling.
    directions : float, default=1.5
        Singular directions of the embedding for each cluster, 1 or more. With more than 1, they are weighted by their
        singular values.
    match_by_clusters : bool, default=True
        Match anchors by the clusters of a first clustering, that of the graphs side by side; the objective of the
        alignment decides between anchors of the same cluster. False, or if samples are missing: by the objective alone.
    n_init : int, default=1
        Runs of k-means; the best run is used.
    kmeans : {"full", "minibatch", "sample"}, default="full"
        "full": k-means on all samples. For millions of samples: "sample", k-means on a random sample of 500 for each
        anchor, 20,000 at least; "minibatch", k-means on 100 random batches, each a tenth of that size.
    max_iter : int, default=30
        Most rounds of k-means. Up to a few thousand samples it ends earlier. With more samples the number of rounds
        would grow with them, for anchors that are hardly better.

    Notes
    -----
    By default there are ten anchors for each cluster, at most a third of the samples and at most 400, because the time
    of the alignment grows with the third power of their number; but at least two for each cluster.

    Of anchors that coincide, which a view with few distinct samples has, only the first is used; the columns of the
    others are zero. If a sample is equally far from all its nearest anchors, their weights are equal. If all anchors of
    a view coincide, every sample has weight one on the first.

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> clusterer = AlignedClusterer("local", n_clusters=4, random_state=0)
    >>> acc(data.labels, clusterer.fit_predict(data.views))
    1.0
    """

    name = "local"
    in_content_order = True
    works_on_dask = True
    views_apart = True

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        scale: str | Sequence[str | None] | None = "auto",
        column_scaling: float | None = 1.0,
        directions: float = 1.5,
        match_by_clusters: bool = True,
        n_init: int = 1,
        kmeans: str = "full",
        max_iter: int = 30,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.column_scaling = column_scaling
        self.directions = directions
        self.match_by_clusters = match_by_clusters
        self.n_init = n_init
        self.kmeans = kmeans
        self.max_iter = max_iter

    def default_n_anchors(self, n_samples: int, n_clusters: int) -> int:
        """Ten for each cluster, at most a third of the samples and 400; but at least two for each cluster."""
        most = min(ANCHORS_PER_CLUSTER * n_clusters, n_samples // SAMPLES_PER_ANCHOR, MOST_ANCHORS)
        return max(most, super().default_n_anchors(n_samples, n_clusters))

    def graph_bytes(self, n_samples: int, n_anchors: int, itemsize: int) -> int:
        """Memory of one graph: for every neighbour a weight and a column."""
        neighbours = min(check_whole_number("n_neighbors", self.n_neighbors, least=1), n_anchors)
        return n_samples * ((itemsize + 4) * neighbours + 4)

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int | Sequence[int], random_state: int
    ) -> AnchorGraphs:
        """Find the k-means anchors of every view, with its own seed."""
        check_whole_number("n_neighbors", self.n_neighbors, least=1)
        if self.scale is not None and not isinstance(self.scale, (list, tuple)):
            check_choice("scale", self.scale, (*SCALES, AUTO))
        counts = check_n_anchors(n_anchors, views)
        scale: Any = self.scale
        if self._chooses_scale:  # a fit has chosen before; this is a call without a fit
            scale, _ = choose_scales(views, CHOSEN_FROM, counts, self.n_neighbors, random_state)
        scaled, scalers = scale_views(views, scale)
        anchors = anchors_of_views(
            scaled,
            counts,
            scale=scale,
            n_init=self.n_init,
            random_state=random_state,
            kind=self.kmeans,
            max_iter=self.max_iter,
        )
        return AnchorGraphs((), anchors, state=(scalers, [distinct_anchors(A) for A in anchors]))

    def choose_settings(
        self, views: Sequence[Any], *, n_anchors: Any, random_state: int, mask: BoolArray | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """For ``scale="auto"``, the scale of each view; the scores are its agreements with the others."""
        if not self._chooses_scale:
            return {}, {}
        neighbours = check_whole_number("n_neighbors", self.n_neighbors, least=1)
        counts = check_n_anchors(n_anchors, views)
        scales, scores = choose_scales(views, CHOSEN_FROM, counts, neighbours, random_state, mask)
        return {"scale": scales}, scores

    @property
    def _chooses_scale(self) -> bool:
        return isinstance(self.scale, str) and self.scale == AUTO

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[sp.csr_array]:
        """Graphs of samples on the anchors."""
        scalers, distinct = learned.state
        graphs = []
        for X, A, used in zip(apply_scalers(views, scalers), learned.anchors or (), distinct, strict=True):
            rows, shift = scaled_rows(X, slice(None))
            graphs.append(graph_on_distinct(rows, A + shift, used, self.n_neighbors, X.dtype))
        return graphs


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Adapters of this module."""
    return [Local]
