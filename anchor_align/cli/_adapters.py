"""``anchor-align adapters``: adapters, baselines and fusions that are installed, and plug-ins that failed to load."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ._options import EXIT_OK, add_format_option, add_plugin_option
from ._terminal import plain, print_json, print_table, result_console

if TYPE_CHECKING:
    from rich.text import Text

    from ..plugins import AdapterRecord, BaselineRecord, Plugin, Registry


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "adapters",
        help="list adapters, baselines and fusions that are installed, and plug-ins that failed to load",
        description="List the adapters and baselines that are installed, with their settings, the fusions, and the "
        "plug-ins that failed to load or are disabled by ANCHOR_ALIGN_DISABLE_PLUGINS (distributions or entry points, "
        "separated by commas).",
        epilog="example: anchor-align adapters --plugin my_method.py",
    )
    add_plugin_option(parser)
    parser.add_argument("--strict", action="store_true", help="exit with 2 if any plug-in fails to load")
    add_format_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from ..plugins import load_plugins

    registry = load_plugins(arguments.plugin, strict=arguments.strict)
    if arguments.verbosity >= 2:
        for failure in registry.failures:
            print(f"{failure}\n{failure.traceback}", file=sys.stderr)
    if arguments.format == "json":
        _print_json(registry)
    else:
        _print_tables(registry)
    return EXIT_OK


def _print_json(registry: Registry) -> None:
    import math

    from ..plugins import one_line

    def origin(plugin: Plugin) -> dict[str, object]:
        return {name: getattr(plugin, name) for name in ("distribution", "version", "entry_point")}

    def encoded(value: object) -> object:
        is_plain = math.isfinite(value) if isinstance(value, float) else isinstance(value, int | str | None)
        return value if is_plain else one_line(value, repr)

    def described(record: AdapterRecord | BaselineRecord) -> dict[str, object]:
        parameters = {name: encoded(value) for name, value in record.parameters.items()}
        return {"name": record.name, **origin(record), "summary": record.summary, "parameters": parameters}

    result = {
        "adapters": [described(record) for record in registry],
        "baselines": [described(record) for record in registry.baselines],
        "fusions": [{"name": each.name, **origin(each), "summary": each.fusion.summary} for each in registry.fusions],
        "failures": [{**origin(failure), "reason": failure.reason} for failure in registry.failures],
        "disabled": [origin(plugin) for plugin in registry.disabled],
        "unmatched": registry.unmatched,
    }
    print_json(result)


def _print_tables(registry: Registry) -> None:
    from ..plugins import DISABLE_VARIABLE

    console = result_console()

    def text(value: object, style: str = "") -> Text:
        return plain(value, console, style)

    def about(record: AdapterRecord | BaselineRecord) -> Text:
        summary = text(record.summary or "-")
        settings = ", ".join(f"{name}={value}" for name, value in record.settings.items())
        return summary.append("\n").append_text(text(settings, "dim")) if settings else summary

    adapters = [[text(each.name, "bold"), each.origin, about(each)] for each in registry]
    baselines = [[text(each.name, "bold"), each.origin, about(each)] for each in registry.baselines]
    fusions = [[text(each.name, "bold"), each.origin, each.fusion.summary or "-"] for each in registry.fusions]
    failures = [[each.origin, text(each.reason, "red")] for each in registry.failures]
    disabled = [[each] for each in (*registry.disabled, *(f"{name}: no such plug-in" for name in registry.unmatched))]
    print_table(console, ["adapter", "from", "what it does; settings"], adapters, widest=20)
    if baselines:
        console.print()
        print_table(console, ["baseline", "from", "what it does; settings"], baselines, widest=20)
    console.print()
    print_table(console, ["fusion", "from", "what it does"], fusions, widest=20)
    if failures:
        console.print()
        print_table(console, ["failed to load", "why"], failures, widest=20)
    if disabled:
        console.print()
        print_table(console, [f"disabled by {DISABLE_VARIABLE}"], disabled)
