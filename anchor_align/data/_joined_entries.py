"""Entries of files whose samples have names: they are joined by these names before the views are chosen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arrays import BoolArray, IndexArray
from ..blocks import check_names, join_samples, row_places, take_rows
from ..errors import InputError, shown
from ._entries import Entry, Held
from ._find_labels import IncompleteLabels, has_label_name
from ._multi_view_data import Note
from ._orientation import in_columns


@dataclass(frozen=True, eq=False)
class JoinedEntries:
    """Entries, those with names of samples in one order; ``missing`` has the samples that an entry lacks, by key."""

    entries: list[Entry]
    samples: tuple[Any, ...] = ()
    missing: dict[str, BoolArray] = field(default_factory=dict)
    moved: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False)
class ChosenSamples:
    """Chosen views with the same samples; ``kept`` are the samples to keep if some are in no chosen view."""

    views: list[Entry]
    samples: tuple[Any, ...] | None
    mask: BoolArray | None = None
    kept: IndexArray | None = None


def join_entries(
    entries: Sequence[Entry], keys: Sequence[str] | None, labels: object, join: str | None
) -> JoinedEntries:
    """Put the entries that name samples in one order. The modalities of MuData are in one order already.

    Without ``keys`` of the views, a table that shares no name with another describes something else: it is left as it
    is. ``labels`` is the key of the labels, False for none, or None.
    """
    tables = [entry for entry in _comparable(entries) if entry.ids and not _holds_labels(entry, labels)]
    if keys is not None:
        wanted = {key.lower() for key in keys}
        tables = [entry for entry in tables if entry.key.lower() in wanted]
    elif len(tables) > 1:
        names = [set(entry.ids) for entry in tables]
        tables = [
            entry
            for entry, own in zip(tables, names, strict=True)
            if any(own & other for other in names if other is not own)
        ]
    if not tables:
        return JoinedEntries(list(entries))
    joined = join_samples({repr(entry.key): entry.ids for entry in tables}, join)
    samples, notes = joined.samples or (), list(joined.notes)
    moved = joined.moved
    listed = [entry for entry in _comparable([*entries, *tables]) if entry.ids and entry.key not in _keys(tables)]
    lists = [entry for entry in listed if labels is not False and _holds_labels(entry, labels)]
    for entry in lists:
        if entry.ids != samples and not entry.is_column:
            check_names(repr(tables[0].key), tables[0].ids)
            check_names(repr(entry.key), entry.ids)
            samples, said = _labelled(entry, samples, join)
            moved = moved or not said.startswith("Labels")
            notes += [said]
    missing: dict[str, BoolArray] = {}
    done: dict[str, Entry] = {}
    for entry in [*tables, *lists]:
        rows = row_places(entry.ids, samples)
        missing[entry.key] = (rows < 0) if entry.absent is None else (rows < 0) | entry.absent[rows]
        done[entry.key] = entry if entry.ids == samples else placed(entry, rows, samples)
    return JoinedEntries(
        [done.get(entry.key, entry) for entry in entries],
        samples,
        missing,
        moved,
        tuple(Note("samples", "", text) for text in notes),
    )


@contextmanager
def naming_transposed(
    entries: Sequence[Entry], *, are_turned: bool, by_rows: bool = False, n_labels: int | None = None
) -> Iterator[None]:
    """Add to an error that samples seem to be columns of one table, or of all, if names say so.

    ``are_turned``: all entries were transposed, because samples are columns. ``by_rows``: nobody said that samples are
    rows, or columns.
    """
    try:
        yield
    except InputError as error:
        if by_rows and (hint := in_columns(entries, n_labels)):
            raise type(error)(f"{error}{hint}") from error
        for one, other in itertools.permutations((each for each in entries if each.ids and each.heads), 2):
            rows, columns = set(one.ids), set(other.heads)
            if rows.isdisjoint(other.ids) and 2 * len(rows & columns) > max(len(rows), len(columns)):
                with_rows, with_columns = (other, one) if are_turned else (one, other)
                save = "save both with samples as rows, or both with samples as columns and "
                way_out = "" if with_rows.kind == "text" or with_rows.is_vector else save  # one list has no columns
                raise InputError(
                    f"{error} Samples seem to be the rows of {with_rows.key!r} and the columns of "
                    f"{with_columns.key!r}, by their names: {way_out}say orient='columns' (--orient columns)."
                ) from error
        raise


def turned(entry: Entry) -> Entry:
    """A table whose columns are samples, transposed: its column names are the names of the samples."""
    if entry.kind != "matrix" or len(entry.shape) != 2:
        return entry

    def read() -> Any:
        return entry.read().T

    return replace(entry, shape=entry.shape[::-1], read=read, ids=entry.heads, heads=entry.ids, ids_are_typed=False)


def choose_samples(
    joined: JoinedEntries, views: Sequence[Entry], labels: Entry | None, join: str | None = None
) -> ChosenSamples:
    """Samples of the chosen views. All views must have names, or none."""
    named = join_samples({repr(view.key): view.ids or None for view in _comparable(views)})
    if named.samples is None or not joined.samples:
        return ChosenSamples(list(views), named.samples)
    if labels is not None and not labels.ids and joined.moved:
        raise InputError(
            f"labels {labels.key!r} have no names of samples, and the samples of the views were put in one order by "
            "name; add a column of names to the labels, or labels=False (--no-labels) takes none."
        )
    none = np.zeros(len(joined.samples), dtype=np.bool_)
    mask = ~np.array([joined.missing.get(view.key, none) for view in views])
    kept = np.flatnonzero(mask.all(axis=0) if join == "inner" else mask.any(axis=0))
    if not len(kept):
        raise InputError(
            "join='inner' keeps the samples that all views have, and there is none; join='outer' keeps all."
        )
    if len(kept) < len(none):
        views = [placed(view, kept, tuple(joined.samples[i] for i in kept)) for view in views]
        return ChosenSamples(list(views), views[0].ids, None if mask[:, kept].all() else mask[:, kept], kept)
    return ChosenSamples(list(views), joined.samples, None if mask.all() else mask)


def _labelled(labels: Entry, samples: tuple[Any, ...], join: str | None) -> tuple[tuple[Any, ...], str]:
    """Samples that have a label, and what was done; without an inner join every sample must have one."""
    known = set(labels.ids)
    without = [name for name in samples if name not in known]
    if without and join == "inner" and len(without) < len(samples):
        kept = tuple(name for name in samples if name in known)
        return kept, f"join='inner' left out {len(without)} samples without a label in {labels.key!r}."
    if without:
        raise InputError(
            f"{labels.key!r} lacks labels for {len(without)} of {len(samples)} samples, such as {shown(without[0])}; "
            "labels=False (--no-labels) takes no labels, join='inner' (--join inner) leaves out samples without one."
        )
    if len(known) > len(samples):
        return samples, f"Labels of {len(known) - len(samples)} other samples in {labels.key!r} are not used."
    return samples, f"Labels of {labels.key!r} were put in the order of the views, by the names of the samples."


def _keys(entries: Sequence[Entry]) -> set[str]:
    return {entry.key for entry in entries}


def _comparable(entries: Sequence[Entry]) -> list[Entry]:
    """The same entries. Names in a text file that are whole numbers become numbers if other names are numbers."""
    by_number = any(entry.ids and isinstance(entry.ids[0], int) for entry in entries)
    return [_with_numbers(entry) if by_number else entry for entry in entries]


def _with_numbers(entry: Entry) -> Entry:
    if not entry.ids or entry.ids_are_typed or not all(map(_is_whole, entry.ids)):
        return entry
    return replace(entry, ids=tuple(map(int, entry.ids)), ids_are_typed=True)


def _is_whole(name: object) -> bool:
    return isinstance(name, str) and name.isascii() and name.removeprefix("-").isdecimal() and str(int(name)) == name


def _holds_labels(entry: Entry, labels: object) -> bool:
    return entry.key == labels or entry.is_column or entry.kind == "text" or has_label_name(entry)


def placed(entry: Entry, rows: IndexArray, samples: tuple[Any, ...]) -> Entry:
    """The entry with these rows; -1 is a sample that it lacks, and is refused for labels."""

    def read() -> Any:
        values = entry.read()
        lacking = int((rows < 0).sum())
        if lacking and (isinstance(values, list) or _holds_labels(entry, None)):
            raise IncompleteLabels(
                f"{entry.key!r} lacks labels for {lacking} of {len(rows)} samples; labels=False (--no-labels) takes "
                "no labels."
            )
        return [values[row] for row in rows] if isinstance(values, list) else take_rows(values, rows)

    held = Held(read)

    def drop() -> None:
        held.drop()
        entry.drop()

    shape = (len(rows), *entry.shape[1:])
    return replace(entry, ids=samples, shape=shape, read=held.read, drop=drop, forget=held.drop)
