"""Consensus and rotation of many views with many anchors: time, growth with views and anchors, and quality.

Quality of the consensus is its total over all pairs of views, relative to that of the best reference and of pygmtools'
``gamgm``, which maximises the same kind of total from the K of all pairs (feature term only, so lam = 0 there). Graphs
are those of ``local`` with unit rows; twelve views are the six of the bundled digits and noisy copies of them.
"""

from __future__ import annotations

import itertools
import math
import time
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from formats import fixed, table
from other_solvers import missing
from results import Bench

from anchor_align import GramMatrices, align, get_adapter, get_fusion, load_views
from anchor_align.matching._pair_solvers import SEARCH, solve_pair
from anchor_align.matching._scaled_grams import scale_grams

Array = npt.NDArray[np.float64]
MINUTES = 10
NO_PAIRS = np.empty((0, 2), dtype=np.intp)
SIZES = ((3, 60), (3, 120), (3, 231), (6, 120), (6, 231), (12, 60), (12, 120), (12, 231), (3, 533))
GAMGM = ((3, 10), (6, 20), (12, 20), (6, 40))  # its affinity fits in memory
EFFORT, LAMS = (54, 100), (0.1, 1.0, 10.0)  # anchors of three views
LAM = 0.1


def run(bench: Bench) -> dict[str, Any]:
    """Times and totals for each number of views and anchors, then gamgm and ``effort="high"``."""
    rows = [bench.kept(f"{n_views} views, m {m}", _measure, n_views, m) for n_views, m in SIZES]
    gamgm = [] if missing() else [bench.kept(f"gamgm, {n} views, m {m}", _against_gamgm, n, m) for n, m in GAMGM]
    effort = [bench.kept(f"effort, m {m}, lam {lam:g}", _effort, m, lam) for m, lam in itertools.product(EFFORT, LAMS)]
    return {"lam": LAM, "rows": rows, "gamgm": gamgm, "effort": effort}


def _measure(n_views: int, m: int) -> dict[str, Any]:
    """Seconds of the consensus and of the rotation that starts from it, and the total over that of the best star."""
    grams = GramMatrices.from_graphs(_graphs(n_views, m))
    start = time.process_time()
    orders = _indices(align(grams, LAM, reference="consensus"))
    middle = time.process_time()
    get_fusion("rotated").maps(orders, grams)
    end = time.process_time()
    scaled = scale_grams(grams, LAM, "balanced")
    star = scaled.total(_indices(align(grams, LAM, reference="auto")))
    seconds = {"consensus": middle - start, "rotation": end - middle}
    return {"views": n_views, "anchors": m, **seconds, "total": scaled.total(orders) / star}


def _indices(matrices: list[Array]) -> list[npt.NDArray[np.intp]]:
    return [P.argmax(axis=0) for P in matrices]


def _graphs(n_views: int, m: int) -> list[Any]:
    digits = load_views("mfeat").views
    rng = np.random.default_rng(0)
    copies = [X + 0.3 * X.std(axis=0) * rng.normal(size=X.shape) for X in digits]
    adapter, views = get_adapter("local", scale="unit"), [*digits, *copies][:n_views]
    made = adapter.anchor_graphs(views, n_clusters=10, n_anchors=m, random_state=0)
    return list(made.graphs)


def _effort(m: int, lam: float) -> dict[str, Any]:
    """How often ``effort="high"`` finds a better match of a pair than the default, by how much, in how much time."""
    grams = GramMatrices.from_graphs(_graphs(3, m))
    gains, seconds = [], np.zeros(2)
    for u, v in itertools.combinations(range(3), 2):
        values = []
        for number, method in enumerate(("ascent", SEARCH)):
            problem = scale_grams(grams, lam, "balanced").pair(u, v).problem(lam)
            start = time.process_time()
            values.append(solve_pair(problem, method, NO_PAIRS, n_restarts=4, seed=0).value)
            seconds[number] += time.process_time() - start
        gains.append(values[1] / values[0] - 1.0)
    better = sum(gain > 1e-9 for gain in gains)
    found = {"anchors": m, "lam": lam, "pairs": len(gains), "better": better, "largest_gain": max(gains)}
    return {**found, "time": float(seconds[1] / seconds[0])}


def _against_gamgm(n_views: int, m: int) -> dict[str, Any]:
    """Total of all pairs over that of gamgm, and our time over that of gamgm."""
    import pygmtools

    pygmtools.set_backend("numpy")
    grams = GramMatrices.from_graphs(_graphs(n_views, m))
    scaled = scale_grams(grams, 0.0, "balanced")
    start = time.process_time()
    ours = scaled.total(_indices(align(grams, 0.0, reference="consensus")))
    middle = time.process_time()
    K = np.array([[scaled.cross(u, v) if u != v else np.eye(m) for v in range(n_views)] for u in range(n_views)])
    structures = np.array([np.zeros((m, m)) for _ in range(n_views)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = pygmtools.gamgm(structures, K * m, sk_init_tau=0.5, sk_min_tau=0.01)
    orders = [np.asarray(pairs[0, v]).argmax(axis=1) for v in range(n_views)]
    end = time.process_time()
    times = (middle - start) / max(end - middle, 1e-9)
    return {"views": n_views, "anchors": m, "total": ours / scaled.total(orders), "time": times}


def main_table(result: Any) -> str:
    """Times over those of the smallest problem, and the total over that of the best reference."""
    first = result["rows"][0]
    rows = [
        [
            f"{row['views']} x {row['anchors']}",
            *(fixed(row[what] / first[what], 0) for what in ("consensus", "rotation")),
            fixed(row["total"], 3),
        ]
        for row in result["rows"]
    ]
    head = ["views x anchors", "time of the consensus", "time of the rotation", "total over that of the best reference"]
    return table(head, rows)


def growth(result: Any, what: str) -> float:
    """Power of the time of the consensus with the number of anchors, or of views, between the largest differences."""
    seconds = {(row["views"], row["anchors"]): row["consensus"] for row in result["rows"]}
    one, other = {"anchors": ((12, 231), (12, 60)), "views": ((12, 231), (3, 231))}[what]
    place = ("views", "anchors").index(what)
    return math.log(seconds[one] / seconds[other]) / math.log(one[place] / other[place])


def loss(result: Any, part: str) -> list[float]:
    """By how many % the totals are above those of the best reference (rows), or of gamgm."""
    return [100 * (row["total"] - 1) for row in result[part]]


def better(result: Any, lam: float) -> tuple[int, int, float]:
    """Pairs in which ``effort="high"`` is better, of how many, and by how many % at most."""
    own = [row for row in result["effort"] if row["lam"] == lam]
    gain = 100 * max(row["largest_gain"] for row in own)
    return sum(row["better"] for row in own), sum(row["pairs"] for row in own), gain
