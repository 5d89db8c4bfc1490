"""Whether samples are the rows or the columns of a file's matrices: the key does not tell, the counts do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError
from ._entries import Entry

ORIENTATIONS = ("auto", "rows", "columns")


@dataclass(frozen=True)
class Orientation:
    """For each view, whether its samples are columns; and how that was found, where it was a guess."""

    transposed: tuple[bool, ...]
    note: str = ""


def sides(entry: Entry) -> tuple[int, int]:
    """Rows and columns; an array without columns has one."""
    return (entry.shape[0], 1) if len(entry.shape) == 1 else (entry.shape[0], entry.shape[1])


def find_orientation(views: Sequence[Entry], n_labels: int | None, orient: str, path: object) -> Orientation:
    """Find the side that the samples are on, the same for all views where that is possible.

    The number of labels tells; without labels, the size that all views share.
    """
    if orient != "auto":
        return _as_told(views, n_labels, orient, path)
    sizes = [sides(view) for view in views]
    rows, columns = _fits([s[0] for s in sizes], n_labels), _fits([s[1] for s in sizes], n_labels)
    reason = f"the number of labels, {n_labels}" if n_labels is not None else "the size that all views share"
    if rows and columns:
        if n_labels is not None and all(_is_symmetric(view) for view in views):
            return Orientation((False,) * len(views))
        raise InputError(
            f"{path}: cannot tell whether samples are rows or columns, because {_undecided(views, n_labels)}; "
            "say orient='rows' or orient='columns'."
        )
    if rows or columns:
        where = "rows" if rows else "columns"
        return Orientation((columns,) * len(views), f"Samples are {where}: {reason}, fits this side alone.")
    return _mixed(views, n_labels, path)


def _fits(counts: list[int], n_labels: int | None) -> bool:
    return set(counts) == {counts[0] if n_labels is None else n_labels}


def _undecided(views: Sequence[Entry], n_labels: int | None) -> str:
    if n_labels is not None:
        return f"all views are {views[0].size} and there are {n_labels} labels"
    return f"the only view is {views[0].size}" if len(views) == 1 else f"all views are {views[0].size}"


def _as_told(views: Sequence[Entry], n_labels: int | None, orient: str, path: object) -> Orientation:
    side = 1 if orient == "columns" else 0
    expected = n_labels if n_labels is not None else sides(views[0])[side]
    for view in views:
        found = sides(view)[side]
        if found != expected:
            against = (
                f"there are {n_labels} labels" if n_labels is not None else f"view {views[0].key!r} has {expected}"
            )
            raise InputError(
                f"{path}: with orient={orient!r}, view {view.key!r} ({view.size}) has {found} samples; {against}."
            )
    return Orientation((orient == "columns",) * len(views))


def _mixed(views: Sequence[Entry], n_labels: int | None, path: object) -> Orientation:
    """Views that do not all have their samples on the same side."""
    shared = set.intersection(*({*sides(view)} for view in views))
    if n_labels is not None:
        shared &= {n_labels}
    if len(shared) > 1:
        one, other = sorted(shared)
        raise InputError(
            f"{path}: cannot tell whether there are {one} or {other} samples, because all views have a side of either "
            "size; save them with samples as rows in all views."
        )
    if not shared:
        sizes = ", ".join(f"{view.key!r} is {view.size}" for view in views)
        labels = "" if n_labels is None else f" and there are {n_labels} labels"
        raise InputError(
            f"{path}: views do not have the same number of samples: {sizes}{labels}; "
            "views= and labels= say what to take."
        )
    (n_samples,) = shared
    transposed = tuple(sides(view)[0] != n_samples for view in views)
    turned = ", ".join(repr(view.key) for view, each in zip(views, transposed, strict=True) if each)
    return Orientation(transposed, f"Samples are rows in some views and columns in others ({turned}).")


def _is_symmetric(view: Entry) -> bool:
    """Whether a square matrix is the same both ways, so that nothing needs to be decided."""
    values = view.read()
    difference = values != values.T
    return not (difference.nnz if hasattr(difference, "nnz") else difference.any())
