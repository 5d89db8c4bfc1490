"""Tables of numbers as text (CSV) or parquet."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtraError
from ._columns import Columns, column_roles, number
from ._entries import Entry, Kind, normal, reading
from ._labels import LABEL_NAMES

_DELIMITERS = ",;\t"


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read; ``counted`` is its first line where that is 0, 1, ... or 1, 2, ...: names, or data."""

    path: Path
    key: str
    # Rows x columns of numbers, or words; with the first line, if it is not known what that is.
    values: Any
    notes: tuple[str, ...] = ()
    labels: Any = None
    label_head: str = ""
    ids: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()

    def entries(self, *, has_header: bool = False, note: str = "") -> list[Entry]:
        """The table, and its column of labels; without its first line if that is known by now to hold names."""
        values = self.values[1:] if has_header else self.values
        notes = (*self.notes, *([note] if note else []))
        stem = self.path.stem
        if self.labels is None:
            return [_entry(self.key, stem, values, notes, self.ids)]
        if values.shape[1] == 0:
            said = f"Labels of {self.path.name} are its column {self.label_head!r}."
            return [_entry(self.key, stem, self.labels, (*notes, said), self.ids)]
        column = _entry(f"{self.key}.{self.label_head}", "label", self.labels, (), self.ids, is_column=True)
        return [_entry(self.key, stem, values, notes, self.ids), column]


def _entry(
    key: str, name: str, values: Any, notes: tuple[str, ...], ids: tuple[str, ...], *, is_column: bool = False
) -> Entry:
    kind: Kind = "text" if isinstance(values, list) else "matrix"
    shape = (len(values),) if kind == "text" else values.shape

    def read() -> Any:
        return _complete(values, key) if kind == "text" else values

    return Entry(key, kind, shape, read, name=name, notes=notes, ids=ids, is_column=is_column)


def read_csv(path: Path, key: str) -> Table:
    """A table with or without a line of column names; one column of words is text."""
    with reading(path):
        text = path.read_bytes().decode("utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise InputError(f"{path} is empty; expected a table of numbers.")
    delimiter = _delimiter(lines)
    first = _fields(lines[0], delimiter)
    has_header = _is_header(first, lines, delimiter)
    body = lines[1:] if has_header else lines
    if not body:
        raise InputError(f"{path} has column names and nothing below; expected a table of numbers.")
    counted = () if has_header or not _is_counted(first) or len(lines) == 1 else tuple(first)
    columns = Columns(list(range(len(first))))

    def words(place: int) -> list[str]:
        rows = (_fields(line, delimiter) for line in body)
        return [row[place] if place < len(row) else "" for row in rows]

    if has_header and len(first) > 1:
        columns = column_roles(first, words, path.name)
    notes = tuple(columns.notes)
    ids = () if columns.ids is None else tuple(words(columns.ids))
    if len(columns.features) == 1 and columns.label is None:
        column = words(columns.features[0])
        if any(number(word) is None for word in column):
            return Table(path, key, column, notes, ids=ids, counted=counted)
    labels = None if columns.label is None else _label_values(words(columns.label))
    head = "" if columns.label is None else first[columns.label]
    # A table of labels may have other columns, of words: they are not needed.
    features = [] if labels is not None and normal(path.stem) in LABEL_NAMES else columns.features
    values = _table(path, body, delimiter, 1 + has_header, features, len(first))
    return Table(path, key, values, notes, labels, head, ids, counted)


def _label_values(words: list[str]) -> Any:
    """Labels as numbers if all are, NaN where there is none; as words otherwise."""
    numbers = [number(word) for word in words]
    return words if any(each is None for each in numbers) else np.array(numbers, dtype=np.float64)[:, np.newaxis]


def _complete(words: list[str], key: str) -> list[str]:
    empty = words.count("")
    if empty:
        raise InputError(
            f"Labels {key!r} are empty for {empty} of {len(words)} samples; expected a label for each (labels=False "
            "leaves them out)."
        )
    return words


def read_parquet(path: Path, key: str) -> Table:
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
    return _frame_table(path, key, frame)


def _frame_table(path: Path, key: str, frame: Any) -> Table:
    """A DataFrame's numbers."""

    def words(place: int) -> list[str]:
        column = frame.iloc[:, place]
        return ["" if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)]

    names = [str(name) for name in frame.columns]
    columns = column_roles(names, words, path.name) if len(names) > 1 else Columns(list(range(len(names))))
    labels = None if columns.label is None else _label_values(words(columns.label))
    head = "" if columns.label is None else names[columns.label]
    ids = () if columns.ids is None else tuple(words(columns.ids))
    is_labels = labels is not None and normal(path.stem) in LABEL_NAMES
    features = frame.iloc[:, [] if is_labels else columns.features]
    notes = tuple(columns.notes)
    kinds = {dtype.kind for dtype in features.dtypes}
    if kinds <= set("fiub") and (kinds or labels is not None):
        values = features.to_numpy() if kinds else np.empty((len(frame), 0))
        values = values if values.dtype.kind in "fiub" else features.to_numpy(dtype=np.float64, na_value=np.nan)
        return Table(path, key, values, notes, labels, head, ids)
    if features.shape[1] == 1 and labels is None:
        return Table(path, key, words(columns.features[0]), notes, ids=ids)
    wrong = [str(name) for name, dtype in features.dtypes.items() if dtype.kind not in "fiub"]
    raise InputError(f"{path} has columns that are not numbers: {', '.join(map(repr, wrong[:5])) or 'none at all'}.")


def _delimiter(lines: list[str]) -> str | None:
    """What separates columns; None for spaces, which separate numbers but not words."""
    found = next((each for each in _DELIMITERS if each in lines[0]), None)
    words = lines[-1].split()
    spaced = found is None and len(words) > 1 and all(number(word) is not None for word in words)
    return None if spaced else found or ","


def _fields(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter))]


def _is_header(first: list[str], lines: list[str], delimiter: str | None) -> bool:
    """Whether the first line holds names for certain: words, or a DataFrame's 0, 1, ... beside names of rows."""
    if any(number(field) is None for field in first):
        below = _fields(lines[1], delimiter) if len(lines) > 1 else []
        return len(first) > 1 or (bool(below) and number(below[0]) is not None) or first[0].lower() in _WORDS
    if first != ["0"] and not (first[0] == "" and _is_counted(first[1:])):
        return False
    rows = [_fields(line, delimiter)[0] for line in lines[1:]]
    if len(first) == 1:
        # A Series of words has 0 above them.
        return bool(rows) and all(number(row) is None for row in rows)
    return "" not in rows and len(set(rows)) == len(rows)


def _is_counted(fields: list[str]) -> bool:
    return bool(fields) and any(fields == [str(i + start) for i in range(len(fields))] for start in (0, 1))


# Names of a column of words: without these, a first word among words is a label.
_WORDS = ("label", "labels", "y", "gt", "gnd", "truth", "class", "target", "category", "cluster")


def _table(
    path: Path, lines: list[str], delimiter: str | None, first_line: int, columns: list[int], n_fields: int
) -> Any:
    """Numbers of all lines, in the columns that are asked for."""
    if not columns:
        return np.empty((len(lines), 0))
    every = len(columns) == n_fields
    try:
        table = np.loadtxt(
            io.StringIO("\n".join(lines)),
            delimiter=delimiter,
            ndmin=2,
            comments=None,
            usecols=None if every else columns,
        )
    except ValueError:
        # Missing values, quotes, or something that is no number: slower, and able to say where.
        pass
    else:
        return table
    rows = [_fields(line, delimiter) for line in lines]
    width = len(rows[0])
    table = np.empty((len(rows), len(columns) if width == n_fields else width))
    for i, row in enumerate(rows):
        where = f"{path}, line {i + first_line} of those that are not empty"
        if len(row) != width:
            raise InputError(f"{where}, has {len(row)} fields; expected {width} as before.")
        for place, j in enumerate(columns if width == n_fields else range(width)):
            value = number(row[j])
            if value is None:
                raise InputError(f"{where}, has {row[j][:40]!r} in column {j + 1}; expected a number.")
            table[i, place] = value
    return table
