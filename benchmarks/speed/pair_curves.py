"""One pair of views: objective against processor time of our solvers, the released fixed point, and other packages.

graspologic needs an older numpy: it runs in an environment of its own, which is made in the folder that the variable
GRASPOLOGIC_ENV names, and is left out without it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pair_traces
from formats import fixed, light_and_dark, span, table
from instances import float_views
from pair_traces import Trace
from results import Bench

from anchor_align import GramMatrices, get_adapter
from anchor_align.matching._pair_problem import PairProblem
from anchor_align.matching._pair_solvers import SEARCH
from anchor_align.matching._scaled_grams import PairTerms, ScaledGrams

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 40
DATA = "UCI-Digit_3v"
SIZES, LAMS = (20, 60, 120, 250, 500, 1000), (0.0, 0.1, 1.0, 10.0)
# The tabu search takes minutes, and the exact projection many times the released one, for more anchors.
LARGEST = {"high": 250, "pfp": 250}
# Data, adapter and sizes for the default against the released fixed point only.
OTHERS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("UCI-Digit_3v", "fmvacc", (60, 120, 250, 500)),
    ("Scene-15", "local", (60, 120, 250, 500, 1000)),
    ("MSRC-v1", "local", (60,)),
    ("BDGP_3v", "local", (60, 120, 250, 500)),
)
FROM = 50  # anchors, for the comparison of times
WORSE = 1e-9  # relative difference of objectives that counts
RELEASED = "released"
PICTURES = ("pair_curves.png", "pair_curves_dark.png")
# Label, marker and colour on light and on dark pages.
STYLES = {
    "default": ("ascent (default)", "o", "#0b6bcb", "#5aa9f5"),
    "high": ('effort="high"', "D", "#12805c", "#4cc79b"),
    "released": ("fixed point, released", "s", "#c2410c", "#fb8c5a"),
    "pfp": ("fixed point, exact", "^", "#a16207", "#e0b341"),
    "frank-wolfe": ("Frank-Wolfe", "v", "#7c3aed", "#b794f6"),
    "POT": ("POT", "x", "#64748b", "#a3b1c2"),
    "graspologic": ("graspologic", "+", "#be185d", "#f472b6"),
}


def run(bench: Bench) -> dict[str, Any]:
    """Trace all solvers on all problems, then the default and the released fixed point on other graphs."""
    python = _graspologic_python(bench)
    records = [
        record for m in SIZES for record in bench.kept(f"{DATA} local m {m}", _records, _terms(bench, DATA, m), python)
    ]
    others = [
        cell
        for data, adapter, sizes in OTHERS
        for m in sizes
        for cell in bench.kept(f"{data} {adapter} m {m}, two solvers", _cells, bench, data, adapter, m)
    ]
    return {"records": records, "others": others}


def _terms(bench: Bench, data: str, m: int, name: str = "local") -> PairTerms:
    params = {"scale": "unit"} if name == "local" else {"beta": 1.0, "max_iter": 20, "n_init": 1}
    adapter = get_adapter(name, **params)
    made = adapter.anchor_graphs(float_views(bench, data)[:2], n_clusters=10, n_anchors=m, random_state=0)
    return ScaledGrams(GramMatrices.from_graphs(made.graphs), 1.0, "balanced").pair(0, 1)


def _records(terms: PairTerms, python: Path | None) -> list[dict[str, Any]]:
    """All solvers that are installed, for each lam."""
    solvers: dict[str, Callable[[PairProblem], Trace]] = {
        "default": partial(pair_traces.ours, method="ascent"),
        "high": partial(pair_traces.ours, method=SEARCH),
        RELEASED: pair_traces.released_fixed_point,
        "pfp": pair_traces.exact_fixed_point,
        "frank-wolfe": pair_traces.frank_wolfe,
    }
    if importlib.util.find_spec("ot"):
        solvers["POT"] = pair_traces.pot
    problems = [terms.problem(lam) for lam in LAMS]
    theirs = pair_traces.graspologic(problems, python) if python else []
    m = problems[0].size
    records = []
    for number, lam in enumerate(LAMS):
        traces = {name: solve(terms.problem(lam)) for name, solve in solvers.items() if m <= LARGEST.get(name, m)}
        if theirs:
            traces["graspologic"] = theirs[number]
        records.append(_record(m, lam, traces))
    return records


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


def _cells(bench: Bench, data: str, adapter: str, m: int) -> list[dict[str, Any]]:
    """The default against the released fixed point."""
    terms, found = _terms(bench, data, m, adapter), []
    for lam in LAMS[1:]:
        default = pair_traces.ours(terms.problem(lam), "ascent")
        seconds, objective = pair_traces.released_fixed_point(terms.problem(lam))[-1]
        cell = {
            "time": default[-1][0] / seconds,
            "time_to_released": _time_to(default, objective) / seconds,
            "released": objective / default[-1][1],
        }
        found.append({"data": data, "adapter": adapter, "m": m, "lam": lam, **cell})
    return found


def _time_to(trace: Trace, value: float) -> float:
    """Time after which a trace has a value; that of the whole trace if it never has."""
    return next((t for t, found in trace if found >= value), trace[-1][0])


def _graspologic_python(bench: Bench) -> Path | None:
    """Interpreter of graspologic's environment: made if its folder is named but not there."""
    folder = os.environ.get("GRASPOLOGIC_ENV")
    if not folder:
        bench.report("graspologic is left out: GRASPOLOGIC_ENV names no folder for its environment.")
        return None
    python = Path(folder) / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "graspologic"], check=True)
    return python


def judged(result: Any) -> list[Any]:
    """The cells with many anchors."""
    return [r for r in result["records"] if r["m"] >= FROM]


def held(result: Any) -> int:
    """Of these, cells in which the default is not slower than the released fixed point, and not worse."""
    return sum(
        r["time"]["default"] <= 1 and r["objective"]["default"] >= r["objective"][RELEASED] - WORSE
        for r in judged(result)
    )


def other_held(result: Any) -> int:
    """The same on other graphs."""
    return sum(r["time"] <= 1 and r["released"] <= 1 + WORSE for r in result["others"])


def sooner(result: Any) -> int:
    """Cells in which the default has the final objective of the released fixed point within its time."""
    return sum(r["time_to_released"] <= 1 for r in (*judged(result), *result["others"]))


def high_cells(result: Any, lam: float | None = None) -> list[Any]:
    """Cells with a structure term in which ``effort="high"`` was run."""
    return [r for r in result["records"] if "high" in r["objective"] and r["lam"] > 0 and lam in (None, r["lam"])]


def high_gains(result: Any, lam: float | None = None) -> list[float]:
    """By how much it is better in these, in %, where it is."""
    gains = [r["objective"]["high"] / r["objective"]["default"] - 1 for r in high_cells(result, lam)]
    return [100 * gain for gain in gains if gain > WORSE]


def high_times(result: Any) -> list[float]:
    """Its time over that of the default."""
    return [r["time"]["high"] / r["time"]["default"] for r in high_cells(result)]


def beaten(result: Any) -> list[tuple[Any, str, float]]:
    """Cells in which another solver is better than the default: record, solver, by how many %."""
    return [
        (r, name, 100 * (value - r["objective"]["default"]))
        for r in result["records"]
        for name, value in r["objective"].items()
        if name != "high" and value > r["objective"]["default"] + WORSE
    ]


def other_table(result: Any) -> str:
    """The default against the released fixed point on other graphs."""
    rows = []
    for data, adapter in dict.fromkeys((r["data"], r["adapter"]) for r in result["others"]):
        own = [r for r in result["others"] if (r["data"], r["adapter"]) == (data, adapter)]
        spans = (span((r[what] for r in own), 2) for what in ("time", "time_to_released", "released"))
        not_slower = f"{sum(r['time'] <= 1 for r in own)} of {len(own)}"
        rows.append([f"`{adapter}`, {data.removesuffix('_3v')}", not_slower, *spans])
    sizes = [r["m"] for r in result["others"]]
    head = [f"graphs, {min(sizes)} to {max(sizes)} anchors", "cells that are not slower", "time of the default"]
    return table([*head, "time to the other's objective", "the other's objective"], rows)


def main_table(result: Any) -> str:
    """All cells of the picture."""
    solvers = list(dict.fromkeys(name for r in result["records"] for name in r["objective"]))
    rows = [[r["m"], f"{r['lam']:g}", *(_cell(r, name) for name in solvers)] for r in result["records"]]
    return table(["m", "lam", *solvers], rows)


def _cell(record: Any, name: str) -> str:
    if name not in record["objective"]:
        return ""
    return f"{fixed(record['objective'][name], 3)}, {record['time'][name]:.2g}"


def draw(result: Any) -> dict[str, Figure]:
    """One picture for light and one for dark pages."""
    return light_and_dark(PICTURES, partial(_picture, result["records"]))


def _picture(records: Sequence[Any], *, dark: bool) -> Figure:
    """A row for each lam but 0, with which every solver but the released one is exact; a column for each size."""
    from matplotlib.figure import Figure

    sizes, lams = sorted({r["m"] for r in records}), sorted({r["lam"] for r in records} - {0.0})
    figure = Figure(figsize=(12.5, 6.6), layout="constrained")
    grid = figure.subplots(len(lams), len(sizes), sharex=True, sharey="row", squeeze=False)
    for r in records:
        if r["lam"] not in lams:
            continue
        axes = grid[lams.index(r["lam"])][sizes.index(r["m"])]
        axes.axvline(1.0, color="#3b424b" if dark else "#d3d8de", linewidth=1, zorder=0)
        for name, (label, marker, *colours) in STYLES.items():
            if name in r["curves"]:
                times, values = zip(*sorted(r["curves"][name]), strict=True)
                style = {"marker": marker, "markersize": 4, "linewidth": 1.1, "color": colours[dark], "label": label}
                axes.plot(times, values, drawstyle="steps-post", **style)
        axes.set_xscale("log")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    for column, m in enumerate(sizes):
        grid[0][column].set_title(f"m = {m}", fontsize=10)
    for row, lam in enumerate(lams):
        grid[row][0].set_ylabel(f"lam = {lam:g}\nobjective / best", fontsize=9)
        lowest = min(min(v[-1][1] for v in r["curves"].values()) for r in records if r["lam"] == lam)
        grid[row][0].set_ylim(lowest - 0.1 * (1.0 - lowest) - 0.005, 1.005)
    figure.supxlabel("processor time / that of the released fixed point", fontsize=10)
    handles = {label: line for axes in grid.flat for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(handles), frameon=False)
    return figure
