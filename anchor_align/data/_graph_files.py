"""Anchor graphs made elsewhere: read them from files, and write what aligning them gives."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._types import Graph, is_sparse
from .._validation import check_choice
from ..errors import FileError, InputError
from ._entries import Entry, flatten, parts, reading, unwrapped
from ._labels import describe
from ._roles import GRAPH_NAMES, Views, guess_views, named_views
from ._source import file_kind, open_source, single_entry, sparse_rows

_TOLERANCE = 1e-6
_SINGLE = ("npy", "npz", "csv")


@dataclass(frozen=True, eq=False)
class GraphFiles:
    """Graphs of samples x anchors, their names, the form they came in ("npy", "npz" or "mat"), and what was guessed."""

    graphs: list[Graph]
    names: list[str]
    form: str
    notes: list[str]


def read_graphs(paths: Sequence[str], *, keys: Sequence[str] | None = None, orient: str = "rows") -> GraphFiles:
    """Read the anchor graphs of one .npz or .mat file, or of several files with one graph each.

    ``keys`` names the graphs in a file; ``orient="columns"`` is for graphs of anchors x samples.
    """
    check_choice("orient", orient, ("rows", "columns"))
    places = [Path(path) for path in paths]
    kinds = [_kind(place) for place in places]
    with ExitStack() as stack:
        if len(places) == 1 and kinds[0] in ("npz", "mat", "hdf5"):
            entries = flatten(stack.enter_context(open_source(places[0])))
            found = _choose(entries, keys, places[0])
            form = "npz" if kinds[0] == "npz" else "mat"
        else:
            found = _one_each(places, kinds, keys)
            form = "npy"
        graphs = [_samples_first(entry, orient) for entry in found.entries]
    _check_shapes(graphs, found.names, paths[0] if len(paths) == 1 else "the files")
    if orient == "rows":
        _check_rows(graphs, paths[0] if len(paths) == 1 else "the files")
    notes = list(found.notes)
    if len(graphs) == 1:
        notes.append("There is one graph, and nothing to align it with.")
    if kinds[0] == "hdf5":
        notes.append(f"{paths[0]} is MATLAB 7.3; .mat files are written in version 5, which every MATLAB reads.")
    return GraphFiles(graphs, found.names, form, notes)


def _kind(place: Path) -> str:
    with reading(place):
        if place.is_dir():
            raise InputError(f"{place} is a folder; expected .npy files, one for each view, or one .npz or .mat file.")
        kind = file_kind(place)
    if not kind:
        raise InputError(f"{place} is not a .npy, .npz or .mat file.")
    return kind


def _choose(entries: Sequence[Entry], keys: Sequence[str] | None, path: Path) -> Views:
    if keys is not None:
        return named_views(entries, keys, path, option="graphs")
    _check_cell(entries, path)
    found = guess_views(entries, set(), path, GRAPH_NAMES, option="graphs")
    if not found.in_container:
        _check_numbers(found.names, path)
    return found


def _check_cell(entries: Sequence[Entry], path: Path) -> None:
    """Name what is no graph among those of a cell: a place left empty, a text."""
    cells = [entry for entry in entries if entry.kind == "cell" and entry.short in GRAPH_NAMES]
    for cell in sorted(cells, key=lambda entry: GRAPH_NAMES.index(entry.short))[:1]:
        members = [unwrapped(member) for member in parts(unwrapped(cell))]
        wrong = [member for member in members if not member.is_matrix]
        if 0 < len(wrong) < len(members):
            raise InputError(
                f"{path}: {wrong[0].key!r} is {describe(wrong[0])}, not a graph of samples x anchors as others of "
                f"{cell.key!r} are; graphs= (--graphs) says which to take."
            )


def _check_numbers(names: Sequence[str], path: Path) -> None:
    """Refuse graphs that are numbered, Z1 and Z3, if a number between them is not there."""
    found = [re.fullmatch(r"(\D*)(\d+)(\D*)", name) for name in names]
    if len({each and (each[1], each[3]) for each in found}) != 1 or found[0] is None:
        return
    numbers = {int(each[2]) for each in found if each}
    lacking = sorted(set(range(min(1, *numbers), max(numbers))) - numbers)
    # Years and the like are not counted from one.
    if lacking and max(numbers) <= 2 * len(numbers):
        raise InputError(
            f"{path}: graphs {', '.join(map(repr, names))} are numbered, and number {lacking[0]} is not there; "
            "graphs= (--graphs) says which to take."
        )


def _one_each(places: Sequence[Path], kinds: Sequence[str], keys: Sequence[str] | None) -> Views:
    """The graphs of files that hold one each; a single array of three dimensions holds all of them."""
    wrong = [place for place, kind in zip(places, kinds, strict=True) if kind not in _SINGLE]
    if wrong:
        raise InputError(
            f"{wrong[0]} cannot be one of {len(places)} files; expected one .npz or .mat file, or a .npy file for each "
            "view."
        )
    if keys is not None:
        raise InputError(f"graphs= names variables of one .npz or .mat file; {places[0]} has none.")
    entries = [single_entry(place, kind, str(place), mmap=True) for place, kind in zip(places, kinds, strict=True)]
    found = named_views(entries, [entry.key for entry in entries], "the files", option="graphs")
    return Views(found.entries, found.names, [note for entry in entries for note in entry.notes])


def _samples_first(entry: Entry, orient: str) -> Graph:
    Z = entry.read()
    entry.drop()
    Z = Z.T if orient == "columns" else Z
    return sparse_rows(Z, entry.key) if is_sparse(Z) else Z


def _check_shapes(graphs: Sequence[Graph], names: Sequence[str], path: object) -> None:
    first = graphs[0]
    for name, Z in zip(names, graphs, strict=True):
        if Z.ndim != 2:
            raise InputError(f"{path}: graph {name!r} has shape {Z.shape}; expected samples x anchors.")
        if Z.shape[0] != first.shape[0]:
            sizes = [" x ".join(map(str, each)) for each in (first.shape, Z.shape)]
            turned = " One of them looks transposed." if first.shape[0] == Z.shape[1] else ""
            raise InputError(
                f"{path}: graph {names[0]!r} is {sizes[0]} (samples x anchors) and {name!r} is {sizes[1]}; all must "
                f"have the same samples.{turned}"
            )


def _check_rows(graphs: Sequence[Graph], path: object) -> None:
    """Refuse graphs that are plainly anchors x samples: columns that sum to one, and rows that do not."""

    def ones(axis: int) -> bool:
        sums = [np.ravel(Z.sum(axis=axis, dtype=np.float64)) for Z in graphs]
        return all(np.allclose(each, 1.0, atol=_TOLERANCE, rtol=0) for each in sums)

    with np.errstate(all="ignore"):
        if ones(0) and not ones(1):
            n, m = graphs[0].shape
            raise InputError(
                f"{path}: graphs are {n} x {m} and their columns sum to one, not their rows: they look like anchors x "
                "samples; orient='columns' (--orient columns) takes them so."
            )


@dataclass(frozen=True, eq=False)
class Alignment:
    """What aligning graphs gives: ``Z_v[:, permutations[v]]`` is aligned, but for columns without an anchor (-1).

    ``matrices`` are there where they were asked for, or say more than the permutations; ``shared``, the samples that
    each pair of views shares, where views lack samples; ``weights`` where they were asked for; ``sizes`` are the
    numbers of anchors.
    """

    names: list[str]
    permutations: Any
    fused: Graph
    feature: Any
    structure: Any
    objective: Any
    upper_bound: Any
    gap: Any
    margins: Any
    reference: int | None
    matrices: Any = None
    shared: Any = None
    weights: Any = None
    sizes: Sequence[int] = ()

    @property
    def anchors_share(self) -> bool:
        """Whether some column holds several anchors of a view: the permutations name one of them only."""
        return self.matrices is not None and any((P.sum(axis=0) > 1).any() for P in self.matrices)

    def numbers(self) -> dict[str, Any]:
        """Everything about the match but the permutations and graphs."""
        return {k: getattr(self, k) for k in ("feature", "structure", "objective", "upper_bound", "gap", "margins")}


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to the same file."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def not_an_input(out: Path, graphs: Sequence[str], mask: str | None = None) -> None:
    """Refuse to write over what was read."""
    if mask is not None and same_file(out, mask):
        raise FileError(f"Cannot write {out}: it is the mask.")
    for path in graphs:
        if same_file(out, path):
            raise FileError(f"Cannot write {out}: it is one of the graphs to align.")
