"""Clusters of new samples, from the results of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances_argmin, pairwise_distances_argmin_min

from ..arrays import BoolArray, FloatArray, Graph, IndexArray
from ..blocks import Parts, map_rows, parts_of, read_only, read_rows, run_rows
from ..errors import AdapterError
from ..fusion import Recipe
from ..graphs import SpectralEmbedding, common_dtype, numbers_of_sample, samples_of, without_missing
from ..plugins import Adapter, AnchorGraphs, check_made
from ._views import Views

SAME_LABELS = 0.99  # the nearest mean is used for new samples if it reproduces at least this fraction of the labels


@dataclass(frozen=True, eq=False)
class Prediction:
    """The steps that assign new samples to clusters.

    ``adapter`` makes their graphs from ``learned``, with ``sizes`` anchors. ``recipe`` fuses them. ``means`` are those
    of the clusters in the ``embedding``. ``fitted`` has the fused graph and the labels of the fit, if the nearest mean
    does not reproduce the labels: new samples then get the label of the nearest row.
    """

    adapter: Adapter
    learned: AnchorGraphs
    sizes: tuple[int, ...]
    recipe: Recipe
    embedding: SpectralEmbedding
    means: FloatArray
    fitted: Parts | None

    def labels(self, views: Views) -> Any:
        if views.mask is not None:
            self.recipe.check_present(views.mask)
        if views.distributed:
            return self._labels_of_chunks(views.matrices)
        labels = np.empty(views.n_samples, dtype=np.intp)
        samples = views.matrices if self.adapter.works_by_blocks else views.floats()

        def assign(rows: slice) -> None:
            present = None if views.mask is None else views.mask[:, rows]
            graph = fused_graph(samples_of(samples, rows, views.mask), self, present)
            near = _near_mean(graph, self) if self.fitted is None else self.fitted.total(_nearest, graph).labels
            labels[rows] = near

        if self.adapter.works_by_blocks:
            run_rows(assign, views.n_samples, width=numbers_of_sample(samples) + 3 * sum(self.sizes))
        else:  # its new_graphs may need all samples together
            assign(slice(0, views.n_samples))
        return labels

    def _labels_of_chunks(self, views: Sequence[Any]) -> Any:
        # The graphs that the fit keeps on the cluster are not needed to make others.
        light = replace(self, learned=replace(self.learned, graphs=()), fitted=None)
        first, *others = map(parts_of, views)
        chunks = first.zip(*others)
        if self.fitted is None:
            labels = chunks.map(fused_graph, light).map(_near_mean, light)
        else:
            labels = chunks.map(fused_graph, light).against(self.fitted, _nearest).map(_labels_of)
        return labels.joined(np.empty(0, dtype=np.intp))


def fused_graph(views: Sequence[Any], prediction: Prediction, present: BoolArray | None = None) -> Graph:
    adapter = prediction.adapter
    made = adapter.new_graphs([read_only(X) for X in views], prediction.learned)
    n, same_anchors = int(views[0].shape[0]), not adapter.views_apart
    graphs = check_made(adapter.name, made, n, len(views), same_anchors=same_anchors)
    for Z, size in zip(graphs, prediction.sizes, strict=True):
        if Z.shape[1] != size:
            raise AdapterError(
                f"Adapter {adapter.name!r} returned graphs of new samples on {Z.shape[1]} anchors; "
                f"it was fitted with {size}."
            )
    if present is not None:
        graphs = [without_missing(Z, rows) for Z, rows in zip(graphs, present, strict=True)]
    fused: Graph = prediction.recipe.of(graphs, common_dtype(graphs), present)
    return fused


def _near_mean(graph: Graph, prediction: Prediction) -> IndexArray:
    return nearest_mean(prediction.embedding.unit_rows(graph), prediction.means)


@dataclass(frozen=True, eq=False)
class _Nearest:
    """Distances of some samples to their nearest rows, and the labels of these rows; ``+`` adds more rows."""

    distances: npt.NDArray[Any]
    labels: IndexArray

    def __add__(self, other: _Nearest) -> _Nearest:
        nearer = other.distances < self.distances
        return _Nearest(np.where(nearer, other.distances, self.distances), np.where(nearer, other.labels, self.labels))


def _nearest(rows: tuple[Graph, IndexArray], graph: Graph) -> _Nearest:
    others, labels = rows
    at, distances = pairwise_distances_argmin_min(graph, others)
    return _Nearest(distances, labels[at])


def _labels_of(nearest: _Nearest) -> IndexArray:
    return nearest.labels


def nearest_mean(embedding: npt.NDArray[Any], means: FloatArray) -> IndexArray:
    return np.asarray(pairwise_distances_argmin(embedding, means.astype(embedding.dtype)), dtype=np.intp)


def cluster_means(embedding: npt.NDArray[Any], labels: npt.NDArray[np.intp], n_clusters: int) -> FloatArray:
    sums = parts_of(embedding).zip(parts_of(labels)).total(_cluster_sums, n_clusters)
    return np.asarray(sums[:, :-1] / sums[:, -1:])


def _cluster_sums(item: tuple[npt.NDArray[Any], IndexArray], n_clusters: int) -> FloatArray:
    """Sum of every cluster's samples and, in the last column, their number."""
    embedding, labels = item
    n, k = embedding.shape

    def sums(rows: slice) -> FloatArray:
        block, at = read_rows(embedding, rows), labels[rows]
        columns = [np.bincount(at, block[:, j], n_clusters) for j in range(k)]
        return np.array([*columns, np.bincount(at, minlength=n_clusters)]).T

    return np.asarray(sum(map_rows(sums, n, width=2 * k)))


def means_reproduce(embedding: npt.NDArray[Any], means: FloatArray, labels: IndexArray) -> bool:
    count: int = parts_of(embedding).zip(parts_of(labels)).total(_count_near_means, means)
    return count / int(labels.shape[0]) >= SAME_LABELS


def _count_near_means(item: tuple[npt.NDArray[Any], IndexArray], means: FloatArray) -> int:
    embedding, labels = item

    def count(rows: slice) -> int:
        return int(np.count_nonzero(nearest_mean(read_rows(embedding, rows), means) == labels[rows]))

    n, k = embedding.shape
    return sum(map_rows(count, n, width=k + len(means)))
