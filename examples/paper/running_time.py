"""The paper's running times, as ratios: each method over scikit-learn's k-means on the same data, in the same run.

    python examples/paper/running_time.py [DATA ...] [--seeds N] [--format md]

DATA are bundled sets, files, or folders of .mat and .npz files. Everything runs on one thread and is measured in
processor time, from the views to the labels, with default settings. K-means is ``KMeans(n_init=10)`` on the
standardised views side by side. "alignment" is the share of the time for the Gram matrices of the graphs and the match
of the anchors. The published seconds are shown as ratios too: to RMKM, the k-means for several views among
the paper's methods, and to LMVSC.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
from paper_data import HELP, Found, find_data
from paper_numbers import published_seconds
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler
from text_table import FORMATS, table_text
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer, AnchorAligner, GramMatrices, load_views
from anchor_align.errors import AnchorAlignError

DATA = "digits"
KMEANS = "KMeans"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "lmvsc": ("lmvsc", {}),
    "fmvacc": ("fmvacc", {}),
    "sfmc": ("sfmc", {}),
    "sfmc, flexible": ("sfmc", {"anchors": "flexible"}),
}
PUBLISHED_PAIRS = (("LMVSC", "RMKM"), ("FMVACC", "RMKM"), ("SFMC", "RMKM"), ("FMVACC", "LMVSC"), ("SFMC", "LMVSC"))
NOTHING = "\N{EN DASH}"


@dataclass(frozen=True)
class Time:
    """Processor time of one fit, the part of it that alignment takes, and the anchors of a view."""

    whole: float
    alignment: float | None = None
    n_anchors: int | None = None


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


def time_all(found: Found, n_seeds: int, most_for_sfmc: int) -> dict[str, list[Time]]:
    """Times by method, in turn for every seed, so that a slow moment of the machine affects all of them."""
    data = load_views(found.source)
    methods = [name for name in METHODS if name in ("lmvsc", "fmvacc") or found.n_samples <= most_for_sfmc]
    times: dict[str, list[Time]] = {KMEANS: [], **{name: [] for name in methods}}
    with threadpool_limits(1):
        for seed in range(n_seeds):
            times[KMEANS].append(time_kmeans(data.views, found.n_clusters, seed))
            for name in methods:
                times[name].append(time_method(name, data.views, found.n_clusters, seed))
    return times


def rows_of(found: Found, times: dict[str, list[Time]]) -> list[list[str]]:
    """A line for each method: its anchors, its time over that of k-means and of lmvsc, and the part of alignment."""
    rows = []
    for name, each in times.items():
        if name == KMEANS:
            continue
        shares = [100 * t.alignment / t.whole for t in each if t.alignment is not None]
        rows.append(
            [
                found.name,
                str(found.n_samples),
                name,
                str(each[0].n_anchors),
                ratios(each, times[KMEANS]),
                NOTHING if name == "lmvsc" else ratios(each, times["lmvsc"], spread=False),
                f"{median(shares):.1f} %" if shares else NOTHING,
            ]
        )
    return rows


def ratios(times: Sequence[Time], base: Sequence[Time], *, spread: bool = True) -> str:
    """Median of the ratios of all seeds, and their range."""
    values = [one.whole / other.whole for one, other in zip(times, base, strict=True)]
    return f"{median(values):.2f}" + f" ({min(values):.2f} to {max(values):.2f})" * (spread and len(values) > 1)


def published_rows() -> list[list[str]]:
    """The published seconds as ratios; a dash where a method ran out of memory."""
    rows = []
    for name, seconds in published_seconds().items():
        cells = [f"{seconds[one] / seconds[base]:.2f}" if one in seconds else NOTHING for one, base in PUBLISHED_PAIRS]
        rows.append([name, *cells])
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """Time all methods on all data sets, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=[DATA], help=f"{HELP} [{DATA}]")
    parser.add_argument("--seeds", type=int, default=2, help="fits of every method [2]")
    parser.add_argument("--max-samples", type=int, default=5000, help="larger sets in a folder are left out [5000]")
    parser.add_argument("--sfmc-samples", type=int, default=10_000, help="sfmc is run up to so many samples [10000]")
    parser.add_argument("--format", choices=FORMATS, default="table")
    given = parser.parse_args(argv)
    if given.seeds < 1:
        parser.error(f"--seeds must be 1 or more, got {given.seeds}")
    try:
        data = find_data(given.data, given.max_samples)
        warm = find_data(["simulated"], given.max_samples)[0]
        time_all(warm, 1, warm.n_samples)  # so that imports are not measured
        rows = [row for each in data for row in rows_of(each, time_all(each, given.seeds, given.sfmc_samples))]
    except AnchorAlignError as error:
        parser.error(str(error))
    caption = f"Time over that of KMeans(n_init=10), and of lmvsc: median of {given.seeds} seeds (range); one thread"
    header = ["data", "n", "method", "anchors", "over KMeans", "over lmvsc", "alignment"]
    print(table_text(caption, header, rows, given.format, names=3))
    caption = "Published seconds as ratios: MATLAB on a desktop computer, settings not named"
    header = ["data", *(f"{one} / {base}" for one, base in PUBLISHED_PAIRS)]
    print(f"\n{table_text(caption, header, published_rows(), given.format, names=1)}")


if __name__ == "__main__":
    main()
