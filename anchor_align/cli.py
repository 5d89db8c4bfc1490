"""The command line. Heavy imports happen inside the commands: help and usage errors stay fast."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from . import __version__
from .errors import AnchorAlignError

if TYPE_CHECKING:
    from .plugins import AdapterRecord, Plugin, Registry

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
    adapters = commands.add_parser(
        "adapters",
        help="adapters that are installed, and plug-ins that failed to load",
        description="List the adapters that are installed, with their settings, and the plug-ins that failed to load "
        "or are disabled by ANCHOR_ALIGN_DISABLE_PLUGINS (distributions or entry points, separated by commas).",
        epilog="example: anchor-align adapters --plugin my_method.py",
    )
    adapters.add_argument(
        "--plugin", action="append", default=[], metavar="FILE", help="load this Python file too; can be repeated"
    )
    adapters.add_argument("--strict", action="store_true", help="exit with 2 if any plug-in fails to load")
    adapters.add_argument("--format", choices=["table", "json"], default="table", help="form of the output [table]")
    adapters.set_defaults(run=_adapters)
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


def _adapters(arguments: argparse.Namespace) -> None:
    from .plugins import load_plugins

    registry = load_plugins(arguments.plugin, strict=arguments.strict)
    if arguments.verbosity >= 2:
        for failure in registry.failures:
            print(f"{failure}\n{failure.traceback}", file=sys.stderr)
    if arguments.format == "json":
        _adapters_as_json(registry)
    else:
        _adapters_as_table(registry)


def _adapters_as_json(registry: Registry) -> None:
    import json
    import math

    from .plugins import one_line

    def origin(plugin: Plugin) -> dict[str, object]:
        return {name: getattr(plugin, name) for name in ("distribution", "version", "entry_point")}

    def plain(value: object) -> object:
        is_plain = math.isfinite(value) if isinstance(value, float) else isinstance(value, int | str | None)
        return value if is_plain else one_line(value, repr)

    def described(record: AdapterRecord) -> dict[str, object]:
        parameters = {name: plain(value) for name, value in record.parameters.items()}
        return {"name": record.name, **origin(record), "summary": record.summary, "parameters": parameters}

    result = {
        "adapters": [described(record) for record in registry],
        "failures": [{**origin(failure), "reason": failure.reason} for failure in registry.failures],
        "disabled": [origin(plugin) for plugin in registry.disabled],
        "unmatched": registry.unmatched,
    }
    print(json.dumps(result, indent=2))


def _adapters_as_table(registry: Registry) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from .plugins import DISABLE_VARIABLE, one_line

    console = Console(highlight=False)

    def text(value: object, style: str = "") -> Text:
        # Text, not a string: what plug-ins say is no markup; and the terminal may not know all of its characters.
        return Text(one_line(value).encode(console.encoding, "replace").decode(console.encoding), style=style)

    def show(headings: list[str], rows: list[list[Text]]) -> None:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for heading in headings[:-1]:
            table.add_column(heading, overflow="fold", max_width=20)
        table.add_column(headings[-1], overflow="fold")
        for row in rows:
            table.add_row(*row)
        console.print(table)

    def described(record: AdapterRecord) -> list[Text]:
        settings = ", ".join(f"{name}={value}" for name, value in record.settings.items())
        about = Text("\n").join([text(record.summary or "-"), *([text(settings, "dim")] if settings else [])])
        return [text(record.name, "bold"), text(record.origin), about]

    show(["adapter", "from", "what it does; settings"], [described(record) for record in registry])
    failures = [[text(failure.origin), text(failure.reason, "red")] for failure in registry.failures]
    if failures:
        console.print()
        show(["failed to load", "why"], failures)
    disabled = [*registry.disabled, *(f"{name}: no plug-in is called that" for name in registry.unmatched)]
    if disabled:
        console.print()
        show([f"disabled by {DISABLE_VARIABLE}"], [[text(each)] for each in disabled])


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
