"""AMGL: one spectral embedding of the neighbour graphs of all views, with weights that follow from it.

With the normalised Laplacians L_v of the views it minimises::

    sum_v sqrt(tr(F' L_v F)),   F' F = I

(Nie, Li, Li, Parameter-free auto-weighted multiple graph learning, IJCAI 2016). F has the eigenvectors of the smallest
eigenvalues of sum_v a_v L_v, with a_v = 1 / (2 sqrt(tr(F' L_v F))); F and a are updated in turn and the objective never
rises. Each sample is on its five nearest neighbours with weights in closed form. Labels are k-means of the rows of F.

Differences from the released code: a sample is left out of its neighbours by its number, not by its rank, so that
duplicates are neighbours; neighbours at equal distances have equal weights there where the code divides 0 by eps; the
trace is at least 1e-12; k-means is the best of ten runs, not one. Graphs are sparse, and for many samples the
eigenvectors come from Lanczos steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align import Baseline, hookimpl
from anchor_align.arrays import FloatArray, IndexArray
from anchor_align.blocks import working
from anchor_align.checks import check_number, check_whole_number

from ._eigenvectors import DENSE, leading_eigenvectors
from ._neighbour_graph import neighbour_graph, normalised
from ._preparation import balanced_views, check_memory, cluster_rows, nearest_samples

LEAST_TRACE = 1e-12


class AMGL(Baseline):
    """AMGL: one spectral embedding of the neighbour graphs of all views, with automatic weights of the views.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours of each sample in the graph of a view, at most the number of samples minus two.
    max_iter : int, default=100
        Largest number of rounds of embedding and weights.
    tol : float, default=1e-8
        The rounds end when the objective falls by at most this fraction.
    n_init : int, default=10
        Runs of k-means on the embedding; the best run is used.
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
    >>> acc(data.labels, get_baseline("amgl").fit_predict(data.views, n_clusters=4, random_state=0))
    1.0
    """

    name = "amgl"

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        max_iter: int = 100,
        tol: float = 1e-8,
        n_init: int = 10,
        scale: str | None = None,
        memory: int | str | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.scale = scale
        self.memory = memory

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        """Find the embedding and the weights in turn, then cluster the rows of the embedding."""
        c = check_whole_number("n_neighbors", self.n_neighbors, least=1)
        max_iter = check_whole_number("max_iter", self.max_iter, least=1)
        tol, n_init = check_number("tol", self.tol), check_whole_number("n_init", self.n_init, least=1)
        checked = self.check_input(views, n_clusters)
        n = checked[0].shape[0]
        if n < 3:
            return np.minimum(np.arange(n), n_clusters - 1)
        c = min(c, n - 2)
        check_memory(self.name, _needed(checked, c, n_clusters), self.memory)
        # One thread of BLAS rounds in the same way on every machine; blocks still use all threads.
        with working():
            graphs = [
                normalised(neighbour_graph(*nearest_samples(X, c + 1))) for X in balanced_views(checked, self.scale)
            ]
            found = weighted_embedding(graphs, n_clusters, random_state, max_iter=max_iter, tol=tol)
            return cluster_rows(found.vectors, n_clusters, random_state, n_init=n_init)


@dataclass(frozen=True, eq=False)
class Embedding:
    """The common embedding F, and the objective after every round."""

    vectors: FloatArray
    history: tuple[float, ...]


def weighted_embedding(
    graphs: Sequence[sp.csr_array], k: int, random_state: int, *, max_iter: int, tol: float
) -> Embedding:
    """Embedding and weights in turn; ``graphs`` are D^-1/2 W D^-1/2 of every view."""
    n = int(graphs[0].shape[0])
    weights = np.full(len(graphs), 1.0 / len(graphs))
    history: list[float] = []
    for _ in range(max_iter):
        # The smallest eigenvalues of sum a (I - S) are the largest of sum a S.
        total = sp.csr_array(sum(weight * S for weight, S in zip(weights / weights.sum(), graphs, strict=True)))
        F = leading_eigenvectors(n, k, total.__matmul__, total.toarray, random_state)
        traces = np.maximum([k - float(np.vdot(F, S @ F)) for S in graphs], LEAST_TRACE)
        weights = 0.5 / np.sqrt(traces)
        history.append(float(np.sqrt(traces).sum()))
        if len(history) > 2 and history[-2] - history[-1] <= tol * history[-2]:
            break
    return Embedding(F, tuple(history))


def _needed(views: Sequence[Any], c: int, k: int) -> int:
    """Bytes: a dense view for its distances, the graphs twice, and the Lanczos basis or the dense matrix."""
    n = int(views[0].shape[0])
    basis = n * n * 16 if n <= DENSE else n * 8 * max(4 * k, 40)
    dense = max(8 * int(X.size) if isinstance(X, np.ndarray) else 0 for X in views)
    return dense + (len(views) + 2) * 48 * n * c + basis


@hookimpl
def anchor_align_baselines() -> list[type[Baseline]]:
    """Baselines of this module."""
    return [AMGL]
