"""Whether samples are rows or columns of a file's matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..errors import InputError
from ._entries import Entry, shared_sides
from ._multi_view_data import Note

ORIENTATIONS = ("auto", "rows", "columns")
# Tables that share fewer heads may well have the same features, such as x and y.
_FEW_HEADS = 5


@dataclass(frozen=True)
class Orientation:
    """For each view, whether its samples are columns; and a note if this was a guess."""

    transposed: tuple[bool, ...]
    notes: tuple[Note, ...] = ()


def find_orientation(views: Sequence[Entry], n_labels: int | None, orient: str) -> Orientation:
    """Find the side that the samples are on, the same for all views where that is possible.

    Rows of tables, and rows that have names, are samples, unless the number of labels fits the columns of tables alone.
    Otherwise that number decides; without labels, the size that all views share.
    """
    if orient != "auto":
        return _as_given(views, n_labels, orient, f"with orient={orient!r}, ")
    rows, columns = ({view.sides[side] for view in views} for side in (0, 1))
    fits_rows = rows == {n_labels} if n_labels is not None else len(rows) == 1
    fits_columns = columns == {n_labels} if n_labels is not None else len(columns) == 1
    is_table = any(view.is_table for view in views)
    if all(view.ids for view in views) or (is_table and (fits_rows or n_labels is None)):
        found = _as_given(views, n_labels, "rows", "samples are rows, and ")
        hint = in_columns(views, n_labels)
        return replace(found, notes=(Note("orientation", "", f"Samples are rows.{hint}"),) if hint else ())
    if fits_rows and fits_columns:
        if n_labels is not None and all(_is_symmetric(view) for view in views):
            return Orientation((False,) * len(views))
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


def in_columns(entries: Sequence[Entry], n_labels: int | None = None) -> str:
    """What to do if samples are in columns, where the same heads or widths of all tables suggest it; else nothing."""
    tables = [each for each in entries if each.is_table and each.is_matrix and not each.is_vector]
    heads = [set(table.heads) for table in tables]
    shared = set.intersection(*heads) if len(heads) > 1 else set()
    widths = {table.sides[1] for table in tables}
    if n_labels in (None, *widths) and len(shared) >= _FEW_HEADS and 2 * len(shared) > max(map(len, heads)):
        if "".join(shared).isdecimal():
            return ""
        which = "The" if len(set(map(frozenset, heads))) == 1 else "Most"
        reason = f"{which} heads of the columns are the same in all tables"
    elif len(widths) == 1 and not any(heads) and not any(table.ids for table in tables):
        rows = tables[0].sides[0] if len(tables) == 1 and n_labels is None else n_labels
        if widths != {rows or tables[0].sides[1]}:
            return ""
        reason = f"{'The table has' if len(tables) == 1 else 'All tables have'} {tables[0].sides[1]} columns"
    else:
        return ""
    return f" {reason}; if samples are in columns, say orient='columns' (--orient columns)."


def _is_symmetric(view: Entry) -> bool:
    values = view.read()
    difference = values != values.T
    return not (difference.nnz if hasattr(difference, "nnz") else difference.any())


def _as_given(views: Sequence[Entry], n_labels: int | None, orient: str, why: str) -> Orientation:
    side = 1 if orient == "columns" else 0
    expected = views[0].sides[side] if n_labels is None else n_labels
    for view in views:
        found = view.sides[side]
        if found != expected:
            other = f"view {views[0].key!r} has {expected}" if n_labels is None else f"there are {n_labels} labels"
            raise InputError(f"{why}view {view.key!r} ({view.size}) has {found} samples; {other}.")
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
