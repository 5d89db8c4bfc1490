"""``anchor-align n-clusters``: curves over the number of clusters, without labels and without a recommendation."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ._options import (
    EXIT_FAILED,
    EXIT_OK,
    add_data_options,
    add_format_option,
    add_missing_option,
    add_plugin_option,
    reading_options,
    whole_number,
)
from ._study_options import add_adapter_options
from ._terminal import plain, print_json, print_table, result_console, say, status

if TYPE_CHECKING:
    from ..clustering import ClusterCurves

FIGURES = (".png", ".svg", ".pdf")


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "n-clusters",
        help="show what the data say about the number of clusters, without labels",
        description="Show four curves over the number of clusters: agreement of the views, stability over draws of "
        "anchors, prediction strength, and the gap between singular values. No labels are used, and no number is "
        "recommended: each curve has its peak at the known number of clusters on some data sets only.",
        epilog="example: anchor-align n-clusters mydata.mat --range 2 20 --output curves.png",
    )
    parser.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="a .mat, .npz, .h5mu or .h5ad file, a folder, the name of a bundled set, or a table for each view",
    )
    parser.add_argument(
        "--range",
        nargs=2,
        type=whole_number(2),
        default=(2, 20),
        metavar=("FIRST", "LAST"),
        help="smallest and largest number of clusters [2 20]",
    )
    add_data_options(parser)
    add_missing_option(parser)
    add_adapter_options(parser)
    parser.add_argument("--fusion", default="aligned", metavar="NAME", help="way of fusing the graphs [aligned]")
    parser.add_argument("--draws", type=whole_number(1), default=3, metavar="N", help="draws of anchors [3]")
    parser.add_argument(
        "--sample", type=whole_number(4), default=2000, metavar="N", help="most samples that are used [2000]"
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, metavar="S", help="seed of all draws [0]")
    add_format_option(parser, "result")
    parser.add_argument("--output", metavar="FILE", help="write the picture: .png, .svg or .pdf")
    parser.add_argument("--html", metavar="FILE", help="write a page with picture and table")
    parser.add_argument("-q", action="store_true", dest="quiet", help="no progress")
    add_plugin_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from ..clustering import cluster_number_curves
    from ..data import check_writable, load_views, write_whole
    from ..errors import FileError, InputError
    from ..plugins import load_plugins
    from ..report import check_figures, figure_bytes, n_clusters_page, plot_n_clusters

    first, last = arguments.range
    if first > last:
        raise InputError(f"--range needs the smaller number first, got {first} {last}.")
    for name in (arguments.output, arguments.html):
        if name is not None:
            check_figures()
            check_writable(name)
    ending = Path(arguments.output or "").suffix.lower()
    if arguments.output is not None and ending not in FIGURES:
        raise InputError(f"--output must end in {', '.join(FIGURES)}, got {arguments.output!r}.")
    params = {name: values[0] if len(values) == 1 else list(values) for name, values in arguments.params}
    adapter = load_plugins(arguments.plugin).get(arguments.adapter, **params)
    source = arguments.data[0] if len(arguments.data) == 1 else arguments.data
    title = " ".join(arguments.data)
    data = load_views(source, **reading_options(arguments))
    with status(f"{3 * arguments.draws * (last - first + 1)} clusterings", quiet=arguments.quiet):
        curves = cluster_number_curves(
            data,
            range(first, last + 1),
            adapter,
            n_anchors=arguments.anchors,
            fusion=arguments.fusion,
            draws=arguments.draws,
            sample=arguments.sample,
            missing=arguments.missing,
            random_state=arguments.seed,
        )
    if arguments.format == "json":
        print_json(
            {
                "data": title,
                "n_samples": curves.n_samples,
                "n_draws": curves.n_draws,
                "n_clusters": list(curves.n_clusters),
                "curves": {each.name: {"values": each.values, "sd": each.sd} for each in curves.curves},
                "peaks": curves.peaks,
                "known": data.n_clusters,
            }
        )
    else:
        _print_table(curves, data.n_clusters)
    try:
        if arguments.output:
            write_whole(arguments.output, figure_bytes(plot_n_clusters(curves, known=data.n_clusters), ending[1:]))
        if arguments.html:
            page = n_clusters_page(curves, title=title, known=data.n_clusters)
            write_whole(arguments.html, page.encode())
    except FileError as error:
        say(str(error))
        return EXIT_FAILED
    return EXIT_OK


def _print_table(curves: ClusterCurves, known: int | None) -> None:
    from ..clustering import CAUTION

    console = result_console()
    headings = ["clusters", *(each.name.replace("_", " ") for each in curves.curves)]
    peaks = curves.peaks
    rows = [
        [k, *(f"{'*' * (peaks[each.name] == k)}{each.values[at]:.3f}" for each in curves.curves)]
        for at, k in enumerate(curves.n_clusters)
    ]
    print_table(console, headings, rows, numbers=headings)
    labels = "" if known is None else f" The labels have {known} clusters."
    console.print(plain(f"* peak. {CAUTION}{labels}", console))
