"""Check the structure of MATLAB files of version 4 to 7.2 before scipy parses them.

scipy takes the type code of every element as an index without a check, and a damaged code ends the whole process. Here
the elements are walked through in the order in which scipy reads them. Only their tags are read, not their values. What
is compressed is decompressed piece by piece for this, so that its checksum is verified and nothing is kept.
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import BinaryIO, Protocol

from ._size_limits import MEMBER_BYTES, SizeLimit

_HEADER = 128
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED, _UTF8 = 1, 5, 6, 14, 15, 16
_VALUES = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18))
_DEEPEST_CELL = 64
_MOST_SIDES = 32
# scipy compares every name of a field with all others.
_MOST_FIELDS = 2**13
# Characters that a text may declare without storing them; scipy fills it with spaces.
_MOST_SPACES = 2**16
# Classes of matrices: characters and all numbers have one element of values, sparse matrices three.
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17
_NUMBERS = frozenset(range(6, 16))
_PIECE = 2**16
# Version 4: bytes of a number by its code, and the codes of texts and sparse matrices.
_PRECISIONS = (8, 4, 4, 2, 2, 1)
_TEXT_4, _SPARSE_4 = 1, 2


class _Stream(Protocol):
    """Bytes that are read once, in order."""

    def read(self, size: int, /) -> bytes: ...

    def skip(self, size: int, /) -> None: ...


def check_structure(limit: SizeLimit) -> list[int]:
    """Raise ValueError if the file has a structure that scipy cannot parse safely; return the size of each variable."""
    with limit.path.open("rb") as file:
        # scipy decides by these four bytes, too.
        if 0 in file.read(4):
            return _check_version_4(file, limit.file_size)
        file.seek(0)
        header = file.read(_HEADER)
        if len(header) < _HEADER:
            raise ValueError("the header is cut short")
        order = "<" if header[126:128] == b"IM" else ">"
        sizes: list[int] = []
        at = _HEADER
        while at < limit.file_size:
            tag = file.read(8)
            if len(tag) < 8:
                raise ValueError("a variable is cut short")
            kind, size = struct.unpack(f"{order}II", tag)
            at += 8 + size
            if at > limit.file_size:
                raise ValueError("a variable is cut short")
            if kind == _MATRIX:
                _Matrix(_Stored(file), order, limit).check(size, 0)
            elif kind == _COMPRESSED:
                size = _check_compressed(file, size, order, limit, len(sizes))
            else:
                raise ValueError(f"a variable of unknown type {kind}")
            sizes.append(size)
            file.seek(at)
    return sizes


def variable_key(number: int) -> str:
    """Under which the memory of a variable is claimed."""
    return f"variable {number}"


def _check_compressed(file: BinaryIO, size: int, order: str, limit: SizeLimit, number: int) -> int:
    stream = _Inflated(file, size)
    kind, size = struct.unpack(f"{order}II", stream.read(8))
    if kind != _MATRIX:
        raise ValueError(f"a compressed variable of unknown type {kind}")
    limit.claim(variable_key(number), size)
    _Matrix(stream, order, limit).check(size, 0)
    stream.finish()
    return int(size)


class _Stored:
    """What is not compressed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        content = self._file.read(size)
        if len(content) < size:
            raise ValueError("a variable is cut short")
        return content

    def skip(self, size: int) -> None:
        self._file.seek(size, 1)


class _Inflated:
    """What is compressed; a piece at a time is in memory."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size
        self._inflate = zlib.decompressobj()
        self._ready = b""

    def _more(self, most: int) -> bytes:
        """Up to ``most`` bytes that follow; none at the end."""
        while not self._inflate.eof:
            source = self._inflate.unconsumed_tail
            if not source:
                source = self._file.read(min(_PIECE, self._left))
                self._left -= len(source)
            content = self._inflate.decompress(source, most)
            if content:
                return content
            if not source:
                raise ValueError("a compressed variable is cut short")
        return b""

    def read(self, size: int) -> bytes:
        while len(self._ready) < size:
            content = self._more(_PIECE)
            if not content:
                raise ValueError("a compressed variable is shorter than it says")
            self._ready += content
        content, self._ready = self._ready[:size], self._ready[size:]
        return content

    def skip(self, size: int) -> None:
        while size > len(self._ready):
            size -= len(self._ready)
            self._ready = self._more(_PIECE)
            if not self._ready:
                raise ValueError("a compressed variable is shorter than it says")
        self._ready = self._ready[size:]

    def finish(self) -> None:
        """Read to the end, where zlib compares the checksum."""
        if self._ready or self._more(1) or self._left or self._inflate.unused_data:
            raise ValueError("a compressed variable is longer than it says")


class _Matrix:
    """The check of one variable, with all matrices in it."""

    def __init__(self, stream: _Stream, order: str, limit: SizeLimit) -> None:
        self._stream, self._order, self._limit = stream, order, limit
        # Bytes that the matrix around the current place still has.
        self._left = 0

    def check(self, size: int, depth: int) -> None:
        """Check a matrix of ``size`` bytes whose tag has been read. It must fill them exactly."""
        if depth > _DEEPEST_CELL:
            raise ValueError("cells are nested too deep")
        outer, self._left = self._left, size
        kind, is_complex = self._flags()
        if kind == _OPAQUE:
            for _ in range(3):
                self._values((_INT8, _UTF8))
            self._matrices(1, depth)
        else:
            self._body(kind, is_complex, self._sizes(), depth)
        if self._left:
            raise ValueError("a matrix has more elements than its class needs")
        self._left = outer

    def _body(self, kind: int, is_complex: bool, sizes: tuple[int, ...], depth: int) -> None:
        count = math.prod(sizes)
        if kind in _NUMBERS or kind == _SPARSE:
            for _ in range((3 if kind == _SPARSE else 1) + is_complex):
                self._values(_VALUES)
        elif kind == _CHAR:
            # An empty side counts as well: scipy makes a text for each row, even if the rows are empty.
            if math.prod(max(each, 1) for each in sizes) > self._values(_VALUES) + _MOST_SPACES:
                raise ValueError("a text is shorter than it says")
        elif kind == _CELL:
            self._matrices(count, depth)
        elif kind in (_STRUCT, _OBJECT):
            if kind == _OBJECT:
                self._values((_INT8, _UTF8))
            lengths = self._whole_numbers(1)
            if len(lengths) != 1 or lengths[0] < 1:
                raise ValueError("a struct without names of its fields")
            n_fields = self._values((_INT8, _UTF8)) // lengths[0]
            if n_fields > _MOST_FIELDS or (n_fields == 0 and count > _MOST_SPACES):
                raise ValueError("a struct of impossible size")
            self._matrices(n_fields * count, depth)
        elif kind == _FUNCTION:
            self._matrices(1, depth)
        else:
            raise ValueError(f"a matrix of unknown class {kind}")

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ValueError("an element is longer than what it is in")

    def _tag(self) -> tuple[int, int, bytes | None]:
        """Type of the next element, its size, and its values if they are in the tag."""
        self._take(8)
        tag = self._stream.read(8)
        kind, size = struct.unpack(f"{self._order}II", tag)
        if not kind >> 16:
            return kind, size, None
        # Up to four bytes of values share the tag with their type and number.
        kind, size = kind & 0xFFFF, kind >> 16
        if size > 4:
            raise ValueError("an element is longer than its tag allows")
        return kind, size, tag[4 : 4 + size]

    def _values(self, kinds: frozenset[int] | tuple[int, ...]) -> int:
        """Pass over an element of values; return its size."""
        kind, size, inside = self._tag()
        if kind not in kinds:
            raise ValueError(f"an element of unknown type {kind}")
        if inside is None:
            # Values are padded to eight bytes.
            self._take(size + -size % 8)
            self._stream.skip(size + -size % 8)
        return size

    def _whole_numbers(self, most: int) -> tuple[int, ...]:
        kind, size, inside = self._tag()
        if kind not in (_INT32, _UINT32) or size % 4 or size > 4 * most:
            raise ValueError("an element that must be whole numbers is not")
        if inside is None:
            self._take(size + -size % 8)
            inside = self._stream.read(size + -size % 8)[:size]
        return struct.unpack(f"{self._order}{size // 4}i", inside)

    def _flags(self) -> tuple[int, bool]:
        """Class of the matrix, and whether it is complex."""
        kind, size, inside = self._tag()
        if inside is not None or kind != _UINT32 or size != 8:
            raise ValueError("a matrix lacks an element")
        self._take(8)
        (flags,) = struct.unpack(f"{self._order}I4x", self._stream.read(8))
        return flags & 0xFF, bool(flags & 0x0800)

    def _sizes(self) -> tuple[int, ...]:
        sizes = self._whole_numbers(_MOST_SIDES)
        if len(sizes) < 2 or min(sizes) < 0:
            raise ValueError("a matrix of impossible size")
        self._values((_INT8, _UTF8))  # the name
        return sizes

    def _matrices(self, count: int, depth: int) -> None:
        # A tag has eight bytes: a count that cannot fit is refused before it is believed.
        if count * 8 > self._left:
            raise ValueError("a cell or struct does not have as many members as it says")
        self._limit.count(count * MEMBER_BYTES)
        for _ in range(count):
            kind, size, _ = self._tag()
            if kind != _MATRIX:
                raise ValueError(f"a member of unknown type {kind}")
            self._take(size)
            # An empty member of a cell has no elements at all.
            if size:
                self.check(size, depth + 1)


def _check_version_4(file: BinaryIO, file_size: int) -> list[int]:
    """Check that every variable of version 4 ends after it begins and within the file."""
    file.seek(0)
    (first,) = struct.unpack("<i", file.read(4))
    order = "<" if 0 <= first <= 5000 else ">"
    sizes = []
    at = 0
    while at < file_size:
        file.seek(at)
        header = file.read(20)
        if len(header) < 20:
            raise ValueError("a variable is cut short")
        code, n_rows, n_columns, is_complex, name_length = struct.unpack(f"{order}5i", header)
        precision, form = code // 10 % 10, code % 10
        if code < 0 or min(n_rows, n_columns) < 0 or name_length < 1 or precision >= len(_PRECISIONS):
            raise ValueError("a matrix of impossible size or type")
        size = n_rows * n_columns * _PRECISIONS[precision]
        if form == _TEXT_4 and max(n_rows, 1) * max(n_columns, 1) > size + _MOST_SPACES:
            raise ValueError("a text is shorter than it says")
        # The imaginary part of a sparse matrix is one of its columns.
        size *= 2 if is_complex == 1 and form != _SPARSE_4 else 1
        at += 20 + name_length + size
        if at > file_size:
            raise ValueError("a variable is cut short")
        sizes.append(size)
    return sizes
