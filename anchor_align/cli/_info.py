"""``anchor-align info``: what a saved model holds."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from ._options import EXIT_OK, add_format_option
from ._terminal import plain, print_json, print_table, result_console

if TYPE_CHECKING:
    from ..clustering import ModelFacts


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "info",
        help="show what a saved model holds",
        description="Show what a saved model holds: method and settings, views, clusters. Nothing in the file is run, "
        "and the adapter need not be installed.",
        epilog="example: anchor-align info cells.model",
    )
    parser.add_argument("model", metavar="MODEL", help="a file from cluster --save or AlignedClusterer.save")
    add_format_option(parser, "result")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from ..clustering import SavedModel

    facts = SavedModel.read(arguments.model).facts
    size = os.path.getsize(arguments.model)
    if arguments.format == "json":
        print_json(_as_json(facts, size))
    else:
        _print(facts, size)
    return EXIT_OK


def _as_json(facts: ModelFacts, size: int) -> dict[str, Any]:
    views = [
        {"name": name, "n_features": each.n_features, "n_anchors": m, "weight": weight}
        for (name, each), m, weight in zip(facts.views.items(), facts.n_anchors, facts.weights, strict=True)
    ]
    return {
        "saved_by": facts.saved_by,
        "bytes": size,
        "adapter": facts.adapter,
        "settings": {name: _plain(value) for name, value in facts.adapter_params.items()},
        "fusion": facts.fusion,
        "lam": _plain(facts.parameters.get("lam")),
        "random_state": facts.parameters.get("random_state"),
        "n_samples": facts.n_samples,
        "n_clusters": len(facts.cluster_sizes),
        "cluster_sizes": list(facts.cluster_sizes),
        "views": views,
        "rows_of_the_fit": facts.n_known,
    }


def _plain(value: Any) -> Any:
    finite = not isinstance(value, float) or value - value == 0
    return value if finite and isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _print(facts: ModelFacts, size: int) -> None:
    from ..blocks import readable_size

    console = result_console()
    settings = ", ".join(f"{name}={value!r}" for name, value in facts.adapter_params.items()) or "none"
    kept = f"the nearest of {facts.n_known} samples of the fit" if facts.n_known else "the nearest cluster mean"
    pairs = [
        ("model", f"{readable_size(size)}, saved by anchor-align {facts.saved_by}"),
        ("adapter", facts.adapter),
        ("settings", settings),
        ("fusion", f"{facts.fusion}, lam={facts.parameters.get('lam')}"),
        ("fitted on", f"{facts.n_samples} samples, random_state={facts.parameters.get('random_state')}"),
        ("clusters", f"{len(facts.cluster_sizes)}, of {', '.join(map(str, facts.cluster_sizes))} samples"),
        ("new samples", f"get the label of {kept}"),
    ]
    print_table(console, ["", ""], pairs)
    console.print()
    rows = [
        (name, each.n_features, m, f"{weight:.3g}")
        for (name, each), m, weight in zip(facts.views.items(), facts.n_anchors, facts.weights, strict=True)
    ]
    headings = ["view", "features", "anchors", "weight"]
    print_table(console, headings, rows, numbers=headings[1:])
    named = sum(each.columns is not None for each in facts.views.values())
    if named:
        console.print(plain(f"Names of features are checked in {named} of {len(rows)} views.", console))
