"""Local anchor graphs: nearest anchors by definition, duplicates and ties, sparse all the way, degenerate views."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import real_data

from anchor_align import AlignedClusterer, InputError, get_adapter
from anchor_align.arrays import is_sparse
from anchor_align.data import make_simulated
from anchor_align.metrics import acc, ari
from anchor_align_adapters._nearest_anchors import nearest_anchor_graph


def planted(n: int = 300, k: int = 4, widths: tuple[int, ...] = (8, 6), seed: int = 0) -> tuple[list[Any], np.ndarray]:
    """Views with clusters of different directions, samples sorted by cluster."""
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(k, size=n))
    return [6 * rng.standard_normal((k, d))[labels] + rng.standard_normal((n, d)) for d in widths], labels


def graph_of(X: Any, n_anchors: int, **params: Any) -> sp.csr_array:
    adapter = get_adapter("local", **params)
    made = adapter.anchor_graphs([X], n_clusters=2, n_anchors=n_anchors, random_state=0)
    Z: sp.csr_array = made.graphs[0]
    return Z


@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
def test_graph_by_its_definition(kind: str) -> None:
    """Weights of the nearest anchors from all squared distances, for unit rows and for standard features."""
    X = np.abs(planted()[0][0]) + 1.0
    given: Any = sp.csr_array(X) if kind == "sparse" else X.astype("f4" if kind == "float32" else "f8")
    for scale in ("unit", "standard"):
        adapter = get_adapter("local", n_neighbors=3, scale=scale)
        made = adapter.anchor_graphs([given], n_clusters=4, n_anchors=12, random_state=0)
        assert made.anchors is not None
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        if scale == "unit":
            scaled = X / np.sqrt(np.mean(X**2, axis=1, keepdims=True))
        h = ((scaled[:, None] - made.anchors[0]) ** 2).sum(axis=2)
        fourth = np.sort(h, axis=1)[:, 3:4]
        expected = np.maximum(fourth - h, 0.0)
        expected /= expected.sum(axis=1, keepdims=True)
        assert made.graphs[0].dtype == (np.float32 if kind == "float32" else np.float64)
        np.testing.assert_allclose(made.graphs[0].toarray(), expected, atol=1e-3 if kind == "float32" else 1e-9)


def test_graphs_stay_sparse() -> None:
    """Graphs, aligned mean and concatenation are CSR; the graph of new samples has the same rows."""
    views, _ = planted()
    for fusion, entries in (("aligned", 2 * 10), ("unaligned", 2 * 10), ("concat", 2 * 10)):
        fitted = AlignedClusterer("local", n_clusters=4, fusion=fusion, random_state=0).fit(views)
        assert all(isinstance(Z, sp.csr_array) and Z.nnz <= 10 * 300 for Z in fitted.anchor_graphs_.graphs)
        assert isinstance(fitted.fused_graph_, sp.csr_array)
        assert fitted.fused_graph_.nnz <= entries * 300
        again = fitted.adapter_.new_graphs([X[:9] for X in views], fitted.anchor_graphs_)
        assert all(is_sparse(Z) for Z in again)
        np.testing.assert_allclose(
            sp.csr_array(again[1]).toarray(), fitted.anchor_graphs_.graphs[1][:9].toarray(), atol=1e-9
        )
        assert np.array_equal(fitted.predict(views), fitted.labels_)


def test_coinciding_anchors() -> None:
    """Only the first of equal anchors is used; with one distinct sample it has all the weight."""
    X = np.repeat(np.eye(4), 10, axis=0)
    with pytest.warns(UserWarning, match="only 4 distinct samples for 6 anchors"):
        Z = graph_of(X, 6, n_neighbors=5)
    assert np.count_nonzero(Z.sum(axis=0)) == 4
    np.testing.assert_allclose(Z.sum(axis=1), 1)
    # The three other anchors are equally far: the own anchor has all the weight.
    np.testing.assert_allclose(np.sort(Z.toarray(), axis=1)[:, -1], 1)
    with pytest.warns(UserWarning, match="only 1 distinct samples for 3 anchors"):
        Z = graph_of(np.ones((20, 3)), 3)
    assert np.array_equal(Z.toarray().sum(axis=0), [20.0, 0.0, 0.0])


def test_ties() -> None:
    """A sample that is equally far from all anchors has equal weights on its neighbours, in any block."""
    X = np.zeros((5, 3))
    Z = nearest_anchor_graph(X, np.eye(3), 2).toarray()
    assert np.array_equal(Z[0], Z[4])
    assert Z[0].tolist() == [0.5, 0.5, 0.0]
    assert np.array_equal(nearest_anchor_graph(X[:1], np.eye(3), 2).toarray(), Z[:1])


def test_rows_of_zeros() -> None:
    """Unit rows keep them zero: all have the same row of the graph, and the clusters of the others are found."""
    views, labels = planted()
    empty = np.arange(300) % 5 == 0
    views[1] = np.where(empty[:, None], 0.0, views[1])
    fitted = AlignedClusterer("local", n_clusters=4, random_state=0).fit(views)
    rows = fitted.anchor_graphs_.graphs[1][np.flatnonzero(empty)].toarray()
    assert np.ptp(rows, axis=0).max() < 1e-12
    assert acc(labels, fitted.labels_) > 0.95


@pytest.mark.parametrize("other", ["binary", "outliers", "noise"])
def test_degenerate_views(other: str) -> None:
    """Sparse binary views, a view that is constant but for outliers, and a view of noise leave the clusters alone."""
    views, labels = planted(widths=(8, 6, 7))
    rng = np.random.default_rng(1)
    n = len(labels)
    likely = rng.random((4, 400)) < 0.05
    extra: dict[str, Any] = {
        "binary": sp.csr_array((rng.random((n, 400)) < np.where(likely[labels], 0.3, 0.005)).astype(float)),
        "outliers": np.where(np.arange(n)[:, None] < 3, 1e3 * rng.standard_normal((n, 4)), 1.0),
        "noise": rng.standard_normal((n, 10)),
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="View 3 has only")
        fitted = AlignedClusterer(n_clusters=4, random_state=0).fit([*views, extra[other]])
    assert acc(labels, fitted.labels_) > 0.98
    if other == "binary":
        assert acc(labels, AlignedClusterer(n_clusters=4, random_state=0).fit_predict([extra[other]] * 2)) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_simulated_data_with_default_settings(seed: int) -> None:
    """At least 99 % on every draw, although unit rows keep only the direction of the samples."""
    data = make_simulated(seed)
    assert acc(data.labels, AlignedClusterer(n_clusters=4, random_state=seed).fit_predict(data.views)) >= 0.99


def test_clusters_that_differ_by_length_need_another_scale() -> None:
    """Unit rows lose clusters along one ray; standard features find them, as the documentation says."""
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=300)
    lengths = (2.0 * labels + 1.0 + 0.2 * rng.standard_normal(300))[:, None]
    views = [lengths * np.ones(d) + 0.1 * rng.standard_normal((300, d)) for d in (2, 5)]
    scores = {
        scale: acc(
            labels, AlignedClusterer(n_clusters=4, random_state=0, adapter_params={"scale": scale}).fit_predict(views)
        )
        for scale in ("unit", "standard")
    }
    assert scores["standard"] >= 0.99
    assert scores["unit"] < 0.8


def test_missing_samples_and_unequal_numbers_of_anchors() -> None:
    """Clusters are found, the fused graph stays sparse, and predict gives the labels again."""
    views, labels = planted()
    mask = np.ones((2, 300), dtype=bool)
    mask[1, ::5] = False
    fitted = AlignedClusterer(n_clusters=4, n_anchors=[20, 16], random_state=0).fit(views, mask=mask)
    assert isinstance(fitted.fused_graph_, sp.csr_array)
    assert acc(labels, fitted.labels_) > 0.98
    assert np.array_equal(fitted.predict(views, mask=mask), fitted.labels_)


def test_default_number_of_anchors() -> None:
    """Ten for each cluster, at most a third of the samples and 400, at least two for each cluster."""
    count = get_adapter("local").default_n_anchors
    assert [count(*each) for each in ((10_000, 10), (150, 6), (10**6, 100), (10**6, 300), (5, 3))] == [
        100, 50, 400, 600, 5,
    ]  # fmt: skip


def test_views_of_one_feature_need_another_scale() -> None:
    """Unit rows keep the sign of the feature only; the warning names the cause and the setting that mends it."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=300)
    views = [(centres[labels] + rng.normal(size=300))[:, None] for centres in np.array([[5.0, 15, 25], [25, 5, 15]])]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        AlignedClusterer(n_clusters=3, adapter_params={"scale": "unit"}, random_state=0).fit(views)
    said = [str(each.message) for each in caught if "1 distinct samples for 30 anchors" in str(each.message)]
    assert len(said) == 2
    assert all("scale='standard' keeps them apart" in each for each in said)
    for params in ({"scale": "standard"}, {}):  # the default chooses it
        clusterer = AlignedClusterer(n_clusters=3, adapter_params=params, random_state=0)
        assert ari(labels, clusterer.fit_predict(views)) > 0.99


def test_one_large_cluster_among_small_ones() -> None:
    """With one direction for each cluster the large cluster stays whole."""
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(10), [500] + [40] * 9)
    views = [4 * rng.normal(size=(10, 10))[labels] + rng.normal(size=(len(labels), 10)) for _ in range(2)]
    for seed in range(3):
        clusterer = AlignedClusterer(n_clusters=10, adapter_params={"directions": 1.0}, random_state=seed)
        assert ari(labels, clusterer.fit_predict(views)) > 0.95


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number >= 1"),
        ({"column_scaling": -1.0}, "column_scaling must be a finite number >= 0"),
        ({"directions": 0.5}, "directions must be a finite number >= 1"),
        ({"scale": "fast"}, "Unknown scale 'fast'"),
    ],
)
def test_wrong_settings(params: dict[str, Any], message: str) -> None:
    """Each gives one sentence, before the anchors are learned."""
    with pytest.raises(InputError, match=message):
        AlignedClusterer(n_clusters=4, adapter_params=params).fit(planted()[0])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("UCI-Digit_3v", 0.9), ("3-Sources", 0.62), ("BBCSport", 0.8)])
def test_real_data_with_default_settings(name: str, least: float) -> None:
    """Mean of three draws, nothing picked by label."""
    views, labels = real_data(name)
    k = len(np.unique(labels))
    draws = [AlignedClusterer(n_clusters=k, random_state=seed).fit_predict(views) for seed in range(3)]
    assert np.mean([acc(labels, found) for found in draws]) >= least


def test_rounds_of_kmeans_are_limited() -> None:
    """One round gives worse anchors than many; fewer than one is refused."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))

    def error(max_iter: int) -> float:
        local = get_adapter("local", scale=None, max_iter=max_iter)
        (A,) = local.learn_anchors([X], n_clusters=2, n_anchors=20, random_state=0).anchors or ()
        return float(((X[:, None] - A) ** 2).sum(axis=2).min(axis=1).sum())

    assert error(1) > error(5) > error(100)
    with pytest.raises(InputError, match="max_iter must be"):
        error(0)
