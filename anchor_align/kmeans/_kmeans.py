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
    map_rows,
    row_order,
    run_rows,
    scaled_rows,
    spread_places,
    square_norms,
    true_rows,
    weighted_rows,
    work_memory,
)
from ._lloyd import LloydRun, run_lloyd

SAME_INERTIA = 1e-10  # inertias closer than this, relative, are those of the same clusters
# First centres are chosen among so many rows, and so many for each centre. Copies of wide rows have no more than so
# many numbers, if that leaves enough rows.
START_ROWS, START_ROWS_PER_CENTRE = 10_000, 100
START_NUMBERS, LEAST_ROWS_PER_CENTRE = 2**23, 10


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


def fit_kmeans(
    source: ScaledRows, n_clusters: int, *, n_init: int, random_state: int, tol: float = 1e-4, max_iter: int = 300
) -> KMeansResult:
    """Cluster rows around ``n_clusters`` centres. The result is the best of ``n_init`` runs.

    It depends on the content of the rows, not on their order.

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
    candidates = start_rows(rows, n_clusters, random_state)
    draws = draw(random_state, n_init, n_clusters)
    # What all runs of a pass keep for the rows may take a quarter of the memory.
    at_once = max(1, min(n_init, work_memory() // 4 // (rows.shape[0] * (rows.dtype.itemsize + 9))))
    best: LloydRun | None = None
    least = np.inf
    for first in range(0, n_init, at_once):
        starts = find_starts(*candidates, draws[first : first + at_once], n_clusters)
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


def start_rows(source: ScaledRows, n_clusters: int, random_state: int) -> tuple[ScaledRows, IndexArray]:
    """Rows of which some become first centres, and their order: all rows, or copies of a sample of many."""
    n, d = source.shape
    wanted = max(START_ROWS, START_ROWS_PER_CENTRE * n_clusters)
    size = min(n, wanted, max(START_NUMBERS // d, LEAST_ROWS_PER_CENTRE * n_clusters))
    if size == n and not source.engine.distributed:
        return source, row_order(source)
    places = spread_places(n, size, np.random.default_rng(random_state))
    scaled, shift = scaled_rows(source, row_order(source, places=places))
    return ScaledRows(scaled, centre=shift if shift.any() else None), np.arange(size)


def find_starts(source: ScaledRows, order: IndexArray, draws: FloatArray, n_clusters: int) -> FloatArray:
    """Greedy k-means++ for every run; ``draws`` are positions along the ``order`` of the rows."""
    n, d = source.shape
    n_runs, n_trials = len(draws), n_trials_for(n_clusters)
    nearness = Nearness(source, order, n_runs, n_trials)
    centres = np.empty((n_runs, n_clusters, d))
    centres[:, 0] = true_rows(source, order[np.minimum((draws[:, 0] * n).astype(np.intp), n - 1)])
    nearness.add_first(centres[:, 0])
    for cluster in range(1, n_clusters):
        first = 1 + (cluster - 1) * n_trials
        candidates = nearness.find(draws[:, first : first + n_trials])
        rows = true_rows(source, candidates.ravel()).reshape(n_runs, n_trials, d)
        best = first_least(nearness.try_rows(rows), source.dtype)
        centres[:, cluster] = rows[np.arange(n_runs), best]
        nearness.add_tried(best)
    return centres


def first_least(potentials: FloatArray, dtype: np.dtype[Any]) -> IndexArray:
    """The candidate with the least potential, in each run; the first of those that differ by rounding only."""
    rounding = 1e-9 if dtype == np.float64 else 1e-5
    return np.asarray(np.argmax(potentials <= (1.0 + rounding) * potentials.min(axis=1, keepdims=True), axis=1))


class Nearness:
    """Squared distances of some rows to the nearest centre so far, in every run."""

    def __init__(self, source: ScaledRows, order: IndexArray, n_runs: int, n_trials: int) -> None:
        n, d = source.shape
        self._source = source
        self._order = order
        self._width = d + n_runs * (n_trials + 2)
        self._norms = np.empty(n, dtype=source.dtype)
        self._closest = np.empty((n_runs, n), dtype=source.dtype)
        self._tried = np.empty((n_runs, n_trials, n), dtype=source.dtype)  # the same with each candidate
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

    def add_first(self, centres: FloatArray) -> None:
        """Add the first centre to each run."""
        products = self._distances(centres)

        def update(rows: slice) -> None:
            self._closest[:, rows] = self._of(products, rows)

        run_rows(update, len(self._norms), width=self._width)

    def add_tried(self, best: IndexArray) -> None:
        """Add one of the rows that were tried last to each run."""
        self._closest[:] = self._tried[np.arange(len(best)), best]

    def find(self, fractions: FloatArray) -> IndexArray:
        """Rows at which the running sum of each run's distances, in the order, reaches fractions of its total."""
        found = np.empty(fractions.shape, dtype=np.intp)
        for run, closest in enumerate(self._closest):
            sums = np.cumsum(closest[self._order], dtype=np.float64)
            at = np.searchsorted(sums, fractions[run] * sums[-1])
            found[run] = self._order[np.minimum(at, len(sums) - 1)]
        return found

    def try_rows(self, candidates: FloatArray) -> FloatArray:
        """Sum of all distances after one more centre, for every run and its candidates."""
        n_runs, n_trials, d = candidates.shape
        products = self._distances(candidates.reshape(-1, d))

        def potential(rows: slice) -> FloatArray:
            distances = self._of(products, rows).reshape(n_runs, n_trials, -1)
            np.minimum(distances, self._closest[:, None, rows], out=distances)
            self._tried[:, :, rows] = distances
            return np.asarray(distances.sum(axis=2, dtype=np.float64))

        return np.asarray(sum(map_rows(potential, len(self._norms), width=self._width)))

    def _distances(self, centres: FloatArray) -> Products:
        return Products(self._source, -2.0 * centres, square_norms(centres))

    def _of(self, products: Products, rows: slice) -> npt.NDArray[Any]:
        distances = products.of(self._source.block(rows))
        distances += self._norms[rows]
        return np.asarray(np.maximum(distances, 0.0, out=distances))
