"""What was not taken from a file, and whether what was taken belongs together."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from ._entries import Entry
from ._labels import describe
from ._roles import listed


def not_read(entries: Sequence[Entry]) -> list[str]:
    """A sentence on the files of a folder that are none of those that can be read."""
    unread = [entry.key for entry in entries if entry.what == "not a table"]
    return [f"Not read, for want of an ending .npy, .npz, .csv, .tsv or .parquet: {listed(unread)}."] if unread else []


def left_out(entries: Sequence[Entry], used: Sequence[str], said: Sequence[str]) -> list[str]:
    """A sentence on all that is neither view nor labels, unless one of those ``said`` names it.

    ``used`` are the keys of the views and labels. Single numbers and text are no data.
    """
    other = [entry for entry in entries if entry.kind == "other" and entry.what not in ("empty", "not a table")]
    notes = [f"{e.key or 'A variable without a name'!r} is {e.what.split(',')[0]}: left out." for e in other]
    left = [entry for entry in entries if _holds_data(entry) and not _is_named(entry, used, said)]
    if left:
        notes.append(
            f"Left out: {', '.join(f'{entry.key!r} ({describe(entry)})' for entry in left[:12])}{_more(left)}."
        )
    return notes


def _more(left: Sequence[Entry]) -> str:
    return f" and {len(left) - 12} more" if len(left) > 12 else ""


def _holds_data(entry: Entry) -> bool:
    if entry.kind == "cell":
        return any(member.is_matrix and max(member.shape) > 1 for member in entry.members())
    return entry.kind in ("matrix", "sparse") and max(entry.shape, default=0) > 1 and 0 not in entry.shape


def _is_named(entry: Entry, used: Sequence[str], said: Sequence[str]) -> bool:
    inside = tuple(f"{entry.key}{mark}" for mark in ("{", "."))
    return any(key == entry.key or key.startswith(inside) for key in used) or any(repr(entry.key) in s for s in said)


def check_order(entries: Sequence[Entry], path: object) -> None:
    """Refuse tables that name the same samples in another order: their lines do not belong together."""
    named = [entry for entry in entries if entry.ids]
    for entry in named[1:]:
        first = named[0]
        if entry.ids != first.ids and sorted(entry.ids) == sorted(first.ids):
            row = next(i for i, pair in enumerate(zip(first.ids, entry.ids, strict=True)) if pair[0] != pair[1])
            raise InputError(
                f"{path}: {first.key!r} and {entry.key!r} name the same samples in different orders: sample {row + 1} "
                f"is {first.ids[row]!r} and {entry.ids[row]!r}; save them in the same order, or take one of them with "
                "views= (--views)."
            )
