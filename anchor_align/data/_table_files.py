"""Tables: text, parquet and Feather files, with or without column names, labels and names of the samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ._arrow_files import open_arrow
from ._entries import Entry, reading
from ._find_labels import IncompleteLabels
from ._multi_view_data import Note
from ._read_options import ReadOptions
from ._size_limits import SizeLimit
from ._table_columns import ColumnRoles, check_different, column_roles, field_number, has_no_number
from ._text_tables import read_text

TABLE_KINDS = ("csv", "parquet", "feather")
# A first line that counts at least so many columns is a header, not data.
_MANY_COLUMNS = 3


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
    ids: tuple[Any, ...]
    ids_are_typed: bool
    counted: tuple[str, ...]
    heads: tuple[str, ...] = ()

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
        named: dict[str, Any] = {"ids": self.ids, "ids_are_typed": self.ids_are_typed, "heads": self.heads}
        table = Entry(self.key, "matrix", (), name=self.path.stem, notes=notes, is_table=True, **named)
        if self.labels is None:
            return [_filled(table, values)]
        if values.shape[1] == 0:
            text = f"Labels of {self.path.name} are its column {self.label_head!r}."
            return [_filled(replace(table, notes=(*notes, Note("labels", self.key, text))), self.labels)]
        label_key = f"{self.key}.{self.label_head}"
        column = replace(table, key=label_key, name="label", notes=(), is_column=True)
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


def folder_tables(tables: Sequence[TableFile], others: Sequence[Entry], where: str) -> dict[Path, list[Entry]]:
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
                f"{where}: cannot tell whether the first line of {table.path.name}, {table.first_line}, holds names "
                "of columns or numbers; write names that are words, or none."
            )
        has_header = fits == {len(table.values) - 1}
        made[table.path] = table.entries(has_header=has_header, note=has_header)
    return made


def read_table(limit: SizeLimit, kind: str, key: str, options: ReadOptions) -> TableFile:
    """Read a table of numbers, or one column of words; ``kind`` is one of ``TABLE_KINDS``."""
    with reading(limit.path):
        return _from_text(limit, key, options) if kind == "csv" else _from_arrow(limit, kind, key, options)


def _from_text(limit: SizeLimit, key: str, options: ReadOptions) -> TableFile:
    table = read_text(limit, key, options)
    path = table.path
    if table.has_header:
        # Spreadsheets write empty rows behind the last one. Where rows have no names, such a row may be a sample.
        filled = replace(table, lines=[line for line in table.lines if line.strip(f'{table.sep or " "}" ')])
        if not filled.lines:
            raise InputError(f"{path} has column names and empty rows; expected a table of numbers.")
        roles = column_roles(table.heads, filled.words, path, options.index, number=table.number)
        table = table if roles.ids is None else filled
    else:
        roles = ColumnRoles(list(range(table.width)))
        if table.width > 1 and has_no_number(names := table.words(0), table.number):
            check_different(names, "", path)
            note = Note("table", path.stem, f"The first column of {path.name} was taken for names of the rows.")
            roles = ColumnRoles(roles.features[1:], None, None if options.index is False else 0, (note,))
    values: Any = table.words(roles.features[0]) if len(roles.features) == 1 and roles.label is None else None
    if values is None or all(table.number(word) is not None for word in values):
        values = table.numbers(roles.features)
    # Spaces belong to a name: a name that has them is refused, not changed.
    ids = () if roles.ids is None else tuple(table.words(roles.ids, strip=False))
    return _table(path, key, table.heads, roles, table.words, values, ids, counted=table.counted)


def _from_arrow(limit: SizeLimit, kind: str, key: str, options: ReadOptions) -> TableFile:
    path = limit.path
    with open_arrow(limit, kind, key, on_disk=options.mmap) as table:
        names = table.columns
        index: tuple[Any, ...] = ()
        if options.index in table.index:
            names = [*names, str(options.index)]
        elif options.index is None and table.counted:
            index = table.counted
        elif options.index is None and table.index:
            parts = [table.values(name) for name in table.index]
            index = tuple(parts[0]) if len(parts) == 1 else tuple(zip(*parts, strict=True))

        def words(column: int) -> list[str]:
            return table.words(names[column])

        is_number = bool(names) and table.is_number(names[0])
        roles = column_roles(names, words, path, options.index, first_is_number=is_number)
        if index and roles.ids is not None and options.index is None:
            roles = replace(roles, ids=None)
        features = [names[column] for column in roles.features]
        ids = index if roles.ids is None else tuple(table.values(names[roles.ids]))
        wrong = [name for name in features if not table.is_number(name)]
        if not wrong and (features or roles.label is not None):
            values = table.matrix(features, on_disk=options.mmap)
        elif len(features) == 1 and roles.label is None:
            values = table.words(features[0])
        else:
            listed = ", ".join(map(repr, wrong[:5])) or "none at all"
            raise InputError(f"{path} has columns that are not numbers: {listed}.")
        return _table(path, key, names, roles, words, values, ids, typed=True)


def _table(
    path: Path,
    key: str,
    names: Sequence[str],
    roles: ColumnRoles,
    words: Callable[[int], list[str]],
    values: Any,
    ids: tuple[Any, ...],
    *,
    typed: bool = False,
    counted: tuple[str, ...] = (),
) -> TableFile:
    labels, head = None, ""
    if roles.label is not None:
        head, column = names[roles.label], words(roles.label)
        numbers = [field_number(word) for word in column]
        is_words = any(each is None for each in numbers)
        labels = column if is_words else np.array(numbers, dtype=np.float64)[:, np.newaxis]
    heads = tuple(names[column] for column in roles.features) if names else ()
    return TableFile(path, key, values, roles.notes, labels, head, ids, typed, counted, heads)
