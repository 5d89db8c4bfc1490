"""RMKM: robust k-means on all views, with one partition and weights of the views.

With centroids f_vj, one partition g of the samples and weights a of the views on the simplex it minimises::

    sum_v a_v^r sum_i |x_vi - f_v,g(i)|,   r > 1

(Cai, Nie, Huang, Multi-view k-means clustering on big data, IJCAI 2013). Distances are not squared, so outliers count
less. A sample of distance h counts with the factor 1 / (2 h) in squared distances; centroids, partition, weights and
factors are updated in turn. r near 1 gives all weight to one view, a large r gives equal weights.

Differences from the released function: distances are sqrt(h^2 + eps) throughout, so the objective never rises and no
factor is infinite. The best of several random starts is used: the one with the lowest objective. An empty cluster moves
to the sample that fits worst; there it is a singular matrix. The end of a start is relative, not absolute. All starts
share each pass over the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align import Baseline, InputError, hookimpl
from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import Products, ScaledRows, map_rows, row_order, scaled_rows, weighted_sums, work_memory
from anchor_align.checks import check_number, check_whole_number

from ._preparation import balanced_views, square_norms_of

SMOOTHING = 1e-12  # eps, relative to the total variance of the view
MANY_CLUSTERS = 24  # from here on sums over clusters are faster with sparse memberships
SAME_OBJECTIVE = 1e-10


class RMKM(Baseline):
    """RMKM: robust k-means on all views with one partition and learned weights of the views.

    Parameters
    ----------
    r : float, default=4.0
        Exponent of the weights, > 1. Near 1 the best view has all the weight; a large value gives equal weights.
    n_init : int, default=20
        Random starts; the one with the lowest objective is used.
    max_iter : int, default=100
        Largest number of rounds of a start.
    tol : float, default=1e-5
        A start ends when its objective falls by at most this fraction.
    scale : {"spread", "standard", "unit", None}, default="spread"
        Scale of each view. "spread": the view is only divided by a number. "standard": every feature has mean 0 and
        standard deviation 1, for features in different units. "unit": every sample has a mean square of 1, for word
        counts. In the end every view has a total variance of 1. None: no scaling.

    Examples
    --------
    >>> from anchor_align import get_baseline
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> acc(data.labels, get_baseline("rmkm").fit_predict(data.views, n_clusters=4, random_state=0))
    1.0
    """

    name = "rmkm"

    def __init__(
        self,
        r: float = 4.0,
        *,
        n_init: int = 20,
        max_iter: int = 100,
        tol: float = 1e-5,
        scale: str | None = "spread",
    ) -> None:
        self.r = r
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.scale = scale

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        """RobustRun all starts and return the labels of the best."""
        if check_number("r", self.r, least=1.0) == 1.0:
            raise InputError("r must be larger than 1, got 1.")
        n_init = check_whole_number("n_init", self.n_init, least=1)
        max_iter = check_whole_number("max_iter", self.max_iter, least=1)
        tol = check_number("tol", self.tol)
        rows = [X.centred()[0] for X in balanced_views(self.check_input(views, n_clusters), self.scale)]
        n = rows[0].shape[0]
        rng = np.random.default_rng(random_state)
        places = np.argsort(row_order(*rows))
        # What is kept of every sample and start may take half of the memory of blocks.
        at_once = max(1, min(n_init, work_memory() // 2 // (n * (8 * len(rows) + 2))))
        best: RobustRun | None = None
        for first in range(0, n_init, at_once):
            starts = [
                RobustRun(rng.permutation(np.arange(n) % n_clusters)[places])
                for _ in range(min(at_once, n_init - first))
            ]
            for run in robust_kmeans(rows, starts, n_clusters, float(self.r), max_iter, tol):
                if best is None or run.history[-1] < (1.0 - SAME_OBJECTIVE) * best.history[-1]:
                    best = run
        assert best is not None
        return best.labels.astype(np.intp)


@dataclass(eq=False)
class RobustRun:
    """One start: its labels, the weights of the views, the objective after every round, and whether it has ended."""

    labels: IndexArray
    weights: FloatArray = field(default_factory=lambda: np.empty(0))
    history: list[float] = field(default_factory=list)
    ended: bool = False


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over samples: for each view, of the samples and the factors in each cluster, and of the distances."""

    samples: list[FloatArray]
    factors: list[FloatArray]
    distances: FloatArray

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(
            [one + two for one, two in zip(self.samples, other.samples, strict=True)],
            [one + two for one, two in zip(self.factors, other.factors, strict=True)],
            self.distances + other.distances,
        )


def robust_kmeans(
    views: Sequence[ScaledRows], runs: list[RobustRun], n_clusters: int, r: float, max_iter: int, tol: float
) -> list[RobustRun]:
    """RobustRun all starts side by side, from their labels; the objective of a start never rises."""
    model = _Passes(views, n_clusters, runs, r)
    for run in runs:
        run.weights = np.full(len(views), 1.0 / len(views))
    centres = model.centres(model.first(), runs)
    for _ in range(max_iter):
        active = [number for number, run in enumerate(runs) if not run.ended]
        if not active:
            break
        sums = model.next(active, centres)
        for at, number in enumerate(active):
            run, h = runs[number], sums.distances[at]
            # The minimum over the simplex of sum a^r h, in logarithms.
            logs = np.log(np.maximum(h, np.finfo(float).tiny)) / (1.0 - r)
            run.weights = np.exp(logs - logs.max())
            run.weights /= run.weights.sum()
            value = float(run.weights**r @ h)
            run.ended = bool(run.history) and run.history[-1] - value <= tol * value
            run.history.append(value)
        for view, found in enumerate(model.centres(sums, [runs[number] for number in active], active)):
            centres[view][active] = found
    return runs


class _Passes:
    """Passes over the samples, and what they keep of every sample: its norms, and its factor in every start."""

    def __init__(self, views: Sequence[ScaledRows], n_clusters: int, runs: list[RobustRun], r: float) -> None:
        self._views = views
        self._k = n_clusters
        self._r = r
        self._n = views[0].shape[0]
        self._norms = [square_norms_of(X) for X in views]
        totals = [float(X.stats().variance.sum()) for X in views]
        self._eps = [SMOOTHING * (total or 1.0) for total in totals]
        self._factors = np.full((len(runs), len(views), self._n), 0.5)
        self._labels = [run.labels for run in runs]
        self._runs = runs

    def first(self) -> _Sums:
        """Sums of the first partition; all samples have the same factor."""
        return self._total(lambda rows: self._sums_of(rows, list(range(len(self._runs)))), len(self._runs))

    def next(self, active: list[int], centres: list[FloatArray]) -> _Sums:
        """Assign the samples to their nearest centroids; returns sums of the new partition."""
        powers = np.array([self._runs[number].weights ** self._r for number in active])
        flat = [each[active].reshape(len(active) * self._k, -1) for each in centres]
        squares = [np.einsum("ij,ij->i", each, each) for each in flat]
        # The norms of the samples are left out here: they are the same for every centroid.
        products = [Products(X, -2.0 * F, plus) for X, F, plus in zip(self._views, flat, squares, strict=True)]

        def step(rows: slice) -> _Sums:
            shape = (len(active), self._k, rows.stop - rows.start)
            factors = self._factors[active, :, rows]
            distances = [
                (of.of(X.block(rows)) + norms[rows]).reshape(shape)
                for X, of, norms in zip(self._views, products, self._norms, strict=True)
            ]
            cost = np.zeros(shape)
            for view, squared in enumerate(distances):
                cost += (powers[:, view, None] * factors[:, view])[:, None, :] * squared
            labels = cost.argmin(axis=1)
            for view, squared in enumerate(distances):
                own = np.take_along_axis(squared, labels[:, None, :], axis=1)[:, 0]
                factors[:, view] = 0.5 / np.sqrt(np.maximum(own, 0.0) + self._eps[view])
            self._factors[active, :, rows] = factors
            for number, found in zip(active, labels, strict=True):
                self._labels[number][rows] = found
            return self._sums_of(rows, active)

        return self._total(step, len(active))

    def centres(self, sums: _Sums, runs: list[RobustRun], active: Sequence[int] | None = None) -> list[FloatArray]:
        """Centroids of every view, starts x clusters x features. Empty clusters move to the samples that fit worst."""
        numbers = range(len(runs)) if active is None else active
        found = []
        for X, samples, factors in zip(self._views, sums.samples, sums.factors, strict=True):
            scaled = (samples - factors[:, None] * X.offset) * X.factor
            scaled /= np.where(factors > 0, factors, 1.0)[:, None]
            found.append(scaled.reshape(len(runs), self._k, -1))
        empty = (sums.factors[0] == 0).reshape(len(runs), self._k)
        for at in np.flatnonzero(empty.any(axis=1)).tolist():
            factors = self._factors[numbers[at]]
            worst = np.argsort(-(0.5 / factors).T @ runs[at].weights ** self._r, kind="stable")[: int(empty[at].sum())]
            for F, X in zip(found, self._views, strict=True):
                block, shift = scaled_rows(X, worst)
                F[at, empty[at]] = (block.toarray() if is_sparse(block) else block) - shift
        return found

    def _sums_of(self, rows: slice, active: list[int]) -> _Sums:
        b, k = rows.stop - rows.start, self._k
        labels = np.array([self._labels[number][rows] for number in active])
        factors = self._factors[active, :, rows]
        places = (labels + k * np.arange(len(active))[:, None]).ravel()
        columns = np.tile(np.arange(b), len(active))
        samples, totals = [], []
        for view, X in enumerate(self._views):
            block, weights = X.block(rows), factors[:, view].ravel()
            totals.append(np.bincount(places, weights, len(active) * k).astype(np.float64))
            if k < MANY_CLUSTERS:
                members: Any = np.zeros((len(active) * k, b), dtype=X.dtype)
                members[places, columns] = weights
                samples.append(weighted_sums(members, block))
            else:
                members = sp.csr_array((weights.astype(X.dtype), (places, columns)), shape=(len(active) * k, b))
                product = members @ block
                samples.append(np.asarray(product.toarray() if is_sparse(product) else product, dtype=np.float64))
        return _Sums(samples, totals, (0.5 / factors).sum(axis=2))

    def _total(self, step: Any, n_runs: int) -> _Sums:
        width = sum(X.width for X in self._views) + (len(self._views) + 3) * n_runs * self._k
        total: _Sums = reduce(add, map_rows(step, self._n, width=width))
        return total


@hookimpl
def anchor_align_baselines() -> list[type[Baseline]]:
    """Baselines of this module."""
    return [RMKM]
