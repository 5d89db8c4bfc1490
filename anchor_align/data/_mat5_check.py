"""A look at the structure of a MATLAB file of version 5 before it is parsed.

scipy's parser takes the type code of every element for granted and uses it as an index: a damaged one ends the whole
process. Only the tags are looked at here, not the values. What is compressed is protected by its checksum.
"""

from __future__ import annotations

import math
import mmap
import struct
from pathlib import Path

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_VALUES = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18))
_DEEPEST = 64
# Classes of matrices: characters and all numbers have one element of values, sparse matrices three.
_CELL, _STRUCTS, _SPARSE, _DENSE = 1, (2, 3), 5, frozenset((4, *range(6, 16)))


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
    # Where the values of an element begin, and how many bytes they are.
    values: list[tuple[int, int]] = []
    n_matrices = 0
    while at + 8 <= end:
        kind, size = struct.unpack_from(f"{order}II", content, at)
        start = at + 8
        if kind >> 16:
            # Up to four bytes share the tag with their type and number.
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
            if size > 4:
                raise ValueError("an element is longer than its tag allows")
        if start + size > end:
            raise ValueError("an element is longer than what it is in")
        if kind == _MATRIX:
            _check_elements(content, start, start + size, order, depth + 1)
            n_matrices += 1
        elif kind in _VALUES:
            values.append((start, size))
        else:
            raise ValueError(f"an element of unknown type {kind}")
        # Values are padded to eight bytes.
        at = at + 8 if start == at + 4 else start + size + -size % 8
    # An empty member of a cell has no elements at all.
    if values or n_matrices:
        _check_parts(content, values, n_matrices, order)


def _check_parts(content: mmap.mmap, values: list[tuple[int, int]], n_matrices: int, order: str) -> None:
    """Check that a matrix has what its class needs: flags, sizes and a name come first, always."""
    if len(values) < 3 or values[0][1] != 8:
        raise ValueError("a matrix lacks a part")
    sizes = _numbers(content, values[1], order)
    if len(sizes) < 2 or len(sizes) * 4 != values[1][1] or min(sizes) < 0:
        raise ValueError("a matrix of impossible size")
    (flags,) = struct.unpack_from(f"{order}I", content, values[0][0])
    kind, is_complex = flags & 0xFF, bool(flags & 0x0800)
    least = 6 + is_complex if kind == _SPARSE else 4 + is_complex if kind in _DENSE else 3
    if len(values) < least:
        raise ValueError("a matrix lacks a part")
    if kind == _CELL and n_matrices != math.prod(sizes):
        raise ValueError("a cell does not have as many members as it says")
    if kind in _STRUCTS:
        # An object names its class before its fields.
        place = 3 + _STRUCTS.index(kind)
        lengths = _numbers(content, values[place], order) if len(values) > place + 1 else ()
        if len(lengths) != 1 or lengths[0] < 1:
            raise ValueError("a struct without names of its fields")
        n_fields = values[place + 1][1] // lengths[0]
        if n_matrices != n_fields * math.prod(sizes):
            raise ValueError("a struct does not have as many fields as it says")


def _numbers(content: mmap.mmap, element: tuple[int, int], order: str) -> tuple[int, ...]:
    start, size = element
    return struct.unpack_from(f"{order}{size // 4}i", content, start)
