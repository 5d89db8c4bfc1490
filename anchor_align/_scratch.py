"""Arrays in files that have no name: larger than memory, and gone with the process however it ends."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ._sizes import readable_size
from .errors import FileError

# Bytes written at once where the system cannot reserve space.
PIECE = 2**22


def empty_on_disk(shape: tuple[int, ...], dtype: np.dtype[Any], folder: Path | None) -> np.ndarray:
    """Array in a temporary file whose space is reserved: writing to it later cannot run out of disk."""
    size = max(1, int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
    with _telling(folder, size), tempfile.TemporaryFile(dir=folder) as file:
        _reserve(file, size)
        return np.memmap(file, dtype, "r+", shape=shape)


class GrowingArrays:
    """Several flat arrays that grow by pieces: in memory, or in files without names."""

    def __init__(self, n_arrays: int, *, on_disk: bool, folder: Path | None) -> None:
        self._folder = folder
        self._pieces: list[list[np.ndarray]] = [[] for _ in range(n_arrays)]
        self._files: list[IO[bytes]] | None = None
        if on_disk:
            with _telling(folder):
                self._files = [tempfile.TemporaryFile(dir=folder) for _ in range(n_arrays)]  # noqa: SIM115  # in finish

    def append(self, *pieces: np.ndarray) -> None:
        """Add a piece to each array."""
        with _telling(self._folder):
            for number, piece in enumerate(pieces):
                if self._files is None:
                    self._pieces[number].append(piece)
                else:
                    self._files[number].write(np.ascontiguousarray(piece).data)

    def finish(self, *dtypes: npt.DTypeLike) -> list[np.ndarray]:
        """The whole arrays."""
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
    """Say so, before any work is done, if files of this size have no room, or no place."""
    with _telling(folder):
        free = shutil.disk_usage(_place(folder)).free
        tempfile.TemporaryFile(dir=folder).close()
    if size > free:
        raise _too_little(size, folder)


@contextmanager
def _telling(folder: Path | None, size: int = 0) -> Iterator[None]:
    """Turn what the system says into a sentence that names the folder."""
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
