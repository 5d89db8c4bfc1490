"""What is made of the pages when the site is built: the contents beside every page, and the cards of the results.

Both could be directives in the pages, but code hosts would show these as they are.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from repository_files import ROOT

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = ROOT / "docs"
CONTENTS = {
    "Start": ("quickstart", "tutorial", "glossary", "results", "cannot-help"),
    "Guides": (
        "tables",
        "r-matlab",
        "studies",
        "verdicts",
        "settings",
        "graphs",
        "local",
        "adapters",
        "baselines",
        "fusions",
        "wrapping",
        "missing",
        "uneven-views",
        "large",
        "dask",
    ),
    "Background": ("maths", "data", "limits"),
    "Reference": ("commands", "api"),
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the handler."""
    app.connect("source-read", _complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _complete(app: Sphinx, page: str, source: list[str]) -> None:
    """Add to a page, as Markdown, what is worked out from other files."""
    if page == "index":
        source[0] += "".join(_toctree(pages, caption) for caption, pages in CONTENTS.items())
    elif page == "api":
        source[0] += _toctree(re.findall(r"\((api/\w+)\.md\)", source[0]))
    elif page == "results":
        source[0] += _cards() + _scripts() + _toctree(["results/*"])
        app.env.note_reread()


def _toctree(pages: list[str] | tuple[str, ...], caption: str = "") -> str:
    found = [page for page in pages if list(DOCS.glob(f"{page}.md"))]
    options = [":hidden:", ":glob:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *found, "```", ""])


def _cards() -> str:
    """Picture, title and first paragraph of every page of the results."""
    pages = sorted((DOCS / "results").glob("*.md"))
    return "\n".join(["", '<div class="cards">', *map(_card, pages), "</div>", ""])


def _card(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    title = re.findall(r"^# (.+)$", text, flags=re.MULTILINE)[0]
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text)]
    first = next((part for part in paragraphs if re.match(r"[\w*`\[]", part)), "")
    picture = re.search(r"!\[([^\]]*)\]\(([^)]+)\)", text)
    # Links of the page are relative to its folder, one below this page's.
    shown = f"![{picture[1]}]({picture[2].removeprefix('../')})\n\n" if picture else ""
    sentence = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", first)
    return f'<div class="card">\n\n[**{title}**](results/{page.name})\n\n{shown}{sentence}\n\n</div>'


def _scripts() -> str:
    """All examples, and all scripts that make a result, each with the first paragraph of its docstring."""
    rows = ["", "## Scripts", "", "| script | what it shows |", "|---|---|"]
    for pattern in ("examples/*.py", "examples/*/*.py", "benchmarks/*/*.py"):
        for path in sorted(ROOT.glob(pattern)):
            text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
            if name.startswith("examples/") or "\ndef run(" in text:
                summary = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
                rows.append(f"| [{name}](../{name}) | {' '.join(summary.split())} |")
    return "\n".join([*rows, "", ""])
