"""The paper's Figure 3: anchor graphs of three methods on simulated data, their means, and the permutations found.

    python examples/paper/simulated_graphs.py [--data FILE] [--repeats N] [--picture FILE.png]

Without FILE, every repeat is a new draw of simulated data (four clusters, two views) and of anchors; with FILE, for
example the paper's own data, every repeat is a draw of anchors. There are as many anchors as clusters. For every repeat
the script prints the accuracies of the unaligned and of the aligned mean, and whether the permutation is the one that
the labels give, which matches anchors of the same true cluster. The picture shows the repeat in which the unaligned
means of lmvsc and fmvacc are worst: a possible case, not a typical one. It needs the extra ``report``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchor_align import AlignedClusterer, load_views
from anchor_align.data import MultiViewData, make_simulated
from anchor_align.errors import AnchorAlignError, InputError
from anchor_align.metrics import acc
from anchor_align.report import figure_bytes, plot_fusion

METHODS: dict[str, tuple[str, dict[str, str]]] = {
    "lmvsc": ("lmvsc", {}),
    "fmvacc": ("fmvacc", {}),
    "sfmc original": ("sfmc", {"anchors": "alternate"}),
    "sfmc flexible": ("sfmc", {"anchors": "flexible"}),
}
FUSIONS = ("unaligned", "aligned")


@dataclass(frozen=True, eq=False)
class Repeat:
    """All methods on one draw: the aligned clusterers, and the accuracies by method and fusion."""

    data: MultiViewData
    clusterers: dict[str, AlignedClusterer]
    scores: dict[str, dict[str, float]]

    @property
    def badness(self) -> float:
        """Minus the sum of the unaligned accuracies of lmvsc and fmvacc."""
        return -sum(self.scores[method]["unaligned"] for method in ("lmvsc", "fmvacc"))


def run(data: MultiViewData, seed: int) -> Repeat:
    """Fit all methods, both ways of fusing on the same anchors."""
    clusterers, scores = {}, {}
    for method, (adapter, params) in METHODS.items():
        options: dict[str, Any] = {"n_clusters": data.n_clusters, "n_anchors": data.n_clusters, "random_state": seed}
        fitted = {
            fusion: AlignedClusterer(adapter, fusion=fusion, adapter_params=params, **options).fit(data.views)
            for fusion in FUSIONS
        }
        clusterers[method] = fitted["aligned"]
        scores[method] = {fusion: acc(data.labels, fitted[fusion].labels_) for fusion in FUSIONS}
    return Repeat(data, clusterers, scores)


def is_right(clusterer: AlignedClusterer, data: MultiViewData) -> bool:
    """Whether every view's anchors come in the order that the labels give the first view's: one for each cluster."""
    members = np.eye(data.n_clusters or 0)[data.labels]
    orders = []
    for Z, permutation in zip(clusterer.anchor_graphs_.graphs, clusterer.permutations_, strict=True):
        orders.append(linear_sum_assignment((members.T @ Z)[:, permutation], maximize=True)[1])
    return all(np.array_equal(orders[0], order) for order in orders)


def draws(source: str | None, repeats: int) -> Iterator[MultiViewData]:
    """Data of every repeat."""
    if source is None:
        yield from map(make_simulated, range(repeats))
        return
    data = load_views(source)
    if data.labels is None:
        raise InputError(f"{source} has no labels to score by.")
    for _ in range(repeats):
        yield data


def main() -> None:
    """Print a line for every repeat and, if asked for, draw the worst."""
    parser = argparse.ArgumentParser(description="The paper's Figure 3: graphs and permutations on simulated data.")
    parser.add_argument("--data", help="a file with labels [new draws of simulated data]")
    parser.add_argument("--repeats", type=int, default=10, help="draws of data and anchors [10]")
    parser.add_argument("--picture", type=Path, help="write the worst repeat to this PNG file")
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats must be 1 or more.")
    try:
        print("ACC in %, unaligned -> aligned; *: the labels would pair the anchors otherwise")
        print("repeat" + "".join(f"{method:>18}" for method in METHODS))
        found = []
        for seed, data in enumerate(draws(arguments.data, arguments.repeats)):
            found.append(run(data, seed))
            cells = []
            for method, clusterer in found[-1].clusterers.items():
                before, after = (100 * found[-1].scores[method][fusion] for fusion in FUSIONS)
                right = clusterer.aligner_ is None or is_right(clusterer, data)
                cells.append(f"{before:.1f} -> {after:.1f}{' ' if right else '*'}")
            print(f"{seed:>6}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
        if arguments.picture:
            worst = max(range(len(found)), key=lambda at: found[at].badness)
            shown = found[worst]
            figure = plot_fusion(shown.clusterers, shown.data.labels, scores=shown.scores)
            arguments.picture.write_bytes(figure_bytes(figure, dpi=120))
            print(f"{arguments.picture} shows repeat {worst}")
    except (AnchorAlignError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
