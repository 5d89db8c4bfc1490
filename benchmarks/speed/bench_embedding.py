"""The embedding of a graph against the bare product Z' Z and its decomposition, and against others, in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from sklearn.utils.extmath import randomized_svd

from anchor_align.graphs import spectral_embedding

ANCHORS = (20, 100, 500, 1000, 2000)
CLUSTERS = 10
BAR = 1.5
# Numbers in a graph up to which a full decomposition is waited for.
FEASIBLE = 10**7


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Graphs of ten clusters, clear or faint; one turn takes the bare product, ours and the others, in this order."""
    numbers, turns = (2 * 10**6, 3) if quick else (2 * 10**7, 5)
    rows: dict[str, dict[str, dict[str, float]]] = {}
    report("")
    report(f"Embedding, k = {CLUSTERS}: time / (bare Z'Z + eigh), and largest angle to eigh   (bar: <= {BAR} for ours)")
    for name, share in (("clear", 0.5), ("faint", 0.1)):
        rows[name] = {}
        for m in ANCHORS:
            if m <= max_anchors:
                Z = _graph(max(numbers // m, 2 * m), m, share)
                rows[name][str(m)] = found = _compare(Z, turns)
                numbers_found = "   ".join(f"{key} {value:.2g}" for key, value in found.items())
                report(f"  {name}  n = {len(Z):<8} M = {m:<5} {numbers_found}")
    worst = max((found["ours"] for by_size in rows.values() for found in by_size.values()), default=0.0)
    return {"time_ratio": rows, "summary": {"worst": worst, "passed": worst <= BAR}}


def _graph(n: int, m: int, share: float) -> np.ndarray:
    """Rows on the simplex, part of their weight where their cluster has it."""
    rng = np.random.default_rng(m)
    profiles = rng.dirichlet(np.full(m, 0.1), size=CLUSTERS)
    own = rng.standard_exponential((n, m)) ** 3
    own /= own.sum(axis=1, keepdims=True)
    return np.asarray((1.0 - share) * own + share * profiles[rng.integers(CLUSTERS, size=n)])


def _bare(Z: np.ndarray) -> np.ndarray:
    m = Z.shape[1]
    return np.asarray(scipy.linalg.eigh(Z.T @ Z, subset_by_index=(m - CLUSTERS, m - 1))[1])


def _compare(Z: np.ndarray, turns: int) -> dict[str, float]:
    """Medians over turns of the time of each against the bare one, and the angles between what they found."""
    others: dict[str, Callable[[], np.ndarray]] = {
        "ours": lambda: spectral_embedding(Z, CLUSTERS).projection,
        "svds": lambda: scipy.sparse.linalg.svds(Z, CLUSTERS, rng=np.random.default_rng(0))[2].T,
        "randomized_svd": lambda: randomized_svd(Z, CLUSTERS, random_state=0)[2].T,
    }
    if Z.size <= FEASIBLE:
        others["svd"] = lambda: scipy.linalg.svd(Z, full_matrices=False)[2][:CLUSTERS].T
    ratios, angles = [], {}
    for _ in range(turns):
        start = time.perf_counter()
        true = _bare(Z)
        bare = time.perf_counter() - start
        times = []
        for name, find in others.items():
            start = time.perf_counter()
            directions = find()
            times.append((time.perf_counter() - start) / bare)
            angles[f"{name} angle"] = float(
                scipy.linalg.subspace_angles(directions, true[:, -directions.shape[1] :]).max()
            )

        ratios.append(times)
    return dict(zip(others, np.median(ratios, axis=0).tolist(), strict=True)) | angles
