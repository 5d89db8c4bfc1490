"""How near the default method comes to spectral clustering of all samples, and what brings it nearer.

    python examples/near_spectral.py [DATA ...] [--draws N] [--most N]

DATA are files, folders or bundled sets with labels (default: one bundled set). The goal is scikit-learn's
SpectralClustering on the nearest-neighbour graph of the views side by side, whose time and memory grow with the square
of the number of samples; the adapter ``local`` is linear. One setting of ``local`` at a time differs from its default.
Accuracy in %, mean over the draws, and the time of a fit over that of spectral clustering, on one thread. The goal is
left out for data sets of more than ``--most`` samples.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import StandardScaler, normalize
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer, MultiViewData, get_baseline, load_views
from anchor_align.metrics import acc

NEIGHBOURS, SCALE = 10, 7
CHANGES: dict[str, dict[str, Any]] = {
    "default": {},
    "20 anchors for each cluster": {"anchors": 20},
    "40 anchors for each cluster": {"anchors": 40},
    "5 neighbours": {"n_neighbors": 5},
    "20 neighbours": {"n_neighbors": 20},
    "self-tuned Gaussian weights": {"weights": "self-tuned"},
    "columns over the root of their sum": {"column_scaling": 0.0},
    "one direction for each cluster": {"directions": 1.0},
    "unit rows in all views": {"scale": "unit"},
    "features standardised in all views": {"scale": "standard"},
    "matched by the objective alone": {"match_by_clusters": False},
    "rotated": {"fusion": "rotated"},
    "side by side": {"fusion": "concat"},
}


def self_tuned(X: Any, A: Any) -> sp.csr_array:
    """Each sample on its nearest anchors, with Gaussian weights, for views and anchors in the same scale.

    The width of a weight is the product of two local scales (Zelnik-Manor and Perona, 2004): the distance of the sample
    and that of the anchor to their seventh nearest anchors.
    """
    n, m = X.shape[0], len(A)
    distances = euclidean_distances(X, A)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :NEIGHBOURS]
    near = np.take_along_axis(distances, nearest, axis=1)
    between = np.sort(euclidean_distances(A), axis=1)[:, min(SCALE, m - 1)]
    widths = near[:, [min(SCALE, m) - 1]] * between[nearest]
    weights = np.exp(-(near**2) / np.maximum(widths, np.finfo(float).tiny))
    weights /= weights.sum(axis=1, keepdims=True)
    return sp.csr_array((weights.ravel(), nearest.ravel(), near.shape[1] * np.arange(n + 1)), shape=(n, m))


def self_tuned_labels(data: MultiViewData, k: int, seed: int) -> Any:
    """Clusters of the default method with other weights on the same anchors."""
    options: dict[str, Any] = {"n_clusters": k, "random_state": seed}
    default = AlignedClusterer("local", **options).fit(data.views)
    scales = {
        "unit": lambda X: normalize(X) * np.sqrt(X.shape[1]),
        "standard": lambda X: StandardScaler().fit_transform(X),
    }
    views = [scales[scale](X) for X, scale in zip(data.views, default.chosen_["scale"], strict=True)]
    graphs = [self_tuned(X, A) for X, A in zip(views, default.anchors_ or (), strict=True)]
    shared = ("match_by_clusters", "column_scaling", "directions")
    params = {name: getattr(default.adapter_, name) for name in shared}
    return AlignedClusterer("precomputed", adapter_params=params, **options).fit_predict(graphs)


def local_labels(data: MultiViewData, k: int, change: dict[str, Any], seed: int) -> Any:
    """Clusters of the default method with one change."""
    if "weights" in change:
        return self_tuned_labels(data, k, seed)
    anchors = min(change["anchors"] * k, data.n_samples // 3) if "anchors" in change else None
    params = {name: value for name, value in change.items() if name not in ("anchors", "fusion")}
    clusterer = AlignedClusterer(
        "local",
        n_clusters=k,
        n_anchors=anchors,
        fusion=change.get("fusion", "aligned"),
        adapter_params=params,
        random_state=seed,
    )
    return clusterer.fit_predict(data.views)


def column(path: str, draws: int, most: int) -> list[str]:
    """Cells of one data set: the goal, then every change."""
    data = load_views(path)
    if data.labels is None or data.n_clusters is None:
        raise SystemExit(f"{path} has no labels, which the accuracy needs.")
    labels, k = data.labels, data.n_clusters

    def score(fit: Callable[[int], Any]) -> tuple[float, float]:
        """Mean accuracy in %, and mean seconds of a fit."""
        started = time.perf_counter()
        found = [acc(labels, fit(seed)) for seed in range(draws)]
        return 100 * float(np.mean(found)), (time.perf_counter() - started) / draws

    cells, goal = ["too many samples"], None
    if data.n_samples <= most:
        spectral = get_baseline("spectral")
        accuracy, goal = score(lambda seed: spectral.fit_predict(data.views, n_clusters=k, random_state=seed))
        cells = [f"{accuracy:.1f}"]
    for change in CHANGES.values():
        accuracy, seconds = score(partial(local_labels, data, k, change))
        cells.append(f"{accuracy:.1f}" + ("" if goal is None else f" ({seconds / goal:.2f})"))
    return cells


def main() -> None:
    """Print a table with a column for each data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=["simulated"])
    parser.add_argument("--draws", type=int, default=3, help="draws of anchors [3]")
    parser.add_argument("--most", type=int, default=20_000, help="samples of the goal, at most [20000]")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        columns = [column(path, arguments.draws, arguments.most) for path in arguments.data]
    print("| | " + " | ".join(Path(path).stem for path in arguments.data) + " |")
    print("|---" * (1 + len(columns)) + "|")
    for name, cells in zip(["spectral clustering, quadratic", *CHANGES], zip(*columns, strict=True), strict=True):
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
