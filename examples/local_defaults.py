"""How the defaults of the adapter ``local`` were chosen: numbers of neighbours, embeddings, scales and anchors.

    python examples/local_defaults.py [DATA ...] [--draws N] [--parts]

DATA are files or bundled sets with labels (default: two bundled sets). Accuracy in %, aligned, mean over draws of
anchors. The first table has the neighbours and the embedding. With ``--parts``, one part of the recipe at a time is
changed instead, and two measurements about the scale follow: clusters that differ by the length of their samples only,
and the share of the variance of each view that is variance of the lengths. Settings that differ in the embedding only
share their fused graphs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer, MultiViewData, load_views
from anchor_align.metrics import acc

# Neighbours, column_scaling, directions.
SETTINGS: tuple[tuple[int, float | None, float], ...] = (
    (10, 1.0, 1.5),
    (7, 1.0, 1.5),
    (5, 1.0, 1.5),
    (7, 0.3, 1.5),
    (7, 3.0, 1.5),
    (7, None, 1.5),
    (7, 1.0, 2.0),
)
PARTS: dict[str, tuple[dict[str, Any], int | None, tuple[float | None, float]]] = {
    "none": ({}, None, (1.0, 1.5)),
    "one direction for each cluster, unweighted": ({}, None, (1.0, 1.0)),
    "the same, without column scaling": ({}, None, (None, 1.0)),
    '`scale="unit"`': ({"scale": "unit"}, None, (1.0, 1.5)),
    '`scale="standard"`': ({"scale": "standard"}, None, (1.0, 1.5)),
    "matched by the objective alone": ({"match_by_clusters": False}, None, (1.0, 1.5)),
    "two anchors for each cluster": ({}, 2, (1.0, 1.5)),
}


class Fits:
    """Fused graphs of one data set, each made once."""

    def __init__(self, data: MultiViewData) -> None:
        if data.labels is None or data.n_clusters is None:
            raise SystemExit("The accuracy needs labels, and the data have none.")
        self.views, self.labels, self.k = data.views, data.labels, data.n_clusters
        self._graphs: dict[Any, Any] = {}

    def accuracy(
        self, params: dict[str, Any], anchors: int | None, embedding: tuple[float | None, float], draws: int
    ) -> float:
        """Mean over draws, in %; ``anchors`` are for each cluster, None is the default number."""
        found = []
        for seed in range(draws):
            options: dict[str, Any] = {"n_clusters": self.k, "random_state": seed}
            key = (*params.items(), anchors, seed)
            if key not in self._graphs:
                n_anchors = None if anchors is None else anchors * self.k
                clusterer = AlignedClusterer("local", n_anchors=n_anchors, adapter_params=params, **options)
                self._graphs[key] = clusterer.fit(self.views).fused_graph_
            scaling, directions = embedding
            how = {"column_scaling": scaling, "directions": directions}
            clusterer = AlignedClusterer("precomputed", adapter_params=how, **options)
            found.append(acc(self.labels, clusterer.fit_predict([self._graphs[key]])))
        return 100 * float(np.mean(found))


def line(words: Sequence[object], scores: Sequence[float]) -> str:
    """A row of the table, with the mean over the data sets."""
    return "| " + " | ".join([*map(str, words), *(f"{score:.1f}" for score in (*scores, np.mean(scores)))]) + " |"


def along_a_ray(draws: int, scale: str) -> float:
    """Mean accuracy, in %, on two views with four clusters that differ by the length of their samples only."""
    found = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(4), 50)
        lengths = (1.0 + 2.0 * labels)[:, None] + 0.1 * rng.standard_normal((200, 1))
        views = [lengths * (rng.random(5) + 0.5) + 0.05 * rng.standard_normal((200, 5)) for _ in range(2)]
        clusterer = AlignedClusterer("local", n_clusters=4, adapter_params={"scale": scale}, random_state=seed)
        found.append(acc(labels, clusterer.fit_predict(views)))
    return 100 * float(np.mean(found))


def share_of_lengths(X: Any) -> float:
    """Variance of the lengths of the samples over the variance of the samples."""
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
    return float(np.linalg.norm(X, axis=1).var() / X.var(axis=0).sum())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=["simulated", "breast-cancer"])
    parser.add_argument("--draws", type=int, default=5, help="draws of anchors [5]")
    parser.add_argument("--parts", action="store_true", help="parts of the recipe, and the scale")
    arguments = parser.parse_args()
    names = [Path(path).stem for path in arguments.data]
    sets = [load_views(path) for path in arguments.data]
    fits = [Fits(data) for data in sets]
    heads = ["change"] if arguments.parts else ["`n_neighbors`", "`column_scaling`", "`directions`"]
    print("| " + " | ".join([*heads, *names, "mean"]) + " |")
    print("|---" * len(heads) + "|---:" * (len(names) + 1) + "|")
    with threadpool_limits(1):
        if not arguments.parts:
            for neighbours, scaling, directions in SETTINGS:
                params = {"n_neighbors": neighbours}
                scores = [each.accuracy(params, None, (scaling, directions), arguments.draws) for each in fits]
                shown = scaling if scaling is None else f"{scaling:g}"
                print(line([neighbours, shown, f"{directions:g}"], scores), flush=True)
            return
        for name, change in PARTS.items():
            print(line([name], [each.accuracy(*change, arguments.draws) for each in fits]), flush=True)
        rays = [f"{scale} {along_a_ray(arguments.draws, scale):.0f} %" for scale in ("unit", "standard", "auto")]
        print(f"\nfour clusters along one ray: {', '.join(rays)}")
    print("variance of the lengths over that of the samples, by view:")
    for name, data in zip(names, sets, strict=True):
        print(f"{name}: {', '.join(f'{share_of_lengths(X):.2f}' for X in data.views)}")


if __name__ == "__main__":
    main()
