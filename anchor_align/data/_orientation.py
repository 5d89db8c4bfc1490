"""Whether samples are rows or columns of a file's matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError
from ._entries import Entry, shared_sides
from ._multi_view_data import Note

ORIENTATIONS = ("auto", "rows", "columns")


@dataclass(frozen=True)
class Orientation:
    """For each view, whether its samples are columns; and a note if this was a guess."""

    transposed: tuple[bool, ...]
    notes: tuple[Note, ...] = ()


def find_orientation(views: Sequence[Entry], n_labels: int | None, orient: str) -> Orientation:
    """Find the side that the samples are on, the same for all views where that is possible.

    The number of labels decides; without labels, the size that all views share.
    """
    if orient != "auto":
        return _as_given(views, n_labels, orient)
    if all(view.ids for view in views):
        # Rows that have names are samples.
        return _as_given(views, n_labels, "rows")
    rows, columns = ({view.sides[side] for view in views} for side in (0, 1))
    fits_rows = rows == {n_labels} if n_labels is not None else len(rows) == 1
    fits_columns = columns == {n_labels} if n_labels is not None else len(columns) == 1
    if fits_rows and fits_columns:
        if n_labels is not None and all(_is_symmetric(view) for view in views):
            return Orientation((False,) * len(views))
        if n_labels is None and all(view.heads for view in views):
            return Orientation(
                (False,) * len(views), (Note("orientation", "", "Samples are rows: columns have names."),)
            )
        which = "the only view is" if len(views) == 1 and n_labels is None else "all views are"
        labels = "" if n_labels is None else f" and there are {n_labels} labels"
        raise InputError(
            f"cannot tell whether samples are rows or columns, because {which} {views[0].size}{labels}; "
            "say orient='rows' or orient='columns' (--orient)."
        )
    if fits_rows or fits_columns:
        where = "rows" if fits_rows else "columns"
        reason = "the size that all views share" if n_labels is None else f"the number of labels, {n_labels}"
        note = Note("orientation", "", f"Samples are {where}: {reason}, fits this side alone.")
        return Orientation((fits_columns,) * len(views), (note,))
    return _mixed_orientation(views, n_labels)


def _is_symmetric(view: Entry) -> bool:
    values = view.read()
    difference = values != values.T
    return not (difference.nnz if hasattr(difference, "nnz") else difference.any())


def _as_given(views: Sequence[Entry], n_labels: int | None, orient: str) -> Orientation:
    side = 1 if orient == "columns" else 0
    expected = views[0].sides[side] if n_labels is None else n_labels
    for view in views:
        found = view.sides[side]
        if found != expected:
            other = f"view {views[0].key!r} has {expected}" if n_labels is None else f"there are {n_labels} labels"
            raise InputError(f"with orient={orient!r}, view {view.key!r} ({view.size}) has {found} samples; {other}.")
    return Orientation((orient == "columns",) * len(views))


def _mixed_orientation(views: Sequence[Entry], n_labels: int | None) -> Orientation:
    """Views that do not all have their samples on the same side."""
    shared = shared_sides(views, () if n_labels is None else (n_labels,))
    if len(shared) > 1:
        one, other = sorted(shared)
        raise InputError(
            f"cannot tell whether there are {one} or {other} samples, because all views have a side of either size; "
            "save them with samples as rows in all views."
        )
    if not shared:
        sizes = ", ".join(f"{view.key!r} is {view.size}" for view in views)
        labels = "" if n_labels is None else f" and there are {n_labels} labels"
        raise InputError(
            f"views do not have the same number of samples: {sizes}{labels}; views= and labels= say what to take."
        )
    (n_samples,) = shared
    transposed = tuple(view.sides[0] != n_samples for view in views)
    turned = ", ".join(repr(view.key) for view, each in zip(views, transposed, strict=True) if each)
    text = f"Samples are rows in some views and columns in others ({turned})."
    return Orientation(transposed, (Note("orientation", "", text),))
