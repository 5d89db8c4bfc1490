"""Links from the pages to files of the repository that are no pages: on the site, each leads to a page with the file.

On a code host ``[examples/study.py](../examples/study.py)`` leads to the script; on the site, to the same text,
highlighted. Links to folders are for code hosts, and plain text on the site.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
# Of these places, files of these kinds.
SHOWN = ("*", "examples/**/*", "benchmarks/**/*")
LEXERS = {".m": "matlab", ".md": "markdown", ".py": "python", ".toml": "toml"}
logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the handlers of events."""
    # Before Sphinx makes downloads of these links, which is at 500.
    app.connect("doctree-read", _mark_links, priority=400)
    app.connect("doctree-resolved", _resolve_links)
    app.connect("html-collect-pages", _pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def shown_files() -> list[str]:
    """Files that have a page, relative to the repository."""
    found = [path for pattern in SHOWN for path in ROOT.glob(pattern) if path.suffix in LEXERS]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def page_of(file: str) -> str:
    """Name of the page that shows a file."""
    return f"files/{file}"


def _mark_links(app: Sphinx, doctree: nodes.document) -> None:
    """Replace MyST's links to what is no page: files by links that know the file, folders by their text."""
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for link in [*doctree.findall(addnodes.download_reference), *doctree.findall(addnodes.pending_xref)]:
        if link.get("reftype") != "myst":
            continue
        target = (folder / str(link["reftarget"])).resolve()
        if link.get("refdomain") == "doc":  # a Markdown file, named without its ending
            target = target.with_name(f"{target.name}.md")
            if target.is_relative_to(app.srcdir):
                continue
        if target.is_dir():
            link.replace_self(link.children)
        elif target.is_file():
            _mark_link(link, target)


def _mark_link(link: nodes.Element, target: Path) -> None:
    file = target.relative_to(ROOT).as_posix()
    if file not in shown_files():
        logger.warning(
            "%s has no page on the site: see SHOWN and LEXERS in %s", file, Path(__file__).name, location=link
        )
    marked = nodes.reference("", "", *link.children, internal=True, repository_file=file)
    link.replace_self(marked)


def _resolve_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for link in doctree.findall(nodes.reference):
        if "repository_file" in link:
            link["refuri"] = app.builder.get_relative_uri(docname, page_of(link["repository_file"]))


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """One page for each file."""
    highlighter = app.builder.highlighter
    for file in shown_files():
        path = ROOT / file
        text = highlighter.highlight_block(path.read_text(encoding="utf-8"), LEXERS[path.suffix])
        body = f"<h1>{escape(path.name)}</h1>\n<p><code>{escape(file)}</code></p>\n{text}"
        yield page_of(file), {"title": path.name, "body": body}, "page.html"
