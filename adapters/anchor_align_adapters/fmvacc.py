"""FMVACC's anchor graphs: orthogonal anchors and rows on the simplex, by alternation (the paper's Algorithm 1).

For one view X (samples x features) with m anchors A and graph Z the paper minimises

    |X - Z A|^2 + beta |Z|^2,   A A' = I,   Z >= 0,   Z 1 = 1,

each of A and Z in turn: A from the singular vectors of Z' X, Z by projecting the rows of X A' / (1 + beta) on the
simplex. With more anchors than features A cannot be orthogonal; it is then the least-squares solution, and the update
of Z is a projected gradient step, which cannot raise the objective either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anchor_align import (
    Adapter,
    AnchorGraphs,
    hookimpl,
    project_rows_on_simplex,
    simplex_least_squares,
    view_seeds,
)
from anchor_align.checks import check_flag, check_number, check_whole_number

from ._anchors import check_n_anchors, kmeans_anchors
from ._scaling import ScaledView, apply_scalers, scale_views
from ._types import FloatArray

# Pull of the anchors before, relative to what the samples say: enough to outweigh rounding.
INERTIA = 1e-3


class FMVACC(Adapter):
    """FMVACC: orthogonal anchors and graphs by alternation, spectral clustering of the aligned mean.

    Parameters
    ----------
    beta : float, default=1.0
        Weight of the ridge on the graph, >= 0; large values spread each sample over more anchors.
    orthogonal : bool, default=True
        Orthonormal anchors in views that have at least as many features as anchors; False is the paper's ablation.
    max_iter : int, default=50
        Rounds of the alternation at most.
    tol : float, default=1e-6
        Relative change of the objective at which to stop.
    scale : {"standard", "spread", "unit", "max", None}, default="standard"
        How each view is scaled first. "standard": every feature to mean 0 and standard deviation 1, as in the paper.
        "spread": divided by the root mean square standard deviation of its features. "unit": every sample to a mean
        square of 1. "max": divided by its largest absolute entry. None: left as it is.
    n_init : int, default=10
        Runs of the k-means that gives the first anchors, of which the best is kept.

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> clusterer = AlignedClusterer("fmvacc", n_clusters=4, n_anchors=4, random_state=0)
    >>> acc(data.labels, clusterer.fit_predict(data.views))
    1.0
    """

    name = "fmvacc"

    def __init__(
        self,
        beta: float = 1.0,
        *,
        orthogonal: bool = True,
        max_iter: int = 50,
        tol: float = 1e-6,
        scale: str | None = "standard",
        n_init: int = 10,
    ) -> None:
        self.beta = beta
        self.orthogonal = orthogonal
        self.max_iter = max_iter
        self.tol = tol
        self.scale = scale
        self.n_init = n_init

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Alternate in every view, each from k-means anchors with a seed of its own."""
        settings = self._checked()
        n_init = check_whole_number("n_init", self.n_init, least=1)
        check_n_anchors(n_anchors, views[0].shape[0])
        scaled, scalers = scale_views(views, self.scale)
        graphs, anchors = [], []
        for view, (X, seed) in enumerate(zip(scaled, view_seeds(random_state, len(views)), strict=True)):
            start = kmeans_anchors(X.matrix, n_anchors, n_init=n_init, random_state=seed, view=view)
            result = alternate(X, start - X.shift, settings)
            graphs.append(result.graph)
            anchors.append(result.anchors)
        return AnchorGraphs(graphs, anchors, state=scalers)

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[FloatArray]:
        """Graphs of new samples on the anchors."""
        settings = self._checked()
        scaled = apply_scalers(views, learned.state)
        return [best_graph(X, A, settings) for X, A in zip(scaled, learned.anchors or (), strict=True)]

    def _checked(self) -> Settings:
        return Settings(
            check_number("beta", self.beta),
            check_flag("orthogonal", self.orthogonal),
            check_whole_number("max_iter", self.max_iter, least=1),
            check_number("tol", self.tol),
        )


@dataclass(frozen=True)
class Settings:
    """Checked parameters of the alternation."""

    beta: float
    orthogonal: bool
    max_iter: int
    tol: float

    def is_orthogonal(self, A: FloatArray) -> bool:
        """Whether the rows of A are orthonormal; there is no room for more of them than features."""
        return self.orthogonal and A.shape[0] <= A.shape[1]


@dataclass(frozen=True, eq=False)
class Alternated:
    """Result of the alternation, and the objective after every round."""

    graph: FloatArray
    anchors: FloatArray
    history: tuple[float, ...]


def alternate(X: ScaledView, start: FloatArray, settings: Settings) -> Alternated:
    """Update anchors and graph in turn; the objective never rises."""
    orthogonal = settings.is_orthogonal(start)
    square_norm = X.square_norm()
    A, Z = start, project_rows_on_simplex(X.times(start.T))
    history: list[float] = []
    for _ in range(settings.max_iter):
        before = A, Z
        A = _update_anchors(X, Z, A, orthogonal)
        products = X.times(A.T)
        Z = _update_graph(products, Z, A, settings.beta, orthogonal)
        value = _objective(square_norm, products, Z, A, settings.beta)
        if history and value > history[-1]:  # by rounding: anchors that can hardly be told apart
            A, Z = before
            break
        history.append(value)
        if len(history) > 1 and history[-2] - value <= settings.tol * abs(value):
            break
    return Alternated(Z if orthogonal else best_graph(X, A, settings), A, tuple(history))


def best_graph(X: ScaledView, A: FloatArray, settings: Settings) -> FloatArray:
    """The graph that minimises the objective for given anchors."""
    if settings.is_orthogonal(A):
        return project_rows_on_simplex(X.times(A.T) / (1.0 + settings.beta))
    return simplex_least_squares(X.matrix, A + X.shift, settings.beta)


def _objective(square_norm: float, products: FloatArray, Z: FloatArray, A: FloatArray, beta: float) -> float:
    """|X - Z A|^2 + beta |Z|^2, from X A' and products of the size of A and Z only."""
    squares = square_norm - 2.0 * np.vdot(Z, products) + np.vdot(Z.T @ Z, A @ A.T)
    return float(squares + beta * np.vdot(Z, Z))


def _update_anchors(X: ScaledView, Z: FloatArray, A: FloatArray, orthogonal: bool) -> FloatArray:
    sums = X.weighted_sums(Z)
    if orthogonal:
        # Directions that the sums leave open, those of anchors without samples for one, stay near where they were;
        # rounding would choose them otherwise.
        stay = INERTIA * np.linalg.norm(sums) / max(float(np.linalg.norm(A)), np.finfo(float).tiny)
        left, _, right = np.linalg.svd(sums + stay * A, full_matrices=False)
        return np.asarray(left @ right)
    return np.asarray(np.linalg.pinv(Z.T @ Z, hermitian=True) @ sums)


def _update_graph(products: FloatArray, Z: FloatArray, A: FloatArray, beta: float, orthogonal: bool) -> FloatArray:
    if orthogonal:
        return project_rows_on_simplex(products / (1.0 + beta))
    gram = A @ A.T
    curvature = float(np.linalg.eigvalsh(gram)[-1]) + beta
    if curvature == 0.0:
        return Z
    return project_rows_on_simplex(Z - (Z @ gram + beta * Z - products) / curvature)


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Adapters of this module."""
    return [FMVACC]
