"""FMVACC's anchor graphs: orthogonal anchors and rows on the simplex, by alternation (the paper's Algorithm 1).

For one view X (samples x features) with m anchors A and graph Z the paper minimises

    |X - Z A|^2 + beta |Z|^2,   A A' = I,   Z >= 0,   Z 1 = 1,

each of A and Z in turn: A from the singular vectors of Z' X, Z by projecting the rows of X A' / (1 + beta) on the
simplex. With more anchors than features A cannot be orthogonal; it is then the least-squares solution, and the update
of Z is a projected gradient step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

FloatArray = npt.NDArray[np.float64]


def fmvacc_graph(
    X: Any, n_anchors: int, *, beta: float = 1.0, max_iter: int = 50, tol: float = 1e-6, random_state: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Anchor graph and anchors of one view.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The view; features are standardised first.
    n_anchors : int
        At most n_samples.
    beta : float, default=1.0
        Weight of the ridge on the graph; large values spread each sample over more anchors.
    max_iter : int, default=50
    tol : float, default=1e-6
        Relative change of the objective at which to stop.
    random_state : int, default=0
        Seed of the k-means that gives the first anchors.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_anchors)
        Rows on the simplex.
    A : ndarray of shape (n_anchors, n_features)

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 5))
    >>> Z, A = fmvacc_graph(X, 3)
    >>> bool(np.allclose(Z.sum(axis=1), 1)), bool(np.allclose(A @ A.T, np.eye(3)))
    (True, True)
    """
    X = np.asarray(X, dtype=np.float64)
    X = X - X.mean(axis=0)
    spread = X.std(axis=0)
    X /= np.where(spread > 0, spread, 1.0)
    A = KMeans(n_anchors, n_init=1, random_state=random_state).fit(X).cluster_centers_
    orthogonal = X.shape[1] >= n_anchors
    Z = project_rows_on_simplex(X @ A.T)
    value = np.inf
    for _ in range(max_iter):
        A = _update_anchors(X, Z, orthogonal)
        Z = _update_graph(X, Z, A, beta, orthogonal)
        before, value = value, objective(X, Z, A, beta)
        if before - value <= tol * abs(value):
            break
    return Z, A


def objective(X: FloatArray, Z: FloatArray, A: FloatArray, beta: float) -> float:
    """|X - Z A|^2 + beta |Z|^2, from products of the size of A and Z only."""
    squares = np.vdot(X, X) - 2.0 * np.vdot(Z, X @ A.T) + np.vdot(Z.T @ Z, A @ A.T)
    return float(squares + beta * np.vdot(Z, Z))


def project_rows_on_simplex(Y: FloatArray) -> FloatArray:
    """Nearest point of each row on the simplex: entries >= 0 that sum to one."""
    n, m = Y.shape
    descending = -np.sort(-Y, axis=1)
    excess = np.cumsum(descending, axis=1) - 1.0
    kept = (descending * np.arange(1, m + 1) > excess).sum(axis=1)
    threshold = excess[np.arange(n), kept - 1] / kept
    return np.asarray(np.maximum(Y - threshold[:, None], 0.0))


def _update_anchors(X: FloatArray, Z: FloatArray, orthogonal: bool) -> FloatArray:
    if orthogonal:
        left, _, right = np.linalg.svd(Z.T @ X, full_matrices=False)
        return np.asarray(left @ right)
    return np.asarray(np.linalg.pinv(Z.T @ Z) @ (Z.T @ X))


def _update_graph(X: FloatArray, Z: FloatArray, A: FloatArray, beta: float, orthogonal: bool) -> FloatArray:
    if orthogonal:
        return project_rows_on_simplex(X @ A.T / (1.0 + beta))
    curvature = float(np.linalg.eigvalsh(A @ A.T)[-1]) + beta
    return project_rows_on_simplex(Z - (Z @ (A @ A.T) + beta * Z - X @ A.T) / curvature)
