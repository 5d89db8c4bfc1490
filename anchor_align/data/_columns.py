"""Columns of a table that are no features: labels, and names or numbers of the samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

LABEL_HEADS = ("label", "labels", "class", "target", "y")
_ID_HEADS = ("id", "index")
_MISSING = ("", "na", "n/a", "nan", "null", "none", "?")


@dataclass(frozen=True)
class Columns:
    """Places of a table's columns by what they hold, and what was decided."""

    features: list[int]
    label: int | None = None
    ids: int | None = None
    notes: list[str] = field(default_factory=list)


def number(text: str) -> float | None:
    """The number a field holds: NaN where it says that there is none, None where it holds something else."""
    if text.lower() in _MISSING:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return None


def column_roles(names: Sequence[str], words: Callable[[int], list[str]], file: str) -> Columns:
    """Tell features from labels and names of samples by what is above a column and what is in it.

    ``words`` gives the fields of a column as text; only columns whose name raises the question are asked for.
    """
    heads = [name.strip().lower() for name in names]
    notes: list[str] = []
    label: int | None = None
    left: set[int] = set()
    for place in sorted((j for j, head in enumerate(heads) if head in LABEL_HEADS), key=lambda j: _rank(heads[j])):
        name, values = names[place], words(place)
        if heads[place] == "y" and ("x" in heads or not _are_labels(values)):
            notes.append(f"Column {name!r} of {file} was taken as a feature, not as labels.")
        elif label is None and _are_labels(values):
            label = place
        elif len(names) > 1:
            notes.append(f"Column {name!r} of {file} has a label's name and was left out.")
            left.add(place)
    ids = None
    for place, head in enumerate(heads):
        without_name = head == "" and place == 0
        if len(names) == 1 or not (without_name or (head in _ID_HEADS and _are_ids(words(place)))):
            continue
        which = "The first column, which has no name," if without_name else f"Column {names[place]!r}"
        notes.append(f"{which} of {file} was taken for names of the rows and left out.")
        ids = place if ids is None else ids
        left.add(place)
    features = [j for j in range(len(names)) if j not in left and j != label]
    return Columns(features, label, ids, notes)


def _rank(head: str) -> int:
    return LABEL_HEADS.index(head)


def _are_labels(values: Sequence[str]) -> bool:
    """Whether all are whole numbers, or some are words."""
    numbers = [number(value) for value in values]
    return any(each is None or each != each for each in numbers) or all(each == round(each or 0) for each in numbers)


def _are_ids(values: Sequence[str]) -> bool:
    """Whether they are all different, and whole numbers or words."""
    if len(set(values)) < len(values):
        return False
    numbers = [number(value) for value in values]
    return all(each is None for each in numbers) or all(each is not None and each % 1 == 0 for each in numbers)
