"""What the names of matrices say about each other: numbered families, halves of a split, masks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import InputError
from ._duplicates import same_content
from ._entries import Entry, normal
from ._labels import is_binary, read_labels
from ._orientation import sides

_SPLITS = ("training", "train", "trn", "tr", "testing", "test", "tst", "te", "validation", "valid", "val", "dev")
_MASKS = ("m", "ind", "miss", "mask", "index")


def stem(entry: Entry) -> str:
    """Key with its numbers left out."""
    return re.sub(r"\d+", "#", entry.key)


def leaf_stem(entry: Entry) -> str:
    """The same without structs around it, normalised for comparison with known names."""
    return normal(re.sub(r"\d+", "", entry.leaf))


def is_numbered(entry: Entry) -> bool:
    """Whether a name has a number that somebody gave it: ``arr_0`` is numpy's."""
    return stem(entry) != entry.key and leaf_stem(entry) != "arr"


def kin(vectors: Sequence[Entry], candidates: Sequence[Entry]) -> list[Entry]:
    """Vectors that are numbered like a matrix, X1 beside X2: views of one feature."""
    stems = {stem(entry) for entry in candidates if is_numbered(entry)}
    return [entry for entry in vectors if stem(entry) in stems]


def check_family(chosen: Sequence[Entry], candidates: Sequence[Entry], n_labels: set[int], path: object) -> None:
    """Refuse views of which one that is numbered like them has another number of samples."""
    for entry in chosen:
        for other in candidates:
            if other not in chosen and is_numbered(entry) and stem(other) == stem(entry) and _apart(other, chosen):
                counts = f"; there are {' or '.join(map(str, sorted(n_labels)))} labels" if n_labels else ""
                raise InputError(
                    f"{path}: views do not have the same number of samples: {entry.key!r} is {entry.size} and "
                    f"{other.key!r} is {other.size}{counts}; views= (--views) says which to take."
                )


def _apart(entry: Entry, chosen: Sequence[Entry]) -> bool:
    shared = set.intersection(*({*sides(each)} for each in chosen))
    return entry.parent == chosen[0].parent and not shared & {*sides(entry)}


def check_split(chosen: Sequence[Entry], candidates: Sequence[Entry], path: object) -> None:
    """Refuse X_train beside X_test as a view: they are other samples, not other features."""
    bases: dict[str, Entry] = {}
    for entry in candidates:
        short = entry.short
        part = next((each for each in _SPLITS if short.endswith(each)), None)
        base = short.removesuffix(part) if part else None
        if base is None:
            part = next((each for each in _SPLITS if short.startswith(each)), None)
            base = short.removeprefix(part) if part else None
        if base is None:
            continue
        if base in bases and (entry in chosen or bases[base] in chosen):
            raise InputError(
                f"{path}: {bases[base].key!r} ({bases[base].size}) and {entry.key!r} ({entry.size}) look like parts of "
                "a split into training and test samples, not like views of the same samples; views= and labels= "
                "(--views, --labels) say what to take."
            )
        bases[base] = entry


def is_mask(entry: Entry) -> bool:
    """Whether it says which samples are missing in which view."""
    return entry.short in _MASKS and is_binary(entry)


def without_labels(members: Sequence[Entry]) -> tuple[list[Entry], Entry | None]:
    """The members of a cell without a last one that is a whole number for each sample, and that one."""
    *views, last = members
    if not views or not last.is_vector or any(view.is_vector for view in views):
        return list(members), None
    if not all(max(last.shape) in sides(view) for view in views):
        return list(members), None
    try:
        read_labels(last)
    except InputError:
        return list(members), None
    return views, last


def twins(views: Sequence[Entry]) -> list[str]:
    """A sentence for each view that holds what an earlier one holds."""
    notes = []
    for place, entry in enumerate(views):
        for other in views[:place]:
            same = other.shape == entry.shape and same_content(other, entry)
            other.forget()
            if same:
                notes.append(f"{other.key!r} and {entry.key!r} hold the same numbers; both are taken.")
                break
    return notes
