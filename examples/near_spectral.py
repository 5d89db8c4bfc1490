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
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer, MultiViewData, get_baseline, load_views
from anchor_align.metrics import acc

CHANGES: dict[str, dict[str, Any]] = {
    "default": {},
    "20 anchors for each cluster": {"anchors": 20},
    "40 anchors for each cluster": {"anchors": 40},
    "5 neighbours": {"n_neighbors": 5},
    "20 neighbours": {"n_neighbors": 20},
    "columns over the root of their sum": {"column_scaling": 0.0},
    "one direction for each cluster": {"directions": 1.0},
    "features standardised": {"scale": "standard"},
    "rotated": {"fusion": "rotated"},
    "side by side": {"fusion": "concat"},
}


def local_labels(data: MultiViewData, k: int, change: dict[str, Any], seed: int) -> Any:
    """Clusters of the default method with one change."""
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
