"""Options that several commands share, and exit codes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from ..errors import visible
from ..report import FORMATS

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130

Number = TypeVar("Number", int, float)


class Parser(argparse.ArgumentParser):
    """Parser that reports an error in one line, names unknown options first, and takes no empty argument."""

    _words: Sequence[str] | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse, and refuse empty arguments: an empty path would mean the current folder."""
        self._words = args
        found, unknown = super().parse_known_args(args, namespace)
        for action in self._actions:
            given = getattr(found, action.dest, None)
            if given == "" or (isinstance(given, list) and "" in given):
                name = "/".join(action.option_strings) or action.metavar or action.dest
                self.error(f"argument {name}: got an empty text; expected a value")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Exit with the code for usage errors."""
        words, self._words = self._words, None
        required = [action for action in self._actions if action.required]
        if words is not None and required:
            for action in required:
                action.required = False
            # Any other error than a missing option comes again, and ends here.
            unknown = super().parse_known_args(words)[1]
            message = f"unrecognized arguments: {' '.join(unknown)}; {message}" if unknown else message
        self.exit(EXIT_USAGE, f"anchor-align: {visible(' '.join(message.split()))}; see {self.prog} --help\n")


def add_verbosity(parser: argparse.ArgumentParser, default: object) -> None:
    parser.add_argument("-v", action="count", default=default, dest="verbosity", help="-vv: show tracebacks of errors")


def add_format_option(
    parser: argparse._ActionsContainer, what: str = "output", choices: Sequence[str] = FORMATS[:2]
) -> None:
    parser.add_argument("--format", choices=choices, default=choices[0], help=f"form of the {what} [{choices[0]}]")


def add_plugin_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="FILE",
        help="load this Python file with adapters or fusions; can be repeated",
    )


def add_data_options(parser: argparse._ActionsContainer) -> None:
    """``--views``, ``--labels``, ``--orient``, ``--join`` and others: how files are read."""
    parser.add_argument(
        "--views", nargs="+", action="extend", metavar="KEY", help="variables that hold the views [found by the loader]"
    )
    labels = parser.add_mutually_exclusive_group()
    labels.add_argument("--labels", metavar="KEY", help="variable that holds the labels [found by the loader]")
    labels.add_argument("--no-labels", action="store_const", const=False, dest="labels", help="read no labels")
    parser.add_argument(
        "--orient",
        choices=["auto", "rows", "columns"],
        default="auto",
        help="whether samples are rows or columns [found by the loader]",
    )
    add_join_options(parser)
    add_size_option(parser)


def reading_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of ``load_views`` that the options of :func:`add_data_options` stand for."""
    same = ("views", "labels", "orient", "join", "index", "sep", "decimal")
    return {**{name: getattr(arguments, name) for name in same}, "max_bytes": arguments.max_size}


def reading_words(arguments: argparse.Namespace) -> list[str]:
    """The options of :func:`add_data_options` that were given, as words of a command."""
    words = ["--views", *arguments.views] if arguments.views else []
    words += ["--no-labels"] if arguments.labels is False else []
    words += ["--labels", arguments.labels] if arguments.labels else []
    words += ["--orient", arguments.orient] if arguments.orient != "auto" else []
    words += ["--no-index"] if arguments.index is False else []
    for name in ("join", "index", "sep", "decimal"):
        value = getattr(arguments, name)
        words += [f"--{name}", value] if value else []
    return words + (["--max-size", str(arguments.max_size)] if arguments.max_size else [])


def add_join_options(parser: argparse._ActionsContainer, *, text_files: bool = True) -> None:
    """``--join``, ``--index``, ``--sep`` and ``--decimal``: names of samples, and text files."""
    parser.add_argument(
        "--join",
        choices=["inner", "outer"],
        help="for tables that name different samples: inner keeps the samples that all views have, outer keeps all and "
        "takes those that a view lacks as missing [different samples are an error]",
    )
    index = parser.add_mutually_exclusive_group()
    index.add_argument(
        "--index", metavar="COLUMN", help="column of tables that names the samples [found by the loader]"
    )
    index.add_argument(
        "--no-index", action="store_const", const=False, dest="index", help="pair rows by position, not by name"
    )
    if not text_files:
        return
    parser.add_argument("--sep", metavar="CHAR", help="separator of text files, such as ';' [found by the loader]")
    parser.add_argument("--decimal", choices=[".", ","], help="decimal mark of text files [found by the loader]")


def add_size_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--max-size",
        type=_size,
        metavar="SIZE",
        help="how much memory the content of one file may take, such as 20GB; a small file can declare, or decompress "
        "to, arrays of any size [256MiB or 100 times the size of the file, and the free memory]",
    )


def _size(text: str) -> int:
    from ..blocks import check_size
    from ..errors import InputError

    try:
        size = check_size("the size", text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from None
    return size or 0


def add_missing_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--missing",
        choices=["error", "nan"],
        default="error",
        help="nan: a row that is all NaN is a sample that is missing in this view [error]",
    )


def add_view_options(parser: argparse._ActionsContainer, effect: str) -> None:
    """``--weights`` and ``--many-to-one``."""
    parser.add_argument(
        "--weights",
        type=_weights,
        metavar="W",
        help=f"weights of the views in {effect}: auto (views that agree with the others weigh more), or a number for "
        "each view, such as 1,1,0.5",
    )
    parser.add_argument(
        "--many-to-one",
        action="store_true",
        help="if a view has more anchors than the view that is named as the reference, its anchors without a partner "
        "join matched ones; without this option they get their own columns",
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
    return number(int, lambda value: value >= least, f"a whole number >= {least}")


def number(kind: type[Number], is_valid: Callable[[Number], bool], expected: str) -> Callable[[str], Number]:
    """Type of an option that takes a number."""

    def convert(text: str) -> Number:
        with suppress(ValueError):
            value = kind(text)
            if is_valid(value):
                return value
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")

    return convert
