"""FMCNOF: common anchors, and a nonnegative factor of the fused graph whose largest entries are the labels.

With anchor graphs B_v (samples x anchors) and weights a of the views on the simplex it minimises

    |sum_v a_v B_v - F G'|^2,   F >= 0,   G' G = I

over F (samples x clusters), G (anchors x clusters) and a in turn; the objective never rises, and the label of a sample
is the largest entry of its row of F (Yang et al., Fast multi-view clustering via nonnegative and orthogonal
factorization, TIP 2021). Anchors are centres of k-means on the views side by side, cut into views: they correspond by
construction.

The graph has two versions. As the text of the paper means it, a sample is on its k nearest anchors. The released code
keeps the k smallest similarities instead of the largest: a sample is on its k *farthest* anchors, with nearly equal
weights. With its m = k + 3 anchors that is the complement of its three nearest ones.

With m = k + 3, most samples share most of their anchors in either version. All entries of Z G then stay positive while
G turns within the leading k singular directions, so that many factors are about equally good and have different
clusters. More starts cannot decide between them; more anchors can. That is why the default is the graph of the text,
with five anchors for each cluster.

Differences from the released code, besides this default: k-means++ starts; rows are divided by their exact sum; the
first F is not divided by its row sums, which may be zero; F and G are found again for the final weights; very narrow
views have standardised features, not samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from anchor_align import Adapter, AnchorGraphs, InputError, hookimpl
from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import ScaledRows, run_rows, true_rows
from anchor_align.checks import check_choice, check_flag, check_whole_number
from anchor_align.errors import view_name

from ._kmeans_anchors import check_n_anchors, kmeans_anchors
from ._scaling import Scaler, learn_scaler
from .sfmc import simplex_weights

SPARSIFIERS = ("text", "released")
WIDTH = 1000.0  # sigma of the released code
REMAINDER = 1e-7  # similarity to an anchor that is not kept
ANCHORS_OF_CLUSTER, MORE_ANCHORS = 5, 3  # for the graph of the text; for the released one
NARROW = 2  # standardised samples of so few features have at most two values
DEAD = 1e-9  # singular values below this, relative to the largest, are those of clusters without samples


class FMCNOF(Adapter):
    """FMCNOF: common k-means anchors, and labels from a nonnegative factor of the weighted graph.

    Parameters
    ----------
    sparsifier : {"text", "released"}, default="text"
        "text": a sample is on its k nearest anchors, as the text of the paper means it, with k clusters. "released": on
        its k farthest anchors, as in the released code; this is unstable (see Notes).
    max_iter : int, default=30
        Rounds of factors and weights.
    n_init : int, default=5
        Random first factors; the factors with the lowest objective are used.
    standardise_rows : bool, default=True
        Give every sample of every view mean 0 and standard deviation 1, as in the released code. In a view of one or
        two features at most two different samples would be left: its features get mean 0 and standard deviation 1
        instead.
    kmeans : {"full", "minibatch", "sample"}, default="full"
        Samples for the centres. "full": all samples. For millions of samples: "sample", a random sample of 500 for each
        anchor, 20,000 at least; "minibatch", 100 random batches, each a tenth of that size.

    Notes
    -----
    By default there are five anchors for each cluster; with ``sparsifier="released"`` three more than clusters.

    On eight public data sets two draws agree with a mean adjusted Rand index of 0.2 with ``sparsifier="released"``, and
    of 0.6 by default. Fifty starts instead of five hardly change the 0.2: on the same anchors, the five best of twenty
    starts have objectives within 0.2 to 3 % and agree with 0.1 to 0.5, except on the one set with two clusters.

    The objective prefers views that are easy to approximate. A constant view gets all the weight: a warning says so.

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> clusterer = AlignedClusterer("fmcnof", n_clusters=4, random_state=0)
    >>> acc(data.labels, clusterer.fit_predict(data.views))
    1.0
    """

    name = "fmcnof"
    in_content_order = True

    def __init__(
        self,
        sparsifier: str = "text",
        *,
        max_iter: int = 30,
        n_init: int = 5,
        standardise_rows: bool = True,
        kmeans: str = "full",
    ) -> None:
        self.sparsifier = sparsifier
        self.max_iter = max_iter
        self.n_init = n_init
        self.standardise_rows = standardise_rows
        self.kmeans = kmeans

    def default_n_anchors(self, n_samples: int, n_clusters: int) -> int:
        """Five for each cluster, or three more than clusters if as released; at most the number of samples."""
        released = self.sparsifier == "released"
        return min(n_clusters + MORE_ANCHORS if released else ANCHORS_OF_CLUSTER * n_clusters, n_samples)

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Centres of k-means on all views side by side, cut into views."""
        check_choice("sparsifier", self.sparsifier, SPARSIFIERS)
        check_flag("standardise_rows", self.standardise_rows)
        (m, *_) = check_n_anchors(n_anchors, views)
        least = n_clusters + (n_clusters > 1)  # with as many anchors as clusters, all samples have the same graph
        if m < least:
            raise InputError(f"fmcnof needs at least {least} anchors for {n_clusters} clusters, got n_anchors={m}.")
        scalers = [self._scaler(X, view) for view, X in enumerate(views)]
        together = ScaledRows(_StandardRows(views, scalers))
        centres = kmeans_anchors(together, m, n_init=1, random_state=random_state, view=0, kind=self.kmeans)
        anchors = np.split(centres, np.cumsum([X.shape[1] for X in views])[:-1], axis=1)
        return AnchorGraphs((), anchors, aligned=True, state=(n_clusters, scalers))

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[FloatArray]:
        """Graphs of samples on the anchors."""
        n_clusters, scalers = learned.state
        rows = [_StandardRows([X], [scaler]) for X, scaler in zip(views, scalers, strict=True)]
        return [self._graph(X, A, n_clusters) for X, A in zip(rows, learned.anchors or (), strict=True)]

    def view_weights(self, graphs: Sequence[Any], *, n_clusters: int, random_state: int) -> FloatArray:
        """Weights of the views from the alternation of factors and weights."""
        return self._best(graphs, n_clusters, random_state).weights

    def cluster(self, graph: Any, *, n_clusters: int, random_state: int) -> IndexArray:
        """The largest entry of every row of the nonnegative factor."""
        return np.asarray(self._best([graph], n_clusters, random_state).F.argmax(axis=1))

    def _scaler(self, X: Any, view: int) -> dict[str, Any] | None:
        """The scale of a view as plain numbers; None if its samples are standardised."""
        as_given = learn_scaler(X, None, view)  # refuses numbers whose squares overflow
        if not ScaledRows(X).stats().variance.any():
            warnings.warn(
                f"View {view_name(view)} is constant, and fmcnof gives such a view all the weight; leave it out.",
                stacklevel=2,
            )
        if not self.standardise_rows:
            return as_given.plain()
        return learn_scaler(X, "standard", view).plain() if X.shape[1] <= NARROW else None

    def _best(self, graphs: Sequence[Any], k: int, random_state: int) -> Factors:
        rounds = check_whole_number("max_iter", self.max_iter, least=1)
        n_init = check_whole_number("n_init", self.n_init, least=1)
        dense = [np.asarray(Z.toarray() if is_sparse(Z) else Z, dtype=np.float64) for Z in graphs]
        rng = np.random.default_rng(random_state)
        runs = [factorise(dense, k, rng, rounds) for _ in range(n_init)]
        return min(runs, key=lambda run: run.history[-1])

    def _graph(self, X: _StandardRows, A: FloatArray, k: int) -> FloatArray:
        """Similarities of samples to the kept anchors; the row sums are one."""
        n, m = X.shape[0], len(A)
        k = min(k, m)
        graph = np.empty((n, m))
        norms = np.einsum("ij,ij->i", A, A)

        def write(rows: slice) -> None:
            block = X[rows]
            squares = np.einsum("ij,ij->i", block, block)[:, None] + norms - 2.0 * block @ A.T
            distances = np.sqrt(np.maximum(squares, 0.0))
            # Ties at the last place are broken by the number of the anchor, so that every sample keeps k anchors.
            order = np.argsort(distances, axis=1, kind="stable")
            kept = order[:, m - k :] if self.sparsifier == "released" else order[:, :k]
            Z = np.full(distances.shape, REMAINDER if self.sparsifier == "released" else 0.0)
            np.put_along_axis(Z, kept, np.exp(-np.take_along_axis(distances, kept, axis=1) / (2 * WIDTH**2)), axis=1)
            graph[rows] = Z / Z.sum(axis=1, keepdims=True)

        run_rows(write, n, width=2 * X.shape[1] + 4 * m)
        return graph


@dataclass(frozen=True, eq=False)
class Factors:
    """Factors F and G of the fused graph, weights of the views, and the objective after every round."""

    F: FloatArray
    G: FloatArray
    weights: FloatArray
    history: tuple[float, ...]


def factorise(graphs: Sequence[FloatArray], k: int, rng: np.random.Generator, rounds: int) -> Factors:
    """Update G, F and the weights in turn, from a random G with orthonormal columns."""
    Q = np.array([[float(np.vdot(B, C)) for C in graphs] for B in graphs])
    weights = np.full(len(graphs), 1.0 / len(graphs))
    Z = np.mean(graphs, axis=0)
    k = min(k, Z.shape[1])
    F = Z @ np.linalg.qr(rng.standard_normal((Z.shape[1], k)))[0]
    history: list[float] = []
    for _ in range(rounds):
        G = _polar_factor(F, Z)
        F = np.maximum(Z @ G, 0.0)
        if len(graphs) > 1:
            product = F @ G.T
            found = simplex_weights(Q, np.array([2.0 * float(np.vdot(B, product)) for B in graphs]))
            fused = np.tensordot(found, graphs, axes=1)
            if np.linalg.norm(fused - product) <= np.linalg.norm(Z - product):
                weights, Z = found, fused
        history.append(float(np.linalg.norm(Z - F @ G.T) ** 2))
    return Factors(F, G, weights, tuple(history))


def _polar_factor(F: FloatArray, Z: FloatArray) -> FloatArray:
    """The matrix G with orthonormal columns that maximises Tr(G' Z' F).

    If clusters have no samples, any directions are as good for them. They get those in which the others leave most of
    the graph, instead of what rounding makes of them.
    """
    left, values, right = scipy.linalg.svd(F.T @ Z, full_matrices=False)
    rank = int(np.count_nonzero(values > DEAD * values[0]))
    G = right[:rank].T @ left[:, :rank].T
    lost = len(values) - rank
    if lost and rank:
        rest = Z - (Z @ right[:rank].T) @ right[:rank]
        directions = scipy.linalg.svd(rest, full_matrices=False)[2][:lost]
        # The sign of a direction is arbitrary; most of the samples are on its positive side.
        directions *= np.where((rest @ directions.T).sum(axis=0) < 0, -1.0, 1.0)[:, None]
        basis, _, order = scipy.linalg.qr(np.eye(len(left)) - left[:, :rank] @ left[:, :rank].T, pivoting=True)
        clusters = basis[:, :lost] * np.sign(basis[order[:lost], np.arange(lost)])
        G = G + directions.T @ clusters.T
    return np.asarray(G)


class _StandardRows:
    """Views side by side, one block at a time; samples of views without a scaler have mean 0, standard deviation 1."""

    def __init__(self, views: Sequence[Any], scalers: Sequence[dict[str, Any] | None]) -> None:
        self._views = [
            ScaledRows(X) if scaler is None else Scaler.from_plain(scaler)(X)
            for X, scaler in zip(views, scalers, strict=True)
        ]
        self._standardise = [scaler is None for scaler in scalers]
        self.shape = int(views[0].shape[0]), sum(int(X.shape[1]) for X in views)
        self.dtype = np.dtype(np.float64)

    def __getitem__(self, rows: slice | IndexArray) -> FloatArray:
        blocks = [true_rows(X, rows) for X in self._views]
        return np.hstack(
            [_standard(each) if yes else each for each, yes in zip(blocks, self._standardise, strict=True)]
        )


def _standard(samples: FloatArray) -> FloatArray:
    """Samples with mean 0 and standard deviation 1; a constant sample, which has only rounding left, becomes zero."""
    centred = samples - samples.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / max(samples.shape[1] - 1, 1))
    noise = 1e-12 * np.abs(samples).max(axis=1, keepdims=True)
    return np.where(spread > noise, centred / np.where(spread > noise, spread, 1.0), 0.0)


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Adapters of this module."""
    return [FMCNOF]
