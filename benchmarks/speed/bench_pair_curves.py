"""One pair: objective against processor time of our solvers, both forms of the fixed point, and other packages.

graspologic needs an older numpy, so it has an environment of its own, which is made only if asked for:

    GRASPOLOGIC_ENV=FOLDER python tests/benchmarks/run.py --only pair-curves
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pair_traces
from instances import read_views
from pair_traces import Trace

from anchor_align import GramMatrices, get_adapter
from anchor_align.matching._pair_problem import PairProblem
from anchor_align.matching._pair_solvers import SEARCH
from anchor_align.matching._scaled_grams import PairTerms, ScaledGrams

SIZES, LAMS = (20, 60, 120, 250, 500, 1000), (0.0, 0.1, 1.0, 10.0)
QUICK_SIZES = (20, 60)
# The tabu search takes minutes, and the exact projection many times the released one, for more anchors.
LARGEST = {"high": 250, "pfp": 250}
# Data, adapter and sizes for the default against the released fixed point only.
OTHERS = (
    ("UCI-Digit_3v", "fmvacc", (60, 120, 250, 500)),
    ("Scene-15", "local", (60, 120, 250, 500, 1000)),
    ("MSRC-v1", "local", (60,)),
    ("BDGP_3v", "local", (60, 120, 250, 500)),
)
FROM = 50  # anchors, for the verdict
WORSE = 1e-9  # relative difference of objectives that counts
RELEASED = "released"


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Trace all solvers on all problems: one record each, and the verdict."""
    python = graspologic_python(report)
    records = []
    for m in QUICK_SIZES if quick else SIZES:
        if m > max_anchors:
            continue
        terms = _terms("digits" if quick else "UCI-Digit_3v", m)
        theirs = pair_traces.graspologic([terms.problem(lam) for lam in LAMS], python) if python else []
        for number, lam in enumerate(LAMS):
            traces = {name: solve(terms.problem(lam)) for name, solve in solvers().items() if m <= LARGEST.get(name, m)}
            if theirs:
                traces["graspologic"] = theirs[number]
            records.append(_record(m, lam, traces))
            _report(records[-1], report)
    others = [] if quick else other_graphs(max_anchors, report)
    return {"records": records, "others": others, "summary": summarise(records, others, python is not None, report)}


def other_graphs(max_anchors: int, report: Callable[[str], None]) -> list[dict[str, Any]]:
    """The default against the released fixed point only, on graphs of other data and of another adapter."""
    found = []
    for data, adapter, sizes in OTHERS:
        for m in sizes:
            if m > max_anchors:
                continue
            terms = _terms(data, m, adapter)
            for lam in LAMS[1:]:
                default = pair_traces.ours(terms.problem(lam), "ascent")
                seconds, objective = pair_traces.released_fixed_point(terms.problem(lam))[-1]
                cell = {
                    "time": default[-1][0] / seconds,
                    "time_to_released": _time_to(default, objective) / seconds,
                    "released": objective / default[-1][1],
                }
                found.append({"data": data, "adapter": adapter, "m": m, "lam": lam, **cell})
                report(f"{data} {adapter} m {m} lam {lam:g}: " + ", ".join(f"{k} {v:.3f}" for k, v in cell.items()))
    return found


def solvers() -> dict[str, Callable[[PairProblem], Trace]]:
    """All solvers that are installed, without graspologic."""
    found: dict[str, Callable[[PairProblem], Trace]] = {
        "default": partial(pair_traces.ours, method="ascent"),
        "high": partial(pair_traces.ours, method=SEARCH),
        RELEASED: pair_traces.released_fixed_point,
        "pfp": pair_traces.exact_fixed_point,
        "frank-wolfe": pair_traces.frank_wolfe,
    }
    if importlib.util.find_spec("ot"):
        found["POT"] = pair_traces.pot
    return found


def graspologic_python(report: Callable[[str], None]) -> Path | None:
    """Interpreter of graspologic's environment: made if its folder is named but not there."""
    folder = os.environ.get("GRASPOLOGIC_ENV")
    if not folder:
        report("graspologic is left out: GRASPOLOGIC_ENV names no folder for its environment.")
        return None
    python = Path(folder) / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        done = subprocess.run([python, "-m", "pip", "install", "-q", "graspologic"], capture_output=True, text=True)
        if done.returncode:
            report(f"graspologic cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
            return None
    return python


def _terms(data: str, m: int, name: str = "local") -> PairTerms:
    params = {"scale": "unit"} if name == "local" else {"beta": 1.0, "max_iter": 20, "n_init": 1}
    adapter = get_adapter(name, **params)
    made = adapter.anchor_graphs(read_views(data)[:2], n_clusters=10, n_anchors=m, random_state=0)
    return ScaledGrams(GramMatrices.from_graphs(made.graphs), 1.0, "balanced").pair(0, 1)


def _record(m: int, lam: float, traces: dict[str, Trace]) -> dict[str, Any]:
    """Objectives over the best that was found, times over that of the released fixed point."""
    best = max(value for trace in traces.values() for _, value in trace)
    seconds = traces[RELEASED][-1][0]
    return {
        "m": m,
        "lam": lam,
        "objective": {name: trace[-1][1] / best for name, trace in traces.items()},
        "time": {name: trace[-1][0] / seconds for name, trace in traces.items()},
        "time_to_released": _time_to(traces["default"], traces[RELEASED][-1][1]) / seconds,
        "curves": {name: [[t / seconds, value / best] for t, value in trace] for name, trace in traces.items()},
    }


def _time_to(trace: Trace, value: float) -> float:
    """Time after which a trace has a value; that of the whole trace if it never has."""
    return next((t for t, found in trace if found >= value), trace[-1][0])


def _report(record: dict[str, Any], report: Callable[[str], None]) -> None:
    cells = "  ".join(f"{name} {v:.4f} {record['time'][name]:.2f}" for name, v in record["objective"].items())
    report(f"m {record['m']:>5}  lam {record['lam']:<4g} {cells}   (to released's {record['time_to_released']:.2f})")


def summarise(
    records: list[dict[str, Any]], others: list[dict[str, Any]], graspologic: bool, report: Callable[[str], None]
) -> dict[str, Any]:
    """The verdict on the default and what ``effort="high"`` adds."""
    judged = [r for r in records if r["m"] >= FROM]
    held = [
        r
        for r in judged
        if r["time"]["default"] <= 1.0 and r["objective"]["default"] >= r["objective"][RELEASED] - WORSE
    ]
    held_others = [r for r in others if r["time"] <= 1.0 and r["released"] <= 1.0 + WORSE]
    sooner = [r for r in (*judged, *others) if r["time_to_released"] <= 1.0]
    high = [r for r in records if "high" in r["objective"] and r["lam"] > 0]
    gains = [r["objective"]["high"] / r["objective"]["default"] - 1.0 for r in high]
    beaten = {
        name: sum(r["objective"][name] > r["objective"]["default"] + WORSE for r in records if name in r["objective"])
        for name in sorted({name for r in records for name in r["objective"]} - {"default", "high"})
    }
    summary = {
        "cells": len(judged),
        "held": len(held),
        "largest_time": max((r["time"]["default"] for r in judged), default=None),
        "largest_time_to_released": max((r["time_to_released"] for r in judged), default=None),
        "beaten_by": beaten,
        "high_cells": len(high),
        "high_better": sum(gain > WORSE for gain in gains),
        "high_largest_gain": max(gains, default=None),
        "high_times": sorted(r["time"]["high"] / r["time"]["default"] for r in high),
        "graspologic": graspologic,
        "other_cells": len(others),
        "other_held": len(held_others),
        "other_largest_time": max((r["time"] for r in others), default=None),
        "sooner": len(sooner),
        "other_largest_time_to_released": max((r["time_to_released"] for r in others), default=None),
        "other_released_better": sum(r["released"] > 1.0 + WORSE for r in others),
        "passed": len(held) == len(judged) and len(held_others) == len(others),
    }
    report("")
    report(
        f"Never slower than the released fixed point at m >= {FROM} at equal or better objective: "
        f"{len(held)} of {len(judged)} cells; on other graphs {len(held_others)} of {len(others)}"
    )
    report(
        f"The released fixed point's objective is reached in its time or less: {len(sooner)} of {len(judged + others)}"
    )
    report(f"Cells in which another solver is better than the default: {beaten}")
    report(f"effort='high' is better than the default in {summary['high_better']} of {len(high)} cells with lam > 0")
    return summary
