"""Find the labels among the entries of a file, and number the clusters 0 to k - 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import is_sparse
from ..errors import InputError
from ._entries import Entry, cell_matrices, shared_sides, unwrapped
from ._multi_view_data import Note

LABEL_NAMES = (
    *("labels", "label", "y", "gt", "gnd", "truth", "truelabel", "truelabels", "groundtruth", "ground", "gtlabel"),
    *("gtlabels", "gndtruth", "gnds", "ytrue", "truey", "truelab", "labeltrue", "labelstrue", "target", "targets"),
    *("classlabel", "classlabels", "clusterlabels", "lab", "labs", "lbl", "lbls", "trueclass", "trueclusters"),
)
# Names of labels, but also of lists of clusters and of much else: entries with such a name are taken if they fit.
_WEAK_NAMES = (
    *("class", "classes", "classid", "category", "categories", "cluster", "clusters", "cids", "s", "c", "t", "l"),
)
_WEAK_PARTS = ("label", "truth", "gnd", "class", "categor")
# A larger matrix with a label's name is not read to see whether it marks the cluster of each sample with a 1.
_LARGEST_INDICATOR = 2**25


class IncompleteLabels(InputError):
    """Labels that are missing for some samples or contradict each other: the user must decide."""


@dataclass(frozen=True, eq=False)
class NumberedLabels:
    """Labels of one entry, numbered in the sorted order of the values in the file."""

    key: str
    codes: npt.NDArray[np.int64]
    notes: tuple[Note, ...] = ()

    @property
    def n_samples(self) -> int:
        return len(self.codes)

    @property
    def could_be_guessed(self) -> bool:
        """Whether there are few enough clusters to take the values for labels, whatever their name."""
        return 2 <= int(self.codes.max()) + 1 <= self.n_samples / 2


@dataclass(frozen=True)
class LabelChoice:
    """The labels, notes on the choice, and the keys of the other entries that these notes mention."""

    labels: NumberedLabels | None
    notes: list[Note]
    mentioned: list[str]


def read_labels(entry: Entry) -> NumberedLabels:
    """Labels of an entry: a vector, words, a cell of either, copies for each view, or an indicator matrix."""
    entry = unwrapped(entry)
    if entry.kind == "text":
        words = entry.read()
        if len(words) == 1:
            raise InputError(f"Labels {entry.key!r} are one text; expected one for each sample.")
        return _numbered_words(entry.key, words)
    if entry.kind == "cell":
        return _from_cell(entry)
    if entry.is_matrix and (len(entry.shape) == 1 or 1 in entry.shape):
        return _numbered(entry.key, np.ravel(_dense(entry.read())))
    if entry.is_matrix and math.prod(entry.shape) <= _LARGEST_INDICATOR:
        codes = _from_indicator(entry.read())
        entry.forget()
        if codes is not None:
            text = f"Labels {entry.key!r} mark each sample's cluster with a 1."
            return NumberedLabels(entry.key, _numbered(entry.key, codes).codes, (Note("labels", entry.key, text),))
    raise _no_label_for_each(entry)


def _no_label_for_each(entry: Entry) -> InputError:
    return InputError(f"Labels {entry.key!r} ({entry.description}) do not give one label for each sample.")


def _dense(values: Any) -> Any:
    return values.toarray() if is_sparse(values) else np.asarray(values)


def _numbered(key: str, values: Any) -> NumberedLabels:
    if values.dtype.kind == "f":
        if np.isnan(values).any():
            raise IncompleteLabels(
                f"Labels {key!r} have NaN for {np.isnan(values).sum()} of {len(values)} samples; expected a label for "
                "each (labels=False leaves them out)."
            )
        if not np.array_equal(values, np.round(values)) or np.isinf(values).any():
            raise InputError(
                f"Labels {key!r} are not whole numbers; labels= names others, labels=False leaves them out."
            )
    if len(values) == 0:
        raise InputError(f"Labels {key!r} are empty.")
    return NumberedLabels(key, np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64))


def _numbered_words(key: str, words: Sequence[str]) -> NumberedLabels:
    # Not as an array of text, in which every word takes as much memory as the longest.
    numbers = {word: number for number, word in enumerate(sorted(set(words)))}
    return _numbered(key, np.array([numbers[word] for word in words], dtype=np.int64))


def _from_cell(entry: Entry) -> NumberedLabels:
    """Labels of a cell: a word or number for each sample, or a copy of all labels for each view."""
    members = [unwrapped(member) for member in entry.members()]
    if members and all(member.kind == "text" for member in members):
        words = [" ".join(member.read()).strip() for member in members]
        return _numbered_words(entry.key, words)
    if not members or not all(member.is_matrix for member in members):
        raise _no_label_for_each(entry)
    if all(max(member.shape) == 1 for member in members):
        return _numbered(entry.key, np.array([np.ravel(_dense(member.read()))[0] for member in members]))
    copies = [read_labels(member) for member in members]
    for copy in copies[1:]:
        if not np.array_equal(copy.codes, copies[0].codes):
            raise IncompleteLabels(
                f"Labels {copies[0].key!r} and {copy.key!r} of cell {entry.key!r} differ; labels= says which to take."
            )
    note = Note("labels", entry.key, f"Labels {entry.key!r} have {len(copies)} copies, all the same.")
    return NumberedLabels(entry.key, copies[0].codes, (note,))


def _from_indicator(values: Any) -> Any:
    """Cluster of each sample if each row, or each column, has exactly one 1 and otherwise zeros; else None."""
    if is_sparse(values):
        if values.nnz > max(values.shape):
            return None
        values = values.toarray()
    if ((values == 0) | (values == 1)).all():
        for axis in (1, 0):
            if (values.sum(axis=axis, dtype=np.int64) == 1).all():
                return values.argmax(axis=axis)
    return None


def could_be_labels(entry: Entry) -> bool:
    """Whether an entry has the shape of labels, before it is read."""
    if entry.kind == "text":
        return len(entry.shape) > 0 and max(entry.shape) > 1
    if entry.kind == "cell":
        inner = unwrapped(entry)
        if inner.kind != "cell":
            return could_be_labels(inner)
        members = [unwrapped(member) for member in inner.members()]
        return bool(members) and all(m.kind == "text" or m.is_vector or m.shape == (1, 1) for m in members)
    return entry.is_vector or (entry.is_matrix and 1 < math.prod(entry.shape) <= _LARGEST_INDICATOR)


def is_binary(entry: Entry) -> bool:
    """Whether a matrix has two values only: it is a mask, or gives several labels for each sample. It is no view."""
    if not entry.is_matrix or entry.is_vector or not could_be_labels(entry):
        return False
    try:
        values = entry.read()
    except InputError:
        return False
    values = values.data if is_sparse(values) else values
    # Sorting would take a copy.
    two = values.size == 0 or bool(((values == values.min()) | (values == values.max())).all())
    entry.forget()
    return two


def has_label_name(entry: Entry) -> bool:
    """Whether its name keeps an entry from being taken for a view."""
    if entry.plain_name in _WEAK_NAMES and len(entry.plain_name) > 1:
        return entry.kind != "cell"
    return entry.plain_name in LABEL_NAMES and not (entry.plain_name == "y" and entry.kind == "cell")


def named_labels(entries: Sequence[Entry]) -> tuple[list[tuple[NumberedLabels, Entry]], list[Note]]:
    """Labels of the entries that have a label's name, and why other entries with such a name hold none.

    Columns of a table are used only if no entry of its own holds labels.
    """
    named = sorted((e for e in entries if e.plain_name in LABEL_NAMES), key=lambda e: LABEL_NAMES.index(e.plain_name))
    found: list[tuple[NumberedLabels, Entry]] = []
    refused: list[Note] = []
    for is_column in (False, True):
        if found:
            break
        for entry in named:
            if entry.is_column != is_column:
                continue
            if entry.kind == "objects":
                raise InputError(f"Labels {entry.key!r} are {entry.description}.")
            if not could_be_labels(entry):
                continue
            try:
                found.append((read_labels(entry), entry))
            except IncompleteLabels:
                raise
            except InputError as error:
                refused.append(Note("labels", entry.key, str(error)))
    return found, refused


def is_misnamed(entry: Entry) -> bool:
    """Whether an entry has a label's name and holds numbers that are no labels, so that it could be a view."""
    if entry.plain_name not in LABEL_NAMES:
        return False
    if entry.kind == "cell":
        # Y is at times the name of a cell of views.
        return entry.plain_name != "y" and cell_matrices(entry) is not None and not could_be_labels(entry)
    if entry.is_stack:
        return True
    if not entry.is_matrix or entry.is_vector or max(entry.shape) == 1 or is_binary(entry):
        return False
    try:
        entry.read()
    except InputError:
        # Complex numbers, which are no view.
        return False
    entry.forget()
    return True


def choose_labels(
    found: Sequence[NumberedLabels],
    refused: Sequence[Note],
    entries: Sequence[Entry],
    views: Sequence[Entry],
    last_member: Entry | None,
) -> LabelChoice:
    """The labels that fit the views: ``found`` under a label's name, or else a guess among the other entries.

    ``last_member`` is the vector of whole numbers at the end of the cell of views, if there is one.
    """
    fitting = [labels for labels in found if all(labels.n_samples in view.sides for view in views)]
    if found and not fitting:
        counts = ", ".join(f"{labels.key!r} has {labels.n_samples}" for labels in found)
        shapes = ", ".join(f"{view.key!r} is {view.size}" for view in views[:8])
        raise InputError(
            f"labels and views do not have the same number of samples: labels {counts}; view {shapes}; "
            "views= and labels= say what to take, labels=False takes no labels."
        )
    if not fitting:
        if last_member is not None and (inside := read_labels(last_member)).could_be_guessed:
            return _guess(inside, refused, "the last member beside the views")
        others = _fitting_labels([entry for entry in entries if entry not in views], views)
        fitting = [labels for labels, entry in others if _is_weakly_named(entry)]
        if not fitting:
            guesses = [labels for labels, _ in others if labels.could_be_guessed]
            if len(guesses) == 1:
                return _guess(guesses[0], refused, "the only values that come one for each sample")
            none = Note("labels", "", "There are no labels: the data can be clustered, but not scored.")
            return LabelChoice(None, [*refused, none], [note.view for note in refused])
    first = fitting[0]
    notes = [Note("labels", first.key, f"Labels are {first.key!r}."), *first.notes]
    for other in fitting[1:]:
        if not np.array_equal(first.codes, other.codes):
            raise InputError(f"labels {first.key!r} and {other.key!r} differ; labels= says which to take.")
        notes.append(Note("duplicate", other.key, f"{other.key!r} holds the same labels."))
    return LabelChoice(first, notes, [labels.key for labels in fitting])


def _guess(labels: NumberedLabels, refused: Sequence[Note], reason: str) -> LabelChoice:
    note = Note("labels", labels.key, f"Labels are {labels.key!r}, a guess: {reason}.")
    return LabelChoice(labels, [*refused, note], [note.view for note in (*refused, note)])


def _is_weakly_named(entry: Entry) -> bool:
    return entry.plain_name in _WEAK_NAMES or any(part in entry.plain_name for part in _WEAK_PARTS)


def _fitting_labels(entries: Sequence[Entry], views: Sequence[Entry]) -> list[tuple[NumberedLabels, Entry]]:
    """Labels under other names: whole numbers or words that come one for each sample."""
    found = []
    shared = shared_sides(views)
    for entry in entries:
        weak = _is_weakly_named(entry)
        is_list = entry.is_vector or entry.kind == "text"
        is_list = is_list or (entry.kind == "cell" and (weak or max(entry.shape, default=0) > 1))
        if entry.is_column or not is_list or (entry.is_bookkeeping and not weak) or not could_be_labels(entry):
            continue
        try:
            labels = read_labels(entry)
        except InputError:
            continue
        if labels.n_samples in shared:
            found.append((labels, entry))
    return found
