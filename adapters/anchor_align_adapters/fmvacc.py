"""FMVACC: orthogonal anchors and graphs by alternation, spectral clustering of the aligned mean.

Wang et al., Align then fusion: generalized large-scale multi-view clustering with anchor matching correspondences,
NeurIPS 2022. The alternation is in :mod:`._alternation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sklearn.base import clone

from anchor_align import Adapter, AnchorGraphs, hookimpl
from anchor_align.arrays import FloatArray
from anchor_align.blocks import ScaledRows
from anchor_align.checks import check_flag, check_number, check_whole_number

from ._alternation import Settings, alternate, best_graph
from ._kmeans_anchors import anchors_of_views, check_n_anchors
from ._scaling import apply_scalers, scale_views


class FMVACC(Adapter):
    """FMVACC: orthogonal anchors and graphs by alternation, spectral clustering of the aligned mean.

    Parameters
    ----------
    beta : float, default=1.0
        Weight of the ridge on the graph, >= 0; large values spread each sample over more anchors.
    orthogonal : bool, default=True
        Orthonormal anchors in views with at least as many features as anchors; False is the ablation of the paper.
    max_iter : int, default=50
        Largest number of rounds of the alternation.
    tol : float, default=1e-6
        The alternation ends if the relative change of the objective is at most ``tol``.
    scale : {"standard", "spread", "unit", "max", None}, default="standard"
        Scale of each view. "standard": every feature has mean 0 and standard deviation 1, as in the paper. "spread":
        the view is divided by the root mean square standard deviation of its features. "unit": every sample has a mean
        square of 1. "max": the view is divided by its largest absolute entry. None: no scaling.
    n_init : int, default=10
        Runs of the k-means for the first anchors; the best run is used.
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
    >>> clusterer = AlignedClusterer("fmvacc", n_clusters=4, n_anchors=4, random_state=0)
    >>> acc(data.labels, clusterer.fit_predict(data.views))
    1.0
    """

    name = "fmvacc"
    in_content_order = True
    works_on_dask = True
    views_apart = True

    def __init__(
        self,
        beta: float = 1.0,
        *,
        orthogonal: bool = True,
        max_iter: int = 50,
        tol: float = 1e-6,
        scale: str | None = "standard",
        n_init: int = 10,
        kmeans: str = "full",
        column_scaling: float | None = None,
        directions: float = 1.0,
        match_by_clusters: bool = False,
    ) -> None:
        self.beta = beta
        self.orthogonal = orthogonal
        self.max_iter = max_iter
        self.tol = tol
        self.scale = scale
        self.n_init = n_init
        self.kmeans = kmeans
        self.column_scaling = column_scaling
        self.directions = directions
        self.match_by_clusters = match_by_clusters

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int | Sequence[int], random_state: int
    ) -> AnchorGraphs:
        """Learn the anchors of every view by alternation, from k-means anchors with its own seed."""
        settings = self._checked()
        counts = check_n_anchors(n_anchors, views)
        scaled, scalers = scale_views(views, self.scale)
        starts = self._starts(scaled, counts, random_state)
        anchors = [alternate(X, start, settings).anchors for X, start in zip(scaled, starts, strict=True)]
        return AnchorGraphs((), anchors, state=scalers)

    def path(
        self, views: Sequence[Any], betas: Iterable[float], *, n_anchors: int, random_state: int
    ) -> Iterator[tuple[FMVACC, AnchorGraphs]]:
        """Anchors for several values of ``beta``. Each search starts from the anchors before it, which is faster.

        The objective may end in another minimum than with a new start, usually in an equally good one.

        Parameters
        ----------
        views : as for :meth:`learn_anchors`
        betas : iterable of float
            Best in ascending or descending order, so that neighbours are similar.
        n_anchors, random_state : int

        Yields
        ------
        adapter : FMVACC
            A copy with the next ``beta``; its :meth:`new_graphs` makes graphs.
        learned : AnchorGraphs
            Without graphs, as from :meth:`learn_anchors`.

        Examples
        --------
        >>> from anchor_align.data import make_simulated
        >>> from anchor_align_adapters.fmvacc import FMVACC
        >>> views = make_simulated(0).views
        >>> for adapter, learned in FMVACC().path(views, [0.01, 1.0], n_anchors=2, random_state=0):
        ...     print(adapter.beta, adapter.new_graphs(views, learned)[0].shape)
        0.01 (200, 2)
        1.0 (200, 2)
        """
        self._checked()
        counts = check_n_anchors(n_anchors, views)
        scaled, scalers = scale_views(views, self.scale)
        anchors = self._starts(scaled, counts, random_state)
        for number, beta in enumerate(betas):
            adapter: FMVACC = clone(self).set_params(beta=beta)
            settings = adapter._checked()
            anchors = [alternate(X, A, settings, warm=number > 0).anchors for X, A in zip(scaled, anchors, strict=True)]
            yield adapter, AnchorGraphs((), anchors, state=scalers)

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[FloatArray]:
        """Graphs of samples on the anchors."""
        settings = self._checked()
        scaled = apply_scalers(views, learned.state)
        return [best_graph(X, A, settings) for X, A in zip(scaled, learned.anchors or (), strict=True)]

    def _starts(self, views: list[ScaledRows], n_anchors: list[int], random_state: int) -> list[FloatArray]:
        return anchors_of_views(
            views, n_anchors, scale=self.scale, n_init=self.n_init, random_state=random_state, kind=self.kmeans
        )

    def _checked(self) -> Settings:
        return Settings(
            check_number("beta", self.beta),
            check_flag("orthogonal", self.orthogonal),
            check_whole_number("max_iter", self.max_iter, least=1),
            check_number("tol", self.tol),
        )


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Adapters of this module."""
    return [FMVACC]
