"""Dask arrays as an engine: each chunk of rows is a part."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from dask.core import flatten
from dask.delayed import Delayed

from ...arrays import IndexArray, is_sparse
from ...blocks import is_numeric
from ...errors import InputError, InputTypeError
from ._chunks import Chunked, explained
from ._dask_kmeans import fit_kmeans


def as_array(X: Any, name: str) -> Any:
    """A Dask array or DataFrame as an array whose chunk sizes are known."""
    if hasattr(X, "to_dask_array") and not isinstance(X, Delayed):
        X = _from_frame(X)
    if not isinstance(X, da.Array):
        raise InputTypeError(f"{name} is a {type(X).__name__} of Dask; expected a Dask array or DataFrame.")
    if isinstance(X._meta, np.ma.MaskedArray):
        raise InputError(f"{name} has masked arrays as chunks; fill them first, with dask.array.ma.filled(X, value).")
    if any(math.isnan(size) for size in X.shape):
        raise InputError(
            f"{name} has chunks of unknown size, so its number of samples is not known; "
            "call its compute_chunk_sizes() first, which takes one pass."
        )
    return X


def _from_frame(frame: Any) -> Any:
    """Numbers of a DataFrame, after a count of its rows. Nullable numbers of pandas become floats."""
    if is_numeric(frame) and not all(isinstance(dtype, np.dtype) for dtype in frame.dtypes):
        frame = frame.astype(np.float64)
    with explained():
        return frame.to_dask_array(lengths=True)


def alike(arrays: Sequence[Any], names: Sequence[int | str]) -> list[Any]:
    """Arrays with the same rows in each chunk, and all columns in one chunk; warns if data must be moved."""
    for name, X in zip(names, arrays, strict=True):
        if not isinstance(X, da.Array):
            first = next(name for name, X in zip(names, arrays, strict=True) if isinstance(X, da.Array))
            raise InputTypeError(
                f"View {first} is a Dask array, view {name} is not ({type(X).__name__}); expected all or none. "
                "dask.array.from_array(X, chunks=...) makes one."
            )
    rows = tuple(size for size in arrays[0].chunks[0] if size)
    same = []
    for name, X in zip(names, arrays, strict=True):
        own = tuple(size for size in X.chunks[0] if size)
        if own != rows:
            warnings.warn(
                f"View {name} has {len(own)} chunks of up to {max(own)} rows, view {names[0]} has {len(rows)} of up to "
                f"{max(rows)}: view {name} is rechunked, which moves its rows between workers in every pass. "
                f"Rechunk and persist it first.",
                stacklevel=2,
            )
        if len(X.chunks[1]) > 1:
            warnings.warn(
                f"View {name} is chunked by columns: it is rechunked to whole rows, which moves its columns between "
                "workers in every pass. Rechunk and persist it first.",
                stacklevel=2,
            )
        same.append(X if X.chunks == (rows, X.shape[1:]) else X.rechunk((rows, -1)))
    # Optimised once, not in every visit of the chunks. For a persisted array some versions of Dask return an empty
    # graph; the original is then used.
    optimized = dask.optimize(*same)
    found = [Y if set(flatten(Y.__dask_keys__())) <= set(Y.dask) else X for X, Y in zip(same, optimized, strict=True)]
    return [_labelled(X, f"View {name}") for X, name in zip(found, names, strict=True)]


def _labelled(X: Any, label: str) -> Any:
    """A copy of an array, not of its chunks, that knows what messages call it."""
    copy = X.copy()
    copy.anchor_align_label = label
    return copy


class DaskEngine:
    """The engine of Dask arrays and DataFrames; see :class:`anchor_align.blocks.Engine`."""

    name = "Dask"
    distributed = True
    fit_kmeans = staticmethod(fit_kmeans)

    def check(self, array: Any, name: str) -> Any:
        return as_array(array, name)

    def alike(self, arrays: Sequence[Any], names: Sequence[int | str]) -> list[Any]:
        return alike(arrays, names)

    def is_sparse(self, array: Any) -> bool:
        return is_sparse(array._meta)

    def parts(self, array: Any) -> Chunked:
        graph = array.__dask_graph__()
        label, sizes = getattr(array, "anchor_align_label", "A view"), array.chunks[0]
        blocks = [_AsBlock(label, number, (size, *array.shape[1:])) for number, size in enumerate(sizes)]
        keys = flatten(array.__dask_keys__())
        return Chunked([(block, _within(graph, key)) for block, key in zip(blocks, keys, strict=True)], sizes, (array,))

    def first_rows(self, array: Any) -> Chunked:
        sizes = array.chunks[0]
        return Chunked((np.cumsum(sizes) - sizes).tolist(), sizes)

    def read(self, array: Any, which: slice | IndexArray, dtype: np.dtype[Any] | None = None) -> Any:
        wanted = np.arange(*which.indices(array.shape[0])) if isinstance(which, slice) else np.asarray(which)
        chunks = self.parts(array).zip(self.first_rows(array))
        touched = np.unique(np.searchsorted(np.cumsum(chunks.sizes), wanted, side="right"))
        found = chunks.some(touched.tolist()).total(_pick, wanted)
        order = np.argsort(np.concatenate([places for places, _ in found]), kind="stable")
        blocks = [rows for _, rows in found]
        rows = (sp.csr_array(sp.vstack(blocks)) if is_sparse(blocks[0]) else np.concatenate(blocks))[order]
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def gather(self, array: Any) -> Any:
        with explained():
            return array.compute()


def _within(graph: Any, key: Any) -> Any:
    """The task of a chunk, to run inside the task that needs it; the key, if the chunk exists or needs several tasks.

    As separate tasks, chunks of several views would be made on different workers and then moved. Tasks of Dask are
    objects that are called with the values they depend on; for other versions the key is used.
    """
    node = graph.get(key)
    while hasattr(node, "target"):  # another name for the same chunk; graphs of Dask have no cycles
        key, node = node.target, graph.get(node.target)
    needed = tuple(getattr(node, "dependencies", ()))
    is_task = callable(node) and hasattr(node, "func") and not hasattr(node, "value")
    if not is_task or not all(hasattr(graph.get(each), "value") for each in needed):
        return key
    return (_ChunkMaker(node, needed), *needed)


@dataclass(frozen=True, eq=False)
class _ChunkMaker:
    """Makes a chunk as its task does; ``names`` are the keys of the values that the task takes."""

    task: Any
    names: tuple[Any, ...]

    def __call__(self, *values: Any) -> Any:
        return self.task(dict(zip(self.names, values, strict=True)))


@dataclass(frozen=True, eq=False)
class _AsBlock:
    """A chunk as a NumPy or CSR array. It must have the declared shape: rows would be paired with the wrong ones."""

    label: str
    number: int
    shape: tuple[int, ...]

    def __call__(self, chunk: Any) -> Any:
        block = sp.csr_array(chunk) if is_sparse(chunk) else np.asarray(chunk)
        if block.shape != self.shape:
            got, declared = (" x ".join(map(str, shape)) for shape in (block.shape, self.shape))
            raise InputError(f"{self.label}: chunk {self.number} of its Dask array is {got}; declared was {declared}.")
        return block


def _pick(chunk: tuple[Any, int], which: IndexArray) -> list[tuple[IndexArray, Any]]:
    """The wanted rows of this chunk, and their positions among all wanted rows."""
    block, first = chunk
    inside = np.flatnonzero((which >= first) & (which < first + block.shape[0]))
    return [(inside, block[which[inside] - first])] if len(inside) else []
