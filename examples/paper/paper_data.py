"""Data sets from the command line: bundled sets by name, files, and folders of files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paper_numbers import recognise

from anchor_align import load_views
from anchor_align.errors import AnchorAlignError, InputError

FILES = (".mat", ".npz")
HELP = "bundled sets, files, or folders of .mat and .npz files"


@dataclass(frozen=True)
class Found:
    """A labelled data set: where it is, its size, and the name it has in the literature, if it is known there."""

    name: str
    source: str
    n_samples: int
    n_clusters: int
    widths: tuple[int, ...]
    known_as: str | None


def find_data(sources: Sequence[str], max_samples: int) -> list[Found]:
    """All data sets of the command line.

    Parameters
    ----------
    sources : sequence of str
        What a folder holds is left out, and named on stderr, where it is too large, has no labels or cannot be read.
    max_samples : int
        Limit for files that are not given by name.

    Raises
    ------
    AnchorAlignError
        If a set that is given by name cannot be used, or there is none at all.
    """
    found: list[Found] = []
    for source, named in _expanded(sources):
        try:
            each = _look_at(source)
        except AnchorAlignError as error:
            if named:
                raise
            _left_out(source, str(error))
            continue
        if each.n_samples > max_samples and not named:
            _left_out(source, f"{each.n_samples} samples, more than --max-samples {max_samples}")
        elif source in (other.source for other in found):
            _left_out(source, "given twice")
        elif each.name in (other.name for other in found):
            found.append(replace(each, name=source))
        else:
            found.append(each)
    if not found:
        raise InputError("There are no data sets to run on.")
    return found


def _expanded(sources: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Sources, and whether the user named them; a folder that cannot be read as one data set holds several."""
    for source in sources:
        path = Path(source)
        inside = sorted(each for each in path.iterdir() if each.suffix.lower() in FILES) if path.is_dir() else []
        yield from ((str(each), False) for each in inside) if inside and not _is_one_set(source) else [(source, True)]


def _is_one_set(folder: str) -> bool:
    try:
        load_views(folder)
    except AnchorAlignError:
        return False
    return True


def _look_at(source: str) -> Found:
    data = load_views(source)
    if data.n_clusters is None:
        raise InputError(f"{source} has no labels to score by.")
    widths = tuple(int(X.shape[1]) for X in data.views)
    known_as = recognise(data.n_samples, data.n_clusters, widths)
    return Found(known_as or Path(source).stem, source, data.n_samples, data.n_clusters, widths, known_as)


def _left_out(source: str, reason: str) -> None:
    print(f"{source} is left out: {reason}", file=sys.stderr)
