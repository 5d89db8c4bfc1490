"""Views as users hand them over: a list, a dict of named views, or one table with groups of columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._observed import BoolArray, check_missing
from ._types import is_dask, is_sparse
from ._validation import check_finite, check_graph, same_chunks
from .errors import InputError, InputTypeError


@dataclass(frozen=True)
class Layout:
    """Number of features of a view, and their names if it came as a DataFrame."""

    n_features: int
    columns: tuple[Any, ...] | None

    def check(self, view: str, fitted: Layout, *, alone: bool) -> None:
        """Refuse what differs from the fit."""
        if self.n_features != fitted.n_features:
            if alone:  # in scikit-learn's words
                raise InputError(
                    f"X has {self.n_features} features, but AlignedClusterer is expecting {fitted.n_features} features "
                    "as input."
                )
            raise InputError(f"View {view} has {self.n_features} features; fitted on {fitted.n_features}.")
        if self.columns is not None and fitted.columns is not None and self.columns != fitted.columns:
            at = next(i for i, pair in enumerate(zip(self.columns, fitted.columns, strict=True)) if pair[0] != pair[1])
            raise InputError(
                f"View {view} has column {self.columns[at]!r} where the fit had {fitted.columns[at]!r}; "
                "columns must come in the same order."
            )


@dataclass(frozen=True, eq=False)
class Views:
    """Checked views: real numbers, dense or CSR, read-only, with the same samples; sparse ones hold floats.

    ``columns`` holds the column names of views that came as DataFrames; ``observed`` says which view has which sample,
    views x samples, and is None if every view has every sample.
    """

    matrices: list[Any]
    names: tuple[str, ...]
    columns: tuple[tuple[Any, ...] | None, ...]
    observed: BoolArray | None = None

    @property
    def n_samples(self) -> int:
        return int(self.matrices[0].shape[0])

    def n_learnable(self, apart: bool) -> int:
        """Samples that anchors of every view can be learned from: in views apart, or those that all views have."""
        if self.observed is None:
            return self.n_samples
        return int(self.observed.sum(axis=1).min() if apart else self.observed.all(axis=0).sum())

    @property
    def on_dask(self) -> bool:
        """Whether the views are Dask arrays."""
        return is_dask(self.matrices[0])

    @property
    def n_numbers(self) -> int:
        """Entries of all views."""
        return sum(X.nnz if is_sparse(X) else X.size for X in self.matrices)

    def floats(self) -> list[Any]:
        """The views as float32 or float64; whole numbers are converted, so this may take memory."""
        return [read_only(as_floats(X)) for X in self.matrices]

    @property
    def layout(self) -> dict[str, Layout]:
        """What new samples of every view, by name, must look like."""
        parts = zip(self.names, self.matrices, self.columns, strict=True)
        return {name: Layout(int(X.shape[1]), columns) for name, X, columns in parts}

    def ordered_as(self, fitted: dict[str, Layout]) -> Views:
        """The same views in the order of the fit, whose views and features they must have."""
        if set(self.names) != set(fitted):
            raise InputError(f"Got views {', '.join(self.names)}; fitted on {', '.join(fitted)}.")
        for name, got in self.layout.items():
            got.check(name, fitted[name], alone=len(fitted) == 1)
        at = [self.names.index(name) for name in fitted]
        observed = None if self.observed is None else self.observed[at]
        return Views([self.matrices[i] for i in at], tuple(fitted), tuple(self.columns[i] for i in at), observed)


def check_views(views: Any, column_groups: Any = None, *, mask: Any = None, missing: str = "error") -> Views:
    """Check views and give every one a name: the dict's key, or "0", "1" and so on.

    ``mask`` and ``missing`` say which view has which sample, see :func:`anchor_align._observed.check_missing`.
    """
    if is_table(views):
        if _is_flat(views):
            raise InputError(
                f"Got one array of {np.size(views)} numbers; expected a list of views or a table, samples x features. "
                "Reshape your data, with reshape(1, -1) for a single sample."
            )
        named = split_columns(views, column_groups)
    else:
        if column_groups is not None:
            raise InputError(
                f"column_groups splits one table into views, but got views as a {type(views).__name__} already."
            )
        named = _name_views(views)
    matrices = [_as_numbers(check_graph(_from_objects(X, name), name, "features")) for name, X in named.items()]
    if not matrices:
        raise InputError("Got no view; expected one or more, samples x features each.")
    names = tuple(named)
    for name, X in zip(names, matrices, strict=True):
        if X.shape[0] != matrices[0].shape[0]:
            raise InputError(
                f"View {names[0]} has {matrices[0].shape[0]} samples; view {name} has {X.shape[0]}. "
                "All views must describe the same samples."
            )
    matrices = same_chunks(matrices, names)
    observed = check_missing(matrices, mask, missing, names=names, columns="features")
    check_finite(matrices, names, "views", observed)
    columns = tuple(tuple(X.columns) if hasattr(X, "columns") else None for X in named.values())
    return Views([read_only(X) for X in matrices], names, columns, observed)


def _is_flat(table: Any) -> bool:
    """Whether a table has fewer than two dimensions; rows of unequal lengths are for a later check."""
    if isinstance(table, np.ndarray) or is_dask(table):
        return bool(table.ndim < 2)
    return isinstance(table, Sequence) and np.ndim(table[0]) == 0


def is_table(views: Any) -> bool:
    """Whether this is one 2-D table: array, sparse matrix, DataFrame, or a list of rows."""
    if is_sparse(views) or is_dask(views) or hasattr(views, "columns"):
        return True
    if isinstance(views, np.ndarray) and views.dtype != object:
        return views.ndim <= 2
    if isinstance(views, np.ndarray) and views.ndim == 0:
        return True
    if isinstance(views, (str, bytes)) or not isinstance(views, (Sequence, np.ndarray)) or len(views) == 0:
        return False
    first = views.flat[0] if isinstance(views, np.ndarray) else views[0]
    if isinstance(first, (list, tuple)):
        return not first or not hasattr(first[0], "__len__")
    return not hasattr(first, "shape")


def split_columns(table: Any, groups: Any) -> dict[str, Any]:
    """Views of one table: groups as given, else a DataFrame's upper level of column names, else all in one view."""
    if groups is None:
        if getattr(getattr(table, "columns", None), "nlevels", 1) == 1:
            return {"0": table}
        names = list(dict.fromkeys(table.columns.get_level_values(0)))
        return _by_name(names, [table[name] for name in names])
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise InputTypeError(f"column_groups must list the columns, or the width, of every view; got {groups!r}.")
    names = list(groups) if isinstance(groups, Mapping) else list(range(len(listed := list(groups))))
    listed = list(groups.values()) if isinstance(groups, Mapping) else listed
    if not listed:
        raise InputError("column_groups is empty; expected the columns of one view or more.")
    columns = _from_widths(listed, np.shape(table)[1])
    return _by_name(names, [_take_columns(table, each, str(name)) for name, each in zip(names, columns, strict=True)])


def _by_name(names: list[Any], views: list[Any]) -> dict[str, Any]:
    named = {str(name): X for name, X in zip(names, views, strict=True)}
    if len(named) < len(views):
        raise InputError(f"Two views have the same name: {', '.join(map(str, names))}.")
    return named


def _from_widths(groups: list[Any], width: int) -> list[Any]:
    """Groups of columns; whole numbers are the widths of the views, from left to right."""
    if not all(isinstance(each, (int, np.integer)) and not isinstance(each, bool) for each in groups):
        return groups
    if sum(groups) != width or min(groups) < 1:
        raise InputError(f"column_groups gives views of {groups} columns, {sum(groups)} in all; the table has {width}.")
    edges = np.cumsum([0, *groups])
    return [slice(int(left), int(right)) for left, right in itertools.pairwise(edges)]


def _take_columns(table: Any, columns: Any, name: str) -> Any:
    """Columns of one view: a slice, positions, a mask, or names of a DataFrame's columns."""
    try:
        if not isinstance(columns, slice):
            wanted = list(columns) if not isinstance(columns, str) else [columns]
            if hasattr(table, "columns") and set(wanted) <= set(table.columns):
                return table.loc[:, wanted]
            columns = np.asarray(wanted)
            if columns.dtype.kind not in "iub" or columns.ndim != 1 or len(columns) == 0:
                raise IndexError(f"got {wanted}, expected positions or names of columns")
        if hasattr(table, "iloc"):
            return table.iloc[:, columns]
        if not is_dask(table):
            table = sp.csc_array(table) if is_sparse(table) else np.asarray(table)
        return table[:, columns]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise InputError(f"The columns of view {name} are not in the table: {error}.") from error


def _name_views(views: Any) -> dict[str, Any]:
    if isinstance(views, Mapping):
        return _by_name(list(views), list(views.values()))
    if isinstance(views, (str, bytes)) or not isinstance(views, Iterable):
        raise InputTypeError(f"Expected a list or dict of views, or one table, got {type(views).__name__}.")
    if isinstance(views, np.ndarray) and views.dtype == object:
        views = views.ravel()  # a cell array, as files of MATLAB give it
    return {str(view): X for view, X in enumerate(views)}


def _from_objects(X: Any, view: str) -> Any:
    """Numbers that came as Python objects, as floats."""
    if not isinstance(X, np.ndarray) or X.dtype != object:
        return X
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"View {view} has an entry that is not a number: {error}.") from error


def _as_numbers(X: Any) -> Any:
    """Numbers of any kind stay what they are, in an array: they become floats a block at a time."""
    return as_floats(X) if is_sparse(X) else X


def as_floats(X: Any) -> Any:
    """float32 and float64 stay, everything else becomes float64; repeated entries of a sparse matrix are added up."""
    if is_sparse(X) and not X.has_canonical_format:
        X = X.astype(np.float64) if X.dtype.kind != "f" else X.copy()
        X.sum_duplicates()
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def read_only(X: Any) -> Any:
    """The same numbers, in an array that cannot be written to; Dask arrays never can."""
    if is_dask(X):
        return X
    if is_sparse(X):
        parts = [part.view() for part in (X.data, X.indices, X.indptr)]
        for part in parts:
            part.flags.writeable = False
        return sp.csr_array(tuple(parts), shape=X.shape)
    locked = np.asarray(X).view()
    locked.flags.writeable = False
    return locked
