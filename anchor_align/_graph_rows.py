"""Graphs a block of rows at a time: kept in memory or in files, or made anew for every pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ._mapped import read_rows, write_rows
from ._mapping import empty, growing, map_rows
from ._parts import Here, Parts
from ._types import Graph, is_dask, is_sparse


class GraphSet(Protocol):
    """Graphs of all views."""

    @property
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of anchors of every view."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 if all graphs are, else float64."""

    def parts(self) -> Parts:
        """The same graphs in parts, each a LocalGraphSet."""


class LocalGraphSet(GraphSet, Protocol):
    """Graphs whose rows can be had here, a block at a time."""

    @property
    def width(self) -> int:
        """Numbers at work for every row."""

    def blocks(self, rows: slice) -> list[Graph]:
        """The same few rows of every graph; they must not be written to."""


@dataclass(frozen=True, eq=False)
class StoredGraphs:
    """Graphs that are there: arrays, memmaps or CSR arrays."""

    graphs: Sequence[Graph]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.graphs[0].shape[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of anchors of every view."""
        return tuple(int(Z.shape[1]) for Z in self.graphs)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 if all graphs are, else float64."""
        return common_dtype(self.graphs)

    @property
    def width(self) -> int:
        """Numbers at work for every row."""
        return sum(_numbers_per_row(Z) for Z in self.graphs)

    def blocks(self, rows: slice) -> list[Graph]:
        """The same few rows of every graph; they must not be written to."""
        return [read_rows(Z, rows) for Z in self.graphs]

    def parts(self) -> Parts:
        """All rows, in one part."""
        return Here(self)


@dataclass(frozen=True, eq=False)
class MadeGraphs:
    """Graphs whose rows are made whenever they are needed."""

    make: Callable[[slice], list[Graph]]
    n_samples: int
    sizes: tuple[int, ...]
    dtype: np.dtype[Any]
    width: int

    def blocks(self, rows: slice) -> list[Graph]:
        """The same few rows of every graph."""
        return self.make(rows)

    def parts(self) -> Parts:
        """All rows, in one part."""
        return Here(self)


def graph_set(graphs: Sequence[Graph]) -> GraphSet:
    """Checked graphs that are there: here, or on a cluster."""
    if not is_dask(graphs[0]):
        return StoredGraphs(graphs)
    from ._dask.graphs import ChunkedGraphs

    return ChunkedGraphs.of_arrays(graphs)


def common_dtype(graphs: Sequence[Graph]) -> np.dtype[Any]:
    """float32 if all graphs are, else float64."""
    return np.dtype(np.float32 if all(Z.dtype == np.float32 for Z in graphs) else np.float64)


def store(make: Callable[[slice], Sequence[Graph]], n_rows: int, *, width: int) -> list[Graph]:
    """Make all rows of some graphs and keep them, where :func:`~anchor_align.blocks.working` says.

    Parameters
    ----------
    make : callable
        Called with a slice; returns the rows of every graph, dense or sparse.
    n_rows : int
    width : int
        Numbers that it holds for every row.
    """
    keepers: list[_Dense | _Sparse] = []
    start = 0
    for blocks in map_rows(make, n_rows, width=width):
        if not keepers:
            keepers = [_Sparse(Z) if is_sparse(Z) else _Dense(Z, n_rows) for Z in blocks]
        rows = slice(start, start + blocks[0].shape[0])
        for keeper, Z in zip(keepers, blocks, strict=True):
            keeper.add(rows, Z)
        start = rows.stop
    return [keeper.graph() for keeper in keepers]


class _Dense:
    def __init__(self, first: np.ndarray, n_rows: int) -> None:
        self._whole = len(first) == n_rows
        self._graph = first if self._whole else empty((n_rows, first.shape[1]), first.dtype)

    def add(self, rows: slice, Z: np.ndarray) -> None:
        if not self._whole:
            write_rows(self._graph, rows, Z)

    def graph(self) -> np.ndarray:
        return self._graph


class _Sparse:
    def __init__(self, first: Any) -> None:
        self._n_columns = first.shape[1]
        self._dtype = first.dtype
        self._parts = growing(2)
        self._lengths: list[np.ndarray] = []

    def add(self, rows: slice, Z: Any) -> None:
        self._parts.append(Z.data, Z.indices.astype(np.int32, copy=False))
        self._lengths.append(np.diff(Z.indptr))

    def graph(self) -> sp.csr_array:
        edges = np.append(0, np.cumsum(np.concatenate(self._lengths), dtype=np.int64))
        data, indices = self._parts.finish(self._dtype, np.int32)
        edges = edges.astype(np.int32) if edges[-1] < 2**31 else edges
        return sp.csr_array((data, indices, edges), shape=(len(edges) - 1, self._n_columns))


def _numbers_per_row(Z: Graph) -> int:
    return 1 + Z.nnz // Z.shape[0] if is_sparse(Z) else int(Z.shape[1])
