"""K-means over blocks of rows: the best of several runs, each started by greedy k-means++."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IndexArray, is_sparse
from ..blocks import (
    Products,
    ScaledRows,
    block_rows,
    first_places,
    map_rows,
    run_rows,
    square_norms,
    true_rows,
    weighted_rows,
    work_memory,
)
from ._lloyd import LloydRun, run_lloyd

SAME_INERTIA = 1e-10  # inertias closer than this, relative, are those of the same clusters


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
        Rounds of the best run.
    n_found : int
        Number of clusters with a row. It is below ``n_clusters`` only if there are fewer distinct rows.
    """

    centres: FloatArray
    labels: npt.NDArray[np.unsignedinteger[Any]]
    inertia: float
    n_iter: int
    n_found: int

    def first_rows(self) -> IndexArray:
        """First row of every cluster; the number of rows for empty clusters."""
        return first_places(self.labels, len(self.centres))


def fit_kmeans(
    source: ScaledRows, n_clusters: int, *, n_init: int, random_state: int, tol: float = 1e-4, max_iter: int = 300
) -> KMeansResult:
    """Cluster rows around ``n_clusters`` centres. The result is the best of ``n_init`` runs.

    Parameters
    ----------
    source : ScaledRows
    n_clusters : int
        At most the number of rows.
    n_init : int
    random_state : int
    tol : float, default=1e-4
        A run ends when the sum of the squared moves of its centres, divided by the mean variance of the columns, is at
        most ``tol``; with 0, when no row changes its cluster.
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
    if source.engine.fit_kmeans is not None:
        found: KMeansResult = source.engine.fit_kmeans(
            source, n_clusters, n_init=n_init, random_state=random_state, tol=tol, max_iter=max_iter
        )
        return found
    variance = source.stats().variance
    rows, shift = source.centred()
    total = rows.stats().square_norm
    draws = draw(random_state, n_init, n_clusters)
    # What all runs of a pass keep for the rows may take a quarter of the memory.
    at_once = max(1, min(n_init, work_memory() // 4 // (rows.shape[0] * (rows.dtype.itemsize + 9))))
    best: LloydRun | None = None
    least = np.inf
    for first in range(0, n_init, at_once):
        starts = find_starts(rows, draws[first : first + at_once], n_clusters)
        for run in run_lloyd(rows, starts, tol * float(variance.mean()), max_iter):
            inertia = run.inertia(weighted_rows(rows, run.sums, run.counts), total)
            if best is None or inertia < (1.0 - SAME_INERTIA) * least:
                best, least = run, inertia
    assert best is not None
    n_found = int(np.count_nonzero(best.counts))
    return KMeansResult(best.centres + shift, best.labels, max(least, 0.0), best.n_iter, n_found)


def n_trials_for(n_clusters: int) -> int:
    """Number of candidates for every next centre."""
    return 2 + int(np.log(n_clusters))


def draw(random_state: int, n_init: int, n_clusters: int) -> FloatArray:
    """Uniform numbers of every run: one for the first centre, then some for each of the others."""
    return np.random.RandomState(random_state).uniform(size=(n_init, 1 + (n_clusters - 1) * n_trials_for(n_clusters)))


def find_starts(source: ScaledRows, draws: FloatArray, n_clusters: int) -> FloatArray:
    n, d = source.shape
    n_runs, n_trials = len(draws), n_trials_for(n_clusters)
    nearness = Nearness(source, n_runs, n_trials)
    chosen = np.minimum((draws[:, 0] * n).astype(np.intp), n - 1)
    centres = np.empty((n_runs, n_clusters, d))
    centres[:, 0] = true_rows(source, chosen)
    nearness.add(centres[:, 0])
    for cluster in range(1, n_clusters):
        first = 1 + (cluster - 1) * n_trials
        candidates = nearness.find(draws[:, first : first + n_trials])
        rows = true_rows(source, candidates.ravel()).reshape(n_runs, n_trials, d)
        best = first_least(nearness.potentials(rows), source.dtype)
        centres[:, cluster] = rows[np.arange(n_runs), best]
        nearness.add(centres[:, cluster], best)
    return centres


def first_least(potentials: FloatArray, dtype: np.dtype[Any]) -> IndexArray:
    """The candidate with the least potential, in each run; the first of those that differ by rounding only."""
    rounding = 1e-9 if dtype == np.float64 else 1e-5
    return np.asarray(np.argmax(potentials <= (1.0 + rounding) * potentials.min(axis=1, keepdims=True), axis=1))


class Nearness:
    """Squared distances of all rows to the nearest centre so far, in every run.

    ``closest`` holds them, runs x rows; ``norms`` holds the squared norms of the rows. A new object can continue from
    the arrays of another one.
    """

    def __init__(
        self,
        source: ScaledRows,
        n_runs: int,
        n_trials: int,
        norms: npt.NDArray[Any] | None = None,
        closest: npt.NDArray[Any] | None = None,
    ) -> None:
        n, d = source.shape
        self._source = source
        self._width = d + n_runs * (n_trials + 2)
        self.norms = np.empty(n, dtype=source.dtype) if norms is None else norms
        self.closest = np.full((n_runs, n), np.inf, dtype=source.dtype) if closest is None else closest
        # Distances with each candidate, if there is room: those of the best one are then not computed again.
        fits = self.closest.nbytes * n_trials <= work_memory() // 8
        self._tried = np.empty((n_runs, n_trials, n), dtype=source.dtype) if fits else None
        # First rows of the blocks, and sums of the distances in each block.
        self._edges = np.append(np.arange(0, n, block_rows(self._width)), n)
        self._sums = np.empty((len(self._edges) - 1, n_runs))
        if norms is None:
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
        """Add a centre to each run; ``tried`` gives its number among the candidates."""
        runs = np.arange(len(self.closest))
        products = self._distances(centres)

        def update(rows: slice) -> FloatArray:
            closest = self.closest[:, rows]
            if self._tried is None or tried is None:
                np.minimum(closest, self._of(products, rows), out=closest)
            else:
                closest[:] = self._tried[runs, tried, rows]
            return np.asarray(closest.sum(axis=1, dtype=np.float64))

        self._sums = np.array(list(map_rows(update, len(self.norms), width=self._width)))

    def find(self, fractions: FloatArray) -> IndexArray:
        """Rows at which the running sum of each run's distances reaches fractions of its total: block, then row."""
        found = np.empty(fractions.shape, dtype=np.intp)
        for run, totals in enumerate(np.cumsum(self._sums, axis=0).T):
            wanted = fractions[run] * totals[-1]
            at = np.minimum(np.searchsorted(totals, wanted), len(totals) - 1)
            for trial, block in enumerate(at):
                first, last = self._edges[block], self._edges[block + 1]
                inside = np.cumsum(self.closest[run, first:last], dtype=np.float64)
                rest = wanted[trial] - (totals[block - 1] if block else 0.0)
                found[run, trial] = first + min(int(np.searchsorted(inside, rest)), len(inside) - 1)
        return found

    def potentials(self, candidates: FloatArray) -> FloatArray:
        """Sum of all distances after one more centre, for every run and its candidates."""
        n_runs, n_trials, d = candidates.shape
        products = self._distances(candidates.reshape(-1, d))

        def potential(rows: slice) -> FloatArray:
            distances = self._of(products, rows).reshape(n_runs, n_trials, -1)
            np.minimum(distances, self.closest[:, None, rows], out=distances)
            if self._tried is not None:
                self._tried[:, :, rows] = distances
            return np.asarray(distances.sum(axis=2, dtype=np.float64))

        return np.asarray(sum(map_rows(potential, len(self.norms), width=self._width)))

    def _distances(self, centres: FloatArray) -> Products:
        return Products(self._source, -2.0 * centres, square_norms(centres))

    def _of(self, products: Products, rows: slice) -> npt.NDArray[Any]:
        distances = products.of(self._source.block(rows))
        distances += self.norms[rows]
        return np.asarray(np.maximum(distances, 0.0, out=distances))
