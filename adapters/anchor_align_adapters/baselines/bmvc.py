"""BMVC: binary codes of the samples and k-means on the codes, in one objective.

With kernel features phi_v (anchors x samples) of each view, codes B in {-1, 1}^(L x n), projections U_v, binary centres
C in {-1, 1}^(L x k) with balanced columns, a partition G (k x n, one-hot) and weights a on the simplex it minimises::

    sum_v a_v^r (|B - U_v phi_v|^2 + beta |U_v|^2 - gamma |U_v phi_v|^2) + lam |B - C G|^2

(Zhang, Liu, Shen, Shen, Shao, Binary multi-view clustering, TPAMI 2019). U, B, (C, G) and a are updated in turn.

Differences from the released demo: the first codes come from the principal directions of the features of all views, not
of view 4; the kernel width uses the nearest *other* sample, because an anchor is a sample at distance zero from itself;
the losses of the views are at least a small positive number, because the gamma term can make them negative; an empty
cluster takes the code of the sample that fits worst. gamma has no factor 1/n, as in the demo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg

from anchor_align import Baseline, InputError, hookimpl, view_seeds
from anchor_align.arrays import FloatArray, IndexArray
from anchor_align.blocks import Products, ScaledRows, row_order, run_rows, true_rows, working
from anchor_align.checks import check_number, check_whole_number

from ._preparation import balanced_views, check_memory, square_norms_of

FRACTION, MOST_ANCHORS = 0.12, 1000  # anchors, by default
MU, RHO, BALANCE_STEPS = 0.01, 0.001, 3  # of the update of the binary centres


class BMVC(Baseline):
    """BMVC: binary codes of the samples from kernel features of all views, and binary k-means on the codes.

    Parameters
    ----------
    n_bits : int, default=128
        Length of the codes, at most the number of anchors of all views together.
    n_anchors : int, optional
        Random samples for the kernel features; by default 12 % of the samples, at most 1000.
    r : float, default=5.0
        Exponent of the weights of the views, > 1.
    beta, gamma, lam : float, default=0.003, 0.01 and 1e-5
        Weights of the ridge, of the variance of the codes and of the clusters, as in the released demo.
    max_iter : int, default=7
        Rounds of projections, codes, clusters and weights.
    cluster_iter : int, default=10
        Rounds of binary k-means in each of them.
    scale : {"spread", "standard", "unit", None}, default=None
        Scale of each view. None: no scaling, as in the paper; one number for a whole view changes nothing. "standard":
        every feature has mean 0 and standard deviation 1. "unit": every sample has a mean square of 1, for word counts.
    memory : int or str, optional
        Memory that the fit may use beyond the views, such as "2GB"; by default the free memory.

    Examples
    --------
    >>> from anchor_align import get_baseline
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> acc(data.labels, get_baseline("bmvc").fit_predict(data.views, n_clusters=4, random_state=0))
    0.99
    """

    name = "bmvc"

    def __init__(
        self,
        n_bits: int = 128,
        *,
        n_anchors: int | None = None,
        r: float = 5.0,
        beta: float = 0.003,
        gamma: float = 0.01,
        lam: float = 1e-5,
        max_iter: int = 7,
        cluster_iter: int = 10,
        scale: str | None = None,
        memory: int | str | None = None,
    ) -> None:
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.r = r
        self.beta = beta
        self.gamma = gamma
        self.lam = lam
        self.max_iter = max_iter
        self.cluster_iter = cluster_iter
        self.scale = scale
        self.memory = memory

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        """Learn codes and clusters in turn."""
        self._check()
        checked = self.check_input(views, n_clusters)
        n = checked[0].shape[0]
        if n_clusters == n:
            return np.arange(n)
        m = max(1, min(int(FRACTION * n), MOST_ANCHORS)) if self.n_anchors is None else min(self.n_anchors, n)
        n_bits = min(self.n_bits, m * len(checked))
        # Features and their projections, the codes and products with them, and the covariance of all features.
        needed = 8 * (len(checked) * n * (m + n_bits) + 3 * n * n_bits + 2 * (m * len(checked)) ** 2)
        check_memory(self.name, needed, self.memory)
        with working():
            scaled = balanced_views(checked, self.scale)
            seeds = view_seeds(random_state, len(scaled))
            features = [kernel_features(X, m, seed) for X, seed in zip(scaled, seeds, strict=True)]
            first = np.random.default_rng(random_state).choice(n, n_clusters, replace=False)
            return self._codes_and_clusters(features, n_clusters, n_bits, row_order(*scaled, places=first))

    def _codes_and_clusters(self, features: list[FloatArray], k: int, n_bits: int, first: IndexArray) -> IndexArray:
        """Alternate; the codes of the samples ``first`` are the first centres."""
        # Numbers of any type become floats: NumPy has no linear algebra for some of them.
        r, beta, gamma, lam = map(float, (self.r, self.beta, self.gamma, self.lam))
        B = _signs(_principal_parts(features, n_bits), at_zero=-1.0)
        C = B[first]
        labels: IndexArray = (B @ C.T).argmax(axis=1)
        weights = np.full(len(features), 1.0 / len(features))
        solvers = []
        for phi in features:
            gram = phi.T @ phi
            ridge = max(beta + 1e-12 * float(np.trace(gram)), 1e-12)
            solvers.append(scipy.linalg.cho_factor((1.0 - gamma) * gram + ridge * np.eye(len(gram))))
        for _ in range(self.max_iter):
            maps = [scipy.linalg.cho_solve(solver, phi.T @ B) for solver, phi in zip(solvers, features, strict=True)]
            images = [phi @ U for phi, U in zip(features, maps, strict=True)]
            powers = weights**r
            target = sum(power * image for power, image in zip(powers, images, strict=True)) + lam * C[labels]
            B = _signs(np.asarray(target), at_zero=-1.0)
            for _ in range(self.cluster_iter):
                C, labels = _binary_step(B, C, labels)
            losses = np.array(
                [
                    np.linalg.norm(B - image) ** 2 - gamma * np.linalg.norm(image) ** 2 + beta * np.linalg.norm(U) ** 2
                    for image, U in zip(images, maps, strict=True)
                ]
            )
            logs = np.log(np.maximum(losses, 1e-12 * B.size)) / (1.0 - r)
            weights = np.exp(logs - logs.max())
            weights /= weights.sum()
        return labels

    def _check(self) -> None:
        for name in ("n_bits", "max_iter", "cluster_iter"):
            check_whole_number(name, getattr(self, name), least=1)
        if self.n_anchors is not None:
            check_whole_number("n_anchors", self.n_anchors, least=1)
        for name in ("r", "beta", "gamma", "lam"):
            check_number(name, getattr(self, name))
        if self.r <= 1 or self.gamma >= 1:
            raise InputError(f"Expected r > 1 and gamma < 1, got r={self.r} and gamma={self.gamma}.")


def kernel_features(X: ScaledRows, n_anchors: int, random_state: int) -> FloatArray:
    """Centred Gaussian similarities of all samples to random ones, samples x anchors."""
    n = X.shape[0]
    X, _ = X.centred()
    at = row_order(X, places=np.random.default_rng(random_state).choice(n, n_anchors, replace=False))
    A = true_rows(X, at)
    norms = square_norms_of(X)
    products = Products(X, -2.0 * A, np.einsum("ij,ij->i", A, A))
    squares = np.empty((n, n_anchors))

    def write(rows: slice) -> None:
        squares[rows] = np.maximum(products.of(X.block(rows)).T + norms[rows, None], 0.0)

    run_rows(write, n, width=X.shape[1] + 2 * n_anchors)
    others = squares.copy()
    others[at, np.arange(n_anchors)] = np.inf
    nearest = others.min(axis=1)
    width = 2.0 * float(np.sqrt(nearest[np.isfinite(nearest)]).mean()) if np.isfinite(nearest).any() else 0.0
    # Samples that are all equal to an anchor: any width is right.
    phi = np.exp(-squares / (2.0 * (width or 1.0) ** 2))
    return np.asarray(phi - phi.mean(axis=0))


def _principal_parts(features: list[FloatArray], n_bits: int) -> FloatArray:
    """Projections of the samples on the leading principal directions of the features of all views."""
    stacked = np.hstack(features)
    d = stacked.shape[1]
    _, directions = scipy.linalg.eigh(stacked.T @ stacked, subset_by_index=(d - n_bits, d - 1))
    # The sign of a direction is arbitrary; its largest entry is made positive, to make results comparable.
    directions = directions * np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(n_bits)])
    return np.asarray(stacked @ directions[:, ::-1])


def _binary_step(B: FloatArray, C: FloatArray, labels: IndexArray) -> tuple[FloatArray, IndexArray]:
    """Binary centres with balanced bits, and the nearest centre of every code."""
    k = len(C)
    members = np.zeros((k, len(B)))
    members[labels, np.arange(len(B))] = 1.0
    sums = members @ B
    counts = members.sum(axis=1)
    C = _signs(sums, at_zero=1.0)
    for _ in range(BALANCE_STEPS):
        C = _signs(C - (RHO * C.sum(axis=1, keepdims=True) - sums) / MU, at_zero=1.0)
    closeness = B @ C.T
    if (counts == 0).any():
        empty = np.flatnonzero(counts == 0)
        own = closeness[np.arange(len(B)), labels]
        C[empty] = B[np.argsort(own, kind="stable")[: len(empty)]]
        closeness = B @ C.T
    return C, closeness.argmax(axis=1)


def _signs(X: FloatArray, *, at_zero: float) -> FloatArray:
    return np.where(X > 0, 1.0, np.where(X < 0, -1.0, at_zero))


@hookimpl
def anchor_align_baselines() -> list[type[Baseline]]:
    """Baselines of this module."""
    return [BMVC]
