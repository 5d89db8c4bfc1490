"""A new method as a plug-in in one file: random samples as anchors, Gaussian similarities as graph.

    anchor-align adapters --plugin examples/my_method.py
    python examples/my_method.py

To make it installable, put the file in your package and name it in the pyproject.toml:

    [project.entry-points.anchor_align]
    my-method = "my_package.my_method"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances

from anchor_align import Adapter, AlignedClusterer, AnchorGraphs, hookimpl, view_seeds


class RandomSamples(Adapter):
    """Random samples as anchors, Gaussian similarities as graph."""

    name = "random-samples"

    def __init__(self, width: float = 0.5) -> None:
        self.width = width

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Draw the anchors of every view with a different seed."""
        seeds = view_seeds(random_state, len(views))
        rows = [np.random.default_rng(seed).choice(len(views[0]), n_anchors, replace=False) for seed in seeds]
        anchors = [X[drawn] for X, drawn in zip(views, rows, strict=True)]
        return AnchorGraphs([self._graph(X, A) for X, A in zip(views, anchors, strict=True)], anchors)

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[np.ndarray]:
        """Optional: makes ``predict`` work."""
        return [self._graph(X, A) for X, A in zip(views, learned.anchors or (), strict=True)]

    def _graph(self, X: np.ndarray, A: np.ndarray) -> np.ndarray:
        squares = pairwise_distances(X, A, metric="sqeuclidean")
        unit = pairwise_distances(A, metric="sqeuclidean").mean() or 1.0  # independent of the scale of the data
        Z = np.exp((squares.min(axis=1, keepdims=True) - squares) / (self.width**2 * unit))
        return np.asarray(Z / Z.sum(axis=1, keepdims=True))


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Return the adapters of this plug-in."""
    return [RandomSamples]


if __name__ == "__main__":
    from anchor_align.data import make_simulated
    from anchor_align.metrics import acc

    data = make_simulated(0)
    clusterer = AlignedClusterer(RandomSamples(), n_clusters=4, n_anchors=20, random_state=0)
    print(f"accuracy {100 * acc(data.labels, clusterer.fit_predict(data.views)):.1f} %")
