"""MSGL: one graph on the anchors of all views, aligned before the first round or as they come."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import planted_views

from anchor_align import AlignedClusterer, InputError, get_adapter
from anchor_align.metrics import acc


def clusterer(**params: object) -> AlignedClusterer:
    return AlignedClusterer("msgl", n_clusters=3, n_anchors=9, adapter_params=params, random_state=0)


@pytest.mark.parametrize("params", [{}, {"beta": 0.0}, {"gamma": -3.0}, {"scale": "unit"}])
def test_planted_clusters_are_found(params: dict[str, object]) -> None:
    """With aligned anchors, for several settings; new samples go to their clusters."""
    views, labels = planted_views(0)
    fitted = clusterer(**params).fit([X[:90] for X in views])
    assert acc(labels[:90], fitted.labels_) == 1.0
    assert acc(labels[90:], fitted.predict([X[90:] for X in views])) >= 0.9
    np.testing.assert_allclose(fitted.fused_graph_.sum(axis=1), 1.0)


def test_alignment_is_worth_something() -> None:
    """Five draws: the common graph explains the views better if anchors are aligned before the first round."""
    losses: dict[str, list[float]] = {"aligned": [], "given": []}
    for seed in range(5):
        views = [X / X.std() for X in planted_views(seed)[0]]
        for order, values in losses.items():
            made = get_adapter("msgl", order=order, n_init=1, scale=None).anchor_graphs(
                views, n_clusters=3, n_anchors=9, random_state=seed
            )
            Z = made.graphs[0]
            parts = zip(views, made.anchors or (), strict=True)
            values.append(sum(float(np.sum((X - Z @ A) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)) for X, A in parts))
    assert np.mean(losses["aligned"]) < 0.8 * np.mean(losses["given"])


def test_anchors_as_they_come_are_those_of_the_views() -> None:
    """Both orders have the same anchors in every view, and each view has the same graph."""
    views, _ = planted_views(1)
    aligned, given = (
        get_adapter("msgl", order=order).anchor_graphs(views, n_clusters=3, n_anchors=6, random_state=0)
        for order in ("aligned", "given")
    )
    for one, other in zip(aligned.anchors or (), given.anchors or (), strict=True):
        assert {tuple(row) for row in one} == {tuple(row) for row in other}
    assert all(Z is aligned.graphs[0] for Z in aligned.graphs)
    assert aligned.aligned


@pytest.mark.filterwarnings("ignore:View . has only:UserWarning")
@pytest.mark.filterwarnings("ignore:Found . clusters:UserWarning")
@pytest.mark.parametrize("views", [[np.ones((10, 2))], [np.arange(24).reshape(12, 2) % 2, np.zeros((12, 1))]])
def test_tied_data_have_labels(views: list[np.ndarray]) -> None:
    """Constant views, whole numbers and duplicates: the fit ends."""
    found = AlignedClusterer("msgl", n_clusters=2, n_anchors=4, random_state=0).fit_predict(views)
    assert found.shape == (len(views[0]),)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"order": "alined"}, "Unknown order 'alined'; known: 'aligned', 'given'. Did you mean 'aligned'"),
        ({"gamma": 0.0}, "gamma must be a negative number, got 0.0"),
        ({"gamma": [1]}, r"gamma must be a finite number, got \[1\]"),
        ({"alpha": -1.0}, "alpha must be a finite number >= 0, got -1.0"),
        ({"beta": 1.7e308}, "The objective of msgl is too large for a number"),
        ({"alpha": 1e300, "beta": 1e300}, "The objective of msgl is too large for a number"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_bad_settings(params: dict[str, object], message: str) -> None:
    """Refused when they are used."""
    with pytest.raises(InputError, match=message):
        clusterer(**params).fit(planted_views(0)[0])
