"""The paper's running times, as ratios: each method over scikit-learn's k-means on the same data, in the same run.

Everything runs on one thread and is measured in processor time, from the views to the labels, with default settings.
K-means is ``KMeans(n_init=10)`` on the standardised views side by side. "alignment" is the share of the time for the
Gram matrices of the graphs and the match of the anchors. The published seconds are shown as ratios too: to RMKM, the
k-means for several views among the paper's methods, and to LMVSC.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from formats import DASH, fixed, padded_table, ranges
from paper_numbers import published_seconds
from results import Bench
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from anchor_align import AlignedClusterer, AnchorAligner, GramMatrices, MultiViewData, load_views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 3
DATA = {
    "3-Sources": "3-Sources", "UCI-Digit": "UCI-Digit_3v", "BDGP": "BDGP_3v", "Scene-15": "Scene-15",
    "Hdigit": "Hdigit",
}  # fmt: skip
SEEDS = 3
KMEANS = "KMeans"
PICTURES = ("paper_times.png",)
COLOURS = {"lmvsc": "#0069a8", "fmvacc": "#c4500a", "sfmc": "#6f4aa8"}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "lmvsc": ("lmvsc", {}),
    "fmvacc": ("fmvacc", {}),
    "sfmc": ("sfmc", {}),
    "sfmc, flexible": ("sfmc", {"anchors": "flexible"}),
}
PUBLISHED_PAIRS = (("LMVSC", "RMKM"), ("FMVACC", "RMKM"), ("SFMC", "RMKM"), ("FMVACC", "LMVSC"), ("SFMC", "LMVSC"))


@dataclass(frozen=True)
class Time:
    """Processor time of one fit, the part of it that alignment takes, and the anchors of a view."""

    whole: float
    alignment: float | None = None
    n_anchors: int | None = None


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set and method."""
    time_all(load_views("simulated"), 1)  # so that imports are not measured
    rows = [row for name, file in DATA.items() for row in bench.kept(name, rows_of, name, load_views(bench.path(file)))]
    return {"seeds": SEEDS, "rows": rows}


def spent(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a call, and what it returns."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of a fit do not matter here
        result = work()
    return time.process_time() - start, result


def time_kmeans(views: Sequence[Any], n_clusters: int, seed: int) -> Time:
    """K-means on the standardised views side by side; sparse views are not centred."""

    def fit() -> None:
        scaled = [StandardScaler(with_mean=not sp.issparse(X)).fit_transform(X) for X in views]
        together = sp.hstack(scaled, format="csr") if any(map(sp.issparse, scaled)) else np.hstack(scaled)
        KMeans(n_clusters, n_init=10, random_state=seed).fit(together)

    return Time(spent(fit)[0])


def time_method(method: str, views: Sequence[Any], n_clusters: int, seed: int) -> Time:
    """One method from the views to the labels; then the alignment of its graphs once more on its own."""
    adapter, params = METHODS[method]
    clusterer = AlignedClusterer(adapter, n_clusters=n_clusters, adapter_params=params, random_state=seed)
    whole, _ = spent(lambda: clusterer.fit(views))
    graphs = clusterer.anchor_graphs_.graphs
    if clusterer.aligner_ is None:  # anchors that correspond by construction
        return Time(whole, None, graphs[0].shape[1])
    aligner = AnchorAligner(clusterer.lam, reference=clusterer.reference, random_state=seed)
    alignment, _ = spent(lambda: aligner.fit(GramMatrices.from_graphs(graphs)))
    return Time(whole, alignment, graphs[0].shape[1])


def time_all(data: MultiViewData, n_seeds: int) -> dict[str, list[Time]]:
    """Times by method, in turn for every seed, so that a slow moment of the machine affects all of them."""
    n_clusters = int(data.n_clusters or 0)
    times: dict[str, list[Time]] = {KMEANS: [], **{name: [] for name in METHODS}}
    for seed in range(n_seeds):
        times[KMEANS].append(time_kmeans(data.views, n_clusters, seed))
        for name in METHODS:
            times[name].append(time_method(name, data.views, n_clusters, seed))
    return times


def rows_of(name: str, data: MultiViewData) -> list[dict[str, Any]]:
    """A row for each method: its anchors, its time over that of k-means and of lmvsc, and the share of alignment."""
    times = time_all(data, SEEDS)

    def over(method: str, base: str) -> list[float]:
        ratios = [one.whole / other.whole for one, other in zip(times[method], times[base], strict=True)]
        return [median(ratios), min(ratios), max(ratios)]

    rows = []
    for method in METHODS:
        shares = [100 * t.alignment / t.whole for t in times[method] if t.alignment is not None]
        rows.append({
            "data": name, "n": data.n_samples, "method": method, "anchors": times[method][0].n_anchors,
            "over_kmeans": over(method, KMEANS), "over_lmvsc": None if method == "lmvsc" else over(method, "lmvsc")[0],
            "alignment": median(shares) if shares else None,
        })  # fmt: skip
    return rows


def column(result: Any, name: str, method: str) -> list[float]:
    """A column of the table for a method: the medians, for all data sets."""
    found = (row[name] for row in result["rows"] if row["method"] == method)
    return [each[0] if isinstance(each, list) else each for each in found]


def published_ratios(one: str, base: str) -> list[float]:
    """Published seconds of a method over those of another, where both finished."""
    times = published_seconds().values()
    return [seconds[one] / seconds[base] for seconds in times if one in seconds and base in seconds]


def draw(result: Any) -> dict[str, Figure]:
    """Median and range of the time of each method over that of k-means."""
    rows: dict[str, dict[str, tuple[float, float, float]]] = {}
    for row in result["rows"]:
        if row["method"] in COLOURS:
            middle, low, high = row["over_kmeans"]
            rows.setdefault(f"{row['data']}, n = {row['n']:,}", {})[row["method"]] = (middle, low, high)
    return {PICTURES[0]: ranges(rows, COLOURS, f"time over that of {KMEANS}")}


def main_table(result: Any) -> str:
    """Our ratios, with their ranges over the seeds."""
    lines = []
    for row in result["rows"]:
        middle, low, high = (fixed(each, 2) for each in row["over_kmeans"])
        over = DASH if row["over_lmvsc"] is None else fixed(row["over_lmvsc"], 2)
        share = DASH if row["alignment"] is None else f"{fixed(row['alignment'])} %"
        names = [row["data"], str(row["n"]), row["method"], str(row["anchors"])]
        lines.append([*names, f"{middle} ({low} to {high})", over, share])
    return padded_table(["data", "n", "method", "anchors", "over KMeans", "over lmvsc", "alignment"], lines, "lllrrrr")


def published_table() -> str:
    """The published seconds as ratios; a dash where a method ran out of memory."""
    lines = []
    for name, seconds in published_seconds().items():
        cells = [fixed(seconds[one] / seconds[base], 2) if one in seconds else DASH for one, base in PUBLISHED_PAIRS]
        lines.append([name, *cells])
    return padded_table(["data", *(f"{one} / {base}" for one, base in PUBLISHED_PAIRS)], lines, "lrrrrr")
