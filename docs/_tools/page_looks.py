"""What pages need to look right on the site, and what code hosts ignore: numbers that do not break, dark pictures.

A cell such as "41.7 ± 5.7" stays on one line. A picture NAME.png with NAME_dark.png beside it is shown
to readers with light pages, the other one to readers with dark pages. Pictures without a dark version are inverted on
dark pages by site.css.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NUMBER = "[-+\N{MINUS SIGN}]?\\d[\\d.,]*"
NO_BREAK = "\N{NO-BREAK SPACE}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the handlers."""
    # Before Sphinx collects the pictures of a page, which is at 500.
    app.connect("doctree-read", _change_pictures, priority=400)
    app.connect("doctree-resolved", _keep_numbers_together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def together(text: str) -> str:
    """The text with spaces that do not break inside numbers."""
    text = re.sub(r"(?<=\d) ± (?=\d)", f"{NO_BREAK}±{NO_BREAK}", text)
    text = re.sub(rf"(?<=\d) to (?={NUMBER})", f"{NO_BREAK}to{NO_BREAK}", text)
    return re.sub(r"(?<=\d) (?=%)", NO_BREAK, text)


def _keep_numbers_together(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, (nodes.literal_block, nodes.literal)):
            changed = together(text.astext())
            if changed != text.astext():
                text.parent.replace(text, nodes.Text(changed))


def _change_pictures(app: Sphinx, doctree: nodes.document) -> None:
    add_dark_pictures(doctree, Path(app.env.doc2path(app.env.docname)).parent)


def add_dark_pictures(page: nodes.Element, folder: Path) -> None:
    """Put the dark version of every picture after it; mark pictures that have none."""
    for image in list(page.findall(nodes.image)):
        path = Path(image["uri"])
        dark = path.with_name(f"{path.stem}_dark{path.suffix}")
        if (folder / dark).exists():
            other = image.deepcopy()
            other["uri"] = dark.as_posix()
            image["classes"].append("only-light")
            other["classes"].append("only-dark")
            image.parent.insert(image.parent.index(image) + 1, other)
        else:
            image["classes"].append("inverted")
