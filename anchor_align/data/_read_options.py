"""How files are read: what the user decided, the same for every file of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..blocks import check_size
from ..checks import check_flag
from ..errors import InputError, InputTypeError, shown

IndexName = str | Literal[False] | None


@dataclass(frozen=True)
class ReadOptions:
    """Options of all readers.

    ``max_bytes`` limits the memory of one file, see :class:`SizeLimit`; ``mmap`` leaves arrays in files; ``index`` is
    the column that has the names of samples, False if tables have none; ``sep`` and ``decimal`` are the separator
    and the decimal mark of text files.
    """

    max_bytes: int | None = None
    mmap: bool = False
    index: IndexName = None
    sep: str | None = None
    decimal: str | None = None

    @classmethod
    def checked(
        cls, max_bytes: object, mmap: object, index: object = None, sep: object = None, decimal: object = None
    ) -> ReadOptions:
        if index is not None and index is not False and not isinstance(index, str):
            raise InputTypeError(f"index must be the name of a column, False or None, got {shown(index)}.")
        if sep is not None and not (isinstance(sep, str) and len(sep) == 1 and sep not in '"\r\n'):
            raise InputError(f"sep must be one character, such as ';', got {shown(sep)}.")
        if decimal is not None and not (isinstance(decimal, str) and decimal in (".", ",")):
            raise InputError(f"decimal must be '.' or ',', got {shown(decimal)}.")
        if decimal == "," and sep == ",":
            raise InputError("sep and decimal are both ','; numbers with a decimal comma need another separator.")
        size = check_size("max_bytes", max_bytes)
        return cls(size, check_flag("mmap", mmap), index, sep, decimal)
