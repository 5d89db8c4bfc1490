"""Views from users: a list, a dict of named views, or one table with groups of columns."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import BoolArray, IndexArray, is_sparse
from ..blocks import (
    Engine,
    JoinedSamples,
    NamedRows,
    as_floats,
    check_finite,
    check_graph,
    check_join,
    check_sparse,
    content_order,
    engine_of,
    is_distributed,
    join_tables,
    name_order,
    read_only,
    read_rows,
    same_chunks,
    table_names,
    take_rows,
)
from ..checks import is_iterable
from ..data import MultiViewData, annotated_class, load_views, named_rows
from ..errors import InputError, InputTypeError, shown
from ..graphs import check_missing


@dataclass(frozen=True)
class Layout:
    """Number of features of a view, and their names if it was a DataFrame."""

    n_features: int
    columns: tuple[Any, ...] | None

    def check(self, view: str, fitted: Layout, n_samples: int, *, alone: bool) -> None:
        named = None not in (self.columns, fitted.columns)
        own, old = self.columns or (), fitted.columns or ()
        which = _named_only(" Missing", old, own) + _named_only(" Not in the fit", own, old) if named else ""
        if self.n_features != fitted.n_features:
            turned = " Are samples in columns?" if n_samples == fitted.n_features else ""
            if alone:  # in scikit-learn's words
                raise InputError(
                    f"X has {self.n_features} features, but AlignedClusterer is expecting {fitted.n_features} features "
                    f"as input.{which}{turned}"
                )
            raise InputError(
                f"View {view} has {self.n_features} features; fitted on {fitted.n_features}.{which}{turned}"
            )
        if named and own != old:
            at = next(i for i, pair in enumerate(zip(own, old, strict=True)) if pair[0] != pair[1])
            raise InputError(
                f"View {view} has column {own[at]!r} where the fit had {old[at]!r}"
                f"{'.' if which else '; columns must be in the same order.'}{which}"
            )


def _named_only(what: str, names: Sequence[Any], others: Sequence[Any]) -> str:
    """Some names that are not among others, for messages."""
    known = set(others)
    only = [name for name in names if name not in known]
    return f"{what}: {', '.join(map(shown, only[:3]))}{', ...' * (len(only) > 3)}." if only else ""


@dataclass(frozen=True, eq=False)
class Views:
    """Checked views: real numbers, dense or CSR, read-only, with the same samples; sparse views have floats.

    ``columns`` has the column names of views that were DataFrames. ``mask``, views x samples, is False where a sample
    is missing; None if no sample is missing. ``samples`` has the names of the samples; None if they have none.
    ``notes`` say how samples were joined. ``by_name`` says that rows were paired by name: their order means nothing.
    ``rows`` has the rows of the data in the order of these views; None if it is the same.
    """

    matrices: list[Any]
    names: tuple[str, ...]
    columns: tuple[tuple[Any, ...] | None, ...]
    mask: BoolArray | None = None
    samples: tuple[Any, ...] | None = None
    notes: tuple[str, ...] = ()
    by_name: bool = False
    rows: IndexArray | None = None

    @property
    def n_samples(self) -> int:
        return int(self.matrices[0].shape[0])

    def n_learnable(self, apart: bool) -> int:
        """Number of samples to learn anchors from: in the smallest view if ``apart``, else in all views."""
        if self.mask is None:
            return self.n_samples
        return int(self.mask.sum(axis=1).min() if apart else self.mask.all(axis=0).sum())

    @property
    def is_named(self) -> bool:
        """Whether the names of the samples say what belongs together, and not the order of the rows."""
        return self.by_name and self.samples is not None

    @cached_property
    def order_of_names(self) -> IndexArray | None:
        """Order that sorts the samples by name; None if they are sorted."""
        assert self.samples is not None
        return name_order(self.samples)

    def content_order(self) -> IndexArray:
        """Numbers of the samples in an order that depends on their content only."""
        return content_order(self.matrices, self.mask)

    def in_order(self, order: IndexArray, *, on_disk: bool | None = None) -> Views:
        """The same views with the samples in another order; ``on_disk`` as for ``take_rows``."""
        return replace(
            self,
            matrices=[take_rows(X, order, on_disk=on_disk) for X in self.matrices],
            mask=None if self.mask is None else self.mask[:, order],
            samples=None if self.samples is None else tuple(self.samples[i] for i in order),
            rows=order,
        )

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

    def take(self, at: IndexArray) -> Views:
        """Some samples, in memory."""
        mask = None if self.mask is None else self.mask[:, at]
        return replace(
            self,
            matrices=[read_rows(X, at) for X in self.matrices],
            mask=None if mask is None or mask.all() else mask,
            samples=None if self.samples is None else tuple(self.samples[row] for row in at),
        )

    def ordered_as(self, fitted: dict[str, Layout]) -> Views:
        """The same views in the order of the fit. They must have the views and features of the fit."""
        if set(self.names) != set(fitted):
            raise _other_views(self.names, tuple(fitted))
        for name, got in self.layout.items():
            got.check(name, fitted[name], self.n_samples, alone=len(fitted) == 1)
        at = [self.names.index(name) for name in fitted]
        mask = None if self.mask is None else self.mask[at]
        return replace(
            self,
            matrices=[self.matrices[i] for i in at],
            names=tuple(fitted),
            columns=tuple(self.columns[i] for i in at),
            mask=mask,
        )


def _other_views(got: Sequence[str], fitted: Sequence[str]) -> InputError:
    """Views that are not those of the fit: which are lacking, which are too many, and what to do."""
    message = f"Got views {', '.join(got)}; fitted on {', '.join(fitted)}."
    if len(got) == len(fitted) and not set(got) & set(fitted):
        return InputError(f"{message} Give the views the names of the fit, as the keys of a dict.")
    if lacking := [name for name in fitted if name not in got]:
        message += (
            f" Missing: {', '.join(lacking)}. For new samples that do not have a view, pass rows of NaN for it and set "
            "missing='nan' (--missing nan); or fit again without it."
        )
    if strange := [name for name in got if name not in fitted]:
        message += f" Not in the fit: {', '.join(strange)}; leave out or rename."
    return InputError(message)


def check_views(
    views: Any, column_groups: Any = None, *, mask: Any = None, missing: str = "error", join: str | None = None
) -> Views:
    """Check views, name them, and join their samples by name.

    Views are named by the key of a dict, or "0", "1" and so on. For ``mask`` and ``missing`` see ``check_missing``, for
    ``join`` see :func:`anchor_align.data.join_views`. Checked views are returned as they are.
    """
    if isinstance(views, Views):
        return views
    check_join(join)
    if annotated_class(views):
        views = load_views(views, labels=False, join=join)
    by_name = isinstance(views, MultiViewData)
    if isinstance(views, MultiViewData):
        views, mask = _from_data(views, mask)
    if is_table(views):
        if _is_flat(views):
            raise InputError(
                f"Got one array of {np.size(views)} numbers; expected a list of views or a table, samples x features. "
                "Reshape your data, with reshape(1, -1) for a single sample."
            )
        if is_sparse(views):
            check_sparse(views, "The table")
        named = split_columns(views, column_groups)
        samples = table_names({"": views})[""]
        # The views of one table have the same rows, whatever their names.
        joined = JoinedSamples(None if samples is None else tuple(samples), (None,) * len(named))
        matrices = [_check_view(X, name) for name, X in named.items()]
    else:
        if column_groups is not None:
            raise InputError(
                f"column_groups splits one table into views, but got views as a {type(views).__name__} already."
            )
        named = {name: named_rows(X) for name, X in _name_views(views).items()}
        if not named:
            raise InputError("Got no view; expected one or more, samples x features each.")
        matrices, joined = join_tables(named, join, _check_view)
    names = tuple(named)
    for name, X in zip(names, matrices, strict=True):
        if X.shape[0] != matrices[0].shape[0]:
            raise InputError(
                f"View {names[0]} has {matrices[0].shape[0]} samples; view {name} has {X.shape[0]}. "
                "All views must describe the same samples."
            )
    matrices = same_chunks(matrices, names)
    mask = check_missing(matrices, mask, missing, joined=joined, names=names, columns="features")
    hint = "; impute values first, or, if whole rows are missing, say missing='nan' (--missing nan)"
    columns = tuple(tuple(X.columns) if getattr(X, "columns", None) is not None else None for X in named.values())
    check_finite(matrices, names, "views", mask, joined.samples, hint, columns=columns)
    by_name = by_name or joined.moved
    return Views([read_only(X) for X in matrices], names, columns, mask, joined.samples, joined.notes, by_name)


def _check_view(X: Any, name: str) -> Any:
    # Dense views keep their dtype; their blocks become floats when they are read.
    checked = check_graph(_from_objects(X, name), name, "features")
    return as_floats(checked) if is_sparse(checked) else checked


def _from_data(data: MultiViewData, mask: Any) -> tuple[dict[str, Any], Any]:
    """Views by name, and the mask: of the data, unless there is another."""
    columns = data.columns or (None,) * len(data.views)
    named_rows = [NamedRows(X, data.samples, heads) for X, heads in zip(data.views, columns, strict=True)]
    nameless = data.samples is None and not any(columns)
    named = _by_name(data.names, data.views if nameless else named_rows)
    return named, data.mask if mask is None else mask


def _is_flat(table: Any) -> bool:
    """Whether a table has fewer than two dimensions. A later check finds rows of unequal lengths."""
    if isinstance(table, np.ndarray) or is_distributed(table):
        return bool(table.ndim < 2)
    return isinstance(table, Sequence) and np.ndim(table[0]) == 0


def is_table(views: Any) -> bool:
    """Whether this is one 2-D table: array, sparse matrix, DataFrame, or a list of rows."""
    if is_sparse(views) or is_distributed(views) or hasattr(views, "columns"):
        return True
    if not isinstance(views, np.ndarray) and hasattr(views, "__array__"):
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
    # A list with an array in it is a list of views, also if its first entry is none.
    return not any(hasattr(each, "shape") for each in (views.flat if isinstance(views, np.ndarray) else views))


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
