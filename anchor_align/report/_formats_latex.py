r"""A study's tables in LaTeX, with the rules of booktabs.

Texts are ASCII, and accented Latin letters that pdflatex sets with its own fonts; what it cannot set is written as a
code, such as [U+4E2D], so that a table always compiles.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from ..study import StudyResult
from ._tables_cells import Column, Grid, Row, blanked
from ._tables_document import document
from ._text import MINUS, NOTHING, visible

# What fits on a page, in a column, and side by side in the usual size.
ROWS_ON_A_PAGE, LONGEST_NAME, MANY_COLUMNS = 40, 24, 8
# LaTeX gives up where more tables than some eighteen wait for a page of their own.
TABLES_IN_A_ROW = 12

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': r"\char34{}",
    "`": r"\char96{}",
    # An option or a starred form, where one of these comes first in a row.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "±": r"$\pm$",
    MINUS: "$-$",
    NOTHING: "--",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "—": "---",
    "…": r"\ldots{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    **{
        sign: rf"$\{name}$"
        for sign, name in zip(
            "αβγδλμσΔΣ", ("alpha", "beta", "gamma", "delta", "lambda", "mu", "sigma", "Delta", "Sigma"), strict=True
        )
    },
}
_ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c"
_BREAKS = re.compile(r"(?<=\S)[_/.-](?=\w)|[0-9A-Za-z\u00c0-\u024f]{12}(?=\w)|[^\0-\u024f](?=\S)")
_LETTERS = "ßæÆœŒøØåÅłŁçÇ"


def to_latex(result: StudyResult) -> str:
    r"""All tables of a study, one after the other; ``\usepackage{booktabs}`` is all they need."""
    tables = [_latex(grid, part) for grid in document(result) for part in range(0, len(grid.rows), ROWS_ON_A_PAGE)]
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
    return "".join("{}" if character == "\0" else _character(character) for character in apart)


def _character(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character.isascii() or character in _LETTERS:
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS and ord(character) < 0x180:
        return character
    return f"{{[}}U+{ord(character):04X}{{]}}"


def _latex(grid: Grid, start: int) -> str:
    wide = len(grid.columns) > MANY_COLUMNS
    rows = [_shortened(row) for row in grid.rows] if wide else list(grid.rows)
    caption = escape_latex(grid.caption)
    if any(cell.bold for row in rows for cell in row):
        caption += f"; {grid.bold}"
    layout = "".join(map(_column, grid.columns, zip(*rows, strict=True)))
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}{', continued' if start else ''}}}"]
    lines += [r"\par\smallskip", r"\scriptsize" if wide else r"\footnotesize", r"\setlength{\tabcolsep}{4pt}"]
    lines += [rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
    lines += [" & ".join(escape_latex(column.header) for column in grid.columns) + r" \\", r"\midrule"]
    lines += map(_line, blanked(grid.columns, rows[start : start + ROWS_ON_A_PAGE]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    if start + ROWS_ON_A_PAGE >= len(rows):
        lines += [rf"\par\smallskip\raggedright {_breakable(note)}\par" for note in grid.notes]
    return "\n".join([*lines, r"\end{table}", ""])


def _shortened(row: Row) -> Row:
    return tuple(replace(cell, text=cell.short or cell.text) for cell in row)


def _column(column: Column, texts: Row) -> str:
    if column.numbers:
        return "r"
    return "p{10em}" if any(_is_long(cell.text) for cell in texts) else "l"


def _line(row: Row) -> str:
    texts = [_wrapped(cell.text) if _is_long(cell.text) else escape_latex(cell.text) for cell in row]
    bold = [rf"\textbf{{{text}}}" if cell.bold else text for text, cell in zip(texts, row, strict=True)]
    return " & ".join(bold) + r" \\"


def _wrapped(text: str) -> str:
    # What \raggedright does, without its change to what ends a row.
    return rf"\rightskip=0pt plus 1fil\relax {_breakable(text)}"


def _is_long(text: str) -> bool:
    """Whether a text is too long for one line, codes for characters included."""
    return sum(8 if _character(character).startswith("{[}U+") else 1 for character in text) > LONGEST_NAME


def _breakable(text: str) -> str:
    """Text of which long words may be broken: after signs, after foreign characters, and after every few letters."""
    broken = _BREAKS.sub("\\g<0>\0", visible(text))
    return r"\allowbreak{}".join(map(escape_latex, broken.split("\0")))
