"""Tables in text files: fields of CSV and TSV files, their separator, decimal mark and header, also compressed."""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, InputError
from ._read_options import ReadOptions
from ._size_limits import SizeLimit
from ._table_columns import LABEL_HEADS, field_number, has_no_number

# In this order: a line with a tab or a semicolon may have decimal commas.
_SEPARATORS = "\t;,"
# Heads of a column of words: without one of these, the first word of a column of words is a label.
_WORD_HEADS = (*LABEL_HEADS, "gt", "gnd", "truth", "category", "cluster")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_PIECE = 2**20
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class TextTable:
    """Lines of a table in a text file.

    ``heads`` are the names of the columns; without a header, empty. ``width`` is the number of columns, ``counted`` the
    first line if it counts them: then it may be a header or data.
    """

    path: Path
    lines: list[str]
    sep: str | None
    heads: tuple[str, ...]
    width: int
    counted: tuple[str, ...] = ()
    comma: bool | None = None

    @property
    def has_header(self) -> bool:
        return bool(self.heads)

    def words(self, column: int, *, strip: bool = True) -> list[str]:
        """The fields of a column."""
        rows = (_fields(line, self.sep, strip=strip) for line in self.lines)
        return [row[column] if column < len(row) else "" for row in rows]

    def number(self, text: str) -> float | None:
        """The number in a field, also with a decimal comma where it may have one."""
        value = None if self.comma else field_number(text)
        if value is None and (self.comma or (self.comma is None and self.sep != ",")) and len(text) < _PIECE:
            value = field_number(text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text)
        return value

    def numbers(self, columns: list[int]) -> Any:
        """Numbers of all lines, in the given columns."""
        if not columns:
            return np.empty((len(self.lines), 0))
        usecols = None if len(columns) == self.width else columns
        lines = [line.replace(",", ".") for line in self.lines] if self.comma and self.sep != "," else self.lines
        try:
            text = io.StringIO("\n".join(lines))
            return np.loadtxt(text, delimiter=self.sep, ndmin=2, comments=None, usecols=usecols)
        except ValueError:
            # Missing values, quotes, or something that is no number: what follows is slower and says where.
            pass
        rows = [_fields(line, self.sep) for line in self.lines]
        width = len(rows[0])
        wanted = columns if width == self.width else list(range(width))
        table = np.empty((len(rows), len(wanted)))
        for i, row in enumerate(rows):
            where = f"{self.path}, line {i + 1 + self.has_header} of those that are not empty"
            if len(row) != width:
                raise InputError(f"{where}, has {len(row)} field{'s' * (len(row) != 1)}; expected {width} as before.")
            for place, j in enumerate(wanted):
                value = self.number(row[j])
                if value is None:
                    head = repr(self.heads[j]) if self.has_header and self.heads[j] else j + 1
                    hint = "; decimal=',' (--decimal ,) takes commas for decimal marks"
                    hint = hint if _DECIMAL_COMMA.fullmatch(row[j]) else ""
                    raise InputError(f"{where}, has {row[j][:40]!r} in column {head}; expected a number{hint}.")
                table[i, place] = value
        return table


def read_text(limit: SizeLimit, key: str, options: ReadOptions) -> TextTable:
    """Lines of a text file, and what its first line is."""
    path = limit.path
    text = _decoded(_content(limit, key), path)
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise InputError(f"{path} is empty; expected a table of numbers.")
    sep = options.sep or _separator(lines)
    lines = _without_last(lines, sep)
    first = _fields(lines[0], sep)
    below = _fields(lines[1], sep) if len(lines) > 1 else []
    # R's write.table writes no head above the names of the rows.
    is_short = len(below) == len(first) + 1 and has_no_number(first)
    first = ["", *first] if is_short else first
    if len(first) == 1 < len(below):
        raise InputError(
            f"{path}, line 2 of those that are not empty, has {len(below)} fields, and the first line has one; remove "
            "a title above the heads, or say sep= (--sep) if another character separates the fields."
        )
    has_header = is_short or _is_header(first, lines, sep)
    if options.index and not has_header:
        raise InputError(f"{path} has no line of column names, so no column is {options.index!r} (index=, --index).")
    body = lines[1:] if has_header else lines
    if not body:
        raise InputError(f"{path} has column names and nothing below; expected a table of numbers.")
    counted = tuple(first) if not has_header and _counts(first) and len(lines) > 1 else ()
    comma = None if options.decimal is None else options.decimal == ","
    return TextTable(path, body, sep, tuple(first) if has_header else (), len(first), counted, comma)


def _without_last(lines: list[str], sep: str | None) -> list[str]:
    """Lines without the separators that some programs write at their ends: no column has a head or a value there."""
    if sep in (None, " ") or len(lines) < 2 or not _is_header(first := _fields(lines[0], sep), lines, sep):
        return lines
    ends = [min(len(line) - len(line.rstrip(sep)), len(line) - 1) for line in lines]
    short = len(_fields(lines[1], sep)) - len(first)  # separators that the first line lacks
    cut = min(*ends[1:], ends[0] + short)
    if short < 0 or cut <= 0:
        return lines
    return [lines[0][: len(lines[0]) - max(cut - short, 0)], *(line[:-cut] for line in lines[1:])]


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileError(
            f"Cannot read {path}: line {line} is not text in UTF-8 (byte 0x{content[error.start]:02x}); save the file "
            "in UTF-8, in Excel as 'CSV UTF-8'."
        ) from error


def _content(limit: SizeLimit, key: str) -> bytes:
    """Bytes of a file, decompressed if it is compressed, within the limit."""
    with limit.path.open("rb") as file:
        compressed = file.read(2) == GZIP
    if not compressed:
        limit.claim(key, limit.file_size)
        return limit.path.read_bytes()
    pieces: list[bytes] = []
    size = 0
    with gzip.open(limit.path) as unpacked:
        while piece := unpacked.read(_PIECE):
            size += len(piece)
            limit.claim(key, size)
            pieces.append(piece)
    return b"".join(pieces)


def _separator(lines: list[str]) -> str | None:
    """The separator of the fields; None for spaces."""
    plain = re.sub(r'"[^"]*"', "", lines[0])
    found = next((each for each in _SEPARATORS if each in plain), None)
    if found is None and '"' in lines[0] and " " in plain:
        found = " "  # as R's write.table does
    if found is not None:
        return found
    last = lines[-1].split()
    # Spaces separate numbers, but not words.
    return "," if len(last) == 1 or any(field_number(word) is None for word in last) else None


def _fields(line: str, sep: str | None, *, strip: bool = True) -> list[str]:
    if sep is None:
        return line.split()
    fields = next(csv.reader([line], delimiter=sep))
    return [field.strip() for field in fields] if strip else fields


def _is_header(first: list[str], lines: list[str], sep: str | None) -> bool:
    """Whether the first line holds names for certain: words, or a DataFrame's 0, 1, ... beside names of rows."""
    if any(_is_word(field, sep) for field in first):
        below = _fields(lines[1], sep) if len(lines) > 1 else []
        if len(first) == 1:
            return (bool(below) and field_number(below[0]) is not None) or first[0].lower() in _WORD_HEADS
        # A name and numbers, above more of the kind, is a sample; a name above counted columns is a header.
        alike = len(below) == len(first) and _is_word(first[0], sep) and _is_word(below[0], sep)
        return not (alike and not any(_is_word(field, sep) for field in first[1:]) and not _counts(first[1:]))
    if first != ["0"] and not (first[0] == "" and _counts(first[1:])):
        return False
    rows = [_fields(line, sep)[0] for line in lines[1:]]
    if len(first) == 1:
        # A Series of words has 0 above them.
        return bool(rows) and all(field_number(row) is None for row in rows)
    return "" not in rows and len(set(rows)) == len(rows)


def _is_word(field: str, sep: str | None) -> bool:
    return field_number(field) is None and (sep == "," or _DECIMAL_COMMA.fullmatch(field) is None)


def _counts(fields: list[str]) -> bool:
    return bool(fields) and any(fields == [str(i + start) for i in range(len(fields))] for start in (0, 1))
