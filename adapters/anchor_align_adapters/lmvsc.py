"""LMVSC: k-means anchors, and each sample as their nearest convex combination.

For one view X with anchors A (m x features) each row z of the graph is the exact solution of

    min |x - z A|^2 + alpha |z|^2,   z >= 0,   sum z = 1

(Kang et al., Large-scale multi-view subspace clustering in linear time, AAAI 2020). The paper puts the graphs side by
side, ``fusion="concat"``: no permutation of anchors can change that result. With aligned anchors their mean, which has
fewer columns, can be used instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anchor_align import Adapter, AnchorGraphs, hookimpl, simplex_least_squares
from anchor_align.blocks import scaled_rows
from anchor_align.checks import check_number

from ._kmeans_anchors import anchors_of_views, check_n_anchors
from ._scaling import apply_scalers, scale_views


class LMVSC(Adapter):
    """LMVSC: k-means anchors, graph rows by simplex-constrained least squares, spectral clustering.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the ridge, >= 0; large values spread each sample over more anchors. It is compared with squared
        distances of samples, so its meaning depends on ``scale``.
    scale : {"spread", "standard", "unit", "max", None}, default="spread"
        Scale of each view. "spread": the view is divided by the root mean square standard deviation of its features, so
        that ``alpha`` has the same meaning for every view. "standard": every feature has mean 0 and standard deviation
        1, for features in different units. "unit": every sample has a mean square of 1, for word counts. "max": the
        view is divided by its largest absolute entry. None: no scaling, as in the paper.
    n_init : int, default=1
        Runs of k-means; the best run is used.
    kmeans : {"full", "minibatch", "sample"}, default="full"
        "full": k-means on all samples. For millions of samples: "sample", k-means on a random sample of 500 for each
        anchor, 20,000 at least; "minibatch", k-means on 100 random batches, each a tenth of that size.
    column_scaling : float or None, default=None
        Scale of the columns of the fused graph before its embedding: each is divided by the root of its sum plus
        ``column_scaling`` times the mean of all sums. None: no scaling, as in the paper.
    directions : float, default=1.0
        Singular directions of the embedding for each cluster, 1 or more. With more than 1, they are weighted by their
        singular values.
    match_by_clusters : bool, default=False
        Match anchors by the clusters of a first clustering, that of the graphs side by side; the objective of the
        alignment decides between anchors of the same cluster. False, or if samples are missing: by the objective alone.

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> clusterer = AlignedClusterer("lmvsc", n_clusters=4, n_anchors=4, random_state=0)
    >>> acc(data.labels, clusterer.fit_predict(data.views))
    1.0
    """

    name = "lmvsc"
    in_content_order = True
    works_on_dask = True
    views_apart = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        scale: str | None = "spread",
        n_init: int = 1,
        kmeans: str = "full",
        column_scaling: float | None = None,
        directions: float = 1.0,
        match_by_clusters: bool = False,
    ) -> None:
        self.alpha = alpha
        self.scale = scale
        self.n_init = n_init
        self.kmeans = kmeans
        self.column_scaling = column_scaling
        self.directions = directions
        self.match_by_clusters = match_by_clusters

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int | Sequence[int], random_state: int
    ) -> AnchorGraphs:
        """Find the k-means anchors of every view, with its own seed."""
        check_number("alpha", self.alpha)
        counts = check_n_anchors(n_anchors, views)
        scaled, scalers = scale_views(views, self.scale)
        anchors = anchors_of_views(
            scaled, counts, scale=self.scale, n_init=self.n_init, random_state=random_state, kind=self.kmeans
        )
        return AnchorGraphs((), anchors, state=scalers)

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[np.ndarray]:
        """Graphs of samples on the anchors."""
        alpha = check_number("alpha", self.alpha)
        graphs = []
        for X, A in zip(apply_scalers(views, learned.state), learned.anchors or (), strict=True):
            rows, shift = scaled_rows(X, slice(None))
            # Rows of a graph sum to one, so a shift common to samples and anchors changes nothing.
            graphs.append(simplex_least_squares(rows, A + shift, alpha))
        return graphs


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Adapters of this module."""
    return [LMVSC]
