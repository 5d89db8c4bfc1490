"""All figures of a result as files."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .._files import make_folder, write_whole
from ..study import Showcase, StudyResult
from ._difference_figure import plot_differences
from ._graph_figure import plot_graphs
from ._match_figures import plot_objective, plot_permutations
from ._rows import read_rows
from ._sensitivity_figure import has_sweep, plot_sensitivity
from ._style import FORMATS, check_figures, figure_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST_NAME = 60


def write_figures(
    result: StudyResult, folder: str | os.PathLike[str], showcases: Sequence[Showcase] | None = None
) -> list[Path]:
    """Write every figure of a result as PNG (300 dpi), SVG and PDF.

    Parameters
    ----------
    result : StudyResult
    folder : path
        Made if it is not there. Files of the same name are replaced.
    showcases : sequence of Showcase, optional
        Runs to show graphs, permutations and objectives of; by default those of the result.

    Returns
    -------
    list of Path
        What was written; every file is there in full.

    Raises
    ------
    FileError
        If a file cannot be written.
    MissingExtraError
        If matplotlib is not installed.
    """
    check_figures()
    place = make_folder(folder)
    shown = result.showcases if showcases is None else showcases
    written, taken = [], set[str]()
    for name, figure in _figures(result, shown):
        stem = free_name(name, taken)
        for format in FORMATS:
            path = place / f"{stem}.{format}"
            write_whole(path, figure_bytes(figure, format))
            written.append(path)
    return written


def _figures(result: StudyResult, showcases: Sequence[Showcase]) -> Iterator[tuple[str, Figure]]:
    """Names and figures, one at a time: they are large."""
    if any(row.difference for row in read_rows(result)):
        yield "differences", plot_differences(result)
    if has_sweep(result):
        yield "sensitivity", plot_sensitivity(result)
    for case in showcases:
        name = f"{case.setting.dataset}-{case.setting.adapter}"
        yield f"{name}-graphs", plot_graphs(case.clusterer, case.labels, scores=case.accuracy)
        yield f"{name}-permutations", plot_permutations(case.clusterer)
        yield f"{name}-objective", plot_objective(case.clusterer)


def free_name(name: str, taken: set[str]) -> str:
    """A name that every file system takes, and that no other file has, not even in other case; it is then taken.

    Examples
    --------
    >>> free_name("../my data<1>-graphs", set()), free_name("a/b", {"a-b"})
    ('my-data-1-graphs', 'a-b-2')
    """
    plain = unicodedata.normalize("NFKD", name)
    clean = re.sub(r"[^A-Za-z0-9.+]+", "-", plain).strip("-.") or "figure"
    if len(clean) > LONGEST_NAME:
        # The kind of figure is at the end.
        clean = f"{clean[:28]}-{clean[-(LONGEST_NAME - 29) :]}"
    stem, number = clean, 1
    while stem.lower() in taken:
        number += 1
        stem = f"{clean}-{number}"
    taken.add(stem.lower())
    return stem
