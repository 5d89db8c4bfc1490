"""First centres for several runs of k-means, by greedy k-means++ (Arthur and Vassilvitskii, 2007)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._mapping import block_rows, map_rows, run_rows, work_memory
from ._rows import Products, RowSource, square_norms, true_rows
from ._types import FloatArray, IndexArray, is_sparse


def n_trials_for(n_clusters: int) -> int:
    """Candidates for every next centre."""
    return 2 + int(np.log(n_clusters))


def draw(random_state: int, n_init: int, n_clusters: int) -> FloatArray:
    """Uniform numbers of every run: one for the first centre, then some for each of the others."""
    return np.random.RandomState(random_state).uniform(size=(n_init, 1 + (n_clusters - 1) * n_trials_for(n_clusters)))


def find_starts(source: RowSource, draws: FloatArray, n_clusters: int) -> tuple[FloatArray, npt.NDArray[Any]]:
    """First centres of all runs by greedy k-means++ (Arthur and Vassilvitskii, 2007), and the rows' squared norms.

    The next centre is the best of a few rows drawn with probabilities proportional to their squared distance to the
    centres so far.
    """
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
    return centres, nearness.norms


def first_least(potentials: FloatArray, dtype: np.dtype[Any]) -> IndexArray:
    """The candidate with the least potential, in each run; the first of those that differ by rounding only.

    Two outliers that are near to each other make the same potential, each without the other.
    """
    rounding = 1e-9 if dtype == np.float64 else 1e-5
    return np.asarray(np.argmax(potentials <= (1.0 + rounding) * potentials.min(axis=1, keepdims=True), axis=1))


class Nearness:
    """Squared distances of all rows to the nearest centre so far, in every run.

    ``closest`` holds them, runs x rows, and ``norms`` the squared norms of the rows. Handed over to a new object they
    let it go on where another has ended.
    """

    def __init__(
        self,
        source: RowSource,
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
        # Distances with each candidate: where there is room for them, the best need not be computed again.
        fits = self.closest.nbytes * n_trials <= work_memory() // 8
        self._tried = np.empty((n_runs, n_trials, n), dtype=source.dtype) if fits else None
        # By block: first rows, and sums of the distances.
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
        """Add a centre to each run; ``tried`` says which of the candidates it was."""
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

    def find(self, shares: FloatArray) -> IndexArray:
        """Rows at which the running sum of each run's distances reaches shares of the whole: first block, then row."""
        found = np.empty(shares.shape, dtype=np.intp)
        for run, totals in enumerate(np.cumsum(self._sums, axis=0).T):
            wanted = shares[run] * totals[-1]
            at = np.minimum(np.searchsorted(totals, wanted), len(totals) - 1)
            for trial, block in enumerate(at):
                first, last = self._edges[block], self._edges[block + 1]
                inside = np.cumsum(self.closest[run, first:last], dtype=np.float64)
                rest = wanted[trial] - (totals[block - 1] if block else 0.0)
                found[run, trial] = first + min(int(np.searchsorted(inside, rest)), len(inside) - 1)
        return found

    def potentials(self, candidates: FloatArray) -> FloatArray:
        """Sum of all distances if one more centre is added, for every run and its candidates."""
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
