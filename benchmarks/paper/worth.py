"""Gain from alignment: six ways of fusing the same anchor graphs, on ten data sets.

Default settings, nothing chosen by label, every view draws its own anchors. For every data set and method: the
unaligned mean of the graphs, the mean aligned to view 0, to the view that all others match best (auto), and without a
reference (consensus), the rotated mean, and concat, the graphs side by side. All use the same graphs; all except concat
have the width of one graph.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from formats import bold_highest, difference, fixed, light_and_dark, table
from results import Bench
from scipy.stats import rankdata

from anchor_align import AlignedClusterer, InputError, load_views
from anchor_align.metrics import acc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 16
DATA = (
    "FMVACC_synthetic", "3-Sources", "MSRC-v1", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "Scene-15", "100Leaves",
    "Hdigit", "MNIST-60k_4v_constructed",
)  # fmt: skip
METHODS = ("local", "lmvsc", "fmvacc")
DRAWS = 5
WAYS: dict[str, dict[str, Any]] = {
    "unaligned": {"fusion": "unaligned"},
    "view 0": {"reference": 0},
    "auto": {"reference": "auto"},
    "consensus": {"reference": "consensus"},
    "rotated": {"fusion": "rotated"},
    "concat": {"fusion": "concat"},
}
PAIRS = (
    ("consensus", "unaligned"), ("rotated", "unaligned"), ("consensus", "concat"), ("rotated", "consensus"),
    ("rotated", "concat"),
)  # fmt: skip
PICTURES = ("worth.png", "worth_dark.png")
# On light and on dark pages.
COLOURS = {
    "unaligned": ("#c4500a", "#ff9152"),
    "consensus": ("#0069a8", "#5bb8f5"),
    "rotated": ("#6f4aa8", "#c3a1f7"),
    "concat": ("#6b737c", "#a9b1ba"),
}
MARKS = {"unaligned": "o", "consensus": "o", "rotated": "D", "concat": "|"}
MINUS = "\N{MINUS SIGN}"
Array = npt.NDArray[np.float64]


def score_all(path: str, adapter: str, seed: int) -> list[float]:
    """ACC in % of every way of fusing the graphs of one draw."""
    data = load_views(path)
    if data.labels is None:
        raise InputError(f"{path} has no labels, which the accuracy needs.")
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "random_state": seed}
    fitted = AlignedClusterer(adapter, **options).fit(data.views)
    made = fitted.adapter_
    # The same match and embedding as in the fit.
    shared = ("match_by_clusters", "column_scaling", "directions")
    options["adapter_params"] = {name: getattr(made, name) for name in shared}
    graphs = fitted.anchor_graphs_.graphs
    fits = (AlignedClusterer("precomputed", **options, **way).fit(graphs) for way in WAYS.values())
    return [100 * acc(data.labels, fit.labels_) for fit in fits]


def rows_of(bench: Bench, names: Sequence[str], draws: int) -> list[dict[str, Any]]:
    """A row for each data set and method: every way's mean and deviation over the draws, and the first draw."""
    rows = []
    for name, method in itertools.product(names, METHODS):
        found = [
            bench.kept(f"{name} {method} {seed}", score_all, bench.path(name), method, seed) for seed in range(draws)
        ]
        scores = np.array(found)
        mean, sd = scores.mean(axis=0).tolist(), scores.std(axis=0, ddof=1).tolist()
        rows.append({"data": name, "method": method, "mean": mean, "sd": sd, "first": found[0]})
    return rows


def run(bench: Bench) -> dict[str, Any]:
    """Score all draws."""
    return {"draws": DRAWS, "ways": list(WAYS), "rows": rows_of(bench, DATA, DRAWS)}


def shown_name(name: str) -> str:
    """Name of a data set in tables."""
    return name.replace("_", " ")


def at(result: Any, data: str, method: str, way: str) -> float:
    """Mean ACC of one cell."""
    (row,) = (row for row in result["rows"] if (row["data"], row["method"]) == (data, method))
    return float(row["mean"][result["ways"].index(way)])


def means_of(result: Any, method: str) -> Array:
    """Means over the draws, data sets x ways."""
    return np.array([row["mean"] for row in result["rows"] if row["method"] == method])


def mean(result: Any, method: str, way: str) -> float:
    """Mean over the data sets."""
    return float(means_of(result, method).mean(axis=0)[result["ways"].index(way)])


def mean_cells(result: Any, way: str) -> list[str]:
    """Mean of a way over the data sets for each method, bold where no other way is higher."""
    cells = []
    for method in METHODS:
        values = [mean(result, method, each) for each in result["ways"]]
        cells.append(bold_highest([fixed(value) for value in values], values)[result["ways"].index(way)])
    return cells


def count(result: Any, condition: str) -> int:
    """Rows in which "unaligned is worst", or "rotated is at least concat"."""
    means = np.array([row["mean"] for row in result["rows"]]).round(1)
    way = {name: means[:, place] for place, name in enumerate(result["ways"])}
    holds = {
        "unaligned is worst": way["unaligned"] == means.min(axis=1),
        "rotated is at least concat": way["rotated"] >= way["concat"],
    }
    return int(holds[condition].sum())


def main_table(result: Any) -> str:
    """All rows, then the mean and the mean rank of every way for each method."""
    rows = []
    for row in result["rows"]:
        cells = [f"{fixed(m)} ± {fixed(sd)}" for m, sd in zip(row["mean"], row["sd"], strict=True)]
        rows.append([shown_name(row["data"]), row["method"], *bold_highest(cells, row["mean"])])
    for method in dict.fromkeys(row["method"] for row in result["rows"]):
        means = means_of(result, method)
        ranks = rankdata(-np.round(means, 1), axis=1).mean(axis=0)
        total = means.mean(axis=0)
        rows.append(["**mean**", method, *bold_highest([fixed(x) for x in total], total.tolist())])
        rows.append(["mean rank", method, *bold_highest([fixed(x, 2) for x in ranks], (-ranks).tolist(), 2)])
    return table(["data", "method", *result["ways"]], rows, names=2)


def gain_of(result: Any, better: str, worse: str) -> float:
    """Mean difference of two ways over all data sets and methods."""
    return float(np.mean([mean(result, each, better) - mean(result, each, worse) for each in METHODS]))


def gain(result: Any, better: str, worse: str, method: str | None = None) -> str:
    """Difference of two ways with its interval, paired by data set; without a method, of the mean over the methods."""
    methods = list(dict.fromkeys(row["method"] for row in result["rows"])) if method is None else [method]
    means = np.mean([means_of(result, each) for each in methods], axis=0)
    return difference(*(means[:, result["ways"].index(way)].tolist() for way in (better, worse)))


def difference_table(result: Any) -> str:
    """Pairs of ways, for each method and for all together."""
    methods = list(dict.fromkeys(row["method"] for row in result["rows"]))
    rows = [
        [f"{better} {MINUS} {worse}", *(gain(result, better, worse, each) for each in (*methods, None))]
        for better, worse in PAIRS
    ]
    return table(["difference in points of ACC, paired by data set", *methods, "all"], rows)


def draw(result: Any) -> dict[str, Figure]:
    """One picture for light and one for dark pages."""
    return light_and_dark(PICTURES, partial(_picture, result))


def _picture(result: Any, *, dark: bool) -> Figure:
    """A panel for each method, a line for each data set, sorted by the accuracy of rotation."""
    from matplotlib.figure import Figure

    faint = "#3b424b" if dark else "#d3d8de"
    names = list(dict.fromkeys(row["data"] for row in result["rows"]))
    order = sorted(names, key=lambda name: np.mean([at(result, name, method, "rotated") for method in METHODS]))
    figure = Figure(figsize=(2.4 + 2.3 * len(METHODS), 1.2 + 0.27 * len(names)), layout="constrained")
    panels = figure.subplots(1, len(METHODS), sharex=True, sharey=True, squeeze=False)[0]
    for axes, method in zip(panels, METHODS, strict=True):
        for line, name in enumerate(order):
            ends = [at(result, name, method, way) for way in ("unaligned", "rotated")]
            axes.plot(ends, [line, line], color=faint, lw=2, zorder=1)
            for way, colours in COLOURS.items():
                size, place = 90 if MARKS[way] == "|" else 30, at(result, name, method, way)
                axes.scatter(place, line, color=colours[dark], marker=MARKS[way], s=size, zorder=2, label=way)
        labels = [shown_name(name) for name in order]
        axes.set(yticks=range(len(order)), yticklabels=labels, xlabel="ACC, %", ylim=(-0.6, len(order) - 0.4))
        axes.set_title(method, loc="left")
        axes.grid(axis="x", color=faint, lw=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    handles, texts = axes.get_legend_handles_labels()
    shown = {"consensus": "aligned", "concat": "concat (as wide as all graphs together)"}
    found = {shown.get(str(text), str(text)): handle for text, handle in zip(texts, handles, strict=True)}
    figure.legend(list(found.values()), list(found), loc="outside upper right", ncols=4, frameon=False)
    return figure
