"""Clusters of new samples, from what a fit has learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances_argmin, pairwise_distances_argmin_min

from ._fusion import Recipe
from ._graph_rows import common_dtype
from ._observed import BoolArray, only_observed
from ._parts import Here, Parts, joined, parts_of
from ._pipeline import new_graphs
from ._spectral import SpectralEmbedding
from ._types import FloatArray, Graph, IndexArray
from .adapter import Adapter, AnchorGraphs


@dataclass(frozen=True, eq=False)
class Placement:
    """How new samples get their clusters.

    Attributes
    ----------
    adapter, learned, sizes
        Make graphs of the samples, on so many anchors.
    recipe : Recipe
        Fuses them.
    embedding : SpectralEmbedding
    means : ndarray of shape (n_clusters, n_components)
        Of the clusters, in the embedding.
    """

    adapter: Adapter
    learned: AnchorGraphs
    sizes: tuple[int, ...]
    recipe: Recipe
    embedding: SpectralEmbedding
    means: FloatArray

    def graph(self, views: Sequence[Any], seen: BoolArray | None = None) -> Graph:
        """Fused graph of a few samples; ``seen`` says which view has which of them, if not all have all."""
        graphs = new_graphs(self.adapter, list(views), self.learned, self.sizes)
        if seen is not None:
            graphs = [only_observed(Z, rows) for Z, rows in zip(graphs, seen, strict=True)]
        return self.recipe.of(graphs, common_dtype(graphs), seen)

    def near_mean(self, views: Sequence[Any], seen: BoolArray | None = None) -> IndexArray:
        """Clusters with the nearest mean."""
        return nearest_mean(self.embedding.unit_rows(self.graph(views, seen)), self.means)

    def near_row(self, views: Sequence[Any], rows: Parts, seen: BoolArray | None = None) -> IndexArray:
        """Clusters of the nearest rows of another graph; ``rows`` are that graph's and their labels."""
        nearest: _Nearest = rows.total(_nearest, self.graph(views, seen))
        return nearest.labels

    def of_chunks(self, views: Sequence[Any], rows: Parts | None) -> Any:
        """Clusters of the samples of Dask arrays, as one; the nearest mean if there are no ``rows``."""
        from ._dask.parts import Chunked

        # What the fit keeps on the cluster is not needed to make graphs.
        light = replace(self, learned=replace(self.learned, graphs=()))
        first, *others = map(parts_of, views)
        chunks = first.zip(*others)
        if rows is None:
            labels = chunks.map(_near_mean, light)
        elif isinstance(rows, Here):
            labels = chunks.map(_near_row, light, rows)
        else:
            assert isinstance(chunks, Chunked)
            assert isinstance(rows, Chunked)
            labels = chunks.map(_graph, light).against(rows, _nearest).map(_labels)
        return joined(labels, np.empty(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class _Nearest:
    """Distances of some samples to the nearest of other rows, and those rows' labels; ``+`` looks at more rows."""

    distances: npt.NDArray[Any]
    labels: IndexArray

    def __add__(self, other: _Nearest) -> _Nearest:
        nearer = other.distances < self.distances
        return _Nearest(np.where(nearer, other.distances, self.distances), np.where(nearer, other.labels, self.labels))


def _nearest(rows: tuple[Graph, IndexArray], graph: Graph) -> _Nearest:
    others, labels = rows
    at, distances = pairwise_distances_argmin_min(graph, others)
    return _Nearest(distances, labels[at])


def _near_mean(views: Sequence[Any], placement: Placement) -> IndexArray:
    return placement.near_mean(views)


def _near_row(views: Sequence[Any], placement: Placement, rows: Parts) -> IndexArray:
    return placement.near_row(views, rows)


def _graph(views: Sequence[Any], placement: Placement) -> Graph:
    return placement.graph(views)


def _labels(nearest: _Nearest) -> IndexArray:
    return nearest.labels


def nearest_mean(embedding: npt.NDArray[Any], means: FloatArray) -> IndexArray:
    """The mean that is nearest to each row."""
    return np.asarray(pairwise_distances_argmin(embedding, means.astype(embedding.dtype)), dtype=np.intp)
