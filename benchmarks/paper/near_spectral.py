"""The default method and spectral clustering of all samples: what each setting of ``local`` changes, one at a time.

The goal is scikit-learn's SpectralClustering on the nearest-neighbour graph of the views side by side, whose time and
memory grow with the square of the number of samples; ``local`` is linear. Accuracy in %, and the time of a fit over
that of spectral clustering.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from formats import fixed, light_and_dark, share, table
from results import Bench
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import StandardScaler, normalize

from anchor_align import AlignedClusterer, MultiViewData, get_baseline, load_views
from anchor_align.metrics import acc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 15
DATA = ("UCI-Digit_3v", "Hdigit", "MSRC-v1", "BBCSport")
DRAWS = 3
GOAL, TWENTY = "spectral clustering, quadratic", "20 anchors for each cluster"
PICTURES = ("near_spectral.png", "near_spectral_dark.png")
NEIGHBOURS, SCALE = 10, 7
CHANGES: dict[str, dict[str, Any]] = {
    "default": {},
    TWENTY: {"anchors": 20},
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


def goal_labels(data: MultiViewData, k: int, seed: int) -> Any:
    """Clusters of the graph of all samples."""
    return get_baseline("spectral").fit_predict(data.views, n_clusters=k, random_state=seed)


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


def measure(path: str, way: str) -> dict[str, float]:
    """Mean accuracy in %, and mean processor seconds of a fit."""
    data = load_views(path)
    assert data.labels is not None
    assert data.n_clusters is not None
    k = data.n_clusters
    fit = partial(goal_labels, data, k) if way == GOAL else partial(local_labels, data, k, CHANGES[way])
    started = time.process_time()
    found = [acc(data.labels, fit(seed)) for seed in range(DRAWS)]
    return {"acc": 100 * float(np.mean(found)), "seconds": (time.process_time() - started) / DRAWS}


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set and way."""
    rows = []
    for name in DATA:
        found = {way: bench.kept(f"{name}, {way}", measure, bench.path(name), way) for way in (GOAL, *CHANGES)}
        rows += [
            {"data": name, "way": way, "acc": each["acc"], "time": each["seconds"] / found[GOAL]["seconds"]}
            for way, each in found.items()
        ]
    return {"draws": DRAWS, "rows": rows}


def at(result: Any, data: str, way: str = "default", what: str = "acc") -> float:
    """Accuracy, or time, of one cell."""
    (row,) = (row for row in result["rows"] if (row["data"], row["way"]) == (data, way))
    return float(row[what])


def largest_loss(result: Any, way: str) -> float:
    """Points below the default, at most."""
    return max(at(result, data) - at(result, data, way) for data in data_sets(result))


def losing(result: Any, way: str) -> str:
    """On how many data sets it is below the default."""
    data = data_sets(result)
    return share(sum(at(result, name, way) < at(result, name) for name in data), len(data))


def slowest(result: Any, *ways: str) -> float:
    """Time over that of the default, at most."""
    return max(
        at(result, data, way, "time") / at(result, data, what="time") for data in data_sets(result) for way in ways
    )


def data_sets(result: Any) -> list[str]:
    """Names of the data sets."""
    return list(dict.fromkeys(row["data"] for row in result["rows"]))


def main_table(result: Any) -> str:
    """A column for each data set."""
    data = data_sets(result)
    ways = dict.fromkeys(row["way"] for row in result["rows"])
    rows = [[way, *(fixed(at(result, name, way)) for name in data)] for way in ways]
    return table(["", *(name.removesuffix("_3v") for name in data)], rows, names=1)


def draw(result: Any) -> dict[str, Figure]:
    """One picture for light and one for dark pages."""
    return light_and_dark(PICTURES, partial(_picture, result))


def _picture(result: Any, *, dark: bool) -> Figure:
    """A panel for each data set, a line for each setting; the goal is the upright line."""
    from matplotlib.figure import Figure

    data, ways = data_sets(result), list(CHANGES)[::-1]
    goal, ours, faint = ("#ff9152", "#5bb8f5", "#3b424b") if dark else ("#c4500a", "#0069a8", "#d3d8de")
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(data), sharey=True, squeeze=False)[0], data, strict=True):
        line = axes.axvline(at(result, name, GOAL), color=goal)
        points = axes.scatter([at(result, name, way) for way in ways], range(len(ways)), color=ours, zorder=2)
        axes.set(yticks=range(len(ways)), yticklabels=ways, xlabel="ACC, %")
        axes.set_title(name.removesuffix("_3v"), loc="left")
        axes.grid(color=faint, lw=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    labels = ["spectral clustering of all samples", "local, one setting at a time"]
    figure.legend([line, points], labels, loc="outside upper right", ncols=2, frameon=False)
    return figure
