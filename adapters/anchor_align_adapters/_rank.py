"""The nearest bipartite graph with exactly k connected components (SFMC's rank-constrained step).

For a graph G (samples x anchors) the problem is min |P - G|^2 + lam tr(F' L F), F' F = I, over P and F, where L is the
normalised Laplacian of the bipartite graph P: it has k components when its k smallest eigenvalues are zero, that is,
when the k largest singular values of T = D_u^-1/2 P D_w^-1/2 are one. F = [U; V] / sqrt(2) holds the singular vectors
of T, from the eigenvectors of T' T; P follows entry by entry on the support of G, by projecting g_ij - lam / 2
|f_i - f_j|^2 on the simplex. lam is doubled while there are too few components and halved when there are too many.

Two things are as in the released code, not the paper: P is the mean of a projection of the rows and one of the columns
(the paper constrains rows only), and the first round scales V by ten. One is as the paper means it, not the
code: when there are too many components, the next round starts from the singular vectors before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ._types import FloatArray, IndexArray, is_sparse

FIRST_LAM = 0.1
FIRST_ANCHOR_SCALE = 10.0
# How far the k largest eigenvalues may be from one.
TOLERANCE = 1e-7
# Multiply-adds of a dense product that take as long as one of a sparse product, and entries of a dense T that are worth
# their memory (128 MB).
SPARSE_COST = 50
DENSE_ENTRIES = 2**24


@dataclass(frozen=True, eq=False)
class RankResult:
    """The graph found, the component of every sample, and how many components there are."""

    graph: sp.csr_array
    labels: IndexArray
    n_components: int
    n_iter: int


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Degrees, largest eigenvalues of T' T, and the scaled singular vectors of one graph."""

    row_degrees: FloatArray
    column_degrees: FloatArray
    eigenvalues: FloatArray
    U: FloatArray
    V: FloatArray


def rank_constrained_graph(G: Any, n_components: int, max_iter: int = 50) -> RankResult:
    """Look for the graph nearest to G with ``n_components`` components; the result says how many it has."""
    full = sp.csr_array(G, copy=True)
    full.eliminate_zeros()
    full.sort_indices()
    used = np.flatnonzero(np.bincount(full.indices, minlength=full.shape[1]))
    support = Support(full[:, used] if len(used) < full.shape[1] else full)
    values, n_iter = _iterate(support, n_components, max_iter)
    count, labels = support.components(values)
    graph = sp.csr_array((values, used[support.columns], support.row_edges), shape=full.shape)
    return RankResult(graph, labels, count, n_iter)


def _iterate(support: Support, k: int, max_iter: int) -> tuple[FloatArray, int]:
    """Entries of P on the support, and the number of rounds."""
    values = support.values
    spectrum = support.spectrum(values, k)
    if _count(support, values, spectrum, k) >= k:  # no round can join components: entries are only taken away
        return values, 0
    lam = FIRST_LAM
    a, b = spectrum.U, FIRST_ANCHOR_SCALE * spectrum.V
    for n_iter in range(1, max_iter + 1):
        values = support.project(a, b, lam)
        spectrum = support.spectrum(values, k)
        count = _count(support, values, spectrum, k)
        if count == k:
            return values, n_iter
        if count > k:
            lam /= 2.0
        else:
            lam *= 2.0
            a = spectrum.U / np.sqrt(spectrum.row_degrees)[:, None]
            b = spectrum.V / np.sqrt(spectrum.column_degrees)[:, None]
    return values, max_iter


def _count(support: Support, values: FloatArray, spectrum: Spectrum, k: int) -> int:
    """Number of components; 0 if the eigenvalues tell that there are fewer than k."""
    if spectrum.eigenvalues[:k].sum() < k - TOLERANCE:
        return 0
    return support.components(values)[0]


class Support:
    """The entries of a graph that may be other than zero; every P is an array of values on them."""

    def __init__(self, G: sp.csr_array) -> None:
        self.shape = n, m = G.shape
        self.values: FloatArray = G.data.astype(np.float64)
        self.columns = G.indices.astype(np.intp)
        self.row_edges = G.indptr.astype(np.intp)
        lengths = np.diff(self.row_edges)
        self.rows = np.repeat(np.arange(n), lengths)
        self._by_column = np.argsort(self.columns, kind="stable")
        self._rows = Segments(lengths)
        self._columns = Segments(np.bincount(self.columns, minlength=m))
        sparse_products = float(lengths @ lengths)
        self._dense = n * m <= DENSE_ENTRIES and n * m * m <= SPARSE_COST * sparse_products
        self._positions = self.rows * m + self.columns

    def components(self, values: FloatArray) -> tuple[int, IndexArray]:
        """Number of connected components, and the component of every sample."""
        n, m = self.shape
        kept = values > 0
        ends = (self.rows[kept], n + self.columns[kept])
        links = sp.csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=(n + m, n + m))
        count, labels = connected_components(links, directed=False)
        return int(count), np.asarray(labels[:n], dtype=np.intp)

    def spectrum(self, values: FloatArray, k: int) -> Spectrum:
        """Singular vectors of the normalised graph, over sqrt(2), and its k largest eigenvalues."""
        n, m = self.shape
        row_degrees = np.bincount(self.rows, values, n).astype(np.float64)
        column_degrees = np.bincount(self.columns, values, m).astype(np.float64)
        T = self._matrix(values / np.sqrt(row_degrees[self.rows] * column_degrees[self.columns]))
        gram = T.T @ T
        gram = gram.toarray() if is_sparse(gram) else gram
        eigenvalues, V = scipy.linalg.eigh(
            gram, subset_by_index=(max(m - k, 0), m - 1), overwrite_a=True, check_finite=False
        )
        eigenvalues, V = np.maximum(eigenvalues[::-1], np.finfo(float).eps), V[:, ::-1]
        U = (T @ V) / np.sqrt(2.0 * eigenvalues)
        return Spectrum(row_degrees, column_degrees, eigenvalues, U, V / np.sqrt(2.0))

    def project(self, a: FloatArray, b: FloatArray, lam: float) -> FloatArray:
        """Mean of the projections of all rows, and of all columns, of g_ij - lam / 2 |a_i - b_j|^2 on the simplex."""
        target = self.values - 0.5 * lam * self._square_distances(a, b)
        by_row = self._rows.project(target)
        by_column = np.empty_like(target)
        by_column[self._by_column] = self._columns.project(target[self._by_column])
        return np.asarray(0.5 * (by_row + by_column))

    def _matrix(self, values: FloatArray) -> Any:
        """The values in their places: dense where products are faster so."""
        if not self._dense:
            return sp.csr_array((values, self.columns, self.row_edges), shape=self.shape)
        T = np.zeros(self.shape)
        T.ravel()[self._positions] = values
        return T

    def _square_distances(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """|a_i - b_j|^2 on the support: from all products where that is less work than picking rows."""
        if self.shape[0] * self.shape[1] > len(self.rows) * a.shape[1]:
            difference = a[self.rows] - b[self.columns]
            return np.asarray(np.einsum("ij,ij->i", difference, difference))
        squares = np.einsum("ij,ij->i", a, a)[self.rows] + np.einsum("ij,ij->i", b, b)[self.columns]
        return np.asarray(squares - 2.0 * (a @ b.T).ravel()[self._positions])


class Segments:
    """Consecutive segments of an array, none of them empty."""

    def __init__(self, lengths: Any) -> None:
        self._starts = np.cumsum(lengths) - lengths
        self._segment = np.repeat(np.arange(len(lengths)), lengths)
        self._lengths = lengths

    def project(self, values: FloatArray) -> FloatArray:
        """Project every segment on the simplex.

        Entries below the threshold of those still kept are dropped until none is (Michelot's method): a few passes over
        the array, whatever the lengths of the segments.
        """
        # A shift changes nothing, but the 1 that the entries sum to would vanish beside large ones.
        values = values - np.maximum.reduceat(values, self._starts)[self._segment]
        left, counts = values, self._lengths
        while True:
            thresholds = ((np.add.reduceat(left, self._starts) - 1.0) / counts)[self._segment]
            kept = values > thresholds
            left = np.where(kept, values, 0.0)
            before, counts = counts, np.add.reduceat(kept, self._starts, dtype=np.intp)
            if np.array_equal(before, counts):
                return np.asarray(np.where(kept, values - thresholds, 0.0))
