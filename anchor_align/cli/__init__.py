"""The command line. Heavy imports happen inside the commands: help and usage errors stay fast."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import AnchorAlignError
from . import _adapters
from ._options import EXIT_INTERRUPTED, EXIT_USAGE

COMMANDS = (_adapters,)


def build_parser() -> argparse.ArgumentParser:
    """Parser of ``anchor-align``."""
    parser = argparse.ArgumentParser(
        prog="anchor-align",
        description="Anchor alignment for multi-view clustering.",
        epilog="example: anchor-align compare lmvsc",
    )
    parser.add_argument("--version", action="version", version=f"anchor-align {__version__}")
    parser.add_argument("-v", action="count", default=0, dest="verbosity", help="-vv: show tracebacks of errors")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.register(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = build_parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except KeyboardInterrupt:
        print("anchor-align: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except AnchorAlignError as error:
        if arguments.verbosity >= 2:
            raise
        print(f"anchor-align: {error}", file=sys.stderr)
        return EXIT_USAGE
    return code
