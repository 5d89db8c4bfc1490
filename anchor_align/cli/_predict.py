"""``anchor-align predict``: labels of new samples from a saved model."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
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
    reading_options,
)
from ._terminal import FitBar, say, status, visible_line

if TYPE_CHECKING:
    from ..clustering import AlignedClusterer, SavedModel
    from ..data import MultiViewData
    from ..plugins import Registry


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "predict",
        help="label new samples with a model that cluster --save wrote",
        description="Label new samples with a saved model. DATA must have the views and features of the fit; views "
        "with other names are taken in the given order. The output is that of cluster.",
        epilog="example: anchor-align predict cells.model rna_today.csv protein_today.csv -o labels.csv",
    )
    parser.add_argument("model", metavar="MODEL", help="a file from cluster --save or AlignedClusterer.save")
    parser.add_argument("data", nargs="+", metavar="DATA", help="new samples, as for cluster")
    add_data_options(parser)
    add_missing_option(parser)
    add_label_options(parser)
    add_threads_option(parser)
    add_plugin_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from ..clustering import SavedModel
    from ..data import load_views
    from ..errors import FileError

    check_outputs([arguments.output], [arguments.model, *arguments.data])
    form = checked_format(arguments)
    clusterer = loaded_clusterer(SavedModel.read(arguments.model), arguments.plugin)
    with status("reading", quiet=arguments.quiet):
        source = arguments.data[0] if len(arguments.data) == 1 else arguments.data
        data = load_views(source, **reading_options(arguments), mmap=True)
    data, renamed = _named_as(data, list(clusterer._layout))
    for note in () if arguments.quiet else [*reading_notes(data), *renamed]:
        say(f"note: {visible_line(note)}")
    with warnings.catch_warnings(record=True) as warned, threads(arguments.jobs):
        warnings.simplefilter("always")
        with FitBar(quiet=arguments.quiet) as bar:
            found = clusterer.set_params(callback=bar, missing=arguments.missing).assign(data)
    for text in dict.fromkeys(" ".join(str(each.message).split()) for each in warned):
        say(f"warning: {text}")
    try:
        write_result(arguments, data.samples, found, form)
    except FileError as error:
        if arguments.verbosity >= 2:
            raise
        say(str(error))
        return EXIT_FAILED
    return EXIT_OK


def loaded_clusterer(saved: SavedModel, plugin_files: list[str]) -> AlignedClusterer:
    """The clusterer of a model; adapter and fusion may come from the files of plug-ins."""
    from ..clustering import clusterer_of
    from ..errors import UnknownNameError
    from ..plugins import load_plugins

    if not plugin_files:
        return clusterer_of(saved)
    plugins: Registry = load_plugins(plugin_files)
    facts = saved.facts
    try:
        adapter = plugins.get(facts.adapter, **facts.adapter_params)
    except UnknownNameError:
        adapter = None
    try:
        fusion = plugins.fusion(facts.fusion)
    except UnknownNameError:
        fusion = None
    return clusterer_of(saved, adapter, fusion)


def _named_as(data: MultiViewData, names: list[str]) -> tuple[MultiViewData, list[str]]:
    """Views under the names of the fit: if none of their names is known, they are taken in the given order."""
    if set(data.names) & set(names) or len(data.names) != len(names):
        return data, []
    pairs = ", ".join(f"{new!r} as {old!r}" for new, old in zip(data.names, names, strict=True))
    return replace(data, names=names), [f"Views are taken in the given order: {pairs}."]
