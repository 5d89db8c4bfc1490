"""Limits of what a file may cost: sizes are compared before anything is allocated."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..blocks import available_memory, readable_size
from ..errors import FileError

# A file may always fill this many bytes of memory, and beyond that so many times its own size. Real data that were
# compressed well stay below; a file that declares arrays without storing them does not.
_ALWAYS_ALLOWED = 2**28
_TIMES_FILE_SIZE = 100
# What a member of a cell takes here, whatever it holds.
MEMBER_BYTES = 768
# Smaller arrays are not worth a look at the free memory.
_SMALL = 2**24


class SizeLimit:
    """How much memory the content of one file may take.

    Parameters
    ----------
    path : Path
        The file. A pipe or a device is refused: it has no size, and reading it may never end.
    max_bytes : int, optional
        The limit that the user set. By default 256 MiB or 100 times the size of the file, whichever is larger, and no
        array that is larger than the free memory.
    """

    def __init__(self, path: Path, max_bytes: int | None = None) -> None:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            raise FileError(f"Cannot read {path}: it is a pipe or a device; expected a file.")
        self.path = path
        self.file_size = about.st_size
        self._is_set = max_bytes is not None
        self._most = max(_ALWAYS_ALLOWED, _TIMES_FILE_SIZE * self.file_size) if max_bytes is None else max_bytes
        self._claimed: dict[str, int] = {}
        self._total = 0

    def claim(self, key: str, n_bytes: int, *, in_memory: bool = True) -> None:
        """Refuse the file if one more array of this size is too much. An array that is read again counts once.

        Without ``in_memory`` the array is kept in a file, and may be larger than the free memory.
        """
        if n_bytes <= self._claimed.get(key, -1):
            return
        self._total += n_bytes - self._claimed.get(key, 0)
        self._claimed[key] = n_bytes
        if self._total > self._most:
            needed = f"its content takes {readable_size(self._total)} of memory or more"
            if self._is_set:
                limit = f"max_bytes (--max-size) is {readable_size(self._most)}"
            else:
                limit = f"the file has {readable_size(self.file_size)}; a larger max_bytes= (--max-size) allows it"
            raise FileError(f"Cannot read {self.path}: {needed}, and {limit}.")
        if n_bytes > _SMALL and in_memory and not self._is_set:
            free = available_memory()
            if free is not None and n_bytes > free:
                raise FileError(
                    f"Cannot read {self.path}: an array takes {readable_size(n_bytes)} of memory, and "
                    f"{readable_size(free)} are free; a larger max_bytes= (--max-size) tries it nevertheless."
                )

    def count(self, n_bytes: int) -> None:
        """Refuse the file if this is too much on top of all that was claimed and counted before."""
        self.claim("", self._claimed.get("", 0) + n_bytes)


def sparse_bytes(shape: tuple[int, ...], n_stored: int, itemsize: int) -> int:
    """Memory of a sparse matrix, stored by rows or by columns."""
    index = 4 if max(*shape, n_stored) < 2**31 else 8
    return n_stored * (itemsize + index) + (max(shape) + 1) * index
