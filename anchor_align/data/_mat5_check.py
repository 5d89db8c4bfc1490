"""A look at the structure of a MATLAB file of version 5 before it is parsed.

scipy's parser takes the type code of every element for granted and uses it as an index: a damaged one ends the whole
process. Only the tags are looked at here, not the values. What is compressed is protected by its checksum.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_VALUES = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18))
_DEEPEST = 64
# Classes of matrices: characters and all numbers have one element of values, sparse matrices three.
_SPARSE, _DENSE = 5, frozenset((4, *range(6, 16)))


def check_mat5(path: Path) -> None:
    """Raise ValueError if an element has a type that does not exist or is longer than what it is in."""
    with path.open("rb") as file:
        header = file.read(_HEADER)
        # Version 4 has no such structure.
        if len(header) < _HEADER or header[126:128] not in (b"IM", b"MI"):
            return
        order = "<" if header[126:128] == b"IM" else ">"
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            at = _HEADER
            while at + 8 <= len(content):
                kind, size = struct.unpack_from(f"{order}II", content, at)
                at += 8
                if kind == _MATRIX:
                    _check_elements(content, at, at + size, order, 0)
                elif kind != _COMPRESSED:
                    raise ValueError(f"a variable of unknown type {kind}")
                at += size


def _check_elements(content: mmap.mmap, at: int, end: int, order: str, depth: int) -> None:
    """Check the elements of a matrix, which may be matrices themselves."""
    if end > len(content):
        raise ValueError("a variable is cut short")
    if depth > _DEEPEST:
        raise ValueError("cells are nested too deep")
    start, n_values = at, 0
    while at + 8 <= end:
        kind, size = struct.unpack_from(f"{order}II", content, at)
        if kind >> 16:
            # Up to four bytes share the tag with their type and number.
            kind, size, following = kind & 0xFFFF, kind >> 16, at + 8
            if size > 4:
                raise ValueError("an element is longer than its tag allows")
        else:
            # Values are padded to eight bytes.
            following = at + 8 + size + -size % 8
            if at + 8 + size > end:
                raise ValueError("an element is longer than what it is in")
        if kind == _MATRIX:
            _check_elements(content, at + 8, at + 8 + size, order, depth + 1)
        elif kind in _VALUES:
            n_values += 1
        else:
            raise ValueError(f"an element of unknown type {kind}")
        at = following
    if start < end and n_values < _least_values(content, start, order):
        raise ValueError("a matrix lacks a part")


def _least_values(content: mmap.mmap, at: int, order: str) -> int:
    """How many elements a matrix has at least: flags, sizes and name, then what its class needs."""
    kind, size, flags = struct.unpack_from(f"{order}III", content, at)
    if (kind, size) != (6, 8):
        raise ValueError("a matrix without flags")
    is_complex = bool(flags & 0x0800)
    if flags & 0xFF == _SPARSE:
        return 6 + is_complex
    return 4 + is_complex if flags & 0xFF in _DENSE else 3
