"""PMSC: a self-expressive graph and a partition of every view, and one partition near all of them.

With samples as columns of X_v', graphs Z_v >= 0 (n x n) with Laplacians L_v, embeddings F_v of the views and one
embedding Y it minimises::

    sum_v |X_v' - X_v' Z_v|^2 + alpha |Z_v|^2 + beta tr(F_v' L_v F_v) + gamma w_v |Y Y' - F_v F_v'|^2,

with F_v' F_v = Y' Y = I and ``w_v = 1 / (2 |Y Y' - F_v F_v'|)`` (Kang et al., Partition level multiview subspace
clustering, Neural Networks 2020). The objective is reconstructed from the released code. As there, Z_v is the minimum
without the bound, then negative entries become zero, so the objective may rise. Labels are k-means of the rows of Y.

Differences from the released code: samples have length one, because raw counts give samples without neighbours, whose
indicators are eigenvectors; Z_v is made symmetric by the mean; the end compares Y Y', not Y, whose signs are
arbitrary. The inverse of every view is computed once and meets matrices of rank 2 + k only, so a round takes O(n^2 k)
steps; for many samples the eigenvectors come from Lanczos steps. Y comes from the embeddings side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg

from anchor_align import Baseline, hookimpl
from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import ScaledRows, row_order, working
from anchor_align.checks import check_flag, check_number, check_whole_number

from ._eigenvectors import leading_eigenvectors
from ._preparation import check_memory, cluster_rows, unit_length

LEAST_ROUNDS, LEAST_GAP = 5, 1e-8


class PMSC(Baseline):
    """PMSC: self-expressive graphs and partitions of all views, and one partition near all of them.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the ridge on the graphs, > 0.
    beta : float, default=1e-3
        Weight of the spectral term.
    gamma : float, default=1e-5
        Weight of the distance between the partitions of the views and the common one.
    unit_rows : bool, default=True
        Samples of length one, in every view. False: the views as they are, as in the released code.
    max_iter : int, default=200
        Largest number of rounds.
    tol : float, default=1e-3
        The rounds end when Y Y' changes by less than this, as a spectral norm.
    n_init : int, default=10
        Runs of k-means on the common embedding; the best run is used.
    memory : int or str, optional
        Memory that the fit may use beyond the views, such as "2GB"; by default the free memory. A fit needs one matrix
        of samples x samples for each view and five more.

    Examples
    --------
    >>> from anchor_align import get_baseline
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> acc(data.labels, get_baseline("pmsc").fit_predict(data.views, n_clusters=4, random_state=0)) > 0.9
    True
    """

    name = "pmsc"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        beta: float = 1e-3,
        gamma: float = 1e-5,
        unit_rows: bool = True,
        max_iter: int = 200,
        tol: float = 1e-3,
        n_init: int = 10,
        memory: int | str | None = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.unit_rows = unit_rows
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.memory = memory

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        """Update graphs and embeddings of the views, and the common embedding, in turn."""
        alpha = check_number("alpha", self.alpha, least=1e-12)
        beta, gamma, tol = (check_number(each, getattr(self, each)) for each in ("beta", "gamma", "tol"))
        check_flag("unit_rows", self.unit_rows)
        max_iter = check_whole_number("max_iter", self.max_iter, least=1)
        n_init = check_whole_number("n_init", self.n_init, least=1)
        checked = self.check_input(views, n_clusters)
        n, k = checked[0].shape[0], n_clusters
        if k == n:
            return np.arange(n)
        check_memory(self.name, 8 * n * n * (len(checked) + 5), self.memory)
        # One thread of BLAS rounds in the same way on every machine.
        with working():
            inverses = [_inverse(unit_length(X) if self.unit_rows else X, alpha) for X in checked]
            rng = np.random.default_rng(random_state)
            places = np.argsort(row_order(*map(ScaledRows, checked)))
            parts = [scipy.linalg.orth(rng.standard_normal((n, k))[places]) for _ in inverses]
            Y = scipy.linalg.orth(rng.random((n, k))[places])
            for number in range(1, max_iter + 1):
                gaps = np.array([_distance(Y, F) for F in parts])
                weights = 0.5 / np.maximum(gaps, LEAST_GAP)
                parts = [
                    _embedding(_graph(B, alpha, beta, F), Y, beta, 2.0 * gamma * weight, k, random_state)
                    for B, F, weight in zip(inverses, parts, weights, strict=True)
                ]
                before, Y = Y, _common(parts, weights, k)
                # The sine of the largest angle between the two subspaces is the norm of the difference.
                if number > LEAST_ROUNDS and np.linalg.norm(before - Y @ (Y.T @ before), 2) < tol:
                    break
            return cluster_rows(Y, k, random_state, n_init=n_init)


def _inverse(X: Any, alpha: float) -> FloatArray:
    """(X X' + alpha I)^-1; through the features if there are fewer of them than samples."""
    n, d = X.shape
    if d < n and not is_sparse(X):
        small = scipy.linalg.cho_factor(X.T @ X + alpha * np.eye(d))
        B = -np.asarray(X @ scipy.linalg.cho_solve(small, X.T)) / alpha
        B[np.diag_indices(n)] += 1.0 / alpha
        return B
    K = X @ X.T
    K = np.asarray(K.toarray() if is_sparse(K) else K, dtype=np.float64)
    K[np.diag_indices(n)] += alpha
    return np.asarray(np.linalg.inv(K))


def _graph(B: FloatArray, alpha: float, beta: float, F: FloatArray) -> FloatArray:
    """B (K - beta/4 Delta) without negative entries, symmetric; Delta has the squared distances of the rows of F.

    B K = I - alpha B, and Delta = s 1' + 1 s' - 2 F F' with s the squared lengths of the rows.
    """
    s = np.einsum("ij,ij->i", F, F)
    left = np.column_stack([B @ s, B.sum(axis=1), -2.0 * (B @ F)])
    right = np.column_stack([np.ones(len(F)), s, F])
    Z = -alpha * B - (beta / 4.0) * (left @ right.T)
    Z[np.diag_indices(len(Z))] += 1.0
    np.maximum(Z, 0.0, out=Z)
    return np.asarray((Z + Z.T) / 2.0)


def _embedding(Z: FloatArray, Y: FloatArray, beta: float, pull: float, k: int, random_state: int) -> FloatArray:
    """Eigenvectors of the k smallest eigenvalues of beta L - pull Y Y'."""
    degrees = beta * Z.sum(axis=0)
    # A shift makes the smallest eigenvalues the largest in absolute value, which Lanczos steps find first.
    shift = 2.0 * float(degrees.max())

    def product(V: FloatArray) -> FloatArray:
        return np.asarray(((shift - degrees) * V.T).T + beta * (Z @ V) + pull * (Y @ (Y.T @ V)))

    def dense() -> FloatArray:
        M = beta * Z + pull * (Y @ Y.T)
        M[np.diag_indices(len(Z))] += shift - degrees
        return np.asarray(M)

    return leading_eigenvectors(len(Z), k, product, dense, random_state)


def _common(parts: list[FloatArray], weights: FloatArray, k: int) -> FloatArray:
    """Eigenvectors of the k largest eigenvalues of sum w F F'."""
    side_by_side = np.hstack([np.sqrt(weight) * F for weight, F in zip(weights / weights.max(), parts, strict=True)])
    left, _, _ = scipy.linalg.svd(side_by_side, full_matrices=False)
    left = left[:, :k]
    return np.asarray(left * np.sign(left[np.abs(left).argmax(axis=0), np.arange(k)]))


def _distance(Y: FloatArray, F: FloatArray) -> float:
    """|Y Y' - F F'| for orthonormal columns."""
    return float(np.sqrt(max(Y.shape[1] + F.shape[1] - 2.0 * np.linalg.norm(Y.T @ F) ** 2, 0.0)))


@hookimpl
def anchor_align_baselines() -> list[type[Baseline]]:
    """Baselines of this module."""
    return [PMSC]
