"""Convergence of the paper's fixed point and the library's ascent: the objective by iteration, and the final match.

    python examples/paper/convergence.py [--data DATA ...] [--adapter NAME] [--anchors M ...] [--repeats N]
        [--picture FILE.png]

DATA are files or bundled sets (default: digits; labels are needed only to count the clusters). Every pair of views is a
problem, for every draw of anchors, number of anchors and lam; both solvers get the same problems. For each scale and
lam:

- claimed rate: the paper's bound on the ratio of successive steps, 1/2 + lam |S_1 x S_2|, the smallest over all
  problems. It proves convergence where it is below 1.
- seen: the median ratio of successive changes of the fixed point's objective, over its last ten rounds.
- rounds: median number of rounds of the fixed point, and the share of problems in which it stops at its limit of 50.
  Moves: number of moves by which the ascent improved its best start, median and largest; with six anchors or fewer it
  tries all permutations.
- below the bound: how far the permutation is below the upper bound, in %, median and worst.
- best: share of the problems in which a solver is at least as good as the other.

The picture (extra ``report``) shows the first draw on the first data with the first number of anchors.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from anchor_align import AlignedClusterer, AnchorAligner, GramMatrices, load_views
from anchor_align.errors import AnchorAlignError, InputError

LAMS = (("balanced", 0.1), ("balanced", 1.0), ("balanced", 10.0), ("paper", 1e-4), ("paper", 1.0), ("paper", inf))
SOLVERS = {"pfp": "fixed point", "ascent": "ascent"}
COLOURS = {"pfp": "#c4500a", "ascent": "#0069a8"}
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


def problems(source: str, adapter: str, per_cluster: int, repeats: int) -> Iterator[dict[tuple[str, float], Problem]]:
    """Every pair of views of every draw of anchors, at every lam."""
    data = load_views(source)
    if data.n_clusters is None or len(data.views) < 2:
        raise InputError(f"{source} needs two views or more, and labels to count the clusters by.")
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "n_anchors": per_cluster * data.n_clusters}
    for seed in range(repeats):
        clusterer = AlignedClusterer(adapter, fusion="unaligned", random_state=seed, **options).fit(data.views)
        for pair in combinations(clusterer.anchor_graphs_.graphs, 2):
            yield {(scale, lam): solve(pair, scale, lam) for scale, lam in LAMS}


def ratio_seen(solved: Solved) -> float:
    """Median ratio of successive changes of the relaxed objective at the end; NaN where it does not change."""
    changes = np.abs(np.diff(solved.history[:-1]))[-LAST - 1 :]
    changes = changes[changes > 1e-14]
    return float(np.median(changes[1:] / changes[:-1])) if len(changes) > 1 else np.nan


def print_table(found: Sequence[dict[tuple[str, float], Problem]]) -> None:
    """A line for each scale and lam."""
    print(f"{'':<17}{'':<17}{'fixed point':<41}ascent")
    print(f"{'scale':<10}{'lam':<7}{'claimed rate':<17}", end="")
    print(f"{'seen':<7}{'rounds':<10}{'below bound, %':<18}{'best':<6}{'moves':<9}{'below bound, %':<18}best")
    for scale, lam in LAMS:
        rows = [each[scale, lam] for each in found]
        top = np.array([max(solved.objective for solved in row.values()) for row in rows])
        cells = {}
        for solver in SOLVERS:
            objective = np.array([row[solver].objective for row in rows])
            rounds, below = [row[solver].n_iter for row in rows], 100 * np.maximum(1 - objective, 0)
            best = np.mean(objective >= top - DUST)
            most = f"{max(rounds)}" if solver == "ascent" else f"{np.mean(np.array(rounds) >= LIMIT):.0%}"
            cells[solver] = (
                f"{np.median(rounds):.0f}, {most}",
                f"{np.median(below):.3f}, {below.max():.2f}",
                f"{best:.0%}",
            )
        seen = np.nanmedian([ratio_seen(row["pfp"]) for row in rows])
        (rounds_p, below_p, best_p), (moves, below_a, best_a) = cells["pfp"], cells["ascent"]
        rate = f"{min(row['pfp'].rate for row in rows):.3g}"
        print(f"{scale:<10}{f'{lam:g}':<7}{rate:<17}{seen:<7.2f}{rounds_p:<10}{below_p:<18}{best_p:<6}", end="")
        print(f"{moves:<9}{below_a:<18}{best_a}")
    largest = 0.5 / (min(each["paper", 1.0]["pfp"].rate for each in found) - 0.5)
    print(f"the claimed rate is below 1 only for lam below {largest:.2g} on the paper's scale")


def draw_picture(found: Sequence[dict[tuple[str, float], Problem]], path: Path) -> None:
    """Distance from the upper bound by iteration; a dot is the permutation that the fixed point is rounded to."""
    from matplotlib.figure import Figure

    shown = [(scale, lam) for scale, lam in LAMS if scale == "balanced" or lam == inf]
    figure = Figure(figsize=(9, 2.7), layout="constrained")
    grid = figure.subplots(1, len(shown), sharex=True, sharey=True)
    for axes, key in zip(grid, shown, strict=True):
        for problem in found:
            for solver, solved in problem[key].items():
                below = 100 * np.maximum(1 - np.array(solved.history), 1e-5)
                last = len(below) - 1
                axes.plot(below[: last + (solver == "ascent")], color=COLOURS[solver], lw=0.9, alpha=0.6)
                axes.plot(last, below[-1], "o", color=COLOURS[solver], ms=3, alpha=0.8, mew=0)
        axes.set(yscale="log", xlim=(-1, 52), ylim=(7e-4, 150), xlabel="iteration", xticks=[0, 10, 20, 30, 40, 50])
        axes.set_title("structure alone" if key[1] == inf else f"lam {key[1]:g}", loc="left", fontsize=10)
        axes.grid(axis="y", color="#d3d8de", lw=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    grid[0].set_ylabel("below the upper bound, %")
    grid[0].set_yticks([1e-3, 1e-2, 0.1, 1, 10, 100], ["0.001 or less", "0.01", "0.1", "1", "10", "100"])
    for place, (solver, name) in zip((0.95, 0.86), SOLVERS.items(), strict=True):
        grid[0].text(0.96, place, name, color=COLOURS[solver], ha="right", va="top", transform=grid[0].transAxes)
    figure.savefig(path, dpi=120, metadata={"Software": None})


def main() -> None:
    """Print a table for each data set and, if asked for, draw the curves."""
    parser = argparse.ArgumentParser(description="Convergence of the paper's fixed point and of the ascent.")
    parser.add_argument("--data", nargs="+", default=["digits"], help="files or bundled sets with labels [digits]")
    parser.add_argument("--adapter", default="fmvacc", choices=["fmvacc", "lmvsc"])
    parser.add_argument("--anchors", nargs="+", type=int, default=[2], help="anchors for each cluster [2]")
    parser.add_argument("--repeats", type=int, default=1, help="draws of anchors [1]")
    parser.add_argument("--picture", type=Path, help="write the curves to this PNG file")
    arguments = parser.parse_args()
    if min([arguments.repeats, *arguments.anchors]) < 1:
        parser.error("--repeats and --anchors must be 1 or more.")
    first = None
    try:
        for source in arguments.data:
            every = []
            for per_cluster in arguments.anchors:
                found = list(problems(source, arguments.adapter, per_cluster, arguments.repeats))
                first = first or found[: len(found) // arguments.repeats]
                every += found
            print(f"{Path(source).stem}, {arguments.adapter}: {len(every)} problems at each lam", flush=True)
            print_table(every)
        if arguments.picture and first:
            draw_picture(first, arguments.picture)
    except (AnchorAlignError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
