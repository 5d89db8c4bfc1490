"""Clusters of new samples, from the results of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import BoolArray, FloatArray, Graph, IndexArray, is_sparse
from ..blocks import empty, map_rows, parts_of, read_only, read_rows, run_rows, write_rows
from ..errors import AdapterError
from ..fusion import Recipe
from ..graphs import GramMatrices, SpectralEmbedding, common_dtype, numbers_of_sample, samples_of, without_missing
from ..plugins import Adapter, AnchorGraphs, check_made, made_graphs
from ._assignment import ASSIGNED, assigned
from ._views import Views

SAME_LABELS = 0.99  # the nearest mean is used for new samples if it reproduces at least this fraction of the labels
MOST_KNOWN = 10_000  # else the nearest of this many samples of the fit


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Fused rows of some samples of the fit, and their labels."""

    graph: Graph
    labels: IndexArray


@dataclass(frozen=True, eq=False)
class Prediction:
    """The steps that assign new samples to clusters.

    ``adapter`` makes their graphs from ``learned``, with ``sizes`` anchors. ``recipe`` fuses them. ``means`` are those
    of the clusters in the ``embedding``. ``known`` has rows of the fit, if the nearest mean does not reproduce the
    labels: new samples then get the label of the nearest of these rows.
    """

    adapter: Adapter
    learned: AnchorGraphs
    sizes: tuple[int, ...]
    recipe: Recipe
    embedding: SpectralEmbedding
    means: FloatArray
    known: KnownRows | None

    def labels(self, views: Views) -> Any:
        return self._of_rows(views, _labels, np.empty(0, np.intp))

    def vectors(self, views: Views) -> Any:
        """Coordinates of the samples in the embedding, rows of unit length."""
        dtype = np.float32 if all(X.dtype == np.float32 for X in views.matrices) else np.float64
        return self._of_rows(views, _vectors, np.empty((0, self.means.shape[1]), dtype))

    def assigned(self, views: Views) -> Any:
        """Labels with distances and confidence."""
        return self._of_rows(views, _assigned, np.empty(0, ASSIGNED))

    def grams(self, views: Views) -> GramMatrices:
        """Gram matrices of the graphs of the samples, on the anchors of the fit."""
        samples = views.matrices if self.adapter.works_by_blocks else views.floats()
        graphs = made_graphs(self.adapter, samples, self._light.learned, views.mask)
        return GramMatrices.of_set(graphs if self.adapter.works_by_blocks else graphs.stored())

    @property
    def _light(self) -> Prediction:
        # The graphs of the fit are not needed to make others.
        return replace(self, learned=replace(self.learned, graphs=()))

    def _of_rows(self, views: Views, function: Callable[[Graph, Prediction], Any], meta: npt.NDArray[Any]) -> Any:
        """Results of a function of fused rows for all samples; ``meta`` is its result for none."""
        if views.mask is not None:
            self.recipe.check_present(views.mask)
        if views.distributed:
            first, *others = map(parts_of, views.matrices)
            return first.zip(*others).map(fused_graph, self._light).map(function, self._light).joined(meta)
        samples = views.matrices if self.adapter.works_by_blocks else views.floats()
        shape = (views.n_samples, *meta.shape[1:])
        results = np.empty(shape, meta.dtype) if len(shape) == 1 else empty((shape[0], shape[1]), meta.dtype)

        def write(rows: slice) -> None:
            present = None if views.mask is None else views.mask[:, rows]
            graph = fused_graph(samples_of(samples, rows, views.mask), self, present)
            write_rows(results, rows, function(graph, self))

        if self.adapter.works_by_blocks:
            run_rows(write, views.n_samples, width=numbers_of_sample(samples) + 3 * sum(self.sizes))
        else:  # its new_graphs may need all samples together
            write(slice(0, views.n_samples))
        return results


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


def _vectors(graph: Graph, prediction: Prediction) -> npt.NDArray[Any]:
    return np.asarray(prediction.embedding.unit_rows(graph))


def _labels(graph: Graph, prediction: Prediction) -> IndexArray:
    known = prediction.known
    if known is None:
        return nearest_mean(_vectors(graph, prediction), prediction.means)
    from sklearn.metrics import pairwise_distances_argmin  # the slowest import, not needed to plan a study

    return np.asarray(known.labels[pairwise_distances_argmin(graph, known.graph)])


def _assigned(graph: Graph, prediction: Prediction) -> npt.NDArray[Any]:
    return assigned(_vectors(graph, prediction), _labels(graph, prediction), prediction.means)


def nearest_mean(embedding: npt.NDArray[Any], means: FloatArray) -> IndexArray:
    from sklearn.metrics import pairwise_distances_argmin  # as above

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


def known_rows(graph: Any, labels: Any, n_clusters: int) -> KnownRows:
    """Rows of at most about ``MOST_KNOWN`` samples: all of small clusters, every second, third, ... of large ones."""
    parts = parts_of(graph).zip(parts_of(labels))
    counts = np.array(count_labels(labels, n_clusters))
    most = max(1, MOST_KNOWN // n_clusters) if counts.sum() > MOST_KNOWN else int(counts.sum())
    chosen: list[tuple[Graph, IndexArray]] = parts.total(_chosen_rows, -(-counts // most))
    graphs: list[Any] = [rows for rows, _ in chosen]
    rows = sp.vstack(graphs, format="csr") if is_sparse(graphs[0]) else np.concatenate(graphs)
    return KnownRows(rows, np.concatenate([numbers for _, numbers in chosen]))


def count_labels(labels: Any, n_clusters: int) -> list[int]:
    """Number of samples in every cluster."""
    counts: list[int] = parts_of(labels).total(_counts, n_clusters).tolist()
    return counts


def _counts(labels: IndexArray, n_clusters: int) -> npt.NDArray[np.intp]:
    return np.bincount(labels, minlength=n_clusters)


def _chosen_rows(item: tuple[Graph, IndexArray], steps: npt.NDArray[np.intp]) -> list[tuple[Graph, IndexArray]]:
    graph, labels = item
    at = np.sort(np.concatenate([np.flatnonzero(labels == label)[::step] for label, step in enumerate(steps) if step]))
    return [(read_rows(graph, at), labels[at])]
