"""Projection of many rows on the simplex against one sort of the same rows, and against the usual projection.

NumPy sorts with vector instructions where the processor has them. To subtract the threshold and cut at zero takes three
quarters of that, so that about two sorts are the least that can be had.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from results import Bench

from anchor_align.blocks import project_rows

MINUTES = 1
ANCHORS = (10, 20, 50, 100, 200)
BETAS = (0.01, 1.0, 100.0)
TURNS = 101
# Numbers in one block, as the callers take them: one megabyte in float64.
BLOCK = 2**17


def run(bench: Bench) -> dict[str, Any]:
    """Products of standardised data with orthonormal anchors over 1 + beta: few anchors a row to nearly all."""
    rows = []
    for m, beta in itertools.product(ANCHORS, BETAS):
        over_sort, over_usual = _ratios(_products(BLOCK // m, m, beta))
        rows.append({"anchors": m, "beta": beta, "over_sort": over_sort, "over_usual": over_usual})
    return {"rows": rows}


def _products(n: int, m: int, beta: float) -> np.ndarray:
    """X A' / (1 + beta) of standardised data of rank 8 with noise, and orthonormal anchors."""
    rng = np.random.default_rng(m)
    d = max(2 * m, 64)
    X = rng.standard_normal((n, 8)) @ rng.standard_normal((8, d)) + rng.standard_normal((n, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    A = np.linalg.qr(rng.standard_normal((d, m)))[0].T
    return np.asarray(X @ A.T / (1.0 + beta))


def _usual(rows: np.ndarray) -> np.ndarray:
    """The projection as it is usually written."""
    n, m = rows.shape
    descending = np.sort(rows, axis=1)[:, ::-1]
    excess = np.cumsum(descending, axis=1) - 1.0
    kept = np.count_nonzero(descending * np.arange(1, m + 1, dtype=rows.dtype) > excess, axis=1)
    thresholds = excess[np.arange(n), kept - 1] / kept
    return np.asarray(np.maximum(rows - thresholds[:, None].astype(rows.dtype), 0.0))


def _ratios(rows: np.ndarray) -> tuple[float, float]:
    """Medians over turns of ours against the sort and the usual projection, taken alternately."""
    runs: list[Callable[[], object]] = [lambda: np.sort(rows, axis=1), lambda: project_rows(rows), lambda: _usual(rows)]
    ratios = []
    for _ in range(TURNS):
        seconds = []
        for run_one in runs:
            start = time.perf_counter()
            run_one()
            seconds.append(time.perf_counter() - start)
        sort, ours, usual = seconds
        ratios.append((ours / sort, ours / usual))
    over_sort, over_usual = np.median(ratios, axis=0).tolist()
    return over_sort, over_usual


def usual(result: Any) -> float:
    """Time over that of the usual projection, median over all shapes."""
    return float(np.median([row["over_usual"] for row in result["rows"]]))
