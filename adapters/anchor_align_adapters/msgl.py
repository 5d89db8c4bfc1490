"""MSGL: one graph on the anchors of all views, with a term that asks for connected components.

With k-means anchors A_v of every view, one common graph Z (samples x anchors, rows on the simplex), weights w of the
views and gamma < 0 it minimises

    sum_v w_v |X_v - Z A_v|^2 + alpha |Z|^2 + beta tr(F' L F) + sum_v w_v^gamma,   F' F = I,

with the normalised Laplacian L of the bipartite graph of Z (Kang et al., Structured graph learning for scalable
subspace clustering: from single view to multiview, IEEE Transactions on Cybernetics 2022). Labels are k-means of the
left singular vectors of Z with normalised columns.

Column j of Z belongs to anchor j of every view, but anchors are chosen in each view: this is the anchor-unaligned
problem inside a model. ``order="aligned"`` puts the anchors of the views in a common order before the first round;
``order="given"`` takes them as they come, like the paper.

Differences from the released code: beta has no effect in the first round, where F is rounding noise because all rows of
Z are equal; degrees, eigenvalues and losses have a small positive floor. The graph that is clustered is made after the
rounds, row by row from their Hessian, weights and embedding, as for new samples; F is computed from it. ``alpha`` and
``beta`` are relative to the terms of the views, so that they mean the same for any number of samples and any scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.linalg

from anchor_align import Adapter, AnchorAligner, AnchorGraphs, InputError, hookimpl, simplex_least_squares
from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import ScaledRows, run_rows, scaled_rows
from anchor_align.checks import check_choice, check_number, check_whole_number
from anchor_align.kmeans import fit_kmeans

from ._kmeans_anchors import anchors_of_views, check_n_anchors
from ._scaling import apply_scalers, scale_views

ORDERS = ("aligned", "given")
LEAST_ROUNDS, LEAST_DEGREE = 5, 1e-12
MOST = 1e150  # larger terms of the objective cannot be squared


class MSGL(Adapter):
    """MSGL: one graph on the anchors of all views, learned together with its spectral embedding.

    Parameters
    ----------
    order : {"aligned", "given"}, default="aligned"
        Anchors of the views before the first round. "aligned": in a common order, found by alignment of the graphs of
        the views. "given": as they come, as in the paper.
    alpha : float, default=0.1
        Weight of the ridge on the graph, >= 0, relative to the total variance of a view.
    beta : float, default=1.0
        Weight of the spectral term, >= 0, relative to the loss of the views.
    gamma : float, default=-1.0
        Exponent of the weights of the views, < 0. With -1 a view of loss h has the weight 1 / sqrt(h).
    max_iter : int, default=30
        Largest number of rounds of embedding, graph and weights.
    tol : float, default=1e-3
        The rounds end when the graph changes by at most this fraction.
    n_init : int, default=10
        Runs of k-means, for the anchors of a view and for the labels.
    scale : {"spread", "standard", "unit", "max", None}, default="spread"
        Scale of each view, as for the adapter ``lmvsc``. "unit" is for word counts.
    kmeans : {"full", "minibatch", "sample"}, default="full"
        Samples for the anchors, as for the adapter ``lmvsc``.

    Notes
    -----
    By default there are five anchors for each cluster. All views have the same graph, so ``fusion`` changes nothing;
    ``order`` is what to compare. A sample, of the fit or new, gets its row of the graph in two steps: first without the
    spectral term, then with the embedding of this row.

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> clusterer = AlignedClusterer("msgl", n_clusters=4, n_anchors=8, random_state=0)
    >>> acc(data.labels, clusterer.fit_predict(data.views))
    1.0
    """

    name = "msgl"
    in_content_order = True

    def __init__(
        self,
        order: str = "aligned",
        *,
        alpha: float = 0.1,
        beta: float = 1.0,
        gamma: float = -1.0,
        max_iter: int = 30,
        tol: float = 1e-3,
        n_init: int = 10,
        scale: str | None = "spread",
        kmeans: str = "full",
    ) -> None:
        self.order = order
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.scale = scale
        self.kmeans = kmeans

    def default_n_anchors(self, n_samples: int, n_clusters: int) -> int:
        """Five for each cluster, at most the number of samples."""
        return min(5 * n_clusters, n_samples)

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Learn the common graph; every view gets it."""
        self._check()
        counts = check_n_anchors(n_anchors, views)
        scaled, scalers = scale_views(views, self.scale)
        anchors = anchors_of_views(
            scaled, counts, scale=self.scale, n_init=self.n_init, random_state=random_state, kind=self.kmeans
        )
        data = [_ViewTerms.of(X, A) for X, A in zip(scaled, anchors, strict=True)]
        if self.order == "aligned" and len(data) > 1:
            # The best reference, not the consensus: the measured accuracies of this adapter are with it.
            aligner = AnchorAligner(reference="auto", random_state=random_state)
            orders = aligner.fit([self._own_graph(each) for each in data]).permutations_
            data = [each.permuted(order) for each, order in zip(data, orders, strict=True)]
            anchors = [A[order] for A, order in zip(anchors, orders, strict=True)]
        model = self._learn(data, n_clusters)
        Z = model.graph(data)
        return AnchorGraphs([Z] * len(views), anchors, aligned=True, state=(scalers, asdict(model)))

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[FloatArray]:
        """Graphs of samples on the anchors, from the weights and the embedding of the fit."""
        scalers, plain = learned.state
        model = _Model(**{**plain, "embedding": _Embedding(**plain["embedding"])})
        scaled = apply_scalers(views, scalers)
        data = [_ViewTerms.of(X, A) for X, A in zip(scaled, learned.anchors or (), strict=True)]
        return [model.graph(data)] * len(data)

    def cluster(self, graph: Any, *, n_clusters: int, random_state: int) -> IndexArray:
        """K-means of the left singular vectors of the graph with normalised columns."""
        n_init = check_whole_number("n_init", self.n_init, least=1)
        Z = np.asarray(graph.toarray() if is_sparse(graph) else graph, dtype=np.float64)
        U = _Embedding.of(Z, n_clusters).samples(Z)
        found = fit_kmeans(ScaledRows(U), n_clusters, n_init=n_init, random_state=random_state % 2**32, tol=0.0)
        return found.labels.astype(np.intp)

    def _learn(self, data: list[_ViewTerms], k: int) -> _Model:
        weights = np.full(len(data), 1.0 / len(data))
        m = len(data[0].gram)
        variances = np.array([each.variance for each in data])
        # Numbers of any type become floats: NumPy has no linear algebra for some of them.
        first_alpha, first_beta, gamma, tol = map(float, (self.alpha, self.beta, self.gamma, self.tol))
        alpha, beta = first_alpha * float(weights @ variances), 0.0
        Z, embedding = np.full(data[0].cross.shape, 1.0 / m), None
        for number in range(check_whole_number("max_iter", self.max_iter, least=1)):
            hessian = sum(w * each.gram for w, each in zip(weights, data, strict=True)) + alpha * np.eye(m)
            linear = sum(w * each.cross for w, each in zip(weights, data, strict=True))
            if embedding is not None and beta:
                linear = linear - beta / 2.0 * embedding.distances(Z)
            before, Z = Z, _solve(hessian, np.asarray(linear))
            losses = np.array([each.loss(Z) for each in data])
            used, weights = weights, (-losses / gamma) ** (1.0 / (gamma - 1.0))
            if number == 0:
                # From here on the weights have the units of the losses; alpha and beta follow once.
                alpha = first_alpha * float(weights @ variances)
                beta = first_beta * float(weights @ losses) / k
            embedding = _Embedding.of(Z, k)
            if number > LEAST_ROUNDS and np.linalg.norm(Z - before) < tol * np.linalg.norm(before):
                break
        assert embedding is not None
        return _Model(np.asarray(hessian), used, beta, embedding)

    def _own_graph(self, view: _ViewTerms) -> FloatArray:
        """The graph of a single view, to align its anchors."""
        return _solve(view.gram + float(self.alpha) * view.variance * np.eye(len(view.gram)), view.cross)

    def _check(self) -> None:
        check_choice("order", self.order, ORDERS)
        for name in ("alpha", "beta", "tol"):
            check_number(name, getattr(self, name))
        if check_number("gamma", self.gamma, least=-np.inf) >= 0:
            raise InputError(f"gamma must be a negative number, got {self.gamma}.")


@dataclass(frozen=True, eq=False)
class _ViewTerms:
    """What a round needs of a view: X A', A A', |X|^2 and the total variance."""

    cross: FloatArray
    gram: FloatArray
    square_norm: float
    variance: float

    @classmethod
    def of(cls, X: ScaledRows, A: FloatArray) -> _ViewTerms:
        # Rows of a graph sum to one, so a shift of samples and anchors changes nothing; near zero no digits are lost.
        centre = A.mean(axis=0)
        anchors = A - centre
        n = X.shape[0]
        cross, norms = np.empty((n, len(A))), np.empty(n)

        def write(rows: slice) -> None:
            block, shift = scaled_rows(X, rows)
            origin = centre + shift
            if is_sparse(block):
                cross[rows] = block @ anchors.T - anchors @ origin
                squares = np.asarray(block.multiply(block).sum(axis=1)).ravel()
                norms[rows] = squares - 2.0 * (block @ origin) + origin @ origin
            else:
                dense = block - origin
                cross[rows] = dense @ anchors.T
                norms[rows] = np.einsum("ij,ij->i", dense, dense)

        run_rows(write, n, width=2 * X.width + len(A))
        return cls(cross, anchors @ anchors.T, float(norms.sum()), float(norms.mean()) or 1.0)

    def permuted(self, order: IndexArray) -> _ViewTerms:
        return _ViewTerms(self.cross[:, order], self.gram[np.ix_(order, order)], self.square_norm, self.variance)

    def loss(self, Z: FloatArray) -> float:
        """|X - Z A|^2, with a floor: a view that is fitted exactly would have an infinite weight."""
        value = self.square_norm - 2.0 * float(np.vdot(Z, self.cross)) + float(np.vdot(Z.T @ Z, self.gram))
        return max(value, 1e-12 * self.square_norm, LEAST_DEGREE)


@dataclass(frozen=True, eq=False)
class _Embedding:
    """Right singular vectors of Z D^-1/2, singular values, and column sums D of a graph whose rows sum to one."""

    right: FloatArray
    values: FloatArray
    degrees: FloatArray

    @classmethod
    def of(cls, Z: FloatArray, k: int) -> _Embedding:
        degrees = np.maximum(Z.sum(axis=0), LEAST_DEGREE)
        T = Z / np.sqrt(degrees)
        m, k = Z.shape[1], min(k, *Z.shape)
        squares, Q = scipy.linalg.eigh(T.T @ T, subset_by_index=(m - k, m - 1))
        Q = Q * np.sign(Q[np.abs(Q).argmax(axis=0), np.arange(k)])
        return cls(Q[:, ::-1], np.sqrt(np.maximum(squares[::-1], LEAST_DEGREE)), degrees)

    def samples(self, Z: FloatArray) -> FloatArray:
        return np.asarray(Z / np.sqrt(self.degrees) @ (self.right / self.values) / np.sqrt(2.0))

    def distances(self, Z: FloatArray) -> FloatArray:
        """Squared distances of samples and anchors in the embedding, each divided by the root of its degree."""
        U, V = self.samples(Z), self.right / np.sqrt(2.0 * self.degrees)[:, None]
        squares = np.einsum("ij,ij->i", U, U)[:, None] + np.einsum("ij,ij->i", V, V) - 2.0 * U @ V.T
        return np.asarray(np.maximum(squares, 0.0))


@dataclass(frozen=True, eq=False)
class _Model:
    """What makes rows of the graph: the common Hessian, weights of the views, beta, and the embedding."""

    hessian: FloatArray
    weights: FloatArray
    beta: float
    embedding: _Embedding

    def graph(self, data: Sequence[_ViewTerms]) -> FloatArray:
        """Rows without the spectral term, then with the embedding of these rows."""
        linear = np.asarray(sum(w * each.cross for w, each in zip(self.weights, data, strict=True)))
        Z = _solve(self.hessian, linear)
        return _solve(self.hessian, linear - self.beta / 2.0 * self.embedding.distances(Z)) if self.beta else Z


def _solve(hessian: FloatArray, linear: FloatArray) -> FloatArray:
    """Rows z on the simplex that minimise z H z' - 2 c z', as least squares on the rows of a factor of H."""
    if not (np.abs(hessian).max() < MOST and np.abs(linear).max() < MOST):  # NaN, too
        raise InputError(
            "The objective of msgl is too large for a number: choose alpha, beta and gamma nearer to their defaults, "
            "or divide the views by a constant."
        )
    jitter = 1e-12 * float(np.trace(hessian)) / len(hessian)
    factor = np.linalg.cholesky(hessian + (jitter or 1.0) * np.eye(len(hessian)))
    samples = scipy.linalg.solve_triangular(factor, linear.T, lower=True).T
    return simplex_least_squares(samples, factor)


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Adapters of this module."""
    return [MSGL]
