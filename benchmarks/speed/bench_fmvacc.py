"""fmvacc from views to labels against its own parts run bare, and its alternation against a loop over the samples.

All times are processor times of one thread: on a machine with other work they are the fairest.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from instances import DATA, read_views
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

import anchor_align_adapters._kmeans_anchors
import anchor_align_adapters.fmvacc
from anchor_align import AlignedClusterer
from anchor_align.blocks import ScaledRows, scaled_rows, true_rows, working
from anchor_align.graphs import _spectral
from anchor_align_adapters._alternation import INERTIA, Settings, alternate
from anchor_align_adapters._scaling import scale_views

MNIST = "MNIST-60k_4v_constructed"
N_CLUSTERS, N_ANCHORS, ROUNDS, N_INIT = 10, 20, 20, 10
SETTINGS = Settings(beta=1.0, orthogonal=True, max_iter=ROUNDS, tol=0.0)
# Time of the whole over that of its own k-means and bare products; time of the loop over that of the alternation.
LARGEST_WHOLE = 2.5
LEAST_LOOP = 20.0
LARGEST_GAP = 1e-8
# Samples and rounds of the loop: its time grows with both only, so on large data it is measured on some and scaled.
LOOP_SAMPLES, LOOP_ROUNDS = 3000, 2
COUNTS = np.arange(1.0, N_ANCHORS + 1)

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]


@dataclass
class Clock:
    """Processor time of all calls of a function."""

    spent: float = 0.0


@dataclass(frozen=True)
class Whole:
    """Shares of the time from views to labels."""

    data: str
    over_own_kmeans: float
    over_sklearn: float
    anchors_kmeans: float
    final_kmeans: float
    alternation: float
    bare_products: float
    # Time of scikit-learn's k-means over ours, for the anchors and at the end.
    sklearn_anchors: float
    sklearn_final: float


@dataclass(frozen=True)
class Loop:
    """The alternation against loops over the samples."""

    data: str
    n: int
    scaled: bool
    ratio: float
    # Time on the clock with all processors: blocks have threads, a loop in Python has one.
    ratio_threads: float
    # The same with matrix products, as the paper's code has them, and a loop for the projection only.
    ratio_projection_only: float
    end_to_end: float
    gap: float

    @property
    def best(self) -> float:
        """The larger ratio: small data are one block, which has one thread."""
        return max(self.ratio, self.ratio_threads)


def run(quick: bool, _max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """MNIST-60k and UCI-Digit; with ``quick`` scikit-learn's digits."""
    small, large = ("digits", None) if quick else ("UCI-Digit_3v", MNIST)
    report("")
    report(f"fmvacc, m = {N_ANCHORS}, {ROUNDS} rounds, k-means with n_init = {N_INIT}; processor time of one thread")
    with threadpool_limits(1):
        # The first call pays for imports and for memory that the system hands out.
        AlignedClusterer("fmvacc", n_clusters=2, random_state=0).fit([X[:100] for X in read_raw("digits")])
        wholes, loops = [], []
        for name in filter(None, (small, large)):
            views = read_raw(name)
            whole, spent, times = _whole(name, views)
            wholes.append(whole)
            loops.append(_loop(name, views, spent, times))
    report(f"  end to end over (k-means + bare products)   (bar: <= {LARGEST_WHOLE} with its own k-means, on MNIST)")
    for whole in wholes:
        report(
            f"    {whole.data:<26} own k-means {whole.over_own_kmeans:.2f}   scikit-learn's {whole.over_sklearn:.2f}   "
            f"shares: k-means {whole.anchors_kmeans:.0%} + {whole.final_kmeans:.0%}, "
            f"alternation {whole.alternation:.0%}, its products bare {whole.bare_products:.0%}"
        )
        report(
            f"    {'':<26} scikit-learn's k-means over ours: anchors {whole.sklearn_anchors:.2f}, "
            f"final {whole.sklearn_final:.2f}"
        )
    report(f"  a loop over the samples, over ours   (bar: >= {LEAST_LOOP:g} for the alternation, all processors)")
    for loop in loops:
        report(
            f"    {loop.data:<26} n = {loop.n:<6} alternation {loop.ratio_threads:.0f} on all processors, "
            f"{loop.ratio:.0f} on one thread; loop for the projection only {loop.ratio_projection_only:.0f}, "
            f"end to end {loop.end_to_end:.1f}   objective within {loop.gap:.0e}"
            f"{'   (loop measured on some samples and rounds, and scaled)' if loop.scaled else ''}"
        )
    passed = wholes[-1].over_own_kmeans <= LARGEST_WHOLE
    passed = passed and all(loop.best >= LEAST_LOOP and loop.gap <= LARGEST_GAP for loop in loops)
    return {
        "whole": [asdict(whole) for whole in wholes],
        "loop": [asdict(loop) for loop in loops],
        "summary": {
            "passed": passed,
            "over_own_kmeans": wholes[-1].over_own_kmeans,
            "over_sklearn": wholes[-1].over_sklearn,
            "least_loop_ratio": min(loop.best for loop in loops),
        },
    }


def read_raw(name: str) -> list[Array]:
    """Views in the number types of the file."""
    if name == "digits":
        return list(read_views(name))
    with np.load(DATA / f"{name}.npz") as file:
        return [file[key] for key in sorted(file.files) if key.startswith("view")]


def clusterer() -> AlignedClusterer:
    """What is measured."""
    params = {"max_iter": ROUNDS, "tol": 0.0, "n_init": N_INIT, "beta": SETTINGS.beta}
    return AlignedClusterer("fmvacc", n_clusters=N_CLUSTERS, n_anchors=N_ANCHORS, adapter_params=params, random_state=0)


def _whole(name: str, views: list[Array]) -> tuple[Whole, float, Clock]:
    """The whole run, with clocks at its k-means and its alternation; then scikit-learn's k-means and bare products."""
    with (
        _timed(anchor_align_adapters._kmeans_anchors, "fit_kmeans") as anchors,
        _timed(_spectral, "fit_kmeans") as final,
        _timed(anchor_align_adapters.fmvacc, "alternate") as alternation,
    ):
        start = time.process_time()
        fitted = clusterer().fit(views)
        spent = time.process_time() - start
    scaled = [scaled_rows(X, slice(None))[0] for X in scale_views(views, "standard")[0]]
    products = float(sum(_products(X, A) for X, A in zip(scaled, fitted.anchors_ or (), strict=True)))
    # All runs take as long as ten times one of them, on average.
    theirs = N_INIT * sum(_sklearn(X, N_ANCHORS, n_init=1, tol=1e-4) for X in scaled)
    theirs_final = _sklearn(fitted.embedding_, N_CLUSTERS, n_init=10, tol=0.0)
    whole = Whole(
        data=name,
        over_own_kmeans=spent / (anchors.spent + final.spent + products),
        over_sklearn=spent / (theirs + theirs_final + products),
        anchors_kmeans=anchors.spent / spent,
        final_kmeans=final.spent / spent,
        alternation=alternation.spent / spent,
        bare_products=products / spent,
        sklearn_anchors=theirs / anchors.spent,
        sklearn_final=theirs_final / final.spent,
    )
    return whole, spent, alternation


@contextmanager
def _timed(module: ModuleType, name: str) -> Iterator[Clock]:
    """Clock at a function of a module."""
    function, clock = getattr(module, name), Clock()

    def timed(*values: Any, **named: Any) -> Any:
        start = time.process_time()
        result = function(*values, **named)
        clock.spent += time.process_time() - start
        return result

    with patch.object(module, name, timed):
        yield clock


def _sklearn(X: Array, n_clusters: int, n_init: int, tol: float) -> float:
    start = time.process_time()
    KMeans(n_clusters, n_init=n_init, tol=tol, random_state=0).fit(X)
    return time.process_time() - start


def _products(X: Array, A: Array) -> float:
    """Time of two products a round with a view that is scaled already."""
    A = A.astype(X.dtype)
    start = time.process_time()
    for _ in range(ROUNDS):
        Z = X @ A.T
        Z.T @ X
    return time.process_time() - start


def _loop(name: str, views: list[Array], whole: float, alternation: Clock) -> Loop:
    """Loops over the samples of all views, from the same anchors for as many rounds."""
    n = len(views[0])
    some = n > LOOP_SAMPLES
    which = np.sort(np.random.default_rng(0).choice(n, LOOP_SAMPLES, replace=False)) if some else slice(None)
    rounds = LOOP_ROUNDS if some else ROUNDS
    settings = Settings(SETTINGS.beta, True, rounds, 0.0)
    ours = loop = projection_only = gap = 0.0
    for X in views:
        rows: ScaledRows = scale_views([np.asarray(X[which], dtype=np.float64)], "standard")[0][0]
        scaled = np.ascontiguousarray(scaled_rows(rows, slice(None))[0])
        start_anchors = KMeans(N_ANCHORS, n_init=1, random_state=0).fit(scaled).cluster_centers_
        with working():
            marks = [time.process_time()]
            history = np.array(alternate(rows, start_anchors, settings).history)
            marks.append(time.process_time())
            by_row = np.array(_alternate(scaled, start_anchors, rounds, _round_by_row))
            marks.append(time.process_time())
            by_projection = np.array(_alternate(scaled, start_anchors, rounds, _round_by_projection))
            marks.append(time.process_time())
        size = len(history)
        for other in (by_row, by_projection):
            gap = max(gap, float(np.abs(other[:size] / history - 1.0).max()))
        ours += marks[1] - marks[0]
        # Ours ends when rounding lets the objective rise; a pass before the first round counts too.
        rate = (size + 1) / (rounds + 1)
        loop += (marks[2] - marks[1]) * rate
        projection_only += (marks[3] - marks[2]) * rate
    assert gap <= LARGEST_GAP, f"The loop's objective differs by {gap:.1e}."
    if some:
        factor = n / LOOP_SAMPLES * (ROUNDS + 1) / (rounds + 1)
        loop, projection_only, ours = factor * loop, factor * projection_only, alternation.spent
    on_the_clock = _on_all_processors(views)
    rest = whole - alternation.spent
    return Loop(
        data=name,
        n=n,
        scaled=some,
        ratio=loop / ours,
        ratio_threads=loop / on_the_clock,
        ratio_projection_only=projection_only / ours,
        end_to_end=(rest + loop * alternation.spent / ours) / whole,
        gap=gap,
    )


def _on_all_processors(views: list[Array]) -> float:
    """Seconds that the alternation of all views takes with as many threads as there are processors."""
    total = 0.0
    for X in views:
        rows: ScaledRows = scale_views([X], "standard")[0][0]
        start_anchors = true_rows(rows, np.arange(N_ANCHORS))
        with working(threads=os.cpu_count()):
            start = time.perf_counter()
            history = alternate(rows, start_anchors, SETTINGS).history
            total += (time.perf_counter() - start) * (ROUNDS + 1) / (len(history) + 1)
    return total


def _alternate(
    X: FloatArray,
    A: FloatArray,
    rounds: int,
    one_round: Callable[[FloatArray, FloatArray, float], tuple[FloatArray, float, float]],
) -> list[float]:
    """The algorithm of :mod:`anchor_align_adapters._alternation` for orthogonal anchors; objective of every round."""
    beta, history = SETTINGS.beta, []
    square_norm = float((X**2).sum())
    products, _, _ = one_round(X, A, 1.0)
    for _ in range(rounds):
        stay = INERTIA * np.linalg.norm(products) / np.linalg.norm(A)
        left, _, right = np.linalg.svd(products + stay * A, full_matrices=False)
        A = np.asarray(left @ right)
        products, cross, square = one_round(X, A, 1.0 + beta)
        history.append(square_norm - 2.0 * cross + (1.0 + beta) * square)
    return history


def _round_by_row(X: FloatArray, A: FloatArray, divisor: float) -> tuple[FloatArray, float, float]:
    """Z' X, the trace of Z A X' and |Z|^2, one sample after the other."""
    products = np.zeros(A.shape)
    cross = square = 0.0
    x: FloatArray
    for x in X:
        y = A @ x
        z = _project(y / divisor)
        products += np.outer(z, x)
        cross += float(z @ y)
        square += float(z @ z)
    return products, cross, square


def _round_by_projection(X: FloatArray, A: FloatArray, divisor: float) -> tuple[FloatArray, float, float]:
    """The same with matrix products; only the projection goes from sample to sample."""
    Y = X @ A.T
    Z = np.array([_project(y) for y in Y / divisor])
    return Z.T @ X, float(np.vdot(Z, Y)), float(np.vdot(Z, Z))


def _project(y: FloatArray) -> FloatArray:
    """Projection on the simplex by a sort (Duchi et al., 2008)."""
    falling = np.sort(y)[::-1]
    excess = np.cumsum(falling) - 1.0
    kept = np.count_nonzero(falling * COUNTS > excess)
    return np.asarray(np.maximum(y - excess[kept - 1] / kept, 0.0))
