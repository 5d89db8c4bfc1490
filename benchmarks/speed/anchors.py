"""Anchors from a part of the samples: objective and time of k-means over those of all samples, and the accuracy.

Anchors and accuracy are lmvsc's, with one run of k-means as it has by default.
"""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from memory_run import planted
from results import Bench

import anchor_align_adapters._kmeans_anchors
from anchor_align import AlignedClusterer, load_views
from anchor_align.blocks import Products, ScaledRows, map_rows
from anchor_align.metrics import acc
from anchor_align_adapters._scaling import scale_views

MINUTES = 10
KINDS = ("full", "sample", "minibatch")
PLANTED = "planted"
# Views of each data set.
DATA: dict[str, tuple[int, ...]] = {"Hdigit": (0, 1), "MNIST-60k_4v_constructed": (1, 3), PLANTED: (0, 1)}
# Anchors, and planted samples: with 200 anchors k-means on a million takes many minutes.
ANCHORS = {20: 1_000_000, 50: 1_000_000, 200: 200_000}
N_CLUSTERS = 10


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set, number of anchors and kind of k-means."""
    rows = []
    for name, which in DATA.items():
        for m in ANCHORS:
            found = {kind: bench.kept(f"{name} {m} {kind}", _measure, bench, name, which, m, kind) for kind in KINDS}
            for kind, each in found.items():
                inertia = np.array(each["inertias"]) / found["full"]["inertias"]
                times = each["seconds"] / found["full"]["seconds"]
                row = {"data": name, "n": each["n"], "anchors": m, "kind": kind, "inertia": float(inertia.mean())}
                rows.append({**row, "time": times, "accuracy": each["accuracy"]})
    return {"rows": rows}


def _measure(bench: Bench, name: str, which: tuple[int, ...], m: int, kind: str) -> dict[str, Any]:
    """Objective in every view, processor time of k-means and accuracy."""
    if name == PLANTED:
        views, labels = planted(ANCHORS[m])
    else:
        data = load_views(bench.path(name))
        assert data.labels is not None
        views, labels = [data.views[view] for view in which], data.labels
    kmeans_anchors = anchor_align_adapters._kmeans_anchors.kmeans_anchors
    spent = 0.0

    def timed(*values: Any, **named: Any) -> Any:
        nonlocal spent
        start = time.process_time()
        result = kmeans_anchors(*values, **named)
        spent += time.process_time() - start
        return result

    settings: dict[str, Any] = {"n_clusters": N_CLUSTERS, "n_anchors": m, "adapter_params": {"kmeans": kind}}
    clusterer = AlignedClusterer("lmvsc", **settings, random_state=0)
    with patch.object(anchor_align_adapters._kmeans_anchors, "kmeans_anchors", timed):
        clusterer.fit(views)
    scaled = scale_views(views, "spread")[0]
    inertias = [_inertia(X, A) for X, A in zip(scaled, clusterer.anchors_ or (), strict=True)]
    return {"n": len(labels), "inertias": inertias, "seconds": spent, "accuracy": float(acc(labels, clusterer.labels_))}


def _inertia(source: ScaledRows, centres: npt.NDArray[np.float64]) -> float:
    """Sum of squared distances to the nearest centre."""
    stats = source.stats()
    square_norm = float(stats.n_rows * (stats.variance + stats.mean**2).sum())
    products = Products(source, -2.0 * centres, (centres**2).sum(axis=1))

    def least(rows: slice) -> float:
        return float(products.of(source.block(rows)).min(axis=0).sum(dtype=np.float64))

    return square_norm + sum(map_rows(least, source.shape[0], width=source.shape[1] + len(centres)))


def of_digits(result: Any, what: str, *kinds: str) -> list[float]:
    """Ratios of 60,000 digits with up to 50 anchors; the objective as what is lost, in %."""
    rows = [row for row in result["rows"] if row["data"].startswith("MNIST") and row["anchors"] <= 50]
    found = [row[what] for row in rows if row["kind"] in kinds]
    return [100 * (each - 1) for each in found] if what == "inertia" else found
