"""The baselines: rmkm over scikit-learn's KMeans with as many starts, and how the time of each grows with n.

Processor time of one thread. The data are MNIST with four views (60,000 samples); with ``quick`` planted clusters.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from instances import DATA
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from anchor_align import get_baseline, list_baselines

Array = npt.NDArray[Any]

BAR = 5.0  # largest time of rmkm over that of KMeans
STARTS, CLUSTERS = 10, 10
SAMPLES, QUICK_SAMPLES = (15_000, 60_000), (1_000, 4_000)
# Growth is measured between these numbers of samples.
GROWTH, QUICK_GROWTH = (500, 1_000, 2_000), (150, 300)


@dataclass(frozen=True)
class Ratio:
    """Time of rmkm over that of KMeans on the standardised views side by side, with as many starts."""

    n_samples: int
    n_starts: int
    ratio: float


@dataclass(frozen=True)
class Growth:
    """Time of a baseline with some samples over its time with half of them."""

    baseline: str
    n_samples: int
    ratio: float


def run(quick: bool, _max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Measure both."""
    report("")
    report(f"Baselines: time of rmkm over that of KMeans, {STARTS} starts each (bar: {BAR:g} at the largest n)")
    views = _planted(max(QUICK_SAMPLES)) if quick else _mnist()
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _times(["rmkm"], [X[:300] for X in views])  # what is imported on the way
        for n in QUICK_SAMPLES if quick else SAMPLES:
            some = [X[:n] for X in views]
            spent = _seconds(partial(_kmeans, some))
            baseline = get_baseline("rmkm", n_init=STARTS)
            ours = _seconds(partial(baseline.fit_predict, some, n_clusters=CLUSTERS, random_state=0))
            rows.append(Ratio(n, STARTS, ours / spent))
            report(f"  n = {n:>6}   ratio {rows[-1].ratio:.2f}")
        names = [record.name for record in list_baselines() if record.distribution == "anchor-align"]
        sizes = QUICK_GROWTH if quick else GROWTH
        report("  growth: time over that with half of the samples")
        times = [_times(names, [X[:n] for X in views]) for n in sizes]
        growth = [
            Growth(name, n, after[name] / before[name])
            for name in names
            for n, before, after in zip(sizes[1:], times, times[1:], strict=False)
        ]
        for each in growth:
            report(f"  {each.baseline:<10} n = {each.n_samples:>5}   ratio {each.ratio:.2f}")
    return {
        "rows": [asdict(row) for row in rows],
        "growth": [asdict(row) for row in growth],
        "summary": {"passed": rows[-1].ratio <= BAR},
    }


def _times(names: Sequence[str], views: list[Array]) -> dict[str, float]:
    return {
        name: _seconds(partial(get_baseline(name).fit_predict, views, n_clusters=CLUSTERS, random_state=0))
        for name in names
    }


def _kmeans(views: list[Array]) -> object:
    return KMeans(CLUSTERS, n_init=STARTS, random_state=0).fit(_together(views))


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _mnist() -> list[Array]:
    with np.load(DATA / "MNIST-60k_4v_constructed.npz") as file:
        return [file[key] for key in sorted(file.files) if key.startswith("view")]


def _planted(n: int) -> list[Array]:
    rng = np.random.default_rng(0)
    labels = rng.integers(CLUSTERS, size=n)
    return [3.0 * rng.standard_normal((CLUSTERS, d))[labels] + rng.standard_normal((n, d)) for d in (60, 30)]


def _together(views: list[Array]) -> Array:
    spreads = [np.sqrt(X.var(axis=0, dtype=np.float64).sum()) for X in views]
    return np.hstack([X / spread for X, spread in zip(views, spreads, strict=True)])
