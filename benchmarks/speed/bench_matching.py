"""Quality and time of the ascent against the fixed point and other solvers, on the same problems in one run."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from instances import instances
from rivals import missing, rivals, run_rival

from anchor_align.matching._pair_problem import PREPARE_FROM, Match, PairProblem, assign, upper_bound
from anchor_align.matching._pair_solvers import solve_pair

LAMS = (0.1, 1.0, 10.0, np.inf)
BETAS = {"0.01 and 1": (0.01, 1.0), "100": (100.0,)}  # with the last, anchors are nearly alike
NO_PAIRS = np.empty((0, 2), dtype=np.intp)


def best_time(run: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """Result and shortest time of a few runs."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Run all instances; one record each, and a summary with the bars."""
    records: list[dict[str, Any]] = []
    report(f"{'instance':<18}{'beta':>5}{'m':>6}{'lam':>5}{'time/pfp':>10}{'gap %':>8}  relative to the ascent")
    for instance in instances(quick, max_anchors):
        for lam in LAMS:
            record = _measure(instance, lam)
            records.append(record)
            others = "  ".join(f"{name} {value:.5f}" for name, value in record["relative"].items())
            report(
                f"{record['instance']:<18}{record['beta']:>5g}{record['m']:>6}{lam:>5g}{record['time_ratio']:>10.3f}"
                f"{100 * record['gap']:>8.3f}  {others}"
            )
    return {"records": records, "summary": summarise(records, report)}


def _measure(instance: Any, lam: float) -> dict[str, Any]:
    m = instance.n_anchors

    def solve(method: str) -> Match:
        # A new problem each time: what it caches is part of the cost.
        return solve_pair(instance.terms.problem(lam), method, NO_PAIRS, n_restarts=4, seed=0)

    ascent, ascent_time = best_time(lambda: solve("ascent"), 3)
    fixed_point, fixed_point_time = best_time(lambda: solve("pfp"), 3 if m <= 200 else 1)
    problem = instance.terms.problem(lam)
    values = {"pfp": fixed_point.value}
    for name, solver in rivals(problem, structure_only=bool(np.isinf(lam))).items():
        values[name] = problem.value(run_rival(solver, problem))
    return {
        "instance": instance.name,
        "beta": instance.beta,
        "m": m,
        "lam": lam if np.isfinite(lam) else "inf",
        "time_ratio": ascent_time / fixed_point_time,
        "seconds": ascent_time,
        "prepared_ratio": _prepared_ratio(problem),
        "memory": _peak_memory(lambda: solve("ascent")) / (8 * m * m),
        "gap": 1.0 - ascent.value / upper_bound(problem),
        "relative": {name: value / ascent.value for name, value in values.items()},
    }


def _prepared_ratio(problem: PairProblem) -> float | None:
    """Time of one assignment of the ascent that is prepared by a permutation near the answer, over SciPy's alone."""
    if problem.size < PREPARE_FROM:
        return None
    near = assign(problem.reduced.L)
    benefit = problem.reduced.L + 2.0 * problem.reduced.product(near)
    return best_time(lambda: assign(benefit, near), 3)[1] / best_time(lambda: assign(benefit), 3)[1]


def _peak_memory(run: Callable[[], Any]) -> float:
    """Bytes allocated at the same time, at most, beyond what was there before."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _group(records: list[dict[str, Any]], betas: tuple[float, ...]) -> dict[str, float]:
    """Time with both terms and 50 anchors or more, and distance from the bound, of the problems with some ``beta``."""
    own = [r for r in records if r["beta"] in betas]
    times = [r["time_ratio"] for r in own if r["lam"] != "inf" and r["m"] >= 50]
    gaps = [r["gap"] for r in own]
    return {
        "median_time_ratio": float(np.median(times or [0.0])),
        "median_gap": float(np.median(gaps or [0.0])),
        "max_gap": max(gaps, default=0.0),
    }


def summarise(records: list[dict[str, Any]], report: Callable[[str], None]) -> dict[str, Any]:
    """The bars: best of all on every instance, a tenth of the fixed point's time in the median, never above it.

    Times are judged with both terms present. On the structure term alone the fixed point may stop at once, at the
    uniform matrix it starts from: there is nothing to be compared with.
    """
    timed = [r for r in records if r["lam"] != "inf"]
    large = [r["time_ratio"] for r in timed if r["m"] >= 50]
    lost = [
        (r["instance"], r["beta"], r["m"], r["lam"], n, v)
        for r in records
        for n, v in r["relative"].items()
        if v > 1 + 1e-6
    ]
    largest = max(records, key=lambda r: (r["m"], r["seconds"]))
    prepared = [r["prepared_ratio"] for r in records if r["prepared_ratio"] is not None]
    summary = {
        "instances": len(records),
        "not_installed": missing(),
        "lost": lost,
        "median_time_ratio_m50": float(np.median(large or [0.0])),
        "max_time_ratio": max(r["time_ratio"] for r in timed),
        "median_prepared_ratio": float(np.median(prepared)) if prepared else None,
        "max_prepared_ratio": max(prepared, default=None),
        "median_gap": float(np.median([r["gap"] for r in records])),
        "by_beta": {name: _group(records, betas) for name, betas in BETAS.items()},
        "largest_m": largest["m"],
        "largest_memory": largest["memory"],
        "passed": not lost and float(np.median(large or [0.0])) <= 0.1 and max(r["time_ratio"] for r in timed) <= 1.0,
        "largest_seconds": largest["seconds"],
    }
    lines = {
        "instances": f"{len(records)}",
        "another solver better by more than 1e-6": f"{len(lost)}   (bar: 0)  {lost or ''}",
        "time / fixed point's, median over m >= 50": f"{summary['median_time_ratio_m50']:.3f}   (bar: <= 0.1)",
        "time / fixed point's, largest": f"{summary['max_time_ratio']:.3f}   (bar: <= 1)",
        "median gap to the upper bound": f"{100 * summary['median_gap']:.3f} %",
        f"slowest at m = {largest['m']}": f"{largest['seconds']:.1f} s   (bar: a few seconds)",
        f"memory at m = {largest['m']}": f"{largest['memory']:.0f} matrices of m x m floats",
    }
    if prepared:
        lines["prepared assignment / SciPy's alone"] = f"median {np.median(prepared):.2f}, largest {max(prepared):.2f}"
    if missing():
        lines["not installed, so not compared with"] = ", ".join(missing())
    report("")
    for what, value in lines.items():
        report(f"{what:<46} {value}")
    by_m = {m: [r["time_ratio"] for r in timed if r["m"] == m] for m in sorted({r["m"] for r in timed})}
    for m, ratios in by_m.items():
        report(f"  m = {m:<5} time / fixed point's: median {np.median(ratios):.3f}, largest {max(ratios):.3f}")
    return summary
