"""Rows of a Dask array, scaled on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from dask.core import flatten

from .._column_stats import ColumnStats
from .._rows import ScaledRows
from .._types import FloatArray, IndexArray, is_sparse
from .parts import Chunked

try:
    from dask._task_spec import Alias, DataNode, Task
except ImportError:  # it is not public; without it chunks are tasks of their own
    Alias = DataNode = Task = ()


class DaskRows(ScaledRows):
    """As :class:`ScaledRows`, of a 2-D Dask array whose chunks hold whole rows; each chunk is a part."""

    @property
    def sparse(self) -> bool:
        """Whether chunks are sparse."""
        return is_sparse(self.array._meta)

    def parts(self) -> Chunked:
        """Scaled rows of every chunk."""
        scaling = self.centre, self.divisor, self.unit, self.known, self.double
        return self._chunks.map(_scaled, *scaling)

    @cached_property
    def _chunks(self) -> Chunked:
        return chunks_of(self.array)

    @cached_property
    def _raw_parts(self) -> Chunked:
        return self._chunks.map(_scaled, None, None, self.unit, None, self.double)

    @cached_property
    def _raw_stats(self) -> ColumnStats:
        return self._raw_parts.total(ScaledRows.stats) if self.known is None else self.known

    def _raw(self, which: slice | IndexArray) -> Any:
        """Bring some rows to the client: a sample, or a few."""
        if isinstance(which, slice):
            which = np.arange(*which.indices(self.shape[0]))
        ends = np.cumsum(self._raw_parts.sizes)
        touched = np.unique(np.searchsorted(ends, which, side="right"))
        found = self._raw_parts.some(touched.tolist()).total(_pick, np.asarray(which))
        order = np.argsort(np.concatenate([places for places, _ in found]), kind="stable")
        return _stack([rows for _, rows in found])[order]

    @cached_property
    def _few(self) -> None:
        return None


def blocks_of(array: Any) -> Chunked:
    """Blocks of a Dask array that hold whole rows."""
    graph = array.__dask_graph__()
    items = [_within(graph, key) for key in flatten(array.__dask_keys__())]
    return Chunked(items, array.chunks[0], (array,)).map(as_block)


def _within(graph: Any, key: Any) -> Any:
    """A chunk that the task which needs it makes; its key, if it is there already or takes more than one task.

    Chunks of several views as tasks of their own would be made on different workers, and have to travel.
    """
    node = graph.get(key)
    while isinstance(node, Alias):
        key, node = node.target, graph.get(node.target)
    if not isinstance(node, Task) or not all(isinstance(graph.get(each), DataNode) for each in node.dependencies):
        return key
    names = tuple(node.dependencies)
    return (_Made(node, names), *names)


@dataclass(frozen=True, eq=False)
class _Made:
    """Makes a chunk as its task would; ``names`` are of what the task takes."""

    task: Any
    names: tuple[Any, ...]

    def __call__(self, *values: Any) -> Any:
        return self.task(dict(zip(self.names, values, strict=True)))


def chunks_of(array: Any) -> Chunked:
    """The same, each with the number of its first row."""
    sizes = array.chunks[0]
    return blocks_of(array).zip(Chunked((np.cumsum(sizes) - sizes).tolist(), sizes))


def _scaled(
    chunk: tuple[Any, int],
    centre: FloatArray | None,
    divisor: FloatArray | None,
    unit: bool,
    known: ColumnStats | None,
    double: bool,
) -> ScaledRows:
    block, first = chunk
    return ScaledRows(block, centre, divisor, unit, known, double, first)


def as_block(block: Any) -> Any:
    """A chunk as the package works on it: an array, or CSR."""
    return sp.csr_array(block) if is_sparse(block) else np.asarray(block)


def _pick(rows: ScaledRows, which: IndexArray) -> list[tuple[IndexArray, Any]]:
    """Wanted rows that are in this part, and where they are wanted."""
    inside = np.flatnonzero((which >= rows.first) & (which < rows.first + rows.shape[0]))
    return [(inside, rows.block(which[inside] - rows.first))] if len(inside) else []


def _stack(blocks: Sequence[Any]) -> Any:
    return sp.csr_array(sp.vstack(blocks)) if is_sparse(blocks[0]) else np.concatenate(blocks)
