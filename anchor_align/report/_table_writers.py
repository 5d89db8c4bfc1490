r"""The tables of a study for the terminal, in Markdown and in LaTeX.

Markdown is for GitHub, and readable as it is. LaTeX has the rules of booktabs; its texts are ASCII and those accented
Latin letters that pdflatex sets with its own fonts. Other characters are written as codes, such as [U+4E2D], so that a
table always compiles.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..study import StudyResult
from ._formatting import MINUS, NOTHING, encodable, visible
from ._report_table import Column, ReportTable, TableRow, blanked
from ._study_tables import study_tables

if TYPE_CHECKING:  # rich is imported where something is drawn: it takes longer than the rest of the command line
    from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
    from rich.table import Table
    from rich.text import Text


@dataclass(frozen=True)
class Spacing:
    """Whether cells have their short text, the space between columns, and the least width of text columns."""

    short: bool
    gap: int
    least: int


# From roomy to tight; the first that fits is taken.
_SPACINGS = (
    Spacing(False, 2, 20),
    Spacing(True, 2, 16),
    Spacing(True, 2, 12),
    Spacing(True, 1, 12),
    Spacing(True, 1, 8),
)
_ASCII_BOX = "\n".join(["    ", "    ", " -- ", "    ", "    ", "    ", "    ", "    "])

# Markdown: signs that always mean something, and signs that do so at the edge of a word or before a tag.
_MARKUP = re.compile(r"[\\`*|\[\]$~]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
_LINK = re.compile(r"(?<=\w)://|@(?=\w)|(?<=www)\.", re.IGNORECASE)
_BLOCK = re.compile(r"^(\s*|\d+)([#>+=.)-])")
# Columns are lined up to this width; a longer name sticks out instead of pushing all others away.
WIDEST = 40

# LaTeX: what fits on a page, in a column, and side by side in the usual size.
ROWS_ON_A_PAGE, LONGEST_NAME, MANY_COLUMNS = 40, 24, 7
# LaTeX gives up if more than some eighteen tables wait for a page of their own.
TABLES_IN_A_ROW = 12
_GREEK = ("alpha", "beta", "gamma", "delta", "lambda", "mu", "sigma", "Delta", "Sigma")
_SIGNS = {
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
    **{sign: f"${sign}$" for sign in "<>|"},
    # An option or a starred form, where one of these comes first in a row.
    **{sign: f"{{{sign}}}" for sign in "[]*"},
    **{sign: rf"$\{name}$" for sign, name in zip("αβγδλμσΔΣ", _GREEK, strict=True)},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    '"': r"\char34{}",
    "`": r"\char96{}",
    "±": r"$\pm$",
    MINUS: "$-$",
    NOTHING: "--",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "—": "---",
    "…": r"\ldots{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
}
_ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c"
_LETTERS = "ßæÆœŒøØåÅłŁçÇ"
_BREAKS = re.compile(r"(?<=\S)[_/.-](?=\w)|[0-9A-Za-z\u00c0-\u024f]{12}(?=\w)|[^\0-\u024f](?=\S)")


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
    return TerminalTables(result)


@dataclass(frozen=True)
class TerminalTables:
    """All tables of a study, drawn to the width and encoding of the console that prints them."""

    result: StudyResult

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.text import Text

        tables = study_tables(self.result)
        if not tables:
            yield Text("No runs.")
        for at, table in enumerate(tables):
            if at:
                yield Text("")
            yield _rich_text(table.caption, options)
            yield _rich_table(table, options)
            for note in table.notes:
                yield _rich_text(note, options)


def to_plain_text(result: StudyResult, width: int) -> str:
    """Tables of a study as plain text, of at most ``width`` columns."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(TerminalTables(result))
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def _rich_table(table: ReportTable, options: ConsoleOptions) -> Table:
    from rich.box import SIMPLE_HEAD, Box
    from rich.table import Table

    widths: list[int] | None = None
    for spacing in _SPACINGS:
        rows = [
            [_rich_text((cell.short if spacing.short else "") or cell.text, options, cell.bold) for cell in row]
            for row in blanked(table.columns, table.rows)
        ]
        widths = _widths(table, rows, spacing, options.max_width)
        if widths is not None:
            break
    box = Box(_ASCII_BOX, ascii=True) if options.ascii_only else SIMPLE_HEAD
    made = Table(box=box, show_edge=False, pad_edge=False, padding=(0, spacing.gap - 1, 0, 0), header_style="")
    for at, column in enumerate(table.columns):
        justify: JustifyMethod = "right" if column.numbers else "left"
        # Where nothing fits, rich breaks numbers too, which is hard to read, but loses nothing.
        width = None if widths is None else widths[at]
        made.add_column(_rich_text(column.header, options), justify=justify, overflow="fold", width=width)
    for row in rows:
        made.add_row(*row)
    return made


def _widths(table: ReportTable, rows: list[list[Text]], spacing: Spacing, max_width: int) -> list[int] | None:
    """Widths of the columns: headers wrap first, then text, the widest first; numbers stay whole. None: no room."""
    space = max_width - spacing.gap * (len(table.columns) - 1)
    bodies = [max(text.cell_len for text in column) for column in zip(*rows, strict=True)]
    words = [max(map(len, column.header.split())) for column in table.columns]
    widths = [max(body, len(column.header)) for body, column in zip(bodies, table.columns, strict=True)]
    if sum(widths) > space:
        widths = [max(body, word) for body, word in zip(bodies, words, strict=True)]
    least = [
        width if column.numbers else min(width, max(word, spacing.least))
        for width, word, column in zip(widths, words, table.columns, strict=True)
    ]
    if sum(least) > space:
        return None
    while sum(widths) > space:  # so some column is wider than its least width: each round takes one from it
        widest = max((at for at, low in enumerate(least) if widths[at] > low), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _rich_text(text: str, options: ConsoleOptions, bold: bool = False) -> Text:
    from rich.text import Text

    return Text(encodable(visible(text), options.encoding), style="bold" if bold else "")


def to_markdown(result: StudyResult) -> str:
    """All tables of a study, with captions above and remarks below them."""
    return "\n".join(map(_markdown_table, study_tables(result))) or "No runs.\n"


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


def _markdown_table(table: ReportTable) -> str:
    lines = [[escape_markdown(column.header) for column in table.columns]]
    for row in blanked(table.columns, table.rows):
        texts = ((escape_markdown(cell.text), cell.bold) for cell in row)
        lines.append([f"**{text}**" if bold else text for text, bold in texts])
    widths = [min(WIDEST, max(3, *map(_shown_width, column))) for column in zip(*lines, strict=True)]
    rule = ["-" * (width - 1) + (":" if c.numbers else "-") for width, c in zip(widths, table.columns, strict=True)]
    body = []
    for line in lines:
        spaces = [" " * max(0, width - _shown_width(text)) for text, width in zip(line, widths, strict=True)]
        padded = zip(line, spaces, table.columns, strict=True)
        body.append([space + text if column.numbers else text + space for text, space, column in padded])
    made = "".join(f"| {' | '.join(line)} |\n" for line in (body[0], rule, *body[1:]))
    notes = "".join(f"- {_markdown_paragraph(note)}\n" for note in table.notes)
    return f"{_markdown_paragraph(table.caption)}{_bold_note(table)}\n\n{made}" + (f"\n{notes}" if notes else "")


def _bold_note(table: ReportTable) -> str:
    return f"; {table.bold}" if any(cell.bold for row in table.rows for cell in row) else ""


def _markdown_paragraph(text: str) -> str:
    """Text that starts no list, heading or quotation."""
    return _BLOCK.sub(r"\1\\\2", escape_markdown(text), count=1)


def _shown_width(text: str) -> int:
    """Columns that a text takes in a terminal: two for each wide character."""
    return len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text)


def to_latex(result: StudyResult) -> str:
    r"""All tables of a study, one after the other; ``\usepackage{booktabs}`` is all they need.

    They are as wide as the page, also where its text has two columns. The labels are tab:compare-1, tab:compare-2, ...
    """
    tables = [
        _latex_table(table, start, f"tab:{result.kind}-{number}")
        for number, table in enumerate(study_tables(result), 1)
        for start in range(0, len(table.rows), ROWS_ON_A_PAGE)
    ]
    for at in range(TABLES_IN_A_ROW, len(tables), TABLES_IN_A_ROW):
        tables[at] = "\\clearpage\n" + tables[at]
    return "% needs \\usepackage{booktabs}; save as UTF-8\n" + "\n".join(tables)


def escape_latex(text: str) -> str:
    r"""Text that LaTeX sets as it is.

    Examples
    --------
    >>> print(escape_latex("a_b & 5 % ± é 中"))
    a\_b \& 5 \% $\pm$ é {[}U+4E2D{]}
    """
    # Two hyphens in a row would be set as one dash, two apostrophes as a quotation mark.
    apart = re.sub(r"([-',])(?=\1)", "\\1\0", unicodedata.normalize("NFC", visible(text)))
    return "".join("{}" if character == "\0" else _latex_character(character) for character in apart)


def _latex_character(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character.isascii() or character in _LETTERS:
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS and ord(character) < 0x180:
        return character
    return f"{{[}}U+{ord(character):04X}{{]}}"


def _latex_table(table: ReportTable, start: int, label: str) -> str:
    """The page of a table that begins with this row; the first page has the label."""
    wide = len(table.columns) > MANY_COLUMNS
    rows = [tuple(replace(c, text=(c.short if wide else "") or c.text) for c in row) for row in table.rows]
    caption = f"{escape_latex(table.caption)}{_bold_note(table)}{', continued' if start else ''}"
    layout = "".join(map(_latex_column, table.columns, zip(*rows, strict=True)))
    # With a star: across both columns of a page that has two; the same as without where it has one.
    lines = [r"\begin{table*}", r"\centering", rf"\caption{{{caption}}}"]
    lines += [] if start else [rf"\label{{{label}}}"]
    lines += [r"\par\smallskip", r"\scriptsize" if wide else r"\footnotesize", r"\setlength{\tabcolsep}{4pt}"]
    lines += [rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
    lines += [" & ".join(escape_latex(column.header) for column in table.columns) + r" \\", r"\midrule"]
    lines += map(_latex_row, blanked(table.columns, rows[start : start + ROWS_ON_A_PAGE]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    if start + ROWS_ON_A_PAGE >= len(rows):
        lines += [rf"\par\smallskip\raggedright {_breakable(note)}\par" for note in table.notes]
    return "\n".join([*lines, r"\end{table*}", ""])


def _latex_column(column: Column, texts: TableRow) -> str:
    if column.numbers:
        return "r"
    return "p{10em}" if any(_is_long(cell.text) for cell in texts) else "l"


def _latex_row(row: TableRow) -> str:
    texts = []
    for cell in row:
        # What \raggedright does, without its change to what ends a row.
        wrapped = rf"\rightskip=0pt plus 1fil\relax {_breakable(cell.text)}"
        text = wrapped if _is_long(cell.text) else escape_latex(cell.text)
        texts.append(rf"\textbf{{{text}}}" if cell.bold else text)
    return " & ".join(texts) + r" \\"


def _is_long(text: str) -> bool:
    """Whether a text is too long for one line, codes for characters included."""
    return sum(8 if _latex_character(character).startswith("{[}U+") else 1 for character in text) > LONGEST_NAME


def _breakable(text: str) -> str:
    """Text in which long words may be broken: after signs, after foreign characters, and after every few letters."""
    broken = _BREAKS.sub("\\g<0>\0", visible(text))
    return r"\allowbreak{}".join(map(escape_latex, broken.split("\0")))
