"""What can be said about the number of clusters without labels: four curves, and no recommendation.

All numbers share the same anchor graphs, those for the largest number, so that the curves depend on the number of
clusters only. Agreement and gap follow from the graphs alone; stability and prediction strength need clusters.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IndexArray
from ..blocks import working
from ..checks import MOST_REPEATS, check_callback, check_seed, check_whole_number, is_iterable
from ..errors import InputError, InputTypeError, MissingExtraError, shown
from ..fusion import Fusion
from ..graphs import leading_agreement, samples_of
from ..matching import check_lam
from ..plugins import Adapter, contained
from ._anchor_rules import AnchorRule
from ._candidates import Candidate
from ._criteria import pair_agreements
from ._pipeline import Fused, Pipeline, ViewGraphs, check_fusion, count_anchors
from ._prediction import Prediction, cluster_means, fused_graph, nearest_mean
from ._ranking import DRAWS, SAMPLE, draw_seeds, sample_views
from ._sample_order import in_order_of_fit
from ._views import Views, check_views

# What each curve shows, in a few words.
CURVE_SUMMARIES = {
    "agreement": "agreement of the views' leading directions",
    "stability": "agreement of clusters over draws of anchors (ARI)",
    "prediction_strength": "clusters of one half of the samples found again from the other half",
    "gap": "relative gap between neighbouring singular values of the fused graph",
}
# What people must know who see the curves.
CAUTION = (
    "A peak is no recommendation: on data sets with known clusters, no curve has its peak at the known number on most "
    "of them."
)


@dataclass(frozen=True)
class ClusterCurve:
    """One curve.

    Attributes
    ----------
    name : str
    values : tuple of float
        For every number of clusters, the mean over draws; "stability" over pairs of draws.
    sd : tuple of float or None
        The standard deviation over the same; None for a single draw, or a single pair.
    """

    name: str
    values: tuple[float, ...]
    sd: tuple[float, ...] | None


@dataclass(frozen=True)
class ClusterCurves:
    """The result of :func:`cluster_number_curves`.

    Attributes
    ----------
    n_clusters : tuple of int
        The numbers, rising.
    curves : tuple of ClusterCurve
        "agreement" (not for one view), "stability" (not for one draw), "prediction_strength" and "gap".
    n_samples, n_draws : int
        Size of the sample, and number of draws of anchors.
    """

    n_clusters: tuple[int, ...]
    curves: tuple[ClusterCurve, ...]
    n_samples: int
    n_draws: int

    @property
    def peaks(self) -> dict[str, int]:
        """The number at which each curve is highest, the smallest of equal ones. No peak is a recommendation."""
        return {each.name: self.n_clusters[int(np.argmax(np.round(each.values, 12)))] for each in self.curves}

    def __repr__(self) -> str:
        return f"ClusterCurves({self.n_clusters[0]} to {self.n_clusters[-1]}, peaks {self.peaks})"

    def to_frame(self) -> Any:
        """The curves as a pandas DataFrame, a row for every number of clusters."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("A table needs pandas, which is not installed: pip install pandas.") from error
        return pd.DataFrame({"n_clusters": self.n_clusters, **{each.name: each.values for each in self.curves}})


def cluster_number_curves(
    views: Any,
    numbers: Iterable[int] = range(2, 21),
    adapter: str | Adapter = "local",
    *,
    adapter_params: dict[str, Any] | None = None,
    n_anchors: AnchorRule | None = None,
    fusion: str | Fusion = "aligned",
    lam: float = 0.1,
    draws: int = DRAWS,
    sample: int = SAMPLE,
    mask: Any = None,
    missing: str = "error",
    join: str | None = None,
    column_groups: Any = None,
    random_state: Any = None,
    callback: Callable[[int, int], object] | None = None,
) -> ClusterCurves:
    """Measure how well the data support each number of clusters; no labels are used.

    Parameters
    ----------
    views : as for :meth:`AlignedClusterer.fit`
    numbers : iterable of int, default=range(2, 21)
        Numbers of clusters, 2 or more.
    adapter, adapter_params, n_anchors, fusion, lam
        As for :class:`AlignedClusterer`; the adapter must cluster spectrally. The number of anchors is that for the
        largest number of clusters.
    draws : int, default=3
        Draws of anchors.
    sample : int, default=2000
        Most samples that are used.
    mask, missing, join, column_groups
        As for :class:`AlignedClusterer`.
    random_state : int, Generator, RandomState or None, default=None
    callback : callable, optional
        Called as ``callback(done, total)``, first with ``done=0``: three clusterings for every number and draw, of the
        sample and of its halves.

    Returns
    -------
    ClusterCurves
        agreement: of the leading directions of the views' graphs, one fewer than clusters. stability: mean adjusted
        Rand index between draws. prediction_strength (Tibshirani and Walther, 2005): two halves of the samples are
        clustered; of the pairs that share a cluster of one half, the part that the clusters of the other half put
        together, too; the smallest part over all clusters. gap: 1 minus the ratio of singular value k + 1 to k.

    Examples
    --------
    >>> from anchor_align import cluster_number_curves
    >>> from anchor_align.data import make_simulated
    >>> curves = cluster_number_curves(make_simulated(0).views, range(2, 7), random_state=0)
    >>> curves.peaks["prediction_strength"]
    4
    """
    wanted = _check_numbers(numbers)
    check_callback(callback)
    candidate = Candidate(adapter, {} if adapter_params is None else adapter_params, n_anchors, fusion, check_lam(lam))
    checked = check_views(views, column_groups, mask=mask, missing=missing, join=join)
    if checked.distributed:
        raise InputError("The number of clusters is explored in memory; pass a sample of the views of the cluster.")
    seed, n_draws = check_seed(random_state), check_whole_number("draws", draws, least=1, most=MOST_REPEATS)
    taken = sample_views(checked, check_whole_number("sample", sample, least=4), seed)
    if taken.n_samples < 2 * wanted[-1]:
        raise InputError(f"Halves of {taken.n_samples} samples are too small for {wanted[-1]} clusters.")
    total, done = 3 * n_draws * len(wanted), 0

    def step() -> None:
        nonlocal done
        done += 1
        if callback is not None:
            callback(done, total)

    if callback is not None:
        callback(0, total)
    found: list[_Draw] = []
    with working(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer clusters than asked for are a part of what the curves show
        for each in draw_seeds(seed, n_draws):
            with contained(each):
                found.append(_one_draw(candidate, taken, wanted, each, step))
    return ClusterCurves(wanted, tuple(_curves(found)), taken.n_samples, n_draws)


def _check_numbers(numbers: Any) -> tuple[int, ...]:
    if isinstance(numbers, str) or not is_iterable(numbers):
        raise InputTypeError(f"numbers must list numbers of clusters, such as range(2, 21), got {shown(numbers)}.")
    wanted = tuple(sorted({check_whole_number("numbers", each, least=2) for each in numbers}))
    if not wanted:
        raise InputError("numbers is empty; expected one number of clusters or more.")
    return wanted


@dataclass(frozen=True, eq=False)
class _Draw:
    agreement: FloatArray | None
    labels: list[IndexArray]
    strength: list[float]
    gap: FloatArray


@dataclass(frozen=True, eq=False)
class _Half:
    """A fit of some samples, before the number of clusters is known."""

    pipeline: Pipeline
    graphs: ViewGraphs
    fused: Fused
    views: Views


def _one_draw(candidate: Candidate, views: Views, numbers: Sequence[int], seed: int, step: Callable[[], None]) -> _Draw:
    whole = _fit(candidate, views, numbers[-1], seed)
    labels = []
    for k in numbers:
        labels.append(replace(whole.pipeline, n_clusters=k).cluster(whole.fused).labels)
        step()
    order = np.random.default_rng(seed).permutation(views.content_order())
    cut = len(order) // 2
    halves = [_fit(candidate, views.take(np.sort(at)), numbers[-1], seed) for at in (order[:cut], order[cut:])]
    strength = _strengths(halves, numbers, step)
    agreement = leading_agreement(whole.graphs.grams, numbers[-1])
    values = whole.fused.embed(numbers[-1] + 1)[0].singular_values[: numbers[-1] + 1]
    values = np.pad(values, (0, numbers[-1] + 1 - len(values)))
    gaps = 1.0 - values[1:] / np.where(values[:-1] > 0, values[:-1], np.inf)
    at = np.array(numbers)
    # Centred graphs of k clusters have k - 1 directions.
    return _Draw(None if agreement is None else agreement[at - 2], labels, strength, gaps[at - 1])


def _fit(candidate: Candidate, views: Views, n_clusters: int, seed: int) -> _Half:
    adapter = candidate.make_adapter()
    if not adapter.clusters_spectrally:
        raise InputError(f"Adapter {adapter.name!r} does not cluster spectrally; use another one.")
    fusion = check_fusion(adapter, candidate.fusion)
    n_anchors = count_anchors(
        adapter,
        candidate.anchors(n_clusters),
        views.n_learnable(adapter.views_apart),
        n_clusters,
        len(views.matrices),
    )
    pipeline = Pipeline(adapter, n_clusters, n_anchors, seed)
    views = in_order_of_fit(adapter, views)
    graphs = pipeline.build(views)
    return _Half(pipeline, graphs, pipeline.fuse(graphs, fusion, candidate.lam), views)


def _strengths(halves: Sequence[_Half], numbers: Sequence[int], step: Callable[[], None]) -> list[float]:
    """Prediction strength for every number, the mean of both directions."""
    # The graph of each half on the anchors of the other.
    crossed = [_graph_of(halves[1 - side].views, halves[side]) for side in (0, 1)]
    found = []
    for k in numbers:
        clusterings = []
        for half in halves:
            clusterings.append(replace(half.pipeline, n_clusters=k).cluster(half.fused))
            step()
        both = []
        for side, clustering in enumerate(clusterings):
            assert clustering.embedding is not None
            assert clustering.vectors is not None
            means = cluster_means(clustering.vectors, clustering.labels, clustering.n_found)
            predicted = nearest_mean(clustering.embedding.unit_rows(crossed[side]), means)
            both.append(prediction_strength(clusterings[1 - side].labels, predicted))
        found.append(float(np.mean(both)))
    return found


def _graph_of(views: Views, half: _Half) -> Any:
    """Fused graph of other samples on the anchors of a half."""
    adapter = half.graphs.adapter
    embedding = half.fused.embed(1)[0]
    rows = Prediction(
        adapter, half.graphs.learned, half.graphs.rows.sizes, half.fused.rows.recipe, embedding, np.empty((0, 0)), None
    )
    samples = views.matrices if adapter.works_by_blocks else views.floats()
    return fused_graph(samples_of(samples, slice(0, views.n_samples), views.mask), rows, views.mask)


def prediction_strength(labels: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """Smallest part, over the clusters, of the pairs in a cluster that the prediction puts together, too.

    Clusters of one sample have no pair and do not count.

    Examples
    --------
    >>> prediction_strength([0, 0, 0, 1, 1], [5, 5, 5, 2, 2]), prediction_strength([0, 0, 1, 1], [0, 0, 0, 1])
    (1.0, 0.0)
    """
    found, other = np.asarray(labels), np.asarray(predicted)
    parts = []
    for cluster in np.unique(found):
        counts = np.unique(other[found == cluster], return_counts=True)[1]
        n = int(counts.sum())
        if n > 1:
            parts.append(float((counts * (counts - 1)).sum()) / (n * (n - 1)))
    return min(parts, default=0.0)


def _curves(draws: Sequence[_Draw]) -> Iterable[ClusterCurve]:
    agreements = [each.agreement for each in draws if each.agreement is not None]
    if agreements:
        yield _curve("agreement", agreements)
    if len(draws) > 1:
        by_number = zip(*(each.labels for each in draws), strict=True)
        yield _curve("stability", list(np.array([pair_agreements(labels) for labels in by_number]).T))
    yield _curve("prediction_strength", [np.array(each.strength) for each in draws])
    yield _curve("gap", [each.gap for each in draws])


def _curve(name: str, draws: Sequence[FloatArray]) -> ClusterCurve:
    """A curve from rows of values, one row for each draw or pair of draws."""
    table = np.stack(draws)
    sd = tuple(map(float, table.std(axis=0, ddof=1))) if len(table) > 1 else None
    return ClusterCurve(name, tuple(map(float, table.mean(axis=0))), sd)
