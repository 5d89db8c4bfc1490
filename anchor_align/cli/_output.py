"""Results on stdout."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text


def result_console() -> Console:
    """Console for results: as wide as COLUMNS or the terminal, else 80 columns."""
    from rich.console import Console

    return Console(highlight=False)


def plain(value: object, console: Console, style: str = "") -> Text:
    """Text, not a string: what users and plug-ins say is no markup; and the terminal may not know all characters."""
    from rich.text import Text

    from ..plugins import one_line

    return Text(one_line(value).encode(console.encoding, "replace").decode(console.encoding), style=style)


def plain_table() -> Table:
    """A table without lines."""
    from rich.table import Table

    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")


def print_json(value: object) -> None:
    """Print JSON for other programs."""
    import json

    print(json.dumps(value, indent=2))


def print_text(text: str) -> None:
    """Text for other programs: UTF-8 where the terminal's encoding does not have all characters."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(text)
