"""A result as a folder of files: all formats, the clusters that were found, and every figure."""

from __future__ import annotations

import csv
import io
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..data import make_folder, write_whole
from ..study import BASELINE, DataInfo, Showcase, StudyResult, average_ranks
from ._difference_figure import plot_differences
from ._figure_style import check_figures, figure_bytes
from ._formats import FIGURE_FORMATS, FILE_FORMATS
from ._formatting import params_text, setting_text
from ._graph_figure import plot_graphs
from ._match_figures import plot_objective, plot_permutations
from ._outcomes import comparisons
from ._rank_figure import plot_ranks
from ._render import no_formula, render
from ._sweep_figure import has_sweep, plot_sensitivity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST_NAME = 60


def write_results(result: StudyResult, folder: str | os.PathLike[str]) -> list[Path]:
    """Write a result into a folder: all formats, the clusters that were found, and every figure.

    Parameters
    ----------
    result : StudyResult
    folder : path
        Made if it is not there. Files of the same name are replaced.

    Returns
    -------
    list of Path
        What was written; every file is complete.

    Raises
    ------
    FileError
        If a file cannot be written.
    MissingExtraError
        If matplotlib is not installed.
    """
    place = make_folder(folder)
    texts = {place / name: render(result, format) for name, format in FILE_FORMATS.items()}
    taken: set[str] = set()
    for data in result.data:
        texts[place / f"{_free_name(f'{data.name}-clusters', taken)}.csv"] = _clusters_csv(result, data)
    for path, text in texts.items():
        write_whole(path, text.encode())
    return [*texts, *write_figures(result, place / "figures")]


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
        Runs whose graphs, permutations and objectives are drawn; by default those of the result.

    Returns
    -------
    list of Path
        What was written; every file is complete.

    Raises
    ------
    FileError
        If a file cannot be written.
    MissingExtraError
        If matplotlib is not installed.
    """
    check_figures()
    place = make_folder(folder)
    written, taken = [], set[str]()
    for name, figure in _figures(result, result.showcases if showcases is None else showcases):
        stem = _free_name(name, taken)
        for format in FIGURE_FORMATS:
            path = place / f"{stem}.{format}"
            write_whole(path, figure_bytes(figure, format))
            written.append(path)
    return written


def _figures(result: StudyResult, showcases: Sequence[Showcase]) -> Iterator[tuple[str, Figure]]:
    """Names and figures, one at a time: they are large."""
    for at, arms in enumerate(result.versus):
        if any(row.difference for row in comparisons(result, arms=arms)):
            name = f"differences-{'-'.join(arms)}" if at else "differences"
            yield name, plot_differences(result, versus=arms)
    for footing in dict.fromkeys(row.footing for row in result.against):
        if average_ranks(result.against, result.score, footing) is not None:
            yield f"ranks-{footing}", plot_ranks(result, footing=footing)
    if has_sweep(result):
        yield "sensitivity", plot_sensitivity(result)
    for case in showcases:
        name = f"{case.setting.dataset}-{case.setting.adapter}"
        yield f"{name}-graphs", plot_graphs(case.clusterer, case.labels, scores=case.accuracy)
        yield f"{name}-permutations", plot_permutations(case.clusterer)
        yield f"{name}-objective", plot_objective(case.clusterer)


def _clusters_csv(result: StudyResult, data: DataInfo) -> str:
    """Clusters of a data set's samples, one row for each sample and one column for each run that finished."""
    heads, columns = ["sample"], []
    for record in result.all_records:
        if record.setting.dataset == data.name and record.labels is not None:
            where = setting_text(record.setting) if record.arm != BASELINE else params_text(record.setting.params)
            head = f"{record.setting.adapter} {where} {record.arm} {record.repeat}"
            heads.append(no_formula(head))
            columns.append(record.labels.tolist())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(zip(range(data.n_samples), *columns, strict=True))
    return text.getvalue()


def _free_name(name: str, taken: set[str]) -> str:
    """A name that every file system allows and that is not taken, not even in other case. It is added to ``taken``.

    Examples
    --------
    >>> _free_name("../my data<1>-graphs", set()), _free_name("a/b", {"a-b"})
    ('my-data-1-graphs', 'a-b-2')
    """
    plain = unicodedata.normalize("NFKD", name)
    clean = re.sub(r"[^A-Za-z0-9.+]+", "-", plain).strip("-.") or "figure"
    if len(clean) > LONGEST_NAME:
        # The kind of figure is at the end.
        clean = f"{clean[:28]}-{clean[-(LONGEST_NAME - 29) :]}"
    stem, number = clean, 1
    while stem.lower() in taken:  # ends: every round tries another name
        number += 1
        stem = f"{clean}-{number}"
    taken.add(stem.lower())
    return stem
