"""Projection on the simplex against one sort of the same rows, and against the usual projection, in the same run.

NumPy sorts with vector instructions where the processor has them, in two to five nanoseconds a number. To subtract the
threshold and cut at zero takes three quarters of that, so that about two sorts are the least that can be had. The bar
is the usual projection, which sorts all rows and takes all sums.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from anchor_align.blocks import project_columns, project_rows

ANCHORS = (10, 20, 50, 100, 200)
BETAS = (0.01, 1.0, 100.0)
BAR = 1.0
KINDS = ("rows", "columns", "rows / usual")
# Numbers in one block, as the callers take them: one megabyte in float64.
BLOCK = 2**17


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Products of standardised data with orthonormal anchors over 1 + beta: few anchors a row to nearly all."""
    turns = 21 if quick else 101
    ratios: dict[str, dict[str, dict[str, float]]] = {}
    report("")
    report(f"Projection on the simplex: time / np.sort of the rows, for beta = {BETAS}, and, for rows,")
    report(f"  time / the usual projection, which sorts all rows and takes all sums   (bar: <= {BAR:g})")
    for dtype in (np.float64, np.float32):
        name = np.dtype(dtype).name
        ratios[name] = {}
        for m in ANCHORS:
            if m <= max_anchors:
                found = [_ratios(_products(BLOCK // m, m, beta).astype(dtype), turns) for beta in BETAS]
                ratios[name][str(m)] = {
                    f"{kind}, beta = {beta:g}": ratio[kind]
                    for kind in KINDS
                    for beta, ratio in zip(BETAS, found, strict=True)
                }
                numbers = [f"{kind} " + "  ".join(f"{ratio[kind]:.2f}" for ratio in found) for kind in KINDS]
                report(f"  {name}  m = {m:<4}  " + "   ".join(numbers))
    every = [(kind, ratio) for found in ratios.values() for each in found.values() for kind, ratio in each.items()]
    worst = {name: max(ratio for kind, ratio in every if kind.startswith(f"{name},")) for name in KINDS}
    return {"time_ratio": ratios, "summary": {"worst": worst, "passed": worst["rows / usual"] <= BAR}}


def _products(n: int, m: int, beta: float) -> np.ndarray:
    """Data of a few common factors and noise, every feature standardised, times orthonormal anchors."""
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


def _ratios(rows: np.ndarray, turns: int) -> dict[str, float]:
    """Medians over turns of ours against the others, taken alternately so that all see the same machine."""
    columns = np.ascontiguousarray(rows.T)
    runs: list[Callable[[], object]] = [
        lambda: np.sort(rows, axis=1),
        lambda: project_rows(rows),
        lambda: project_columns(columns),
        lambda: _usual(rows),
    ]
    ratios = []
    for _ in range(turns):
        seconds = []
        for run_one in runs:
            start = time.perf_counter()
            run_one()
            seconds.append(time.perf_counter() - start)
        sort, by_rows, by_columns, usual = seconds
        ratios.append((by_rows / sort, by_columns / sort, by_rows / usual))
    return dict(zip(KINDS, np.median(ratios, axis=0).tolist(), strict=True))
