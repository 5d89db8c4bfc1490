"""The graphs of all views, one block of rows at a time: stored in memory or in files, or made again for every pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import getitem
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import BoolArray, Graph, GraphLike, IndexArray, is_sparse
from ..blocks import Here, Parts, empty, engine_of, growing, join_graphs, map_rows, read_only, read_rows, write_rows
from ._missing import check_missing, without_missing


class GraphSet(ABC):
    """Rows of the graphs of all views: a block is a list with the same few rows of every graph.

    ``mask``, views x samples, is False where a sample is missing; None if no sample is missing. Rows of missing samples
    are zero in every block.
    """

    mask: BoolArray | None

    @property
    @abstractmethod
    def sources(self) -> Sequence[Any]:
        """Arrays whose rows are read: the graphs, or the views that they are made from."""

    @property
    @abstractmethod
    def typical_graphs(self) -> Sequence[Graph]:
        """Graphs of all samples or of a few, with the type and width of all."""

    @property
    @abstractmethod
    def row_width(self) -> int:
        """Numbers in memory for each row while the graphs are read or made."""

    @abstractmethod
    def parts(self) -> Parts: ...

    @abstractmethod
    def _rows(self, rows: slice | IndexArray) -> list[Graph]:
        """A block before missing samples are set to zero."""

    @property
    def n_samples(self) -> int:
        return int(self.sources[0].shape[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of anchors of every view."""
        return tuple(int(Z.shape[1]) for Z in self.typical_graphs)

    @property
    def metas(self) -> list[Graph]:
        """An empty graph of the same type as each view's graph."""
        kinds = [sp.csr_array if engine_of(Z).is_sparse(Z) else np.empty for Z in self.typical_graphs]
        return [kind((0, Z.shape[1]), dtype=Z.dtype) for kind, Z in zip(kinds, self.typical_graphs, strict=True)]

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_samples, sum(self.sizes)

    @property
    def dtype(self) -> np.dtype[Any]:
        return common_dtype(self.metas)

    @property
    def width(self) -> int:
        return self.row_width * (1 if self.mask is None else 2)

    def block(self, rows: slice | IndexArray) -> list[Graph]:
        graphs, present = self._rows(rows), self.present(rows)
        if present is None:
            return graphs
        return [without_missing(Z, rows) for Z, rows in zip(graphs, present, strict=True)]

    def present(self, rows: slice | IndexArray) -> BoolArray | None:
        """Which of some samples each view has; None if no sample is missing."""
        return None if self.mask is None else self.mask[:, rows]


@dataclass(frozen=True, eq=False)
class StoredGraphs(GraphSet):
    """Graphs that exist: arrays, memmaps, CSR or distributed arrays.

    ``kept`` are the same graphs in parts, a list for each part, if they were made and kept by part.
    """

    graphs: Sequence[Graph]
    mask: BoolArray | None = None
    kept: Parts | None = field(default=None, repr=False)

    @classmethod
    def from_user(
        cls, graphs: Iterable[GraphLike], mask: object = None, missing: str = "error", join: str | None = None
    ) -> StoredGraphs:
        """Checked graphs, with samples joined by name; the parameters are those of :func:`anchor_align.align`."""
        checked, joined = join_graphs(graphs, join)
        return cls(checked, check_missing(checked, mask, missing, joined=joined))

    @property
    def sources(self) -> Sequence[Graph]:
        return self.graphs

    typical_graphs = sources

    @property
    def row_width(self) -> int:
        return numbers_of_sample(self.graphs)

    def parts(self) -> Parts:
        if not engine_of(self.graphs[0]).distributed:
            return Here(self)
        kept = self.kept
        if kept is None:
            first, *others = (engine_of(Z).parts(Z) for Z in self.graphs)
            kept = first.zip(*others)
        return kept.map(StoredGraphs)

    def _rows(self, rows: slice | IndexArray) -> list[Graph]:
        return [engine_of(Z).read(Z, rows) for Z in self.graphs]


@dataclass(frozen=True, eq=False)
class MadeGraphs(GraphSet):
    """Graphs whose rows are made from the views when they are needed.

    ``make`` is called with a few samples of every view and the number of the first one; it returns their graphs.
    ``like`` are graphs of a few samples; all others have the same type. ``numbers`` are those of the samples in the
    data if they have another order there; ``make`` then gets those of its samples, too.
    """

    views: Sequence[Any]
    make: Callable[..., list[Graph]]
    like: list[Graph]
    mask: BoolArray | None = None
    numbers: IndexArray | None = None

    @property
    def sources(self) -> Sequence[Any]:
        return self.views

    @property
    def typical_graphs(self) -> list[Graph]:
        return self.like

    @property
    def row_width(self) -> int:
        # Distances to the anchors of one view at a time, from which sparse rows are picked, and the rows themselves.
        distances = max((Z.shape[1] for Z in self.like if is_sparse(Z)), default=0)
        return numbers_of_sample(self.views) + distances + 3 * numbers_of_sample(self.like)

    def parts(self) -> Parts:
        return self._chunks().map(StoredGraphs) if engine_of(self.views[0]).distributed else Here(self)

    def stored(self) -> StoredGraphs:
        """The same graphs, made now and kept: in memory, in files, or by the workers."""
        if not engine_of(self.views[0]).distributed:
            graphs = store(self.block, self.n_samples, width=self.width)
            return StoredGraphs([read_only(Z) for Z in graphs], self.mask)
        kept = self._chunks().keep()
        return StoredGraphs(self._arrays(kept), kept=kept)

    def arrays(self) -> list[Graph]:
        """One array for every view; chunks of distributed arrays are made when they are needed."""
        if not engine_of(self.views[0]).distributed:
            return list(self.stored().graphs)
        return self._arrays(self._chunks().once())

    def _chunks(self) -> Parts:
        engine = engine_of(self.views[0])
        first, *others = (engine.parts(X) for X in self.views)
        return first.zip(*others).zip(engine.first_rows(self.views[0])).map(_made, self.make)

    def _arrays(self, chunks: Parts) -> list[Graph]:
        return [chunks.map(getitem, view).joined(meta) for view, meta in enumerate(self.metas)]

    def _rows(self, rows: slice | IndexArray) -> list[Graph]:
        first = rows.start if isinstance(rows, slice) else int(rows[0])
        own = () if self.numbers is None else (self.numbers[rows],)
        return self.make(samples_of(self.views, rows, self.mask), first, *own)


def _made(chunk: tuple[Sequence[Any], int], make: Callable[..., list[Graph]]) -> list[Graph]:
    return make(*chunk)


def samples_of(views: Sequence[Any], rows: slice | IndexArray, mask: BoolArray | None = None) -> list[Any]:
    """The same few samples of every view, read-only. The first present sample of the view replaces a missing one."""
    if mask is None:
        return [read_only(engine_of(X).read(X, rows)) for X in views]
    numbers = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
    blocks = []
    for X, present in zip(views, mask, strict=True):
        if present.any():
            blocks.append(read_rows(X, np.where(present[rows], numbers, np.argmax(present))))
        else:  # a view without samples: its rows will not be used
            kind = sp.csr_array if is_sparse(X) else np.zeros
            blocks.append(kind((len(numbers), X.shape[1]), dtype=X.dtype))
    return [read_only(block) for block in blocks]


def numbers_of_sample(views: Sequence[Any]) -> int:
    """Number of entries that one sample has in all views."""
    return sum(1 + X.nnz // max(X.shape[0], 1) if is_sparse(X) else int(X.shape[1]) for X in views)


def common_dtype(graphs: Sequence[Graph]) -> np.dtype[Any]:
    """float32 if all graphs are, else float64."""
    return np.dtype(np.float32 if all(Z.dtype == np.float32 for Z in graphs) else np.float64)


def store(make: Callable[[slice], Sequence[Graph]], n_rows: int, *, width: int) -> list[Graph]:
    """Make all rows of some graphs and keep them in memory or, as :func:`~anchor_align.blocks.working` says, in files.

    ``make`` gets a slice and returns these rows of every graph. It needs ``width`` numbers for each row.
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

    def add(self, rows: slice, Z: Any) -> None:
        if not self._whole:
            write_rows(self._graph, rows, Z)

    def graph(self) -> np.ndarray:
        return self._graph


class _Sparse:
    def __init__(self, first: Any) -> None:
        self._n_columns = first.shape[1]
        self._dtype = first.dtype
        self._entries = growing(2)
        self._lengths: list[np.ndarray] = []

    def add(self, rows: slice, Z: Any) -> None:
        self._entries.append(Z.data, Z.indices.astype(np.int32, copy=False))
        self._lengths.append(np.diff(Z.indptr))

    def graph(self) -> sp.csr_array:
        edges = np.append(0, np.cumsum(np.concatenate(self._lengths), dtype=np.int64))
        data, indices = self._entries.finish(self._dtype, np.int32)
        edges = edges.astype(np.int32) if edges[-1] < 2**31 else edges
        return sp.csr_array((data, indices, edges), shape=(len(edges) - 1, self._n_columns))
