"""Checks of matrices and graphs from users. Each failure is one clear sentence; nothing is repaired silently."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import BoolArray, Graph, GraphLike, IndexArray, is_sparse
from ..checks import is_iterable
from ..errors import InputError, InputTypeError, shown
from ._array_files import read_rows
from ._engines import engine_of, is_distributed, parts_of
from ._map_blocks import map_rows
from ._named_tables import join_tables
from ._sample_names import JoinedSamples


def check_graphs(graphs: Iterable[GraphLike], *, same_anchors: bool = True) -> list[Graph]:
    """Check a list of anchor graphs: each 2-D and numeric, all with the same samples and number of anchors.

    Values are not read here. :func:`check_finite` names NaN and infinity when they appear in a result. Graphs whose
    samples have the same names in different orders get the order of the first.
    """
    return join_graphs(graphs, same_anchors=same_anchors)[0]


def join_graphs(
    graphs: Iterable[GraphLike], join: str | None = None, *, same_anchors: bool = False
) -> tuple[list[Graph], JoinedSamples]:
    """Checked graphs whose samples were joined by name, see :func:`join_samples`."""
    if isinstance(graphs, (str, bytes)) or not is_iterable(graphs):
        raise InputTypeError(f"Expected a list of anchor graphs, one per view, got {type(graphs).__name__}.")
    one = is_sparse(graphs) or hasattr(graphs, "columns") or is_distributed(graphs)
    if one or (isinstance(graphs, np.ndarray) and graphs.ndim < 3):
        raise InputTypeError(
            f"Expected a list of anchor graphs, one per view, got one {type(graphs).__name__}; put it in a list."
        )
    if isinstance(graphs, dict):
        raise InputTypeError("Expected a list of anchor graphs, got a dict; pass list(graphs.values()).")
    given = {str(view): Z for view, Z in enumerate(graphs)}
    if not given:
        raise InputError("Got no view; expected a list of one or more anchor graphs.")
    checked, joined = join_tables(given, join, check_graph)
    for view, Z in enumerate(checked):
        if Z.shape[0] != checked[0].shape[0]:
            raise InputError(
                f"View 0 has {checked[0].shape[0]} samples; view {view} has {Z.shape[0]}. "
                "All views must describe the same samples."
            )
        if same_anchors and Z.shape[1] != checked[0].shape[1]:
            raise InputError(
                f"View 0 has {checked[0].shape[1]} anchors; view {view} has {Z.shape[1]}. "
                "All views must have the same number of anchors."
            )
    return same_chunks(checked, range(len(checked))), joined


def check_graph(Z: GraphLike, view: int | str, columns: str = "anchors") -> Graph:
    return check_matrix(Z, f"View {view}", ("samples", columns))


def check_matrix(X: GraphLike, name: str, axes: tuple[str, str] = ("rows", "columns")) -> Graph:
    """A 2-D matrix of real numbers that is not empty, CSR if it is sparse; ``name`` and ``axes`` are for messages."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InputError(f"{name} is a masked array with masked entries; fill or drop them first.")
    checked: Any = engine_of(X).check(X, name)
    if checked.ndim != 2:
        raise InputError(
            f"{name} has {checked.ndim} dimension(s), shape {checked.shape}; expected 2: {axes[0]} x {axes[1]}."
        )
    if checked.dtype.kind not in "fiub":
        hint = " Complex data not supported." if checked.dtype.kind == "c" else ""
        raise InputTypeError(f"{name} has {_no_number(X)}dtype {checked.dtype}; expected real numbers.{hint}")
    if 0 in checked.shape:
        raise InputError(
            f"{name} is empty: {checked.shape[0]} {axes[0]} x {checked.shape[1]} {axes[1]}. "
            f"0 {axes[0 if checked.shape[0] == 0 else 1][:-1]}(s) (shape={checked.shape}) while a minimum of 1 "
            "is required."
        )
    return checked.tocsr() if is_sparse(checked) else checked


def _no_number(X: Any) -> str:
    """The first column of a DataFrame that has no numbers, and what it has, for messages; nothing of other arrays."""
    if hasattr(X, "iloc") and not is_distributed(X):
        for head, column in X.items():
            for value in column if getattr(column.dtype, "kind", "O") not in "fiub" else ():
                if not isinstance(value, numbers.Real) and value == value:
                    return f"{shown(value)} in column {shown(head)}, "
    return ""


def same_chunks(graphs: Sequence[Graph], names: Sequence[int | str]) -> list[Graph]:
    """The same graphs, or views. Distributed arrays get the same rows in each chunk."""
    engines = [engine_of(Z) for Z in graphs]
    engine = next((engine for engine in engines if engine.distributed), engines[0])
    return engine.alike(graphs, names)


def check_finite(
    graphs: Sequence[Graph],
    names: Sequence[str] | None = None,
    what: str = "anchor graphs",
    mask: Sequence[Any] | BoolArray | None = None,
    samples: Sequence[Any] | None = None,
    hint: str = "",
    numbers: IndexArray | None = None,
    columns: Sequence[Sequence[Any] | None] | None = None,
) -> None:
    """Name the first view with NaN or infinity. Rows of missing samples, by the mask, are ignored.

    ``samples`` are the names of the rows, ``numbers`` those in the data, ``columns`` the names of each view's columns,
    if it has any; ``hint`` ends the message with a way out.
    """
    rows: Sequence[Any] | BoolArray = [None] * len(graphs) if mask is None else mask
    heads = columns or [None] * len(graphs)
    for view, Z, present, known in zip(names or range(len(graphs)), graphs, rows, heads, strict=True):
        if Z.dtype.kind in "iub":
            continue
        parts = np.array(parts_of(Z).total(_not_finite, present))
        count = int(parts[:, 1].sum())
        if count:
            at = int(np.argmax(parts[:, 1] > 0))
            first = int(parts[:at, 0].sum() + parts[at, 2])
            row = first if numbers is None else numbers[first]
            where = f"row {row}" if samples is None else f"sample {samples[first]!r}"
            where += "" if known is None else f", column {known[parts[at, 3]]!r}"
            raise InputError(
                f"View {view} has NaN or infinity in {count} of {Z.shape[0]} rows (first: {where}); "
                f"{what} must be finite{hint}."
            )


def _not_finite(Z: Graph, present: BoolArray | None = None) -> list[tuple[int, int, int, int]]:
    """Number of rows, number of present rows with NaN or infinity, the first such row, and its first such column."""
    rows = _rows_not_finite(Z)
    rows = rows if present is None else rows[present[rows]]
    if not len(rows):
        return [(int(Z.shape[0]), 0, -1, -1)]
    row: Any = read_rows(Z, rows[:1])
    values = row.toarray() if is_sparse(row) else row
    return [(int(Z.shape[0]), len(rows), int(rows[0]), int(np.isfinite(values[0]).argmin()))]


def _rows_not_finite(Z: Graph) -> IndexArray:
    if is_sparse(Z):
        if np.isfinite(Z.data).all():
            return np.empty(0, dtype=np.intp)
        coo = Z.tocoo()
        return np.asarray(np.unique(coo.row[~np.isfinite(coo.data)]), dtype=np.intp)

    def find(rows: slice) -> IndexArray:
        block = read_rows(Z, rows)
        # A sum is finite only if all its terms are, and is faster than a test of every term.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(block.sum()):
                return np.empty(0, dtype=np.intp)
        return np.asarray(rows.start + np.flatnonzero(~np.isfinite(block).all(axis=1)))

    return np.concatenate(list(map_rows(find, Z.shape[0], width=Z.shape[1])))


def as_floats(X: Any) -> Any:
    """float32 and float64 stay; other types become float64. Repeated entries of a sparse matrix are added."""
    if is_sparse(X) and not X.has_canonical_format:
        X = X.astype(np.float64) if X.dtype.kind != "f" else X.copy()
        X.sum_duplicates()
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def read_only(X: Any) -> Any:
    """The same numbers in a read-only array; distributed arrays are always read-only."""
    if is_distributed(X):
        return X
    if is_sparse(X):
        parts = [part.view() for part in (X.data, X.indices, X.indptr)]
        for part in parts:
            part.flags.writeable = False
        return sp.csr_array(tuple(parts), shape=X.shape)
    locked = np.asarray(X).view()
    locked.flags.writeable = False
    return locked
