"""The nearest bipartite graph with exactly k connected components (SFMC's rank-constrained step).

For a graph G (samples x anchors) the problem is min |P - G|^2 + lam tr(F' L F), F' F = I, over P and F, where L is the
normalised Laplacian of the bipartite graph P. P has k components if the k smallest eigenvalues of L are zero, that is,
if the k largest singular values of T = D_u^-1/2 P D_w^-1/2 are one. F = [U; V] / sqrt(2) has the singular vectors of T,
from the eigenvectors of T' T. The entries of P on the support of G are the projection of g_ij - lam / 2 |f_i - f_j|^2
on the simplex. lam is doubled if there are too few components and halved if there are too many.

Two points follow the released code, not the paper: P is the mean of a projection of the rows and one of the columns
(the paper constrains rows only), and the first round scales V by ten. One point follows the paper, not the code: after
too many components, the next round starts from the previous singular vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from anchor_align.arrays import FloatArray, IndexArray, is_sparse

from ._leading_directions import leading_directions

FIRST_LAM = 0.1
FIRST_ANCHOR_SCALE = 10.0
SPARSE_COST = 50  # multiply-adds of a dense product in the time of one of a sparse product
DENSE_ENTRIES = 2**24  # entries of the largest dense T: 128 MB


@dataclass(frozen=True, eq=False)
class RankResult:
    """The graph, the component of every sample, and the number of components."""

    graph: sp.csr_array
    labels: IndexArray
    n_components: int
    n_iter: int


class SingularVectors(Protocol):
    """Singular vectors of a graph, which may be on a cluster, as the rounds use them."""

    def first_places(self) -> tuple[Any, FloatArray]:
        """f_i of the samples and f_j of the anchors, for the first round."""

    def places(self) -> tuple[Any, FloatArray]:
        """The same for later rounds."""


class GraphsOnSupport(Protocol):
    """Graphs on the support of one graph, as the rounds use them; only this class knows how values are stored."""

    @property
    def values(self) -> Any:
        """Values of the graph itself."""

    def components(self, values: Any, /) -> tuple[int, IndexArray]:
        """Number of connected components, and the component of every node of the graph that is known here."""

    def spectrum(self, values: Any, k: int, component: IndexArray, /) -> SingularVectors:
        """The k largest singular values and vectors of a graph with these components, fewer than k."""

    def project(self, a: Any, b: FloatArray, lam: float, /) -> Any:
        """Values of the next graph, from the places of samples and anchors."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Degrees, largest eigenvalues of T' T, and the scaled singular vectors of one graph."""

    row_degrees: FloatArray
    column_degrees: FloatArray
    eigenvalues: FloatArray
    U: FloatArray
    V: FloatArray

    def first_places(self) -> tuple[FloatArray, FloatArray]:
        return self.U, FIRST_ANCHOR_SCALE * self.V

    def places(self) -> tuple[FloatArray, FloatArray]:
        return self.U / np.sqrt(self.row_degrees)[:, None], self.V / np.sqrt(self.column_degrees)[:, None]


def rank_constrained_graph(G: Any, n_components: int, max_iter: int = 50) -> RankResult:
    """Search for the graph nearest to G with ``n_components`` components; the result has their number."""
    full = entries_of(G)
    used = np.flatnonzero(np.bincount(full.indices, minlength=full.shape[1]))
    support = Support(full[:, used] if len(used) < full.shape[1] else full)
    values, n_iter = _iterate(support, n_components, max_iter)
    count, component = support.components(values)
    graph = sp.csr_array((values, used[support.columns], support.row_edges), shape=full.shape)
    return RankResult(graph, component[: len(component) - len(used)], count, n_iter)


def entries_of(G: Any) -> sp.csr_array:
    """A copy of a graph with only its nonzero entries, in order."""
    full = sp.csr_array(G, copy=True)
    full.eliminate_zeros()
    full.sort_indices()
    return full


def _iterate(support: GraphsOnSupport, k: int, max_iter: int) -> tuple[Any, int]:
    values = support.values
    count, component = support.components(values)
    if count >= k:  # no round can join components: entries are only taken away
        return values, 0
    lam = FIRST_LAM
    a, b = support.spectrum(values, k, component).first_places()
    for n_iter in range(1, max_iter + 1):
        values = support.project(a, b, lam)
        count, component = support.components(values)
        if count == k:
            return values, n_iter
        if count > k:
            lam /= 2.0
        else:
            lam *= 2.0
            a, b = support.spectrum(values, k, component).places()
    return values, max_iter


def largest_eigenpairs(gram: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """The k largest eigenvalues of T' T, descending, and their eigenvectors; the matrix is overwritten."""
    m = len(gram)
    eigenvalues, V = scipy.linalg.eigh(
        gram, subset_by_index=(max(m - k, 0), m - 1), overwrite_a=True, check_finite=False
    )
    return np.maximum(eigenvalues[::-1], np.finfo(float).eps), V[:, ::-1]


class Support:
    """The nonzero entries of a graph; every P is an array of values on them."""

    def __init__(self, G: sp.csr_array) -> None:
        self.shape = n, m = G.shape
        self.values: FloatArray = G.data.astype(np.float64)
        self.columns = G.indices.astype(np.intp)
        self.row_edges = G.indptr.astype(np.intp)
        lengths = np.diff(self.row_edges)
        self.rows = np.repeat(np.arange(n), lengths)
        self.by_column = np.argsort(self.columns, kind="stable")
        self.row_segments = Segments(lengths)
        self.column_segments = Segments(np.bincount(self.columns, minlength=m))
        sparse_products = float(lengths @ lengths)
        self._dense = n * m <= DENSE_ENTRIES and n * m * m <= SPARSE_COST * sparse_products
        self._positions = self.rows * m + self.columns

    def components(self, values: FloatArray) -> tuple[int, IndexArray]:
        """Number of components, and the component of every sample and then of every anchor."""
        n, m = self.shape
        kept = values > 0
        ends = (self.rows[kept], n + self.columns[kept])
        links = sp.csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=(n + m, n + m))
        count, labels = connected_components(links, directed=False)
        return int(count), np.asarray(labels, dtype=np.intp)

    def spectrum(self, values: FloatArray, k: int, component: IndexArray) -> Spectrum:
        """Singular vectors of the normalised graph, over sqrt(2), and its k largest eigenvalues."""
        n, m = self.shape
        row_degrees = np.bincount(self.rows, values, n).astype(np.float64)
        column_degrees = np.bincount(self.columns, values, m).astype(np.float64)
        T = self.matrix(values / np.sqrt(row_degrees[self.rows] * column_degrees[self.columns]))
        found = leading_directions(T, column_degrees, component[n:], k) if is_sparse(T) else None
        if found is None:
            gram = T.T @ T
            found = largest_eigenpairs(gram.toarray() if is_sparse(gram) else gram, k)
        eigenvalues, V = found
        U = (T @ V) / np.sqrt(2.0 * eigenvalues)
        return Spectrum(row_degrees, column_degrees, eigenvalues, U, V / np.sqrt(2.0))

    def project(self, a: FloatArray, b: FloatArray, lam: float) -> FloatArray:
        """Mean of the projections of all rows, and of all columns, of g_ij - lam / 2 |a_i - b_j|^2 on the simplex."""
        target = self.target(a, b, lam)
        by_column = np.empty_like(target)
        by_column[self.by_column] = self.column_segments.project(target[self.by_column])
        return np.asarray(0.5 * (self.row_segments.project(target) + by_column))

    def target(self, a: FloatArray, b: FloatArray, lam: float) -> FloatArray:
        return np.asarray(self.values - 0.5 * lam * self._square_distances(a, b))

    def matrix(self, values: FloatArray) -> Any:
        """The values in a matrix, dense if products are then faster."""
        if not self._dense:
            return sp.csr_array((values, self.columns, self.row_edges), shape=self.shape)
        T = np.zeros(self.shape)
        T.ravel()[self._positions] = values
        return T

    def _square_distances(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """|a_i - b_j|^2 on the support, from all products if that is less work than picking rows."""
        if self.shape[0] * self.shape[1] > len(self.rows) * a.shape[1]:
            difference = a[self.rows] - b[self.columns]
            return np.asarray(np.einsum("ij,ij->i", difference, difference))
        squares = np.einsum("ij,ij->i", a, a)[self.rows] + np.einsum("ij,ij->i", b, b)[self.columns]
        return np.asarray(squares - 2.0 * (a @ b.T).ravel()[self._positions])


class Segments:
    """Consecutive segments of an array, none of them empty."""

    def __init__(self, lengths: Any) -> None:
        self.starts = np.cumsum(lengths) - lengths
        self._segment = np.repeat(np.arange(len(lengths)), lengths)
        self._lengths = lengths

    def project(self, values: FloatArray) -> FloatArray:
        values, thresholds, kept = self.cut(values)
        return np.asarray(np.where(kept, values - thresholds, 0.0))

    def cut(self, values: FloatArray) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
        """Values minus the largest of their segment, the threshold of the projection for each, and which exceed it.

        Entries below the threshold of those still kept are dropped until none is (Michelot's method): a few passes over
        the array, whatever the lengths of the segments. Dropped entries stay dropped, so that the passes end: rounding
        would bring an entry back that equals the threshold.
        """
        # A shift changes nothing, but keeps the sum 1 visible beside large entries.
        values = values - np.maximum.reduceat(values, self.starts)[self._segment]
        left, counts = values, self._lengths
        kept = np.ones(len(values), dtype=np.bool_)
        while True:
            thresholds = ((np.add.reduceat(left, self.starts) - 1.0) / counts)[self._segment]
            kept &= values > thresholds
            left = np.where(kept, values, 0.0)
            before, counts = counts, np.add.reduceat(kept, self.starts, dtype=np.intp)
            if np.array_equal(before, counts):
                return values, thresholds, kept
