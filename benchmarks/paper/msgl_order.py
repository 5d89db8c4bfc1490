"""MSGL with anchors aligned before the first round, against anchors as they come.

Both have the same anchors, seeds and settings, and samples of unit length. Only the order of the anchors differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from formats import fixed, padded_table, ranges, signed
from results import Bench

from anchor_align import get_adapter
from anchor_align.study import DataSpec, compare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 1
DATA = {"3-Sources": "3-Sources", "BBCSport": "BBCSport", "MSRC-v1": "MSRC-v1", "UCI-Digit": "UCI-Digit_3v"}
DRAWS = 8
FIRST, GIVEN = "aligned first", "as they come"
SCORES = ("acc", "nmi")
PICTURES = ("msgl.png",)
COLOURS = {FIRST: "#0069a8", GIVEN: "#c4500a"}


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set and method, and the differences."""
    orders = {order: get_adapter("msgl", order=order, scale="unit") for order in ("aligned", "given")}
    found = compare(
        {FIRST: orders["aligned"]},
        [DataSpec(bench.path(file), name=name) for name, file in DATA.items()],
        against={GIVEN: orders["given"]},
        repeats=DRAWS,
        score=list(SCORES),
        cache=bench.cache,
    )
    seconds = {row.dataset: row.seconds or 0.0 for row in found.against if row.method.name == FIRST}
    rows: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    for row in found.against:
        if row.summary is None or row.seconds is None:
            raise RuntimeError(f"{row.dataset}, {row.method.name}: {row.reason}")
        values = {score: [100 * row.summary.mean[score], 100 * row.summary.sd[score]] for score in SCORES}
        time = row.seconds / seconds[row.dataset]
        rows.append({"data": row.dataset, "method": row.method.name, **values, "time": time})
        for score in SCORES if row.method.name == GIVEN else ():
            each = row.differences[score]
            low, high = (None if end is None else 100 * end for end in (each.low, each.high))
            differences.append({
                "data": row.dataset, "score": score, "n": each.n, "mean": 100 * each.mean, "low": low, "high": high,
                "p": each.p, "verdict": each.verdict,
            })  # fmt: skip
    return {"draws": DRAWS, "rows": rows, "differences": differences}


def mean(result: Any, data: str, method: str, score: str = "acc") -> float:
    """Mean of a score over the draws."""
    (row,) = (row for row in result["rows"] if (row["data"], row["method"]) == (data, method))
    return float(row[score][0])


def gain(result: Any, data: str, score: str = "acc") -> float:
    """Mean difference, aligned first - as they come."""
    (row,) = (row for row in result["differences"] if (row["data"], row["score"]) == (data, score))
    return float(row["mean"])


def gains(result: Any, names: Iterable[str], score: str) -> list[float]:
    """The same on several data sets."""
    return [gain(result, name, score) for name in names]


def clear(result: Any) -> dict[str, float]:
    """Data sets on which alignment is clearly better, and by how much."""
    found = (row for row in result["differences"] if row["score"] == "acc" and row["verdict"] == f"{FIRST} better")
    return {row["data"]: row["mean"] for row in found}


def draw(result: Any) -> dict[str, Figure]:
    """Mean and standard deviation of both on each data set."""
    rows: dict[str, dict[str, tuple[float, float, float]]] = {}
    for row in result["rows"]:
        middle, sd = row["acc"]
        rows.setdefault(row["data"], {})[row["method"]] = (middle, middle - sd, middle + sd)
    return {PICTURES[0]: ranges(rows, COLOURS, "ACC, %")}


def main_table(result: Any) -> str:
    """Scores and times of both; the highest mean in bold."""
    lines = []
    for row in result["rows"]:
        cells = []
        for score in SCORES:
            top = max(mean(result, row["data"], method, score) for method in (FIRST, GIVEN))
            text = " ± ".join(map(fixed, row[score]))
            cells.append(f"**{text}**" if row[score][0] == top else text)
        lines.append([row["data"], row["method"], *cells, f"{row['time']:.2g}"])
    return padded_table(["data", "method", *map(str.upper, SCORES), "time"], lines, "llrrr")


def difference_table(result: Any) -> str:
    """Aligned first - as they come in ACC, with the test."""
    lines = [
        [
            *(row["data"], GIVEN, signed(row["mean"]), " to ".join(map(signed, (row["low"], row["high"])))),
            *(f"{row['p']:.2g}", str(row["n"]), row["verdict"]),
        ]
        for row in result["differences"]
        if row["score"] == "acc"
    ]
    return padded_table(["data", "method", "mean", "interval", "p", "n", "verdict"], lines, "llrrrrl")
