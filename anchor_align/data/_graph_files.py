"""Read anchor graphs, and masks of their samples, that other programs wrote."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import BoolArray, Graph, is_sparse
from ..blocks import check_graph, check_join, check_size
from ..checks import check_choice, check_not_empty
from ..errors import InputError
from ._entries import Entry, flatten, inner_entries, naming, reading, unwrapped
from ._file_formats import file_kind, open_source, single_entry
from ._find_views import GRAPH_NAMES, ViewChoice, guess_views, named_views
from ._joined_entries import ChosenSamples, JoinedEntries, choose_samples, join_entries
from ._multi_view_data import Note
from ._read_options import IndexName, ReadOptions
from ._size_limits import SizeLimit
from ._table_files import TABLE_KINDS

_TOLERANCE = 1e-6
_SINGLE = ("npy", "npz", *TABLE_KINDS)
# Names of a mask in a file that also holds other arrays, such as the graphs.
_MASK_NAMES = ("mask", "observed")


@dataclass(frozen=True, eq=False)
class GraphFiles:
    """Graphs of samples x anchors, their names, the form of their files ("npy", "npz" or "mat"), and notes.

    ``samples`` are the names of the samples, if the files have names; ``mask`` is False where a graph lacks a sample.
    """

    graphs: list[Graph]
    names: list[str]
    form: str
    notes: list[Note]
    samples: tuple[Any, ...] | None = None
    mask: BoolArray | None = None


def read_graphs(
    paths: Sequence[str],
    *,
    keys: Sequence[str] | None = None,
    orient: str = "rows",
    max_bytes: int | str | None = None,
    join: str | None = None,
    index: IndexName = None,
) -> GraphFiles:
    """Read the anchor graphs of one .npz or .mat file, or of several files with one graph each.

    ``keys`` names the graphs in a file; ``orient="columns"`` is for graphs of anchors x samples; ``max_bytes``,
    ``join`` and ``index`` are as for ``load_views``.
    """
    check_choice("orient", orient, ("rows", "columns"))
    check_join(join)
    for path in paths:
        check_not_empty(path)
    options = ReadOptions.checked(max_bytes, True, index)
    with reading(paths[0] if len(paths) == 1 else "the files"):
        return _read_graphs(paths, keys, orient, join, options)


def _read_graphs(
    paths: Sequence[str], keys: Sequence[str] | None, orient: str, join: str | None, options: ReadOptions
) -> GraphFiles:
    places = [Path(path) for path in paths]
    kinds = [_graph_file_kind(place) for place in places]
    with ExitStack() as stack:
        if len(places) == 1 and kinds[0] in ("npz", "mat", "hdf5"):
            form = "npz" if kinds[0] == "npz" else "mat"
            entries = flatten(stack.enter_context(open_source(places[0], replace(options, mmap=False))))
        else:
            form = "npy"
            entries = _one_graph_each(places, kinds, keys, options)
            # An array of three dimensions holds several graphs.
            keys = [entry.key for entry in entries]
        with naming(paths[0] if len(paths) == 1 else "the files"):
            joined = JoinedEntries(entries)
            if orient == "rows":
                joined = join_entries(entries, keys, False, join)
            elif join is not None:
                raise InputError("join= (--join) joins rows by name; with orient='columns' samples are columns.")
            found = _guess_graphs(joined.entries) if keys is None else named_views(joined.entries, keys, "graphs")
            chosen = ChosenSamples(found.entries, None)
            if orient == "rows":
                if join is not None and not joined.samples:
                    raise InputError(f"join={join!r} (--join) joins samples by name, and the graphs have no names.")
                chosen = choose_samples(joined, found.entries, None)
            graphs = [_samples_first(entry, orient) for entry in chosen.views]
            _check_graphs(graphs, found.names, orient, chosen.mask)
    notes = [*found.notes, *joined.notes]
    if form == "npy":
        notes += [note for entry in entries for note in entry.notes]
    if len(graphs) == 1:
        notes.append(Note("single", found.names[0], "There is one graph, and nothing to align it with."))
    if kinds[0] == "hdf5":
        text = f"{paths[0]} is MATLAB 7.3; .mat files are written in version 5, which every MATLAB reads."
        notes.append(Note("version", "", text))
    return GraphFiles(graphs, found.names, form, notes, chosen.samples, chosen.mask)


def _graph_file_kind(place: Path) -> str:
    with reading(place):
        if place.is_dir():
            raise InputError(f"{place} is a folder; expected .npy files, one for each view, or one .npz or .mat file.")
        SizeLimit(place)
        kind = file_kind(place)
    if not kind:
        raise InputError(f"{place} is not a .npy, .npz or .mat file.")
    return kind


def _one_graph_each(
    places: Sequence[Path], kinds: Sequence[str], keys: Sequence[str] | None, options: ReadOptions
) -> list[Entry]:
    """Entries of files that hold one graph each."""
    wrong = [place for place, kind in zip(places, kinds, strict=True) if kind not in _SINGLE]
    if wrong:
        raise InputError(
            f"{wrong[0]} cannot be one of {len(places)} files; expected one .npz or .mat file, or a .npy file for each "
            "view."
        )
    if keys is not None:
        raise InputError(f"graphs= names variables of one .npz or .mat file; {places[0]} has none.")
    return [
        single_entry(SizeLimit(place, options.max_bytes), kind, str(place), options)
        for place, kind in zip(places, kinds, strict=True)
    ]


def _guess_graphs(entries: Sequence[Entry]) -> ViewChoice:
    cells = [entry for entry in entries if entry.kind == "cell" and entry.plain_name in GRAPH_NAMES]
    for cell in sorted(cells, key=lambda entry: GRAPH_NAMES.index(entry.plain_name))[:1]:
        members = [unwrapped(member) for member in inner_entries(unwrapped(cell))]
        wrong = [member for member in members if not member.is_matrix]
        if 0 < len(wrong) < len(members):
            raise InputError(
                f"{wrong[0].key!r} is {wrong[0].description}, not a graph of samples x anchors as others of "
                f"{cell.key!r} are; graphs= (--graphs) says which to take."
            )
    found = guess_views(entries, set(), GRAPH_NAMES, option="graphs")
    if not found.in_container:
        _check_numbering(found.names)
    return found


def _check_numbering(names: Sequence[str]) -> None:
    """Refuse graphs that are numbered, Z1 and Z3, if a number between them is missing."""
    found = [re.fullmatch(r"(\D*)(\d+)(\D*)", name) for name in names]
    if len({each and (each[1], each[3]) for each in found}) != 1 or found[0] is None:
        return
    numbers = {int(each[2]) for each in found if each}
    missing = sorted(set(range(min(1, *numbers), max(numbers))) - numbers)
    # Years and the like are not counted from one.
    if missing and max(numbers) <= 2 * len(numbers):
        raise InputError(
            f"graphs {', '.join(map(repr, names))} are numbered, and number {missing[0]} is missing; "
            "graphs= (--graphs) says which to take."
        )


def _samples_first(entry: Entry, orient: str) -> Graph:
    Z = entry.read()
    entry.drop()
    turned: Graph = Z.T if orient == "columns" else Z
    return sp.csr_array(turned) if is_sparse(turned) else turned


def _check_graphs(graphs: Sequence[Graph], names: Sequence[str], orient: str, mask: BoolArray | None) -> None:
    """Refuse graphs of different samples, and graphs that are plainly anchors x samples."""
    first = graphs[0]
    for name, Z in zip(names, graphs, strict=True):
        check_graph(Z, repr(name))
        if Z.shape[0] != first.shape[0]:
            sizes = [" x ".join(map(str, each)) for each in (first.shape, Z.shape)]
            hint = " One of them looks transposed." if first.shape[0] == Z.shape[1] else ""
            raise InputError(
                f"graph {names[0]!r} is {sizes[0]} (samples x anchors) and {name!r} is {sizes[1]}; all must have the "
                f"same samples.{hint}"
            )

    if mask is not None:
        return  # rows that have names are samples

    def sum_to_one(axis: int) -> bool:
        sums = [np.ravel(Z.sum(axis=axis, dtype=np.float64)) for Z in graphs]
        return all(np.allclose(each, 1.0, atol=_TOLERANCE, rtol=0) for each in sums)

    with np.errstate(all="ignore"):
        if orient == "rows" and sum_to_one(0) and not sum_to_one(1):
            raise InputError(
                f"graphs are {first.shape[0]} x {first.shape[1]} and their columns sum to one, not their rows: they "
                "look like anchors x samples; orient='columns' (--orient columns) takes them so."
            )


def read_mask(path: str, *, max_bytes: int | str | None = None) -> BoolArray:
    """Read a mask, views x samples: true or false, or the numbers 1 and 0.

    The file holds this array alone, or under the name ``mask`` or ``observed``. ``max_bytes`` is as for ``load_views``.
    """
    check_not_empty(path)
    most = check_size("max_bytes", max_bytes)
    with reading(path):
        return _read_mask(Path(path), most)


def _read_mask(place: Path, max_bytes: int | None) -> BoolArray:
    is_folder = place.is_dir()
    if not is_folder:
        limit = SizeLimit(place, max_bytes)
    if is_folder or not file_kind(place):
        raise InputError(f"{place} is not a .npy, .npz, .mat or .csv file, which could hold the mask.")
    with open_source(place, ReadOptions(max_bytes)) as listed, naming(place):
        held = [entry for entry in flatten(listed) if entry.is_matrix]
        found = held if len(held) == 1 else [entry for entry in held if entry.plain_name in _MASK_NAMES]
        if len(found) != 1:
            keys = ", ".join(repr(entry.key) for entry in held[:5])
            holds = f"holds {len(held)} arrays ({keys})" if held else "holds no matrix"
            raise InputError(f"the file {holds}; expected one with the mask, or one called 'mask'.")
        values = found[0].read()
        found[0].drop()
        limit.claim("mask", math.prod(values.shape) * values.dtype.itemsize)
        values = np.asarray(values.toarray() if is_sparse(values) else values)
        if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
            raise InputError("the mask must hold nothing but true and false, or 1 and 0.")
    return np.atleast_2d(values.astype(np.bool_))
