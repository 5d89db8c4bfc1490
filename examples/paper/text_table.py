"""Tables as plain text and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

FORMATS = ("table", "md")
WIDTH = 120


def table_text(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], format: str, names: int) -> str:
    """A table with its caption.

    Parameters
    ----------
    caption : str
    header : sequence of str
    rows : sequence of sequence of str
    format : {"table", "md"}
    names : int
        So many columns from the left are text, and say what the row above says only once; the others are numbers.

    Examples
    --------
    >>> print(table_text("Shares", ["view", "x"], [["first", "1.5"], ["second", "10.0"]], "table", 1))
    Shares
    view       x
    ------  ----
    first    1.5
    second  10.0
    """
    markdown = format == "md"
    lines = [list(header), *_blanked(rows, names)]
    if markdown:
        lines = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * (w - 1) + (":" if markdown and at >= names else "-") for at, w in enumerate(widths)]
    body = [
        [cell.ljust(w) if at < names else cell.rjust(w) for at, (cell, w) in enumerate(zip(line, widths, strict=True))]
        for line in (lines[0], rule, *lines[1:])
    ]
    if markdown:
        text = [f"| {' | '.join(line)} |" for line in body]
        return "\n".join([paragraph(caption, format), "", *text])
    return "\n".join([paragraph(caption, format), *("  ".join(line).rstrip() for line in body)])


def paragraph(text: str, format: str, start: str = "") -> str:
    """Lines of text; ``start`` is what a list's items begin with."""
    return "\n".join(wrap(start + text, WIDTH if format == "md" else 100, subsequent_indent=" " * len(start)))


def _blanked(rows: Sequence[Sequence[str]], names: int) -> list[list[str]]:
    """Rows without the names that the row above has already."""
    shown = []
    above: Sequence[str] = ()
    for row in rows:
        same = 0
        while same < min(names - 1, len(above)) and row[same] == above[same]:
            same += 1
        shown.append([""] * same + list(row[same:]))
        above = row
    return shown
