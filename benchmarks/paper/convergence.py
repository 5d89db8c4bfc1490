"""Convergence of the paper's fixed point and the library's ascent: the objective by iteration, and the final match.

Every pair of views is a problem, for every draw of anchors, number of anchors and lam; both solvers get the same
problems. For each scale and lam:

- rate: the paper's bound on the ratio of successive steps, 1/2 + lam |S_1 x S_2|, the smallest over all problems. It
  proves convergence where it is below 1.
- seen: the median ratio of successive changes of the fixed point's objective, over its last ten rounds.
- rounds: median number of rounds of the fixed point; at limit: % of the problems in which it stops at its limit.
  moves, most moves: median and largest number of moves by which the ascent improved its best start; with six anchors or
  fewer it tries all permutations.
- below, most below: how far the permutation of each solver is below the upper bound, in %, median and worst.
- best: % of the problems in which a solver is at least as good as the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from formats import data_name, fixed, table
from results import Bench

from anchor_align import AlignedClusterer, AnchorAligner, GramMatrices, load_views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 2
DATA = ("digits", "UCI-Digit_3v", "MSRC-v1", "BDGP_3v")
METHODS = ("fmvacc", "lmvsc")
PER_CLUSTER = (2, 1, 5)
DRAWS = 5
LAMS = (("balanced", 0.1), ("balanced", 1.0), ("balanced", 10.0), ("paper", 1e-4), ("paper", 1.0), ("paper", inf))
DRAWN = tuple(key for key in LAMS if key[0] == "balanced" or key[1] == inf)
SOLVERS = {"pfp": "fixed point", "ascent": "ascent"}
COLOURS = {"pfp": "#c4500a", "ascent": "#0069a8"}
PICTURES = ("paper_convergence.png",)
LAST = 10
# Relative differences below this come from rounding.
DUST = 1e-9
LIMIT = 50


@dataclass(frozen=True)
class Solved:
    """One problem, solved by one solver; ``history`` is relative to the upper bound."""

    rate: float
    n_iter: int
    objective: float
    history: tuple[float, ...]


Problem = dict[str, Solved]


def solve(graphs: Sequence[Any], scale: str, lam: float) -> Problem:
    """Match the second graph to the first with both solvers."""
    grams = GramMatrices.from_graphs(graphs)
    # |S_1 x S_2| is |S_1| |S_2|; the balanced lam is worth |Z_1| |Z_2| / (|S_1| |S_2|) on the scale of the raw graphs.
    norms = grams.norms if scale == "balanced" else [np.linalg.norm(grams.structure(view)) for view in (0, 1)]
    rate = 0.5 + (1.0 if lam == inf else lam) * float(norms[0] * norms[1])
    found = {}
    for solver in SOLVERS:
        aligner = AnchorAligner(lam, lam_scale=scale, reference=0, method=solver).fit(grams)
        bound = float(aligner.upper_bound_[1])
        history = tuple(value / bound for value in aligner.history_[1])
        # Behind the rounds of the fixed point comes what it is rounded to, before the moves of the ascent the start.
        found[solver] = Solved(rate, len(history) - 1, float(aligner.objective_[1]) / bound, history)
    return found


def problems(path: str, method: str, per_cluster: int, draws: int) -> Iterator[dict[tuple[str, float], Problem]]:
    """Every pair of views of every draw of anchors, at every lam."""
    data = load_views(path)
    assert data.n_clusters is not None
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "n_anchors": per_cluster * data.n_clusters}
    for seed in range(draws):
        clusterer = AlignedClusterer(method, fusion="unaligned", random_state=seed, **options).fit(data.views)
        for pair in combinations(clusterer.anchor_graphs_.graphs, 2):
            yield {(scale, lam): solve(pair, scale, lam) for scale, lam in LAMS}


def ratio_seen(solved: Solved) -> float:
    """Median ratio of successive changes of the relaxed objective at the end; NaN where it does not change."""
    changes = np.abs(np.diff(solved.history[:-1]))[-LAST - 1 :]
    changes = changes[changes > 1e-14]
    return float(np.median(changes[1:] / changes[:-1])) if len(changes) > 1 else np.nan


def rows_of(path: str, name: str, method: str) -> list[dict[str, Any]]:
    """A row for each scale and lam."""
    found = [each for number in PER_CLUSTER for each in problems(path, method, number, DRAWS)]
    return [
        {"data": name, "method": method, "problems": len(found), "scale": scale, "lam": f"{lam:g}"}
        | summary([each[scale, lam] for each in found])
        for scale, lam in LAMS
    ]


def summary(found: Sequence[Problem]) -> dict[str, float]:
    """What is stored of all problems at one scale and lam."""
    objective = {name: np.array([each[name].objective for each in found]) for name in SOLVERS}
    below = {name: 100 * np.maximum(1 - each, 0) for name, each in objective.items()}
    top = np.maximum(objective["pfp"], objective["ascent"])
    rounds, moves = (np.array([each[name].n_iter for each in found]) for name in SOLVERS)
    return {
        "rate": min(each["pfp"].rate for each in found),
        "seen": float(np.nanmedian([ratio_seen(each["pfp"]) for each in found])),
        "rounds": float(np.median(rounds)),
        "at limit": 100 * float(np.mean(rounds >= LIMIT)),
        "moves": float(np.median(moves)),
        "most moves": int(moves.max()),
        **{f"{SOLVERS[name]} below": float(np.median(each)) for name, each in below.items()},
        **{f"{SOLVERS[name]} most below": float(each.max()) for name, each in below.items()},
        **{f"{SOLVERS[name]} best": 100 * float(np.mean(objective[name] >= top - DUST)) for name in SOLVERS},
    }


def curves_of(path: str) -> list[dict[str, Any]]:
    """For every pair of views, how far both solvers are below the upper bound, in %, by iteration."""
    return [
        {
            **{"scale": scale, "lam": f"{lam:g}", "solver": name},
            "below": [100 * max(1 - value, 1e-5) for value in solved.history],
        }
        for each in problems(path, METHODS[0], PER_CLUSTER[0], 1)
        for scale, lam in DRAWN
        for name, solved in each[scale, lam].items()
    ]


def run(bench: Bench) -> dict[str, Any]:
    """Solve all problems."""
    parts = [
        bench.kept(f"{name} {method}", rows_of, bench.path(name), name, method) for method in METHODS for name in DATA
    ]
    curves = bench.kept("curves", curves_of, bench.path(DATA[0]))
    return {
        **{"draws": DRAWS, "anchors for each cluster": list(PER_CLUSTER)},
        **{"rows": [row for part in parts for row in part], "curves": curves},
    }


def main_table(result: Any, method: str) -> str:
    """A row for each data set, scale and lam."""
    head = ["data", "scale", "lam", "claimed rate", "seen", "rounds", "below bound, %", "best", "moves"]
    rows = []
    for data, group in groupby((row for row in result["rows"] if row["method"] == method), key=lambda row: row["data"]):
        for place, row in enumerate(group):
            below = [f"{row[f'{name} below']:.3f}, {row[f'{name} most below']:.2f}" for name in SOLVERS.values()]
            best = [f"{row[f'{name} best']:.0f} %" for name in SOLVERS.values()]
            name = "" if place else f"{data_name(data)}, {row['problems']} problems"
            rounds, moves = f"{row['rounds']:.0f}, {row['at limit']:.0f} %", f"{row['moves']:.0f}, {row['most moves']}"
            ours = [rate(row["rate"]), fixed(row["seen"], 2), rounds, below[0], best[0], moves, below[1], best[1]]
            rows.append([name, row["scale"], row["lam"], *ours])
    return table([*head, "below bound, %", "best"], rows, names=3)


def rate(value: float) -> str:
    """Three digits of a rate.

    >>> rate(0.5341), rate(731234.0)
    ('0.534', '731,000')
    """
    return f"{float(f'{value:.3g}'):,g}"


def column(result: Any, name: str, scale: str | None = None, lams: Collection[str] = ()) -> list[float]:
    """The values of a column, of all rows or of one scale and some lam."""
    return [row[name] for row in result["rows"] if scale in (None, row["scale"]) and (not lams or row["lam"] in lams)]


def typical(result: Any, name: str) -> float:
    """Median of a column."""
    return float(np.median(column(result, name)))


def positional(value: float, digits: int) -> str:
    """So many digits of a small number, without an exponent.

    >>> positional(6.84e-7, 1)
    '0.0000007'
    """
    return np.format_float_positional(value, digits, fractional=False, trim="-")


def largest_lams(result: Any) -> list[tuple[float, str]]:
    """For every data set and method, the lam on the paper's scale below which the claimed rate is below 1, rising."""
    rows = (row for row in result["rows"] if (row["scale"], row["lam"]) == ("paper", "1"))
    return sorted((0.5 / (row["rate"] - 0.5), row["data"]) for row in rows)


def draw(result: Any) -> dict[str, Figure]:
    """Distance from the upper bound by iteration; a dot is the permutation that the fixed point is rounded to."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.7), layout="constrained")
    grid = figure.subplots(1, len(DRAWN), sharex=True, sharey=True)
    for axes, (scale, lam) in zip(grid, DRAWN, strict=True):
        for curve in result["curves"]:
            if (curve["scale"], curve["lam"]) == (scale, f"{lam:g}"):
                below, colour = curve["below"], COLOURS[curve["solver"]]
                last = len(below) - 1
                axes.plot(below[: last + (curve["solver"] == "ascent")], color=colour, lw=0.9, alpha=0.6)
                axes.plot(last, below[-1], "o", color=colour, ms=3, alpha=0.8, mew=0)
        axes.set(yscale="log", xlim=(-1, 52), ylim=(7e-4, 150), xlabel="iteration", xticks=[0, 10, 20, 30, 40, 50])
        axes.set_title("structure alone" if lam == inf else f"lam {lam:g}", loc="left", fontsize=10)
        axes.grid(axis="y", color="#d3d8de", lw=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    grid[0].set_ylabel("below the upper bound, %")
    grid[0].set_yticks([1e-3, 1e-2, 0.1, 1, 10, 100], ["0.001 or less", "0.01", "0.1", "1", "10", "100"])
    for place, (solver, name) in zip((0.95, 0.86), SOLVERS.items(), strict=True):
        grid[0].text(0.96, place, name, color=COLOURS[solver], ha="right", va="top", transform=grid[0].transAxes)
    return {PICTURES[0]: figure}
