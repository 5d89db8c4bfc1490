"""What can be known about a fit without labels: agreement of views, its chance level, stability, the odd view out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from ..arrays import BoolArray, FloatArray, IndexArray
from ..blocks import working
from ..checks import MOST_REPEATS, check_whole_number
from ..errors import AnchorAlignError, InputError, InputTypeError, shown
from ..graphs import GramMatrices, StoredGraphs, pair_agreement
from ..metrics import ari
from ..plugins import made_graphs
from ._estimator import AlignedClusterer
from ._ranking import SAMPLE, draw_seeds, sample_rows
from ._views import Views, check_views

DRAWS, SHUFFLES = 5, 5


@dataclass(frozen=True, eq=False)
class FitQuality:
    """What is known about a fit without labels, measured on a sample of its samples.

    Attributes
    ----------
    names : tuple of str
        The views.
    rows : ndarray of int of shape (n_used,)
        The samples that were used, in the order of the data.
    agreement : ndarray of shape (n_views, n_views)
        Linear CKA of every pair of views; NaN on the diagonal and for views without a common sample.
    chance : ndarray of shape (n_views, n_views)
        The same with the samples of every view shuffled: the mean of a few shuffles.
    alone : tuple of float or None
        For each view, the adjusted Rand index between the clusters and those that the view gives alone, on its samples.
        None where this cannot be said.
    stability : tuple of float
        Adjusted Rand index between the clusters and those of a fit with other anchors, for each draw of anchors.
    vectors : ndarray of shape (n_used, n_directions)
        Coordinates of the samples that were used in the embedding.
    """

    names: tuple[str, ...]
    rows: IndexArray
    agreement: FloatArray
    chance: FloatArray
    alone: tuple[float | None, ...]
    stability: tuple[float, ...]
    vectors: npt.NDArray[Any]


def fit_quality(
    clusterer: AlignedClusterer, views: Any, *, draws: int = DRAWS, sample: int = SAMPLE, mask: Any = None
) -> FitQuality:
    """Measure what can be known about a fit without labels.

    Parameters
    ----------
    clusterer : AlignedClusterer
        Fitted on these views.
    views, mask : as in :meth:`anchor_align.AlignedClusterer.fit`
    draws : int, default=5
        Fits with other anchors, for the stability.
    sample : int, default=2000
        Most samples that are used.

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.clustering import fit_quality
    >>> from anchor_align.data import make_simulated
    >>> views = make_simulated(0).views
    >>> quality = fit_quality(AlignedClusterer(n_clusters=4, random_state=0).fit(views), views, draws=2)
    >>> bool(quality.agreement[0, 1] > quality.chance[0, 1]), [round(each, 2) for each in quality.stability]
    (True, [1.0, 1.0])
    """
    if not isinstance(clusterer, AlignedClusterer):
        raise InputTypeError(f"clusterer must be a fitted AlignedClusterer, got {shown(clusterer)}.")
    n_draws, most = check_whole_number("draws", draws, most=MOST_REPEATS), check_whole_number("sample", sample, least=4)
    given = check_views(
        views, clusterer.column_groups, mask=mask, missing=clusterer.missing, join=clusterer.join
    ).ordered_as(clusterer._layout)
    if given.distributed:
        raise InputError("Fits are assessed in memory; pass a sample of the views of the cluster.")
    if given.n_samples != len(clusterer.labels_):
        raise InputError(f"The clusterer was fitted on {len(clusterer.labels_)} samples; got {given.n_samples}.")
    rows = sample_rows(given, most, 0)
    taken = given.take(rows)
    labels = np.asarray(clusterer.labels_)[rows]
    with working():
        vectors = clusterer._prediction.vectors(taken)
        agreement, chance = _agreement(clusterer, taken)
        alone = tuple(_alone(clusterer, taken, labels, view) for view in range(len(taken.matrices)))
    stability = _stability(clusterer, taken, labels, n_draws)
    return FitQuality(given.names, rows, agreement, chance, alone, stability, vectors)


def _agreement(clusterer: AlignedClusterer, views: Views) -> tuple[FloatArray, FloatArray]:
    """Agreement of all pairs of views, and its mean over shuffles of the samples that each view has."""
    prediction = clusterer._prediction
    samples = views.matrices if prediction.adapter.works_by_blocks else views.floats()
    light = replace(prediction.learned, graphs=())
    graphs = made_graphs(prediction.adapter, samples, light, views.mask).stored()
    found = pair_agreement(GramMatrices.of_set(graphs))
    rng = np.random.default_rng(0)
    shuffled = []
    for _ in range(SHUFFLES):
        mixed = []
        for view, Z in enumerate(graphs.graphs):
            order = np.arange(views.n_samples)
            present = order if views.mask is None else np.flatnonzero(views.mask[view])
            order[present] = rng.permutation(present)
            mixed.append(Z[order])
        shuffled.append(pair_agreement(GramMatrices.of_set(StoredGraphs(mixed, views.mask))))
    return found, np.asarray(np.mean(shuffled, axis=0))


def _alone(clusterer: AlignedClusterer, views: Views, labels: IndexArray, view: int) -> float | None:
    """Adjusted Rand index between the labels and those of one view alone; None if the view cannot stand alone."""
    n_views, prediction = len(views.matrices), clusterer._prediction
    if n_views == 1 or not prediction.adapter.works_by_blocks:
        return None
    present = np.arange(views.n_samples) if views.mask is None else np.flatnonzero(views.mask[view])
    if len(present) < 2:
        return None
    mask: BoolArray = np.zeros((n_views, len(present)), dtype=bool)
    mask[view] = True
    try:
        found = prediction.labels(replace(views.take(present), mask=mask))
    except AnchorAlignError:  # its weight is zero
        return None
    return ari(labels[present], found)


def _stability(clusterer: AlignedClusterer, views: Views, labels: IndexArray, draws: int) -> tuple[float, ...]:
    """Adjusted Rand index between the labels and those of fits with other anchors."""
    if len(labels) < clusterer.n_clusters:
        return ()
    named = dict(zip(views.names, views.matrices, strict=True))
    found = []
    for seed in draw_seeds(0, draws):
        other = clone(clusterer).set_params(
            **{"adapter": clone(clusterer.adapter_), "adapter_params": None, "random_state": seed},
            **{"verbose": False, "callback": None, "column_groups": None, "missing": "error", "join": None},
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit itself has warned
            found.append(ari(labels, other.fit(named, mask=views.mask).labels_))
    return tuple(found)
