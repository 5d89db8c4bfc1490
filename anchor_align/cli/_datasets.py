"""``anchor-align datasets``: the bundled data sets, and what the loader reads from a file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ._options import EXIT_OK, add_data_options, add_format_option, reading_options
from ._terminal import plain, print_json, print_table, result_console

if TYPE_CHECKING:
    from ..data import MultiViewData

NUMBERS = ("samples", "clusters", "features")


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "datasets",
        help="list the data sets that have a name; with a file or folder, show what is read from it",
        description="List the data sets that have a name. With files, folders or names, show what is read from each: "
        "views, labels, and what the loader guessed. NAME alone is the data set of that name, ./NAME is a file.",
        epilog="examples: anchor-align datasets --where; anchor-align datasets mydata.mat --views X --labels gt",
    )
    parser.add_argument(
        "data", nargs="*", metavar="DATA", help="a .mat, .npz, .h5ad or .h5mu file, a folder, or a name"
    )
    parser.add_argument(
        "--where", action="store_true", help="list licences and sources of the data sets that have a name"
    )
    add_data_options(parser)
    add_format_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from ..data import load_views

    if not arguments.data or arguments.where:
        _print_catalogue(arguments.format, arguments.data, where=arguments.where)
        return EXIT_OK
    described = []
    for path in arguments.data:
        data = load_views(path, **reading_options(arguments))
        described.append(_described(path, data))
    if arguments.format == "json":
        print_json({"data": described})
    else:
        _print_described(described)
    return EXIT_OK


def _described(path: str, data: MultiViewData) -> dict[str, Any]:
    from ..arrays import is_sparse

    views = [
        {"name": name, "n_features": int(X.shape[1]), "dtype": X.dtype.name, "sparse": is_sparse(X)}
        for name, X in zip(data.names, data.views, strict=True)
    ]
    return {
        "data": path,
        "n_samples": data.n_samples,
        "n_clusters": data.n_clusters,
        "views": views,
        "notes": [str(note) for note in data.notes],
    }


def _print_catalogue(form: str, names: list[str], *, where: bool) -> None:
    """All data sets that have a name, or some of them; with ``where``, their licences and sources."""
    from dataclasses import asdict

    from ..checks import check_choice
    from ..data import catalogue

    known = {each.name: each for each in catalogue()}
    shown = [known[check_choice("data set", name, tuple(known))] for name in names] or list(known.values())
    if form == "json":
        views = [[{"name": name, "n_features": size} for name, size in each.views] for each in shown]
        print_json({"datasets": [{**asdict(each), "views": v} for each, v in zip(shown, views, strict=True)]})
        return
    if where:
        sources = [[each.name, each.licence, each.source] for each in shown]
        print_table(result_console(), ["data set", "licence", "source"], sources)
        return
    rows = []
    for each in shown:
        views_text = ", ".join(f"{name} {size}" for name, size in each.views)
        described = f"{each.description} ({each.licence}); {views_text}"
        rows.append([each.name, each.n_samples, each.n_clusters, described])
    headings = ["data set", "samples", "clusters", "what it is (licence); views and their features"]
    print_table(result_console(), headings, rows, numbers=NUMBERS)


def _print_described(described: list[dict[str, Any]]) -> None:
    console = result_console()
    for place, each in enumerate(described):
        if place:
            console.print()
        clusters = "no labels" if each["n_clusters"] is None else f"{each['n_clusters']} clusters"
        heading = f"{each['data']}: {each['n_samples']} samples, {clusters}"
        console.print(plain(heading, console, "bold"), soft_wrap=True)
        rows = [
            [view["name"], view["n_features"], f"{'sparse' if view['sparse'] else 'dense'} {view['dtype']}"]
            for view in each["views"]
        ]
        print_table(console, ["view", "features", "kind"], rows, numbers=NUMBERS)
        for note in each["notes"]:
            console.print(plain(note, console, "dim"))
