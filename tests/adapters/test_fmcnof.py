"""FMCNOF: common anchors, both sparsifiers, and factors whose objective never rises."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from strategies import planted_views

from anchor_align import AlignedClusterer, InputError, get_adapter
from anchor_align.metrics import acc
from anchor_align_adapters.fmcnof import factorise


def clusterer(n_anchors: int | None = None, **params: object) -> AlignedClusterer:
    return AlignedClusterer("fmcnof", n_clusters=3, n_anchors=n_anchors, adapter_params=params, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sparsifier", "n_anchors", "least", "mean"), [("released", 6, 0.7, 0.9), ("text", 6, 0.7, 0.9), ("text", 9, 1, 1)]
)
def test_planted_clusters_are_found(sparsifier: str, n_anchors: int, least: float, mean: float) -> None:
    """All of them with three near anchors for each; with the default number, mistakes are few. No anchors are aligned.

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
    """Three more than clusters, or as many as samples."""
    adapter = get_adapter("fmcnof")
    assert adapter.default_n_anchors(120, 3) == 6
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


@pytest.mark.slow
@pytest.mark.parametrize("sparsifier", ["released", "text"])
@pytest.mark.parametrize("seed", range(3))
def test_order_of_samples_and_sparse_views(sparsifier: str, seed: int) -> None:
    """The clusters do not depend on the order of the samples or on the storage of the views."""
    views, _ = planted_views(seed)
    rows = np.random.default_rng(seed).permutation(120)
    before = clusterer(sparsifier=sparsifier).fit_predict(views)
    shuffled = clusterer(sparsifier=sparsifier).fit_predict([X[rows] for X in views])
    assert adjusted_rand_score(before[rows], shuffled) == 1.0
    in_sparse = clusterer(sparsifier=sparsifier).fit_predict([sp.csr_array(X) for X in views])
    np.testing.assert_array_equal(before, in_sparse)


@pytest.mark.filterwarnings("ignore:View . has only:UserWarning")
@pytest.mark.parametrize("sparsifier", ["released", "text"])
def test_constant_samples_have_labels(sparsifier: str) -> None:
    """Samples without a standard deviation, and ties: the fit ends."""
    views = [np.ones((12, 3)), np.arange(12)[:, None] % 2 * np.ones(2)]
    found = AlignedClusterer(
        "fmcnof", n_clusters=2, adapter_params={"sparsifier": sparsifier}, random_state=0
    ).fit_predict(views)
    assert found.shape == (12,)


def test_too_few_anchors() -> None:
    """With as many anchors as clusters the released graph is the same for every sample."""
    views, _ = planted_views(0)
    with pytest.raises(InputError, match=r"sparsifier='released' needs at least 4 anchors for 3 clusters, got .*=3"):
        AlignedClusterer("fmcnof", n_clusters=3, n_anchors=3).fit(views)
    with pytest.raises(InputError, match="Unknown sparsifier 'texts'"):
        clusterer(sparsifier="texts").fit(views)
