"""Gram matrices of a million samples against the bare matrix products they consist of."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from results import Bench

from anchor_align import GramMatrices

MINUTES = 1
SAMPLES, ANCHORS, TURNS = 1_000_000, 50, 7


def run(bench: Bench) -> dict[str, Any]:
    """Dense float64 and float32, and sparse graphs with three entries a row; two views."""
    n, m = SAMPLES, ANCHORS
    rng = np.random.default_rng(0)
    single = [rng.random((n, m), dtype=np.float32) for _ in range(2)]
    double = [Z.astype(np.float64) for Z in single]
    indices = rng.integers(m, size=(2, 3 * n))
    sparse = [sp.csr_array((rng.random(3 * n), i, np.arange(0, 3 * n + 1, 3)), shape=(n, m)) for i in indices]
    graphs: dict[str, list[Any]] = {"float64": double, "float32": single, "sparse": sparse}
    return {"n": n, "m": m, "time": {name: _ratio(each) for name, each in graphs.items()}}


def _ratio(graphs: list[Any]) -> float:
    """Median over turns of ours against bare, taken alternately so that both see the same machine."""
    ratios = []
    for _ in range(TURNS):
        start = time.perf_counter()
        GramMatrices.from_graphs(graphs)
        middle = time.perf_counter()
        for u, v in ((0, 0), (0, 1), (1, 1)):
            graphs[u].T @ graphs[v]
        ratios.append((middle - start) / (time.perf_counter() - middle))
    return float(np.median(ratios))
