"""A study's tables in Markdown, for GitHub, and to be read as they are."""

from __future__ import annotations

import re
import unicodedata

from ..study import StudyResult
from ._tables_cells import Column, Grid, blanked
from ._tables_document import document
from ._text import visible

# Signs that always mean something, and those that do only where they stand: at the edge of a word, before a tag.
_MARKUP = re.compile(r"[\\`*|\[\]$~]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
_LINK = re.compile(r"(?<=\w)://|@(?=\w)|(?<=www)\.", re.IGNORECASE)
_BLOCK = re.compile(r"^(\s*|\d+)([#>+=.)-])")

# Columns are lined up to this width; a longer name sticks out instead of pushing all others away.
WIDEST = 40


def to_markdown(result: StudyResult) -> str:
    """All tables of a study, with captions above and remarks below them."""
    return "\n".join(_markdown(grid) for grid in document(result)) or "No runs.\n"


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is.

    Examples
    --------
    >>> print(escape_markdown("a|b *c* data_set <b> <0.001"))
    a\|b \*c\* data_set \<b> <0.001
    """
    escaped = _MARKUP.sub(lambda found: "\\" + found.group(), visible(text))
    # Names are no links and nobody is to be notified: an empty comment breaks them up without a trace.
    return _LINK.sub(lambda found: f"{found.group()}<!-- -->", escaped)


def _markdown(grid: Grid) -> str:
    caption = _paragraph(grid.caption)
    if any(cell.bold for row in grid.rows for cell in row):
        caption += f"; {grid.bold}"
    lines = [[escape_markdown(column.header) for column in grid.columns]]
    for row in blanked(grid.columns, grid.rows):
        texts = ((escape_markdown(cell.text), cell.bold) for cell in row)
        lines.append([f"**{text}**" if bold else text for text, bold in texts])
    widths = [min(WIDEST, max(3, *map(_width, column))) for column in zip(*lines, strict=True)]
    rule = ["-" * (width - 1) + (":" if c.numbers else "-") for width, c in zip(widths, grid.columns, strict=True)]
    body = [[_padded(*cell) for cell in zip(line, widths, grid.columns, strict=True)] for line in lines]
    table = "".join(f"| {' | '.join(line)} |\n" for line in (body[0], rule, *body[1:]))
    notes = "".join(f"- {_paragraph(note)}\n" for note in grid.notes)
    return f"{caption}\n\n{table}" + (f"\n{notes}" if notes else "")


def _paragraph(text: str) -> str:
    """Text that starts no list, heading or quotation."""
    return _BLOCK.sub(r"\1\\\2", escape_markdown(text), count=1)


def _padded(text: str, width: int, column: Column) -> str:
    space = " " * max(0, width - _width(text))
    return space + text if column.numbers else text + space


def _width(text: str) -> int:
    """Columns that a text takes in a terminal: two for each wide character."""
    return len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text)
