"""The paper's Figure 5: accuracy against lam and the number of anchors, on our scale of lam and on the paper's.

On the balanced scale, the library's default, lam weighs two cosines; on the paper's it weighs raw products, whose size
grows with the number of samples, and is run with two solvers: "ascent", the library's, and "pfp", the paper's fixed
point. All use the same graphs, drawn again for every repeat. ``exchange`` is what the paper's lam = 1 is on the
balanced scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from formats import data_name, fixed, listed, table
from results import Bench

from anchor_align import AlignedClusterer, AnchorAligner, GramMatrices, MultiViewData, load_views
from anchor_align.metrics import acc
from anchor_align.study import ArmSummary, Record, Setting, StudyResult, Summary, compare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 7
METHOD = "fmvacc"
DRAWS = 10
ANCHORS = ("k", "2k", "5k")
# Data, reference, numbers of anchors.
RUNS: tuple[tuple[str, int | str, Sequence[str]], ...] = (
    ("UCI-Digit_3v", 0, ANCHORS),
    ("3-Sources", 0, ANCHORS),
    ("BDGP_3v", 0, ANCHORS),
    ("digits", 0, ANCHORS),
    ("UCI-Digit_3v", "consensus", ANCHORS),
    ("digits", "consensus", ("2k",)),
)
BALANCED = (0.0, 0.01, 0.1, 1.0, 10.0, inf)
PAPER = (1e-4, 1.0, 1e4, inf)
SOLVERS = {"ascent": "ascent", "pfp": "fixed point"}
CONTROLS = ("unaligned", "concat")
# Lam by scale and solver: the names of the ways in the result are these three words.
GRIDS = {"balanced ascent": BALANCED, **{f"paper {solver}": PAPER for solver in SOLVERS}}
WAYS = (*CONTROLS, *(f"{name} {lam:g}" for name, lams in GRIDS.items() for lam in lams))
PICTURES = {"paper_sensitivity_uci_digit.png": "UCI-Digit_3v", "paper_sensitivity_digits.png": "digits"}


def sweep(path: str, name: str, reference: int | str, anchors: Sequence[str], cache: str) -> dict[str, Any]:
    """A row for each number of anchors, and the exchange rates of the first draws."""
    data = load_views(path)
    options: dict[str, Any] = {"n_anchors": list(anchors), "lam": list(BALANCED), "repeats": DRAWS}
    study = compare(METHOD, {name: data}, reference=reference, cache=cache, **options)
    scores: dict[Any, dict[str, list[float]]] = {}
    rates: dict[Any, list[float]] = {}
    for record in study.records:
        m, lam = record.setting.n_anchors, record.setting.lam
        row, aligned = scores.setdefault(m, {way: [] for way in WAYS}), record.arm == "aligned"
        assert record.scores is not None
        if aligned or lam == BALANCED[0]:
            row[f"balanced ascent {lam:g}" if aligned else record.arm].append(100 * record.scores["acc"])
        if record.arm == "unaligned" and lam == BALANCED[0]:
            graphs = graphs_of(data, record)
            rates.setdefault(m, exchange_rates(graphs))
            for way, score in paper_scale(data, graphs, record.seed, reference):
                row[way].append(score)
    every = [rate for found in rates.values() for rate in found]
    return {
        "rows": [
            {"data": name, "reference": reference, "anchors": m}
            | {"mean": [float(np.mean(found[way])) for way in WAYS]}
            | {"sd": [float(np.std(found[way], ddof=1)) for way in WAYS]}
            for m, found in scores.items()
        ],
        "exchange": {"data": name, "reference": reference, "low": min(every), "high": max(every)},
    }


def paper_scale(
    data: MultiViewData, graphs: Sequence[Any], seed: int, reference: int | str
) -> Iterator[tuple[str, float]]:
    """Accuracy of both solvers and all values of lam on the paper's scale, on graphs of one draw."""
    assert data.labels is not None
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "fusion": "unaligned", "random_state": seed}
    for solver in SOLVERS:
        for lam in PAPER:
            aligner = AnchorAligner(lam, lam_scale="paper", reference=reference, method=solver, random_state=seed)
            found = AlignedClusterer("precomputed", **options).fit_predict(aligner.fit_transform(graphs))
            yield f"paper {solver} {lam:g}", 100 * acc(data.labels, found)


def graphs_of(data: MultiViewData, record: Record) -> Sequence[Any]:
    """Graphs that a record of the study comes from, made again."""
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "n_anchors": record.setting.n_anchors}
    clusterer = AlignedClusterer(METHOD, fusion="unaligned", adapter_params={}, random_state=record.seed, **options)
    graphs: Sequence[Any] = clusterer.fit(data.views).anchor_graphs_.graphs
    return graphs


def exchange_rates(graphs: Sequence[Any]) -> list[float]:
    """What lam = 1 on the paper's scale is on the balanced one, for every view and the first."""
    grams = GramMatrices.from_graphs(graphs)
    sizes = [np.linalg.norm(grams.structure(view)) / grams.norms[view] for view in range(grams.n_views)]
    return [float(sizes[0] * size) for size in sizes[1:]]


def run(bench: Bench) -> dict[str, Any]:
    """Sweep all data sets."""
    parts = [
        bench.kept(f"{name} {reference}", sweep, bench.path(name), name, reference, anchors, str(bench.cache))
        for name, reference, anchors in RUNS
    ]
    return {
        **{"method": METHOD, "draws": DRAWS, "ways": list(WAYS)},
        **{"rows": [row for part in parts for row in part["rows"]], "exchange": [part["exchange"] for part in parts]},
    }


def rows_of(result: Any, reference: int | str = 0, data: str | None = None) -> list[Any]:
    """Rows with one reference, of one data set or of all."""
    return [row for row in result["rows"] if row["reference"] == reference and data in (None, row["data"])]


def means(result: Any, way: str) -> list[float]:
    """Mean accuracies of a way with the first view as reference, a value for each row."""
    return [float(row["mean"][result["ways"].index(way)]) for row in rows_of(result)]


def differences(result: Any, better: str, worse: str) -> list[float]:
    """Differences of two ways, a value for each row."""
    return [one - other for one, other in zip(means(result, better), means(result, worse), strict=True)]


def spread(result: Any, lams: Sequence[str]) -> float:
    """The largest difference that these values of lam make in a row, on the balanced scale."""
    return float(np.ptp([means(result, f"balanced ascent {lam}") for lam in lams], axis=0).max())


def at(result: Any, data: str, anchors: int, way: str, reference: int | str = 0) -> float:
    """Mean accuracy of one cell."""
    (row,) = (row for row in rows_of(result, reference, data) if row["anchors"] == anchors)
    return float(row["mean"][result["ways"].index(way)])


def best_anchors(result: Any, way: str) -> str:
    """The number of anchors with the highest mean accuracy, and the data sets where it has it."""
    place, best = result["ways"].index(way), dict[str, list[str]]()
    for name in dict.fromkeys(row["data"] for row in rows_of(result)):
        top = max(range(len(ANCHORS)), key=lambda each: rows_of(result, data=name)[each]["mean"][place])
        best.setdefault(ANCHORS[top], []).append(data_name(name))
    return listed(f"{anchors} on {listed(names)}" for anchors, names in best.items())


def cell(result: Any, row: Any, way: str) -> str:
    """Mean and standard deviation."""
    place = result["ways"].index(way)
    return f"{fixed(row['mean'][place])} ± {fixed(row['sd'][place])}"


def exchange(result: Any, data: str, reference: int | str = 0) -> str:
    """Least and largest exchange rate of a data set."""
    (found,) = (each for each in result["exchange"] if (each["data"], each["reference"]) == (data, reference))
    return f"{found['low']:.0f} to {found['high']:.0f}"


def balanced_table(result: Any, reference: int | str, only: str | None = None) -> str:
    """A row for each data set and number of anchors."""
    ways = [*(f"balanced ascent {lam:g}" for lam in BALANCED), *CONTROLS]
    rows, above = [], ""
    for row in rows_of(result, reference, only):
        name = "" if row["data"] == above else data_name(row["data"])
        rows.append([name, row["anchors"], *(cell(result, row, way) for way in ways)])
        above = row["data"]
    return table(["data", "m", *(f"lam {lam:g}" for lam in BALANCED), *CONTROLS], rows, names=1)


def paper_table(result: Any) -> str:
    """Both solvers below each other; all numbers are aligned to the right."""
    rows, above = [], ""
    for row in rows_of(result):
        for solver, name in SOLVERS.items():
            first = solver == next(iter(SOLVERS))
            names = [data_name(row["data"]) if row["data"] != above else "", row["anchors"] if first else "", name]
            rows.append([*names, *(cell(result, row, f"paper {solver} {lam:g}") for lam in PAPER)])
            above = row["data"]
    text = table(["data", "m", "solver", *(f"lam {lam:g}" for lam in PAPER)], rows, names=3)
    return text.replace("|---|---|", "|---|---:|", 1)


def draw(result: Any) -> dict[str, Figure]:
    """Curves against lam and the number of anchors, as of a study."""
    from anchor_align.report import plot_sensitivity

    return {file: plot_sensitivity(as_study(result, data)) for file, data in PICTURES.items()}


def as_study(result: Any, data: str) -> StudyResult:
    """The stored rows of a data set as summaries of a study; scale and solver are settings."""
    summaries = []
    for name, lams in GRIDS.items():
        scale, solver = name.split()
        params = () if scale == "balanced" else (("lam_scale", scale), ("method", solver))
        for row in rows_of(result, data=data):
            for lam in lams:
                setting = Setting(data, result["method"], row["anchors"], lam, params)
                arms = {}
                for arm in ("aligned", *CONTROLS):
                    place = result["ways"].index(f"{name} {lam:g}" if arm == "aligned" else arm)
                    mean, sd = ({"acc": row[key][place] / 100} for key in ("mean", "sd"))
                    arms[arm] = ArmSummary(setting, 1, result["draws"], 0, mean, sd)
                summaries.append(Summary("fixed", data, result["method"], setting, arms, {}))
    return StudyResult("compare", (), tuple(summaries), (), (), "acc", result["draws"], 0, "0", "")
