"""Views from users: a list, a dict of named views, or one table with groups of columns."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import BoolArray, is_sparse
from ..blocks import (
    Engine,
    as_floats,
    check_finite,
    check_graph,
    check_sample_names,
    check_sparse,
    engine_of,
    is_distributed,
    read_only,
    same_chunks,
)
from ..checks import is_iterable
from ..errors import InputError, InputTypeError, shown
from ..graphs import check_missing


@dataclass(frozen=True)
class Layout:
    """Number of features of a view, and their names if it was a DataFrame."""

    n_features: int
    columns: tuple[Any, ...] | None

    def check(self, view: str, fitted: Layout, *, alone: bool) -> None:
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
                "columns must be in the same order."
            )


@dataclass(frozen=True, eq=False)
class Views:
    """Checked views: real numbers, dense or CSR, read-only, with the same samples; sparse views have floats.

    ``columns`` has the column names of views that were DataFrames. ``mask``, views x samples, is False where a sample
    is missing; None if no sample is missing.
    """

    matrices: list[Any]
    names: tuple[str, ...]
    columns: tuple[tuple[Any, ...] | None, ...]
    mask: BoolArray | None = None

    @property
    def n_samples(self) -> int:
        return int(self.matrices[0].shape[0])

    def n_learnable(self, apart: bool) -> int:
        """Number of samples to learn anchors from: in the smallest view if ``apart``, else in all views."""
        if self.mask is None:
            return self.n_samples
        return int(self.mask.sum(axis=1).min() if apart else self.mask.all(axis=0).sum())

    @property
    def engine(self) -> Engine:
        return engine_of(self.matrices[0])

    @property
    def distributed(self) -> bool:
        return self.engine.distributed

    @property
    def n_numbers(self) -> int:
        return sum(X.nnz if is_sparse(X) else X.size for X in self.matrices)

    def floats(self) -> list[Any]:
        """The views as float32 or float64. Whole numbers are converted, which may take memory."""
        return [read_only(as_floats(X)) for X in self.matrices]

    @property
    def layout(self) -> dict[str, Layout]:
        """Layout that new samples of every view, by name, must have."""
        parts = zip(self.names, self.matrices, self.columns, strict=True)
        return {name: Layout(int(X.shape[1]), columns) for name, X, columns in parts}

    def ordered_as(self, fitted: dict[str, Layout]) -> Views:
        """The same views in the order of the fit. They must have the views and features of the fit."""
        if set(self.names) != set(fitted):
            raise InputError(f"Got views {', '.join(self.names)}; fitted on {', '.join(fitted)}.")
        for name, got in self.layout.items():
            got.check(name, fitted[name], alone=len(fitted) == 1)
        at = [self.names.index(name) for name in fitted]
        mask = None if self.mask is None else self.mask[at]
        return Views([self.matrices[i] for i in at], tuple(fitted), tuple(self.columns[i] for i in at), mask)


def check_views(views: Any, column_groups: Any = None, *, mask: Any = None, missing: str = "error") -> Views:
    """Check views and name them: by the key of a dict, or "0", "1" and so on; for ``mask`` see ``check_missing``."""
    if is_table(views):
        if _is_flat(views):
            raise InputError(
                f"Got one array of {np.size(views)} numbers; expected a list of views or a table, samples x features. "
                "Reshape your data, with reshape(1, -1) for a single sample."
            )
        if is_sparse(views):
            check_sparse(views, "The table")
        named = split_columns(views, column_groups)
    else:
        if column_groups is not None:
            raise InputError(
                f"column_groups splits one table into views, but got views as a {type(views).__name__} already."
            )
        named = _name_views(views)
    check_sample_names(named)
    matrices = [check_graph(_from_objects(X, name), name, "features") for name, X in named.items()]
    # Dense views keep their dtype; their blocks become floats when they are read.
    matrices = [as_floats(X) if is_sparse(X) else X for X in matrices]
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
    mask = check_missing(matrices, mask, missing, names=names, columns="features")
    check_finite(matrices, names, "views", mask)
    columns = tuple(tuple(X.columns) if hasattr(X, "columns") else None for X in named.values())
    return Views([read_only(X) for X in matrices], names, columns, mask)


def _is_flat(table: Any) -> bool:
    """Whether a table has fewer than two dimensions. A later check finds rows of unequal lengths."""
    if isinstance(table, np.ndarray) or is_distributed(table):
        return bool(table.ndim < 2)
    return isinstance(table, Sequence) and np.ndim(table[0]) == 0


def is_table(views: Any) -> bool:
    """Whether this is one 2-D table: array, sparse matrix, DataFrame, or a list of rows."""
    if is_sparse(views) or is_distributed(views) or hasattr(views, "columns"):
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
    """Views of one table: the given groups, the upper level of a DataFrame's column names, or one view."""
    if groups is None:
        if getattr(getattr(table, "columns", None), "nlevels", 1) == 1:
            return {"0": table}
        names = list(dict.fromkeys(table.columns.get_level_values(0)))
        return _by_name(names, [table[name] for name in names])
    if isinstance(groups, str) or not is_iterable(groups):
        raise InputTypeError(f"column_groups must list the columns, or the width, of every view; got {shown(groups)}.")
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
    """Groups of columns. Whole numbers are the widths of the views, from left to right."""
    if not all(isinstance(each, (int, np.integer)) and not isinstance(each, bool) for each in groups):
        return groups
    if sum(groups) != width or min(groups) < 1:
        raise InputError(f"column_groups gives views of {groups} columns, {sum(groups)} in all; the table has {width}.")
    edges = np.cumsum([0, *groups])
    return [slice(int(left), int(right)) for left, right in itertools.pairwise(edges)]


def _take_columns(table: Any, columns: Any, name: str) -> Any:
    """Columns of one view: a slice, positions, a mask, or column names of a DataFrame."""
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
        if not is_distributed(table):
            table = sp.csc_array(table) if is_sparse(table) else np.asarray(table)
        return table[:, columns]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise InputError(f"The columns of view {name} are not in the table: {error}.") from error


def _name_views(views: Any) -> dict[str, Any]:
    if isinstance(views, Mapping):
        return _by_name(list(views), list(views.values()))
    if isinstance(views, (str, bytes)) or not is_iterable(views):
        raise InputTypeError(f"Expected a list or dict of views, or one table, got {type(views).__name__}.")
    if isinstance(views, np.ndarray) and views.dtype == object:
        views = views.ravel()  # a cell array from a MATLAB file
    return {str(view): X for view, X in enumerate(views)}


def _from_objects(X: Any, view: str) -> Any:
    if not isinstance(X, np.ndarray) or X.dtype != object:
        return X
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"View {view} has an entry that is not a number: {error}.") from error
