"""A table before it has a format: plain text, with a true minus sign and "±" in numbers; writers escape it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..study import Setting
from ._formatting import Varying, anchors_text, number_text, params_text

FAILED_TEXT = "failed"


@dataclass(frozen=True)
class Column:
    """Header and kind of a column.

    Attributes
    ----------
    header : str
    numbers : bool
        Numbers are set flush right and never broken; text wraps where there is no room.
    merged : bool
        Whether a cell stays empty if the row above has the same text.
    """

    header: str
    numbers: bool = False
    merged: bool = False


@dataclass(frozen=True)
class TableCell:
    """Text of a cell, whether it is bold, and a shorter text for where there is no room."""

    text: str
    bold: bool = False
    short: str = ""


TableRow = tuple[TableCell, ...]


@dataclass(frozen=True)
class ReportTable:
    """One table: caption, columns, rows, what bold stands for, and remarks to go below it."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    bold: str = ""
    notes: tuple[str, ...] = ()


def cells(*texts: str) -> TableRow:
    return tuple(map(TableCell, texts))


def blanked(columns: Sequence[Column], rows: Sequence[TableRow]) -> list[TableRow]:
    """Rows without the names that the row above has already.

    A name is written again where one to the left of it changes.

    Examples
    --------
    >>> columns = [Column("data", merged=True), Column("adapter", merged=True)]
    >>> rows = [cells("digits", "lmvsc"), cells("digits", "sfmc"), cells("BDGP", "sfmc")]
    >>> [[cell.text for cell in row] for row in blanked(columns, rows)]
    [['digits', 'lmvsc'], ['', 'sfmc'], ['BDGP', 'sfmc']]
    """
    shown: list[TableRow] = []
    above: TableRow | None = None
    for row in rows:
        new = list(row)
        for at, column in enumerate(columns):
            if above is None or not column.merged or above[at].text != row[at].text:
                break
            new[at] = TableCell("")
        shown.append(tuple(new))
        above = row
    return shown


def setting_columns(vary: Varying) -> list[Column]:
    columns = [Column("data", merged=True), Column("adapter", merged=True)]
    columns += [Column("settings", merged=True)] if vary.any_params else []
    columns += [Column("anchors", numbers=True)] if vary.anchors else []
    return columns + ([Column("lam", numbers=True)] if vary.lam else [])


def setting_cells(setting: Setting, vary: Varying) -> TableRow:
    texts = [setting.dataset, setting.adapter]
    texts += [params_text(vary.of(setting))] if vary.any_params else []
    texts += [anchors_text(setting.n_anchors)] if vary.anchors else []
    return cells(*texts, *([number_text(setting.lam)] if vary.lam else []))
