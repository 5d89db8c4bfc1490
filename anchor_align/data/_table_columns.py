"""Columns of a table by what they hold: features, labels, or names of the samples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, shown, unknown_name
from ._entries import normal
from ._find_labels import LABEL_NAMES
from ._multi_view_data import Note
from ._read_options import IndexName

LABEL_HEADS = ("label", "labels", "class", "target", "y")
_ID_HEADS = ("id", "index", "sample", "name", "obs_names", "row.names")
_ENDS_WITH_ID = re.compile(r"[ _.-][Ii][Dd]$|[a-z]I[Dd]$")  # patient_id and PatientID, not lipid
_MISSING = ("", "na", "n/a", "#n/a", "nan", "<na>", "null", "none", "?")
_LONGEST_NUMBER = 1000


@dataclass(frozen=True)
class ColumnRoles:
    """Indices of a table's columns by what they hold."""

    features: list[int]
    label: int | None = None
    ids: int | None = None
    notes: tuple[Note, ...] = ()


def column_roles(
    names: Sequence[str],
    words: Callable[[int], list[str]],
    path: Path,
    index: IndexName = None,
    *,
    first_is_number: bool = False,
    number: Callable[[str], float | None] | None = None,
) -> ColumnRoles:
    """Which columns are features, labels or names of samples, by the head of a column and by what is in it.

    ``words`` returns the fields of a column as text; it is called only for the first column and for columns whose head
    raises the question. ``index`` is the head of the column of names; False if no column names the samples.
    ``first_is_number`` says that the type of the first column is a number, without reading it; ``number`` reads one.
    """
    given: int | None = None
    if isinstance(index, str):
        given = next((column for column, name in enumerate(names) if name == index), None)
        if given is None:
            raise unknown_name(f"column of {path.name} (index=, --index)", index, names)
    if len(names) <= 1:
        return ColumnRoles(list(range(len(names))))
    heads = [name.strip().lower() for name in names]
    notes: list[str] = []
    label: int | None = None
    left: set[int] = set()
    named = [column for column, head in enumerate(heads) if head in LABEL_HEADS and column != given]
    for column in sorted(named, key=lambda column: LABEL_HEADS.index(heads[column])):
        are_labels = _are_labels(words(column))
        if heads[column] == "y" and ("x" in heads or not are_labels):
            notes.append(f"Column {names[column]!r} of {path.name} was taken as a feature, not as labels.")
        elif label is None and are_labels:
            label = column
        else:
            notes.append(f"Column {names[column]!r} of {path.name} has a label's name and was left out.")
            left.add(column)
    found = [given] if given is not None else _name_columns(names, heads, words, path, notes, first_is_number, number)
    left.update(found)
    for column in found if given is None else ():
        which = f"Column {names[column]!r}" if names[column] else "The first column, which has no name,"
        done = "left out" if index is False else "taken for names of the rows"
        notes.append(f"{which} of {path.name} was {done}.")
    ids = found[0] if found and index is not False else None
    features = [column for column in range(len(names)) if column not in left and column != label]
    if label is not None and normal(path.stem) in LABEL_NAMES:
        # A table of labels may have other columns, of words: they are not needed.
        features = []
    return ColumnRoles(features, label, ids, tuple(Note("table", path.stem, text) for text in notes))


def _name_columns(
    names: Sequence[str],
    heads: Sequence[str],
    words: Callable[[int], list[str]],
    path: Path,
    notes: list[str],
    first_is_number: bool,
    number: Callable[[str], float | None] | None,
) -> list[int]:
    """Columns of names: the first one if it has no head or no number, and those headed ``id`` and the like."""
    found = [0] if heads[0] == "" else []
    for column, head in enumerate(heads):
        if not (head in _ID_HEADS or _ENDS_WITH_ID.search(names[column].strip())) or column in found:
            continue
        if _are_ids(words(column)):
            found.append(column)
        elif _are_ids(list(set(words(column)))):
            text = (
                f"Column {names[column]!r} of {path.name} repeats values and was taken as a feature; index= (--index)"
            )
            notes.append(f"{text} takes it for names of the samples.")
    if not found and heads[0] not in LABEL_HEADS and not first_is_number and has_no_number(words(0), number):
        check_different(words(0), names[0], path)
        found = [0]
    return found


def has_no_number(values: Sequence[str], number: Callable[[str], float | None] | None = None) -> bool:
    """Whether no field holds a number, which ``number`` reads, or is missing."""
    return all((number or field_number)(value) is None for value in values)


def check_different(values: Sequence[str], head: str, path: Path) -> None:
    """Refuse a first column of words that are not all different: they are no names, and perhaps labels."""
    repeated = len(values) - len(set(values))
    if repeated:
        again = Counter(values).most_common(1)[0][0]
        which = f"Column {head!r}" if head else "The first column"
        raise InputError(
            f"{which} of {path} has words, and {repeated} of {len(values)} are repeated, such as {shown(again)}; "
            "expected names of samples, each once. If they are labels, head the column 'label'."
        )


def field_number(text: str) -> float | None:
    """The number in a field: NaN if the field says that it is missing, None if it holds something else."""
    # A long text may stand in every row, although the file has it once.
    if len(text) > _LONGEST_NUMBER:
        return None
    if text.lower() in _MISSING:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return None


def _are_labels(values: Sequence[str]) -> bool:
    """Whether all are whole numbers, or some are words or missing. Infinity, as in 1e999, is no whole number."""
    numbers = [field_number(value) for value in values]
    return any(each is None or each != each for each in numbers) or all((each or 0) % 1 == 0 for each in numbers)


def _are_ids(values: Sequence[str]) -> bool:
    """Whether all are different, and whole numbers or words."""
    numbers = [field_number(value) for value in values]
    is_one_kind = all(each is None for each in numbers) or all(each is not None and each % 1 == 0 for each in numbers)
    return is_one_kind and len(set(values)) == len(values)
