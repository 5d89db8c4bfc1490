"""Projection on the simplex against one sort of the same rows, in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from anchor_align._simplex_projection import project_columns, project_rows

ANCHORS = (10, 20, 50, 100, 200)
BETAS = (0.01, 1.0, 100.0)
BAR = 1.5
# Numbers in one block, as the callers take them: one megabyte in float64.
BLOCK = 2**17


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Products of standardised data with orthonormal anchors over 1 + beta: few anchors a row to nearly all."""
    turns = 21 if quick else 101
    ratios: dict[str, dict[str, dict[str, float]]] = {}
    report("")
    report(f"Projection on the simplex: time / np.sort of the rows, for beta = {BETAS}   (bar: <= {BAR} for rows)")
    for dtype in (np.float64, np.float32):
        name = np.dtype(dtype).name
        ratios[name] = {}
        for m in ANCHORS:
            if m <= max_anchors:
                found = [_ratios(_products(BLOCK // m, m, beta).astype(dtype), turns) for beta in BETAS]
                ratios[name][str(m)] = {
                    f"{kind}, beta = {beta:g}": ratio[kind]
                    for kind in ("rows", "columns")
                    for beta, ratio in zip(BETAS, found, strict=True)
                }
                numbers = ["  ".join(f"{ratio[kind]:.2f}" for ratio in found) for kind in ("rows", "columns")]
                report(f"  {name}  m = {m:<4}  rows {numbers[0]}   columns {numbers[1]}")
    worst = max(ratio for found in ratios["float64"].values() for kind, ratio in found.items() if kind[0] == "r")
    return {"time_ratio": ratios, "summary": {"worst_rows": worst, "passed": worst <= BAR}}


def _products(n: int, m: int, beta: float) -> np.ndarray:
    """Data of a few common factors and noise, every feature standardised, times orthonormal anchors."""
    rng = np.random.default_rng(m)
    d = max(2 * m, 64)
    X = rng.standard_normal((n, 8)) @ rng.standard_normal((8, d)) + rng.standard_normal((n, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    A = np.linalg.qr(rng.standard_normal((d, m)))[0].T
    return np.asarray(X @ A.T / (1.0 + beta))


def _ratios(rows: np.ndarray, turns: int) -> dict[str, float]:
    """Medians over turns of ours against the sort, taken alternately so that all see the same machine."""
    columns = np.ascontiguousarray(rows.T)
    ratios = []
    for _ in range(turns):
        times = [time.perf_counter()]
        np.sort(rows, axis=1)
        times.append(time.perf_counter())
        project_rows(rows)
        times.append(time.perf_counter())
        project_columns(columns)
        times.append(time.perf_counter())
        sort, *ours = np.diff(times)
        ratios.append(np.array(ours) / sort)
    medians = np.median(ratios, axis=0)
    return {"rows": float(medians[0]), "columns": float(medians[1])}
