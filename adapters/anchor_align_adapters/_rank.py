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
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ._types import FloatArray, IndexArray, is_sparse

BoolArray: TypeAlias = npt.NDArray[np.bool_]

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


class Places(Protocol):
    """What the rounds need to know of the singular vectors of a graph, which may be on a cluster."""

    @property
    def eigenvalues(self) -> FloatArray:
        """Largest of T' T, descending."""

    def first_places(self) -> tuple[Any, FloatArray]:
        """f_i of the samples and f_j of the anchors, for the first round."""

    def places(self) -> tuple[Any, FloatArray]:
        """The same for rounds after the first."""


class Graphs(Protocol):
    """Graphs on the support of one graph, as the rounds need them; only this knows what their values are kept in."""

    @property
    def values(self) -> Any:
        """Those of the graph itself."""

    def spectrum(self, values: Any, k: int, /) -> Places:
        """Singular vectors of a graph."""

    def components(self, values: Any, /) -> tuple[int, Any]:
        """Number of connected components of a graph, and which they are."""

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
        """The singular vectors."""
        return self.U, FIRST_ANCHOR_SCALE * self.V

    def places(self) -> tuple[FloatArray, FloatArray]:
        """The singular vectors over the roots of the degrees."""
        return self.U / np.sqrt(self.row_degrees)[:, None], self.V / np.sqrt(self.column_degrees)[:, None]


def rank_constrained_graph(G: Any, n_components: int, max_iter: int = 50) -> RankResult:
    """Look for the graph nearest to G with ``n_components`` components; the result says how many it has."""
    full = entries_of(G)
    used = np.flatnonzero(np.bincount(full.indices, minlength=full.shape[1]))
    support = Support(full[:, used] if len(used) < full.shape[1] else full)
    values, n_iter = _iterate(support, n_components, max_iter)
    count, labels = support.components(values)
    graph = sp.csr_array((values, used[support.columns], support.row_edges), shape=full.shape)
    return RankResult(graph, labels, count, n_iter)


def entries_of(G: Any) -> sp.csr_array:
    """A copy of a graph with nothing but its entries other than zero, in order."""
    full = sp.csr_array(G, copy=True)
    full.eliminate_zeros()
    full.sort_indices()
    return full


def _iterate(support: Graphs, k: int, max_iter: int) -> tuple[Any, int]:
    """Entries of P on the support, and the number of rounds."""
    values = support.values
    spectrum = support.spectrum(values, k)
    if _count(support, values, spectrum, k) >= k:  # no round can join components: entries are only taken away
        return values, 0
    lam = FIRST_LAM
    a, b = spectrum.first_places()
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
            a, b = spectrum.places()
    return values, max_iter


def _count(support: Graphs, values: Any, spectrum: Places, k: int) -> int:
    """Number of components; 0 if the eigenvalues tell that there are fewer than k."""
    if spectrum.eigenvalues[:k].sum() < k - TOLERANCE:
        return 0
    return support.components(values)[0]


def largest_eigenpairs(gram: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """The k largest eigenvalues of T' T, descending, and their eigenvectors; the matrix is overwritten."""
    m = len(gram)
    eigenvalues, V = scipy.linalg.eigh(
        gram, subset_by_index=(max(m - k, 0), m - 1), overwrite_a=True, check_finite=False
    )
    return np.maximum(eigenvalues[::-1], np.finfo(float).eps), V[:, ::-1]


class Support:
    """The entries of a graph that may be other than zero; every P is an array of values on them."""

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
        T = self.matrix(values / np.sqrt(row_degrees[self.rows] * column_degrees[self.columns]))
        gram = T.T @ T
        gram = gram.toarray() if is_sparse(gram) else gram
        eigenvalues, V = largest_eigenpairs(gram, k)
        U = (T @ V) / np.sqrt(2.0 * eigenvalues)
        return Spectrum(row_degrees, column_degrees, eigenvalues, U, V / np.sqrt(2.0))

    def project(self, a: FloatArray, b: FloatArray, lam: float) -> FloatArray:
        """Mean of the projections of all rows, and of all columns, of g_ij - lam / 2 |a_i - b_j|^2 on the simplex."""
        target = self.target(a, b, lam)
        by_column = np.empty_like(target)
        by_column[self.by_column] = self.column_segments.project(target[self.by_column])
        return np.asarray(0.5 * (self.row_segments.project(target) + by_column))

    def target(self, a: FloatArray, b: FloatArray, lam: float) -> FloatArray:
        """g_ij - lam / 2 |a_i - b_j|^2."""
        return np.asarray(self.values - 0.5 * lam * self._square_distances(a, b))

    def matrix(self, values: FloatArray) -> Any:
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
        self.starts = np.cumsum(lengths) - lengths
        self._segment = np.repeat(np.arange(len(lengths)), lengths)
        self._lengths = lengths

    def project(self, values: FloatArray) -> FloatArray:
        """Project every segment on the simplex."""
        values, thresholds, kept = self.cut(values)
        return np.asarray(np.where(kept, values - thresholds, 0.0))

    def cut(self, values: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Values less the largest of their segment, the threshold of the projection for each, and which exceed it.

        Entries below the threshold of those still kept are dropped until none is (Michelot's method): a few passes over
        the array, whatever the lengths of the segments.
        """
        # A shift changes nothing, but the 1 that the entries sum to would vanish beside large ones.
        values = values - np.maximum.reduceat(values, self.starts)[self._segment]
        left, counts = values, self._lengths
        while True:
            thresholds = ((np.add.reduceat(left, self.starts) - 1.0) / counts)[self._segment]
            kept = values > thresholds
            left = np.where(kept, values, 0.0)
            before, counts = counts, np.add.reduceat(kept, self.starts, dtype=np.intp)
            if np.array_equal(before, counts):
                return values, thresholds, kept
