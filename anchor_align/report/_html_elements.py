"""Elements of the HTML report: its style, escaped text, tables that scroll on their own, pictures for both themes."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from ..fusion import FUSIONS
from ._arms import Arms, arm_class
from ._figure_style import COLUMN, PAGE, THEMES, Theme, figure_bytes
from ._formatting import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Called with the name of a theme and a width in inches.
Draw = Callable[[str, float], "Figure"]
# Never for print: paper is light, and wide.
DARK, PHONE = "(prefers-color-scheme: dark)", "(max-width: 40rem)"
# The browser loads nothing and runs nothing, whatever names and messages hold.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# For images within the vector graphics: sharp at twice the size.
DPI = 160


def stylesheet(arms: Arms) -> str:
    """All of the report's CSS, in the colours of the figures; ``arms`` are those of the study."""
    # Those of this package are always there: pictures of single runs use them.
    shown = Arms((*(fusion for fusion in FUSIONS if fusion not in arms.fusions), *arms.fusions))
    light, dark = (_colours(theme, shown) for theme in THEMES.values())
    rules = files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{shown.css}{rules}"
    )


def whole_page(title: str, body: str, arms: Arms) -> str:
    """A page from its body, which is HTML already; ``arms`` are those that it shows."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escaped(title)}</title>\n<style>\n{stylesheet(arms)}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _colours(theme: Theme, arms: Arms) -> str:
    named = {"background": theme.background, "panel": theme.panel, "text": theme.text, "muted": theme.muted}
    named |= {"line": theme.faint, **arms.variables(theme.name)}
    return " ".join(f"--{name}: {colour};" for name, colour in named.items())


def escaped(text: object) -> str:
    r"""Text of users, safe anywhere in the page, in attributes too.

    Examples
    --------
    >>> escaped("<b>'x' & \"y\"</b>")
    '&lt;b&gt;&#x27;x&#x27; &amp; &quot;y&quot;&lt;/b&gt;'
    """
    return html.escape(printable(text), quote=True)


def section(title: str, *content: str) -> str:
    """A part of the page under a heading of its own; nothing without content."""
    body = "\n".join(part for part in content if part)
    return f"<section>\n<h2>{escaped(title)}</h2>\n{body}\n</section>" if body else ""


def paragraph(text: str, kind: str = "") -> str:
    return f"<p{_class(kind)}>{escaped(text)}</p>"


def cell(content: str, kind: str = "") -> str:
    """A cell of HTML that is escaped already."""
    return f"<td{_class(kind)}>{content}</td>"


def row_name(content: str) -> str:
    """First cell of a row, of HTML that is escaped already."""
    return f'<th scope="row" class="name">{content}</th>'


def arm_name(arm: str) -> str:
    return f'<span class="{arm_class(arm)}">{escaped(arm)}</span>'


def table(
    caption: str, heads: Sequence[tuple[str, str]], rows: Iterable[str], kind: str = "", *, label: str = ""
) -> str:
    """A table that scrolls within itself where the page is narrow.

    ``heads`` are names of columns, escaped, with a class; ``rows`` are the cells of each row; ``label`` is a name that
    is shorter than the caption.
    """
    columns = "".join(f'<th scope="col"{_class(name)}>{head}</th>' for head, name in heads)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    text = escaped(caption)
    # A region that scrolls must have a name, and be reached by keyboard.
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(label) or text}">\n'
        f"<table{_class(kind)}>\n<caption><span>{text}</span></caption>\n"
        f"<thead><tr>{columns}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names with texts; the texts are HTML that is escaped already."""
    lines = "\n".join(f"<dt>{escaped(name)}</dt><dd>{text}</dd>" for name, text in pairs)
    return f'<dl class="facts">\n{lines}\n</dl>'


def picture(draw: Draw, alt: str, caption: str, *, wide: bool = False) -> str:
    """A figure in both themes; a wide one also in a narrow version for phones, with letters of the same size."""
    width = PAGE if wide else COLUMN
    sources = [(f"screen and {PHONE} and {DARK}", "dark", COLUMN), (f"screen and {PHONE}", "light", COLUMN)]
    sources = [*(sources if wide else []), (f"screen and {DARK}", "dark", width)]
    marks = "".join(f'<source media="{media}" srcset="{_uri(draw(theme, size))}">' for media, theme, size in sources)
    image = f'<img src="{_uri(draw("light", width))}" alt="{escaped(alt)}">'
    kind = _class("wide" if wide else "")
    return f"<figure{kind}>\n<picture>{marks}{image}</picture>\n<figcaption>{escaped(caption)}</figcaption>\n</figure>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _uri(figure: Figure) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(figure_bytes(figure, "svg", dpi=DPI)).decode("ascii")
