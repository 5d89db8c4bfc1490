"""Whether a first line 0, 1, 2, ... holds names of columns or numbers: files of one folder tell together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError
from ._entries import Entry
from ._tables import Table

# From so many columns on, a first line that counts them is no data.
_MANY = 3


def alone(table: Table) -> list[Entry]:
    """Entries of a table that no other file says anything about."""
    if not table.counted:
        return table.entries()
    is_names = _is_no_coincidence(table)
    return table.entries(has_header=is_names, note=_note(table, is_names) if len(table.counted) > 1 else "")


def together(tables: Sequence[Table], others: Sequence[Entry], folder: Path) -> dict[Path, list[Entry]]:
    """Entries of each table of a folder; ``others`` are the entries of files that are no tables."""
    certain = [entry for table in tables if not table.counted for entry in table.entries()]
    # What has a row for each sample beyond doubt, and what may have the samples on either side.
    strong = {entry.shape[0] for entry in certain} | {max(e.shape) for e in others if e.is_vector or e.kind == "text"}
    weak = {size for entry in (*others, *certain) if entry.is_matrix for size in entry.shape}
    open_ones = [table for table in tables if table.counted]
    made = {table.path: table.entries() for table in tables if not table.counted}
    for table in open_ones:
        options = {len(table.values), len(table.values) - 1}
        fits = (options & strong) or (options & weak) if strong or weak else _shared(open_ones)
        if not fits:
            made[table.path] = alone(table)
            continue
        if len(fits) > 1 and not strong and not weak and any(map(_is_no_coincidence, open_ones)):
            # As many lines in every file, and in one the first is names beyond doubt: it is so in all.
            fits = {len(table.values) - 1}
        if len(fits) > 1:
            raise InputError(
                f"{folder}: cannot tell whether the first line of {table.path.name}, {_shown(table)}, holds names of "
                "columns or numbers; write names that are words, or none."
            )
        is_names = fits == {len(table.values) - 1}
        made[table.path] = table.entries(has_header=is_names, note=_note(table, True) if is_names else "")
    return made


def _is_no_coincidence(table: Table) -> bool:
    """Whether a first line that counts columns is long, or stands above numbers that are not whole."""
    if len(table.counted) >= _MANY or isinstance(table.values, list):
        return len(table.counted) >= _MANY
    with np.errstate(invalid="ignore"):
        return bool((table.values[1:] % 1 > 0).any())


def _shared(tables: Sequence[Table]) -> set[int]:
    """Numbers of rows that all tables can have."""
    return set.intersection(*({len(table.values), len(table.values) - 1} for table in tables))


def _note(table: Table, is_names: bool) -> str:
    return f"The first line of {table.path.name}, {_shown(table)}, was taken as {'names' if is_names else 'numbers'}."


def _shown(table: Table) -> str:
    shown = ", ".join(table.counted[:3])
    return shown if len(table.counted) <= 3 else f"{shown}, ..."
