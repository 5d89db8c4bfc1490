"""Labels by sample name as a file: CSV, Parquet, JSON or .npy, written block by block."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..checks import check_choice
from ..clustering import Assignment
from ..data import write_whole
from ..errors import InputError, missing_extra
from ._formats import LABEL_FORMATS

COLUMNS = ("sample", "cluster", "distance", "confidence")
BLOCK = 2**16  # rows that are converted at once
TEXT_FORMATS = ("csv", "json")
PLAIN_ENDINGS = ("", "txt")  # of files that hold CSV unless the format is given


@dataclass(frozen=True, eq=False)
class LabelTable:
    """The cluster of every sample: ``samples`` are names, or None, and then rows are counted from 0."""

    samples: Sequence[Any] | None
    found: Assignment

    @property
    def n_samples(self) -> int:
        return len(self.found.labels)

    def blocks(self) -> Iterator[tuple[Sequence[Any], list[int], list[float], list[float]]]:
        """Names, clusters, distances and confidence of some samples at a time."""
        found = self.found
        for start in range(0, self.n_samples, BLOCK):
            rows = slice(start, min(start + BLOCK, self.n_samples))
            names = range(rows.start, rows.stop) if self.samples is None else self.samples[rows]
            yield names, found.labels[rows].tolist(), found.distances[rows].tolist(), found.confidence[rows].tolist()


def label_format(path: str | None, given: str | None) -> str:
    """Format of a file of labels: the one that is given, or that of the ending; CSV without an ending.

    An ending that says something else, such as .xlsx or .gz, is refused: the file would not be what its name says.

    Examples
    --------
    >>> label_format("labels.parquet", None), label_format("labels.txt", None), label_format("labels.txt", "npy")
    ('parquet', 'csv', 'npy')
    """
    if given is not None:
        form = check_choice("format", given, LABEL_FORMATS)
    else:
        ending = Path(path or "").suffix.lower().lstrip(".")
        form = "csv" if ending in PLAIN_ENDINGS else ending
        if form not in LABEL_FORMATS:
            known = ", ".join(f".{each}" for each in LABEL_FORMATS)
            raise InputError(
                f"{path} has the ending .{ending}; expected one of {known} or .txt, or a form: --format csv."
            )
    if path is None and form not in TEXT_FORMATS:
        raise InputError(f"{form} is not text: name a file with -o.")
    if form == "parquet":
        _pyarrow()
    return form


def write_labels(path: str | os.PathLike[str], table: LabelTable, form: str) -> None:
    """Write labels into a file, completely or not at all."""
    write_whole(path, lambda file: _WRITERS[form](file, table))


def label_lines(table: LabelTable, form: str) -> Iterator[str]:
    """Labels as text, some lines at a time."""
    yield from (_csv_lines if form == "csv" else _json_lines)(table)


def _csv_lines(table: LabelTable) -> Iterator[str]:
    yield ",".join(COLUMNS) + "\n"
    for block in table.blocks():
        text = io.StringIO()
        rows = (
            (name, k, f"{d:.6g}", "" if math.isnan(c) else f"{c:.6g}") for name, k, d, c in zip(*block, strict=True)
        )
        csv.writer(text, lineterminator="\n").writerows(rows)
        yield text.getvalue()


def _json_lines(table: LabelTable) -> Iterator[str]:
    """A list of objects, one on each line."""
    before = "[\n"
    for block in table.blocks():
        for name, k, d, c in zip(*block, strict=True):
            record = {"sample": _plain(name), "cluster": k, "distance": _short(d), "confidence": _short(c)}
            yield before + json.dumps(record, ensure_ascii=False)
            before = ",\n"
    yield "\n]\n" if before != "[\n" else "[]\n"


def _short(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.6g}")


def _plain(name: Any) -> Any:
    name = name.item() if isinstance(name, np.generic) else name
    return name if isinstance(name, (str, int, float)) else str(name)


def _write_text(lines: Any) -> Any:
    def write(file: IO[bytes], table: LabelTable) -> None:
        for text in lines(table):
            file.write(text.encode("utf-8", "backslashreplace"))

    return write


def _names(samples: Sequence[Any] | None, n_samples: int) -> np.ndarray:
    """All names as one array of numbers or text."""
    if samples is None:
        return np.arange(n_samples)
    names = [_plain(name) for name in samples]
    whole = all(isinstance(name, int) and not isinstance(name, bool) for name in names)
    return np.array(names, dtype=np.int64) if whole else np.array([str(name) for name in names])


def _write_npy(file: IO[bytes], table: LabelTable) -> None:
    names, found = _names(table.samples, table.n_samples), table.found
    types = [("sample", names.dtype), ("cluster", np.int64), ("distance", np.float32), ("confidence", np.float32)]
    records = np.empty(table.n_samples, dtype=types)
    for column, values in zip(COLUMNS, (names, found.labels, found.distances, found.confidence), strict=True):
        records[column] = values
    np.lib.format.write_array(file, records, allow_pickle=False)


def _write_parquet(file: IO[bytes], table: LabelTable) -> None:
    pa, pq = _pyarrow()
    whole = table.samples is None or all(isinstance(each, (int, np.integer)) for each in table.samples)
    types = [pa.int64() if whole else pa.string(), pa.int64(), pa.float32(), pa.float32()]
    schema = pa.schema(list(zip(COLUMNS, types, strict=True)))
    with pq.ParquetWriter(file, schema) as writer:
        for names, *numbers in table.blocks():
            texts = list(names) if whole else [str(_plain(name)) for name in names]
            columns = [pa.array(each, kind) for each, kind in zip([texts, *numbers], types, strict=True)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra("Parquet files", "pyarrow", "parquet") from error
    return pa, pq


_WRITERS = {
    "csv": _write_text(_csv_lines),
    "json": _write_text(_json_lines),
    "npy": _write_npy,
    "parquet": _write_parquet,
}
