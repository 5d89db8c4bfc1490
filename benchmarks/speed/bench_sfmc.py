"""SFMC's fit against the eigen-decompositions it performs, and its rank step with and without them, in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import scipy.linalg
from instances import read_views

from anchor_align import AlignedClusterer, get_adapter
from anchor_align_adapters import _leading_directions
from anchor_align_adapters._rank import rank_constrained_graph

# Data set, clusters, share of the samples that are anchors. The bar holds where the matrices are large enough for their
# decomposition, and not for the calls around it, to count; with 500 anchors or more, Lanczos iteration replaces it.
CASES = (("MSRC-v1", 7, 0.2), ("MSRC-v1", 7, 0.5), ("MSRC-v1", 7, 0.7), ("UCI-Digit_3v", 10, 0.15))
BAR, LEAST_ANCHORS = 5.0, 100
# Data set, clusters, anchors.
RANK_CASES = (
    ("UCI-Digit_3v", 10, 500),
    ("UCI-Digit_3v", 10, 1000),
    ("UCI-Digit_3v", 30, 1000),
    ("planted", 10, 1000),
    ("planted", 10, 2000),
)
RANK_BAR, BAR_ANCHORS, TURNS = 0.5, 1000, 3


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Time of the whole fit over the time spent in scipy.linalg.eigh, and of the rank step with Lanczos iteration."""
    report("")
    report(f"sfmc: time / its eigen-decompositions   (bar: <= {BAR:g} from {LEAST_ANCHORS} anchors on)")
    rows: list[dict[str, Any]] = []
    for name, k, rate in (("digits", 10, 0.1),) if quick else CASES:
        views = read_views(name)
        n_anchors = int(rate * len(views[0]))
        total, decompositions, count = _times(views, k, n_anchors)
        rows.append({"data": name, "n_anchors": n_anchors, "ratio": total / decompositions, "count": count})
        report(f"  {name:<14} m = {n_anchors:<5} {count:>4} decompositions, ratio {total / decompositions:.2f}")
    report(f"sfmc's rank step: Lanczos / decompositions   (bar: <= {RANK_BAR:g} from {BAR_ANCHORS} anchors on)")
    steps = [
        _rank_step(*case, report) for case in (RANK_CASES[3:4] if quick else RANK_CASES) if case[2] <= 2 * max_anchors
    ]
    passed = all(row["ratio"] <= BAR for row in rows if row["n_anchors"] >= LEAST_ANCHORS)
    passed = passed and all(step["same"] for step in steps)
    passed = passed and all(step["ratio"] <= RANK_BAR for step in steps if step["n_anchors"] >= BAR_ANCHORS)
    return {"rows": rows, "rank_steps": steps, "summary": {"passed": passed}}


def _times(views: list[Any], n_clusters: int, n_anchors: int) -> tuple[float, float, int]:
    spent: list[float] = []
    eigh = scipy.linalg.eigh

    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        result = eigh(*arguments, **options)
        spent.append(time.perf_counter() - start)
        return result

    with mock.patch.object(scipy.linalg, "eigh", timed):
        start = time.perf_counter()
        AlignedClusterer("sfmc", n_clusters=n_clusters, n_anchors=n_anchors, random_state=0).fit(views)
        total = time.perf_counter() - start
    return total, sum(spent), len(spent)


def _rank_step(name: str, k: int, n_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Median over turns of the processor time, both ways alternately, and whether the components are the same."""
    graph = _mean_graph(_planted() if name == "planted" else read_views(name), k, n_anchors)
    ratios = []
    for _ in range(TURNS):
        start = time.process_time()
        iterated = rank_constrained_graph(graph, k)
        middle = time.process_time()
        with mock.patch.object(_leading_directions, "LEAST_COLUMNS", n_anchors + 1):
            decomposed = rank_constrained_graph(graph, k)
        ratios.append((middle - start) / (time.process_time() - middle))
    same = bool(np.array_equal(iterated.labels, decomposed.labels)) and iterated.n_iter == decomposed.n_iter
    ratio = float(np.median(ratios))
    report(
        f"  {name:<14} n = {graph.shape[0]}, m = {n_anchors}, k = {k}: {ratio:.2f}, {iterated.n_iter} rounds, "
        f"{iterated.n_components} components, {'the same' if same else 'OTHER COMPONENTS'}"
    )
    return {"data": name, "n_anchors": n_anchors, "n_clusters": k, "ratio": ratio, "same": same}


def _mean_graph(views: list[Any], k: int, n_anchors: int) -> Any:
    adapter = get_adapter("sfmc")
    learned = adapter.learn_anchors(views, n_clusters=k, n_anchors=n_anchors, random_state=0)
    graphs = adapter.new_graphs(views, learned)
    return sum(graphs[1:], graphs[0]) / len(graphs)


def _planted() -> list[Any]:
    rng = np.random.default_rng(0)
    means = rng.standard_normal((10, 20))
    return [np.repeat(means, 400, axis=0) + rng.standard_normal((4000, 20)) for _ in range(2)]
