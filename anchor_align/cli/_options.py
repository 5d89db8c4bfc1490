"""Options that several commands share, and exit codes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NoReturn

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """Parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Exit with the code for usage errors."""
        self.exit(EXIT_USAGE, f"anchor-align: {' '.join(message.split())}; see {self.prog} --help\n")


def add_verbosity(parser: argparse.ArgumentParser, default: object) -> None:
    """``-v``, before or after the command."""
    parser.add_argument("-v", action="count", default=default, dest="verbosity", help="-vv: show tracebacks of errors")


def add_plugin_option(parser: argparse._ActionsContainer) -> None:
    """``--plugin FILE``."""
    parser.add_argument(
        "--plugin", action="append", default=[], metavar="FILE", help="load this Python file too; can be repeated"
    )


def add_data_options(parser: argparse._ActionsContainer) -> None:
    """How files are read: ``--views``, ``--labels``, ``--no-labels`` and ``--orient``."""
    parser.add_argument("--views", nargs="+", metavar="KEY", help="variables that hold the views [worked out]")
    labels = parser.add_mutually_exclusive_group()
    labels.add_argument("--labels", metavar="KEY", help="variable that holds the labels [worked out]")
    labels.add_argument("--no-labels", action="store_const", const=False, dest="labels", help="read no labels")
    parser.add_argument(
        "--orient",
        choices=["auto", "rows", "columns"],
        default="auto",
        help="whether samples are rows or columns [worked out]",
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
