"""Tables: CSV and parquet files, with or without a line of column names, labels and names of the samples."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..blocks import check_graph, is_numeric
from ..errors import InputError, MissingExtraError
from ._entries import Entry, normal, reading
from ._find_labels import LABEL_NAMES, IncompleteLabels
from ._multi_view_data import Note
from ._size_limits import SizeLimit

_DELIMITERS = ",;\t"
_MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
_LABEL_HEADS = ("label", "labels", "class", "target", "y")
_ID_HEADS = ("id", "index")
# Heads of a column of words: without one of these, the first word of a column of words is a label.
_WORD_HEADS = (*_LABEL_HEADS, "gt", "gnd", "truth", "category", "cluster")
_LONGEST_NUMBER = 1000
# A first line that counts at least so many columns is a header, not data.
_MANY_COLUMNS = 3


@dataclass(frozen=True)
class ColumnRoles:
    """Indices of a table's columns by what they hold."""

    features: list[int]
    label: int | None = None
    ids: int | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table that was read.

    ``values`` are rows x columns of numbers, or a list of words. ``counted`` is the first line if it counts the columns
    (0, 1, ... or 1, 2, ...): it may be a header or data, and ``values`` still hold it.
    """

    path: Path
    key: str
    values: Any
    notes: tuple[Note, ...]
    labels: Any
    label_head: str
    ids: tuple[str, ...]
    counted: tuple[str, ...]

    @property
    def possible_rows(self) -> set[int]:
        return {len(self.values), len(self.values) - 1}

    @property
    def surely_has_header(self) -> bool:
        """Whether the counted line is long, or stands above numbers that are not whole."""
        with np.errstate(invalid="ignore"):
            is_fractional = not isinstance(self.values, list) and bool((self.values[1:] % 1 > 0).any())
        return is_fractional or len(self.counted) >= _MANY_COLUMNS

    @property
    def first_line(self) -> str:
        return ", ".join(self.counted[:3]) + (", ..." if len(self.counted) > 3 else "")

    def entries(self, *, has_header: bool = False, note: bool = False) -> list[Entry]:
        """The table, and its column of labels. ``has_header`` and ``note`` say what the counted line is."""
        values = self.values[1:] if has_header else self.values
        notes = self.notes
        if note:
            taken = "names" if has_header else "numbers"
            text = f"The first line of {self.path.name}, {self.first_line}, was taken as {taken}."
            notes += (Note("table", self.key, text),)
        table = Entry(self.key, "matrix", (), name=self.path.stem, notes=notes, ids=self.ids)
        if self.labels is None:
            return [_filled(table, values)]
        if values.shape[1] == 0:
            text = f"Labels of {self.path.name} are its column {self.label_head!r}."
            return [_filled(replace(table, notes=(*notes, Note("labels", self.key, text))), self.labels)]
        label_key = f"{self.key}.{self.label_head}"
        column = Entry(label_key, "matrix", (), name="label", ids=self.ids, is_column=True)
        return [_filled(table, values), _filled(column, self.labels)]


def _filled(entry: Entry, values: Any) -> Entry:
    if not isinstance(values, list):
        return replace(entry, shape=values.shape, read=lambda: values)

    def read() -> list[str]:
        if empty := values.count(""):
            raise IncompleteLabels(
                f"Labels {entry.key!r} are empty for {empty} of {len(values)} samples; expected a label for each "
                "(labels=False leaves them out)."
            )
        return values

    return replace(entry, kind="text", shape=(len(values),), read=read)


def table_entries(table: TableFile) -> list[Entry]:
    """Entries of a table that no other file says anything about."""
    if not table.counted:
        return table.entries()
    return table.entries(has_header=table.surely_has_header, note=len(table.counted) > 1)


def folder_tables(tables: Sequence[TableFile], others: Sequence[Entry], folder: Path) -> dict[Path, list[Entry]]:
    """Entries of each table of a folder.

    The numbers of rows of all files decide whether a line that counts columns is a header. ``others`` are the entries
    of files that are no tables.
    """
    made = {table.path: table.entries() for table in tables if not table.counted}
    certain = [entry for entries in made.values() for entry in entries]
    # Sizes that are the number of samples for certain, and sizes that may be.
    lists = [entry for entry in others if entry.is_vector or (entry.kind == "text" and entry.shape)]
    strong = {entry.shape[0] for entry in certain} | {max(entry.shape) for entry in lists}
    weak = {size for entry in (*others, *certain) if entry.is_matrix for size in entry.shape}
    open_tables = [table for table in tables if table.counted]
    for table in open_tables:
        if strong or weak:
            fits = (table.possible_rows & strong) or (table.possible_rows & weak)
        else:
            fits = set.intersection(*(each.possible_rows for each in open_tables))
        if not fits:
            made[table.path] = table_entries(table)
            continue
        if len(fits) > 1 and not strong and not weak and any(each.surely_has_header for each in open_tables):
            # All files have as many lines, and one has a header for certain: all have one.
            fits = {len(table.values) - 1}
        if len(fits) > 1:
            raise InputError(
                f"{folder}: cannot tell whether the first line of {table.path.name}, {table.first_line}, holds names "
                "of columns or numbers; write names that are words, or none."
            )
        has_header = fits == {len(table.values) - 1}
        made[table.path] = table.entries(has_header=has_header, note=has_header)
    return made


def read_table(limit: SizeLimit, kind: str, key: str) -> TableFile:
    """Read a table of numbers, or one column of words; ``kind`` is "csv" or "parquet"."""
    with reading(limit.path):
        return _read_csv(limit, key) if kind == "csv" else _read_parquet(limit, key)


def _read_csv(limit: SizeLimit, key: str) -> TableFile:
    path = limit.path
    limit.claim(key, limit.file_size)
    text = path.read_bytes().decode("utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise InputError(f"{path} is empty; expected a table of numbers.")
    delimiter = next((each for each in _DELIMITERS if each in lines[0]), None)
    last = lines[-1].split()
    if delimiter is None and (len(last) == 1 or any(_number(word) is None for word in last)):
        # Spaces separate numbers, but not words.
        delimiter = ","
    first = _fields(lines[0], delimiter)
    has_header = _is_header(first, lines, delimiter)
    body = lines[1:] if has_header else lines
    if not body:
        raise InputError(f"{path} has column names and nothing below; expected a table of numbers.")
    counted = tuple(first) if not has_header and _counts(first) and len(lines) > 1 else ()

    def words(column: int) -> list[str]:
        rows = (_fields(line, delimiter) for line in body)
        return [row[column] if column < len(row) else "" for row in rows]

    roles = _column_roles(first, words, path) if has_header else ColumnRoles(list(range(len(first))))
    if len(roles.features) == 1 and roles.label is None:
        values: Any = words(roles.features[0])
        if any(_number(word) is None for word in values):
            return _table(path, key, first, roles, words, values, counted)
    values = _read_numbers(path, body, delimiter, 1 + has_header, roles.features, len(first))
    return _table(path, key, first, roles, words, values, counted)


def _read_parquet(limit: SizeLimit, key: str) -> TableFile:
    path = limit.path
    try:
        import pandas as pd
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:
            limit.claim(key, _parquet_bytes(file.metadata))
            kinds = {field.name: str(field.type) for field in file.schema_arrow}
        # A text that is repeated stays in memory once.
        texts = [name for name, kind in kinds.items() if kind.removeprefix("large_") in ("string", "binary")]
        frame: Any = pd.read_parquet(path, engine="pyarrow", read_dictionary=texts)
    except ImportError as error:
        raise MissingExtraError(
            f"Cannot read {path}: parquet files need pandas and pyarrow, which are not installed: "
            "pip install pandas pyarrow."
        ) from error

    def words(column: int) -> list[str]:
        values = frame.iloc[:, column]
        if isinstance(values.dtype, pd.CategoricalDtype):
            return _shared_texts(values.array)
        return ["" if missing else str(value) for value, missing in zip(values, values.isna(), strict=True)]

    names = [str(name) for name in frame.columns]
    roles = _column_roles(names, words, path)
    features = frame.iloc[:, roles.features]
    is_named = not isinstance(frame.index, pd.RangeIndex)
    is_shared = isinstance(frame.index, pd.CategoricalIndex)
    index = tuple(_shared_texts(frame.index.array) if is_shared else map(str, frame.index)) if is_named else ()
    if is_numeric(features) and (features.shape[1] or roles.label is not None):
        values = check_graph(features, key, "features") if features.size else np.empty(features.shape)
        return _table(path, key, names, roles, words, values, index=index)
    if features.shape[1] == 1 and roles.label is None:
        return _table(path, key, names, roles, words, words(roles.features[0]), index=index)
    wrong = [str(name) for name, dtype in features.dtypes.items() if dtype.kind not in "fiub"]
    raise InputError(f"{path} has columns that are not numbers: {', '.join(map(repr, wrong[:5])) or 'none at all'}.")


def _shared_texts(values: Any) -> list[str]:
    """Texts of a categorical array, without a copy for each row."""
    names = [*map(str, values.categories), ""]  # a missing value has the code -1
    return [names[code] for code in values.codes]


def _parquet_bytes(metadata: Any) -> int:
    """Memory of a parquet file: its encodings store many equal values in a few bytes."""
    # Sizes of row groups, not of their columns: pyarrow ends the process if those of a damaged file are asked for.
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    stored = sum(max(8 * group.num_rows * group.num_columns, group.total_byte_size) for group in groups)
    return int(8 * metadata.num_rows * metadata.num_columns + stored)


def _table(
    path: Path,
    key: str,
    names: Sequence[str],
    roles: ColumnRoles,
    words: Callable[[int], list[str]],
    values: Any,
    counted: tuple[str, ...] = (),
    index: tuple[str, ...] = (),
) -> TableFile:
    labels, head = None, ""
    if roles.label is not None:
        head, column = names[roles.label], words(roles.label)
        numbers = [_number(word) for word in column]
        is_words = any(each is None for each in numbers)
        labels = column if is_words else np.array(numbers, dtype=np.float64)[:, np.newaxis]
    ids = index if roles.ids is None else tuple(words(roles.ids))
    return TableFile(path, key, values, roles.notes, labels, head, ids, counted)


def _column_roles(names: Sequence[str], words: Callable[[int], list[str]], path: Path) -> ColumnRoles:
    """Which columns are features, labels or names of samples, by the head of a column and by what is in it.

    ``words`` returns the fields of a column as text; it is called only for columns whose head raises the question.
    """
    if len(names) <= 1:
        return ColumnRoles(list(range(len(names))))
    heads = [name.strip().lower() for name in names]
    notes: list[str] = []
    label: int | None = None
    ids: int | None = None
    left: set[int] = set()
    named = [column for column, head in enumerate(heads) if head in _LABEL_HEADS]
    for column in sorted(named, key=lambda column: _LABEL_HEADS.index(heads[column])):
        are_labels = _are_labels(words(column))
        if heads[column] == "y" and ("x" in heads or not are_labels):
            notes.append(f"Column {names[column]!r} of {path.name} was taken as a feature, not as labels.")
        elif label is None and are_labels:
            label = column
        else:
            notes.append(f"Column {names[column]!r} of {path.name} has a label's name and was left out.")
            left.add(column)
    for column, head in enumerate(heads):
        without_name = head == "" and column == 0
        if without_name or (head in _ID_HEADS and _are_ids(words(column))):
            which = "The first column, which has no name," if without_name else f"Column {names[column]!r}"
            notes.append(f"{which} of {path.name} was taken for names of the rows and left out.")
            ids = column if ids is None else ids
            left.add(column)
    features = [column for column in range(len(names)) if column not in left and column != label]
    if label is not None and normal(path.stem) in LABEL_NAMES:
        # A table of labels may have other columns, of words: they are not needed.
        features = []
    return ColumnRoles(features, label, ids, tuple(Note("table", path.stem, text) for text in notes))


def _number(text: str) -> float | None:
    """The number in a field: NaN if the field says that it is missing, None if it holds something else."""
    # A long text may stand in every row, although the file has it once.
    if len(text) > _LONGEST_NUMBER:
        return None
    if text.lower() in _MISSING:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return None


def _are_labels(values: Sequence[str]) -> bool:
    """Whether all are whole numbers, or some are words or missing. Infinity, as in 1e999, is no whole number."""
    numbers = [_number(value) for value in values]
    return any(each is None or each != each for each in numbers) or all((each or 0) % 1 == 0 for each in numbers)


def _are_ids(values: Sequence[str]) -> bool:
    """Whether all are different, and whole numbers or words."""
    numbers = [_number(value) for value in values]
    is_one_kind = all(each is None for each in numbers) or all(each is not None and each % 1 == 0 for each in numbers)
    return is_one_kind and len(set(values)) == len(values)


def _fields(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter))]


def _is_header(first: list[str], lines: list[str], delimiter: str | None) -> bool:
    """Whether the first line holds names for certain: words, or a DataFrame's 0, 1, ... beside names of rows."""
    if any(_number(field) is None for field in first):
        below = _fields(lines[1], delimiter) if len(lines) > 1 else []
        return len(first) > 1 or (bool(below) and _number(below[0]) is not None) or first[0].lower() in _WORD_HEADS
    if first != ["0"] and not (first[0] == "" and _counts(first[1:])):
        return False
    rows = [_fields(line, delimiter)[0] for line in lines[1:]]
    if len(first) == 1:
        # A Series of words has 0 above them.
        return bool(rows) and all(_number(row) is None for row in rows)
    return "" not in rows and len(set(rows)) == len(rows)


def _counts(fields: list[str]) -> bool:
    return bool(fields) and any(fields == [str(i + start) for i in range(len(fields))] for start in (0, 1))


def _read_numbers(
    path: Path, lines: list[str], delimiter: str | None, first_line: int, columns: list[int], n_fields: int
) -> Any:
    """Numbers of all lines, in the given columns."""
    if not columns:
        return np.empty((len(lines), 0))
    usecols = None if len(columns) == n_fields else columns
    try:
        return np.loadtxt(io.StringIO("\n".join(lines)), delimiter=delimiter, ndmin=2, comments=None, usecols=usecols)
    except ValueError:
        # Missing values, quotes, or something that is no number: what follows is slower and says where.
        pass
    rows = [_fields(line, delimiter) for line in lines]
    width = len(rows[0])
    wanted = columns if width == n_fields else list(range(width))
    table = np.empty((len(rows), len(wanted)))
    for i, row in enumerate(rows):
        where = f"{path}, line {i + first_line} of those that are not empty"
        if len(row) != width:
            raise InputError(f"{where}, has {len(row)} fields; expected {width} as before.")
        for place, j in enumerate(wanted):
            value = _number(row[j])
            if value is None:
                raise InputError(f"{where}, has {row[j][:40]!r} in column {j + 1}; expected a number.")
            table[i, place] = value
    return table
