"""Matching of pairs: quality and time of the ascent against the fixed point and other solvers, on the same problems."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from instances import cases, instances
from other_solvers import missing, rivals, run_rival
from results import Bench

from anchor_align.matching._pair_problem import Match, upper_bound
from anchor_align.matching._pair_solvers import solve_pair

MINUTES = 40
LAMS = (0.1, 1.0, 10.0, np.inf)
LOST = 1e-6  # relative difference from which another solver is better
GROUPS = {"0.01 and 1": (0.01, 1.0), "100": (100.0,)}  # values of beta: with the last, anchors are nearly alike
FROM = 50  # anchors, for median times
NO_PAIRS = np.empty((0, 2), dtype=np.intp)


def run(bench: Bench) -> dict[str, Any]:
    """Solve all problems. Times are judged with both terms: on structure alone the fixed point may stop at once."""
    records: list[dict[str, Any]] = []
    for case in cases():
        records += bench.kept("{} m {} beta {}".format(*case), _solve_all, bench, *case)
    timed = [r for r in records if r["lam"] != "inf"]
    largest = max(records, key=lambda r: (r["m"], r["seconds"]))
    return {
        "problems": len(records),
        "not_installed": missing(),
        "lost": [
            {**{key: r[key] for key in ("instance", "beta", "m", "lam")}, "solver": name, "value": value}
            for r in records
            for name, value in r["relative"].items()
            if value > 1 + LOST
        ],
        "median_time": _median(r["time"] for r in timed if r["m"] >= FROM),
        "largest_time": max(r["time"] for r in timed),
        "by_beta": {name: _group(records, betas) for name, betas in GROUPS.items()},
        "largest": {key: largest[key] for key in ("m", "seconds", "memory")},
    }


def _solve_all(bench: Bench, name: str, m: int, beta: float) -> list[dict[str, Any]]:
    return [_measure(instance, lam) for instance in instances(bench, name, m, beta) for lam in LAMS]


def _measure(instance: Any, lam: float) -> dict[str, Any]:
    m = instance.n_anchors

    def solve(method: str) -> Match:
        # A new problem each time: what it caches is part of the cost.
        return solve_pair(instance.terms.problem(lam), method, NO_PAIRS, n_restarts=4, seed=0)

    ascent, ascent_time = _best_time(lambda: solve("ascent"), 3)
    fixed_point, fixed_point_time = _best_time(lambda: solve("pfp"), 3 if m <= 200 else 1)
    problem = instance.terms.problem(lam)
    values = {"pfp": fixed_point.value}
    for name, solver in rivals(problem, structure_only=bool(np.isinf(lam))).items():
        values[name] = problem.value(run_rival(solver, problem))
    return {
        "instance": instance.name,
        "beta": instance.beta,
        "m": m,
        "lam": lam if np.isfinite(lam) else "inf",
        "time": ascent_time / fixed_point_time,
        "seconds": ascent_time,
        "memory": _peak_memory(lambda: solve("ascent")) / (8 * m * m),
        "gap": 1.0 - ascent.value / upper_bound(problem),
        "relative": {name: value / ascent.value for name, value in values.items() if value > ascent.value},
    }


def _best_time(run: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """Result and shortest time of a few runs."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def _peak_memory(run: Callable[[], Any]) -> float:
    """Bytes allocated at the same time, at most, beyond what was there before."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _group(records: list[dict[str, Any]], betas: tuple[float, ...]) -> dict[str, float]:
    """Time with both terms and 50 anchors or more, and distance from the bound."""
    own = [r for r in records if r["beta"] in betas]
    gaps = [r["gap"] for r in own]
    return {
        "median_time": _median(r["time"] for r in own if r["lam"] != "inf" and r["m"] >= FROM),
        "median_gap": _median(gaps),
        "max_gap": max(gaps, default=0.0),
    }


def _median(values: Iterable[float]) -> float:
    return float(np.median([*values] or [0.0]))


def lost(result: Any, beta: float | None = None) -> int:
    """Problems in which another solver is better; one may be lost to several solvers."""
    found = {(r["instance"], r["beta"], r["m"], r["lam"]) for r in result["lost"] if beta in (None, r["beta"])}
    return len(found)


def largest_loss(result: Any) -> float:
    """The same in %, at most."""
    return 100 * (max((r["value"] for r in result["lost"]), default=1.0) - 1)


def hundreds(result: Any) -> int:
    """Number of problems, rounded down."""
    return int(result["problems"]) // 100 * 100
