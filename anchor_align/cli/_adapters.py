"""``anchor-align adapters``: what is installed, and what failed to load."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ._options import EXIT_OK, add_plugin_option

if TYPE_CHECKING:
    from ..plugins import AdapterRecord, Plugin, Registry


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "adapters",
        help="adapters that are installed, and plug-ins that failed to load",
        description="List the adapters that are installed, with their settings, and the plug-ins that failed to load "
        "or are disabled by ANCHOR_ALIGN_DISABLE_PLUGINS (distributions or entry points, separated by commas).",
        epilog="example: anchor-align adapters --plugin my_method.py",
    )
    add_plugin_option(parser)
    parser.add_argument("--strict", action="store_true", help="exit with 2 if any plug-in fails to load")
    parser.add_argument("--format", choices=["table", "json"], default="table", help="form of the output [table]")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List them."""
    from ..plugins import load_plugins

    registry = load_plugins(arguments.plugin, strict=arguments.strict)
    if arguments.verbosity >= 2:
        for failure in registry.failures:
            print(f"{failure}\n{failure.traceback}", file=sys.stderr)
    if arguments.format == "json":
        _print_json(registry)
    else:
        _print_table(registry)
    return EXIT_OK


def _print_json(registry: Registry) -> None:
    import math

    from ..plugins import one_line
    from ._output import print_json

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
    print_json(result)


def _print_table(registry: Registry) -> None:
    from rich.text import Text

    from ..plugins import DISABLE_VARIABLE
    from ._output import plain, plain_table, result_console

    console = result_console()

    def text(value: object, style: str = "") -> Text:
        return plain(value, console, style)

    def show(headings: list[str], rows: list[list[Text]]) -> None:
        table = plain_table()
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
