"""The paper's Figure 4: fused anchor graphs of real data, unaligned and aligned, for lmvsc and fmvacc.

    python examples/paper/real_graphs.py [--data DATA] [--anchors M] [--repeats N] [--picture FILE.png]

DATA is a file or a bundled set with labels (default: digits; the paper shows UCI-Digit). Every repeat is a draw of
anchors; both means use the same graphs. The table has the accuracy, the largest weight in the fused graph, which the
paper reports, and the blocks: the share of weight that samples give to anchors of their own true cluster. The cluster
of an anchor is the one in which it has most weight. The picture (extra ``report``) shows the first repeat.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anchor_align import AlignedClusterer, load_views
from anchor_align.data import MultiViewData
from anchor_align.errors import AnchorAlignError, InputError
from anchor_align.metrics import acc
from anchor_align.report import figure_bytes, plot_graphs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ADAPTERS = ("lmvsc", "fmvacc")
FUSIONS = ("unaligned", "aligned")
MEASURES = ("ACC, %", "largest weight", "blocks, %")


@dataclass(frozen=True, eq=False)
class Run:
    """A fitted clusterer, and the measures of both ways of fusing its graphs."""

    clusterer: AlignedClusterer
    measures: dict[str, tuple[float, float, float]]


def run(adapter: str, data: MultiViewData, n_anchors: int | None, seed: int) -> Run:
    """Both ways of fusing the same graphs."""
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "random_state": seed}
    aligned = AlignedClusterer(adapter, n_anchors=n_anchors, **options).fit(data.views)
    unaligned = AlignedClusterer("precomputed", fusion="unaligned", **options).fit(aligned.anchor_graphs_.graphs)
    labels = np.asarray(data.labels)
    measures = {}
    for fusion, fitted in zip(FUSIONS, (unaligned, aligned), strict=True):
        graph = np.asarray(fitted.fused_graph_)
        measures[fusion] = (100 * acc(labels, fitted.labels_), float(graph.max()), 100 * blocks(graph, labels))
    return Run(aligned, measures)


def blocks(graph: np.ndarray, labels: np.ndarray) -> float:
    """Share of all weight that samples give to anchors of their own cluster."""
    members = np.eye(int(labels.max()) + 1)[labels]
    weights = members.T @ graph
    means = weights / members.sum(axis=0)[:, None]
    return float(weights[means.argmax(axis=0), np.arange(graph.shape[1])].sum() / weights.sum())


def print_lines(adapter: str, runs: Sequence[Run]) -> None:
    """A line for each way of fusing."""
    for fusion in FUSIONS:
        values = [run.measures[fusion] for run in runs]
        mean, sd = np.mean(values, axis=0), np.std(values, axis=0, ddof=1)
        cells = (f"{mean[0]:.1f} ± {sd[0]:.1f}", f"{mean[1]:.2f} ± {sd[1]:.2f}", f"{mean[2]:.1f} ± {sd[2]:.1f}")
        first = f"{values[0][0]:.1f}, {values[0][2]:.1f}"
        print(f"{adapter:<8}{fusion:<12}" + "".join(f"{cell:<18}" for cell in (*cells, first)).rstrip(), flush=True)


def draw(adapter: str, shown: Run, data: MultiViewData) -> Figure:
    """The two fused graphs of a run."""
    scores = {fusion: measures[0] / 100 for fusion, measures in shown.measures.items()}
    figure = plot_graphs(shown.clusterer, data.labels, scores=scores)
    figure.suptitle(adapter, fontsize=9)
    return figure


def side_by_side(figures: Sequence[Figure]) -> bytes:
    """Figures of one height as one PNG."""
    from matplotlib.image import imread, imsave

    joined = np.hstack([imread(io.BytesIO(figure_bytes(figure, dpi=150))) for figure in figures])
    file = io.BytesIO()
    about: dict[str, Any] = {"Software": None}
    imsave(file, joined, format="png", metadata=about)
    return file.getvalue()


def main() -> None:
    """Print the table and, if asked for, draw the first repeat."""
    parser = argparse.ArgumentParser(description="The paper's Figure 4: fused graphs of real data.")
    parser.add_argument("--data", default="digits", help="a file or a bundled set with labels [digits]")
    parser.add_argument("--anchors", type=int, help="anchors in every view [two for each cluster]")
    parser.add_argument("--repeats", type=int, default=3, help="draws of anchors, 2 or more [3]")
    parser.add_argument("--picture", type=Path, help="write the graphs of the first repeat to this PNG file")
    arguments = parser.parse_args()
    if arguments.repeats < 2:
        parser.error("--repeats must be 2 or more: there is no spread of one.")
    try:
        data = load_views(arguments.data)
        if data.labels is None:
            raise InputError(f"{arguments.data} has no labels to score by.")
        print(f"{Path(arguments.data).stem}: mean ± sd over {arguments.repeats} draws of anchors")
        print(f"{'':<20}" + "".join(f"{measure:<18}" for measure in (*MEASURES, "first draw: ACC, blocks")).rstrip())
        figures = []
        for adapter in ADAPTERS:
            runs = [run(adapter, data, arguments.anchors, seed) for seed in range(arguments.repeats)]
            print_lines(adapter, runs)
            if arguments.picture:
                figures.append(draw(adapter, runs[0], data))
        if arguments.picture:
            arguments.picture.write_bytes(side_by_side(figures))
    except (AnchorAlignError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
