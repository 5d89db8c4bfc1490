"""Tables of numbers as text (CSV) or parquet."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtraError
from ._entries import Entry, reading

_DELIMITERS = ",;\t"
_MISSING = ("", "na", "n/a", "nan", "null", "none", "?")


def csv_entry(path: Path, key: str) -> Entry:
    """A table with or without a line of column names; one column of words is text."""
    with reading(path):
        text = path.read_bytes().decode("utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise InputError(f"{path} is empty; expected a table of numbers.")
    delimiter = _delimiter(lines)
    first = _fields(lines[0], delimiter)
    has_header = _is_header(first, _fields(lines[1], delimiter) if len(lines) > 1 else [])
    body = lines[1:] if has_header else lines
    if not body:
        raise InputError(f"{path} has column names and nothing below; expected a table of numbers.")
    words = [_fields(line, delimiter)[0] for line in body] if len(first) == 1 else []
    if any(_number(word) is None for word in words):
        return Entry(key, "text", (len(words),), lambda: words)
    table = _table(path, body, delimiter, 1 + has_header)
    # pandas writes the row names as a first column without a name.
    if has_header and first[0] == "" and table.shape[1] > 1:
        table = table[:, 1:]
    return Entry(key, "matrix", table.shape, lambda: table)


def parquet_entry(path: Path, key: str) -> Entry:
    """A table of numbers, or one column of words."""
    try:
        import pandas as pd

        with reading(path):
            frame = pd.read_parquet(path)
    except ImportError as error:
        raise MissingExtraError(
            f"Cannot read {path}: parquet files need pandas and pyarrow, which are not installed: "
            "pip install pandas pyarrow."
        ) from error
    return frame_entry(path, key, frame)


def frame_entry(path: Path, key: str, frame: Any) -> Entry:
    """Entry of a DataFrame's numbers."""
    kinds = {dtype.kind for dtype in frame.dtypes}
    if kinds <= set("fiub") and kinds:
        values = frame.to_numpy()
        values = values if values.dtype.kind in "fiub" else frame.to_numpy(dtype=np.float64, na_value=np.nan)
        return Entry(key, "matrix", values.shape, lambda: values)
    if frame.shape[1] == 1:
        words = [str(word) for word in frame.iloc[:, 0]]
        return Entry(key, "text", (len(words),), lambda: words)
    wrong = [str(name) for name, dtype in frame.dtypes.items() if dtype.kind not in "fiub"]
    raise InputError(f"{path} has columns that are not numbers: {', '.join(map(repr, wrong[:5])) or 'none at all'}.")


def _delimiter(lines: list[str]) -> str | None:
    """What separates columns; None for spaces, which separate numbers but not words."""
    found = next((each for each in _DELIMITERS if each in lines[0]), None)
    words = lines[-1].split()
    spaced = found is None and len(words) > 1 and all(_number(word) is not None for word in words)
    return None if spaced else found or ","


def _fields(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter))]


def _number(field: str) -> float | None:
    """The number a field holds: NaN where it says that there is none, None where it holds something else."""
    if field.lower() in _MISSING:
        return float("nan")
    try:
        return float(field)
    except ValueError:
        return None


def _is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first line holds names: words above numbers, or a DataFrame's 0, 1, 2, ... above anything."""
    if any(_number(field) is None for field in first):
        return len(first) > 1 or (bool(second) and _number(second[0]) is not None) or first[0].lower() in _WORDS
    counted = first[1:] if first[0] == "" else first
    return len(counted) > 2 and counted == [str(i) for i in range(len(counted))]


# Names of a column of words: without these, a first word among words is a label.
_WORDS = ("label", "labels", "y", "gt", "gnd", "truth", "class", "target", "category", "cluster")


def _table(path: Path, lines: list[str], delimiter: str | None, first_line: int) -> Any:
    """Numbers of all lines."""
    try:
        return np.loadtxt(io.StringIO("\n".join(lines)), delimiter=delimiter, ndmin=2, comments=None)
    except ValueError:
        # Missing values, quotes, or something that is no number: slower, and able to say where.
        pass
    rows = [_fields(line, delimiter) for line in lines]
    table = np.empty((len(rows), len(rows[0])))
    for i, row in enumerate(rows):
        where = f"{path}, line {i + first_line} of those that are not empty"
        if len(row) != table.shape[1]:
            raise InputError(f"{where}, has {len(row)} fields; expected {table.shape[1]} as before.")
        for j, field in enumerate(row):
            value = _number(field)
            if value is None:
                raise InputError(f"{where}, has {field[:40]!r} in column {j + 1}; expected a number.")
            table[i, j] = value
    return table
