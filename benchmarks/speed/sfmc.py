"""SFMC's fit against the eigen-decompositions that it performs, and its rank step by Lanczos iteration against them."""

from __future__ import annotations

import time
from typing import Any
from unittest import mock

import numpy as np
import scipy.linalg
from instances import float_views
from results import Bench

from anchor_align import AlignedClusterer, get_adapter
from anchor_align_adapters import _leading_directions
from anchor_align_adapters._rank import rank_constrained_graph

MINUTES = 5
# Data set, clusters, anchors.
FITS = (("MSRC-v1", 7, 105), ("MSRC-v1", 7, 147), ("UCI-Digit_3v", 10, 300))
PLANTED = "planted"
# With 500 anchors or more, Lanczos iteration replaces the decomposition.
RANK_STEPS = (
    ("UCI-Digit_3v", 10, 500), ("UCI-Digit_3v", 10, 1000), ("UCI-Digit_3v", 30, 1000), (PLANTED, 10, 1000),
    (PLANTED, 10, 2000),
)  # fmt: skip
TURNS = 3


def run(bench: Bench) -> dict[str, Any]:
    """Time of the whole fit over the time spent in scipy.linalg.eigh, and of the rank step with Lanczos iteration."""
    return {
        "fits": [bench.kept("fit {} {} {}".format(*case), _fit, bench, *case) for case in FITS],
        "rank_steps": [bench.kept("step {} {} {}".format(*case), _rank_step, bench, *case) for case in RANK_STEPS],
    }


def _fit(bench: Bench, name: str, k: int, n_anchors: int) -> dict[str, Any]:
    views = float_views(bench, name)
    spent: list[float] = []
    eigh = scipy.linalg.eigh

    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        result = eigh(*arguments, **options)
        spent.append(time.perf_counter() - start)
        return result

    with mock.patch.object(scipy.linalg, "eigh", timed):
        start = time.perf_counter()
        AlignedClusterer("sfmc", n_clusters=k, n_anchors=n_anchors, random_state=0).fit(views)
        total = time.perf_counter() - start
    return {"data": name, "n_anchors": n_anchors, "time": total / sum(spent), "decompositions": len(spent)}


def _rank_step(bench: Bench, name: str, k: int, n_anchors: int) -> dict[str, Any]:
    """Median over turns of the processor time, both ways alternately, and whether the components are the same."""
    views = _planted() if name == PLANTED else float_views(bench, name)
    adapter = get_adapter("sfmc")
    learned = adapter.learn_anchors(views, n_clusters=k, n_anchors=n_anchors, random_state=0)
    graphs: Any = adapter.new_graphs(views, learned)
    graph = sum(graphs[1:], graphs[0]) / len(graphs)
    ratios = []
    for _ in range(TURNS):
        start = time.process_time()
        iterated = rank_constrained_graph(graph, k)
        middle = time.process_time()
        with mock.patch.object(_leading_directions, "LEAST_COLUMNS", n_anchors + 1):
            decomposed = rank_constrained_graph(graph, k)
        ratios.append((middle - start) / (time.process_time() - middle))
    same = bool(np.array_equal(iterated.labels, decomposed.labels)) and iterated.n_iter == decomposed.n_iter
    found = {"data": name, "n_clusters": k, "n_anchors": n_anchors}
    return {**found, "time": float(np.median(ratios)), "same": same}


def _planted() -> list[Any]:
    rng = np.random.default_rng(0)
    means = rng.standard_normal((10, 20))
    return [np.repeat(means, 400, axis=0) + rng.standard_normal((4000, 20)) for _ in range(2)]


def step(result: Any, data: str, k: int, n_anchors: int) -> float:
    """Time of one rank step."""
    case = (data, k, n_anchors)
    (row,) = (row for row in result["rank_steps"] if (row["data"], row["n_clusters"], row["n_anchors"]) == case)
    return float(row["time"])
