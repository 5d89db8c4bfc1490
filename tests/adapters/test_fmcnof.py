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


def clusterer(**params: object) -> AlignedClusterer:
    return AlignedClusterer("fmcnof", n_clusters=3, adapter_params=params, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize("sparsifier", ["released", "text"])
@pytest.mark.parametrize("seed", range(3))
def test_planted_clusters_are_found(sparsifier: str, seed: int) -> None:
    """With both sparsifiers; the anchors are not aligned again."""
    views, labels = planted_views(seed)
    fitted = clusterer(sparsifier=sparsifier).fit(views)
    assert acc(labels, fitted.labels_) > 0.9
    assert fitted.aligner_ is None
    assert fitted.fused_graph_.shape[1] == 6


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
def test_order_of_samples_and_sparse_views() -> None:
    """The graphs do not depend on the block or on the storage of the views."""
    views, _ = planted_views(0)
    rows = np.random.default_rng(0).permutation(120)
    before = clusterer().fit_predict(views)
    assert adjusted_rand_score(before[rows], clusterer().fit_predict([X[rows][:, ::-1] for X in views])) == 1.0
    assert np.array_equal(before, clusterer().fit_predict([sp.csr_array(X) for X in views]))


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
