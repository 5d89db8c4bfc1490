"""Rows of arrays that may lie in files: read and written without leaving the file's pages in memory."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from ._types import IndexArray, is_sparse

# Single rows of a file that are read at once: the system brings tens of kilobytes into memory for each.
SCATTERED = 512


def read_rows(array: Any, which: slice | IndexArray, dtype: np.dtype[Any] | None = None) -> Any:
    """Rows of an array; those of a file are copied, and its pages given back. They must not be written to."""
    if is_sparse(array):
        return array[which] if dtype is None else array[which].astype(dtype, copy=False)
    mapping = _mapping(array)
    if mapping is None:
        return np.asarray(array[which], dtype=dtype)
    if isinstance(which, slice):
        block = np.array(array[which], dtype=dtype, order="C")
        _give_back(array, which, mapping)
        return block
    scattered = np.empty((len(which), *array.shape[1:]), dtype=array.dtype if dtype is None else dtype)
    for start in range(0, len(which), SCATTERED):
        part = which[start : start + SCATTERED]
        scattered[start : start + len(part)] = array[part]
        _give_back(array, part, mapping)
    return scattered


def write_rows(array: np.ndarray, which: slice, values: npt.NDArray[Any]) -> None:
    """Put rows into an array of :func:`~anchor_align.blocks.empty`; pages of a file are given back."""
    array[which] = values
    mapping = _mapping(array)
    if mapping is not None:
        _give_back(array, which, mapping)


def _mapping(array: np.ndarray) -> mmap.mmap | None:
    """The file mapping behind an array, if its pages can be dropped: not where they hold private changes."""
    base: Any = array
    shared = False
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            shared = getattr(base, "mode", "c") != "c"
        base = base.base
    return base if shared and isinstance(base, mmap.mmap) and hasattr(base, "madvise") else None


def _give_back(array: np.ndarray, which: slice | IndexArray, mapping: mmap.mmap) -> None:
    """Drop the pages of rows that have been read; the system reads them again if they are needed."""
    first, last = 0, len(mapping)
    if isinstance(which, slice) and array.flags.c_contiguous:
        block = array[which]
        first = block.ctypes.data - np.frombuffer(mapping, dtype=np.uint8).ctypes.data
        last = first + block.nbytes
    first -= first % mmap.PAGESIZE
    mapping.madvise(mmap.MADV_DONTNEED, first, last - first)
