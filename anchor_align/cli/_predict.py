"""``anchor-align predict``: labels of new samples from a saved model."""

from __future__ import annotations

import argparse
import warnings
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
        "with other names are taken in the given order. Without --orient, samples are rows or columns, whichever fits "
        "the model. The output is that of cluster.",
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
    from ..errors import FileError

    check_outputs([arguments.output], [arguments.model, *arguments.data])
    form = checked_format(arguments)
    clusterer = loaded_clusterer(SavedModel.read(arguments.model), arguments.plugin)
    with status("reading", quiet=arguments.quiet):
        source = arguments.data[0] if len(arguments.data) == 1 else arguments.data
        data, own_notes = _fitting(source, reading_options(arguments), clusterer)
    for note in () if arguments.quiet else [*reading_notes(data), *own_notes]:
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


def _fitting(source: Any, options: dict[str, Any], model: AlignedClusterer) -> tuple[MultiViewData, list[str]]:
    """The data, and notes. If nobody said on which side the samples are, it is the side that fits the model."""
    from ..data import load_views
    from ..errors import InputError

    def loaded(orient: str) -> tuple[MultiViewData, list[str]]:
        return _named_as(load_views(source, **{**options, "orient": orient}, mmap=True), list(model._layout))

    if options["orient"] == "auto":
        with suppress(InputError):
            if _fits((found := loaded("auto"))[0], model):
                return found
        fitting = []
        for orient in ("rows", "columns"):
            with suppress(InputError):
                data, notes = loaded(orient)
                fitting += [(data, [*notes, f"Samples are {orient}: this fits the model."])] * _fits(data, model)
        if len(fitting) == 1:
            return fitting[0]
    return loaded(options["orient"])


def _fits(data: MultiViewData, model: AlignedClusterer) -> bool:
    """Whether the views have the names and features of the fit."""
    columns = data.columns or (None,) * len(data.views)
    given = {name: (X.shape[1], own) for name, X, own in zip(data.names, data.views, columns, strict=True)}
    return set(given) == set(model._layout) and all(
        given[name][0] == each.n_features and (None in (given[name][1], each.columns) or given[name][1] == each.columns)
        for name, each in model._layout.items()
    )


def _named_as(data: MultiViewData, names: list[str]) -> tuple[MultiViewData, list[str]]:
    """Views under the names of the fit: if none of their names is known, they are taken in the given order."""
    if set(data.names) & set(names) or len(data.names) != len(names):
        return data, []
    pairs = ", ".join(f"{new!r} as {old!r}" for new, old in zip(data.names, names, strict=True))
    return replace(data, names=names), [f"Views are taken in the given order: {pairs}."]
