"""What alignment gains, whether anchors correspond better than by chance, and what the structure term does.

Six data sets and two methods with two anchors for each cluster. A row has the mean cosine of the aligned graphs with
the graph of view 0, the same with the samples of the other views shuffled (what a match reaches by chance), and the
accuracy of every draw: unaligned, aligned with several values of ``lam``, and concatenated.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from formats import fixed, signed, table
from results import Bench

from anchor_align import AlignedClusterer, AnchorAligner, load_views
from anchor_align.study import Difference, compare, compare_rows

MINUTES = 3
DATA = ("UCI-Digit_3v", "digits", "MSRC-v1", "BBCSport", "3-Sources", "BDGP_3v")
METHODS = ("lmvsc", "fmvacc")
LAMS = {"lam 0": 0.0, "lam 0.1": 0.1, "lam 1": 1.0, "lam 10": 10.0, "lam inf": float("inf")}
ANCHORS = "2k"
DRAWS, COSINE_DRAWS = 10, 5


def cosines(path: str, method: str) -> dict[str, float]:
    """Mean cosine of aligned graphs with the graph of view 0: original, and with shuffled samples."""
    data, found = load_views(path), []
    for seed in range(COSINE_DRAWS):
        rng = np.random.default_rng(seed)
        clusterer = AlignedClusterer(method, n_clusters=data.n_clusters or 0, random_state=seed)
        first, *others = clusterer.fit(data.views).anchor_graphs_.graphs
        strangers = [Z[rng.permutation(len(Z))] for Z in others]
        aligners = [AnchorAligner(reference=0).fit([first, *Zs]) for Zs in (others, strangers)]
        found.append([aligner.feature_[1:].mean() for aligner in aligners])
    cosine, shuffled = np.mean(found, axis=0).tolist()
    return {"cosine": cosine, "shuffled": shuffled}


def accuracies(path: str, method: str, bench: Bench) -> dict[str, list[float]]:
    """Accuracy of every draw: unaligned, aligned with each ``lam``, and concatenated."""
    lams = list(LAMS.values())
    found = compare([method], [path], n_anchors=ANCHORS, lam=lams, repeats=DRAWS, cache=bench.cache)

    def of(arm: str, lam: float) -> list[float]:
        runs = sorted((run for run in found.records if run.arm == arm), key=lambda run: run.repeat)
        chosen = [run for run in runs if run.setting.lam == lam] or runs
        return [100 * (run.scores or {})["acc"] for run in chosen]

    aligned = {name: of("aligned", lam) for name, lam in LAMS.items()}
    return {"unaligned": of("unaligned", 0.1)[:DRAWS], **aligned, "concat": of("concat", 0.1)[:DRAWS]}


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set and method."""
    rows = []
    for name, method in itertools.product(DATA, METHODS):
        row = bench.kept(f"{name} {method}", cosines, bench.path(name), method)
        scores = accuracies(bench.path(name), method, bench)
        rows.append({"data": name, "method": method, **row, "scores": scores})
    return {"draws": DRAWS, "cosine draws": COSINE_DRAWS, "rows": rows}


def shown_name(row: Any) -> str:
    """Name of a row's data set in tables."""
    return str(row["data"]).removesuffix("_3v")


def mean(row: Any, arm: str) -> float:
    """Mean accuracy of an arm in a row."""
    return float(np.mean(row["scores"][arm]))


def at(result: Any, data: str, method: str, arm: str) -> float:
    """Mean accuracy of one cell."""
    (row,) = (row for row in result["rows"] if (row["data"], row["method"]) == (data, method))
    return mean(row, arm)


def gain(result: Any, data: str, method: str) -> float:
    """Points of the aligned mean above the unaligned one."""
    return at(result, data, method, "lam 0.1") - at(result, data, method, "unaligned")


def total(result: Any, arm: str) -> float:
    """Mean over all rows."""
    return float(np.mean([mean(row, arm) for row in result["rows"]]))


def below(result: Any, arm: str, other: str) -> int:
    """Rows in which the mean of an arm is below that of another one."""
    return sum(mean(row, arm) < mean(row, other) for row in result["rows"])


def compared(result: Any, arm: str, other: str) -> list[tuple[Any, Difference]]:
    """All rows with the difference of two arms, corrected for their number."""
    pairs = [(row["scores"][arm], row["scores"][other]) for row in result["rows"]]
    return list(zip(result["rows"], compare_rows(pairs), strict=True))


def gain_table(result: Any) -> str:
    """Cosines, accuracies, and the interval of the gain; rows without a clear difference come last."""
    rows = []
    for row, found in sorted(compared(result, "lam 0.1", "unaligned"), key=lambda each: each[1].outcome != "better"):
        interval = (
            [f"{signed(found.low)} to {signed(found.high)}"] if found.low is not None and found.high is not None else []
        )
        words = interval if found.outcome == "better" else [*interval, "no clear difference"]
        numbers = [fixed(row["cosine"], 2), fixed(row["shuffled"], 2), fixed(mean(row, "unaligned"))]
        rows.append([f"{shown_name(row)}, {row['method']}", *numbers, fixed(mean(row, "lam 0.1")), ", ".join(words)])
    head = ["data, adapter", "cosine", "shuffled", "unaligned", "aligned"]
    return table([*head, "aligned \N{MINUS SIGN} unaligned, 95 % interval"], rows)


def lam_table(result: Any) -> str:
    """Mean over all rows for every weight of the structure term."""
    arms = ("unaligned", *LAMS, "concat")
    names = ["`lam` = 0" if arm == "lam 0" else arm.removeprefix("lam ") for arm in arms]
    return table(["", *names], [["mean ACC", *(fixed(total(result, arm)) for arm in arms)]])


def concat_count(result: Any, outcome: str) -> int:
    """Rows in which concatenation is "better" or "worse" than the aligned mean, or "unclear"."""
    return sum(found.outcome == outcome for _, found in compared(result, "concat", "lam 0.1"))


def concat_rows(result: Any, outcome: str) -> str:
    """Rows in which concatenation is clearly "better" or "worse" than the aligned mean, with both accuracies."""
    cells: dict[str, list[str]] = {}
    for row, found in compared(result, "concat", "lam 0.1"):
        if found.outcome == outcome:
            text = f"{row['method']} {fixed(mean(row, 'concat'))} against {fixed(mean(row, 'lam 0.1'))}"
            cells.setdefault(shown_name(row), []).append(text)
    return " and ".join(f"{name} ({', '.join(each)})" for name, each in cells.items())
