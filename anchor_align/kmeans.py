"""K-means over blocks of rows: all runs share each pass, nothing of the size of the data is copied.

The algorithm is that of scikit-learn's ``KMeans`` with its k-means++ starts and the same random numbers, so it finds
the same clusters. What differs is how the rows are visited. scikit-learn centres a copy of all the data and finishes
one run before the next begins. Here rows come from a :class:`~anchor_align.blocks.RowSource`, which may be a file, and
each pass serves all runs at once: their centres together make one matrix product per block that is wide enough for BLAS
to run at full speed. In a single run, rows to which no other centre can have come near, by how far the centres
have moved (Hamerly, 2010), are not looked at. Sums of the clusters change only by the rows that change clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._labels import first_places
from ._mapping import work_memory
from ._types import FloatArray, IndexArray, is_sparse
from .blocks import Products, RowSource, block_rows, map_rows, run_rows, true_rows, weighted_rows
from .errors import InputError

__all__ = ["KMeansResult", "fit_kmeans"]

# From here on, looking at a row costs more than keeping bounds that may spare it. That is for a single run: products
# with the centres of several are so much faster that the few rows each of them needs are not worth picking.
BOUNDS_FROM_COLUMNS, BOUNDS_FROM_ROWS = 48, 2**13
# Share of the rows that are looked at again, all runs together, from which one product with all rows is faster.
MANY = 0.3
# Rounding of the bounds in single precision, relative to all that was added up.
MARGIN = 1e-6
# Squared distance, in units, that stands for "nowhere".
FAR_OFF = 1e12
# Inertias closer than this, relative, are those of the same clusters.
SAME_INERTIA = 1e-10


@dataclass(frozen=True, eq=False)
class KMeansResult:
    """The best of several runs of k-means.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_columns)
    labels : ndarray of unsigned int of shape (n_rows,)
        Nearest centre of every row.
    inertia : float
        Sum of the squared distances of the rows to their centres.
    n_iter : int
        Rounds of the run that was kept.
    n_found : int
        Clusters that have a row: fewer than asked for only if there are fewer distinct rows.
    """

    centres: FloatArray
    labels: npt.NDArray[np.unsignedinteger[Any]]
    inertia: float
    n_iter: int
    n_found: int

    def first_rows(self) -> IndexArray:
        """First row of every cluster; the number of rows for clusters that have none."""
        return first_places(self.labels, len(self.centres))


def fit_kmeans(
    source: RowSource,
    n_clusters: int,
    *,
    n_init: int,
    random_state: int,
    tol: float = 1e-4,
    max_iter: int = 300,
) -> KMeansResult:
    """Cluster rows around ``n_clusters`` centres; the best of ``n_init`` runs.

    Parameters
    ----------
    source : RowSource
    n_clusters : int
        At most as many as there are rows.
    n_init : int
    random_state : int
    tol : float, default=1e-4
        A run ends when its centres move by no more than this, in squares summed up, relative to the mean variance of
        the columns; with 0, when no row changes its cluster.
    max_iter : int, default=300

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align.blocks import ScaledRows
    >>> from anchor_align.kmeans import fit_kmeans
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> result = fit_kmeans(ScaledRows(X), 2, n_init=3, random_state=0)
    >>> sorted(result.centres.ravel().tolist()), result.inertia
    ([0.5, 10.5], 1.0)
    """
    variance = source.stats().variance
    rows, shift = source.centred()
    total = float(rows.stats().n_rows * (variance + rows.stats().mean ** 2).sum())
    draws = _draws(random_state, n_init, n_clusters)
    at_once = _runs_at_once(rows, n_init)
    best: _Run | None = None
    least = np.inf
    for first in range(0, n_init, at_once):
        starts, norms = _starts(rows, draws[first : first + at_once], n_clusters)
        for run in _lloyd(rows, starts, norms, tol * float(variance.mean()), max_iter):
            inertia = run.inertia(rows, total)
            if best is None or inertia < (1.0 - SAME_INERTIA) * least:
                best, least = run, inertia
    assert best is not None
    n_found = int(np.count_nonzero(best.counts))
    return KMeansResult(best.centres + shift, best.labels, max(least, 0.0), best.n_iter, n_found)


def _runs_at_once(source: RowSource, n_init: int) -> int:
    """Runs that share passes: what each keeps for a row may take a quarter of the memory."""
    return max(1, min(n_init, work_memory() // 4 // (source.shape[0] * (source.dtype.itemsize + 9))))


def _n_trials(n_clusters: int) -> int:
    """Candidates for every next centre."""
    return 2 + int(np.log(n_clusters))


def _draws(random_state: int, n_init: int, n_clusters: int) -> FloatArray:
    """Uniform numbers of every run: one for the first centre, then some for each of the others."""
    return np.random.RandomState(random_state).uniform(size=(n_init, 1 + (n_clusters - 1) * _n_trials(n_clusters)))


def _starts(source: RowSource, draws: FloatArray, n_clusters: int) -> tuple[FloatArray, npt.NDArray[Any]]:
    """First centres of all runs by greedy k-means++ (Arthur and Vassilvitskii, 2007), and the rows' squared norms.

    The next centre is the best of a few rows drawn with probabilities proportional to their squared distance to the
    centres so far.
    """
    n, d = source.shape
    n_runs, n_trials = len(draws), _n_trials(n_clusters)
    nearness = _Nearness(source, n_runs, n_trials)
    chosen = np.minimum((draws[:, 0] * n).astype(np.intp), n - 1)
    centres = np.empty((n_runs, n_clusters, d))
    centres[:, 0] = true_rows(source, chosen)
    nearness.add(centres[:, 0])
    for cluster in range(1, n_clusters):
        first = 1 + (cluster - 1) * n_trials
        candidates = nearness.find(draws[:, first : first + n_trials])
        rows = true_rows(source, candidates.ravel()).reshape(n_runs, n_trials, d)
        best = nearness.potentials(rows).argmin(axis=1)
        centres[:, cluster] = rows[np.arange(n_runs), best]
        nearness.add(centres[:, cluster], best)
    return centres, nearness.norms


class _Nearness:
    """Squared distances of all rows to the nearest centre so far, in every run."""

    def __init__(self, source: RowSource, n_runs: int, n_trials: int) -> None:
        n, d = source.shape
        self._source = source
        self._width = d + n_runs * (n_trials + 2)
        self.norms = np.empty(n, dtype=source.dtype)
        self._closest = np.full((n_runs, n), np.inf, dtype=source.dtype)
        # Distances with each candidate: where there is room for them, the best need not be computed again.
        fits = self._closest.nbytes * n_trials <= work_memory() // 8
        self._tried = np.empty((n_runs, n_trials, n), dtype=source.dtype) if fits else None
        # By block: first rows, and sums of the distances.
        self._edges = np.append(np.arange(0, n, block_rows(self._width)), n)
        self._sums = np.empty((len(self._edges) - 1, n_runs))
        run_rows(self._set_norms, n, width=2 * d)

    def _set_norms(self, rows: slice) -> None:
        block = self._source.block(rows)
        if is_sparse(block):
            squares = block.multiply(block)
            offset, factor = self._source.offset, self._source.factor
            norms = squares @ factor**2 - 2.0 * (block @ (offset * factor**2)) + float(((offset * factor) ** 2).sum())
        else:
            apart = (block - self._source.offset) * self._source.factor
            norms = np.einsum("ij,ij->i", apart, apart)
        self.norms[rows] = norms

    def add(self, centres: FloatArray, tried: IndexArray | None = None) -> None:
        """Add a centre to each run; ``tried`` says which of the candidates it was."""
        runs = np.arange(len(self._closest))
        products = self._distances(centres)

        def update(rows: slice) -> FloatArray:
            closest = self._closest[:, rows]
            if self._tried is None or tried is None:
                np.minimum(closest, self._of(products, rows), out=closest)
            else:
                closest[:] = self._tried[runs, tried, rows]
            return np.asarray(closest.sum(axis=1, dtype=np.float64))

        self._sums = np.array(list(map_rows(update, len(self.norms), width=self._width)))

    def find(self, shares: FloatArray) -> IndexArray:
        """Rows at which the running sum of each run's distances reaches shares of the whole: first block, then row."""
        found = np.empty(shares.shape, dtype=np.intp)
        for run, totals in enumerate(np.cumsum(self._sums, axis=0).T):
            wanted = shares[run] * totals[-1]
            at = np.minimum(np.searchsorted(totals, wanted), len(totals) - 1)
            for trial, block in enumerate(at):
                first, last = self._edges[block], self._edges[block + 1]
                inside = np.cumsum(self._closest[run, first:last], dtype=np.float64)
                rest = wanted[trial] - (totals[block - 1] if block else 0.0)
                found[run, trial] = first + min(int(np.searchsorted(inside, rest)), len(inside) - 1)
        return found

    def potentials(self, candidates: FloatArray) -> FloatArray:
        """Sum of all distances if one more centre is added, for every run and its candidates."""
        n_runs, n_trials, d = candidates.shape
        products = self._distances(candidates.reshape(-1, d))

        def potential(rows: slice) -> FloatArray:
            distances = self._of(products, rows).reshape(n_runs, n_trials, -1)
            np.minimum(distances, self._closest[:, None, rows], out=distances)
            if self._tried is not None:
                self._tried[:, :, rows] = distances
            return np.asarray(distances.sum(axis=2, dtype=np.float64))

        return np.asarray(sum(map_rows(potential, len(self.norms), width=self._width)))

    def _distances(self, centres: FloatArray) -> Products:
        return Products(self._source, -2.0 * centres, _square_norms(centres))

    def _of(self, products: Products, rows: slice) -> npt.NDArray[Any]:
        distances = products.of(self._source.block(rows))
        distances += self.norms[rows]
        return np.asarray(np.maximum(distances, 0.0, out=distances))


def _square_norms(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors))


@dataclass(eq=False)
class _Run:
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
    def start(cls, centres: FloatArray, n_rows: int, unit: float, bounded: bool) -> _Run:
        k, d = centres.shape
        labels = np.empty(n_rows, np.min_scalar_type(k - 1))
        bounds = n_rows if bounded else 0
        upper, lower = np.empty(bounds, np.float32), np.empty(bounds, np.float32)
        return cls(centres, labels, upper, lower, np.zeros((k, d)), np.zeros(k), np.zeros(k), unit)

    def inertia(self, source: RowSource, total: float) -> float:
        """Sum of the squared distances of all rows to their centres; ``total`` is that of their squared norms."""
        sums = weighted_rows(source, self.sums, self.counts)
        return total + float(self.counts @ _square_norms(self.centres)) - 2.0 * float(np.vdot(sums, self.centres))

    def undecided(self, rows: slice) -> npt.NDArray[np.bool_]:
        """Rows that may be nearer to another centre by now."""
        reach = (self.drift + self.drift_most).astype(np.float32)
        return np.asarray(self.upper[rows] + reach[self.labels[rows]] > self.lower[rows])

    def decide(self, at: Any, nearest: _Nearest) -> None:
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


def _lloyd(source: RowSource, starts: FloatArray, norms: npt.NDArray[Any], tol: float, max_iter: int) -> list[_Run]:
    """Lloyd's algorithm for several runs, side by side, until each has ended."""
    unit = float(np.sqrt(norms.mean(dtype=np.float64))) or 1.0
    n, d = source.shape
    bounded = len(starts) == 1 and n >= BOUNDS_FROM_ROWS and d >= BOUNDS_FROM_COLUMNS
    runs = [_Run.start(centres, n, unit, bounded) for centres in starts]
    at_work = runs
    while at_work:
        first = at_work[0].n_iter == 0
        moved = np.zeros(len(at_work), dtype=np.intp)
        for parts in _Assigner(source, at_work, norms, first).by_block():
            for part in parts:
                moved[part.run] += part.n_rows
                at_work[part.run].sums += part.sums
                at_work[part.run].counts += part.counts
        for run, count in zip(at_work, moved, strict=True):
            run.ended = run.ending or count == 0
            if not run.ended:
                _update(source, run, tol, max_iter)
        at_work = [run for run in at_work if not run.ended]
    return runs


class _Assigner:
    """One pass that gives all rows to their nearest centres, in every run."""

    def __init__(self, source: RowSource, runs: list[_Run], norms: npt.NDArray[Any], first: bool) -> None:
        self._source = source
        self._runs = runs
        self._norms = norms
        self._first = first
        squares = [_square_norms(run.centres) for run in runs]
        self._together = Products(source, -2.0 * np.concatenate([run.centres for run in runs]), np.concatenate(squares))
        self._each = [Products(source, -2.0 * run.centres, each) for run, each in zip(runs, squares, strict=True)]
        # Error of squared distances from products, relative to the squared norms of row and centre.
        self._error = 8.0 * float(np.finfo(source.dtype).eps)
        self._largest = max(float(each.max()) for each in squares)
        self._unit = runs[0].unit
        self._bounded = len(runs[0].upper) > 0

    def by_block(self) -> Iterator[list[_Moves]]:
        """What changes, block by block."""
        n, d = self._source.shape
        return map_rows(self._assign, n, width=d + len(self._runs) * len(self._runs[0].centres))

    def _assign(self, rows: slice) -> list[_Moves]:
        n = rows.stop - rows.start
        if self._first or not self._bounded:
            return self._assign_all(rows)
        undecided = np.array([run.undecided(rows) for run in self._runs])
        if np.count_nonzero(undecided) > MANY * undecided.size:
            return self._assign_all(rows)
        some = np.flatnonzero(undecided.any(axis=0))
        if not len(some):
            return []
        few = len(some) < MANY * n
        block = self._source.block(rows.start + some if few else rows)
        moves = []
        for number in np.flatnonzero(undecided.any(axis=1)).tolist():
            at = np.flatnonzero(undecided[number])
            places = rows.start + at
            X = block[np.searchsorted(some, at) if few else at]
            nearest = self._nearest(self._each[number].of(X)[None], self._norms[places])[0]
            moves += self._move([(number, nearest)], places, X)
        return moves

    def _assign_all(self, rows: slice) -> list[_Moves]:
        X = self._source.block(rows)
        distances = self._together.of(X).reshape(len(self._runs), -1, rows.stop - rows.start)
        return self._move(list(enumerate(self._nearest(distances, self._norms[rows]))), rows, X)

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

    def _move(self, found: list[tuple[int, _Nearest]], at: Any, X: Any) -> list[_Moves]:
        """Set labels in some runs; what the rows that change theirs do to the clusters."""
        labels = np.array([nearest.labels for _, nearest in found])
        before = None if self._first else np.array([self._runs[number].labels[at] for number, _ in found])
        for number, nearest in found:
            self._runs[number].decide(at, nearest)
        changed = np.ones(labels.shape, dtype=np.bool_) if before is None else labels != before
        counts = np.count_nonzero(changed, axis=1)
        if not counts.any():
            return []
        sums, sizes = _changes(X, labels, before, changed, len(self._runs[0].centres))
        return [
            _Moves(number, int(count), *parts)
            for (number, _), count, *parts in zip(found, counts, sums, sizes, strict=True)
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


def _update(source: RowSource, run: _Run, tol: float, max_iter: int) -> None:
    """Move the centres of a run to the means of their rows; says if the next assignment is the last."""
    sums, counts = run.sums, run.counts
    if not counts.all():
        sums, counts = _with_empty_clusters_moved(source, run)
    centres = weighted_rows(source, sums, counts) / np.maximum(counts, 1.0)[:, None]
    # Clusters that cannot have a row, since there are not enough distinct ones, lie with the largest.
    centres[counts == 0] = centres[counts.argmax()]
    squares = _square_norms(centres - run.centres)
    shift = float(squares.sum())
    run.centres = centres
    steps = np.sqrt(squares) / run.unit
    run.drift = run.drift + steps
    run.drift_most += float(steps.max())
    run.n_iter += 1
    run.ending = shift <= tol or run.n_iter == max_iter


def _with_empty_clusters_moved(source: RowSource, run: _Run) -> tuple[FloatArray, FloatArray]:
    """Sums and sizes with each empty cluster at one of the rows that are farthest from their centres."""
    n, d = source.shape
    empty = np.flatnonzero(run.counts == 0)

    def farthest(rows: slice) -> tuple[FloatArray, IndexArray]:
        apart = true_rows(source, rows) - run.centres[run.labels[rows]]
        distances = np.einsum("ij,ij->i", apart, apart)
        top = np.argsort(-distances, kind="stable")[: len(empty)]
        return distances[top], top + rows.start

    parts = list(map_rows(farthest, n, width=2 * d))
    distances = np.concatenate([part[0] for part in parts])
    rows = np.concatenate([part[1] for part in parts])[np.argsort(-distances, kind="stable")[: len(empty)]]
    sums, counts = run.sums.copy(), run.counts.copy()
    if not distances.any():
        return sums, counts
    at_hand = source.block(rows)
    for cluster, row, x in zip(empty, rows, at_hand.toarray() if is_sparse(at_hand) else at_hand, strict=False):
        old = run.labels[row]
        sums[old] -= x
        counts[old] -= 1.0
        sums[cluster], counts[cluster] = x, 1.0
    return sums, counts
