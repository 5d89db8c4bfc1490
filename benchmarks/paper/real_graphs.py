"""The paper's Figure 4: fused anchor graphs of real data, unaligned and aligned, for lmvsc and fmvacc.

Every repeat is a draw of anchors; both means use the same graphs. The measures are the accuracy, the largest weight in
the fused graph, which the paper reports, and the blocks: the share of weight that samples give to anchors of their own
true cluster. The cluster of an anchor is the one in which it has most weight. The run draws the first repeat.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from formats import fixed, mean_sd, table
from paper_numbers import LARGEST_WEIGHTS, published
from results import Bench

from anchor_align import AlignedClusterer, load_views
from anchor_align.data import MultiViewData
from anchor_align.metrics import acc
from anchor_align.report import figure_bytes, plot_graphs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = {"UCI-Digit": "UCI-Digit_3v", "digits": "digits"}
PICTURE_OF = {"UCI-Digit": "paper_uci_digit_graphs.png", "digits": "paper_digits_graphs.png"}
DRAWS = 10
METHODS = ("lmvsc", "fmvacc")
FUSIONS = ("unaligned", "aligned")
MEASURES = ("acc", "largest", "blocks")


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set, method and way of fusing, with each measure in all draws."""
    rows, sizes = [], []
    for name, file in DATA.items():
        data = load_views(bench.path(file))
        sizes.append({"data": name, "n": data.n_samples, "views": len(data.views)})
        figures = []
        for method in METHODS:
            measured = []
            for seed in range(DRAWS):
                clusterer, measures = measure(method, data, seed)
                measured.append(measures)
                if seed == 0:
                    figures.append(picture(method, clusterer, data, measures))
            for fusion, values in zip(FUSIONS, np.transpose(measured, (1, 2, 0)).tolist(), strict=True):
                rows.append(
                    {"data": name, "method": method, "fusion": fusion, **dict(zip(MEASURES, values, strict=True))}
                )
        bench.picture(PICTURE_OF[name], side_by_side(figures))
    return {"draws": DRAWS, "data": sizes, "rows": rows}


def measure(adapter: str, data: MultiViewData, seed: int) -> tuple[AlignedClusterer, list[list[float]]]:
    """Both ways of fusing the same graphs: the aligned clusterer, and the measures of each."""
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "random_state": seed}
    aligned = AlignedClusterer(adapter, **options).fit(data.views)
    unaligned = AlignedClusterer("precomputed", fusion="unaligned", **options).fit(aligned.anchor_graphs_.graphs)
    labels = np.asarray(data.labels)
    measures = []
    for fitted in (unaligned, aligned):
        graph = np.asarray(fitted.fused_graph_)
        measures.append([100 * acc(labels, fitted.labels_), float(graph.max()), 100 * blocks(graph, labels)])
    return aligned, measures


def blocks(graph: np.ndarray, labels: np.ndarray) -> float:
    """Share of all weight that samples give to anchors of their own cluster."""
    members = np.eye(int(labels.max()) + 1)[labels]
    weights = members.T @ graph
    means = weights / members.sum(axis=0)[:, None]
    return float(weights[means.argmax(axis=0), np.arange(graph.shape[1])].sum() / weights.sum())


def picture(method: str, clusterer: AlignedClusterer, data: MultiViewData, measures: list[list[float]]) -> Figure:
    """The two fused graphs of a draw."""
    scores = {fusion: each[0] / 100 for fusion, each in zip(FUSIONS, measures, strict=True)}
    figure = plot_graphs(clusterer, data.labels, scores=scores)
    figure.suptitle(method, fontsize=9)
    return figure


def side_by_side(figures: Sequence[Figure]) -> bytes:
    """Figures of one height as one PNG."""
    from matplotlib.image import imread, imsave

    joined = np.hstack([imread(io.BytesIO(figure_bytes(figure, dpi=150))) for figure in figures])
    file = io.BytesIO()
    about: dict[str, Any] = {"Software": None}
    imsave(file, joined, format="png", metadata=about)
    return file.getvalue()


def values(result: Any, data: str, method: str, measure: str, fusion: str) -> list[float]:
    """A measure in all draws."""
    (row,) = (r for r in result["rows"] if (r["data"], r["method"], r["fusion"]) == (data, method, fusion))
    return [float(each) for each in row[measure]]


def mean(result: Any, *which: str) -> float:
    """A measure, on average over the draws."""
    return float(np.mean(values(result, *which)))


def all_blocks(result: Any, fusion: str) -> list[float]:
    """Blocks of all data sets and methods, on average over the draws."""
    return [float(np.mean(row["blocks"])) for row in result["rows"] if row["fusion"] == fusion]


def change(result: Any, data: str, measure: str, digits: int) -> str:
    """What alignment does to a measure of lmvsc in the first draw."""
    return " to ".join(fixed(values(result, data, "lmvsc", measure, fusion)[0], digits) for fusion in FUSIONS)


def main_table(result: Any) -> str:
    """All measures, beside the published ones."""
    largest = dict(zip(FUSIONS, map(str, LARGEST_WEIGHTS), strict=True))
    lines = []
    for row in result["rows"]:
        first = row["fusion"] == FUSIONS[0]
        theirs = largest[row["fusion"]] if (row["data"], row["method"]) == ("UCI-Digit", "lmvsc") else ""
        lines.append(
            [
                row["data"] if first and row["method"] == METHODS[0] else "",
                row["method"] if first else "",
                row["fusion"],
                *(mean_sd(row[each], 2 if each == "largest" else 1) for each in MEASURES),
                published(row["data"], "acc", row["method"], row["fusion"]) or "",
                theirs,
            ]
        )
    head = ["data", "method", "mean of graphs", "ACC, %", "largest weight", "blocks, %"]
    return table([*head, "published ACC", "published largest weight"], lines, names=3).replace("|  ", "| ")
