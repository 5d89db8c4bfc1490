"""``anchor-align compare`` and ``anchor-align sweep``: run a study, print and write its result."""

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

from ..errors import AnchorAlignError, FileError, visible
from ..study import DEFAULT_DATA
from ._options import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK
from ._study_options import Defaults, add_study_options, command_for_own_data, reproducing_command, study_arguments
from ._terminal import ProgressBar, print_text, result_console, say, status, visible_line

if TYPE_CHECKING:
    from ..study import StudyResult

MOST_WARNINGS = 10

# The first command shows the paper's setting: one anchor for each cluster.
COMPARE = Defaults(data=DEFAULT_DATA, anchors=(), lam=(0.1,), first_anchors=("k",))
SWEEP = Defaults(data=("digits",), anchors=("k", "2k", "5k"), lam=(0.0, 0.01, 0.1, 1.0, 10.0))


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the parser."""
    compare = commands.add_parser(
        "compare",
        help="compare unaligned, aligned and concatenated fusion of the same anchor graphs",
        description="Cluster with three ways of fusing the same anchor graphs: unaligned (the mean of the graphs as "
        "they come), aligned (the mean of the aligned graphs), and concat (the graphs side by side, which no alignment "
        "can change). Repeats are paired. Finished runs are kept: an interrupted study continues where it stopped.",
        epilog="example: anchor-align compare lmvsc fmvacc --data my.mat --set beta=1,100 -j 2 --html report.html",
    )
    add_study_options(compare, COMPARE)
    compare.add_argument(
        "--fusion",
        nargs="+",
        action="extend",
        metavar="NAME",
        default=[],
        help="add an arm for each fusion: rotated (the aligned graphs are rotated towards each other before the mean; "
        "for adapters that cluster spectrally), or the fusion of a plug-in; `anchor-align adapters` lists them",
    )
    compare.add_argument(
        "--against",
        nargs="+",
        action="extend",
        metavar="NAME",
        default=[],
        help="rivals on the same data and seeds: baselines, adapters, or arms such as lmvsc:concat; the first ADAPTER "
        "with aligned fusion is compared with each, and with the other adapters",
    )
    compare.add_argument(
        "--rotated", action="append_const", const="rotated", dest="fusion", help="the same as --fusion rotated"
    )
    compare.set_defaults(run=run)
    sweep = commands.add_parser(
        "sweep",
        help="show how results depend on lam and the number of anchors",
        description="Run all combinations of lam and numbers of anchors, and show how the result depends on them.",
        epilog="example: anchor-align sweep lmvsc --data digits --anchors k 2k 5k --lam 0 0.1 1 10 --html sweep.html",
    )
    add_study_options(sweep, SWEEP)
    sweep.set_defaults(run=run, fusion=[], against=[])


def run(arguments: argparse.Namespace) -> int:
    from ..data import check_writable, make_folder, write_whole
    from ..report import check_figures, html_report, write_results
    from ..study import compare

    # An output that cannot be written is refused before anything is computed.
    pictures = arguments.html is not None or arguments.output is not None
    if pictures:
        check_figures()
    if arguments.html is not None:
        check_writable(arguments.html)
    if arguments.output is not None:
        make_folder(arguments.output)

    options = study_arguments(arguments)
    cache = None if arguments.no_cache else _open_cache(arguments.cache)
    bar = ProgressBar(quiet=arguments.quiet, tracebacks=arguments.verbosity >= 2)
    try:
        with _stdout_for_results(), bar:
            result = compare(**options, cache=cache, callback=bar, pictures=pictures)
    except KeyboardInterrupt:
        say("interrupted" if cache is None else "interrupted; the same command continues from the runs that are kept")
        return EXIT_INTERRUPTED
    result = replace(result, kind=arguments.command, command=reproducing_command(arguments))
    _report_notes(result, arguments.format, quiet=arguments.quiet)
    if bar.not_kept:
        say(f"warning: finished runs are not kept: the cache {cache} cannot be written to.")
    _print_result(result, arguments.format)
    if arguments.data is None and arguments.format == "table" and not arguments.quiet:
        say(f"next, your own data: {command_for_own_data(arguments)}")
    try:
        with status("drawing", quiet=arguments.quiet or not pictures):
            if arguments.html is not None:
                write_whole(arguments.html, html_report(result).encode())
            if arguments.output is not None:
                write_results(result, arguments.output)
    except FileError as error:
        say(str(error))
        return EXIT_FAILED
    return EXIT_FAILED if result.n_failed else EXIT_OK


def _open_cache(folder: str | None) -> str | None:
    """The folder for finished runs; None if the default folder cannot be used: a study works without it."""
    from ..study import Cache, default_cache

    path = os.fspath(default_cache()) if folder is None else folder
    try:
        Cache(path).open()
    except AnchorAlignError as error:
        if folder is not None:
            raise
        say(f"warning: finished runs are not kept. {error}")
        return None
    return path


@contextmanager
def _stdout_for_results() -> Iterator[None]:
    """Send to stderr what adapters, programs that they start, and other processes print to stdout."""
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


def _report_notes(result: StudyResult, form: str, *, quiet: bool) -> None:
    """Print notes of the loader, warnings and failures on stderr."""
    if not quiet:
        for data in result.data:
            for note in data.notes:
                say(f"{visible_line(data.name)}: {visible_line(note)}")
    runs = result.runs
    warned = Counter(text for record in runs for text in record.warnings)
    for text, count in list(warned.items())[:MOST_WARNINGS]:
        say(f"warning: {text} ({count} runs)" if count > 1 else f"warning: {text}")
    if len(warned) > MOST_WARNINGS:
        say(f"warning: {len(warned) - MOST_WARNINGS} more; --format json has all of them")
    if result.n_failed:
        reasons = Counter(record.reason for record in runs if record.reason)
        more = f" (and {len(reasons) - 1} other reasons)" if len(reasons) > 1 else ""
        why = "the table says why" if form == "table" else f"{reasons.most_common(1)[0][0]}{more}"
        say(f"{result.n_failed} of {len(runs)} runs failed: {why}")


def _print_result(result: StudyResult, form: str) -> None:
    from ..report import answer, encodable, render, study_table

    console = result_console()
    if form == "table" and console.is_terminal:
        console.print(visible(answer(result)), markup=False)
        console.print()
        console.print(study_table(result))
    elif form == "table":
        text = f"{textwrap.fill(visible(answer(result)), console.width)}\n\n{render(result, form, width=console.width)}"
        print_text(encodable(text, console.encoding))
    else:
        print_text(render(result, form))
