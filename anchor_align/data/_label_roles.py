"""Which entry of a file holds the labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .._types import is_sparse
from ..errors import InputError
from ._entries import Entry
from ._labels import LABEL_NAMES, NumberedLabels, could_be_labels, read_labels
from ._orientation import sides
from ._roles import ASIDE, Views

# Names that labels have at times, and lists of clusters and much else as well: taken if they fit the views.
WEAK_NAMES = (
    "class",
    "classes",
    "classid",
    "category",
    "categories",
    "cluster",
    "clusters",
    "cids",
    "s",
    "c",
    "t",
    "l",
)
_PARTS = ("label", "truth", "gnd", "class", "categor")


@dataclass(frozen=True)
class Choice:
    """The labels, and what was guessed."""

    labels: NumberedLabels | None
    notes: list[str] = field(default_factory=list)


def choose_labels(
    entries: Sequence[Entry],
    told: list[Entry] | None,
    find_views: Callable[[Sequence[Entry], set[int]], Views],
    view_keys: Sequence[str],
    path: object,
) -> tuple[Choice, Views]:
    """Find labels and views, which depend on each other: labels tell how many samples there are.

    ``told`` is the entry that a user named, an empty list for no labels, None for a guess. ``find_views`` is given the
    entries that are no labels and the numbers of labels found; ``view_keys`` are the views that a user named.
    """
    if told is not None:
        labels = read_labels(told[0]) if told else None
        counts = {labels.n_samples} if labels else set()
        return (
            Choice(labels, [labels.note] if labels and labels.note else []),
            find_views([entry for entry in entries if entry not in told], counts),
        )
    told_views = find_views([], set()) if view_keys else None
    taken = {key.lower() for key in view_keys}
    found, refused = _named_labels([entry for entry in entries if entry.key.lower() not in taken])
    sources = [entry for _, entry in found]
    left = [
        entry for entry in entries if entry not in sources and not (entry.short in LABEL_NAMES and _is_binary(entry))
    ]
    views = told_views or find_views(left, {candidate.n_samples for candidate, _ in found})
    return _settled([candidate for candidate, _ in found], refused, entries, views, path), views


def _named_labels(entries: Sequence[Entry]) -> tuple[list[tuple[NumberedLabels, Entry]], list[str]]:
    """Labels of all entries with a label's name, and why others with such a name are none."""
    ranked = sorted((e for e in entries if e.short in LABEL_NAMES), key=lambda e: LABEL_NAMES.index(e.short))
    found: list[tuple[NumberedLabels, Entry]] = []
    refused: list[str] = []
    for entry in ranked:
        if entry.kind == "other" and entry.what.startswith("an array of Python"):
            raise InputError(f"Labels {entry.key!r} are {entry.what}.")
        if not could_be_labels(entry):
            continue
        try:
            found.append((read_labels(entry), entry))
        except InputError as error:
            if "NaN" in str(error) or "differ" in str(error):
                raise
            refused.append(str(error))
    return found, refused


def _settled(
    found: Sequence[NumberedLabels], refused: list[str], entries: Sequence[Entry], views: Views, path: object
) -> Choice:
    """The labels that fit the views."""
    fitting = [labels for labels in found if all(labels.n_samples in sides(view) for view in views.entries)]
    if found and not fitting:
        counts = ", ".join(f"{labels.key!r} has {labels.n_samples}" for labels in found)
        shapes = ", ".join(f"{view.key!r} is {view.size}" for view in views.entries[:8])
        raise InputError(
            f"{path}: labels and views do not have the same number of samples: labels {counts}; view {shapes}; "
            "views= and labels= say what to take, labels=False takes no labels."
        )
    others = [] if fitting else _fitting([e for e in entries if e not in views.entries], views)
    fitting = fitting or [labels for labels, entry in others if _is_weak(entry)]
    if not fitting:
        guesses = [labels for labels, _ in others if 2 <= labels.n_clusters <= labels.n_samples / 2]
        if len(guesses) != 1:
            return Choice(None, [*refused, "There are no labels: the data can be clustered, but not scored."])
        note = f"Labels are {guesses[0].key!r}, a guess: the only values that come one for each sample."
        return Choice(guesses[0], [*refused, note])
    first = fitting[0]
    notes = [f"Labels are {first.key!r}."] + ([first.note] if first.note else [])
    for other in fitting[1:]:
        if not first.same(other):
            raise InputError(f"{path}: labels {first.key!r} and {other.key!r} differ; labels= says which to take.")
        notes.append(f"{other.key!r} holds the same labels.")
    return Choice(first, notes)


def _is_binary(entry: Entry) -> bool:
    """Whether a matrix has two values only: under a label's name, several labels for each sample, not a view."""
    if not entry.is_matrix or entry.is_vector or not could_be_labels(entry):
        return False
    try:
        values = entry.read()
    except InputError:
        return False
    values = values.data if is_sparse(values) else values
    # Not by sorting, which takes a copy.
    two = values.size == 0 or bool(((values == values.min()) | (values == values.max())).all())
    entry.forget()
    return two


def _is_weak(entry: Entry) -> bool:
    return entry.short in WEAK_NAMES or any(part in entry.short for part in _PARTS)


def _fitting(entries: Sequence[Entry], views: Views) -> list[tuple[NumberedLabels, Entry]]:
    """Labels under other names: whole numbers or words that come one for each sample."""
    found = []
    shared = set.intersection(*({*sides(view)} for view in views.entries))
    for entry in entries:
        is_list = entry.is_vector or entry.kind == "text" or (entry.kind == "cell" and max(entry.shape, default=0) > 1)
        is_list = is_list or (_is_weak(entry) and entry.kind == "cell")
        if not is_list or (ASIDE.search(entry.short) and not _is_weak(entry)) or not could_be_labels(entry):
            continue
        try:
            labels = read_labels(entry)
        except InputError:
            continue
        if labels.n_samples in shared:
            found.append((labels, entry))
    return found
