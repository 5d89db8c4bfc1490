"""FMCNOF: common anchors, both sparsifiers, and factors whose objective never rises."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import planted_views

from anchor_align import AlignedClusterer, InputError, get_adapter
from anchor_align.data import make_simulated
from anchor_align.metrics import acc
from anchor_align_adapters.fmcnof import factorise


def clusterer(n_anchors: int | None = None, **params: object) -> AlignedClusterer:
    return AlignedClusterer("fmcnof", n_clusters=3, n_anchors=n_anchors, adapter_params=params, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sparsifier", "n_anchors", "least", "mean"), [("released", 6, 0.7, 0.9), ("text", 6, 0.7, 0.9), ("text", 15, 1, 1)]
)
def test_planted_clusters_are_found(sparsifier: str, n_anchors: int, least: float, mean: float) -> None:
    """All of them with the default number of anchors; mistakes are few with three more than clusters.

    With six anchors the accuracy of a draw is 0.95 in the mean, with a standard deviation of 0.06.
    """
    scores = []
    for seed in range(10):
        views, labels = planted_views(seed)
        fitted = clusterer(n_anchors, sparsifier=sparsifier).fit(views)
        scores.append(acc(labels, fitted.labels_))
        assert fitted.aligner_ is None
        assert fitted.fused_graph_.shape[1] == n_anchors
    assert min(scores) >= least
    assert np.mean(scores) >= mean


def test_default_number_of_anchors() -> None:
    """Five for each cluster, as released three more than clusters, or as many as samples."""
    for sparsifier, expected in (("text", 15), ("released", 6)):
        adapter = get_adapter("fmcnof", sparsifier=sparsifier)
        assert adapter.default_n_anchors(120, 3) == expected
        assert adapter.default_n_anchors(5, 3) == 5


def test_the_sparsifiers_are_told_apart() -> None:
    """As released, a sample is on its k farthest anchors; as the text means it, on its k nearest."""
    views, _ = planted_views(1)
    X = (views[0] - views[0].mean(axis=1, keepdims=True)) / views[0].std(axis=1, ddof=1, keepdims=True)
    for sparsifier, farthest in (("released", True), ("text", False)):
        made = get_adapter("fmcnof", sparsifier=sparsifier).anchor_graphs(
            views, n_clusters=3, n_anchors=7, random_state=0
        )
        (Z, *_), (A, *_) = made.graphs, made.anchors or ()
        ranks = np.linalg.norm(X[:, None] - A, axis=2).argsort(axis=1).argsort(axis=1)
        np.testing.assert_array_equal(Z > 0.1, ranks >= 4 if farthest else ranks < 3)
        np.testing.assert_allclose(Z.sum(axis=1), 1.0)
        np.testing.assert_allclose(Z[Z > 0.1], 1 / 3, rtol=1e-5)
        assert made.aligned


def test_the_objective_never_rises() -> None:
    """Random graphs: factors and weights in turn; G is orthonormal and F is not negative."""
    rng = np.random.default_rng(0)
    graphs = [rng.dirichlet(np.ones(8), size=60) for _ in range(3)]
    found = factorise(graphs, 4, rng, 30)
    assert np.all(np.diff(found.history) <= 1e-9)
    np.testing.assert_allclose(found.G.T @ found.G, np.eye(4), atol=1e-10)
    assert found.F.min() >= 0
    assert found.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("n_features", [1, 2])
def test_views_of_one_or_two_features(n_features: int) -> None:
    """Clear clusters are found in any unit, though standardised samples of so few features would be all alike."""
    labels = np.arange(60) % 3
    X = 1000.0 * np.array([[0, 0], [6, 6], [0, 12]])[labels, -n_features:]
    X = X + 300.0 * np.random.default_rng(0).standard_normal(X.shape)
    assert acc(labels, clusterer().fit_predict([X])) == 1.0


def test_a_constant_view_is_named() -> None:
    """It would get all the weight, so that no cluster is found."""
    views = {"a": make_simulated(0).views[0], "b": np.ones((200, 3))}
    with pytest.warns(UserWarning, match="View b is constant"):
        AlignedClusterer("fmcnof", n_clusters=4, random_state=0).fit(views)


@pytest.mark.filterwarnings("ignore:View . has only:UserWarning")
@pytest.mark.parametrize("sparsifier", ["released", "text"])
def test_constant_samples_have_labels(sparsifier: str) -> None:
    """Samples without a standard deviation, and ties: the fit ends."""
    views = [np.ones((12, 3)) * np.arange(1, 13)[:, None], np.arange(12)[:, None] % 2 * np.ones(2)]
    found = AlignedClusterer(
        "fmcnof", n_clusters=2, adapter_params={"sparsifier": sparsifier}, random_state=0
    ).fit_predict(views)
    assert found.shape == (12,)


def test_too_few_anchors() -> None:
    """With as many anchors as clusters the graph is the same for every sample."""
    views, _ = planted_views(0)
    with pytest.raises(InputError, match=r"needs at least 4 anchors for 3 clusters, got n_anchors=3"):
        AlignedClusterer("fmcnof", n_clusters=3, n_anchors=3).fit(views)
    with pytest.raises(InputError, match="Unknown sparsifier 'texts'"):
        clusterer(sparsifier="texts").fit(views)
