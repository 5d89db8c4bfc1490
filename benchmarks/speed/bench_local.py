"""Graphs on the nearest anchors against the bare product of samples and anchors plus a partial sort, in the same run.

Both are measured on the rows of one block, so that all its distances are in memory at once; the bare version computes
no weights and builds no graph.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from anchor_align_adapters._nearest_anchors import nearest_anchor_graph

SHAPES = ((20, 50), (64, 100), (256, 100), (784, 100), (256, 400))  # features, anchors
NEIGHBOURS = 10
BAR = 2.0


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Medians over turns of the processor time, ours and the bare version alternately."""
    n, turns = (2_000, 5) if quick else (10_000, 11)
    report("")
    report(f"Graph on {NEIGHBOURS} nearest anchors: time / (X A' and a partial sort)   (bar: <= {BAR:g})")
    ratios: dict[str, float] = {}
    for dtype in (np.float64, np.float32):
        for d, m in SHAPES:
            if m > max_anchors:
                continue
            rng = np.random.default_rng(0)
            X = rng.standard_normal((n, d)).astype(dtype)
            A = rng.standard_normal((m, d)).astype(dtype)
            name = f"{np.dtype(dtype).name}, {d} features, {m} anchors"
            ratios[name] = float(np.median([_ratio(X, A) for _ in range(turns)]))
            report(f"  {name:<40} {ratios[name]:.2f}")
    worst = max(ratios.values())
    return {"time_ratio": ratios, "summary": {"worst": worst, "passed": worst <= BAR}}


def _ratio(X: np.ndarray, A: np.ndarray) -> float:
    start = time.process_time()
    np.argpartition(X @ A.T, NEIGHBOURS, axis=1)
    middle = time.process_time()
    nearest_anchor_graph(X, A, NEIGHBOURS, X.dtype)
    return (time.process_time() - middle) / (middle - start)
