"""Growth of the time of a fit with the number of samples: planted clusters, 10,000 to a million, two views.

Processor times of one thread, so that other work on the machine counts little.
"""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import patch

import numpy as np
from memory_run import N_ANCHORS, N_CLUSTERS, planted
from results import Bench

import anchor_align.kmeans
import anchor_align_adapters._kmeans_anchors
from anchor_align import AlignedClusterer
from anchor_align.metrics import acc

MINUTES = 3
SAMPLES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
# Up to here the better of two times counts: what takes long averages over the noise itself.
MEASURED_TWICE = 30_000
# Settings and anchors. fmvacc takes one run of k-means, as lmvsc does: ten would take the same passes, only wider ones.
# The default method has its default number of anchors: more than the planted parts.
ADAPTERS: dict[str, tuple[dict[str, Any], int | None]] = {
    "lmvsc": ({}, N_ANCHORS),
    "fmvacc": ({"n_init": 1, "max_iter": 20, "tol": 0.0}, N_ANCHORS),
    "local": ({}, None),
}


def run(bench: Bench) -> dict[str, Any]:
    """A row for each adapter and number of samples."""
    _fit("lmvsc", 2_000)  # what is imported on the way
    return {"rows": [bench.kept(f"{adapter} {n}", _row, adapter, n) for n in SAMPLES for adapter in ADAPTERS]}


def _row(adapter: str, n: int) -> dict[str, Any]:
    fits = [_fit(adapter, n) for _ in range(2 if n <= MEASURED_TWICE else 1)]
    return min(fits, key=lambda row: float(row["seconds"]))


def _fit(adapter: str, n: int) -> dict[str, Any]:
    views, labels = planted(n)
    rounds = 0
    fit_kmeans = anchor_align.kmeans.fit_kmeans

    def counted(*values: Any, **named: Any) -> Any:
        nonlocal rounds
        result = fit_kmeans(*values, **named)
        rounds += result.n_iter
        return result

    params, n_anchors = ADAPTERS[adapter]
    settings: dict[str, Any] = {"n_clusters": N_CLUSTERS, "n_anchors": n_anchors, "adapter_params": params}
    clusterer = AlignedClusterer(adapter, **settings, random_state=0)
    with patch.object(anchor_align_adapters._kmeans_anchors, "fit_kmeans", counted):
        start = time.process_time()
        clusterer.fit(views)
        seconds = time.process_time() - start
    accuracy = float(acc(labels, clusterer.labels_))
    return {"adapter": adapter, "n": n, "seconds": seconds, "rounds": rounds, "accuracy": accuracy}


def slope(result: Any, adapter: str) -> float:
    """Slope of log time against log n, by least squares."""
    rows = [row for row in result["rows"] if row["adapter"] == adapter]
    return float(np.polyfit(np.log([row["n"] for row in rows]), np.log([row["seconds"] for row in rows]), 1)[0])
