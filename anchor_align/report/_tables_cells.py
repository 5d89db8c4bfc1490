"""What tables are made of, and how numbers, settings and names read in them.

A :class:`Grid` is a table before it has a format: its texts are plain, with a true minus sign and "±" in numbers, and
every writer escapes them in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MINUS = "\N{MINUS SIGN}"
NOTHING, FAILED_CELL = "\N{EN DASH}", "failed"
SCORE_LABELS = {"acc": "ACC", "nmi": "NMI", "purity": "purity", "fscore": "F-score", "ari": "ARI"}

DUST = 1e-10  # a difference of scores below this comes from rounding

_ASCII = str.maketrans({"±": "+-", MINUS: "-", NOTHING: "-", "—": "-", "…": "..."})


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


def percent(value: float) -> str:
    """A score in percent.

    Examples
    --------
    >>> percent(0.91951)
    '92.0'
    """
    return f"{round(100 * value, 1) + 0.0:.1f}".replace("-", MINUS)


def points(value: float) -> str:
    """A difference of scores in points, with its sign.

    Examples
    --------
    >>> points(0.2691), points(0.0001), points(0.0)
    ('+26.9', '+0.0', '0.0')
    """
    # The sign of a small end of an interval is what the verdict follows from.
    return "0.0" if abs(value) < DUST else f"{100 * value:+.1f}".replace("-", MINUS)


def p_text(p: float | None) -> str:
    """A p-value with two digits, or that it is small.

    Examples
    --------
    >>> p_text(0.001953), p_text(0.0625), p_text(0.0001), p_text(1.0)
    ('0.002', '0.062', '<0.001', '1')
    """
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.2g}"


def interval_text(low: float | None, high: float | None) -> str:
    """Both ends of an interval, in points."""
    return NOTHING if low is None or high is None else f"{points(low)} to {points(high)}"


def number_text(value: float) -> str:
    """A setting that is a number, without digits it does not need.

    Examples
    --------
    >>> number_text(0.1), number_text(10.0), number_text(float("inf"))
    ('0.1', '10', 'inf')
    """
    return f"{value:.12g}"


def anchors_text(n_anchors: int | None) -> str:
    """Number of anchors, or that the adapter finds it."""
    return "auto" if n_anchors is None else str(n_anchors)


def value_text(value: object) -> str:
    """Value of an adapter's setting."""
    if isinstance(value, str):
        return value
    return number_text(value) if isinstance(value, float) else repr(value)


def params_text(params: Iterable[tuple[str, object]], separator: str = ", ") -> str:
    """Settings of an adapter, or that they are its defaults.

    Examples
    --------
    >>> params_text([("alpha", 0.5), ("scale", "unit")])
    'alpha=0.5, scale=unit'
    """
    return separator.join(f"{name}={value_text(value)}" for name, value in params) or "defaults"


def visible(text: str) -> str:
    r"""Text in which nothing is hidden: control characters, line breaks and broken encodings are written out.

    Names come from files, and reasons from anywhere: neither may move the cursor or break a table.

    Examples
    --------
    >>> visible("a\x1b[2Jb\nc")
    'a\\x1b[2Jb\\nc'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def encodable(text: str, encoding: str) -> str:
    """Text that a console or file with this encoding can take: ASCII for signs it does not have, codes for letters.

    Examples
    --------
    >>> encodable(f"{MINUS}3.0 ± 1.2", "ascii"), encodable(f"{MINUS}3.0 ± 1.2", "latin-1")
    ('-3.0 +- 1.2', '-3.0 ± 1.2')
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_encodable_character(c, encoding) for c in text)
    return text


def _encodable_character(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return character.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return character
