"""Data sets of a study: how they are read, checked, named and hashed."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import BoolArray, IndexArray, is_sparse
from ..blocks import row_places
from ..checks import check_whole_number
from ..clustering import Views, check_views
from ..data import MultiViewData, load_views
from ..errors import InputError, shown
from ..metrics import encode_labels
from ._results import DataInfo

# Rows are hashed in blocks of about this many bytes.
BLOCK = 2**24
# Prepared data sets stay in memory up to this many bytes in all; the latest one always stays.
MOST_BYTES = 2**28


@dataclass(frozen=True, eq=False)
class DataSpec:
    """A data set of a study and how it is read.

    Parameters
    ----------
    source : str
        A file, a folder, or the name of a bundled set, see :func:`anchor_align.load_views`.
    name : str, optional
        Name in the result; by default the file's name without its suffix.
    views, labels, orient, max_bytes, join, index, sep, decimal : optional
        As for :func:`anchor_align.load_views`.
    n_clusters : int, optional
        By default the number of different labels.
    data : MultiViewData, optional
        Data in memory; the source is then not read.
    missing : {"error", "nan"}, default="error"
        "nan": a row of a view that is all NaN is a missing sample.
    """

    source: str
    name: str = ""
    views: tuple[str, ...] | None = None
    labels: Any = None
    orient: str = "auto"
    n_clusters: int | None = None
    data: MultiViewData | None = None
    missing: str = "error"
    max_bytes: int | str | None = None
    join: str | None = None
    index: Any = None
    sep: str | None = None
    decimal: str | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """A data set that was read and checked."""

    info: DataInfo
    views: Views
    labels: IndexArray | None

    @property
    def n_bytes(self) -> int:
        return 8 * self.views.n_numbers


def name_all(specs: Sequence[DataSpec]) -> list[DataSpec]:
    """Give every data set its own name: that of the file, or the source if two files have the same name."""
    if any(not spec.source for spec in specs):
        raise InputError("Got an empty name for data; expected a file, a folder or a bundled set.")
    short = [spec.name or _stem(spec.source) for spec in specs]
    taken = Counter(short)
    pairs = zip(specs, short, strict=True)
    names = [spec.source if taken[name] > 1 and not spec.name else name for spec, name in pairs]
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"Data {name!r} is given {count} times; every data set needs a name of its own.")
    return [replace(spec, name=name) for spec, name in zip(specs, names, strict=True)]


def _stem(source: str) -> str:
    path = Path(source)
    return path.stem if path.suffix.lower() in (".mat", ".npz") else path.name or os.path.basename(path.resolve())


def prepare(spec: DataSpec) -> Prepared:
    """Load a data set, check it, and hash its content."""
    data = spec.data
    if data is None:
        keys = None if spec.views is None else list(spec.views)
        same = ("labels", "orient", "max_bytes", "join", "index", "sep", "decimal")
        data = load_views(spec.source, views=keys, **{name: getattr(spec, name) for name in same})
        for X in data.views:
            _lock(X)
    try:
        return _checked(spec, data)
    except InputError as error:
        raise InputError(f"Data {spec.name!r}: {error}") from error


def _checked(spec: DataSpec, data: MultiViewData) -> Prepared:
    if len(set(data.names)) != len(data.views):
        raise InputError(f"{len(data.views)} views have the names {', '.join(data.names)}; every view needs its own.")
    # Files were joined when they were read.
    views = check_views(data, missing=spec.missing, join=spec.join if spec.data is not None else None)
    by_name = _labels_by_name(data.labels, views.samples)
    given = data.labels if by_name is None else by_name
    labels = None if given is None else encode_labels(given, "labels")[0]
    if labels is not None and by_name is None and views.notes:
        raise InputError(
            "labels have no names, and the samples of the views were put in one order by name; give labels as a Series "
            "whose index has the names, or MultiViewData of join_views with labels in the order of its samples."
        )
    if labels is not None and len(labels) != views.n_samples:
        raise InputError(f"there are {len(labels)} labels for {views.n_samples} samples.")
    if spec.n_clusters is not None:
        n_clusters = check_whole_number("the number of clusters", spec.n_clusters, least=1)
    elif labels is not None:
        n_clusters = int(labels.max()) + 1
    else:
        raise InputError("there are no labels to count the clusters by; say how many with --clusters (n_clusters).")
    if n_clusters > views.n_samples:
        raise InputError(f"{n_clusters} clusters were asked for, but there are {views.n_samples} samples.")
    notes = [*map(str, data.notes), *views.notes]
    if len(views.names) == 1:
        notes.append("There is one view only, so there is nothing to align; tables of one data set go into one folder.")
    if views.mask is not None:
        counts = zip(views.names, views.n_samples - views.mask.sum(axis=1), strict=True)
        lacking = ", ".join(f"{name!r} {count}" for name, count in counts if count)
        notes.append(f"Of {views.n_samples} samples, views lack: {lacking}.")
    digest = digest_of(views.matrices, labels, data.mask)
    info = DataInfo(
        name=spec.name,
        source=spec.source,
        n_samples=views.n_samples,
        n_clusters=n_clusters,
        views=tuple((name, int(X.shape[1])) for name, X in zip(views.names, views.matrices, strict=True)),
        has_labels=labels is not None,
        digest=digest,
        notes=tuple(notes),
        rows_digest=rows_digest(views.matrices, views.mask),
        kinds=tuple(f"{'sparse ' * is_sparse(X)}{X.dtype}" for X in views.matrices),
    )
    return Prepared(info, views, labels)


def _labels_by_name(labels: Any, samples: tuple[Any, ...] | None) -> Any:
    """Labels of a Series in the order of the samples; None if labels or samples have no names."""
    if samples is None or not hasattr(labels, "iloc"):
        return None
    own = labels.index.tolist()
    places = row_places(own, samples)
    if type(labels.index).__name__ == "RangeIndex" and (places < 0).any():
        return None
    for name, place in zip(samples, places, strict=True):
        if place < 0:
            raise InputError(f"the views have a sample {shown(name)}, and the labels do not name it.")
    repeated = [name for name, count in Counter(own).items() if count > 1]
    if repeated:
        raise InputError(f"the labels name the sample {shown(repeated[0])} more than once.")
    return labels.to_numpy()[places]


def _lock(X: Any) -> None:
    """Make data that were read for the study read-only: all runs see the same numbers."""
    for part in (X.data, X.indices, X.indptr) if is_sparse(X) else (X,):
        while isinstance(part, np.ndarray):
            part.flags.writeable = False
            part = part.base


def digest_of(views: Sequence[Any], labels: IndexArray | None, mask: BoolArray | None = None) -> str:
    """Hash of the numbers in the views, of the mask of joined samples and of the labels.

    The same numbers have the same hash in any memory layout, precision and file format.
    """
    state = hashlib.sha256()
    for X in views:
        parts = (X.data, X.indices, X.indptr) if is_sparse(X) else (X,)
        state.update(f"{len(parts)} {X.shape} ".encode())
        for part in parts:
            for rows in _blocks(part):
                state.update(np.ascontiguousarray(part[rows], dtype=np.float64).data)
    if mask is not None:
        state.update(np.packbits(mask).data)
    if labels is not None:
        state.update(labels.astype(np.int64).data)
    return f"sha256:{state.hexdigest()}"


def rows_digest(views: Sequence[Any], mask: BoolArray | None) -> int:
    """Hash of the samples, 64 bits: the same for samples in any order, dense or sparse, of any precision."""
    hashes = np.zeros(views[0].shape[0], dtype=np.uint64)
    for view, X in enumerate(views):
        factors = np.random.default_rng([view, X.shape[1]]).integers(2**64, size=X.shape[1], dtype=np.uint64)
        sums = np.zeros_like(hashes)
        if is_sparse(X):
            # Differences of running sums are right, although the sums overflow.
            entries = np.append(np.uint64(0), np.cumsum(_bits(X.data) * factors[X.indices], dtype=np.uint64))
            sums[:] = entries[X.indptr[1:]] - entries[X.indptr[:-1]]
        else:
            for rows in _blocks(X):
                sums[rows] = _bits(X[rows]) @ factors
        hashes = _mixed(hashes + (sums if mask is None else np.where(mask[view], sums, np.uint64(0))))
    return int(hashes.sum(dtype=np.uint64))


def _bits(values: Any) -> Any:
    """Bits of numbers as whole numbers, zero for zero; the low half of whole numbers is not zero."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
    return bits ^ (bits >> np.uint64(32))


def _mixed(hashes: Any) -> Any:
    """Hashes in which every bit depends on every bit, so that sums of them do not cancel."""
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        hashes = (hashes ^ (hashes >> np.uint64(29))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(32))


def _blocks(array: Any) -> Iterator[slice]:
    rows = max(1, BLOCK // max(1, array[:1].nbytes))
    return (slice(start, start + rows) for start in range(0, len(array), rows))


class Shelf:
    """Prepared data sets, as many as fit into memory; ``memory`` holds data that have no source to read."""

    def __init__(self, memory: Mapping[str, MultiViewData] | None = None) -> None:
        self._memory = memory or {}
        self._kept: dict[str, Prepared] = {}

    def get(self, spec: DataSpec) -> Prepared:
        if spec.name not in self._kept:
            prepared = prepare(replace(spec, data=spec.data or self._memory.get(spec.name)))
            while self._kept and sum(each.n_bytes for each in self._kept.values()) + prepared.n_bytes > MOST_BYTES:
                del self._kept[next(iter(self._kept))]
            self._kept[spec.name] = prepared
        return self._kept[spec.name]
