"""Tables of a study for the terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..study import StudyResult
from ._tables_cells import Grid, blanked
from ._tables_document import document
from ._text import encodable, visible

if TYPE_CHECKING:  # rich is imported where something is drawn: it takes longer than the rest of the command line
    from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
    from rich.table import Table
    from rich.text import Text


@dataclass(frozen=True)
class Way:
    """A way to lay out a table: in short words or not, the space between columns, and what text columns keep."""

    short: bool
    gap: int
    least: int


# From roomy to tight; the first that fits is taken.
_WAYS = (Way(False, 2, 20), Way(True, 2, 16), Way(True, 2, 12), Way(True, 1, 12), Way(True, 1, 8))
_ASCII_BOX = "\n".join(["    ", "    ", " -- ", "    ", "    ", "    ", "    ", "    "])


@dataclass(frozen=True)
class StudyTable:
    """All tables of a study, drawn to the width and encoding of the console that prints it."""

    result: StudyResult

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.text import Text

        grids = document(self.result)
        if not grids:
            yield Text("No runs.")
        for at, grid in enumerate(grids):
            if at:
                yield Text("")
            yield _text(grid.caption, options.encoding)
            yield _table(grid, options)
            for note in grid.notes:
                yield _text(note, options.encoding)


def study_table(result: StudyResult) -> RenderableType:
    """Tables of a study, for a rich console.

    Parameters
    ----------
    result : StudyResult

    Returns
    -------
    rich renderable
        The highest mean is bold. Names wrap where the console is narrow; signs that it cannot encode are replaced.
    """
    return StudyTable(result)


def plain_table(result: StudyResult, width: int) -> str:
    """Tables of a study as plain text, of at most ``width`` columns."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(StudyTable(result))
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def _table(grid: Grid, options: ConsoleOptions) -> Table:
    from rich.box import SIMPLE_HEAD, Box
    from rich.table import Table

    layout = next((found for way in _WAYS if (found := _layout(grid, way, options)) is not None), None)
    # Where nothing fits, rich breaks numbers too, which is hard to read, but loses nothing.
    way, widths = (_WAYS[-1], [None] * len(grid.columns)) if layout is None else layout
    box = Box(_ASCII_BOX, ascii=True) if options.ascii_only else SIMPLE_HEAD
    table = Table(box=box, show_edge=False, pad_edge=False, padding=(0, way.gap - 1, 0, 0), header_style="")
    for column, width in zip(grid.columns, widths, strict=True):
        justify: JustifyMethod = "right" if column.numbers else "left"
        table.add_column(_text(column.header, options.encoding), justify=justify, overflow="fold", width=width)
    for row in _rows(grid, way, options):
        table.add_row(*row)
    return table


def _layout(grid: Grid, way: Way, options: ConsoleOptions) -> tuple[Way, list[int | None]] | None:
    """Widths of the columns: headers wrap first, then text, the widest first; numbers stay whole. None: no room."""
    space = options.max_width - way.gap * (len(grid.columns) - 1)
    bodies = [max(text.cell_len for text in column) for column in zip(*_rows(grid, way, options), strict=True)]
    words = [max(map(len, column.header.split())) for column in grid.columns]
    widths = [max(body, len(column.header)) for body, column in zip(bodies, grid.columns, strict=True)]
    if sum(widths) > space:
        widths = [max(body, word) for body, word in zip(bodies, words, strict=True)]
    least = [
        width if column.numbers else min(width, max(word, way.least))
        for width, word, column in zip(widths, words, grid.columns, strict=True)
    ]
    if sum(least) > space:
        return None
    while sum(widths) > space:
        widest = max((at for at, low in enumerate(least) if widths[at] > low), key=widths.__getitem__)
        widths[widest] -= 1
    return way, list(widths)


def _rows(grid: Grid, way: Way, options: ConsoleOptions) -> list[list[Text]]:
    return [
        [_text((cell.short if way.short else "") or cell.text, options.encoding, cell.bold) for cell in row]
        for row in blanked(grid.columns, grid.rows)
    ]


def _text(text: str, encoding: str, bold: bool = False) -> Text:
    from rich.text import Text

    return Text(encodable(visible(text), encoding), style="bold" if bold else "")
