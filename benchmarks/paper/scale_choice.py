"""What a scale for each view, chosen without labels, gains over one scale for all views.

Accuracy in % of the adapter ``local``, aligned, mean over draws of anchors: with unit rows, with standard features, and
with ``scale="auto"``, the default. "chosen" are the scales of the first draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from formats import data_name, fixed, table
from results import Bench

from anchor_align import AlignedClusterer, load_views
from anchor_align.metrics import acc

MINUTES = 8
DATA = (
    "FMVACC_synthetic", "3-Sources", "MSRC-v1", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "Scene-15", "100Leaves",
    "Hdigit", "MNIST-60k_4v_constructed", "mfeat", "digits", "breast-cancer",
)  # fmt: skip
DRAWS = 5
SCALES = ("unit", "standard", "auto")


def row_of(path: str, name: str, draws: int) -> dict[str, Any]:
    """Mean accuracy with every scale."""
    data = load_views(path)
    assert data.labels is not None
    row: dict[str, Any] = {"data": name}
    for scale in SCALES:
        options: dict[str, Any] = {"n_clusters": data.n_clusters, "adapter_params": {"scale": scale}}
        fits: list[Any] = [
            AlignedClusterer("local", random_state=seed, **options).fit(data.views) for seed in range(draws)
        ]
        row[scale] = float(np.mean([100 * acc(data.labels, each.labels_) for each in fits]))
    return {**row, "chosen": list(fits[0].chosen_["scale"])}


def rows_of(bench: Bench, names: Sequence[str], draws: int) -> list[dict[str, Any]]:
    """A row for each data set."""
    return [bench.kept(f"scales of {name}", row_of, bench.path(name), name, draws) for name in names]


def run(bench: Bench) -> dict[str, Any]:
    """Fit all data sets with every scale."""
    return {"draws": DRAWS, "rows": rows_of(bench, DATA, DRAWS)}


def main_table(rows: Sequence[Any]) -> str:
    """Accuracies, and u or s for the scale of each view."""
    body = [
        [data_name(row["data"]), *(fixed(row[scale]) for scale in SCALES), " ".join(each[0] for each in row["chosen"])]
        for row in rows
    ]
    lines = table(["", *SCALES, "chosen"], [*body, ["mean", *(fixed(mean(rows, scale)) for scale in SCALES), ""]])
    return lines.replace("|---|---|---|---|---|", "|---|---:|---:|---:|---|")


def mean(rows: Sequence[Any], scale: str) -> float:
    """Mean over the data sets."""
    return float(np.mean([row[scale] for row in rows]))


def gains(rows: Sequence[Any], over: str = "unit") -> dict[str, float]:
    """What the choice gains over one scale for all views, by data set."""
    return {row["data"]: round(row["auto"], 1) - round(row[over], 1) for row in rows}


def as_good(rows: Sequence[Any]) -> int:
    """Number of data sets on which the choice is as good as the better scale."""
    return sum(round(row["auto"], 1) >= round(max(row["unit"], row["standard"]), 1) for row in rows)
