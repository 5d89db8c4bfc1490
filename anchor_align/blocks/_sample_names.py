"""Names of samples: rows of several tables are paired by name, and by position only where nothing has names."""

from __future__ import annotations

import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ..arrays import BoolArray, IndexArray
from ..checks import check_choice
from ..errors import InputError, shown

# Text or a number; a DataFrame may also have dates or tuples.
Name: TypeAlias = Any
JOINS = ("inner", "outer")
_LISTED = 3


@dataclass(frozen=True, eq=False)
class JoinedSamples:
    """The samples of several views in one order.

    Attributes
    ----------
    samples : tuple or None
        Names in the common order; None if no view has names.
    rows : tuple of ndarray or None
        For each view, its row of every sample, -1 where the view has none; None if its rows are in the common order.
    mask : ndarray of bool of shape (n_views, n_samples) or None
        False where a view has no row; None if every view has every sample.
    notes : tuple of str
        One sentence for each thing that was done.
    """

    samples: tuple[Name, ...] | None
    rows: tuple[IndexArray | None, ...]
    mask: BoolArray | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def moved(self) -> bool:
        """Whether the rows of some view change their places."""
        return any(each is not None for each in self.rows)


def check_join(join: object) -> str | None:
    """None, "inner" or "outer"."""
    return None if join is None else check_choice("join", join, JOINS)


def join_samples(names: Mapping[str, Sequence[Name] | None], join: str | None = None) -> JoinedSamples:
    """Find the common order of the samples of several views.

    Parameters
    ----------
    names : dict of sequences
        For each view, by its name, the names of its rows, or None if they have none.
    join : {"inner", "outer"}, optional
        What to do if the views have different samples: "inner" keeps those that all views have, "outer" keeps all. By
        default different samples are an error; the same samples in another order are none.

    Returns
    -------
    JoinedSamples
        In the order of the first view; for "outer" the samples of the next views follow.

    Raises
    ------
    InputError
        If only some views have names, or if names are missing, repeated, of different types or padded with spaces.

    Examples
    --------
    >>> joined = join_samples({"a": ["x", "y", "z"], "b": ["z", "x"]}, "outer")
    >>> joined.samples, joined.rows[1].tolist()
    (('x', 'y', 'z'), [1, -1, 0])
    >>> joined.mask.tolist()
    [[True, True, True], [True, False, True]]
    """
    join = check_join(join)
    views = list(names)
    named = {view: tuple(each) for view, each in names.items() if each is not None}
    if len(views) == 1:
        return JoinedSamples(named.get(views[0]), (None,))
    if len(named) < len(views) and all(map(_count_rows, named.values())):
        named = {}
    if not named:
        if join is not None:
            raise InputError(
                f"join={join!r} (--join) joins samples by name, and no view has names; name the rows, as the index "
                "of a DataFrame or in the first column of a file (index=, --index)."
            )
        return JoinedSamples(None, (None,) * len(views))
    if len(named) < len(views):
        without = next(view for view in views if view not in named)
        having = next(iter(named))
        raise InputError(
            f"View {having} has names of samples, such as {shown(named[having][0])}, and view {without} has none; name "
            "the rows of all views, or, to pair rows by position, drop all names: table.reset_index(drop=True), or "
            "index=False (--no-index) for files."
        )
    first = named[views[0]]
    same = {view: each == first for view, each in named.items()}
    for view, each in named.items():
        if view == views[0] or not same[view]:
            check_names(view, each)
    if all(same.values()):
        return JoinedSamples(first, (None,) * len(views))
    _check_kinds(named)
    return _joined(named, join)


def _count_rows(names: tuple[Name, ...]) -> bool:
    """Whether names only count the rows, from 0 or from 1, as numbers or as text."""
    return any(
        all(type(name) is kind for name in names) and names == tuple(map(kind, range(start, start + len(names))))
        for kind in (int, str)
        for start in (0, 1)
    )


def _joined(named: dict[str, tuple[Name, ...]], join: str | None) -> JoinedSamples:
    sets = {view: set(each) for view, each in named.items()}
    everything = dict.fromkeys(name for each in named.values() for name in each)
    shared = set.intersection(*sets.values())
    notes: list[str] = []
    if len(shared) == len(everything):
        samples = next(iter(named.values()))
        moved = [view for view, each in named.items() if each != samples]
        notes.append(
            f"The samples of {_views(moved)} were put in the order of view {next(iter(named))}, by their names."
        )
    elif sum(map(len, sets.values())) == len(everything):
        raise InputError(
            f"Every sample is in one view only{_examples(named)}; views are joined by samples that they share: write "
            "the names alike."
        )
    elif join is None:
        raise _different(named, sets, len(shared), len(everything))
    elif join == "inner":
        if not shared:
            raise InputError(
                f"join='inner' keeps the samples that all views have, and there is none{_examples(named)}; "
                "join='outer' (--join outer) keeps all samples."
            )
        samples = tuple(name for name in everything if name in shared)
        notes.append(f"join='inner' kept the {len(samples)} of {len(everything)} samples that all views have.")
    else:
        samples = tuple(everything)
        lacking = [f"view {view} lacks {len(samples) - len(own)}" for view, own in sets.items() if own != {*samples}]
        notes.append(f"join='outer' kept all {len(samples)} samples: {_listed(lacking)}.")
    rows = tuple(None if each == samples else row_places(each, samples) for each in named.values())
    mask = np.array([np.ones(len(samples), dtype=np.bool_) if each is None else each >= 0 for each in rows])
    return JoinedSamples(samples, rows, None if mask.all() else mask, tuple(notes))


def row_places(own: Sequence[Name], samples: Sequence[Name]) -> IndexArray:
    """Row of every sample among the rows of a view; -1 for a sample that it lacks."""
    at = {name: row for row, name in enumerate(own)}
    return np.fromiter((at.get(name, -1) for name in samples), dtype=np.intp, count=len(samples))


def _different(named: dict[str, tuple[Name, ...]], sets: dict[str, set[Name]], inner: int, outer: int) -> InputError:
    first, *others = named
    other = next((view for view in others if sets[view] != sets[first]), others[0])
    parts = []
    for one, two in ((first, other), (other, first)):
        strange = [name for name in named[one] if name not in sets[two]]
        if strange:
            parts.append(
                f"{len(strange)} of {len(named[one])} names of view {one} are not in view {two}, such as "
                f"{shown(strange[0])}"
            )
    return InputError(
        f"Views {first} and {other} have different samples: {', and '.join(parts)}; join='inner' (--join inner) keeps "
        f"the {inner} samples that all views have, join='outer' (--join outer) all {outer}."
    )


def check_names(view: str, names: tuple[Name, ...]) -> None:
    """Refuse names that are missing, repeated, or padded with spaces."""
    nameless = [row for row, name in enumerate(names) if name is None or name != name or name == ""]
    if nameless:
        raise InputError(
            f"View {view} has no name for {len(nameless)} of {len(names)} samples (first: row {nameless[0]}); name "
            "them or leave them out."
        )
    padded = [name for name in names if isinstance(name, str) and name != name.strip()]
    if padded:
        raise InputError(
            f"View {view} has spaces around {len(padded)} of {len(names)} names of samples, such as "
            f"{shown(padded[0])}; remove them, as in table.index = table.index.str.strip()."
        )
    if len(set(names)) < len(names):
        seen: dict[Name, int] = {}
        for row, name in enumerate(names):
            if seen.setdefault(name, row) != row:
                raise InputError(
                    f"View {view} names {len(names) - len(set(names))} of {len(names)} samples like others: "
                    f"{shown(name)} is row {seen[name]} and row {row}. Every sample needs its own name."
                )


def _check_kinds(named: dict[str, tuple[Name, ...]]) -> None:
    """Refuse text in one place and numbers in another: 1 and "1" are different names."""
    found: dict[str, tuple[str, Name]] = {}
    for view, names in named.items():
        for name in names:
            found.setdefault(_kind(name), (view, name))
    if len(found) > 1:
        (one, (view, name)), (two, (other, strange)) = list(found.items())[:2]
        raise InputError(
            f"View {view} names samples by {one}, such as {shown(name)}, and view {other} by {two}, such as "
            f"{shown(strange)}; write all as text, as in table.index = table.index.astype(str)."
        )


def _kind(name: Name) -> str:
    if isinstance(name, str):
        return "text"
    return "numbers" if isinstance(name, numbers.Real) else f"values of type {type(name).__name__}"


def _examples(named: dict[str, tuple[Name, ...]]) -> str:
    return f" ({_listed([f'view {view} has {shown(names[0])}' for view, names in named.items()])})"


def _views(views: Sequence[str]) -> str:
    return f"view {views[0]}" if len(views) == 1 else f"views {_listed(views)}"


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return ", ".join(texts[:_LISTED]) + more


def name_order(names: Sequence[Name]) -> IndexArray | None:
    """Order that sorts names, s9 before s10; None if they are sorted, or of a kind that has no order here."""
    if all(isinstance(name, numbers.Real) for name in names):
        keys: list[Any] = list(names)
    elif all(isinstance(name, str) for name in names):
        keys = [(natural(name), name) for name in names]
    else:
        return None
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
    return None if (order == np.arange(len(order))).all() else order


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key under which ``view_10`` comes after ``view_9``."""
    parts = re.split(r"(\d+)", name)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]
