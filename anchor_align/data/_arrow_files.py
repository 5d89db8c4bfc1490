"""Tables in columns, read with Apache Arrow: parquet and Feather files, whole or by groups of rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..blocks import empty_on_disk, write_rows
from ..errors import InputError, missing_extra
from ._size_limits import SizeLimit

ROWS_AT_ONCE = 2**16
_TEXTS = ("string", "large_string", "binary", "large_binary", "string_view")
_NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "halffloat", "float", "double")


@dataclass(frozen=True, eq=False)
class ArrowTable:
    """Columns of an open file.

    ``kinds`` are the types of the columns by name, ``index`` the columns that were the index of a DataFrame,
    ``counted`` its numbers if they are not stored. ``batches`` reads some columns by groups of rows.
    """

    path: Path
    n_rows: int
    kinds: dict[str, str]
    index: tuple[str, ...]
    counted: tuple[int, ...]
    batches: Callable[[Sequence[str]], Iterator[Any]]

    @property
    def columns(self) -> list[str]:
        """Columns that are not the index."""
        return [name for name in self.kinds if name not in self.index]

    def is_number(self, name: str) -> bool:
        return self.kinds[name] in (*_NUMBERS, "bool")

    def values(self, name: str) -> list[Any]:
        """All values of one column; missing ones are None. A text that is stored once stays in memory once."""
        found: list[Any] = []
        for batch in self.batches([name]):
            column = batch.column(0)
            if hasattr(column, "dictionary"):
                known = [*column.dictionary.to_pylist(), None]
                found += [known[-1 if at is None else at] for at in column.indices.to_pylist()]
            else:
                found += column.to_pylist()
        return found

    def words(self, name: str) -> list[str]:
        """All values of one column as text; missing ones are empty."""
        return [
            "" if value is None else value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
            for value in self.values(name)
        ]

    def matrix(self, names: Sequence[str], *, on_disk: bool) -> Any:
        """The numbers of some columns, rows x columns; missing ones are NaN."""
        dtype = np.result_type(*(_dtype(self.kinds[name]) for name in names)) if names else np.dtype(np.float64)
        try:
            return self._filled(names, dtype, on_disk)
        except _HasMissing:
            return self._filled(names, np.result_type(dtype, np.float64), on_disk)

    def _filled(self, names: Sequence[str], dtype: np.dtype[Any], on_disk: bool) -> Any:
        shape = (self.n_rows, len(names))
        out = empty_on_disk(shape, dtype, None) if on_disk and 0 not in shape else np.empty(shape, dtype)
        start = 0
        for batch in self.batches(names):
            block = np.empty((batch.num_rows, len(names)), dtype)
            for place, column in enumerate(batch.columns):
                if column.null_count and dtype.kind != "f":
                    raise _HasMissing
                block[:, place] = column.to_numpy(zero_copy_only=False)
            write_rows(out, slice(start, start + len(block)), block)
            start += len(block)
        if start != self.n_rows:
            raise ValueError(f"{start} of {self.n_rows} rows")
        return out


class _HasMissing(Exception):
    """A column of whole numbers has missing values."""


def _dtype(kind: str) -> np.dtype[Any]:
    return np.dtype({"halffloat": "float16", "float": "float32", "double": "float64"}.get(kind, kind))


@contextmanager
def open_arrow(limit: SizeLimit, kind: str, key: str, *, on_disk: bool = False) -> Iterator[ArrowTable]:
    """Open a parquet or Feather file. Nothing is read before its size is compared with the limit."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra(f"Cannot read {limit.path}: {kind} files", "pyarrow", "parquet") from error
    if kind == "parquet":
        with pq.ParquetFile(limit.path) as file:
            texts = [each.name for each in file.schema_arrow if _kind(each.type) == "text"]
        with pq.ParquetFile(limit.path, read_dictionary=texts, pre_buffer=False) as file:
            limit.claim(key, _parquet_bytes(file.metadata), in_memory=not on_disk)
            table = _table(limit.path, file.metadata.num_rows, file.schema_arrow, lambda names: _groups(file, names))
            yield table
        return
    with pa.OSFile(str(limit.path)) as source, pa.ipc.open_file(source) as file:
        n_rows = _feather_rows(file, limit, key)
        yield _table(limit.path, n_rows, file.schema, lambda names: _record_batches(file, names))


def _table(path: Path, n_rows: int, schema: Any, batches: Callable[[Sequence[str]], Iterator[Any]]) -> ArrowTable:
    names = list(schema.names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path} has two columns of the name {twice!r}; every column needs its own.")
    kinds = {each.name: _kind(each.type) for each in schema}
    return ArrowTable(path, n_rows, kinds, _index_of(schema), _counted_rows(schema, n_rows), batches)


def _kind(kind: Any) -> str:
    """Type of a column; categories are text, whatever they are."""
    return "text" if str(kind) in _TEXTS or str(kind).startswith("dictionary") else str(kind)


def _index_of(schema: Any) -> tuple[str, ...]:
    """Columns that were the index of a DataFrame."""
    about = (schema.metadata or {}).get(b"pandas")
    if about is None:
        return ()
    listed = json.loads(about).get("index_columns", [])
    return tuple(name for name in listed if isinstance(name, str) and name in schema.names)


def _counted_rows(schema: Any, n_rows: int) -> tuple[int, ...]:
    """The index of a slice of a DataFrame that counts its rows, not from 0; it is not stored as a column."""
    listed = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    if len(listed) != 1 or not isinstance(listed[0], dict) or listed[0].get("kind") != "range":
        return ()
    start, step = int(listed[0]["start"]), int(listed[0]["step"])
    return () if (start, step) == (0, 1) else tuple(range(start, start + step * n_rows, step))


def _groups(file: Any, names: Sequence[str]) -> Iterator[Any]:
    """Rows of some columns, group by group; threads of Arrow would keep several groups in memory."""
    for batch in file.iter_batches(ROWS_AT_ONCE, columns=list(names), use_threads=False):
        # Columns come in the order of the file.
        yield batch.select(list(names))


def _record_batches(file: Any, names: Sequence[str]) -> Iterator[Any]:
    for number in range(file.num_record_batches):
        batch = file.get_batch(number)
        batch.validate(full=True)
        yield batch.select(list(names))


def _feather_rows(file: Any, limit: SizeLimit, key: str) -> int:
    """Number of rows; the batches are read once to count them, and refused if they take too much memory."""
    n_rows = n_bytes = 0
    for number in range(file.num_record_batches):
        batch = file.get_batch(number)
        n_rows += batch.num_rows
        n_bytes += max(int(batch.nbytes), 8 * batch.num_rows * batch.num_columns)
        limit.claim(key, n_bytes)
    return n_rows


def _parquet_bytes(metadata: Any) -> int:
    """Memory of a parquet file: its encodings store many equal values in a few bytes."""
    # Sizes of row groups, not of their columns: pyarrow ends the process if those of a damaged file are asked for.
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    stored = sum(max(8 * group.num_rows * group.num_columns, group.total_byte_size) for group in groups)
    return int(8 * metadata.num_rows * metadata.num_columns + stored)
