"""Dask arrays as users hand them over and get them back."""

from __future__ import annotations

import math
import uuid
import warnings
from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.core import flatten
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from .._types import is_dask
from .._validation import is_numeric
from ..errors import InputError, InputTypeError
from .failures import explained
from .parts import Chunked, distinct


def as_array(X: Any, view: int | str) -> Any:
    """A Dask array or DataFrame as an array whose chunk sizes are known."""
    if hasattr(X, "to_dask_array") and not isinstance(X, Delayed):
        X = _from_frame(X)
    if not isinstance(X, da.Array):
        raise InputTypeError(f"View {view} is a {type(X).__name__} of Dask; expected a Dask array or DataFrame.")
    if isinstance(X._meta, np.ma.MaskedArray):
        raise InputError(
            f"View {view} has masked arrays as chunks; fill them first, with dask.array.ma.filled(X, value)."
        )
    if any(math.isnan(size) for size in X.shape):
        raise InputError(
            f"View {view} has chunks of unknown size, so its number of samples is not known; "
            "call its compute_chunk_sizes() first, which takes one pass."
        )
    return X


def _from_frame(frame: Any) -> Any:
    """Numbers of a DataFrame, whose rows are counted for it; pandas' nullable numbers come as floats."""
    if is_numeric(frame) and not all(isinstance(dtype, np.dtype) for dtype in frame.dtypes):
        frame = frame.astype(np.float64)
    with explained():
        return frame.to_dask_array(lengths=True)


def alike(arrays: Sequence[Any], names: Sequence[int | str]) -> list[Any]:
    """Arrays with the same rows in each chunk, and all columns in one; says what has to be moved for that."""
    for name, X in zip(names, arrays, strict=True):
        if not is_dask(X):
            first = next(name for name, X in zip(names, arrays, strict=True) if is_dask(X))
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
    # Once, as every visit of the chunks would have to do it again. Of a persisted array some versions of Dask leave no
    # graph at all; there is nothing to optimise then.
    optimized = dask.optimize(*same)
    return [Y if set(flatten(Y.__dask_keys__())) <= set(Y.dask) else X for X, Y in zip(same, optimized, strict=True)]


def from_parts(parts: Chunked, meta: Any) -> Any:
    """A Dask array whose chunks are what there is for every part; ``meta`` is an empty one of its kind."""
    name = f"anchor-align-{uuid.uuid4().hex}"
    beyond = (0,) * (meta.ndim - 1)
    layer = {(name, number, *beyond): item for number, item in enumerate(parts.items)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=distinct(parts.sources))
    return da.Array(graph, name, (parts.sizes, *((size,) for size in meta.shape[1:])), meta=meta)
