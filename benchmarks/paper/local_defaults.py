"""How the defaults of the adapter ``local`` were chosen: numbers of neighbours, embeddings, scales and anchors.

Accuracy in %, aligned, mean over draws of anchors. "settings" differ in the neighbours and the embedding. In "parts"
one part of the recipe at a time is changed. "rays" are clusters that differ by the length of their samples only,
"lengths" the share of the variance of each view that is variance of the lengths. Settings that differ in the embedding
only share their fused graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from formats import data_name, fixed, table
from results import Bench

from anchor_align import AlignedClusterer, load_views
from anchor_align.metrics import acc

MINUTES = 3
DATA = ("simulated", "3-Sources", "MSRC-v1", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "Scene-15", "mfeat")
DATA_OF_PARTS = ("simulated", "3-Sources", "MSRC-v1", "UCI-Digit_3v", "BBCSport")
DRAWS, DRAWS_OF_PARTS = 5, 3
HEADS = ("n_neighbors", "column_scaling", "directions")
SETTINGS: tuple[tuple[int, float | None, float], ...] = (
    (10, 1.0, 1.5),
    (7, 1.0, 1.5),
    (5, 1.0, 1.5),
    (7, 0.3, 1.5),
    (7, 3.0, 1.5),
    (7, None, 1.5),
    (7, 1.0, 2.0),
)
# Parameters, anchors for each cluster (None is the default number), column_scaling and directions.
Change = tuple[dict[str, Any], int | None, tuple[float | None, float]]
PARTS: dict[str, Change] = {
    "none": ({}, None, (1.0, 1.5)),
    "one direction for each cluster, unweighted": ({}, None, (1.0, 1.0)),
    "the same, without column scaling": ({}, None, (None, 1.0)),
    '`scale="unit"`': ({"scale": "unit"}, None, (1.0, 1.5)),
    '`scale="standard"`': ({"scale": "standard"}, None, (1.0, 1.5)),
    "matched by the objective alone": ({"match_by_clusters": False}, None, (1.0, 1.5)),
    "two anchors for each cluster": ({}, 2, (1.0, 1.5)),
}


def accuracies(path: str, changes: Sequence[Change], draws: int) -> list[float]:
    """Mean over draws, in %, for each change; every fused graph is made once."""
    data, fused = load_views(path), {}
    assert data.labels is not None
    scores: list[list[float]] = [[] for _ in changes]
    for (params, anchors, (scaling, directions)), found in zip(changes, scores, strict=True):
        for seed in range(draws):
            options: dict[str, Any] = {"n_clusters": data.n_clusters, "random_state": seed}
            key = (*params.items(), anchors, seed)
            if key not in fused:
                n_anchors = None if anchors is None else anchors * (data.n_clusters or 0)
                clusterer = AlignedClusterer("local", n_anchors=n_anchors, adapter_params=params, **options)
                fused[key] = clusterer.fit(data.views).fused_graph_
            how = {"column_scaling": scaling, "directions": directions}
            clusterer = AlignedClusterer("precomputed", adapter_params=how, **options)
            found.append(100 * acc(data.labels, clusterer.fit_predict([fused[key]])))
    return [float(np.mean(found)) for found in scores]


def along_a_ray(scale: str) -> float:
    """Mean accuracy, in %, on two views with four clusters that differ by the length of their samples only."""
    found = []
    for seed in range(DRAWS_OF_PARTS):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(4), 50)
        lengths = (1.0 + 2.0 * labels)[:, None] + 0.1 * rng.standard_normal((200, 1))
        views = [lengths * (rng.random(5) + 0.5) + 0.05 * rng.standard_normal((200, 5)) for _ in range(2)]
        clusterer = AlignedClusterer("local", n_clusters=4, adapter_params={"scale": scale}, random_state=seed)
        found.append(acc(labels, clusterer.fit_predict(views)))
    return 100 * float(np.mean(found))


def shares_of_lengths(path: str) -> list[float]:
    """For every view, the variance of the lengths of the samples over the variance of the samples."""
    views = [np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float) for X in load_views(path).views]
    return [float(np.linalg.norm(X, axis=1).var() / X.var(axis=0).sum()) for X in views]


def run(bench: Bench) -> dict[str, Any]:
    """Fit all settings, then all parts."""
    changes: list[Change] = [
        ({"n_neighbors": neighbours}, None, (scaling, directions)) for neighbours, scaling, directions in SETTINGS
    ]
    settings = [bench.kept(name, accuracies, bench.path(name), changes, DRAWS) for name in DATA]
    parts = [
        bench.kept(f"parts of {name}", accuracies, bench.path(name), list(PARTS.values()), DRAWS_OF_PARTS)
        for name in DATA_OF_PARTS
    ]
    return {
        "draws": DRAWS,
        "settings": [
            {**dict(zip(HEADS, setting, strict=True)), **scores}
            for setting, scores in zip(SETTINGS, _by_data(DATA, settings), strict=True)
        ],
        "draws of parts": DRAWS_OF_PARTS,
        "parts": [
            {"change": name, **scores} for name, scores in zip(PARTS, _by_data(DATA_OF_PARTS, parts), strict=True)
        ],
        "rays": {scale: bench.kept(f"ray {scale}", along_a_ray, scale) for scale in ("unit", "standard", "auto")},
        "lengths": {name: shares_of_lengths(bench.path(name)) for name in DATA_OF_PARTS},
    }


def _by_data(names: Sequence[str], columns: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    rows = zip(*columns, strict=True)
    return [{"accuracy": dict(zip(names, row, strict=True)), "mean": float(np.mean(row))} for row in rows]


def setting_table(result: Any) -> str:
    """Neighbours and embeddings."""
    names = [["None" if row[name] is None else f"{row[name]:g}" for name in HEADS] for row in result["settings"]]
    return _table([f"`{name}`" for name in HEADS], names, result["settings"])


def part_table(result: Any) -> str:
    """Parts of the recipe, one at a time."""
    return _table(["change"], [[row["change"]] for row in result["parts"]], result["parts"])


def _table(heads: Sequence[str], names: Sequence[Sequence[str]], rows: Sequence[Any]) -> str:
    scores = [[fixed(score) for score in (*row["accuracy"].values(), row["mean"])] for row in rows]
    cells = [[*name, *each] for name, each in zip(names, scores, strict=True)]
    return table([*heads, *(data_name(name) for name in rows[0]["accuracy"]), "mean"], cells, names=len(heads))


def part(result: Any, change: str, data: str | None = None) -> float:
    """Accuracy on a data set, or on the mean."""
    (row,) = (row for row in result["parts"] if row["change"] == change)
    return float(row["mean"] if data is None else row["accuracy"][data])


def loss(result: Any, change: str, data: str | None = None) -> float:
    """What a change costs."""
    return part(result, "none", data) - part(result, change, data)
