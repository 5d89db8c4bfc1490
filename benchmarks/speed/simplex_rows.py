"""Graph rows of LMVSC, least squares on the simplex, against one call of a general QP solver per sample.

Six views of the bundled digits, 2,000 samples, as they are in the file.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import quadprog
from instances import float_views, raw_views
from results import Bench
from sklearn.cluster import KMeans

from anchor_align.blocks import scaled_rows
from anchor_align.simplex._least_squares import fit_simplex
from anchor_align_adapters._scaling import scale_views

FloatArray = npt.NDArray[np.float64]

MINUTES = 5
DATA, LARGE = "mfeat", "MNIST-60k_4v_constructed"
ANCHORS = (10, 50, 100)
ALPHAS = (0.01, 1.0, 100.0)
# Samples of the rival at most: its time grows with their number only, so it is measured on some and scaled.
RIVAL_SAMPLES = 200
TURNS = 3


def run(bench: Bench) -> dict[str, Any]:
    """Medians of alternate turns; then the time of a round over a product X A', at 60,000 samples and 50 anchors."""
    rows, views = [], float_views(bench, DATA)
    for (number, X), m in itertools.product(enumerate(views), ANCHORS):
        rows += bench.kept(f"view {number}, m {m}", _compare, X, m, number)
    (wide,) = (number for number, X in enumerate(views) if X.shape[1] == 240)
    rounds = [bench.kept("240 features", _drawn, views[wide], wide)]
    rounds += [bench.kept(f"{LARGE} {view}", _scaled, X) for view, X in enumerate(raw_views(bench, LARGE))]
    return {"rows": rows, "rounds": rounds}


def _compare(X: FloatArray, m: int, seed: int) -> list[dict[str, Any]]:
    """Ours on all samples and the rival on some, in turns so that both see the same machine."""
    A = KMeans(m, n_init=1, random_state=seed).fit(X).cluster_centers_
    sample = np.random.default_rng(0).choice(len(X), min(RIVAL_SAMPLES, len(X)), replace=False)
    rows = []
    for alpha in ALPHAS:
        ratios = []
        for _ in range(TURNS):
            start = time.perf_counter()
            fit = fit_simplex(X, A, alpha)
            solved = time.perf_counter()
            rival = OneByOne(X, A, alpha)
            prepared = time.perf_counter()
            theirs_Z = rival.solve(sample)
            calls = (time.perf_counter() - prepared) * len(X) / len(sample)
            ratios.append((prepared - solved + calls) / (solved - start))
        ours, theirs = _objectives(X[sample], A, alpha, fit.Z[sample]), _objectives(X[sample], A, alpha, theirs_Z)
        above = float((ours / theirs).max() - 1.0)
        row = {"features": X.shape[1], "anchors": m, "alpha": alpha, "ratio": float(np.median(ratios))}
        rows.append({**row, "gap": fit.gap, "above_rival": above})
    return rows


class OneByOne:
    """The rival: the factor of H is prepared once, on a scale at which quadprog finds its constraints consistent."""

    def __init__(self, X: FloatArray, A: FloatArray, alpha: float) -> None:
        m = len(A)
        shift = A.mean(axis=0)
        B = A - shift
        H = B @ B.T + alpha * np.eye(m)
        unit = np.trace(H) / m
        self.inverse = np.linalg.inv(np.linalg.cholesky(H / unit)).T
        self.constraints = np.column_stack([np.ones(m), np.eye(m)])
        self.bounds = np.r_[1.0, np.zeros(m)]
        self.linear = (X - shift) @ B.T / unit

    def solve(self, rows: npt.NDArray[np.intp]) -> FloatArray:
        """One call per sample."""
        fixed = (self.constraints, self.bounds, 1, True)
        return np.array([quadprog.solve_qp(self.inverse, c, *fixed)[0] for c in self.linear[rows]])


def _objectives(X: FloatArray, A: FloatArray, alpha: float, Z: FloatArray) -> FloatArray:
    """Objective of each row, from residuals in extended precision; rows are put on the simplex first."""
    Z = np.maximum(Z, 0.0)
    exact = (Z / Z.sum(axis=1, keepdims=True)).astype(np.longdouble)
    residual = X - exact @ A.astype(np.longdouble)
    return np.asarray((residual**2).sum(axis=1) + alpha * (exact**2).sum(axis=1), dtype=np.float64)


def _drawn(X: FloatArray, seed: int) -> dict[str, Any]:
    """A view drawn thirty times with noise."""
    A = KMeans(50, n_init=1, random_state=seed).fit(X).cluster_centers_
    X = np.tile(X, (30, 1)) + 0.1 * np.random.default_rng(0).standard_normal((30 * len(X), X.shape[1]))
    return {"data": DATA, "features": X.shape[1], "alpha": 0.01, "products": _products_per_round(X, A, 0.01)}


def _scaled(X: Any) -> dict[str, Any]:
    """A view as lmvsc scales it."""
    X = scaled_rows(scale_views([X], "spread")[0][0], slice(None))[0]
    A = KMeans(50, n_init=1, random_state=0, max_iter=20).fit(X[::10]).cluster_centers_
    return {"data": LARGE, "features": X.shape[1], "alpha": 1.0, "products": _products_per_round(X, A, 1.0)}


def _products_per_round(X: Any, A: FloatArray, alpha: float) -> float:
    """Time over rounds and bare products."""
    A = A.astype(X.dtype)
    ratios = []
    for _ in range(TURNS):
        start = time.process_time()
        fit = fit_simplex(X, A, alpha)
        middle = time.process_time()
        X @ A.T
        ratios.append((middle - start) / fit.n_rounds / (time.process_time() - middle))
    return float(np.median(ratios))


def ratio(result: Any, features: int, anchors: int, alpha: float) -> float:
    """Time of the rival over ours."""
    case = (features, anchors, alpha)
    (row,) = (row for row in result["rows"] if (row["features"], row["anchors"], row["alpha"]) == case)
    return float(row["ratio"])
