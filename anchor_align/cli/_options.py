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


def add_missing_option(parser: argparse._ActionsContainer) -> None:
    """``--missing``."""
    parser.add_argument(
        "--missing",
        choices=["error", "nan"],
        default="error",
        help="nan: rows that are NaN throughout are samples that the view does not have [error]",
    )


def add_view_options(parser: argparse._ActionsContainer, effect: str) -> None:
    """``--weights`` and ``--many-to-one``."""
    parser.add_argument(
        "--weights",
        type=_weights,
        metavar="W",
        help=f"of the views in {effect}: auto (by how much they agree), or a number for each, such as 1,1,0.5",
    )
    parser.add_argument(
        "--many-to-one",
        action="store_true",
        help="where a named reference has fewer anchors than a view, anchors without a partner join one that has; "
        "else they have columns of their own",
    )


def _weights(text: str) -> str | tuple[float, ...]:
    if text == "auto":
        return text
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected auto or numbers separated by commas, got {text!r}") from None


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
