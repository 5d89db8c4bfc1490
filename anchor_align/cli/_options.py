"""Options that several commands share, and exit codes."""

from __future__ import annotations

import argparse
from collections.abc import Callable

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def add_plugin_option(parser: argparse._ActionsContainer) -> None:
    """``--plugin FILE``."""
    parser.add_argument(
        "--plugin", action="append", default=[], metavar="FILE", help="load this Python file too; can be repeated"
    )


def whole_number(least: int) -> Callable[[str], int]:
    """Type of an option that takes a whole number."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"expected a whole number >= {least}, got {text!r}")
        return value

    return convert
