"""Gram matrices against the bare matrix products they consist of, in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align import GramMatrices


def run(quick: bool, _max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Dense float64 and float32, and sparse graphs with three entries a row; two views, 50 anchors."""
    n, m = (50_000, 50) if quick else (1_000_000, 50)
    rng = np.random.default_rng(0)
    single = [rng.random((n, m), dtype=np.float32) for _ in range(2)]
    double = [Z.astype(np.float64) for Z in single]
    indices = rng.integers(m, size=(2, 3 * n))
    sparse = [sp.csr_array((rng.random(3 * n), i, np.arange(0, 3 * n + 1, 3)), shape=(n, m)) for i in indices]
    summary = {}
    report("")
    report(f"Gram matrices, n = {n}, m = {m}, two views: time / bare products   (bar: <= 1.5 for float64)")
    for name, graphs in (("float64", double), ("float32", single), ("sparse", sparse)):
        summary[name] = ratio = _ratio(graphs)
        report(f"  {name:<8} {ratio:.2f}")
    return {"n": n, "m": m, "time_ratio": summary, "summary": {"passed": summary["float64"] <= 1.5}}


def _ratio(graphs: list[Any]) -> float:
    """Median over turns of ours against bare, taken alternately so that both see the same machine."""
    ratios = []
    for _ in range(7):
        start = time.perf_counter()
        GramMatrices.from_graphs(graphs)
        middle = time.perf_counter()
        for u, v in ((0, 0), (0, 1), (1, 1)):
            graphs[u].T @ graphs[v]
        ratios.append((middle - start) / (time.perf_counter() - middle))
    return float(np.median(ratios))
