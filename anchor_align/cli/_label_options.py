"""Options that ``cluster`` and ``predict`` share, and the labels that both write."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..report import LABEL_FORMATS
from ._options import whole_number
from ._terminal import print_text

if TYPE_CHECKING:
    from ..clustering import Assignment
    from ..data import MultiViewData


def add_label_options(parser: argparse._ActionsContainer) -> None:
    """``-o``, ``--format`` and ``-q``."""
    parser.add_argument("-o", "--output", metavar="LABELS", help="write the labels into this file [stdout]")
    parser.add_argument(
        "--format",
        choices=LABEL_FORMATS,
        help="form of the labels: csv, parquet (extra parquet), json, or npy, an array of records [the ending of "
        "LABELS, or csv]",
    )
    parser.add_argument("-q", action="store_true", dest="quiet", help="no progress and no notes")


def add_threads_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "-j",
        "--jobs",
        type=whole_number(1),
        dest="jobs",
        metavar="N",
        help="number of threads; it does not change the result [all cores, or OMP_NUM_THREADS]",
    )


def checked_format(arguments: argparse.Namespace) -> str:
    """The form of the labels; a form that cannot be written is refused before anything is computed."""
    from ..report import label_format

    return label_format(arguments.output, arguments.format)


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str]) -> None:
    """Refuse files that cannot be written, that are named twice, or that would replace the data."""
    from ..data import check_writable
    from ..errors import InputError

    named = [output for output in outputs if output is not None]
    places = [os.path.realpath(output) for output in named]
    sources = {os.path.realpath(each) for each in inputs}
    for output, place in zip(named, places, strict=True):
        if place in sources:
            raise InputError(f"{output!r} is read and would be replaced; write to another file.")
        if places.count(place) > 1:
            raise InputError(f"{output!r} is named for two results; give each its own file.")
        check_writable(output)


def reading_notes(data: MultiViewData) -> list[str]:
    """What the loader decided; that there are no labels is no news here."""
    return [str(note) for note in data.notes if data.labels is not None or note.kind != "labels"]


@contextmanager
def threads(jobs: int | None) -> Iterator[None]:
    """Use at most so many threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=jobs):
        yield


def write_result(arguments: argparse.Namespace, samples: Sequence[Any] | None, found: Assignment, form: str) -> None:
    """Write the labels into the file, or to stdout."""
    from ..report import LabelTable, label_lines, write_labels

    table = LabelTable(samples, found)
    if arguments.output is not None:
        write_labels(arguments.output, table, form)
        return
    for text in label_lines(table, form):
        print_text(text)
