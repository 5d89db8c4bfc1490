"""What faster k-means anchors cost: their objective over that of full k-means, the accuracy in the end, and the time.

Processor time of one thread. Anchors and accuracy are lmvsc's, with one run of k-means as it has by default.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from instances import DATA, read_views
from memory_run import planted
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import anchor_align_adapters._kmeans_anchors
from anchor_align import AlignedClusterer
from anchor_align.blocks import Products, ScaledRows, map_rows
from anchor_align.kmeans import _lloyd, fit_kmeans
from anchor_align.metrics import acc
from anchor_align_adapters._scaling import scale_views

KINDS = ("full", "sample", "minibatch")
ANCHORS = (20, 50, 200)
N_CLUSTERS = 10
# With 200 anchors full k-means on a million samples takes many minutes.
LARGE, LESS_LARGE = 1_000_000, 200_000
# Loss of objective at which an explicit choice for large data would be no choice.
LARGEST_LOSS = 0.05


@dataclass(frozen=True)
class Row:
    """One data set, number of anchors and kind of k-means."""

    data: str
    n: int
    anchors: int
    kind: str
    # Mean over the views; largest of them.
    inertia: float
    largest_inertia: float
    time: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class Found:
    """Inertia in every view, processor time of k-means and accuracy."""

    inertias: npt.NDArray[np.float64]
    spent: float
    accuracy: float


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Two views of MNIST-60k, Hdigit, and a planted set of a million samples."""
    report("")
    report("Anchors by faster k-means: inertia, and processor time, over those of full k-means; ACC of lmvsc")
    report("  (sample: 500 samples for each anchor and at least 20,000, so all of smaller data)")
    report(f"  bar: inertia <= {1 + LARGEST_LOSS:g} in the mean of the views")
    report(f"  {'data':<16}{'n':>9}{'m':>5}  {'kind':<10}{'inertia':>9}{'largest':>9}{'time':>7}{'ACC':>7}")
    rows = []
    with threadpool_limits(1):
        for name, views, labels, m in _cases(quick, max_anchors):
            full = _find(views, labels, m, "full")
            for kind in KINDS:
                found = full if kind == "full" else _find(views, labels, m, kind)
                ratios = found.inertias / full.inertias
                row = Row(
                    name,
                    len(labels),
                    m,
                    kind,
                    float(ratios.mean()),
                    float(ratios.max()),
                    found.spent / full.spent,
                    found.accuracy,
                )
                rows.append(row)
                report(
                    f"  {name:<16}{row.n:>9}{m:>5}  {kind:<10}{row.inertia:>9.4f}{row.largest_inertia:>9.4f}"
                    f"{row.time:>7.3f}{row.accuracy:>7.3f}"
                )
    worst = {kind: max(row.inertia for row in rows if row.kind == kind) - 1.0 for kind in KINDS[1:]}
    summary = {"passed": max(worst.values()) <= LARGEST_LOSS, "largest_loss": worst}
    bounds = [_bounds_ratio(X, report) for X in _views_for_bounds(quick)]
    return {"rows": [asdict(row) for row in rows], "summary": summary, "bounds": bounds}


def _views_for_bounds(quick: bool) -> list[Any]:
    if quick:
        return [planted(25_000)[0][0]]
    with np.load(DATA / "MNIST-60k_4v_constructed.npz") as file:
        return [file[f"view_{view}"] for view in range(4)]


def _bounds_ratio(X: Any, report: Callable[[str], None]) -> dict[str, float]:
    """Processor time of one run of k-means with the bounds of Hamerly, over that without; the labels are the same."""
    spent, labels = {}, {}
    for name, from_rows in (("with", 0), ("without", len(X) + 1)):
        with (
            threadpool_limits(1),
            patch.object(_lloyd, "FROM_ROWS", from_rows),
            patch.object(_lloyd, "FROM_COLUMNS", 0),
        ):
            start = time.process_time()
            labels[name] = fit_kmeans(ScaledRows(X), 20, n_init=1, random_state=0).labels
            spent[name] = time.process_time() - start
    np.testing.assert_array_equal(labels["with"], labels["without"])
    ratio = spent["with"] / spent["without"]
    report(f"  one run with bounds over one without, {X.shape[0]} x {X.shape[1]}, 20 clusters: {ratio:.2f}")
    return {"n": len(X), "columns": X.shape[1], "ratio": ratio}


def _cases(quick: bool, max_anchors: int) -> Iterator[tuple[str, list[Any], npt.NDArray[Any], int]]:
    if quick:
        yield "digits", list(read_views("digits")), load_digits().target, 20
        yield "planted", *planted(25_000), 20
        return
    counts = [m for m in ANCHORS if m <= max_anchors]
    for name, which in (("Hdigit", (0, 1)), ("MNIST-60k_4v_constructed", (1, 3))):
        with np.load(DATA / f"{name}.npz") as file:
            views, labels = [file[f"view_{view}"] for view in which], file["labels"]
        for m in counts:
            yield name.partition("_")[0], views, labels, m
    for m in counts:
        yield "planted", *planted(LARGE if m <= 50 else LESS_LARGE), m


def _find(views: list[Any], labels: npt.NDArray[Any], m: int, kind: str) -> Found:
    kmeans_anchors = anchor_align_adapters._kmeans_anchors.kmeans_anchors
    spent = 0.0

    def timed(*values: Any, **named: Any) -> Any:
        nonlocal spent
        start = time.process_time()
        result = kmeans_anchors(*values, **named)
        spent += time.process_time() - start
        return result

    clusterer = AlignedClusterer(
        "lmvsc", n_clusters=N_CLUSTERS, n_anchors=m, adapter_params={"kmeans": kind}, random_state=0
    )
    with patch.object(anchor_align_adapters._kmeans_anchors, "kmeans_anchors", timed):
        clusterer.fit(views)
    assert spent > 0
    scaled = scale_views(views, "spread")[0]
    inertias = [inertia(X, A) for X, A in zip(scaled, clusterer.anchors_ or (), strict=True)]
    return Found(np.array(inertias), spent, float(acc(labels, clusterer.labels_)))


def inertia(source: ScaledRows, centres: npt.NDArray[np.float64]) -> float:
    """Sum of squared distances to the nearest centre."""
    stats = source.stats()
    square_norm = float(stats.n_rows * (stats.variance + stats.mean**2).sum())
    products = Products(source, -2.0 * centres, (centres**2).sum(axis=1))

    def least(rows: slice) -> float:
        return float(products.of(source.block(rows)).min(axis=0).sum(dtype=np.float64))

    return square_norm + sum(map_rows(least, source.shape[0], width=source.shape[1] + len(centres)))
