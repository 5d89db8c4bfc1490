"""Fits against their own parts run bare: k-means and matrix products; and fmvacc's rounds against a loop over samples.

All times are processor times of one thread: on a machine with other work they are the fairest.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from instances import raw_views
from results import Bench
from sklearn.cluster import KMeans

import anchor_align_adapters._kmeans_anchors
import anchor_align_adapters.fmvacc
from anchor_align import AlignedClusterer
from anchor_align.blocks import ScaledRows, scaled_rows, true_rows, working
from anchor_align.graphs import _spectral
from anchor_align_adapters._alternation import INERTIA, Settings, alternate
from anchor_align_adapters._scaling import scale_views

MINUTES = 10
SMALL, LARGE = "UCI-Digit_3v", "MNIST-60k_4v_constructed"
N_CLUSTERS, N_ANCHORS, ROUNDS, N_INIT = 10, 20, 20, 10
SETTINGS = Settings(beta=1.0, orthogonal=True, max_iter=ROUNDS, tol=0.0)
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


def run(bench: Bench) -> dict[str, Any]:
    """The whole of local and fmvacc on the large set, the loop on both."""
    some = [X[:300] for X in raw_views(bench, SMALL)]
    for adapter in ("local", "fmvacc"):  # imports, and memory that the system hands out
        AlignedClusterer(adapter, n_clusters=2, random_state=0).fit(some)
    return {
        "anchors": N_ANCHORS,
        "rounds": ROUNDS,
        "n_init": N_INIT,
        "local": bench.kept("local", _local, raw_views(bench, LARGE)),
        "whole": bench.kept("fmvacc", _whole, raw_views(bench, LARGE)),
        "loop": [
            {"data": name, **bench.kept(f"loop, {name}", _loop, raw_views(bench, name))} for name in (SMALL, LARGE)
        ],
    }


def _local(views: list[Array]) -> dict[str, float]:
    """The default method over its own k-means of the anchors."""
    with _timed(anchor_align_adapters._kmeans_anchors, "fit_kmeans") as anchors:
        start = time.process_time()
        AlignedClusterer("local", n_clusters=N_CLUSTERS, random_state=0).fit(views)
        spent = time.process_time() - start
    return {"over_own_kmeans": spent / anchors.spent}


def _whole(views: list[Array]) -> dict[str, float]:
    """The whole run, with clocks at its k-means; then scikit-learn's k-means and bare products."""
    params = {"max_iter": ROUNDS, "tol": 0.0, "n_init": N_INIT, "beta": SETTINGS.beta}
    clusterer = AlignedClusterer(
        "fmvacc", n_clusters=N_CLUSTERS, n_anchors=N_ANCHORS, adapter_params=params, random_state=0
    )
    with (
        _timed(anchor_align_adapters._kmeans_anchors, "fit_kmeans") as anchors,
        _timed(_spectral, "fit_kmeans") as final,
    ):
        start = time.process_time()
        fitted = clusterer.fit(views)
        spent = time.process_time() - start
    scaled = [scaled_rows(X, slice(None))[0] for X in scale_views(views, "standard")[0]]
    products = float(sum(_products(X, A) for X, A in zip(scaled, fitted.anchors_ or (), strict=True)))
    # All runs take as long as ten times one of them, on average.
    theirs = N_INIT * sum(_sklearn(X, N_ANCHORS, n_init=1, tol=1e-4) for X in scaled)
    theirs_final = _sklearn(fitted.embedding_, N_CLUSTERS, n_init=10, tol=0.0)
    return {
        "over_own_kmeans": spent / (anchors.spent + final.spent + products),
        "over_sklearn": spent / (theirs + theirs_final + products),
    }


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


def _loop(views: list[Array]) -> dict[str, Any]:
    """Loops over the samples of all views, from the same anchors for as many rounds, over the alternation."""
    n = len(views[0])
    some = n > LOOP_SAMPLES
    which = np.sort(np.random.default_rng(0).choice(n, LOOP_SAMPLES, replace=False)) if some else slice(None)
    rounds = LOOP_ROUNDS if some else ROUNDS
    ours = loop = 0.0
    for X in views:
        rows: ScaledRows = scale_views([np.asarray(X[which], dtype=np.float64)], "standard")[0][0]
        scaled = np.ascontiguousarray(scaled_rows(rows, slice(None))[0])
        start_anchors = KMeans(N_ANCHORS, n_init=1, random_state=0).fit(scaled).cluster_centers_
        with working():
            marks = [time.process_time()]
            history = np.array(alternate(rows, start_anchors, Settings(SETTINGS.beta, True, rounds, 0.0)).history)
            marks.append(time.process_time())
            by_row = np.array(_alternate(scaled, start_anchors, rounds))
            marks.append(time.process_time())
        assert np.abs(by_row[: len(history)] / history - 1.0).max() <= LARGEST_GAP
        ours += marks[1] - marks[0]
        # Ours ends when rounding lets the objective rise; a pass before the first round counts too.
        loop += (marks[2] - marks[1]) * (len(history) + 1) / (rounds + 1)
    if some:
        loop *= n / LOOP_SAMPLES * (ROUNDS + 1) / (rounds + 1)
        ours = _alternation(views, threads=1)
    return {"n": n, "one_thread": loop / ours, "threads": loop / _alternation(views, threads=os.cpu_count())}


def _alternation(views: list[Array], threads: int | None) -> float:
    """Seconds that the alternation of all views takes; blocks of rows have threads, a loop in Python has one."""
    clock = time.process_time if threads == 1 else time.perf_counter
    total = 0.0
    for X in views:
        rows: ScaledRows = scale_views([X], "standard")[0][0]
        start_anchors = true_rows(rows, np.arange(N_ANCHORS))
        with working(threads=threads):
            start = clock()
            history = alternate(rows, start_anchors, SETTINGS).history
            total += (clock() - start) * (ROUNDS + 1) / (len(history) + 1)
    return total


def _alternate(X: FloatArray, A: FloatArray, rounds: int) -> list[float]:
    """The algorithm of :mod:`anchor_align_adapters._alternation` for orthogonal anchors; objective of every round."""
    beta, history = SETTINGS.beta, []
    square_norm = float((X**2).sum())
    products, _, _ = _round_by_row(X, A, 1.0)
    for _ in range(rounds):
        stay = INERTIA * np.linalg.norm(products) / np.linalg.norm(A)
        left, _, right = np.linalg.svd(products + stay * A, full_matrices=False)
        A = np.asarray(left @ right)
        products, cross, square = _round_by_row(X, A, 1.0 + beta)
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


def _project(y: FloatArray) -> FloatArray:
    """Projection on the simplex by a sort (Duchi et al., 2008)."""
    falling = np.sort(y)[::-1]
    excess = np.cumsum(falling) - 1.0
    kept = np.count_nonzero(falling * COUNTS > excess)
    return np.asarray(np.maximum(y - excess[kept - 1] / kept, 0.0))
