"""Tables whose rows have names: the names of several tables, their matrices in one order, and rows by name."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import IndexArray, is_sparse
from ._array_files import SCATTERED, in_file, read_rows, write_rows
from ._engines import is_distributed
from ._map_blocks import empty
from ._sample_names import JoinedSamples, Name, join_samples


@dataclass(frozen=True, eq=False)
class NamedRows:
    """A matrix whose rows have names, and whose columns may have.

    ``samples`` is None if the rows have no names.
    """

    values: Any
    samples: tuple[Name, ...] | None
    columns: tuple[Any, ...] | None = None


def table_names(tables: Mapping[str, Any]) -> dict[str, Sequence[Name] | None]:
    """Names of the rows of each table, for :func:`join_samples`.

    The index of a DataFrame has names unless it counts the rows, as a RangeIndex does. These numbers are names if the
    index of another table has numbers too, and differs.
    """
    found: dict[str, Sequence[Name] | None] = dict.fromkeys(tables)
    indices: dict[str, Any] = {}
    for view, X in tables.items():
        if isinstance(X, NamedRows):
            found[view] = X.samples
        elif hasattr(X, "iloc") and not is_distributed(X):
            indices[view] = X.index
    counted = {view: index for view, index in indices.items() if type(index).__name__ == "RangeIndex"}
    for view, index in indices.items():
        if view not in counted:
            found[view] = index.tolist()
    by_number = any(each is not None and len(each) and isinstance(each[0], numbers.Integral) for each in found.values())
    starts = {(index.start, index.step) for index in counted.values()}
    if by_number or len(starts) > 1:
        found |= {view: list(index) for view, index in counted.items()}
    return found


def join_tables(
    tables: Mapping[str, Any], join: str | None, check: Callable[[Any, str], Any]
) -> tuple[list[Any], JoinedSamples]:
    """The checked matrices of several tables, with the same samples in the same order, see :func:`join_samples`.

    ``check`` turns a table, with the name of its view, into a matrix.
    """
    joined = join_samples(table_names(tables), join)
    matrices = [check(X.values if isinstance(X, NamedRows) else X, view) for view, X in tables.items()]
    return [take_rows(X, rows) for X, rows in zip(matrices, joined.rows, strict=True)], joined


def take_rows(X: Any, rows: IndexArray | None, *, on_disk: bool | None = None) -> Any:
    """The given rows of a matrix, in a copy; where ``rows`` is -1, NaN, or nothing if the matrix is sparse.

    Whole numbers become float64 if rows are missing. Dense rows are copied to where
    :func:`~anchor_align.blocks.empty` puts arrays, with ``on_disk`` to an unnamed file; None: those of a file.
    """
    if rows is None:
        return X
    missing = rows < 0
    some_missing = bool(missing.any())
    if is_sparse(X):
        # Missing samples take the empty row behind the last one.
        extended = sp.vstack([X, sp.csr_array((1, X.shape[1]), dtype=X.dtype)], format="csr") if some_missing else X
        return read_rows(extended, np.where(missing, X.shape[0], rows))
    dtype = X.dtype if X.dtype.kind == "f" or not some_missing else np.dtype(np.float64)
    out = empty((len(rows), *X.shape[1:]), dtype, on_disk=in_file(X) if on_disk is None else on_disk)
    if not in_file(out):
        out[~missing] = X[rows[~missing]]
        out[missing] = np.nan if some_missing else 0
        return out
    for start in range(0, len(rows), SCATTERED):
        part = slice(start, start + SCATTERED)
        block = np.full((len(rows[part]), *X.shape[1:]), np.nan if some_missing else 0, dtype)
        block[~missing[part]] = read_rows(X, rows[part][~missing[part]])
        write_rows(out, part, block)
    return out
