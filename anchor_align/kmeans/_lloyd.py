"""Lloyd's algorithm for several runs of k-means side by side.

scikit-learn's ``KMeans`` finds the same clusters, but it copies all rows and runs one start after the other. Here rows
are read in blocks (``benchmarks/speed/memory.py``), results are equal to the last digit for any number of threads, and
all runs share each pass: fmvacc as a whole takes less time than its matrix products with scikit-learn's k-means
(``benchmarks/speed/fmvacc.py``).

A single run also has bounds (Hamerly, 2010) to skip rows that cannot change their cluster. Labels and centres are the
same with and without bounds; on 60,000 digits they halve the time. Several runs share their matrix products; to pick a
few rows for each of them would not be faster.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import FloatArray, IndexArray, is_sparse
from ..blocks import Products, ScaledRows, map_rows, run_rows, square_norms, true_rows, weighted_rows
from ..errors import InputError

FROM_ROWS, FROM_COLUMNS = 2**13, 48  # bounds are faster from this many rows and columns on
MANY = 0.3  # above this fraction of undecided rows, a product with all rows of the block is faster
TIE = 16.0  # rounding of a squared distance, relative to the squared norms of row and centre, in units of the precision
MARGIN = 1e-6  # rounding of the bounds in single precision, relative to their terms


class Bounds:
    """Upper bound of each row's distance to its centre, lower bound of the distance to all others, over ``_unit``.

    They hold for the first centres. ``_drift`` and ``_most`` are the distances that the centres have moved since. A row
    keeps its label if its bounds, moved by the drifts, do not meet.
    """

    def __init__(self, source: ScaledRows, n_clusters: int) -> None:
        n, d = source.shape
        self._norms = np.empty(n)

        def set_norms(rows: slice) -> None:
            self._norms[rows] = square_norms(true_rows(source, rows))

        run_rows(set_norms, n, width=2 * d)
        self._unit = float(np.sqrt(self._norms.mean())) or 1.0
        # Error of squared distances from products, relative to the squared norms of row and centre.
        self._error = 8.0 * float(np.finfo(source.dtype).eps)
        self._upper, self._lower = np.empty(n, np.float32), np.empty(n, np.float32)
        self._drift, self._most = np.zeros(n_clusters), 0.0

    def undecided(self, rows: slice, labels: npt.NDArray[Any]) -> slice | IndexArray:
        """Rows of a block that may now be nearer to another centre; all rows if there are many."""
        reach = (self._drift + self._most).astype(np.float32)
        found = np.flatnonzero(self._upper[rows] + reach[labels[rows]] > self._lower[rows])
        return rows if len(found) > MANY * (rows.stop - rows.start) else rows.start + found

    def update(
        self, at: slice | IndexArray, distances: npt.NDArray[Any], labels: npt.NDArray[Any], centres: FloatArray
    ) -> None:
        """Set the bounds of some rows; ``distances`` (clusters x rows, minus the norms of the rows) are overwritten."""
        norms, each = self._norms[at], np.arange(distances.shape[1])
        least = distances[labels, each]
        distances[labels, each] = np.inf
        second = distances.min(axis=0)
        error = self._error * (norms + float(square_norms(centres).max()))
        near = np.sqrt(np.maximum(least + norms + error, 0.0)) / self._unit
        far = np.sqrt(np.maximum(second + norms - error, 0.0)) / self._unit
        far = np.minimum(far, 1e6)  # infinite for a single cluster
        # Rounding must not tighten the bounds.
        margin = MARGIN * (far + self._most + float(self._drift.max()))
        self._upper[at] = near - self._drift[labels] + margin
        self._lower[at] = far + self._most - margin

    def move(self, steps: FloatArray) -> None:
        self._drift = self._drift + steps / self._unit
        self._most += float(steps.max()) / self._unit


@dataclass(eq=False)
class LloydRun:
    """One run of Lloyd's algorithm. ``sums`` are sums of the stored rows, before they are centred and scaled."""

    centres: FloatArray
    labels: npt.NDArray[Any]
    sums: FloatArray
    counts: FloatArray
    bounds: Bounds | None = None
    n_iter: int = 0
    ending: bool = False
    ended: bool = False

    @classmethod
    def start(cls, centres: FloatArray, n_rows: int) -> LloydRun:
        k, d = centres.shape
        return cls(centres, np.empty(n_rows, np.min_scalar_type(k - 1)), np.zeros((k, d)), np.zeros(k))

    @property
    def n_empty(self) -> int:
        return int(np.count_nonzero(self.counts == 0))

    def inertia(self, sums: FloatArray, total: float) -> float:
        """Sum of the squared distances of all rows to their centres.

        ``sums`` are the clusters' sums of scaled rows, ``total`` is the sum of the squared norms of all scaled rows.
        """
        return total + float(self.counts @ square_norms(self.centres)) - 2.0 * float(np.vdot(sums, self.centres))


@dataclass(frozen=True, eq=False)
class _Moves:
    """Rows of a block that changed their cluster in one run: their number, and the changes of sums and counts."""

    run: int
    n_rows: int
    sums: FloatArray
    counts: FloatArray


def run_lloyd(source: ScaledRows, starts: FloatArray, tol: float, max_iter: int) -> list[LloydRun]:
    """Lloyd's algorithm for several runs, side by side, until each has ended."""
    n, d = source.shape
    runs = [LloydRun.start(centres, n) for centres in starts]
    if len(runs) == 1 and n >= FROM_ROWS and d >= FROM_COLUMNS:
        runs[0].bounds = Bounds(source, starts.shape[1])
    at_work = runs
    while at_work:  # a run ends after max_iter moves
        moved = _assign(source, at_work)
        for run, count in zip(at_work, moved, strict=True):
            run.ended = run.ending or count == 0
            if not run.ended:
                sums = weighted_rows(source, run.sums, run.counts)
                move_centres(run, sums, farthest_rows(source, run, run.n_empty), tol, max_iter)
        at_work = [run for run in at_work if not run.ended]
    return runs


def assign_rows(source: ScaledRows, starts: FloatArray) -> list[LloydRun]:
    runs = [LloydRun.start(centres, source.shape[0]) for centres in starts]
    _assign(source, runs)
    return runs


def _assign(source: ScaledRows, runs: list[LloydRun]) -> IndexArray:
    """Update labels, sums and counts of all runs in one pass; returns how many rows changed their cluster, by run."""
    n, d = source.shape
    k = len(runs[0].centres)
    first = runs[0].n_iter == 0
    centres = np.concatenate([run.centres for run in runs])
    squares = square_norms(centres)
    products, largest = Products(source, -2.0 * centres, squares), float(squares.max())
    bounds = runs[0].bounds

    def assign_block(rows: slice) -> list[_Moves]:
        at = rows if first or bounds is None else bounds.undecided(rows, runs[0].labels)
        if not isinstance(at, slice) and not len(at):
            return []
        X = source.block(at)
        distances = products.of(X).reshape(len(runs), k, -1)
        labels = _nearest(distances, largest).astype(runs[0].labels.dtype, copy=False)
        before = None if first else np.array([run.labels[at] for run in runs])
        for run, found in zip(runs, labels, strict=True):
            run.labels[at] = found
        if bounds is not None:
            bounds.update(at, distances[0], labels[0], centres)
        changed = np.ones(labels.shape, dtype=np.bool_) if before is None else labels != before
        counts = np.count_nonzero(changed, axis=1)
        if not counts.any():
            return []
        changes = zip(counts, *_changes(X, labels, before, changed, k), strict=True)
        return [_Moves(run, int(count), *sums) for run, (count, *sums) in enumerate(changes) if count]

    moved = np.zeros(len(runs), dtype=np.intp)
    for moves in map_rows(assign_block, n, width=d + len(runs) * k):
        for each in moves:
            moved[each.run] += each.n_rows
            runs[each.run].sums += each.sums
            runs[each.run].counts += each.counts
    return moved


def _nearest(distances: npt.NDArray[Any], largest: float) -> npt.NDArray[Any]:
    """Nearest centre of every row, from squared distances (runs x clusters x rows) minus the rows' squared norms.

    Of centres whose distances differ by rounding only, the first: rounding depends on the place of a row. ``largest``
    is the largest squared norm of a centre.
    """
    k = distances.shape[1]
    least = distances.min(axis=1)
    if not np.isfinite(least).all():
        raise InputError("Rows are not finite, or too large to square: divide them by a constant.")
    # The first of equal centres has the largest number. On bytes these operations are several times faster than argmin.
    numbers = np.arange(k, 0, -1).astype(np.min_scalar_type(k))[:, None]
    rounding = distances.dtype.type(TIE * np.finfo(distances.dtype).eps)
    is_least = (distances <= (least + rounding * (np.abs(least) + distances.dtype.type(largest)))[:, None]).view(
        np.uint8
    )
    out = is_least if k < 256 else None
    return np.asarray(numbers.dtype.type(k) - np.multiply(is_least, numbers, dtype=numbers.dtype, out=out).max(axis=1))


def _changes(
    X: Any, labels: npt.NDArray[Any], before: npt.NDArray[Any] | None, changed: npt.NDArray[np.bool_], k: int
) -> tuple[FloatArray, FloatArray]:
    """Changes of the sums and counts of the clusters, in each run; only rows that change clusters count."""
    n_runs, n = labels.shape
    moving = np.flatnonzero(changed.any(axis=0))
    if len(moving) < n:
        X, labels, changed = X[moving], labels[:, moving], changed[:, moving]
        before = None if before is None else before[:, moving]
    # One column for each row: its new and its old cluster.
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
    """A scaled row, its cluster, and its squared distance from the centre."""

    distance: float
    cluster: int
    row: FloatArray


def farthest_rows(source: ScaledRows, run: LloydRun, count: int) -> list[FarRow]:
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
    """The farthest of some rows; of equal ones the first."""
    return sorted(rows, key=lambda row: -row.distance)[:count]


def move_centres(run: LloydRun, sums: FloatArray, far: list[FarRow], tol: float, max_iter: int) -> None:
    """Move the centres of a run to the means of their rows; sets ``ending`` if the next assignment is the last.

    ``sums`` are sums of scaled rows, by cluster. Each empty cluster gets one of the rows in ``far``.
    """
    counts = run.counts
    if far and far[0].distance > 0:
        sums, counts = sums.copy(), counts.copy()
        for cluster, each in zip(np.flatnonzero(run.counts == 0), far, strict=False):
            sums[each.cluster] -= each.row
            counts[each.cluster] -= 1.0
            sums[cluster], counts[cluster] = each.row, 1.0
    centres = sums / np.maximum(counts, 1.0)[:, None]
    # With too few distinct rows some clusters stay empty; their centre is that of the largest cluster.
    centres[counts == 0] = centres[counts.argmax()]
    squares = square_norms(centres - run.centres)
    shift = float(squares.sum())
    if run.bounds is not None:
        run.bounds.move(np.sqrt(squares))
    run.centres = centres
    run.n_iter += 1
    run.ending = shift <= tol or run.n_iter >= max_iter
