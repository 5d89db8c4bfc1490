"""Gain from alignment: six ways of fusing the same anchor graphs, on any number of data sets.

    python examples/worth.py [DATA ...] [--adapters NAME ...] [--draws N] [--jobs N] [--keep FILE.json]
                             [--picture FILE.png]

DATA are files, folders or bundled sets with labels (default: two bundled sets). Default settings, nothing chosen
by label, every view draws its own anchors. For every data set and method: the unaligned mean of the graphs, the mean
aligned to view 0, to the view that all others match best (auto), and without a reference (consensus), the rotated mean,
and concat, the graphs side by side. All use the same graphs; all except concat have the width of one graph. Below the
table: the mean over data sets, the mean rank, and differences with their 95 % intervals (exact sign-flip test), paired
by data set.

With --keep, finished rows are kept in a file, and the same command continues from there. The rows behind the numbers of
README and gallery are in examples/results/worth.json: data sets whose rows are in the file are not read, their names
are enough. The picture, and a second one for dark pages (FILE_dark.png), need the extra ``report`` (matplotlib).
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer, AnchorAlignError, load_views
from anchor_align.metrics import acc
from anchor_align.study import DEFAULT_DATA, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ADAPTERS = ("local", "lmvsc", "fmvacc")
WAYS: dict[str, dict[str, Any]] = {
    "unaligned": {"fusion": "unaligned"},
    "view 0": {"reference": 0},
    "auto": {"reference": "auto"},
    "consensus": {"reference": "consensus"},
    "rotated": {"fusion": "rotated"},
    "concat": {"fusion": "concat"},
}
# On light and on dark pages.
COLOURS = {
    "unaligned": ("#c4500a", "#ff9152"),
    "consensus": ("#0069a8", "#5bb8f5"),
    "rotated": ("#6f4aa8", "#c3a1f7"),
    "concat": ("#6b737c", "#a9b1ba"),
}
MARKS = {"unaligned": "o", "consensus": "o", "rotated": "D", "concat": "|"}
MINUS = "\N{MINUS SIGN}"
Task = tuple[str, str, int]
# Mean and standard deviation of every way, by data set and adapter.
Rows = dict[tuple[str, str], npt.NDArray[np.float64]]


def score_all(task: Task) -> list[float]:
    """ACC in % of every way of fusing the graphs of one draw."""
    path, adapter, seed = task
    data = load_views(path)
    if data.labels is None:
        raise SystemExit(f"{path} has no labels, which the accuracy needs.")
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "random_state": seed}
    with threadpool_limits(1):
        fitted = AlignedClusterer(adapter, **options).fit(data.views)
        made = fitted.adapter_
        # The same match and embedding as in the fit.
        shared = ("match_by_clusters", "column_scaling", "directions")
        options["adapter_params"] = {name: getattr(made, name) for name in shared}
        graphs = fitted.anchor_graphs_.graphs
        fits = (AlignedClusterer("precomputed", **options, **way).fit(graphs) for way in WAYS.values())
        return [100 * acc(data.labels, fit.labels_) for fit in fits]


def run(paths: list[str], adapters: list[str], draws: int, jobs: int, keep: Path | None) -> Rows:
    """Means and deviations of all rows; kept rows are not computed again."""
    known: dict[str, Any] = json.loads(keep.read_text()) if keep and keep.exists() else {}
    rows: Rows = {}
    with ProcessPoolExecutor(jobs) as pool:
        for path, adapter in itertools.product(paths, adapters):
            key = f"{Path(path).stem} {adapter}"
            if key not in known:
                scores = np.array(list(pool.map(score_all, [(path, adapter, seed) for seed in range(draws)])))
                mean, sd = scores.mean(axis=0).round(4), scores.std(axis=0, ddof=1).round(4)
                first = scores[0].round(4)  # for those who want to compare one draw
                known[key] = {"draws": draws, "mean": mean.tolist(), "sd": sd.tolist(), "first": first.tolist()}
                print(f"finished: {key}", file=sys.stderr)
                if keep:
                    keep.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in known.items()) + "\n}\n")
            rows[Path(path).stem.replace("_", " "), adapter] = np.array([known[key]["mean"], known[key]["sd"]])
    return rows


def print_tables(rows: Rows, adapters: list[str]) -> None:
    """All means in Markdown, then the mean, rank and differences for each method."""
    head = "| data | method | " + " | ".join(WAYS) + " |\n|---|---" + "|---:" * len(WAYS) + "|"
    print(head)
    for (name, adapter), (means, deviations) in rows.items():
        cells = (f"{mean:.1f} ± {sd:.1f}" for mean, sd in zip(means, deviations, strict=True))
        print(f"| {name} | {adapter} | " + " | ".join(_bold_highest(list(cells), means)) + " |")
    for adapter in adapters:
        means = _by_data(rows, adapter)
        ranks = rankdata(-np.round(means, 1), axis=1).mean(axis=0)
        total = means.mean(axis=0)
        print(f"| **mean** | {adapter} | " + " | ".join(_bold_highest([f"{x:.1f}" for x in total], total)) + " |")
        print(f"| mean rank | {adapter} | " + " | ".join(_bold_highest([f"{x:.2f}" for x in ranks], -ranks)) + " |")
    print("\n| difference in points of ACC, paired by data set | " + " | ".join(adapters) + " | all |")
    print("|---|" + "---|" * (len(adapters) + 1))
    for better, worse in (("consensus", "unaligned"), ("rotated", "unaligned"), ("consensus", "concat"),
                          ("rotated", "consensus"), ("rotated", "concat")):  # fmt: skip
        groups = [_by_data(rows, adapter) for adapter in adapters]
        cells = (_difference(means, better, worse) for means in [*groups, np.mean(groups, axis=0)])
        print(f"| {better} {MINUS} {worse} | " + " | ".join(cells) + " |")


def _by_data(rows: Rows, adapter: str) -> npt.NDArray[np.float64]:
    """Means over the draws, data sets x ways."""
    return np.array([means for (_, used), (means, _) in rows.items() if used == adapter])


def _bold_highest(cells: list[str], values: npt.NDArray[np.float64]) -> list[str]:
    top = np.round(values, 1) == np.round(values.max(), 1)
    return [f"**{cell}**" if bold else cell for cell, bold in zip(cells, top, strict=True)]


def _difference(means: npt.NDArray[np.float64], better: str, worse: str) -> str:
    at = list(WAYS)
    one, other = (means[:, at.index(way)] for way in (better, worse))
    found = paired_difference(one, other, arms=(better, worse))
    shown = [f"{round(x, 1) + 0.0:+.1f}" for x in (found.mean, found.low, found.high) if x is not None]  # no minus zero
    return shown[0].replace("-", MINUS) + (f" ({shown[1]} to {shown[2]})".replace("-", MINUS) if shown[1:] else "")


def draw_pictures(rows: Rows, adapters: list[str], path: Path) -> None:
    """One for light and one for dark pages."""
    import matplotlib.style

    for name, theme in ((path.name, "default"), (f"{path.stem}_dark{path.suffix}", "dark_background")):
        dark = theme != "default"
        with matplotlib.style.context(theme):
            figure = draw_picture(rows, adapters, dark=dark)
            figure.savefig(path.with_name(name), dpi=150, metadata={"Software": None}, transparent=dark)


def draw_picture(rows: Rows, adapters: list[str], *, dark: bool) -> Figure:
    """A panel for each method, a line for each data set, sorted by the accuracy of rotation."""
    from matplotlib.figure import Figure

    faint = "#3b424b" if dark else "#d3d8de"
    names = list(dict.fromkeys(name for name, _ in rows))
    order = sorted(names, key=lambda name: np.mean([rows[name, a][0][4] for a in adapters]))
    figure = Figure(figsize=(2.4 + 2.3 * len(adapters), 1.2 + 0.27 * len(names)), layout="constrained")
    panels = figure.subplots(1, len(adapters), sharex=True, sharey=True, squeeze=False)[0]
    for axes, adapter in zip(panels, adapters, strict=True):
        for line, name in enumerate(order):
            means = dict(zip(WAYS, rows[name, adapter][0], strict=True))
            axes.plot([means["unaligned"], means["rotated"]], [line, line], color=faint, lw=2, zorder=1)
            for way, colours in COLOURS.items():
                size = 90 if MARKS[way] == "|" else 30
                axes.scatter(means[way], line, color=colours[dark], marker=MARKS[way], s=size, zorder=2, label=way)
        axes.set(yticks=range(len(order)), yticklabels=order, xlabel="ACC, %", ylim=(-0.6, len(order) - 0.4))
        axes.set_title(adapter, loc="left")
        axes.grid(axis="x", color=faint, lw=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    handles, labels = axes.get_legend_handles_labels()
    texts = {"consensus": "aligned", "concat": "concat (as wide as all graphs together)"}
    found = {texts.get(str(label), str(label)): handle for label, handle in zip(labels, handles, strict=True)}
    figure.legend(list(found.values()), list(found), loc="outside upper right", ncols=4, frameon=False)
    return figure


def main() -> None:
    """Score all draws, print the tables and, if asked for, draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=list(DEFAULT_DATA))
    parser.add_argument("--adapters", nargs="+", default=list(ADAPTERS), metavar="NAME", help="methods [all three]")
    parser.add_argument("--draws", type=int, default=5, help="draws of anchors, 2 or more [5]")
    parser.add_argument("--jobs", type=int, default=1, help="processes [1]")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep finished rows in this file")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a picture to this file")
    arguments = parser.parse_args()
    if arguments.draws < 2 or arguments.jobs < 1:
        parser.error("--draws must be 2 or more, --jobs 1 or more")
    try:
        rows = run(arguments.data, arguments.adapters, arguments.draws, arguments.jobs, arguments.keep)
    except AnchorAlignError as error:
        parser.error(str(error))
    print_tables(rows, arguments.adapters)
    if arguments.picture:
        draw_pictures(rows, arguments.adapters, arguments.picture)


if __name__ == "__main__":
    main()
