"""The paper's Table 1: three methods on simulated data, unaligned against aligned, original against flexible anchors.

On the paper's own data every repeat is a draw of anchors; on simulated data (four clusters, two views) it is a draw of
data and anchors. There are as many anchors as clusters, as in the paper. All arms of a repeat have the same graphs:
only the fusion differs. ``alpha`` and ``beta`` run over the grids of their papers: the paper does not say which values
it compares. SFMC's original anchors are samples, the same in both views; flexible ones are found in each view and have
to be aligned. SFMC is also run with a tenth of the samples as anchors, its authors' smallest number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from formats import MINUS, fixed, table
from results import Bench

from anchor_align.data import make_simulated
from anchor_align.study import compare, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER, SIMULATED = "FMVACC_synthetic", "simulated"
DRAWS = 50
PARAMS = {"alpha": [0.01, 1.0, 100.0], "beta": [0.01, 1.0, 100.0], "anchors": ["alternate", "flexible"]}
SCORES = {"acc": "ACC", "nmi": "NMI", "fscore": "F-score"}
# As published, in %.
PUBLISHED = {
    "lmvsc": {"unaligned": ("84.06 ± 0.16", "82.18 ± 0.04", "79.69 ± 0.07"), "aligned": ("100", "100", "100")},
    "fmvacc": {"unaligned": ("70.35 ± 1.78", "72.89 ± 0.68", "70.28 ± 0.81"), "aligned": ("100", "100", "100")},
    "sfmc": {"original": ("64.50", "80.10", "73.41"), "flexible": ("97.50", "93.15", "95.12")},
}
WEIGHTS = {"lmvsc": "alpha", "fmvacc": "beta"}
BLUE = "#0069a8"
PICTURES = ("paper_simulated_differences.png",)


def run(bench: Bench) -> dict[str, Any]:
    """Both data sets; anchors as many as clusters, and SFMC with more."""
    rows = [
        *bench.kept(PAPER, rows_of, bench, PAPER, {"": bench.path(PAPER)}, DRAWS),
        *bench.kept(SIMULATED, rows_of, bench, SIMULATED, {str(n): make_simulated(n) for n in range(DRAWS)}, 1),
    ]
    return {"draws": DRAWS, "rows": rows}


def rows_of(bench: Bench, name: str, data: Mapping[str, Any], repeats: int) -> list[dict[str, Any]]:
    """A row for each setting and arm, with the scores in % of all draws of data or anchors."""
    options: dict[str, Any] = {"repeats": repeats, "cache": bench.cache}
    small = compare(["lmvsc", "fmvacc", "sfmc"], data, n_anchors="k", params=PARAMS, **options)
    tenth = small.data[0].n_samples // 10
    large = compare("sfmc", data, n_anchors=tenth, params={"anchors": PARAMS["anchors"]}, **options)
    rows: dict[tuple[Any, ...], list[list[float]]] = {}
    for record in (*small.records, *large.records):
        ((_, value),) = record.setting.params
        if value == "alternate" and record.arm != "unaligned":
            continue  # the concatenation of shared anchors is no part of SFMC
        if record.scores is None:
            raise RuntimeError(f"{record.setting}, {record.arm}: {record.reason}")
        key = (record.setting.adapter, value, record.setting.n_anchors, record.arm)
        rows.setdefault(key, []).append([100 * record.scores[score] for score in SCORES])
    names = ("method", "value", "m", "arm")
    return [
        {
            "data": name,
            **dict(zip(names, key, strict=True)),
            **dict(zip(SCORES, np.transpose(each).tolist(), strict=True)),
        }
        for key, each in rows.items()
    ]


def rows_named(result: Any, data: str, method: str, arm: str, value: Any = None, m: int | None = None) -> list[Any]:
    """Rows of a method's arm: all settings, or one."""
    return [
        row
        for row in result["rows"]
        if (row["data"], row["method"], row["arm"]) == (data, method, arm)
        and value in (None, row["value"])
        and m in (None, row["m"])
    ]


def published_mean(method: str, arm: str) -> float:
    """ACC as published."""
    return float(PUBLISHED[method][arm][0].partition(" ")[0])


def mean(row: Any, score: str = "acc") -> float:
    """Mean over the draws."""
    return float(np.mean(row[score]))


def gains(result: Any, data: str) -> list[float]:
    """Mean gain in ACC of lmvsc and fmvacc at every setting."""
    pairs = [
        zip(*(rows_named(result, data, method, arm) for arm in ("aligned", "unaligned")), strict=True)
        for method in ("lmvsc", "fmvacc")
    ]
    return [mean(aligned) - mean(unaligned) for each in pairs for aligned, unaligned in each]


def largest_loss(result: Any) -> float:
    """What unaligned lmvsc or fmvacc loses in the worst draw."""
    rows = [row for row in result["rows"] if row["method"] in WEIGHTS and row["arm"] == "unaligned"]
    return 100 - float(min(min(row["acc"]) for row in rows))


def three_scores(row: Any) -> str:
    """Mean ACC, NMI and F-score."""
    return " / ".join(fixed(mean(row, score), 2) for score in SCORES)


def count_reached(result: Any, method: str) -> int:
    """Settings at which a draw of anchors on the paper's data is as low as the published unaligned number."""
    published = published_mean(method, "unaligned")
    return sum(min(row["acc"]) <= published for row in rows_named(result, PAPER, method, "unaligned"))


def main_table(result: Any, data: str) -> str:
    """All settings of a data set, with the published numbers if it is the paper's; perfect arms are one row."""
    lines = []
    for method, said in PUBLISHED.items():
        rows = [row for row in result["rows"] if (row["data"], row["method"]) == (data, method)]
        others = [row for row in rows if row["arm"] != "unaligned"]
        alike = all(min(row[score]) == 100 for row in others for score in SCORES)
        mine = [[f"{arm}, published", *scores, ""] for arm, scores in said.items()] if data == PAPER else []
        mine += [[_title(row), *_cells(row)] for row in rows if not (alike and row in others)]
        if alike:
            flexible, which = (
                ("flexible, ", "with few and many anchors") if method == "sfmc" else ("", "all three settings")
            )
            mine.append([f"{flexible}aligned and concat, {which}", *["100 ± 0"] * len(SCORES), "100"])
        lines += [[method if line is mine[0] else "", *line] for line in mine]
    return table(["method", "arm", *SCORES.values(), "lowest ACC"], lines, names=2).replace("|  |", "| |")


def _title(row: Any) -> str:
    if row["method"] == "sfmc":
        return f"{'original' if row['value'] == 'alternate' else 'flexible, ' + row['arm']}, m = {row['m']}"
    return f"{row['arm']}, {WEIGHTS[row['method']]} = {row['value']:g}"


def _cells(row: Any) -> list[str]:
    means, sds = ([of(row[score]) for score in SCORES] for of in (np.mean, lambda each: np.std(each, ddof=1)))
    cells = [f"{mean:.2f} ± {sd:.2f}".replace("± 0.00", "± 0") for mean, sd in zip(means, sds, strict=True)]
    return [*cells, fixed(min(row["acc"]))]


def draw(result: Any) -> dict[str, Figure]:
    """Aligned - unaligned of every draw of simulated data, with mean and interval."""
    from matplotlib.figure import Figure

    rows = [row for row in result["rows"] if row["data"] == SIMULATED and row["value"] != "alternate"]
    pairs = [[row for row in rows if row["arm"] == arm] for arm in ("aligned", "unaligned")]
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    names = []
    for place, (one, other) in enumerate(zip(*pairs, strict=True)):
        found = paired_difference(one["acc"], other["acc"])
        axes.scatter(np.subtract(one["acc"], other["acc"]), [place + 0.2] * result["draws"], s=9, alpha=0.4, color=BLUE)
        if found.low is not None and found.high is not None:
            axes.plot([found.low, found.high], [place, place], color=BLUE, lw=2)
        axes.plot(found.mean, place, "D", ms=5, color=BLUE)
        value = "" if one["method"] == "sfmc" else f", {WEIGHTS[one['method']]} = {one['value']:g}"
        names.append(f"{one['method']}, m = {one['m']}{value}")
    axes.set(yticks=range(len(names)), yticklabels=names, xlabel=f"aligned {MINUS} unaligned, ACC in points")
    axes.invert_yaxis()
    axes.grid(axis="x", color="#d3d8de", lw=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return {PICTURES[0]: figure}
