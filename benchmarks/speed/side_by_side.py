"""Against clustering of the views side by side: accuracy, and time over that of scikit-learn's KMeans."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from formats import fixed, table
from results import Bench
from sklearn.cluster import KMeans, SpectralClustering

from anchor_align import AlignedClusterer, load_views
from anchor_align.metrics import acc

Array = npt.NDArray[Any]
Fit = Callable[[list[Array], int, int], Any]

MINUTES = 15
# Seeds of each data set; MNIST's methods take minutes.
DATA = {"UCI-Digit_3v": 3, "Scene-15": 3, "Hdigit": 3, "MNIST-60k_4v_constructed": 1}
OURS = ("local", "lmvsc", "fmvacc")
REFERENCE, SPECTRAL = "KMeans", "SpectralClustering"
MOST_SAMPLES = {SPECTRAL: 10_000}
SHOWN = {"UCI-Digit_3v": "UCI-Digit", "MNIST-60k_4v_constructed": "digits in four views"}


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set and method: means over the seeds."""
    for fit in _methods().values():  # what is imported on the way
        fit([np.random.default_rng(0).random((300, 8))] * 2, 10, 0)
    rows = []
    for name, seeds in DATA.items():
        found = bench.kept(name, _measure, bench, name, seeds)
        rows += [{**row, "time": row["time"] / found[0]["time"]} for row in found]
    return {"rows": rows}


def _methods() -> dict[str, Fit]:
    """All methods; the first one is the unit of time."""
    return {
        REFERENCE: lambda views, k, seed: KMeans(k, n_init=10, random_state=seed).fit_predict(_together(views)),
        SPECTRAL: lambda views, k, seed: SpectralClustering(
            k, affinity="nearest_neighbors", random_state=seed
        ).fit_predict(_together(views)),
        **{name: _ours(name) for name in OURS},
    }


def _ours(adapter: str) -> Fit:
    return lambda views, k, seed: AlignedClusterer(adapter, n_clusters=k, random_state=seed).fit_predict(views)


def _measure(bench: Bench, name: str, seeds: int) -> list[dict[str, Any]]:
    data = load_views(bench.path(name))
    assert data.labels is not None
    assert data.n_clusters is not None
    rows = []
    for method, fit in _methods().items():
        if data.n_samples > MOST_SAMPLES.get(method, data.n_samples):
            continue
        spent, scores = [], []
        for seed in range(seeds):
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = fit(list(data.views), data.n_clusters, seed)
            spent.append(time.process_time() - start)
            scores.append(float(acc(data.labels, np.asarray(labels))))
        row = {"data": name, "n": data.n_samples, "method": method, "seeds": seeds}
        rows.append({**row, "time": float(np.mean(spent)), "accuracy": float(np.mean(scores))})
    return rows


def _standard(X: Array) -> Array:
    X = X.astype(np.float32 if X.dtype == np.float32 else np.float64)
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _together(views: list[Array]) -> Array:
    return np.hstack([_standard(X) for X in views])


def main_table(result: Any) -> str:
    """Time and accuracy of every method."""
    found = {(row["data"], row["method"]): row for row in result["rows"]}
    methods = list(dict.fromkeys(row["method"] for row in result["rows"]))
    rows = []
    for name, n in dict.fromkeys((row["data"], row["n"]) for row in result["rows"]):
        cells = [found.get((name, method)) for method in methods]
        texts = [f"{fixed(cell['time'], 2)}, {fixed(100 * cell['accuracy'])} %" if cell else "" for cell in cells]
        rows.append([f"{SHOWN.get(name, name)} ({n:,})", *texts])
    return table(["data (samples)", *(f"`{method}`" for method in methods)], rows)
