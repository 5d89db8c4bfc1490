"""The paper's ablation: gain from alignment and from orthogonal anchors, on three footings, beside published numbers.

All arms of a draw use the same anchors. fixed: m = 2k, alpha = 1, beta = 1. best of grid: the setting with the highest
mean ACC by label (m in k, 2k, 5k; alpha or beta in 0.01, 1, 100). best, each draw: the highest ACC in every draw, as in
the paper. NMI, F-score and purity are those of the setting with the highest ACC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from formats import DASH, difference, fixed, listed, mean_sd, padded_table, signed, span
from paper_numbers import NOT_ORTHOGONAL, number, published
from released_rounding import WEIGHTS as RELEASED
from results import Bench

from anchor_align.study import Record, Setting, StudyProgress, StudyResult, compare, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = {"3-Sources": "3-Sources", "UCI-Digit": "UCI-Digit_3v", "BDGP": "BDGP_3v"}
METHODS = ("lmvsc", "fmvacc")
DRAWS = 10
ANCHORS = ("k", "2k", "5k")
WEIGHTS = (0.01, 1.0, 100.0)
SCORES = {"acc": "ACC", "nmi": "NMI", "fscore": "F-score", "purity": "purity"}
FOOTINGS = FIXED, BEST, EACH_DRAW = ("fixed", "best of grid", "best, each draw")
# Columns of the tables and their arms: the one with fixed settings first.
COLUMNS = {
    "unaligned": ("unaligned",),
    "aligned": ("aligned",),
    "released": ("released-1", *(name for name in RELEASED if name != "released-1")),
    "rotated": ("rotated",),
    "concat": ("concat",),
}
PICTURES = ("paper_ablation.png",)
MARKS = {
    "unaligned": ("#c4500a", "o"), "aligned": ("#0069a8", "o"), "released": ("#0069a8", "s"),
    "rotated": ("#6f4aa8", "D"), "concat": ("#6b737c", "|"),
}  # fmt: skip
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Claim:
    """An accuracy that a method's own paper reports, how it fuses, and the grid that the paper searches."""

    data: str
    file: str
    method: str
    arm: str
    accuracy: str
    n_anchors: tuple[int, ...]
    params: dict[str, list[float | None]] = field(default_factory=dict)


# Kang et al., AAAI 2020, and Li et al., TPAMI 2022.
CLAIMS = (
    Claim(
        *("Handwritten", "mfeat", "lmvsc", "concat", "91.65", (10, 50, 100)),
        {"alpha": [0.01, 1.0, 100.0], "scale": [None], "n_init": [10]},
    ),
    Claim("MSRC-v1", "MSRC-v1", "sfmc", "aligned", "80.9", (105,)),
)


def run(bench: Bench) -> dict[str, Any]:
    """Run the study of the paper's data sets, and those of the methods' own papers."""

    def study(methods: Sequence[str], data: Mapping[str, str], **grid: Any) -> StudyResult:
        def show(progress: StudyProgress) -> None:
            bench.report(f"{', '.join(methods)}: {progress.done} of {progress.total} runs")

        return compare(methods, data, repeats=DRAWS, cache=bench.cache, callback=show, **grid)

    main = study(
        METHODS,
        {name: bench.path(file) for name, file in DATA.items()},
        n_anchors=ANCHORS,
        params={"alpha": WEIGHTS, "beta": WEIGHTS, "orthogonal": [True, False]},
        rotated=True,
        fusions=list(RELEASED),
        plugins=str(Path(__file__).with_name("released_rounding.py")),
    )
    own = []
    for claim in CLAIMS:
        source = {claim.data: bench.path(claim.file)}
        found = study([claim.method], source, n_anchors=claim.n_anchors, params=claim.params)
        own.append({"data": claim.data, "acc": best_in_each_draw(found.records, claim.arm)})
    data = [
        {"data": each.name, "n": each.n_samples, "k": each.n_clusters, "views": len(each.views)} for each in main.data
    ]
    columns = ["data", "method", "m", "weight", "arm", *SCORES]
    return {"draws": DRAWS, "data": data, "columns": columns, "rows": rows_of(main.records), "own": own}


def rows_of(records: Iterable[Record]) -> list[list[Any]]:
    """A row for each setting and arm, with each score in all draws; of anchors that are not orthogonal only aligned."""
    rows: dict[tuple[Any, ...], list[list[float]]] = {}
    for record in records:
        if record.scores is None:
            raise RuntimeError(f"{record.setting}, {record.arm}: {record.reason}")
        setting = record.setting
        (weight,) = (value for name, value in setting.params if name in ("alpha", "beta"))
        key = (setting.dataset, method_of(setting), setting.n_anchors, weight, record.arm)
        if record.arm == "aligned" or method_of(setting) != NOT_ORTHOGONAL:
            rows.setdefault(key, []).append([record.scores[score] for score in SCORES])
    return [[*key, *np.transpose(scores).tolist()] for key, scores in rows.items()]


def method_of(setting: Setting) -> str:
    """Name of an adapter and setting in the tables."""
    return NOT_ORTHOGONAL if ("orthogonal", False) in setting.params else setting.adapter


def best_in_each_draw(records: Iterable[Record], arm: str) -> list[float]:
    """The highest ACC of an arm in every draw."""
    best: dict[int, float] = {}
    for record in records:
        if record.arm == arm and record.scores is not None:
            best[record.repeat] = max(best.get(record.repeat, 0.0), record.scores["acc"])
    return list(best.values())


def runs_of(result: Any, data: str, method: str, column: str) -> list[dict[str, Any]]:
    """All settings of a column, the fixed arm's first."""
    named = [dict(zip(result["columns"], row, strict=True)) for row in result["rows"]]
    mine = [run for run in named if (run["data"], run["method"]) == (data, method) and run["arm"] in COLUMNS[column]]
    return sorted(mine, key=lambda run: COLUMNS[column].index(run["arm"]))


def settings(result: Any, data: str, method: str, column: str, footing: str) -> list[dict[str, Any]]:
    """The setting that counts on a footing, for every draw."""
    runs = runs_of(result, data, method, column)
    acc = np.array([run["acc"] for run in runs])
    if footing == FIXED:
        (k,) = (each["k"] for each in result["data"] if each["data"] == data)
        chosen = [next(run for run in runs if (run["m"], run["weight"]) == (2 * k, 1.0))] * acc.shape[1]
    elif footing == BEST:
        chosen = [runs[np.round(acc.mean(axis=1), 9).argmax()]] * acc.shape[1]
    else:
        chosen = [runs[place] for place in acc.argmax(axis=0)]
    return chosen


def scores(result: Any, data: str, method: str, column: str, footing: str, score: str = "acc") -> list[float]:
    """A score in % in all draws."""
    chosen = settings(result, data, method, column, footing)
    return [100 * run[score][draw] for draw, run in enumerate(chosen)]


def mean(result: Any, data: str, method: str, column: str, footing: str, score: str = "acc") -> float:
    """Mean over the draws."""
    return float(np.mean(scores(result, data, method, column, footing, score)))


def rows(result: Any) -> list[tuple[str, str]]:
    """Data sets and methods of the main tables."""
    return [(each["data"], method) for each in result["data"] for method in METHODS]


def means(result: Any, column: str, footing: str) -> Array:
    """Mean ACC of all rows, as shown."""
    return np.array([mean(result, *row, column, footing) for row in rows(result)]).round(1)


def above(result: Any, one: str, other: str) -> list[tuple[str, str, str]]:
    """Rows of the table in which a column has a higher mean ACC than another one."""
    higher = {footing: means(result, one, footing) > means(result, other, footing) for footing in FOOTINGS}
    return [(*row, each) for each in FOOTINGS for row, found in zip(rows(result), higher[each], strict=True) if found]


def count_clear(result: Any, one: str, other: str, footing: str) -> int:
    """Rows in which the interval of one - other is above zero."""
    lows = [
        paired_difference(scores(result, *row, one, footing), scores(result, *row, other, footing)).low
        for row in rows(result)
    ]
    return sum(low is not None and low > 0 for low in lows)


def gains(result: Any, footing: str, one: str = "aligned", other: str = "unaligned") -> Array:
    """Mean differences of two columns in all rows."""
    return np.array([mean(result, *row, one, footing) - mean(result, *row, other, footing) for row in rows(result)])


def each_draw(result: Any, method: str) -> str:
    """Aligned ACC of a method, chosen in each draw, on all data sets."""
    return listed(mean(result, each["data"], method, "aligned", EACH_DRAW) for each in result["data"])


def published_acc(result: Any, method: str) -> str:
    """Published ACC of a method, aligned, without deviations."""
    texts = (published(each["data"], "acc", method, "aligned") or DASH for each in result["data"])
    return listed(text.partition(" ")[0] for text in texts)


def count_largest_c(result: Any) -> int:
    """Rows in which the released alignment is best with the largest weight of the feature term."""
    chosen = [settings(result, *row, "released", BEST)[0] for row in rows(result)]
    return sum(RELEASED[run["arm"]] == max(RELEASED.values()) for run in chosen)


def distance(result: Any, column: str, method: str) -> float:
    """Mean distance of a method's ACC, chosen in each draw, from the published aligned ones."""
    pairs = [
        (mean(result, each["data"], method, column, EACH_DRAW), published(each["data"], "acc", method, "aligned") or "")
        for each in result["data"]
    ]
    return float(np.mean([abs(ours - number(theirs)) for ours, theirs in pairs]))


def published_gain(data: str, score: str, method: str) -> str:
    """Published aligned - unaligned in points."""
    before, after = (published(data, score, method, arm) for arm in ("unaligned", "aligned"))
    return signed(number(after) - number(before)) if before and after else DASH


def sizes(result: Any) -> str:
    """Samples, clusters and views of the data sets."""
    return "; ".join(
        f"{each['data']}: n = {each['n']}, k = {each['k']}, {each['views']} views" for each in result["data"]
    )


def alignment_table(result: Any, score: str) -> str:
    """A score of all columns on all footings, and the published numbers."""
    lines = []
    for row in rows(result):
        for footing in FOOTINGS:
            cells = [mean_sd(scores(result, *row, each, footing, score)) for each in COLUMNS]
            lines.append([*row, footing, *cells])
        said = [published(row[0], score, row[1], column) for column in COLUMNS]
        if any(said):
            lines.append([*row, "published", *(text or DASH for text in said)])
    return padded_table(["data", "method", "footing", *COLUMNS], lines, "lll" + "r" * len(COLUMNS))


def paired(one: Sequence[float], other: Sequence[float], footing: str) -> str:
    """Mean difference, with its interval where each arm has one setting."""
    return signed(float(np.mean(np.subtract(one, other)))) if footing == EACH_DRAW else difference(one, other)


def gain_table(result: Any) -> str:
    """Aligned - unaligned for all scores and footings."""
    lines = []
    for score, title in SCORES.items():
        for row in rows(result):
            cells = []
            for footing in FOOTINGS:
                one, other = (scores(result, *row, arm, footing, score) for arm in ("aligned", "unaligned"))
                cells.append(paired(one, other, footing))
            lines.append([title, *row, *cells, published_gain(row[0], score, row[1])])
    return padded_table(["score", "data", "method", *FOOTINGS, "published"], lines, "lllrrrr")


def settings_table(result: Any) -> str:
    """The setting with the highest mean ACC, for each column."""
    lines = []
    for row in rows(result):
        name = {"lmvsc": "alpha", "fmvacc": "beta"}[row[1]]
        cells = []
        for column in COLUMNS:
            chosen = settings(result, *row, column, BEST)[0]
            c = f", c = {RELEASED[chosen['arm']]:g}" if chosen["arm"] in RELEASED else ""
            acc = fixed(mean(result, *row, column, BEST))
            cells.append(f"m = {chosen['m']}, {name} = {chosen['weight']:g}{c}: {acc}")
        lines.append([*row, *cells])
    return padded_table(["data", "method", *COLUMNS], lines, "ll" + "l" * len(COLUMNS))


def orthogonal_scores(result: Any, data: str, footing: str, score: str = "acc") -> list[list[float]]:
    """Scores of fmvacc, aligned, without and with orthogonal anchors."""
    return [scores(result, data, method, "aligned", footing, score) for method in (NOT_ORTHOGONAL, "fmvacc")]


def orthogonal_gains(result: Any, footings: Sequence[str]) -> list[float]:
    """Mean gain in ACC from orthogonal anchors, for each footing and data set."""
    found = [orthogonal_scores(result, each["data"], footing) for footing in footings for each in result["data"]]
    return [float(np.mean(tight) - np.mean(loose)) for loose, tight in found]


def without_orthogonality(result: Any) -> str:
    """ACC of fmvacc, aligned, without orthogonal anchors, at the best setting of the grid."""
    return listed(mean(result, each["data"], NOT_ORTHOGONAL, "aligned", BEST) for each in result["data"])


def published_orthogonal_gains(result: Any) -> str:
    """Least and largest published gain in ACC from orthogonal anchors."""
    pairs = [
        [published(each["data"], "acc", method, "aligned") or "" for method in ("fmvacc", NOT_ORTHOGONAL)]
        for each in result["data"]
    ]
    return span(number(tight) - number(loose) for tight, loose in pairs)


def orthogonal_table(result: Any, score: str) -> str:
    """Aligned fmvacc with and without orthogonal anchors."""
    lines = []
    for data in (each["data"] for each in result["data"]):
        for footing in FOOTINGS:
            loose, tight = orthogonal_scores(result, data, footing, score)
            lines.append([data, footing, mean_sd(loose), mean_sd(tight), paired(tight, loose, footing)])
        said = [published(data, score, method, "aligned") or "" for method in (NOT_ORTHOGONAL, "fmvacc")]
        if all(said):
            lines.append([data, "published", *said, signed(number(said[1]) - number(said[0]))])
    return padded_table(["data", "footing", "not orthogonal", "orthogonal", "difference"], lines, "llrrr")


def own_table(result: Any) -> str:
    """ACC of methods in their own papers."""
    lines = []
    for claim in CLAIMS:
        (found,) = (each["acc"] for each in result["own"] if each["data"] == claim.data)
        grid: dict[str, Sequence[float | None]] = {"m": claim.n_anchors, **claim.params}
        texts = [
            f"{name} {'in' if len(each) > 1 else '='} {', '.join('None' if v is None else f'{v:g}' for v in each)}"
            for name, each in grid.items()
        ]
        ours = mean_sd([100 * acc for acc in found])
        lines.append([claim.data, claim.method, claim.arm, "; ".join(texts), claim.accuracy, ours])
    return padded_table(["data", "method", "fusion", "grid", "published", "ours"], lines, "llllrr")


def draw(result: Any) -> dict[str, Figure]:
    """A panel for each of two footings, a line for each data set and method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for axes, footing in zip(figure.subplots(1, 2, sharex=True, sharey=True), (FIXED, EACH_DRAW), strict=True):
        places = range(len(rows(result)))[::-1]
        for column, (colour, mark) in MARKS.items():
            size, face = (90 if mark == "|" else 30), ("none" if column == "released" else colour)
            found = means(result, column, footing)
            axes.scatter(found, places, marker=mark, s=size, color=colour, facecolor=face, label=column, zorder=2)
        if footing == EACH_DRAW:
            theirs = [number(published(data, "acc", method, "aligned") or "") for data, method in rows(result)]
            axes.scatter(theirs, places, marker="x", color="black", s=30, label="published, aligned", zorder=3)
        axes.set(yticks=places, yticklabels=[f"{data}, {method}" for data, method in rows(result)], xlabel="ACC, %")
        axes.set_title("fixed settings" if footing == FIXED else "settings chosen by label in each draw", loc="left")
        axes.grid(color="#d3d8de", lw=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    handles, texts = axes.get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper right", ncols=len(texts), frameon=False)
    return {PICTURES[0]: figure}
