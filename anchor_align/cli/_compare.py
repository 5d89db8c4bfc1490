"""``anchor-align compare`` and ``anchor-align sweep``: studies, from options to results."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import AnchorAlignError, FileError
from ._options import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK
from ._progress import Bar, doing
from ._study_options import Defaults, add_study_options, reproducing_command, study_arguments

if TYPE_CHECKING:
    from ..study import StudyResult

MOST_WARNINGS = 10

COMPARE = Defaults(data=("simulated", "digits", "breast-cancer"), anchors=(), lam=(0.1,), repeats=10)
SWEEP = Defaults(data=("digits",), anchors=("k", "2k", "5k"), lam=(0.0, 0.01, 0.1, 1.0, 10.0), repeats=10)


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the parser."""
    compare = commands.add_parser(
        "compare",
        help="unaligned, aligned and concatenated fusion of the same anchors",
        description="Cluster with three ways of fusing the same anchor graphs: unaligned (their mean as they come), "
        "aligned, and concat (side by side, which no alignment can change). Repeats are paired. Finished runs are "
        "kept: an interrupted study goes on where it stopped.",
        epilog="example: anchor-align compare lmvsc fmvacc --data my.mat --set beta=1,100 -j 2 --html report.html",
    )
    add_study_options(compare, COMPARE)
    compare.add_argument(
        "--rotated",
        action="store_true",
        help="one more arm: the aligned graphs are rotated towards each other before the mean, for adapters that "
        "cluster the fused graph spectrally",
    )
    compare.set_defaults(run=run)
    sweep = commands.add_parser(
        "sweep",
        help="how results depend on lam and the number of anchors",
        description="Run a grid of lam and numbers of anchors, and show how much the result depends on them.",
        epilog="example: anchor-align sweep lmvsc --data digits --anchors k 2k 5k --lam 0 0.1 1 10 --html sweep.html",
    )
    add_study_options(sweep, SWEEP)
    sweep.set_defaults(run=run, rotated=False)


def run(arguments: argparse.Namespace) -> int:
    """Run the study, print the result, and write what was asked for."""
    pictures = arguments.html is not None or arguments.output is not None
    _check_outputs(arguments)
    from ..study import compare

    options = study_arguments(arguments)
    cache = None if arguments.no_cache else _open_cache(arguments.cache)
    bar = Bar(quiet=arguments.quiet, tracebacks=arguments.verbosity >= 2)
    try:
        with _stdout_for_results(), bar:
            result = compare(**options, cache=cache, callback=bar, pictures=pictures)
    except KeyboardInterrupt:
        kept = "" if cache is None else "; finished runs are kept, the same command goes on from there"
        tell(f"interrupted{kept}")
        return EXIT_INTERRUPTED
    result = replace(result, kind=arguments.command, command=reproducing_command(arguments))
    _tell(result, quiet=arguments.quiet)
    if bar.not_kept:
        warn(f"finished runs are not kept: the cache {cache} cannot be written to.")
    _print_result(result, arguments.format)
    try:
        with doing("drawing", quiet=arguments.quiet or not pictures):
            _write(result, arguments)
    except FileError as error:
        tell(str(error))
        return EXIT_FAILED
    return EXIT_FAILED if result.n_failed else EXIT_OK


def warn(text: str) -> None:
    """A warning on stderr."""
    tell(f"warning: {text}")


def tell(text: str) -> None:
    """One line on stderr."""
    print(f"anchor-align: {text}", file=sys.stderr)


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be written before anything is computed."""
    from .._files import check_writable, make_folder
    from ..report import check_figures

    if arguments.html is not None or arguments.output is not None:
        check_figures()
    if arguments.html is not None:
        check_writable(arguments.html)
    if arguments.output is not None:
        make_folder(arguments.output)


def _open_cache(folder: str | None) -> str | None:
    """The folder for finished runs, or None if it cannot be used: a study can do without."""
    from ..study import Cache, default_cache

    path = folder or os.fspath(default_cache())
    try:
        Cache(path).open()
    except AnchorAlignError as error:
        if folder:
            raise
        warn(f"finished runs are not kept. {error}")
        return None
    return path


@contextmanager
def _stdout_for_results() -> Iterator[None]:
    """Send to stderr whatever adapters, the programs they start, or workers print to stdout."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # closed
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _tell(result: StudyResult, *, quiet: bool) -> None:
    """What was worked out about the data, what was warned of, and what failed, on stderr."""
    from ..plugins import one_line

    if not quiet:
        for data in result.data:
            for note in data.notes:
                tell(f"{one_line(data.name)}: {one_line(note)}")
    runs = result.runs
    warned = Counter(text for record in runs for text in record.warnings)
    for text, count in list(warned.items())[:MOST_WARNINGS]:
        warn(f"{text} ({count} runs)" if count > 1 else text)
    if len(warned) > MOST_WARNINGS:
        warn(f"{len(warned) - MOST_WARNINGS} more; --format json has all of them")
    if result.n_failed:
        reasons = Counter(record.reason for record in runs if record.reason)
        more = f" (and {len(reasons) - 1} other reasons)" if len(reasons) > 1 else ""
        tell(f"{result.n_failed} of {len(runs)} runs failed: {reasons.most_common(1)[0][0]}{more}")


def _print_result(result: StudyResult, form: str) -> None:
    from ..report import answer, encodable, render, study_table
    from ._output import print_text, result_console

    console = result_console()
    if form == "table" and console.is_terminal:
        console.print(answer(result), markup=False)
        console.print()
        console.print(study_table(result))
    elif form == "table":
        text = f"{textwrap.fill(answer(result), console.width)}\n\n{render(result, form, width=console.width)}"
        print_text(encodable(text, console.encoding))
    else:
        print_text(render(result, form))


def _write(result: StudyResult, arguments: argparse.Namespace) -> None:
    from .._files import write_whole
    from ..report import html_report, write_results

    if arguments.html is not None:
        write_whole(arguments.html, html_report(result).encode())
    if arguments.output is not None:
        write_results(result, arguments.output)
