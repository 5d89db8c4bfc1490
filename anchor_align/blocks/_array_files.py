"""Arrays in files: rows are read and written without keeping pages of the file in memory."""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import IndexArray, is_sparse
from ..errors import FileError
from ._memory import readable_size

SCATTERED = 128  # single rows of a file that are read at once: the system loads up to a megabyte for each


def read_rows(array: Any, which: slice | IndexArray, dtype: np.dtype[Any] | None = None) -> Any:
    """Read rows of an array. Rows of a file are copied and its pages released. The result must not be written to."""
    if is_sparse(array):
        if _mapping(array.data) is None:
            rows = array[which]
        else:
            rows = _sparse_rows(array, which) if isinstance(which, slice) else _scattered_sparse_rows(array, which)
        return rows if dtype is None else rows.astype(dtype, copy=False)
    mapping = _mapping(array)
    if mapping is None:
        return np.asarray(array[which], dtype=dtype)
    if isinstance(which, slice):
        block = np.array(array[which], dtype=dtype, order="C")
        _give_back(array, which, mapping)
        return block
    scattered = np.empty((len(which), *array.shape[1:]), dtype=array.dtype if dtype is None else dtype)
    for part in _close_together(which):
        scattered[part] = array[which[part]]
        _give_back(array, None, mapping)
    return scattered


def _close_together(which: IndexArray) -> list[IndexArray]:
    """Places of the rows that are read at once: few, and near each other in the file."""
    in_order = np.argsort(which)
    return [in_order[start : start + SCATTERED] for start in range(0, len(which), SCATTERED)]


def _scattered_sparse_rows(array: Any, which: IndexArray) -> Any:
    """Single rows of a CSR array whose entries are in files; their pages are released."""
    blocks, parts = [array[which[:0]]], _close_together(which)
    for part in parts:
        blocks.append(array[which[part]])
        for entries in (array.data, array.indices):
            if (mapping := _mapping(entries)) is not None:
                _give_back(entries, None, mapping)
    return sp.vstack(blocks, format="csr")[np.argsort(np.concatenate([which[:0], *parts]))]


def _sparse_rows(array: Any, which: slice) -> Any:
    """Consecutive rows of a CSR array whose entries are in files; their pages are released."""
    start, stop, _ = which.indices(array.shape[0])
    edges = np.asarray(array.indptr[start : stop + 1])
    entries = slice(int(edges[0]), int(edges[-1]))
    stored = read_rows(array.data, entries), read_rows(array.indices, entries), edges - edges[0]
    return sp.csr_array(stored, shape=(len(edges) - 1, array.shape[1]))


def write_rows(array: np.ndarray, which: slice, values: npt.NDArray[Any]) -> None:
    """Write rows to an array of :func:`~anchor_align.blocks.empty`. Pages of a file are released."""
    array[which] = values
    mapping = _mapping(array)
    if mapping is not None:
        _give_back(array, which, mapping)


def in_file(array: np.ndarray) -> bool:
    """Whether an array is in a file whose pages can be dropped."""
    return _mapping(array) is not None


def _mapping(array: np.ndarray) -> mmap.mmap | None:
    """The file mapping of an array if its pages can be dropped. Pages with private changes cannot."""
    base: Any = array
    shared = False
    while isinstance(base, np.ndarray):  # the array, the one that it is a view of, and so on
        if isinstance(base, np.memmap):
            shared = getattr(base, "mode", "c") != "c"
        base = base.base
    return base if shared and isinstance(base, mmap.mmap) and hasattr(base, "madvise") else None


def _give_back(array: np.ndarray, which: slice | None, mapping: mmap.mmap) -> None:
    """Drop the pages of rows that were read, or of all rows. The system reads them again if they are needed."""
    first, last = 0, len(mapping)
    if which is not None and array.flags.c_contiguous:
        block = array[which]
        first = block.ctypes.data - np.frombuffer(mapping, dtype=np.uint8).ctypes.data
        last = first + block.nbytes
    first -= first % mmap.PAGESIZE
    mapping.madvise(mmap.MADV_DONTNEED, first, last - first)


PIECE = 2**22  # bytes written at once where the system cannot reserve space


def empty_on_disk(shape: tuple[int, ...], dtype: np.dtype[Any], folder: Path | None) -> np.ndarray:
    """Array in a temporary file. Its space is reserved, so later writes cannot run out of disk."""
    size = max(1, int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
    with _telling(folder, size), tempfile.TemporaryFile(dir=folder) as file:
        _reserve(file, size)
        return np.memmap(file, dtype, "r+", shape=shape)


class GrowingArrays:
    """Several flat arrays that grow by pieces, in memory or in unnamed files, which end with the process."""

    def __init__(self, n_arrays: int, *, on_disk: bool, folder: Path | None) -> None:
        self._folder = folder
        self._pieces: list[list[np.ndarray]] = [[] for _ in range(n_arrays)]
        self._files: list[IO[bytes]] | None = None
        if on_disk:
            with _telling(folder):
                self._files = [tempfile.TemporaryFile(dir=folder) for _ in range(n_arrays)]  # noqa: SIM115  # in finish

    def append(self, *pieces: np.ndarray) -> None:
        with _telling(self._folder):
            for number, piece in enumerate(pieces):
                if self._files is None:
                    self._pieces[number].append(piece)
                else:
                    self._files[number].write(np.ascontiguousarray(piece).data)

    def finish(self, *dtypes: npt.DTypeLike) -> list[np.ndarray]:
        if self._files is None:
            return [np.concatenate(pieces, dtype=dtype) for pieces, dtype in zip(self._pieces, dtypes, strict=True)]
        arrays = []
        with _telling(self._folder):
            for file, dtype in zip(self._files, dtypes, strict=True):
                with file:
                    file.flush()
                    arrays.append(np.memmap(file, dtype, "r+") if file.tell() else np.empty(0, dtype))
        return arrays


def check_disk(size: int, folder: Path | None) -> None:
    """Raise an error, before the work starts, if the folder cannot hold files of this size."""
    with _telling(folder):
        free = shutil.disk_usage(_place(folder)).free
        tempfile.TemporaryFile(dir=folder).close()
    if size > free:
        raise _too_little(size, folder)


@contextmanager
def _telling(folder: Path | None, size: int = 0) -> Iterator[None]:
    """Turn errors of the system into messages that name the folder."""
    try:
        yield
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise _too_little(size, folder) from error
        raise FileError(
            f"Cannot keep graphs in {_place(folder)}: {getattr(error, 'strerror', '') or error}."
        ) from error


def _too_little(size: int, folder: Path | None) -> FileError:
    place = _place(folder)
    needed = f"need {readable_size(size)} on disk" if size else "need more room on disk"
    return FileError(
        f"The graphs {needed}; {place} has {readable_size(shutil.disk_usage(place).free)} free. "
        "Name another folder, or use storage='never'."
    )


def _place(folder: Path | None) -> Path:
    return Path(tempfile.gettempdir()) if folder is None else folder


def _reserve(file: IO[bytes], size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for start in range(0, size, PIECE):
        file.write(bytes(min(PIECE, size - start)))
    file.flush()
