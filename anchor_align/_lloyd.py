"""Lloyd's algorithm for several runs of k-means side by side."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._mapping import map_rows
from ._rows import Products, RowSource, square_norms, true_rows, weighted_rows
from ._types import FloatArray, IndexArray, is_sparse
from .errors import InputError

# From here on, looking at a row costs more than keeping bounds that may spare it. That is for a single run: products
# with the centres of several are so much faster that the few rows each of them needs are not worth picking.
BOUNDS_FROM_COLUMNS, BOUNDS_FROM_ROWS = 48, 2**13
# Share of the rows that are looked at again from which a product with all rows is faster.
MANY = 0.3
# Rounding of the bounds in single precision, relative to all that was added up.
MARGIN = 1e-6
# Squared distance, in units, that stands for "nowhere".
FAR_OFF = 1e12


@dataclass(eq=False)
class Run:
    """One run of Lloyd's algorithm.

    ``sums`` are those of the rows at hand, not of the rows meant. ``upper`` and ``lower`` bound each row's distance to
    its centre and to all others as the centres were when ``drift`` and ``drift_most``, the ways that the centres have
    gone since the start, were zero: a row whose bounds, moved by the drifts, do not meet keeps its label unseen. All
    of them are in multiples of ``unit``, so that single precision can hold them.
    """

    centres: FloatArray
    labels: npt.NDArray[Any]
    upper: npt.NDArray[np.float32]
    lower: npt.NDArray[np.float32]
    sums: FloatArray
    counts: FloatArray
    drift: FloatArray
    unit: float
    drift_most: float = 0.0
    n_iter: int = 0
    ending: bool = False
    ended: bool = False

    @classmethod
    def start(cls, centres: FloatArray, n_rows: int, unit: float, bounded: bool) -> Run:
        k, d = centres.shape
        labels = np.empty(n_rows, np.min_scalar_type(k - 1))
        bounds = n_rows if bounded else 0
        upper, lower = np.empty(bounds, np.float32), np.empty(bounds, np.float32)
        return cls(centres, labels, upper, lower, np.zeros((k, d)), np.zeros(k), np.zeros(k), unit)

    @property
    def n_empty(self) -> int:
        """Clusters without a row."""
        return int(np.count_nonzero(self.counts == 0))

    def inertia(self, sums: FloatArray, total: float) -> float:
        """Sum of the squared distances of all rows to their centres.

        ``sums`` are those of the rows as they are meant, ``total`` is the sum of their squared norms.
        """
        return total + float(self.counts @ square_norms(self.centres)) - 2.0 * float(np.vdot(sums, self.centres))

    def undecided(self, rows: slice) -> npt.NDArray[np.bool_]:
        """Rows that may be nearer to another centre by now."""
        reach = (self.drift + self.drift_most).astype(np.float32)
        return np.asarray(self.upper[rows] + reach[self.labels[rows]] > self.lower[rows])

    def decide(self, at: slice | IndexArray, nearest: _Nearest) -> None:
        """Set the labels and bounds of some rows."""
        labels = nearest.labels
        self.labels[at] = labels
        if nearest.least is None or nearest.second is None:
            return
        # Rounding must not tighten the bounds.
        margin = MARGIN * (nearest.second + self.drift_most + float(self.drift.max()))
        self.upper[at] = nearest.least - self.drift[labels] + margin
        self.lower[at] = nearest.second + self.drift_most - margin


@dataclass(frozen=True, eq=False)
class _Nearest:
    """Nearest centre of some rows and, where bounds are kept, at most how far it is and at least how far all others."""

    labels: npt.NDArray[Any]
    least: FloatArray | None = None
    second: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class _Moves:
    """Rows of a block that changed their cluster in one run: how many, and by how much sums and sizes change."""

    run: int
    n_rows: int
    sums: FloatArray
    counts: FloatArray


def run_lloyd(source: RowSource, starts: FloatArray, norms: npt.NDArray[Any], tol: float, max_iter: int) -> list[Run]:
    """Lloyd's algorithm for several runs, side by side, until each has ended."""
    unit = float(np.sqrt(norms.mean(dtype=np.float64))) or 1.0
    n, d = source.shape
    bounded = len(starts) == 1 and n >= BOUNDS_FROM_ROWS and d >= BOUNDS_FROM_COLUMNS
    runs = [Run.start(centres, n, unit, bounded) for centres in starts]
    at_work = runs
    while at_work:
        moved = _Assigner(source, at_work, norms, first=at_work[0].n_iter == 0).assign()
        for run, count in zip(at_work, moved, strict=True):
            run.ended = run.ending or count == 0
            if not run.ended:
                sums = weighted_rows(source, run.sums, run.counts)
                move_centres(run, sums, farthest_rows(source, run, run.n_empty), tol, max_iter)
        at_work = [run for run in at_work if not run.ended]
    return runs


def assign_rows(source: RowSource, starts: FloatArray) -> list[Run]:
    """Give all rows to their nearest centres, in every run."""
    n = source.shape[0]
    runs = [Run.start(centres, n, 1.0, bounded=False) for centres in starts]
    _Assigner(source, runs, np.broadcast_to(source.dtype.type(0), n), first=True).assign()
    return runs


class _Assigner:
    """One pass that gives all rows to their nearest centres, in every run."""

    def __init__(self, source: RowSource, runs: list[Run], norms: npt.NDArray[Any], first: bool) -> None:
        self._source = source
        self._runs = runs
        self._norms = norms
        self._first = first
        centres = np.concatenate([run.centres for run in runs])
        squares = square_norms(centres)
        self._products = Products(source, -2.0 * centres, squares)
        # Error of squared distances from products, relative to the squared norms of row and centre.
        self._error = 8.0 * float(np.finfo(source.dtype).eps)
        self._largest = float(squares.max())
        self._unit = runs[0].unit
        self._bounded = len(runs[0].upper) > 0

    def assign(self) -> IndexArray:
        """Change labels, sums and sizes; how many rows changed their cluster, in each run."""
        n, d = self._source.shape
        moved = np.zeros(len(self._runs), dtype=np.intp)
        for parts in map_rows(self._assign, n, width=d + len(self._runs) * len(self._runs[0].centres)):
            for part in parts:
                moved[part.run] += part.n_rows
                self._runs[part.run].sums += part.sums
                self._runs[part.run].counts += part.counts
        return moved

    def _assign(self, rows: slice) -> list[_Moves]:
        if self._first or not self._bounded:
            return self._assign_to(rows)
        (run,) = self._runs
        undecided = np.flatnonzero(run.undecided(rows))
        if len(undecided) > MANY * (rows.stop - rows.start):
            return self._assign_to(rows)
        return self._assign_to(rows.start + undecided) if len(undecided) else []

    def _assign_to(self, at: slice | IndexArray) -> list[_Moves]:
        """Give some rows to their nearest centres."""
        X = self._source.block(at)
        distances = self._products.of(X).reshape(len(self._runs), -1, X.shape[0])
        return self._move(self._nearest(distances, self._norms[at]), at, X)

    def _nearest(self, distances: npt.NDArray[Any], norms: npt.NDArray[Any]) -> list[_Nearest]:
        """Nearest centres, from squared distances less the rows' norms: runs x clusters x rows, which are changed."""
        k = distances.shape[1]
        least = distances.min(axis=1)
        if not np.isfinite(least).all():
            raise InputError("Rows are not finite, or too large to square: divide them by a constant.")
        # The first of equals has the largest number. On bytes these operations are several times as fast as argmin.
        numbers = np.arange(k, 0, -1).astype(np.min_scalar_type(k))[:, None]
        is_least = distances == least[:, None]
        spare = is_least.view(np.uint8) if k < 256 and not self._bounded else None
        labels = np.multiply(is_least.view(np.uint8), numbers, dtype=numbers.dtype, out=spare).max(axis=1)
        labels = (numbers.dtype.type(k) - labels).astype(self._runs[0].labels.dtype, copy=False)
        if not self._bounded:
            return [_Nearest(each) for each in labels]
        distances[is_least] = np.inf
        second = distances.min(axis=1)
        error = self._error * (norms + self._largest)
        far, near = second + norms - error, least + norms + error
        # Where two centres are as near as each other, both were taken out; where there is one, nothing is left.
        far = np.where(is_least.sum(axis=1) > 1, 0.0, far) if k > 1 else far.clip(max=FAR_OFF * self._unit**2)
        bounds = (np.sqrt(np.maximum(each, 0.0)) / self._unit for each in (near, far))
        return [_Nearest(*each) for each in zip(labels, *bounds, strict=True)]

    def _move(self, found: list[_Nearest], at: slice | IndexArray, X: Any) -> list[_Moves]:
        """Set labels; what the rows that change theirs do to the clusters."""
        labels = np.array([nearest.labels for nearest in found])
        before = None if self._first else np.array([run.labels[at] for run in self._runs])
        for run, nearest in zip(self._runs, found, strict=True):
            run.decide(at, nearest)
        changed = np.ones(labels.shape, dtype=np.bool_) if before is None else labels != before
        counts = np.count_nonzero(changed, axis=1)
        if not counts.any():
            return []
        sums, sizes = _changes(X, labels, before, changed, len(self._runs[0].centres))
        return [
            _Moves(number, int(count), *parts)
            for number, (count, *parts) in enumerate(zip(counts, sums, sizes, strict=True))
            if count
        ]


def _changes(
    X: Any, labels: npt.NDArray[Any], before: npt.NDArray[Any] | None, changed: npt.NDArray[np.bool_], k: int
) -> tuple[FloatArray, FloatArray]:
    """By how much sums and sizes of the clusters change, in each run: only rows that change clusters count."""
    n_runs, n = labels.shape
    moving = np.flatnonzero(changed.any(axis=0))
    if len(moving) < n:
        X, labels, changed = X[moving], labels[:, moving], changed[:, moving]
        before = None if before is None else before[:, moving]
    # One column for each row: where it goes to, and where it comes from.
    rows, which = np.nonzero(changed.T)
    to = which * k + labels[which, rows]
    if before is None:
        ids, signs = to, np.ones(len(to))
    else:
        ids = np.stack([to, which * k + before[which, rows]], axis=1).ravel()
        signs = np.tile([1.0, -1.0], len(to))
    edges = np.append(0, np.cumsum(changed.sum(axis=0))) * (1 if before is None else 2)
    sums = sp.csc_array((signs, ids, edges), shape=(n_runs * k, len(moving))) @ X
    sums = sums.toarray() if is_sparse(sums) else sums
    counts = np.bincount(ids, signs, n_runs * k)
    return np.asarray(sums, dtype=np.float64).reshape(n_runs, k, -1), counts.astype(np.float64).reshape(n_runs, k)


@dataclass(frozen=True, eq=False)
class FarRow:
    """A row, as it is meant, its cluster, and its squared distance from the centre."""

    distance: float
    cluster: int
    row: FloatArray


def farthest_rows(source: RowSource, run: Run, count: int) -> list[FarRow]:
    """The rows that are farthest from their centres, the farthest first."""
    if count == 0:
        return []

    def farthest(rows: slice) -> list[FarRow]:
        block, labels = true_rows(source, rows), run.labels[rows]
        distances = square_norms(block - run.centres[labels])
        top = np.argsort(-distances, kind="stable")[:count]
        return [FarRow(float(distances[at]), int(labels[at]), block[at]) for at in top]

    n, d = source.shape
    return first_farthest(itertools.chain.from_iterable(map_rows(farthest, n, width=2 * d)), count)


def first_farthest(rows: Iterable[FarRow], count: int) -> list[FarRow]:
    """The farthest of some rows; of equals those that come first."""
    return sorted(rows, key=lambda row: -row.distance)[:count]


def move_centres(run: Run, sums: FloatArray, far: list[FarRow], tol: float, max_iter: int) -> None:
    """Move the centres of a run to the means of their rows; says if the next assignment is the last.

    ``sums`` are those of the rows as they are meant. Each empty cluster gets one of the rows in ``far``.
    """
    counts = run.counts
    if far and far[0].distance > 0:
        sums, counts = sums.copy(), counts.copy()
        for cluster, each in zip(np.flatnonzero(run.counts == 0), far, strict=False):
            sums[each.cluster] -= each.row
            counts[each.cluster] -= 1.0
            sums[cluster], counts[cluster] = each.row, 1.0
    centres = sums / np.maximum(counts, 1.0)[:, None]
    # Clusters that cannot have a row, since there are not enough distinct ones, lie with the largest.
    centres[counts == 0] = centres[counts.argmax()]
    squares = square_norms(centres - run.centres)
    shift = float(squares.sum())
    run.centres = centres
    steps = np.sqrt(squares) / run.unit
    run.drift = run.drift + steps
    run.drift_most += float(steps.max())
    run.n_iter += 1
    run.ending = shift <= tol or run.n_iter == max_iter
