"""Graphs of the default method against the bare product of samples and anchors plus a partial sort.

Both are measured on the rows of one block, so that all its distances are in memory at once; the bare version computes
no weights and builds no graph.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from results import Bench

from anchor_align_adapters._nearest_anchors import nearest_anchor_graph

MINUTES = 1
SHAPES = ((20, 50), (64, 100), (256, 100), (784, 100), (256, 400))  # features, anchors
SAMPLES, NEIGHBOURS, TURNS = 10_000, 10, 11


def run(bench: Bench) -> dict[str, Any]:
    """Medians over turns of the processor time, ours and the bare version alternately."""
    rows = []
    for dtype in ("float64", "float32"):
        for features, anchors in SHAPES:
            rng = np.random.default_rng(0)
            X = rng.standard_normal((SAMPLES, features)).astype(dtype)
            A = rng.standard_normal((anchors, features)).astype(dtype)
            ratio = float(np.median([_ratio(X, A) for _ in range(TURNS)]))
            rows.append({"dtype": dtype, "features": features, "anchors": anchors, "time": ratio})
    return {"rows": rows}


def _ratio(X: np.ndarray, A: np.ndarray) -> float:
    start = time.process_time()
    np.argpartition(X @ A.T, NEIGHBOURS, axis=1)
    middle = time.process_time()
    nearest_anchor_graph(X, A, NEIGHBOURS, X.dtype)
    return (time.process_time() - middle) / (middle - start)


def times(result: Any, dtype: str) -> list[float]:
    """Ratios of one number type."""
    return [row["time"] for row in result["rows"] if row["dtype"] == dtype]
