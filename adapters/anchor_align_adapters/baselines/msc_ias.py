"""MSC-IAS: a common space that explains all views, and a neighbour graph of the samples in it.

With samples as columns, the common space L (d x n), maps W_v and a graph S (n x n, rows on the simplex) it minimises::

    (1/V) sum_v |X_v - W_v L|^2 + lam sum_ij |L_i - L_j|_1 S_ij + gamma |S|^2,   columns of W_v of length <= 1

(Wang et al., Multi-view subspace clustering with intactness-aware similarity, Pattern Recognition 2019; the updates are
those of the survey of Fu, Lin, Vasilakos, Wang, Neurocomputing 2020). With the signed edge matrix A of S, column (i, j)
has S_ij at i and -S_ij at j, Q = L A is split off with a multiplier Y and a penalty mu that grows. gamma is chosen for
every sample so that it has exactly ``n_neighbors`` neighbours. Labels are the normalised cut of S.

Choices where the paper gives none: samples of length one; L from the singular vectors of the views side by side; S, and
with it A, Q and Y, is renewed every few rounds, because the edges of Y change with it. The Sylvester equation for L is
solved for the eigenvectors of sum W_v' W_v, one sparse system each, all together by conjugate gradients. With many
samples neighbours in the distance ``|.|_1`` are searched among the nearest by Euclidean distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from anchor_align import Baseline, hookimpl
from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import ScaledRows, run_rows, working
from anchor_align.checks import check_number, check_whole_number

from ._eigenvectors import leading_eigenvectors
from ._neighbour_graph import neighbour_graph, normalised
from ._preparation import check_memory, cluster_rows, nearest_samples, unit_length

FIRST_PENALTY, GROWTH = 1.25, 1.1
RENEWAL = 5  # rounds with the same graph
MAP_STEPS = 5  # steps for the maps of a view in each round
ALL_PAIRS, CANDIDATES = 3000, 50  # above this number of samples, neighbours are searched among the candidates
PRECISION, MOST_STEPS = 1e-8, 500  # of conjugate gradients


class MSCIAS(Baseline):
    """MSC-IAS: a common space that explains all views, and the normalised cut of a neighbour graph in it.

    Parameters
    ----------
    lam : float, default=0.01
        Weight of the distances of neighbours in the common space, >= 0.
    n_components : int, default=50
        Dimensions of the common space, at most the number of samples and of features of all views.
    n_neighbors : int, default=10
        Neighbours of each sample, at most the number of samples minus two.
    max_iter : int, default=40
        Rounds.
    n_init : int, default=10
        Runs of k-means on the embedding; the best run is used.
    memory : int or str, optional
        Memory that the fit may use beyond the views, such as "2GB"; by default the free memory.

    Examples
    --------
    >>> from anchor_align import get_baseline
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> acc(data.labels, get_baseline("msc-ias").fit_predict(data.views, n_clusters=4, random_state=0)) > 0.9
    True
    """

    name = "msc-ias"

    def __init__(
        self,
        lam: float = 0.01,
        *,
        n_components: int = 50,
        n_neighbors: int = 10,
        max_iter: int = 40,
        n_init: int = 10,
        memory: int | str | None = None,
    ) -> None:
        self.lam = lam
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.n_init = n_init
        self.memory = memory

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        """Update common space, maps and graph in turn, then cut the graph."""
        lam = check_number("lam", self.lam)
        d = check_whole_number("n_components", self.n_components, least=1)
        c = check_whole_number("n_neighbors", self.n_neighbors, least=1)
        max_iter = check_whole_number("max_iter", self.max_iter, least=1)
        n_init = check_whole_number("n_init", self.n_init, least=1)
        checked = self.check_input(views, n_clusters)
        n = checked[0].shape[0]
        if n < 3 or n_clusters == n:
            return np.minimum(np.arange(n), n_clusters - 1)
        c, d = min(c, n - 2), min(d, n, sum(X.shape[1] for X in checked))
        check_memory(self.name, _needed(checked, c, d), self.memory)
        with working():
            scaled = [_compact(unit_length(X)) for X in checked]
            S = intact_graph(scaled, d, c, lam, max_iter)
            M = normalised(S)
            F = leading_eigenvectors(n, n_clusters, M.__matmul__, M.toarray, random_state)
            lengths = np.linalg.norm(F, axis=1, keepdims=True)
            return cluster_rows(F / np.where(lengths > 0, lengths, 1.0), n_clusters, random_state, n_init=n_init)


def intact_graph(views: Sequence[Any], d: int, n_neighbours: int, lam: float, max_iter: int) -> sp.csr_array:
    """The graph S of samples x samples. Here samples are rows: L is samples x d, a map W is d x features."""
    L = _first_space(views, d)
    maps = [_MapSteps(_least_squares(L, X)) for X in views]
    state = _Edges.of(L, n_neighbours)
    mu = FIRST_PENALTY
    for number in range(max_iter):
        if number and number % RENEWAL == 0:
            state = _Edges.of(L, n_neighbours)
        W = [each.map for each in maps]
        inner = 2.0 / len(views) * sum(each @ each.T for each in W)
        target = 2.0 / len(views) * sum(np.asarray(X @ each.T) for X, each in zip(views, W, strict=True))
        L = _solve_sylvester(np.asarray(inner), state, mu, np.asarray(target), L)
        for each, X in zip(maps, views, strict=True):
            each.update(L, X)
        state.update(L, lam, mu)
        mu *= GROWTH
    return _Edges.of(L, n_neighbours).graph


@dataclass(eq=False)
class _Edges:
    """The graph, its signed edge matrix A (edges x samples), Q (edges x d) and the multiplier Y."""

    graph: sp.csr_array
    matrix: sp.csr_array
    laplacian: sp.csr_array
    Q: FloatArray
    Y: FloatArray

    @classmethod
    def of(cls, L: FloatArray, n_neighbours: int) -> _Edges:
        graph = neighbour_graph(*_nearest_by_sum(L, n_neighbours + 1))
        upper = sp.triu(graph, k=1).tocoo()
        count = len(upper.data)
        places = np.concatenate([np.arange(count), np.arange(count)])
        ends = np.concatenate([upper.row, upper.col])
        A = sp.csr_array((np.concatenate([upper.data, -upper.data]), (places, ends)), shape=(count, len(L)))
        Q = np.asarray(A @ L)
        return cls(graph, A, sp.csr_array(A.T @ A), Q, np.zeros_like(Q))

    def update(self, L: FloatArray, lam: float, mu: float) -> None:
        """Q by soft thresholds, then the multiplier."""
        differences = np.asarray(self.matrix @ L)
        shifted = differences - self.Y / mu
        self.Q = np.sign(shifted) * np.maximum(np.abs(shifted) - lam / mu, 0.0)
        self.Y = self.Y + mu * (self.Q - differences)


class _MapSteps:
    """The map W of a view with rows of length at most one, by a few steps of ADMM from round to round."""

    def __init__(self, start: FloatArray) -> None:
        self.map = _in_ball(start)
        self._dual = np.zeros_like(start)

    def update(self, L: FloatArray, X: Any) -> None:
        gram, cross = L.T @ L, np.asarray((X.T @ L).T)
        tau = float(np.trace(gram)) / len(gram) or 1.0
        solver = scipy.linalg.cho_factor(gram + tau * np.eye(len(gram)))
        for _ in range(MAP_STEPS):
            W = scipy.linalg.cho_solve(solver, cross + tau * (self.map - self._dual))
            self.map = _in_ball(W + self._dual)
            self._dual = self._dual + W - self.map


def _in_ball(W: FloatArray) -> FloatArray:
    """Rows that are longer than one, scaled to length one; a row is a column of the paper's W."""
    return np.asarray(W / np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1.0))


def _compact(X: Any) -> FloatArray:
    """A view with at most as many features as samples, by a rotation of the features; no update sees the difference."""
    n, d = X.shape
    if d <= n:
        return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    K = X @ X.T
    values, vectors = scipy.linalg.eigh(np.asarray(K.toarray() if is_sparse(K) else K, dtype=np.float64))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _first_space(views: Sequence[Any], d: int) -> FloatArray:
    """Leading left singular vectors of the views side by side, times their singular values."""
    whole = np.hstack(views)
    n, width = whole.shape
    small = whole.T @ whole if width < n else whole @ whole.T
    values, vectors = scipy.linalg.eigh(small, subset_by_index=(len(small) - d, len(small) - 1))
    L = (whole @ vectors if width < n else vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    signs = np.sign(L[np.abs(L).argmax(axis=0), np.arange(L.shape[1])])
    return np.asarray(L * np.where(signs == 0, 1.0, signs))


def _least_squares(L: FloatArray, X: Any) -> FloatArray:
    return np.asarray(np.linalg.pinv(L.T @ L, hermitian=True) @ np.asarray((X.T @ L).T))


def _solve_sylvester(inner: FloatArray, edges: _Edges, mu: float, target: FloatArray, start: FloatArray) -> FloatArray:
    """L with L inner + mu Lap L = target + A' (Y + mu Q), by conjugate gradients in the eigenvectors of ``inner``."""
    values, E = np.linalg.eigh(inner)
    # A direction that no view has is free: a small ridge keeps it at zero.
    values = np.maximum(values, 1e-8 * max(float(values[-1]), 1e-12))
    right = (target + edges.matrix.T @ (edges.Y + mu * edges.Q)) @ E
    x = start @ E
    diagonal = values + mu * np.asarray(edges.laplacian.diagonal())[:, None]
    residual = right - (x * values + mu * (edges.laplacian @ x))
    limits = PRECISION * np.maximum(np.linalg.norm(right, axis=0), np.finfo(float).tiny)
    direction = np.zeros_like(x)
    before = np.ones(x.shape[1])
    for number in range(MOST_STEPS):
        if (np.linalg.norm(residual, axis=0) <= limits).all():
            break
        z = residual / diagonal
        now = np.einsum("ij,ij->j", residual, z)
        direction = z + direction * (now / np.where(before > 0, before, 1.0) if number else 0.0)
        image = direction * values + mu * (edges.laplacian @ direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        length = np.divide(now, curvature, out=np.zeros_like(now), where=curvature > 0)
        x, residual, before = x + length * direction, residual - length * image, now
    return np.asarray(x @ E.T)


def _nearest_by_sum(L: FloatArray, n_neighbours: int) -> tuple[IndexArray, FloatArray]:
    """Nearest other samples by the sum of absolute differences, nearest first, and these distances."""
    n, d = L.shape
    near, distances = np.empty((n, n_neighbours), dtype=np.intp), np.empty((n, n_neighbours))
    candidates = nearest_samples(ScaledRows(L), min(CANDIDATES, n - 1))[0] if n > ALL_PAIRS else None

    def find(rows: slice) -> None:
        if candidates is None:
            found = cdist(L[rows], L, "cityblock")
            each = np.arange(rows.stop - rows.start)
            found[each, rows.start + each] = np.inf
            order = np.argsort(found, axis=1, kind="stable")[:, :n_neighbours]
            near[rows], distances[rows] = order, np.take_along_axis(found, order, axis=1)
        else:
            others = candidates[rows]
            found = np.abs(L[rows, None, :] - L[others]).sum(axis=2)
            order = np.argsort(found, axis=1, kind="stable")[:, :n_neighbours]
            near[rows] = np.take_along_axis(others, order, axis=1)
            distances[rows] = np.take_along_axis(found, order, axis=1)

    run_rows(find, n, width=3 * n if candidates is None else 2 * candidates.shape[1] * d)
    return near, distances


def _needed(views: Sequence[Any], c: int, d: int) -> int:
    """Bytes: compact views, products of all samples for the first space, and matrices with a row for each edge."""
    n, width = int(views[0].shape[0]), sum(int(X.shape[1]) for X in views)
    compact = sum(n * min(int(X.shape[1]), n) for X in views)
    return 8 * (2 * compact + 2 * min(n, width) ** 2 + 4 * n * c * d + 8 * n * d)


@hookimpl
def anchor_align_baselines() -> list[type[Baseline]]:
    """Baselines of this module."""
    return [MSCIAS]
