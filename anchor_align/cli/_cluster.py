"""``anchor-align cluster``: one fit, from tables to labels by sample name."""

from __future__ import annotations

import argparse
import os
import shlex
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._label_options import (
    add_label_options,
    add_threads_option,
    check_outputs,
    checked_format,
    reading_notes,
    threads,
    write_result,
)
from ._options import (
    EXIT_FAILED,
    EXIT_OK,
    add_data_options,
    add_missing_option,
    add_plugin_option,
    add_view_options,
    number,
    reading_options,
    reading_words,
    whole_number,
)
from ._study_options import add_adapter_options
from ._terminal import FitBar, plain, print_table, result_console, say, status, visible_line

if TYPE_CHECKING:
    from ..clustering import AlignedClusterer, Assignment
    from ..data import MultiViewData


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "cluster",
        help="cluster the samples of your tables and write labels by sample name",
        description="Cluster samples once and write one line for each: its name, its cluster, the distance to the mean "
        "of the cluster, and the confidence, which is the margin to the nearest other cluster: near 1 the sample is "
        "far from all other clusters, at 0 it is between two. Samples of several tables are joined by their names; "
        "samples without names are counted from 0.",
        epilog="example: anchor-align cluster rna.csv protein.csv --clusters 8 --join inner -o labels.csv "
        "--save cells.model --html report.html",
    )
    parser.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="a table for each view (.csv, .parquet, .npy and others), or one file or folder with all views, or the "
        "name of a bundled set",
    )
    parser.add_argument("--clusters", type=whole_number(1), required=True, metavar="K", help="number of clusters")
    add_data_options(parser)
    add_missing_option(parser)
    add_adapter_options(parser)
    parser.add_argument(
        "--lam",
        type=number(float, lambda value: value >= 0, "a number >= 0 or inf"),
        default=0.1,
        metavar="L",
        help="weight of the structure term, from 0 to inf [0.1]",
    )
    parser.add_argument(
        "--reference", default="consensus", metavar="R", help="index of a view, auto or consensus [consensus]"
    )
    parser.add_argument("--fusion", default="aligned", metavar="NAME", help="way of fusing the graphs [aligned]")
    add_view_options(parser, "the mean")
    parser.add_argument("--seed", type=whole_number(0), default=0, metavar="S", help="seed of all draws [0]")
    add_label_options(parser)
    parser.add_argument("--save", metavar="MODEL", help="save the model, for anchor-align predict")
    parser.add_argument(
        "--html",
        metavar="REPORT",
        help="write a page about what can be known without labels: agreement of the views, stability, sizes and a "
        "picture of the clusters",
    )
    parser.add_argument(
        "--draws", type=whole_number(0), default=5, metavar="N", help="other draws of anchors, for --html [5]"
    )
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory for the fit besides the views, such as 500MB; what does not fit goes to temporary files [the free "
        "memory]",
    )
    add_threads_option(parser)
    add_plugin_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from ..clustering import AlignedClusterer, Assignment, anchors_for
    from ..data import load_views
    from ..errors import FileError, InputError
    from ..plugins import load_plugins
    from ..report import check_figures

    check_outputs([arguments.output, arguments.save, arguments.html], arguments.data)
    form = checked_format(arguments)
    if arguments.html is not None:
        check_figures()
    params = {name: values[0] if len(values) == 1 else list(values) for name, values in arguments.params}
    plugins = load_plugins(arguments.plugin)
    automatic = arguments.adapter == "auto"
    if automatic and params:
        raise InputError("--set is for an adapter given by name; --adapter auto chooses the settings.")
    k, quiet = arguments.clusters, arguments.quiet
    anchors = None if arguments.anchors is None else anchors_for(arguments.anchors, k)
    clusterer = AlignedClusterer(
        "auto" if automatic else plugins.get(arguments.adapter, **params),
        n_clusters=k,
        n_anchors=anchors if anchors is None or isinstance(anchors, int) else list(anchors),
        lam=arguments.lam,
        reference=int(arguments.reference) if arguments.reference.isdecimal() else arguments.reference,
        fusion=plugins.fusion(arguments.fusion),
        weights=arguments.weights,
        missing=arguments.missing,
        many_to_one=arguments.many_to_one,
        storage="auto",
        memory=arguments.memory,
        random_state=arguments.seed,
    )
    with status("reading", quiet=quiet):
        source = arguments.data[0] if len(arguments.data) == 1 else arguments.data
        data = load_views(source, **reading_options(arguments), mmap=True)
    if data.n_samples < k:
        raise InputError(f"--clusters asks for {k} clusters of {data.n_samples} samples; ask for fewer.")
    notes = [str(note) for note in (*reading_notes(data), *_own_notes(data, k))]
    for note in () if quiet else notes:
        say(f"note: {visible_line(note)}")
    with warnings.catch_warnings(record=True) as warned, threads(arguments.jobs):
        warnings.simplefilter("always")
        with FitBar(quiet=quiet) as bar:
            clusterer.set_params(callback=bar).fit(data)
        clusterer.set_params(callback=None)
        found = Assignment.of_fit(clusterer.embedding_, clusterer.labels_, clusterer.cluster_means_)
    for note in () if quiet else [each for each in clusterer.notes_ if each not in notes]:
        say(f"note: {visible_line(note)}")
    for text in dict.fromkeys(" ".join(str(each.message).split()) for each in warned):
        say(f"warning: {text}")
    try:
        write_result(arguments, data.samples, found, form)
        if arguments.save is not None:
            clusterer.save(arguments.save)
        if arguments.html is not None:
            _write_report(arguments, clusterer, data, found)
    except FileError as error:
        if arguments.verbosity >= 2:
            raise
        say(str(error))
        return EXIT_FAILED
    if arguments.output is not None:
        _print_summary(found)
    return EXIT_OK


def _own_notes(data: MultiViewData, n_clusters: int) -> list[str]:
    notes = []
    if len(data.views) == 1:
        notes.append("There is one view only, so there is nothing to align: the clusters are those of this view.")
    if data.n_clusters is not None and data.n_clusters != n_clusters:
        notes.append(f"The labels in the data have {data.n_clusters} classes; --clusters asks for {n_clusters}.")
    return notes


def _write_report(
    arguments: argparse.Namespace, clusterer: AlignedClusterer, data: MultiViewData, found: Assignment
) -> None:
    from ..clustering import fit_quality
    from ..data import write_whole
    from ..report import cluster_page

    with status("drawing", quiet=arguments.quiet), threads(arguments.jobs):
        quality = fit_quality(clusterer, data, draws=arguments.draws)
        title = ", ".join(os.path.basename(os.path.normpath(each)) for each in arguments.data)
        page = cluster_page(clusterer, found, quality, data.samples, title=title, command=_command(arguments))
        write_whole(arguments.html, page.encode())


def _command(arguments: argparse.Namespace) -> str:
    """The command with all options that determine the result, and no others."""
    words: list[str] = ["anchor-align", "cluster", *arguments.data, "--clusters", str(arguments.clusters)]
    words += reading_words(arguments)
    usual = {"missing": "error", "adapter": "local", "anchors": None, "lam": 0.1, "reference": "consensus"}
    usual |= {"fusion": "aligned", "seed": 0}
    for name, default in usual.items():
        value = getattr(arguments, name)
        words += [f"--{name}", str(value)] if value != default else []
    for name, values in arguments.params:
        words += ["--set", f"{name}={','.join(map(str, values))}"]
    if arguments.weights is not None:
        given: str | Sequence[float] = arguments.weights
        words += ["--weights", given if isinstance(given, str) else ",".join(map(str, given))]
    words += ["--many-to-one"] if arguments.many_to_one else []
    for path in arguments.plugin:
        words += ["--plugin", path]
    return shlex.join(words)


def _print_summary(found: Assignment) -> None:
    """The sizes of the clusters, and how sure they are."""
    import numpy as np

    console = result_console()
    sizes = np.bincount(found.labels)
    means = np.bincount(found.labels, found.confidence) / sizes
    headings = ["cluster", "samples", "mean confidence"]
    shown = ["" if np.isnan(mean) else f"{mean:.2f}" for mean in means]
    print_table(console, headings, zip(range(len(sizes)), sizes, shown, strict=True), numbers=headings)
    unsure = int((found.confidence < UNSURE).sum())
    console.print(plain(f"{unsure} of {len(found.labels)} samples have a confidence below {UNSURE:g}.", console))


UNSURE = 0.1
