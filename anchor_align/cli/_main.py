"""The parser of all commands, and what errors become. Heavy imports happen inside commands: help stays fast."""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import AnchorAlignError, PluginError, program_text
from . import _adapters, _align, _cluster, _compare, _datasets, _info, _n_clusters, _predict
from ._options import EXIT_FAILED, EXIT_USAGE, Parser, add_verbosity
from ._terminal import say

COMMANDS = (_cluster, _predict, _info, _compare, _n_clusters, _align, _adapters, _datasets)


def build_parser() -> argparse.ArgumentParser:
    """Parser of ``anchor-align``."""
    parser = Parser(
        prog="anchor-align",
        description="Anchor alignment for multi-view clustering.",
        epilog="example: anchor-align compare lmvsc",
    )
    parser.add_argument("--version", action="version", version=f"anchor-align {__version__}")
    add_verbosity(parser, default=0)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.register(commands)
    for command_parser in commands.choices.values():
        add_verbosity(command_parser, default=argparse.SUPPRESS)
    return parser


def run_command(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if sys.stderr is None:  # closed; print() would take stdout instead
        sys.stderr = io.StringIO()
    arguments = build_parser().parse_args(argv)
    if sys.stdout is None:
        say("Cannot write the result: stdout is closed.")
        return EXIT_FAILED
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except AnchorAlignError as error:
        if arguments.verbosity >= 2:
            raise
        # There may be several plug-in failures, one on each line. Names in other errors may contain line breaks.
        say(str(error) if isinstance(error, PluginError) else " ".join(str(error).split()))
        return EXIT_USAGE
    except MemoryError:
        if arguments.verbosity >= 2:
            raise
        say("There is not enough memory; close other programs, or use fewer samples or anchors.")
        return EXIT_FAILED
    except subprocess.CalledProcessError as error:  # of a program that an adapter runs
        if arguments.verbosity >= 2:
            raise
        say(program_text(error))
        return EXIT_FAILED
    except OSError as error:
        if error.filename is None:
            return _stdout_failed(error)
        say(f"{error.filename}: {error.strerror}.")
        return EXIT_FAILED
    return code


def _stdout_failed(error: OSError) -> int:
    """The reader of a pipe has closed it, which is fine, or the disk is full."""
    # Python flushes stdout again when it ends; this must not fail.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    if not isinstance(error, BrokenPipeError):
        say(f"Cannot write the result: {error.strerror or error}.")
    return EXIT_FAILED
