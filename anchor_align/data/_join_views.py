"""``join_views``: tables in memory, joined by the names of their samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..blocks import check_graph, join_tables
from ..checks import is_iterable
from ..errors import InputError, InputTypeError
from ._annotated_entries import named_rows
from ._multi_view_data import MultiViewData, Note


def join_views(views: Mapping[str, Any] | Iterable[Any], *, join: str | None = None) -> MultiViewData:
    """Put the samples of several tables in one order, by their names.

    :meth:`anchor_align.AlignedClusterer.fit` does the same with its views. Use this function to see which samples are
    there, or to keep the names beside the result of ``predict``.

    Parameters
    ----------
    views : list or dict of DataFrames, AnnData objects, arrays or sparse matrices
        The index of a DataFrame has the names, unless it counts the rows; ``obs_names`` those of AnnData. Rows are
        paired by position if no view has names.
    join : {"inner", "outer"}, optional
        For views with different samples: "inner" keeps the samples that all views have, "outer" keeps all. By default
        different samples are an error.

    Returns
    -------
    MultiViewData
        Samples are in the order of the first view; with "outer", those that it lacks follow.

    Raises
    ------
    InputError
        If names are missing in one view only, missing for some samples, repeated, of different types, or padded with
        spaces; or if the views have different samples and ``join`` is None.

    Examples
    --------
    >>> import pandas as pd
    >>> from anchor_align.data import join_views
    >>> a = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["s1", "s2", "s3"])
    >>> b = pd.DataFrame({"y": [30.0, 10.0]}, index=["s3", "s1"])
    >>> data = join_views({"a": a, "b": b}, join="outer")
    >>> data.samples, data.mask[1].tolist(), data.views[1].ravel().tolist()
    (('s1', 's2', 's3'), [True, False, True], [10.0, nan, 30.0])
    """
    if not isinstance(views, Mapping):
        if isinstance(views, (str, bytes)) or not is_iterable(views) or hasattr(views, "shape"):
            raise InputTypeError(f"Expected a list or dict of views, got {type(views).__name__}.")
        views = {str(view): X for view, X in enumerate(views)}
    if not views:
        raise InputError("Got no view; expected one or more, samples x features each.")
    tables = {str(name): named_rows(X) for name, X in views.items()}
    matrices, joined = join_tables(tables, join, lambda X, view: check_graph(X, view, "features"))
    for name, X in zip(tables, matrices, strict=True):
        if X.shape[0] != matrices[0].shape[0]:
            raise InputError(
                f"View {next(iter(tables))} has {matrices[0].shape[0]} samples; view {name} has {X.shape[0]}. "
                "All views must describe the same samples."
            )
    notes = tuple(Note("samples", "", text) for text in joined.notes)
    return MultiViewData(matrices, None, list(tables), notes, joined.samples, joined.mask)
