"""Wrapping a third-party clusterer, 1 of 3: a class with ``fit`` and ``predict_proba`` or ``transform``.

    python examples/wrap_class.py
    anchor-align compare mixture --plugin examples/wrap_class.py

Gaussian mixtures of scikit-learn: the components are the anchors, their probabilities are the graph. ``learn_anchors``
is the ``fit`` of the class and ``new_graphs`` its ``transform``. With both methods, ``predict``, missing samples, a
number of anchors for each view, and graphs larger than memory work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anchor_align import Adapter, AnchorGraphs, hookimpl, view_seeds


class Mixture(Adapter):
    """Components of a Gaussian mixture as anchors, their probabilities as graph."""

    name = "mixture"
    views_apart = True  # the anchors of a view depend on that view alone

    def __init__(self, covariance_type: str = "diag") -> None:
        self.covariance_type = covariance_type

    def learn_anchors(self, views: Any, *, n_clusters: int, n_anchors: Any, random_state: int) -> AnchorGraphs:
        """Fit one model for each view, each with its own seed."""
        models, counts = [], np.broadcast_to(n_anchors, len(views))  # one number, or one for each view
        for X, m, seed in zip(views, counts, view_seeds(random_state, len(views)), strict=True):
            mixture = GaussianMixture(int(m), covariance_type=self.covariance_type, random_state=seed)
            models.append(make_pipeline(StandardScaler(), mixture).fit(X))
        return AnchorGraphs((), state=models)

    def new_graphs(self, views: Any, learned: AnchorGraphs) -> list[np.ndarray]:
        """Return the graph rows of any samples, old or new."""
        return [model.predict_proba(X) for model, X in zip(learned.state, views, strict=True)]


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """Return the adapters of this plug-in."""
    return [Mixture]


if __name__ == "__main__":
    from anchor_align import AlignedClusterer, load_views
    from anchor_align.metrics import acc
    from anchor_align.report import render
    from anchor_align.study import compare

    print(render(compare("mixture", "digits", plugins=[__file__]), "table"))
    data = load_views("digits")
    labels = np.asarray(data.labels)
    clusterer = AlignedClusterer(Mixture(), n_clusters=10, random_state=0).fit([X[::2] for X in data.views])
    scores = acc(labels[::2], clusterer.labels_), acc(labels[1::2], clusterer.predict([X[1::2] for X in data.views]))
    print("fitted on every other sample: ACC {:.1%}; the rest predicted: {:.1%}".format(*scores))
