"""What tables are made of, and how numbers, settings and names read in them.

A :class:`Grid` is a table before it has a format: its texts are plain, with a true minus sign and "±" in numbers, and
every writer escapes them in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FAILED_CELL = "failed"


@dataclass(frozen=True)
class Column:
    """Header and kind of a column.

    Attributes
    ----------
    header : str
    numbers : bool
        Numbers are set flush right and never broken; text wraps where there is no room.
    merged : bool
        Whether what the row above says is not said again.
    """

    header: str
    numbers: bool = False
    merged: bool = False


@dataclass(frozen=True)
class Cell:
    """Text of a cell, whether it stands out, and what to say instead where there is no room."""

    text: str
    bold: bool = False
    short: str = ""


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """One table: caption, columns, rows, what bold stands for, and remarks to go below it."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    bold: str = ""
    notes: tuple[str, ...] = ()


def cells(*texts: str) -> Row:
    """Cells of plain text."""
    return tuple(map(Cell, texts))


def blanked(columns: Sequence[Column], rows: Sequence[Row]) -> list[Row]:
    """Rows without the names that the row above has already.

    A name is said again where one to the left of it changes.

    Examples
    --------
    >>> columns = [Column("data", merged=True), Column("adapter", merged=True)]
    >>> rows = [cells("digits", "lmvsc"), cells("digits", "sfmc"), cells("BDGP", "sfmc")]
    >>> [[cell.text for cell in row] for row in blanked(columns, rows)]
    [['digits', 'lmvsc'], ['', 'sfmc'], ['BDGP', 'sfmc']]
    """
    shown: list[Row] = []
    above: Row | None = None
    for row in rows:
        new = list(row)
        for at, column in enumerate(columns):
            if above is None or not column.merged or above[at].text != row[at].text:
                break
            new[at] = Cell("")
        shown.append(tuple(new))
        above = row
    return shown
