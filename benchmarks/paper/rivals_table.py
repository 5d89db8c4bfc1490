"""The paper's tables of scores and running times: ten methods and what people use anyway, published and ours.

All methods get the same data, numbers of clusters and seeds, and have their default settings: nothing is chosen by
label. Published numbers are the best of a grid by label, from one draw of anchors. Times are multiples of those of
fmvacc on the same data and machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from formats import DASH, fixed, padded_table
from paper_numbers import main_table as published_table
from paper_numbers import number, published_seconds
from results import Bench

from anchor_align import get_adapter
from anchor_align.study import DataSpec, average_ranks, compare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 9
DATA = {
    "3-Sources": "3-Sources", "UCI-Digit": "UCI-Digit_3v", "BDGP": "BDGP_3v", "MSRC-v1": "MSRC-v1",
    "BBCSport": "BBCSport",
}  # fmt: skip
DRAWS = 5
TIMEOUT = 60  # seconds
# Columns of the paper's tables, and the methods of this study that they are. LMVSC puts its graphs side by side.
PAPER = {
    "msc-ias": "MSC-IAS",
    "amgl": "AMGL",
    "pmsc": "PMSC",
    "rmkm": "RMKM",
    "bmvc": "BMVC",
    "lmvsc:concat": "LMVSC",
    "fmcnof": "FMCNOF",
    "msgl-given": "MSGL",
    "sfmc": "SFMC",
    "fmvacc": "FMVACC",
}
OTHERS = ("fmvacc:unaligned", "local", "kmeans", "spectral")
SCORES = ("acc", "nmi", "fscore")
PICTURES = ("paper_ranks.png",)
STATES = {"memory": "OM", "timeout": "timeout"}


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set and method, and the average ranks."""
    # Objects in a dict: the same class with two settings has two names. MSGL as published takes anchors as they come.
    given = {"msgl-given": get_adapter("msgl", order="given"), "msgl-aligned": get_adapter("msgl", order="aligned")}
    named = [each for each in (*PAPER, *OTHERS) if each not in (*given, "fmvacc")]
    found = compare(
        "fmvacc",
        [DataSpec(bench.path(file), name=name) for name, file in DATA.items()],
        against=[*named, given],
        repeats=DRAWS,
        score=SCORES,
        timeout=TIMEOUT,
        cache=bench.cache,
    )
    own = {row.dataset: row.seconds for row in found.against if row.method.name == "fmvacc"}
    rows = []
    for row in found.against:
        summary, first = row.summary, own[row.dataset]
        means, sds = (summary.mean, summary.sd) if summary is not None else ({}, {})
        scores = {score: [100 * means[score], 100 * sds[score]] if score in sds else None for score in SCORES}
        time = row.seconds / first if row.seconds and first else None
        rows.append({"data": row.dataset, "method": row.method.name, "status": row.status, **scores, "time": time})
    ranks = {score: average_ranks(found.against, score) for score in SCORES}
    return {
        "draws": DRAWS,
        "timeout": TIMEOUT,
        "rows": rows,
        "ranks": {score: dict(each.ranks) for score, each in ranks.items() if each is not None},
        "critical_difference": next((each.critical_difference for each in ranks.values() if each is not None), None),
    }


def methods(result: Any) -> list[str]:
    """All methods, in the order of the tables."""
    return list(dict.fromkeys(row["method"] for row in result["rows"]))


def row_of(result: Any, data: str, method: str) -> Any:
    """The row of a method on a data set."""
    (row,) = (row for row in result["rows"] if (row["data"], row["method"]) == (data, method))
    return row


def mean(result: Any, method: str, data: str) -> float:
    """Mean ACC over the draws."""
    return float(row_of(result, data, method)["acc"][0])


def published(method: str, data: str) -> float:
    """Published ACC of a method, by its name in the paper."""
    return number(published_table("acc")[data][method])


def ahead(result: Any, one: str, other: str, *data: str) -> list[float]:
    """Mean ACC of a method less that of another one."""
    return [mean(result, one, each) - mean(result, other, each) for each in data or DATA]


def below_published(result: Any, method: str, *data: str) -> list[float]:
    """Published ACC of a method less ours."""
    return [published(PAPER[method], each) - mean(result, method, each) for each in data]


def published_ahead(one: str, other: str, *data: str) -> list[float]:
    """The same of the published numbers."""
    return [published(one, each) - published(other, each) for each in data]


def stronger(result: Any) -> list[float]:
    """By how much AMGL and MSC-IAS on 3-Sources, and RMKM and PMSC on two sets, are above their published ACC."""
    both = ("3-Sources", "UCI-Digit")
    found = {"amgl": both[:1], "msc-ias": both[:1], "rmkm": both, "pmsc": both}
    return [-each for method, data in found.items() for each in below_published(result, method, *data)]


def furthest(result: Any, *names: str) -> float:
    """Largest distance from the published ACC on 3-Sources and UCI-Digit."""
    return max(abs(each) for name in names for each in below_published(result, name, "3-Sources", "UCI-Digit"))


def count(result: Any, outcome: str) -> int:
    """Comparisons in which fmvacc is "higher", "lower", or all of them."""
    found = [each for other in methods(result) if other != "fmvacc" for each in ahead(result, "fmvacc", other)]
    return sum(outcome == "all" or (each > 0 if outcome == "higher" else each < 0) for each in found)


def clearly_below(result: Any, best: str) -> list[str]:
    """Methods whose average rank in ACC is further from the best one than the critical difference."""
    ranks = result["ranks"]["acc"]
    return [name for name, rank in ranks.items() if rank - ranks[best] > result["critical_difference"]]


def msgl_gain(result: Any, data: str) -> float:
    """What aligned anchors gain inside MSGL at its default scale."""
    return ahead(result, "msgl-aligned", "msgl-given", data)[0]


def msgl_gains(result: Any) -> list[float]:
    """The same on all data sets, the largest gain first."""
    return sorted((msgl_gain(result, each) for each in DATA), reverse=True)


def score_table(result: Any, score: str) -> str:
    """A line for each method; published and ours side by side for each data set."""

    def ours(row: Any) -> str:
        return " ± ".join(map(fixed, row[score])) if row[score] else STATES.get(row["status"], row["status"])

    known = published_table(score)
    return _table(result, lambda data, method: known[data].get(PAPER.get(method, ""), DASH), ours)


def time_table(result: Any) -> str:
    """Times as multiples of that of fmvacc."""
    known = published_seconds()

    def theirs(data: str, method: str) -> str:
        seconds = known[data].get(PAPER.get(method, ""))
        return _ratio(seconds / known[data]["FMVACC"] if seconds else None)

    return _table(result, theirs, lambda row: _ratio(row["time"]))


def _table(result: Any, theirs: Callable[[str, str], str], ours: Callable[[Any], str]) -> str:
    known = published_table("acc")
    head = ["method"]
    for data in DATA:
        head += [f"{data} pub", f"{data} ours"] if data in known else [data]
    lines = []
    for method in methods(result):
        line = [method]
        for data in DATA:
            line += [theirs(data, method)] if data in known else []
            line.append(ours(row_of(result, data, method)))
        lines.append(line)
    return padded_table(head, lines, "l" + "r" * (len(head) - 1))


def _ratio(value: float | None) -> str:
    if value is None:
        return DASH
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def rank_table(result: Any) -> str:
    """Average ranks of all methods."""
    ranks = result["ranks"]
    lines = [[name, *(fixed(ranks[score][name], 2) for score in SCORES)] for name in ranks["acc"]]
    return padded_table(["method", *map(str.upper, SCORES)], lines, "lrrr")


def draw(result: Any) -> dict[str, Figure]:
    """Average ranks in ACC; methods in the band are not told apart from the best."""
    from matplotlib.figure import Figure

    ranks = result["ranks"]["acc"]
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    places = range(len(ranks))
    axes.axvspan(min(ranks.values()), min(ranks.values()) + result["critical_difference"], color="#eef1f4")
    axes.hlines(places, 1, list(ranks.values()), color="#d3d8de", lw=0.8)
    colours = ["#0069a8" if name == "fmvacc" else "#333333" for name in ranks]
    axes.scatter(list(ranks.values()), places, color=colours, zorder=2)
    axes.set(yticks=places, yticklabels=list(ranks), xlim=(1, None), xlabel="average rank in ACC, 1 is best")
    axes.invert_yaxis()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return {PICTURES[0]: figure}
