"""Which entry of a file holds the labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..errors import InputError
from ._entries import Entry
from ._labels import LABEL_NAMES, NumberedLabels, could_be_labels, describe, is_binary, read_labels
from ._orientation import sides
from ._roles import ASIDE, Views, matrices

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
            find_views([entry for entry in entries if entry not in told and not _only_labels(entry)], counts),
        )
    told_views = find_views([], set()) if view_keys else None
    taken = {key.lower() for key in view_keys}
    found, refused = _named_labels([entry for entry in entries if entry.key.lower() not in taken])
    sources = [entry for _, entry in found]
    wrong = [entry for entry in entries if entry.short in LABEL_NAMES and entry not in sources and _misnamed(entry)]
    if wrong and told_views is None and not found:
        raise _no_labels(wrong[0], path)
    left = [entry for entry in entries if entry not in sources and not _only_labels(entry)]
    views = told_views or find_views(left, {candidate.n_samples for candidate, _ in found})
    if wrong and told_views is None and not views.in_container:
        raise _no_labels(wrong[0], path)
    return _settled([candidate for candidate, _ in found], refused, entries, views, path), views


def _only_labels(entry: Entry) -> bool:
    """Whether its name keeps an entry from being guessed to be a view."""
    if entry.short in WEAK_NAMES and len(entry.short) > 1:
        return entry.kind != "cell"
    return entry.short in LABEL_NAMES and not (entry.short == "y" and entry.kind == "cell")


def _no_labels(entry: Entry, path: object) -> InputError:
    return InputError(
        f"{path}: {entry.key!r} ({describe(entry)}) has a label's name, and does not give one label for each sample; "
        "views= (--views) names the views, labels= (--labels) the labels, labels=False (--no-labels) takes none."
    )


def _named_labels(entries: Sequence[Entry]) -> tuple[list[tuple[NumberedLabels, Entry]], list[str]]:
    """Labels of all entries with a label's name, and why others with such a name are none."""
    named = sorted((e for e in entries if e.short in LABEL_NAMES), key=lambda e: LABEL_NAMES.index(e.short))
    found, refused = _readable_labels([entry for entry in named if not entry.is_column])
    return (found, refused) if found else _readable_labels([entry for entry in named if entry.is_column], refused)


def _readable_labels(
    ranked: Sequence[Entry], refused_before: Sequence[str] = ()
) -> tuple[list[tuple[NumberedLabels, Entry]], list[str]]:
    found: list[tuple[NumberedLabels, Entry]] = []
    refused = list(refused_before)
    for entry in ranked:
        if entry.kind == "other" and entry.what.startswith("an array of Python"):
            raise InputError(f"Labels {entry.key!r} are {entry.what}.")
        if not could_be_labels(entry):
            continue
        try:
            found.append((read_labels(entry), entry))
        except InputError as error:
            if any(reason in str(error) for reason in ("expected a label for each", "differ")):
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
    if not fitting and views.labels is not None:
        inside = read_labels(views.labels)
        if 2 <= inside.n_clusters <= inside.n_samples / 2:
            return Choice(inside, [*refused, f"Labels are {inside.key!r}, a guess: the last member beside the views."])
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


def _misnamed(entry: Entry) -> bool:
    """Whether something with a label's name holds numbers that are no labels, so that it could pass for a view."""
    if entry.kind == "cell":
        # Y is at times the name of a cell of views.
        return entry.short != "y" and matrices(entry) is not None and not could_be_labels(entry)
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
