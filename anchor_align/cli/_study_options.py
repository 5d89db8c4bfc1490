"""Options of ``compare`` and ``sweep``, the arguments of the study they stand for, and the command that repeats it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..report import FORMATS
from ..study import DEFAULT_VERSUS, FOOTINGS, SCORES
from ._options import (
    add_data_options,
    add_format_option,
    add_missing_option,
    add_plugin_option,
    add_view_options,
    number,
    reading_options,
    reading_words,
    whole_number,
)

REPEATS = 10


@dataclass(frozen=True)
class Defaults:
    """Values of a command where the user gives none; without ``anchors`` the adapter suggests their number.

    ``first_anchors`` are the numbers of anchors for a command without data and rivals.
    """

    data: tuple[str, ...]
    anchors: tuple[str, ...]
    lam: tuple[float, ...]
    first_anchors: tuple[str, ...] = ()

    def anchors_of(self, arguments: argparse.Namespace) -> list[str]:
        """The numbers of anchors that were given, or the default.

        Methods that are compared with others have their own numbers: one anchor for each cluster would be unfair.
        """
        is_first = not arguments.data and not getattr(arguments, "against", None)
        return list(arguments.anchors or (is_first and self.first_anchors) or self.anchors)


def add_study_options(parser: argparse.ArgumentParser, defaults: Defaults) -> None:
    """Options that ``compare`` and ``sweep`` share; the defaults differ."""
    parser.add_argument("adapters", nargs="+", metavar="ADAPTER", help="methods, as `anchor-align adapters` lists them")
    _add_data(parser.add_argument_group("data"), defaults)
    _add_grid(parser.add_argument_group("settings; several values of an option are combined with all others"), defaults)
    _add_result(parser.add_argument_group("result"))
    _add_work(parser.add_argument_group("work"))
    parser.set_defaults(defaults=defaults)


def _add_data(group: argparse._ArgumentGroup, defaults: Defaults) -> None:
    group.add_argument(
        "--data",
        nargs="+",
        action="extend",
        metavar="SPEC",
        help="files (.mat, .npz, .h5ad, .h5mu), folders of .npy, .csv, .parquet or .feather files, or bundled sets, as "
        f"`anchor-align datasets` lists them [{' '.join(defaults.data)}]",
    )
    add_data_options(group)
    group.add_argument("--clusters", type=whole_number(1), metavar="K", help="number of clusters [from the labels]")
    add_missing_option(group)
    group.add_argument(
        "--drop",
        type=number(float, lambda rate: 0 <= rate < 1, "a number >= 0 and < 1"),
        default=0.0,
        metavar="RATE",
        help="simulate missing samples: in every repeat each view loses each sample with this probability, from 0 to "
        "less than 1; every sample stays in at least one view, and all arms miss the same samples [0]",
    )


def _add_grid(group: argparse._ArgumentGroup, defaults: Defaults) -> None:
    group.add_argument(
        "--anchors",
        nargs="+",
        action="extend",
        type=_anchors,
        metavar="M",
        help="numbers of anchors, such as 20 or 2k (two for each cluster); with commas, as in 10,20,2k, one for each "
        f"view [{_default_anchors(defaults)}]",
    )
    group.add_argument(
        "--lam",
        nargs="+",
        action="extend",
        type=_lams,
        metavar="L",
        help=f"weights of the structure term, from 0 to inf [{' '.join(f'{each:g}' for each in defaults.lam)}]",
    )
    group.add_argument(
        "--set",
        nargs="+",
        action="extend",
        type=setting_values,
        default=[],
        dest="params",
        metavar="KEY=VALUE",
        help="settings of adapters and rivals: beta=1,100 for all that have it, fmvacc.beta=1,100 for one",
    )
    group.add_argument(
        "--reference", default="consensus", metavar="R", help="index or name of a view, auto or consensus [consensus]"
    )
    add_view_options(group, "the mean")
    group.add_argument(
        "--repeats",
        type=whole_number(1),
        default=REPEATS,
        metavar="N",
        help=f"number of draws of anchors, the same draws for all arms [{REPEATS}]",
    )
    group.add_argument("--seed", type=whole_number(0), default=0, metavar="S", help="seed of all draws [0]")


def _default_anchors(defaults: Defaults) -> str:
    usual = " ".join(defaults.anchors) or "the adapter suggests it"
    return (
        f"{usual}; without --data and --against: {' '.join(defaults.first_anchors)}"
        if defaults.first_anchors
        else usual
    )


def _add_result(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--score",
        choices=SCORES,
        nargs="+",
        action="extend",
        help="scores that tables show; the first is also that of the figures [acc]",
    )
    group.add_argument(
        "--versus",
        nargs="+",
        action="extend",
        metavar="ARM:ARM",
        help="pairs of arms to compare: aligned:concat is aligned - concat; rotated:aligned adds the arm rotated; the "
        "first pair is that of the figures [aligned:unaligned]",
    )
    group.add_argument(
        "--footing",
        choices=[*FOOTINGS, "both", "all"],
        action="append",
        help="fixed: every setting is a row; agreement: the setting of each arm that the views agree on, no labels "
        "used, with the first setting and the best one beside it; best: the best setting of each arm, chosen by the "
        "labels, as in much of the literature; both: fixed and best; all: all three [fixed]",
    )
    add_format_option(group, "result", FORMATS)
    group.add_argument("--html", metavar="FILE", help="write a report with figures into one HTML file")
    group.add_argument(
        "--output", metavar="DIR", help="write results, clusters and figures (PNG, SVG, PDF) into this folder"
    )


def _add_work(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-j",
        type=whole_number(1),
        default=1,
        dest="jobs",
        metavar="N",
        help="number of processes; it does not change the result [1]",
    )
    group.add_argument(
        "--timeout",
        type=number(float, lambda seconds: 0 < seconds < float("inf"), "a number > 0"),
        metavar="SECONDS",
        help="time limit of each run; a run that takes longer is ended, and its row says so [no limit]",
    )
    group.add_argument("-q", action="store_true", dest="quiet", help="no progress and no notes")
    group.add_argument(
        "--cache", metavar="DIR", help="folder for finished runs [$ANCHOR_ALIGN_CACHE, or the user's cache folder]"
    )
    group.add_argument("--no-cache", action="store_true", help="compute everything and keep nothing")
    add_plugin_option(group)


def study_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """Arguments of :func:`anchor_align.study.compare`."""
    from ..study import DataSpec

    defaults: Defaults = arguments.defaults
    reading = reading_options(arguments)
    specs = [
        DataSpec(
            source,
            n_clusters=arguments.clusters,
            **reading | {"views": None if arguments.views is None else tuple(arguments.views)},
        )
        for source in arguments.data or defaults.data
    ]
    same = (
        "adapters",
        "against",
        "weights",
        "many_to_one",
        "missing",
        "drop",
        "repeats",
        "seed",
        "jobs",
        "timeout",
    )
    return {
        **{name: getattr(arguments, name) for name in same},
        "data": specs,
        "n_anchors": defaults.anchors_of(arguments) or None,
        "lam": _flat(arguments.lam) or list(defaults.lam),
        "params": _merged(arguments.params),
        "reference": int(arguments.reference) if arguments.reference.isdecimal() else arguments.reference,
        "fusions": list(dict.fromkeys(arguments.fusion)),
        "score": arguments.score or ["acc"],
        "versus": arguments.versus or [":".join(DEFAULT_VERSUS)],
        "footings": _footings(arguments),
        "plugins": arguments.plugin,
    }


def reproducing_command(arguments: argparse.Namespace) -> str:
    """The command with all options that determine the result, and no others."""
    defaults: Defaults = arguments.defaults
    words = ["anchor-align", arguments.command, *arguments.adapters]
    words += ["--against", *arguments.against] if arguments.against else []
    words += ["--data", *(arguments.data or defaults.data)]
    words += reading_words(arguments)
    words += ["--clusters", str(arguments.clusters)] if arguments.clusters else []
    words += ["--missing", arguments.missing] if arguments.missing != "error" else []
    words += ["--drop", repr(arguments.drop)] if arguments.drop else []
    anchors = defaults.anchors_of(arguments)
    words += ["--anchors", *anchors] if anchors else []
    words += ["--lam", *map(_number_text, _flat(arguments.lam) or defaults.lam)]
    for name, values in _merged(arguments.params).items():
        words += ["--set", f"{name}={','.join(map(str, values))}"]
    words += ["--reference", arguments.reference] if arguments.reference != "consensus" else []
    if arguments.weights is not None:
        given = arguments.weights
        words += ["--weights", given if isinstance(given, str) else ",".join(map(_number_text, given))]
    words += ["--many-to-one"] if arguments.many_to_one else []
    words += ["--fusion", *dict.fromkeys(arguments.fusion)] if arguments.fusion else []
    words += ["--repeats", str(arguments.repeats), "--seed", str(arguments.seed)]
    words += ["--score", *arguments.score] if arguments.score not in (None, ["acc"]) else []
    words += ["--versus", *arguments.versus] if arguments.versus not in (None, [":".join(DEFAULT_VERSUS)]) else []
    for footing in arguments.footing or ():
        words += ["--footing", footing] if arguments.footing != ["fixed"] else []
    for path in arguments.plugin:
        words += ["--plugin", path]
    return shlex.join(words)


def command_for_own_data(arguments: argparse.Namespace) -> str:
    """The command with the same methods and arms, for data that the user has."""
    words = ["anchor-align", arguments.command, *arguments.adapters]
    words += ["--against", *arguments.against] if arguments.against else []
    words += ["--fusion", *dict.fromkeys(arguments.fusion)] if arguments.fusion else []
    for path in arguments.plugin:
        words += ["--plugin", path]
    return shlex.join([*words, "--data", "my.mat", "--html", "report.html"])


def _footings(arguments: argparse.Namespace) -> tuple[str, ...]:
    """All footings that were asked for, each once, in the order of reports."""
    several = {"both": ("fixed", "best"), "all": FOOTINGS}
    asked = {each for name in arguments.footing or ("fixed",) for each in several.get(name, (name,))}
    return tuple(each for each in FOOTINGS if each in asked)


def _number_text(value: float) -> str:
    return repr(value).removesuffix(".0")


def _merged(params: Sequence[tuple[str, tuple[object, ...]]]) -> dict[str, tuple[object, ...]]:
    """All values of each setting, also of a setting that is given several times."""
    merged: dict[str, tuple[object, ...]] = {}
    for name, values in params:
        merged[name] = (*merged.get(name, ()), *values)
    return merged


def _flat(values: Sequence[Sequence[float]] | None) -> list[float]:
    return [each for part in values or () for each in part]


def _anchors(text: str) -> str:
    """A number of anchors, or one for each view; the study checks the numbers."""
    if not all(text.split(",")):
        raise argparse.ArgumentTypeError(f"expected a number, or numbers separated by commas, got {text!r}")
    return text


def _lams(text: str) -> list[float]:
    lam = number(float, lambda value: value >= 0, "a number >= 0 or inf")
    return [lam(part) for part in text.split(",")]


def add_adapter_options(parser: argparse.ArgumentParser) -> None:
    """The adapter of one fit, its settings and its number of anchors."""
    parser.add_argument("--adapter", default="local", metavar="NAME", help="method that makes the graphs [local]")
    parser.add_argument(
        "--set", nargs="+", action="extend", type=setting_values, default=[], dest="params", metavar="KEY=VALUE",
        help="settings of the adapter",
    )  # fmt: skip
    parser.add_argument("--anchors", metavar="M", help="number of anchors, such as 50 or 2k [the adapter suggests it]")


def setting_values(text: str) -> tuple[str, tuple[object, ...]]:
    name, equals, values = text.partition("=")
    if not name or not equals or not values:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE or KEY=VALUE,VALUE,..., got {text!r}")
    return name, tuple(_literal(part) for part in values.split(","))


def _literal(text: str) -> object:
    """A number, true, false or none if the text is one of these; else the text."""
    words: dict[str, object] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
