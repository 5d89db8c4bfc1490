"""The command line. Heavy imports happen inside the commands: help and usage errors stay fast."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from . import __version__
from .errors import AnchorAlignError

EXIT_OK, EXIT_USAGE, EXIT_INTERRUPTED = 0, 2, 130


def build_parser() -> argparse.ArgumentParser:
    """Parser of ``anchor-align``."""
    parser = argparse.ArgumentParser(
        prog="anchor-align",
        description="Anchor alignment for multi-view clustering.",
        epilog="example: anchor-align demo",
    )
    parser.add_argument("--version", action="version", version=f"anchor-align {__version__}")
    parser.add_argument("-v", action="count", default=0, dest="verbosity", help="-vv: show tracebacks of errors")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="unaligned against aligned fusion on simulated two-view data",
        description="Cluster simulated two-view data, as in the paper, with unaligned and with aligned fusion.",
        epilog="example: anchor-align demo --repeats 5 --seed 100",
    )
    demo.add_argument(
        "--repeats", type=_whole_number(1), default=20, metavar="N", help="draws of data and anchors [20]"
    )
    demo.add_argument("--seed", type=_whole_number(0), default=0, metavar="S", help="seed of the first draw [0]")
    demo.set_defaults(run=_demo)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = build_parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except KeyboardInterrupt:
        print("anchor-align: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except AnchorAlignError as error:
        if arguments.verbosity >= 2:
            raise
        print(f"anchor-align: {error}", file=sys.stderr)
        return EXIT_USAGE
    return EXIT_OK


def _demo(arguments: argparse.Namespace) -> None:
    from statistics import mean

    from ._demo import run_demo

    runs = [run_demo(arguments.seed + repeat) for repeat in range(arguments.repeats)]
    gap = max(1.0 - run.objective / run.upper_bound for run in runs)
    print(f"simulated data: 4 clusters x 50 samples, 2 views, 4 k-means anchors a view, {len(runs)} repeat(s)")
    print(f"{'fusion':<12}{'mean ACC':>10}{'worst ACC':>11}")
    for name in ("unaligned", "aligned"):
        scores = [100 * getattr(run, name) for run in runs]
        print(f"{name:<12}{mean(scores):>8.1f} %{min(scores):>9.1f} %")
    print(f"the matches found are within {100 * gap:.2f} % of the best possible objective")


def _whole_number(least: int) -> Callable[[str], int]:
    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"expected a whole number >= {least}, got {text!r}")
        return value

    return convert
