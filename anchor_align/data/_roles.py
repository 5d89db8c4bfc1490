"""Which entries of a file are the views, and which the labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import InputError
from ._duplicates import same_content
from ._entries import Entry, find_entry, flatten, natural, normal, parts, unwrapped
from ._families import check_family, check_split, is_mask, is_numbered, kin, leaf_stem, stem, twins, without_labels
from ._labels import describe
from ._orientation import sides

VIEW_NAMES = (
    *("x", "data", "fea", "feas", "feature", "features", "view", "views", "xs", "xx", "dataset", "datasets", "feat"),
    *("feats", "multiview", "multiviews", "multiviewdata", "mvdata", "viewdata", "mat", "v", "xv", "xcell", "inputs"),
)
GRAPH_NAMES = ("z", "zs", "graphs", "graph", "anchorgraphs", "anchorgraph", "zv", "zcell", "views", "view", "x", "data")
# Matrices with one row for each sample that describe how data were used, not the samples.
ASIDE = re.compile(r"idx|index|indic|fold|split|perm|train|test|mask|weight|missing|paired|order")


@dataclass(frozen=True)
class Views:
    """The entries chosen as views, their names, and what was guessed."""

    entries: list[Entry]
    names: list[str]
    notes: list[str] = field(default_factory=list)
    # Whether they are what one cell or 3-D array holds, and what this holds beside them that may be labels.
    in_container: bool = False
    labels: Entry | None = None


def named_views(entries: Sequence[Entry], keys: Sequence[str], path: object, option: str = "views") -> Views:
    """The views that a user named: matrices, or cells and structs with all they hold."""
    chosen: list[Entry] = []
    notes: list[str] = []
    labels: Entry | None = None
    for key in keys:
        entry = find_entry(entries, key, path, option)
        inside = [entry] if entry.is_matrix else [unwrapped(each) for each in flatten(parts(entry))]
        wrong = [each for each in inside if not each.is_matrix]
        if wrong or not inside:
            bad = (wrong or [entry])[0]
            raise InputError(f"{path}: {option}={key!r}: {bad.key!r} is {describe(bad)}; expected a matrix of numbers.")
        if option == "views" and entry.kind == "cell":
            inside, labels = without_labels(inside)
            notes += [_not_a_view(labels)] if labels else []
        chosen.extend(inside)
    return Views(chosen, [entry.key for entry in chosen], notes, labels=labels if len(keys) == 1 else None)


def _not_a_view(entry: Entry) -> str:
    return f"{entry.key!r} is a whole number for each sample: not taken as a view."


def guess_views(
    entries: Sequence[Entry], n_labels: set[int], path: object, names: Sequence[str] = VIEW_NAMES, option: str = "views"
) -> Views:
    """The views of a file that were not named: a cell of matrices, or else matrices that share a size."""
    containers = [entry for entry in entries if entry.kind == "cell" or entry.is_stack]
    known = sorted((e for e in containers if _is_named(e, names)), key=lambda e: _rank(e, names))
    found = _from_containers(known, entries, set(), path, option)
    if found is None:
        # A 3-D array beside matrices may be images, one for each sample.
        flat = any(entry.is_matrix and not entry.is_vector for entry in entries)
        others = [entry for entry in containers if entry not in known and not (entry.is_stack and flat)]
        found = _from_containers(others, entries, n_labels, path, option, must_share=True)
    return found or _separate(entries, n_labels, path, names, option)


def _is_named(entry: Entry, names: Sequence[str]) -> bool:
    return entry.short in names or normal(entry.parent) in names


def _rank(entry: Entry, names: Sequence[str]) -> int:
    return names.index(entry.short) if entry.short in names else len(names)


def _from_containers(
    containers: Sequence[Entry],
    entries: Sequence[Entry],
    n_labels: set[int],
    path: object,
    option: str,
    *,
    must_share: bool = False,
) -> Views | None:
    """The views of the only cell that holds matrices."""
    usable = []
    for entry in containers:
        members = matrices(entry)
        if members and not (must_share and not _shared_sizes(members, n_labels)):
            usable.append((entry, members))
    if not usable:
        return None
    (cell, views), rest = usable[0], usable[1:]
    labels: Entry | None = None
    if option == "views":
        check_split([cell], containers, path)
        if cell.kind == "cell":
            views, labels = without_labels(views)
    notes = [f"{option.capitalize()} are the {len(views)} matrices of {cell.key!r}."]
    for other, copies in rest:
        if option == "views" and other.kind == "cell":
            copies, _ = without_labels(copies)
        if len(copies) != len(views) or not all(map(same_content, views, copies)):
            raise InputError(
                f"{path}: {cell.key!r} and {other.key!r} could both be the views; {option}= says which to take."
            )
        notes.append(f"{other.key!r} holds the same views and was not taken again.")
    if labels is not None:
        notes.append(_not_a_view(labels))
    if option == "views":
        notes += twins(views)
    titles = _titles(views, [entry for entry in entries if entry.is_matrix and not entry.is_vector], notes)
    return Views(views, titles, notes, True, labels)


def matrices(container: Entry) -> list[Entry] | None:
    """The matrices of a cell if it holds nothing else, and they are not all vectors."""
    cell = unwrapped(container)
    if cell.is_matrix:
        return None if cell.is_vector or max(cell.shape) == 1 else [cell]
    members = [unwrapped(member) for member in parts(cell)]
    if not members or not all(member.is_matrix for member in members):
        return None
    return None if all(member.is_vector or max(member.shape) == 1 for member in members) else members


def _titles(views: Sequence[Entry], separate: Sequence[Entry], notes: list[str]) -> list[str]:
    """Names of a cell's views: those of variables that hold the same, if there are any."""
    titles = []
    left = list(separate)
    for view in views:
        twin = next((entry for entry in left if same_content(view, entry)), None)
        if twin is not None:
            left.remove(twin)
        titles.append(view.key if twin is None else twin.key)
    twins = [title for title, view in zip(titles, views, strict=True) if title != view.key]
    if twins:
        notes.append(f"{listed(twins)} hold the same views once more: taken once, under these names.")
    if left:
        notes.append(f"Not taken as views: {listed([entry.key for entry in left])}.")
    return titles


def _separate(entries: Sequence[Entry], n_labels: set[int], path: object, names: Sequence[str], option: str) -> Views:
    """Views that are variables of their own."""
    flat = [entry for entry in entries if entry.is_matrix and not entry.is_vector and max(entry.shape) > 1]
    candidates = [*flat, *kin([entry for entry in entries if entry.is_vector], flat)]
    sizes = n_labels or _commonest_sizes(_without_asides(flat))
    fitting = [entry for entry in candidates if sizes & {*sides(entry)}]
    if not fitting:
        raise _no_views(entries, candidates, n_labels, path, option)
    chosen = _of_one_parent(_without_asides(fitting), names)
    families = [entry for entry in chosen if stem(entry) != entry.key and leaf_stem(entry) in names]
    stems = Counter(map(stem, families))
    numbered = [each for each, count in stems.items() if count > 1]
    if len(numbered) > 1 and not n_labels:
        raise InputError(f"{path}: both {listed(numbered)} (# is a number) could be the views; {option}= says which.")
    notes: list[str] = []
    if numbered:
        first = min(families, key=lambda e: names.index(leaf_stem(e)) if stem(e) in numbered else len(names))
        chosen = [entry for entry in families if stem(entry) == stem(first)]
    if option == "views":
        check_split(chosen, candidates, path)
        check_family(chosen, candidates, n_labels, path)
        # The same graph twice counts twice; the same view under two names does not.
        chosen = _without_twins(chosen)
        notes = twins([entry for entry in chosen if is_numbered(entry)])
    stems_in_order = list(dict.fromkeys(map(stem, chosen)))
    chosen = sorted(chosen, key=lambda entry: (stems_in_order.index(stem(entry)), natural(entry.key)))
    keys = [entry.key for entry in chosen]
    left = [entry.key for entry in candidates if entry not in chosen]
    notes.insert(0, f"{option.capitalize()} are {listed(keys)}.")
    if left:
        notes.append(f"Not taken as {option}: {listed(left)}.")
    return Views(chosen, keys, notes)


def _no_views(
    entries: Sequence[Entry], candidates: Sequence[Entry], n_labels: set[int], path: object, option: str
) -> InputError:
    refused = [entry for entry in entries if entry.kind == "other" and entry.what.startswith("an array of Python")]
    if refused:
        return InputError(f"{path}: {refused[0].key!r} is {refused[0].what}.")
    if candidates and n_labels:
        shapes = ", ".join(f"{entry.key!r} is {entry.size}" for entry in candidates[:5])
        counts = " or ".join(map(str, sorted(n_labels)))
        return InputError(
            f"{path}: there are {counts} labels, and no matrix has that many rows or columns ({shapes}); "
            "labels= says which labels to take, labels=False none."
        )
    held = ", ".join(f"{entry.key!r} ({describe(entry)})" for entry in entries[:8])
    return InputError(f"{path} has nothing that looks like views; it holds {held or 'nothing'}; {option}= names them.")


def _commonest_sizes(candidates: Sequence[Entry]) -> set[int]:
    """The sizes that most matrices share."""
    counts = Counter(size for entry in candidates for size in {*sides(entry)})
    return {size for size, count in counts.items() if count == max(counts.values())}


def _shared_sizes(members: Sequence[Entry], n_labels: set[int]) -> set[int]:
    shared = set.intersection(*({*sides(member)} for member in members))
    return shared & n_labels if n_labels else shared


def _without_asides(candidates: Sequence[Entry]) -> list[Entry]:
    """Without similarity matrices and records of how data were split, unless there is nothing else."""
    stems = {stem(entry) for entry in candidates if sides(entry)[0] != sides(entry)[1]}
    # A square matrix that is numbered like others, X3 beside X1 and X2, is one of them.
    kept = [entry for entry in candidates if stem(entry) in stems] or list(candidates)
    return [entry for entry in kept if not ASIDE.search(entry.short) and not is_mask(entry)] or kept


def _of_one_parent(candidates: Sequence[Entry], names: Sequence[str]) -> list[Entry]:
    """Fields of one struct, or variables outside all structs."""
    parents = Counter(entry.parent for entry in candidates)
    best = max(parents, key=lambda p: (normal(p.rsplit(".", 1)[-1]) in names, p == "", parents[p]))
    return [entry for entry in candidates if entry.parent == best]


def _without_twins(candidates: Sequence[Entry]) -> list[Entry]:
    """Without matrices that hold what an earlier one holds, unless both are numbered alike."""
    kept: list[Entry] = []
    for entry in candidates:
        others = [one for one in kept if not (is_numbered(entry) and stem(one) == stem(entry))]
        if not any(same_content(one, entry) for one in others):
            kept.append(entry)
    return kept


def listed(keys: Sequence[str]) -> str:
    """Keys for messages, not more than can be read."""
    shown = ", ".join(repr(key) for key in keys[:12])
    return shown if len(keys) <= 12 else f"{shown} and {len(keys) - 12} more"
