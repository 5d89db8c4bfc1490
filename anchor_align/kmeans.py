"""K-means over blocks of rows: all runs share each pass, nothing of the size of the data is copied.

The algorithm is that of scikit-learn's ``KMeans`` with its k-means++ starts and the same random numbers, so it finds
the same clusters. What differs is how the rows are visited. scikit-learn centres a copy of all the data and finishes
one run before the next begins. Here rows come from a :class:`~anchor_align.blocks.RowSource`, which may be a file, and
each pass serves all runs at once: their centres together make one matrix product per block that is wide enough for BLAS
to run at full speed. Sums of the clusters change only by the rows that change clusters.
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

__all__ = ["KMeansResult", "fit_kmeans"]

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
    for first in range(0, n_init, at_once):
        starts = _starts(rows, draws[first : first + at_once], n_clusters)
        for run in _lloyd(rows, starts, tol * float(variance.mean()), max_iter):
            if best is None or run.inertia + total < (1.0 - SAME_INERTIA) * (best.inertia + total):
                best = run
    assert best is not None
    n_found = int(np.count_nonzero(best.counts))
    return KMeansResult(best.centres + shift, best.labels, max(best.inertia + total, 0.0), best.n_iter, n_found)


def _runs_at_once(source: RowSource, n_init: int) -> int:
    """Runs that share passes: the label and the distance that each keeps for a row may take a quarter of the memory."""
    return max(1, min(n_init, work_memory() // 4 // (source.shape[0] * (source.dtype.itemsize + 1))))


def _n_trials(n_clusters: int) -> int:
    """Candidates for every next centre."""
    return 2 + int(np.log(n_clusters))


def _draws(random_state: int, n_init: int, n_clusters: int) -> FloatArray:
    """Uniform numbers of every run: one for the first centre, then some for each of the others."""
    return np.random.RandomState(random_state).uniform(size=(n_init, 1 + (n_clusters - 1) * _n_trials(n_clusters)))


def _starts(source: RowSource, draws: FloatArray, n_clusters: int) -> FloatArray:
    """First centres of all runs by greedy k-means++ (Arthur and Vassilvitskii, 2007), shape (runs, clusters, columns).

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
    return centres


class _Nearness:
    """Squared distances of all rows to the nearest centre so far, in every run."""

    def __init__(self, source: RowSource, n_runs: int, n_trials: int) -> None:
        n, d = source.shape
        self._source = source
        self._width = d + n_runs * (n_trials + 2)
        self._norms = np.empty(n, dtype=source.dtype)
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
        self._norms[rows] = norms

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

        self._sums = np.array(list(map_rows(update, len(self._norms), width=self._width)))

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

        return np.asarray(sum(map_rows(potential, len(self._norms), width=self._width)))

    def _distances(self, centres: FloatArray) -> Products:
        return Products(self._source, -2.0 * centres, _square_norms(centres))

    def _of(self, products: Products, rows: slice) -> npt.NDArray[Any]:
        distances = products.of(self._source.block(rows))
        distances += self._norms[rows]
        return np.asarray(np.maximum(distances, 0.0, out=distances))


def _square_norms(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors))


@dataclass(eq=False)
class _Run:
    """One run of Lloyd's algorithm.

    ``sums`` are those of the rows at hand, not of the rows meant; ``inertia`` lacks the squared norms of the rows.
    """

    centres: FloatArray
    labels: npt.NDArray[Any]
    sums: FloatArray
    counts: FloatArray
    inertia: float = np.inf
    n_iter: int = 0
    ending: bool = False
    ended: bool = False


@dataclass(frozen=True, eq=False)
class _Assignment:
    """What a block of rows adds to all runs at work: changed labels, inertia, and sums and sizes of the clusters."""

    changed: IndexArray
    inertia: FloatArray
    sums: FloatArray
    counts: FloatArray


def _lloyd(source: RowSource, starts: FloatArray, tol: float, max_iter: int) -> list[_Run]:
    """Lloyd's algorithm for several runs, side by side, until each has ended."""
    n = source.shape[0]
    _, k, d = starts.shape
    dtype = np.min_scalar_type(k - 1)
    runs = [_Run(C, np.empty(n, dtype), np.zeros((k, d)), np.zeros(k)) for C in starts]
    at_work = runs
    while at_work:
        first = at_work[0].n_iter == 0
        centres = np.concatenate([run.centres for run in at_work])
        changed = np.zeros(len(at_work), dtype=np.intp)
        inertia = np.zeros(len(at_work))
        for part in _assign(source, at_work, centres, first):
            changed += part.changed
            inertia += part.inertia
            for run, sums, counts in zip(at_work, part.sums, part.counts, strict=True):
                run.sums += sums
                run.counts += counts
        for run, moved, value in zip(at_work, changed, inertia, strict=True):
            run.inertia = float(value)
            run.ended = run.ending or (moved == 0 and not first)
            if not run.ended:
                _update(source, run, tol, max_iter)
        at_work = [run for run in at_work if not run.ended]
    return runs


def _assign(source: RowSource, runs: list[_Run], centres: FloatArray, first: bool) -> Iterator[_Assignment]:
    """Give all rows to their nearest centres, in every run; results by block."""
    n, d = source.shape
    n_runs, k = len(runs), len(centres) // len(runs)
    products = Products(source, -2.0 * centres, _square_norms(centres))

    def assign(rows: slice) -> _Assignment:
        X = source.block(rows)
        labels, least = _nearest(products.of(X).reshape(n_runs, k, -1), runs[0].labels.dtype)
        before = None if first else np.stack([run.labels[rows] for run in runs])
        for run, found in zip(runs, labels, strict=True):
            run.labels[rows] = found
        changed = np.ones(labels.shape, dtype=np.bool_) if before is None else labels != before
        sums, counts = _changes(X, labels, before, changed, k)
        return _Assignment(changed.sum(axis=1), least.sum(axis=1, dtype=np.float64), sums, counts)

    return map_rows(assign, n, width=d + n_runs * k)


def _nearest(distances: npt.NDArray[Any], dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Position and size of the least distance, over the middle axis of (runs, clusters, rows)."""
    least = distances.min(axis=1)
    k = distances.shape[1]
    # The first of equals has the largest number. On bytes these operations are several times as fast as argmin.
    numbers = np.arange(k, 0, -1).astype(np.min_scalar_type(k))[:, None]
    is_least = (distances == least[:, None]).view(np.uint8)
    labels = np.multiply(is_least, numbers, dtype=numbers.dtype, out=is_least if k < 256 else None).max(axis=1)
    return (numbers.dtype.type(k) - labels).astype(dtype, copy=False), least


def _changes(
    X: Any, labels: npt.NDArray[Any], before: npt.NDArray[Any] | None, changed: npt.NDArray[np.bool_], k: int
) -> tuple[FloatArray, FloatArray]:
    """By how much the sums and sizes of the clusters change: only rows that change clusters count."""
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
    moves = sp.csc_array((signs, ids, edges), shape=(n_runs * k, len(moving)))
    sums = moves @ X
    sums = sums.toarray() if is_sparse(sums) else sums
    counts = np.asarray(np.bincount(ids, signs, n_runs * k), dtype=np.float64)
    return np.asarray(sums).reshape(n_runs, k, -1), counts.reshape(n_runs, k)


def _update(source: RowSource, run: _Run, tol: float, max_iter: int) -> None:
    """Move the centres of a run to the means of their rows; says if the next assignment is the last."""
    sums, counts = run.sums, run.counts
    if not counts.all():
        sums, counts = _with_empty_clusters_moved(source, run)
    centres = weighted_rows(source, sums, counts) / np.maximum(counts, 1.0)[:, None]
    # Clusters that cannot have a row, since there are not enough distinct ones, lie with the largest.
    centres[counts == 0] = centres[counts.argmax()]
    shift = float(((centres - run.centres) ** 2).sum())
    run.centres = centres
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
