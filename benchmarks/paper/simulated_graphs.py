"""The paper's Figure 3: anchor graphs of three methods on simulated data, their means, and the permutations found.

Every repeat on the paper's data is a draw of anchors; on simulated data (four clusters, two views) it is a draw of data
and anchors. There are as many anchors as clusters. A permutation is right if it is the one that the labels give, which
matches anchors of the same true cluster. The run draws a picture of the repeat in which the unaligned means of lmvsc
and fmvacc are worst: a possible case, not a typical one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from formats import share
from results import Bench
from scipy.optimize import linear_sum_assignment

from anchor_align import AlignedClusterer, load_views
from anchor_align.data import MultiViewData, make_simulated
from anchor_align.metrics import acc
from anchor_align.report import figure_bytes, plot_fusion

PAPER, SIMULATED = "FMVACC_synthetic", "simulated"
PICTURE_OF = {PAPER: "paper_data_graphs.png", SIMULATED: "paper_simulated_graphs.png"}
DRAWS = 10
METHODS: dict[str, tuple[str, dict[str, str]]] = {
    "lmvsc": ("lmvsc", {}),
    "fmvacc": ("fmvacc", {}),
    "sfmc original": ("sfmc", {"anchors": "alternate"}),
    "sfmc flexible": ("sfmc", {"anchors": "flexible"}),
}
FUSIONS = ("unaligned", "aligned")


def run(bench: Bench) -> dict[str, Any]:
    """A row for every data set and repeat; the worst repeat of each is drawn."""
    paper = load_views(bench.path(PAPER))
    rows = []
    for name, draws in ((PAPER, [paper] * DRAWS), (SIMULATED, [make_simulated(seed) for seed in range(DRAWS)])):
        mine = [{"data": name, "repeat": seed, **scored(data, seed)} for seed, data in enumerate(draws)]
        worst = min(mine, key=lambda row: row["acc"]["lmvsc"][0] + row["acc"]["fmvacc"][0])
        data, accuracies = draws[worst["repeat"]], worst["acc"]
        shown = {method: fits["aligned"] for method, fits in fitted(data, worst["repeat"]).items()}
        scores = {method: dict(zip(FUSIONS, np.divide(each, 100), strict=True)) for method, each in accuracies.items()}
        bench.picture(PICTURE_OF[name], figure_bytes(plot_fusion(shown, data.labels, scores=scores), dpi=120))
        rows += mine
    return {"draws": DRAWS, "rows": rows}


def fitted(data: MultiViewData, seed: int) -> dict[str, dict[str, AlignedClusterer]]:
    """All methods, both ways of fusing on the same anchors."""
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "n_anchors": data.n_clusters, "random_state": seed}
    return {
        method: {
            fusion: AlignedClusterer(adapter, fusion=fusion, adapter_params=params, **options).fit(data.views)
            for fusion in FUSIONS
        }
        for method, (adapter, params) in METHODS.items()
    }


def scored(data: MultiViewData, seed: int) -> dict[str, Any]:
    """ACC in %, unaligned and aligned, and whether all permutations are right."""
    fits = fitted(data, seed)
    accuracies = {method: [100 * acc(data.labels, each[f].labels_) for f in FUSIONS] for method, each in fits.items()}
    aligned = [each["aligned"] for each in fits.values()]
    right = all(each.aligner_ is None or is_right(each, data) for each in aligned)
    return {"acc": accuracies, "right": right}


def is_right(clusterer: AlignedClusterer, data: MultiViewData) -> bool:
    """Whether every view's anchors come in the order that the labels give the first view's: one for each cluster."""
    members = np.eye(data.n_clusters or 0)[data.labels]
    orders = []
    for Z, permutation in zip(clusterer.anchor_graphs_.graphs, clusterer.permutations_, strict=True):
        orders.append(linear_sum_assignment((members.T @ Z)[:, permutation], maximize=True)[1])
    return all(np.array_equal(orders[0], order) for order in orders)


def count(result: Any, data: str, method: str) -> int:
    """Repeats in which the unaligned mean finds all clusters without an error."""
    return sum(row["data"] == data and row["acc"][method][0] == 100 for row in result["rows"])


def share_right(result: Any) -> str:
    """In how many repeats the anchors are matched as the labels say."""
    return share(sum(row["right"] for row in result["rows"]), len(result["rows"]))
