"""Graphs of all views, chunk by chunk: Dask arrays, or made by an adapter where the views' chunks are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._fusion import FusedGraph, FusedRows
from .._graph_rows import StoredGraphs, common_dtype
from .._parts import Parts, joined
from .._types import Graph, is_sparse
from .parts import Chunked
from .rows import blocks_of


@dataclass(frozen=True, eq=False)
class ChunkedGraphs:
    """Graphs of all views in chunks of rows.

    Attributes
    ----------
    made : Chunked
        The graphs of every chunk, as a list or a set of graphs.
    metas : sequence of array
        An empty graph of the kind of each view's.
    graphs : sequence of Dask array
        The same, if they came as such.
    """

    made: Chunked
    metas: Sequence[Graph]
    graphs: Sequence[Any] = ()

    @classmethod
    def of_arrays(cls, arrays: Sequence[Any]) -> ChunkedGraphs:
        """Graphs that are Dask arrays with the same chunks."""
        first, *rest = map(blocks_of, arrays)
        return cls(first.zip(*rest), [_meta(Z._meta, Z.shape[1]) for Z in arrays], arrays)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return sum(self.made.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of anchors of every view."""
        return tuple(int(Z.shape[1]) for Z in self.metas)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 if all graphs are, else float64."""
        return common_dtype(self.metas)

    def parts(self) -> Parts:
        """The graphs of every chunk."""
        return self.made.map(StoredGraphs)

    def keep(self) -> ChunkedGraphs:
        """The same, kept by the workers."""
        return ChunkedGraphs(self.made.keep(), self.metas)

    def arrays(self) -> list[Any]:
        """One Dask array for every view."""
        made = self.made.once()
        return [joined(made.map(_one, view), meta) for view, meta in enumerate(self.metas)]


@dataclass(frozen=True, eq=False)
class ChunkedFused(FusedGraph):
    """The fused graph, chunk by chunk."""

    graphs: ChunkedGraphs

    def parts(self) -> Parts:
        """The fused graph of every chunk."""
        return self.graphs.parts().map(FusedRows, self.recipe)

    def stored(self) -> Any:
        """A Dask array, whose chunks are made when they are needed."""
        sparse = self.recipe.makes_sparse(self.graphs.metas)
        meta = _meta(self.graphs.metas[0] if sparse else np.empty(0), self.shape[1])
        return joined(self.parts().map(FusedRows.stored), meta.astype(self.dtype))


def made_graphs(
    views: Sequence[Any], make: Callable[[Sequence[Any], int], list[Graph]], first: list[Graph]
) -> ChunkedGraphs:
    """Graphs that a function makes of each chunk of the views and its first row; ``first`` are a few rows of them."""
    blocks, *others = map(blocks_of, views)
    sizes = blocks.sizes
    firsts = Chunked((np.cumsum(sizes) - sizes).tolist(), sizes)
    made = blocks.zip(*others).zip(firsts).map(_make, make)
    return ChunkedGraphs(made, [_meta(Z, Z.shape[1]) for Z in first])


def _make(item: tuple[Sequence[Any], int], make: Callable[[Sequence[Any], int], list[Graph]]) -> list[Graph]:
    return make(*item)


def _one(graphs: Sequence[Graph], view: int) -> Graph:
    return graphs[view]


def _meta(like: Graph, width: int) -> Graph:
    """An empty graph of the same kind."""
    return sp.csr_array((0, width), dtype=like.dtype) if is_sparse(like) else np.empty((0, width), dtype=like.dtype)
