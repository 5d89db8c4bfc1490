"""Anchors by other implementations of k-means: their objective and time over those of ours, 100 clusters.

faiss is compared if it is installed (``pip install faiss-cpu``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from formats import fixed, table
from instances import raw_views
from memory_run import planted
from results import Bench
from sklearn.cluster import KMeans, MiniBatchKMeans

from anchor_align.blocks import Products, ScaledRows, map_rows, square_norms
from anchor_align.kmeans import fit_kmeans
from anchor_align_adapters._kmeans_anchors import kmeans_anchors

MINUTES = 10
N_ANCHORS = 100
MNIST, VIEWS, PLANTED = "MNIST-60k_4v_constructed", (1, 3), 200_000


def run(bench: Bench) -> dict[str, Any]:
    """Unit rows, as in the default adapter; every rival gets them scaled, ours scales them on the way."""
    rows: list[dict[str, Any]] = []
    for view in VIEWS:
        rows += bench.kept(f"view {view}", _compare, "MNIST", raw_views(bench, MNIST)[view])
    rows += bench.kept("planted", _compare, "planted", planted(PLANTED)[0][0])
    return {"anchors": N_ANCHORS, "rows": rows}


def _compare(data: str, X: Any) -> list[dict[str, Any]]:
    unit = ScaledRows(X, unit=True)
    rows = np.ascontiguousarray(unit.block(slice(None)), dtype=np.float32)
    found: list[dict[str, Any]] = []
    for method, fit in _methods(unit, rows, N_ANCHORS).items():
        start = time.process_time()
        centres = fit()
        spent = time.process_time() - start
        inertia = _inertia(rows, np.asarray(centres, dtype=np.float64))
        row = {"data": data, "n": len(rows), "columns": rows.shape[1], "method": method}
        found.append({**row, "objective": inertia, "time": spent})
    ours = found[0]
    return [
        {**row, "objective": row["objective"] / ours["objective"], "time": row["time"] / ours["time"]} for row in found
    ]


def _methods(unit: ScaledRows, rows: np.ndarray, m: int) -> dict[str, Callable[[], Any]]:
    """All methods; the first one is the unit of objective and time."""
    ours = partial(kmeans_anchors, unit, m, n_init=1, random_state=0, view=0)
    methods: dict[str, Callable[[], Any]] = {
        "ours": partial(ours, kind="full"),
        "ours, at most 100 rounds": lambda: fit_kmeans(unit, m, n_init=1, random_state=0, max_iter=100).centres,
        'ours, `kmeans="sample"`': partial(ours, kind="sample"),
        'ours, `kmeans="minibatch"`': partial(ours, kind="minibatch"),
        "scikit-learn `KMeans`": lambda: KMeans(m, n_init=1, random_state=0).fit(rows).cluster_centers_,
        "scikit-learn `MiniBatchKMeans`, default batches": lambda: (
            MiniBatchKMeans(m, n_init=1, random_state=0).fit(rows).cluster_centers_
        ),
    }
    try:
        import faiss
    except ImportError:
        return methods
    faiss.omp_set_num_threads(1)

    def of_faiss(rounds: int) -> Any:
        found = faiss.Kmeans(rows.shape[1], m, niter=rounds, seed=0, max_points_per_centroid=len(rows))
        found.train(rows)
        return found.centroids

    return {**methods, **{f"faiss, {rounds} rounds, all rows": partial(of_faiss, rounds) for rounds in (25, 100)}}


def _inertia(rows: np.ndarray, centres: np.ndarray) -> float:
    source = ScaledRows(rows)
    products = Products(source, -2.0 * centres, square_norms(centres))

    def of(part: slice) -> float:
        block = source.block(part)
        nearest = products.of(block).min(axis=0).astype(np.float64)
        return float((nearest + np.einsum("ij,ij->i", block, block, dtype=np.float64)).sum())

    return sum(map_rows(of, len(rows), width=rows.shape[1] + len(centres)))


def main_table(result: Any) -> str:
    """Objective and time of every method but the first."""
    found = {(row["data"], row["columns"], row["method"]): row for row in result["rows"]}
    data = list(dict.fromkeys((row["data"], row["n"], row["columns"]) for row in result["rows"]))
    methods = list(dict.fromkeys(row["method"] for row in result["rows"]))[1:]
    head = [f"MNIST, {d} columns" if name == "MNIST" else f"{name}, {n:,} x {d}" for name, n, d in data]
    cells = [[found[name, d, method] for name, _, d in data] for method in methods]
    rows = [[f"{fixed(each['objective'], 3)}, {fixed(each['time'], 2)}" for each in row] for row in cells]
    return table(["method", *head], [[method, *row] for method, row in zip(methods, rows, strict=True)])
