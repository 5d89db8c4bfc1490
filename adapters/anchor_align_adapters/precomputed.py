"""Graphs that already exist: made in MATLAB, in R, or in another process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anchor_align import Adapter, AnchorGraphs, hookimpl
from anchor_align.checks import check_flag


class Precomputed(Adapter):
    """Precomputed anchor graphs take the place of the views; only fusion and clustering run here.

    The graphs determine the numbers of anchors, which may differ: ``n_anchors`` is not used.

    Parameters
    ----------
    aligned : bool, default=False
        True if the columns of the graphs already correspond; they then stay in their order.
    column_scaling : float or None, default=None
        Scale of the columns of the fused graph before its embedding: each is divided by the root of its sum plus
        ``column_scaling`` times the mean of all sums. None: no scaling.
    directions : float, default=1.0
        Singular directions of the embedding for each cluster, 1 or more. With more than 1, they are weighted by their
        singular values.
    match_by_clusters : bool, default=False
        Match anchors by the clusters of a first clustering, that of the graphs side by side; the objective of the
        alignment decides between anchors of the same cluster. False, or if samples are missing: by the objective alone.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import AlignedClusterer
    >>> Z0 = np.array([[1.0, 0.0], [0.9, 0.1], [0.1, 0.9], [0.0, 1.0]])
    >>> Z1 = np.array([[0.1, 0.9], [0.0, 1.0], [1.0, 0.0], [0.9, 0.1]])
    >>> AlignedClusterer("precomputed", n_clusters=2, random_state=0).fit([Z0, Z1]).fused_graph_.round(2)
    array([[0.95, 0.05],
           [0.95, 0.05],
           [0.05, 0.95],
           [0.05, 0.95]])
    """

    name = "precomputed"
    in_content_order = True
    chooses_n_anchors = True
    works_on_dask = True
    views_apart = True

    def __init__(
        self,
        aligned: bool = False,
        *,
        column_scaling: float | None = None,
        directions: float = 1.0,
        match_by_clusters: bool = False,
    ) -> None:
        self.aligned = aligned
        self.column_scaling = column_scaling
        self.directions = directions
        self.match_by_clusters = match_by_clusters

    def default_n_anchors(self, n_samples: int, n_clusters: int) -> int:
        """Not used: the graphs determine the numbers of anchors."""
        return 1

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """The views themselves."""
        return AnchorGraphs(views, aligned=check_flag("aligned", self.aligned))

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Learn nothing; the graphs are read one block at a time."""
        return AnchorGraphs((), aligned=check_flag("aligned", self.aligned))

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> Sequence[Any]:
        """The views themselves."""
        return views


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Adapters of this module."""
    return [Precomputed]
