"""A result as a folder: numbers, tables, clusters and figures."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from .._files import make_folder, write_whole
from ..study import DataInfo, Record, StudyResult
from ._figure_files import free_name, write_figures
from ._formats import render
from ._text import setting_text

FILES = {"results.json": "json", "records.csv": "csv", "summary.md": "md", "summary.tex": "latex"}


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
        What was written; every file is there in full.

    Raises
    ------
    FileError
        If a file cannot be written.
    MissingExtraError
        If matplotlib is not installed.
    """
    place = make_folder(folder)
    written = []
    for name, form in FILES.items():
        write_whole(place / name, render(result, form).encode())
        written.append(place / name)
    taken: set[str] = set()
    for data in result.data:
        stem = free_name(f"{data.name}-clusters", taken)
        write_whole(place / f"{stem}.csv", clusters_csv(result, data).encode())
        written.append(place / f"{stem}.csv")
    return [*written, *write_figures(result, place / "figures")]


def clusters_csv(result: StudyResult, data: DataInfo) -> str:
    """Clusters of a data set's samples, one row for each sample and one column for each run that finished."""
    found = [each for each in result.records if each.setting.dataset == data.name and each.labels is not None]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["sample", *map(_heading, found)])
    columns = [record.labels.tolist() for record in found if record.labels is not None]
    writer.writerows(zip(range(data.n_samples), *columns, strict=True))
    return text.getvalue()


def _heading(record: Record) -> str:
    return f"{record.setting.adapter} {setting_text(record.setting)} {record.arm} {record.repeat}"
