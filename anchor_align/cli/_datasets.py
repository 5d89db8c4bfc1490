"""``anchor-align datasets``: data sets that have a name, and what the loader makes of a file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ._options import EXIT_OK, add_data_options

if TYPE_CHECKING:
    from ..data import MultiViewData


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "datasets",
        help="data sets that have a name; with a file or folder, what is read from it",
        description="List the data sets that have a name. With files, folders or names, show what is read from each: "
        "views, labels, and what was guessed. A bare name is the data set of that name, ./NAME the file.",
        epilog="example: anchor-align datasets mydata.mat --views X --labels gt",
    )
    parser.add_argument("data", nargs="*", metavar="DATA", help="a .mat or .npz file, a folder, or a name")
    add_data_options(parser)
    parser.add_argument("--format", choices=["table", "json"], default="table", help="form of the output [table]")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List the catalogue, or look into files."""
    from ..data import load_views
    from ._output import print_json

    if not arguments.data:
        _print_catalogue(arguments.format)
        return EXIT_OK
    described = []
    for path in arguments.data:
        data = load_views(
            path,
            views=arguments.views,
            labels=arguments.labels,
            orient=arguments.orient,
        )
        described.append(_described(path, data))
    if arguments.format == "json":
        print_json({"data": described})
    else:
        _print_described(described)
    return EXIT_OK


def _described(path: str, data: MultiViewData) -> dict[str, Any]:
    from .._types import is_sparse

    views = [
        {"name": name, "n_features": int(X.shape[1]), "dtype": X.dtype.name, "sparse": is_sparse(X)}
        for name, X in zip(data.names, data.views, strict=True)
    ]
    return {
        "data": path,
        "n_samples": data.n_samples,
        "n_clusters": data.n_clusters,
        "views": views,
        "notes": list(data.notes),
    }


def _print_catalogue(form: str) -> None:
    from dataclasses import asdict

    from ..data import catalogue
    from ._output import print_json

    sets = catalogue()
    if form == "json":
        listed = [
            {**asdict(each), "views": [{"name": name, "n_features": size} for name, size in each.views]}
            for each in sets
        ]
        print_json({"datasets": listed})
        return
    rows = [
        [
            each.name,
            str(each.n_samples),
            str(each.n_clusters),
            f"{each.description}; {', '.join(f'{name} {size}' for name, size in each.views)}",
        ]
        for each in sets
    ]
    _print_rows(["data set", "samples", "clusters", "what it is; views and their features"], rows)


def _print_described(described: list[dict[str, Any]]) -> None:
    from ._output import plain, result_console

    console = result_console()
    for place, each in enumerate(described):
        if place:
            console.print()
        clusters = "no labels" if each["n_clusters"] is None else f"{each['n_clusters']} clusters"
        heading = f"{each['data']}: {each['n_samples']} samples, {clusters}"
        console.print(plain(heading, console, "bold"), soft_wrap=True)
        rows = [
            [view["name"], str(view["n_features"]), f"{'sparse' if view['sparse'] else 'dense'} {view['dtype']}"]
            for view in each["views"]
        ]
        _print_rows(["view", "features", "kind"], rows)
        for note in each["notes"]:
            console.print(plain(note, console, "dim"))


def _print_rows(headings: list[str], rows: list[list[str]]) -> None:
    from ._output import plain, plain_table, result_console

    console = result_console()
    table = plain_table()
    for heading in headings:
        numbers = heading in ("samples", "clusters", "features")
        table.add_column(heading, justify="right" if numbers else "left", no_wrap=numbers, overflow="fold")
    for row in rows:
        table.add_row(*(plain(value, console) for value in row))
    console.print(table)
