"""Find the views, or graphs, among the entries of a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..blocks import natural
from ..errors import InputError
from ._entries import (
    Entry,
    cell_matrices,
    find_entry,
    flatten,
    inner_entries,
    normal,
    quoted,
    same_content,
    shared_sides,
    unwrapped,
)
from ._find_labels import is_binary, read_labels
from ._multi_view_data import Note

VIEW_NAMES = (
    *("x", "data", "fea", "feas", "feature", "features", "view", "views", "xs", "xx", "dataset", "datasets", "feat"),
    *("feats", "multiview", "multiviews", "multiviewdata", "mvdata", "viewdata", "mat", "v", "xv", "xcell", "inputs"),
)
GRAPH_NAMES = ("z", "zs", "graphs", "graph", "anchorgraphs", "anchorgraph", "zv", "zcell", "views", "view", "x", "data")
_SPLITS = ("training", "train", "trn", "tr", "testing", "test", "tst", "te", "validation", "valid", "val", "dev")
_MASKS = ("m", "ind", "miss", "mask", "index")


@dataclass(frozen=True)
class ViewChoice:
    """The entries chosen as views, their names, notes, and the keys of other entries that the notes mention."""

    entries: list[Entry]
    names: list[str]
    notes: list[Note] = field(default_factory=list)
    mentioned: list[str] = field(default_factory=list)
    # Whether the views are what one cell or 3-D array holds; its last member if that may be labels.
    in_container: bool = False
    last_member: Entry | None = None


def named_views(entries: Sequence[Entry], keys: Sequence[str], option: str = "views") -> ViewChoice:
    """The views that a user named: matrices, or cells and structs with all they hold."""
    chosen: list[Entry] = []
    notes: list[Note] = []
    labels: Entry | None = None
    for key in keys:
        entry = find_entry(entries, key, option)
        inside = [entry] if entry.is_matrix else [unwrapped(each) for each in flatten(inner_entries(entry))]
        wrong = [each for each in inside if not each.is_matrix]
        if wrong or not inside:
            bad = (wrong or [entry])[0]
            raise InputError(f"{option}={key!r}: {bad.key!r} is {bad.description}; expected a matrix of numbers.")
        if option == "views" and entry.kind == "cell":
            inside, labels = _without_labels(inside)
            notes += [_no_view(labels)] if labels else []
        chosen.extend(inside)
    return ViewChoice(chosen, [entry.key for entry in chosen], notes, last_member=labels if len(keys) == 1 else None)


def guess_views(
    entries: Sequence[Entry], n_labels: set[int], names: Sequence[str] = VIEW_NAMES, option: str = "views"
) -> ViewChoice:
    """The views of a file that the user did not name: a cell of matrices, or else matrices that share a size.

    ``n_labels`` are the numbers of labels that were found; ``names`` are names that views, or graphs, often have.
    """
    containers = [entry for entry in entries if entry.kind == "cell" or entry.is_stack]
    known = [entry for entry in containers if entry.plain_name in names or normal(entry.parent) in names]
    known.sort(key=lambda entry: names.index(entry.plain_name) if entry.plain_name in names else len(names))
    found = _from_containers([(entry, cell_matrices(entry)) for entry in known], known, entries, option)
    if found is None:
        # A 3-D array beside matrices may be images, one for each sample.
        has_matrix = any(entry.is_matrix and not entry.is_vector for entry in entries)
        others = [entry for entry in containers if entry not in known and not (entry.is_stack and has_matrix)]
        held = [(entry, cell_matrices(entry)) for entry in others]
        sharing = [(entry, members) for entry, members in held if members and shared_sides(members, n_labels)]
        found = _from_containers(sharing, others, entries, option)
    return found or _separate_variables(entries, n_labels, names, option)


def _from_containers(
    held: Sequence[tuple[Entry, list[Entry] | None]], containers: Sequence[Entry], entries: Sequence[Entry], option: str
) -> ViewChoice | None:
    """The views of the only cell that holds matrices."""
    usable = [(entry, members) for entry, members in held if members]
    if not usable:
        return None
    (cell, views), rest = usable[0], usable[1:]
    labels: Entry | None = None
    if option == "views":
        _check_split([cell], containers)
        if cell.kind == "cell":
            views, labels = _without_labels(views)
    notes = [Note("views", cell.key, f"{option.capitalize()} are the {len(views)} matrices of {cell.key!r}.")]
    for other, copies in rest:
        if option == "views" and other.kind == "cell":
            copies, _ = _without_labels(copies)
        if len(copies) != len(views) or not all(map(same_content, views, copies)):
            raise InputError(f"{cell.key!r} and {other.key!r} could both be the views; {option}= says which to take.")
        notes.append(Note("duplicate", other.key, f"{other.key!r} holds the same views and was not taken again."))
    if labels is not None:
        notes.append(_no_view(labels))
    if option == "views":
        notes += _equal_views(views)
    # Variables that hold the same matrices as the cell give the views their names.
    left = [entry for entry in entries if entry.is_matrix and not entry.is_vector]
    names, copied = [], []
    for view in views:
        copy = next((entry for entry in left if same_content(view, entry)), None)
        names.append(view.key if copy is None else copy.key)
        if copy is not None:
            left.remove(copy)
            copied.append(copy.key)
    if copied:
        text = f"{quoted(copied)} hold the same views once more: taken once, under these names."
        notes.append(Note("duplicate", "", text))
    if left:
        notes.append(Note("left out", "", f"Not taken as views: {quoted([entry.key for entry in left])}."))
    mentioned = [*(entry.key for entry, _ in usable), *copied, *(entry.key for entry in left)]
    return ViewChoice(views, names, notes, mentioned, True, labels)


def _without_labels(members: Sequence[Entry]) -> tuple[list[Entry], Entry | None]:
    """The members of a cell without a last one that is a whole number for each sample, and that one."""
    *views, last = members
    if not views or not last.is_vector or any(view.is_vector for view in views):
        return list(members), None
    if not all(max(last.shape) in view.sides for view in views):
        return list(members), None
    try:
        read_labels(last)
    except InputError:
        return list(members), None
    return views, last


def _no_view(labels: Entry) -> Note:
    return Note("left out", labels.key, f"{labels.key!r} is a whole number for each sample: not taken as a view.")


def _equal_views(views: Sequence[Entry]) -> list[Note]:
    """A note for each view that holds what an earlier one holds."""
    notes = []
    for place, entry in enumerate(views):
        for other in views[:place]:
            same = other.shape == entry.shape and same_content(other, entry)
            other.forget()
            if same:
                text = f"{other.key!r} and {entry.key!r} hold the same numbers; both are taken."
                notes.append(Note("duplicate", entry.key, text))
                break
    return notes


def _separate_variables(entries: Sequence[Entry], n_labels: set[int], names: Sequence[str], option: str) -> ViewChoice:
    """Views that are variables of their own."""
    wide = [entry for entry in entries if entry.is_matrix and not entry.is_vector and max(entry.shape) > 1]
    # A vector that is numbered like a matrix, X1 beside X2, is a view of one feature.
    numbered = {_stem(entry) for entry in wide if _is_numbered(entry)}
    candidates = [*wide, *(entry for entry in entries if entry.is_vector and _stem(entry) in numbered)]
    sizes = n_labels
    if not sizes:
        counts = Counter(size for entry in _without_asides(wide) for size in {*entry.sides})
        sizes = {size for size, count in counts.items() if count == max(counts.values())}
    fitting = [entry for entry in candidates if sizes & {*entry.sides}]
    if not fitting:
        raise _no_views(entries, candidates, n_labels, option)
    chosen = _best_family(_of_one_parent(_without_asides(fitting), names), names, option, must_be_one=not n_labels)
    notes: list[Note] = []
    if option == "views":
        _check_split(chosen, candidates)
        _check_family(chosen, candidates, n_labels)
        # Two equal graphs count twice; a view that comes under two names counts once.
        chosen = _without_copies(chosen)
        notes = _equal_views([entry for entry in chosen if _is_numbered(entry)])
    stems = list(dict.fromkeys(map(_stem, chosen)))
    chosen = sorted(chosen, key=lambda entry: (stems.index(_stem(entry)), natural(entry.key.lower())))
    keys = [entry.key for entry in chosen]
    left = [entry.key for entry in candidates if entry not in chosen]
    notes.insert(0, Note("views", "", f"{option.capitalize()} are {quoted(keys)}."))
    if left:
        notes.append(Note("left out", "", f"Not taken as {option}: {quoted(left)}."))
    return ViewChoice(chosen, keys, notes, left)


def _stem(entry: Entry) -> str:
    """Key with its numbers left out."""
    return re.sub(r"\d+", "#", entry.key)


def _name_stem(entry: Entry) -> str:
    return normal(re.sub(r"\d+", "", entry.own_name))


def _is_numbered(entry: Entry) -> bool:
    """Whether the key has a number that a person gave it: ``arr_0`` is numpy's."""
    return _stem(entry) != entry.key and _name_stem(entry) != "arr"


def _no_views(entries: Sequence[Entry], candidates: Sequence[Entry], n_labels: set[int], option: str) -> InputError:
    for entry in entries:
        if entry.kind == "objects":
            return InputError(f"{entry.key!r} is {entry.description}.")
    if candidates and n_labels:
        shapes = ", ".join(f"{entry.key!r} is {entry.size}" for entry in candidates[:5])
        counts = " or ".join(map(str, sorted(n_labels)))
        return InputError(
            f"there are {counts} labels, and no matrix has that many rows or columns ({shapes}); "
            "labels= says which labels to take, labels=False none."
        )
    held = ", ".join(f"{entry.key!r} ({entry.description})" for entry in entries[:8])
    return InputError(
        f"there is nothing that looks like views; the file holds {held or 'nothing'}; {option}= names them."
    )


def _without_asides(candidates: Sequence[Entry]) -> list[Entry]:
    """Without similarity matrices, masks and records of splits, unless there is nothing else."""
    stems = {_stem(entry) for entry in candidates if entry.sides[0] != entry.sides[1]}
    # A square matrix that is numbered like others, X3 beside X1 and X2, is one of them.
    kept = [entry for entry in candidates if _stem(entry) in stems] or list(candidates)
    return [
        entry for entry in kept if not entry.is_bookkeeping and not (entry.plain_name in _MASKS and is_binary(entry))
    ] or kept


def _of_one_parent(candidates: Sequence[Entry], names: Sequence[str]) -> list[Entry]:
    """Fields of one struct, or variables outside all structs."""
    parents = Counter(entry.parent for entry in candidates)
    best = max(parents, key=lambda p: (normal(p.rsplit(".", 1)[-1]) in names, p == "", parents[p]))
    return [entry for entry in candidates if entry.parent == best]


def _best_family(
    candidates: Sequence[Entry], names: Sequence[str], option: str, *, must_be_one: bool
) -> Sequence[Entry]:
    """The matrices that are numbered alike under a known name, if there are such; else all."""
    named = [entry for entry in candidates if _stem(entry) != entry.key and _name_stem(entry) in names]
    families = [stem for stem, count in Counter(map(_stem, named)).items() if count > 1]
    if len(families) > 1 and must_be_one:
        raise InputError(f"both {quoted(families)} (# is a number) could be the views; {option}= says which.")
    if not families:
        return candidates
    first = min(named, key=lambda e: names.index(_name_stem(e)) if _stem(e) in families else len(names))
    return [entry for entry in named if _stem(entry) == _stem(first)]


def _without_copies(candidates: Sequence[Entry]) -> list[Entry]:
    """Without matrices that hold what an earlier one holds, unless both are numbered alike."""
    kept: list[Entry] = []
    for entry in candidates:
        others = [one for one in kept if not (_is_numbered(entry) and _stem(one) == _stem(entry))]
        if not any(same_content(one, entry) for one in others):
            kept.append(entry)
    return kept


def _check_family(chosen: Sequence[Entry], candidates: Sequence[Entry], n_labels: set[int]) -> None:
    """Refuse views if a matrix that is numbered like them has another number of samples."""
    shared = shared_sides(chosen)
    outside = [e for e in candidates if e not in chosen and e.parent == chosen[0].parent and not shared & {*e.sides}]
    for entry in chosen:
        for other in outside:
            if _is_numbered(entry) and _stem(other) == _stem(entry):
                counts = f"; there are {' or '.join(map(str, sorted(n_labels)))} labels" if n_labels else ""
                raise InputError(
                    f"views do not have the same number of samples: {entry.key!r} is {entry.size} and "
                    f"{other.key!r} is {other.size}{counts}; views= (--views) says which to take."
                )


def _check_split(chosen: Sequence[Entry], candidates: Sequence[Entry]) -> None:
    """Refuse X_train beside X_test as a view: they are other samples, not other features."""
    halves: dict[str, Entry] = {}
    for entry in candidates:
        name = entry.plain_name
        ends = [name.removesuffix(each) for each in _SPLITS if name.endswith(each)]
        base = next(iter(ends + [name.removeprefix(each) for each in _SPLITS if name.startswith(each)]), None)
        if base is None:
            continue
        half = halves.get(base)
        if half is not None and (entry in chosen or half in chosen):
            raise InputError(
                f"{half.key!r} ({half.size}) and {entry.key!r} ({entry.size}) look like parts of a split into training "
                "and test samples, not like views of the same samples; views= and labels= (--views, --labels) say "
                "what to take."
            )
        halves[base] = entry
