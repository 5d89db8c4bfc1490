"""Anchors by other implementations of k-means: their objective and time over those of ours, on one thread.

faiss is compared if it is installed (``pip install faiss-cpu``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from instances import DATA
from memory_run import planted
from sklearn.cluster import KMeans, MiniBatchKMeans
from threadpoolctl import threadpool_limits

from anchor_align.blocks import Products, ScaledRows, map_rows, square_norms
from anchor_align.kmeans import KMeansResult, fit_kmeans
from anchor_align_adapters._kmeans_anchors import kmeans_anchors

N_ANCHORS = 100
# A rival would be offered if it had this objective and this time, relative to ours, on all data.
SAME_OBJECTIVE, HALF_TIME = 1.001, 0.5


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Unit rows, as in the default adapter; every rival gets them scaled, ours scales them on the way."""
    report("")
    m = min(N_ANCHORS, max_anchors)
    report(f"K-means with {m} clusters: objective and processor time over those of ours ('full', one run)")
    rows: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for name, X in _data(quick):
            rows += _compare(name, X, m, report)
    rivals = dict.fromkeys(row["name"] for row in rows if row["rival"])
    better = [
        name
        for name in rivals
        if all(row["objective"] <= SAME_OBJECTIVE and row["time"] <= HALF_TIME for row in rows if row["name"] == name)
    ]
    report(f"  same objective in half of the time, on all data: {', '.join(better) or 'none of the others'}")
    return {"rows": rows, "summary": {"passed": not better}}


def _data(quick: bool) -> Iterator[tuple[str, np.ndarray]]:
    if quick:
        yield "planted", planted(5_000)[0][0]
        return
    with np.load(DATA / "MNIST-60k_4v_constructed.npz") as file:
        for view in (1, 3):
            yield f"MNIST-60k, view {view}", file[f"view_{view}"]
    yield "planted, n = 200,000", planted(200_000)[0][0]


def _compare(name: str, X: np.ndarray, m: int, report: Callable[[str], None]) -> list[dict[str, Any]]:
    unit = ScaledRows(X, unit=True)
    rows = np.ascontiguousarray(unit.block(slice(None)), dtype=np.float32)
    report(f"  {name}: {X.shape[0]} x {X.shape[1]}, {X.dtype}")
    found: list[dict[str, Any]] = []
    for method, (rival, fit) in _methods(unit, rows, m).items():
        start = time.process_time()
        centres = fit()
        spent = time.process_time() - start
        inertia = _inertia(rows, np.asarray(centres, dtype=np.float64))
        found.append({"data": name, "name": method, "rival": rival, "objective": inertia, "time": spent})
    for row in reversed(found):
        row["objective"] /= found[0]["objective"]
        row["time"] /= found[0]["time"]
    for row in found:
        report(f"    {row['name']:<34} objective {row['objective']:.4f}   time {row['time']:.2f}")
    return found


def _methods(unit: ScaledRows, rows: np.ndarray, m: int) -> dict[str, tuple[bool, Callable[[], Any]]]:
    def ours(kind: str) -> Callable[[], Any]:
        return lambda: kmeans_anchors(unit, m, n_init=1, random_state=0, view=0, kind=kind)

    methods = {f"ours, {kind}": (False, ours(kind)) for kind in ("full", "sample", "minibatch")}
    for rounds in (25, 100):
        few = partial(fit_kmeans, unit, m, n_init=1, random_state=0, max_iter=rounds)
        methods[f"ours, {rounds} rounds"] = False, partial(_centres, few)
    methods["scikit-learn KMeans"] = True, partial(_fitted, KMeans(m, n_init=1, random_state=0), rows)
    for batch in (1024, 10_000):
        mini = MiniBatchKMeans(m, n_init=1, batch_size=batch, random_state=0)
        methods[f"MiniBatchKMeans, batches of {batch}"] = True, partial(_fitted, mini, rows)
    try:
        import faiss
    except ImportError:
        return methods
    faiss.omp_set_num_threads(1)

    def of_faiss(**settings: Any) -> Callable[[], Any]:
        def fit() -> Any:
            found = faiss.Kmeans(rows.shape[1], m, seed=0, **settings)
            found.train(rows)
            return found.centroids

        return fit

    methods["faiss, 25 rounds, 256 rows a centre"] = True, of_faiss()
    every = {"max_points_per_centroid": len(rows)}
    methods["faiss, 25 rounds, all rows"] = True, of_faiss(**every)
    methods["faiss, 100 rounds, all rows"] = True, of_faiss(niter=100, **every)
    return methods


def _centres(fit: Callable[[], KMeansResult]) -> np.ndarray:
    return fit().centres


def _fitted(kmeans: Any, rows: np.ndarray) -> np.ndarray:
    return np.asarray(kmeans.fit(rows).cluster_centers_)


def _inertia(rows: np.ndarray, centres: np.ndarray) -> float:
    source = ScaledRows(rows)
    products = Products(source, -2.0 * centres, square_norms(centres))

    def of(part: slice) -> float:
        block = source.block(part)
        nearest = products.of(block).min(axis=0).astype(np.float64)
        return float((nearest + np.einsum("ij,ij->i", block, block, dtype=np.float64)).sum())

    return sum(map_rows(of, len(rows), width=rows.shape[1] + len(centres)))
