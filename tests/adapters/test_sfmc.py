"""SFMC: sampling, sparse graphs, and the fused graph with k components."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from strategies import real_data, seeds

from anchor_align import AlignedClusterer, InputError, get_adapter, project_rows_on_simplex
from anchor_align.blocks import ScaledRows
from anchor_align.data import make_simulated
from anchor_align.metrics import acc, nmi
from anchor_align_adapters import _leading_directions, _rank
from anchor_align_adapters._leading_directions import leading_directions
from anchor_align_adapters._nearest_anchors import nearest_anchor_graph
from anchor_align_adapters._rank import Segments, rank_constrained_graph
from anchor_align_adapters._sampling import alternate_sampling
from anchor_align_adapters.sfmc import simplex_weights


def blocks(rng: np.random.Generator, k: int, n: int = 20, m: int = 6, leak: float = 0.0) -> np.ndarray:
    """Graph of k blocks, rows on the simplex; ``leak`` of the weight goes to other blocks."""
    G = np.zeros((k * n, k * m))
    for j in range(k):
        G[j * n : (j + 1) * n, j * m : (j + 1) * m] = rng.dirichlet(np.ones(m), size=n)
    return np.asarray((1 - leak) * G + leak * rng.dirichlet(np.ones(k * m), size=k * n))


def _bipartite(linked: Any) -> Any:
    return sp.block_array([[None, linked], [linked.T, None]])


def count_components(P: sp.csr_array) -> int:
    m = P.shape[1]
    linked = sp.csr_array(P > 0)
    used = int((linked.sum(axis=0) > 0).sum())
    return int(connected_components(_bipartite(linked))[0]) - (m - used)


def test_alternate_sampling_by_its_definition() -> None:
    """The plain loop over one dense table gives the same samples, for dense and sparse views."""
    rng = np.random.default_rng(0)
    views = [rng.random((40, 5)), rng.poisson(0.3, size=(40, 12)).astype(float)]
    together = np.hstack(views)
    scores = (together - together.min(axis=0)).sum(axis=1)
    expected = []
    for _ in range(15):
        scores = scores / scores.max()
        expected.append(int(scores.argmax()))
        scores = scores * (1 - scores)
    for kind in (np.asarray, sp.csr_array):
        assert sorted(alternate_sampling([ScaledRows(kind(X)) for X in views], 15).tolist()) == sorted(expected)


@pytest.mark.parametrize("count", [10, 150, 300])
def test_alternate_sampling_takes_the_same_samples_in_any_order(count: int) -> None:
    """Scores are equal at the top of the map and, with whole numbers, from the start; some samples are duplicates."""
    rng = np.random.default_rng(2)
    for X in (rng.random((2000, 3)), rng.integers(0, 3, (400, 4)).astype(float)):
        shuffled = rng.permutation(X)
        expected, found = (each[alternate_sampling([ScaledRows(each)], count)] for each in (X, shuffled))
        np.testing.assert_array_equal(found, expected)


def test_alternate_sampling_takes_every_sample_once() -> None:
    """Duplicates and constant data included: what is left is filled up in order."""
    X = np.repeat(np.random.default_rng(1).random((4, 3)), 5, axis=0)
    for data in (X, np.ones((20, 3))):
        for m in (1, 4, 10, 20):
            taken = alternate_sampling([ScaledRows(data)], m)
            assert len(set(taken.tolist())) == m
    assert len({tuple(row) for row in X[alternate_sampling([ScaledRows(X)], 4)]}) == 4


@given(seeds, st.integers(2, 12), st.integers(1, 12))
def test_nearest_anchor_graph_by_its_definition(seed: int, m: int, k: int) -> None:
    """The closed form, one sample at a time; rows sum to one with no more entries than neighbours."""
    rng = np.random.default_rng(seed)
    X, A = rng.standard_normal((15, 3)), rng.standard_normal((m, 3))
    B = nearest_anchor_graph(X, A, k).toarray()
    k = min(k, m - 1)
    for x, row in zip(X, B, strict=True):
        h = ((x - A) ** 2).sum(axis=1)
        order = np.argsort(h)
        expected = np.zeros(m)
        near = h[order[:k]]
        expected[order[:k]] = (h[order[k]] - near) / (k * h[order[k]] - near.sum())
        np.testing.assert_allclose(row, expected, atol=1e-9)
    np.testing.assert_allclose(nearest_anchor_graph(sp.csr_array(X), sp.csr_array(A), k).toarray(), B, atol=1e-9)


def test_nearest_anchor_graph_of_ties() -> None:
    """Anchors all at the same distance share the weight; a single anchor has it all."""
    B = nearest_anchor_graph(np.zeros((2, 3)), np.eye(3), 2)
    np.testing.assert_allclose(B.sum(axis=1), 1)
    assert nearest_anchor_graph(np.ones((4, 2)), np.zeros((1, 2)), 10).toarray().tolist() == [[1.0]] * 4


@given(seeds, st.lists(st.integers(1, 9), min_size=1, max_size=8), st.sampled_from([1e-3, 1.0, 1e6, 1e17]))
def test_segments_are_projected_on_the_simplex(seed: int, lengths: list[int], scale: float) -> None:
    """Each segment as the projection of one row by definition: the residual points at no vertex."""
    values = scale * np.random.default_rng(seed).standard_normal(sum(lengths))
    projected = Segments(np.array(lengths)).project(values)
    for y, z in zip(*(np.split(v, np.cumsum(lengths)[:-1]) for v in (values, projected)), strict=True):
        assert (z >= 0).all()
        assert z.sum() == pytest.approx(1)
        assert (y - z).max() - (y - z) @ z <= 1e-9 * max(scale, 1)


@given(seed=seeds)
def test_projection_of_segments_ends_on_ties(seed: int) -> None:
    """Entries that equal the threshold up to rounding are dropped once and for all."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 8, size=20)
    values = rng.integers(0, 8, size=lengths.sum()) / 5
    values[:5], lengths[0] = [0.0, 0.6, 0.4, 1.2, 0.2], 5  # went round in circles
    values = values[: lengths.sum()] if len(values) >= lengths.sum() else np.resize(values, lengths.sum())
    projected = Segments(lengths).project(values)
    for part, found in zip(
        np.split(values, np.cumsum(lengths)[:-1]), np.split(projected, np.cumsum(lengths)[:-1]), strict=True
    ):
        np.testing.assert_allclose(found, project_rows_on_simplex(part[None])[0], atol=1e-12)


@pytest.mark.parametrize("leak", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_planted_components_are_found(k: int, leak: float) -> None:
    """Blocks with links between them come apart into exactly k components; blocks without are left as they are."""
    G = blocks(np.random.default_rng(2), k, leak=leak)
    result = rank_constrained_graph(sp.csr_array(G), k)
    assert result.n_components == k == count_components(result.graph)
    assert acc(np.repeat(np.arange(k), 20), result.labels) == 1.0
    if leak == 0 or k == 1:
        assert result.n_iter == 0
        np.testing.assert_allclose(result.graph.toarray(), G)


def test_unused_anchors_do_no_harm() -> None:
    """A column without entries changes nothing."""
    G = blocks(np.random.default_rng(3), 3, leak=0.1)
    wide = np.insert(G, 5, 0.0, axis=1)
    assert np.array_equal(rank_constrained_graph(wide, 3).labels, rank_constrained_graph(G, 3).labels)


@given(seeds, st.integers(2, 6))
def test_view_weights_are_optimal(seed: int, v: int) -> None:
    """No vertex of the simplex lies downhill of the weights found."""
    rng = np.random.default_rng(seed)
    B = rng.random((v, 20))
    Q, s = B @ B.T, 2 * B @ rng.random(20)
    w = simplex_weights(Q, s)
    gradient = 2 * Q @ w - s
    assert w.sum() == pytest.approx(1)
    assert (w >= 0).all()
    assert w @ gradient - gradient.min() <= 1e-2


def test_too_many_components_are_told() -> None:
    """Components cannot be joined: a warning says what was found, and labels come from spectral clustering."""
    X = np.repeat(np.arange(5.0)[:, None], 12, axis=0) * 100 + np.random.default_rng(4).random((60, 1))
    clusterer = AlignedClusterer("sfmc", n_clusters=2, n_anchors=60, adapter_params={"n_neighbors": 3})
    with pytest.warns(UserWarning, match=r"sfmc found \d+ connected components after 0 rounds, expected 2"):
        labels = clusterer.fit_predict([X])
    assert len(set(labels)) == 2


@pytest.mark.parametrize("anchors", ["alternate", "random", "kmeans", "flexible"])
@pytest.mark.parametrize("sparse", [False, True])
def test_all_styles_of_anchors(anchors: str, sparse: bool) -> None:
    """Clusters of the simulated data are found; graphs are sparse; only flexible anchors are aligned."""
    data = make_simulated(1)
    views = [sp.csr_array(X) for X in data.views] if sparse else data.views
    clusterer = AlignedClusterer(
        "sfmc", n_clusters=4, n_anchors=40, adapter_params={"anchors": anchors}, random_state=0
    ).fit(views)
    assert acc(data.labels, clusterer.labels_) == 1.0
    assert all(sp.issparse(B) for B in clusterer.anchor_graphs_.graphs)
    assert sp.issparse(clusterer.fused_graph_)
    assert (clusterer.aligner_ is not None) == (anchors == "flexible")
    assert clusterer.weights_ is not None
    assert clusterer.weights_.sum() == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "k", "rate", "accuracy", "information"),
    [
        ("MSRC-v1", 7, 0.2, 69.05, 61.99),
        ("MSRC-v1", 7, 0.3, 73.81, 69.12),
        ("MSRC-v1", 7, 0.5, 80.95, 74.21),
        ("MSRC-v1", 7, 0.7, 70.95, 71.61),
        ("3-Sources", 6, 0.2, 34.32, 6.22),
        ("3-Sources", 6, 0.3, 36.09, 7.93),
        ("3-Sources", 6, 0.5, 36.09, 12.28),
        ("3-Sources", 6, 0.7, 35.50, 11.06),
        ("BBCSport", 5, 0.2, 35.11, 1.24),
    ],
)
def test_figures_of_the_released_code(name: str, k: int, rate: float, accuracy: float, information: float) -> None:
    """Reproduced to two points (the method is chaotic, rounding may differ); exactly k components, and no warning."""
    views, labels = real_data(name)
    n_anchors = int(rate * len(labels))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clusterer = AlignedClusterer("sfmc", n_clusters=k, n_anchors=n_anchors, random_state=0).fit(views)
    assert len(np.unique(clusterer.labels_)) == k
    assert 100 * acc(labels, clusterer.labels_) == pytest.approx(accuracy, abs=2)
    assert 100 * nmi(labels, clusterer.labels_) == pytest.approx(information, abs=4)
    assert np.array_equal(clusterer.predict(views), clusterer.labels_)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.7])
def test_a_graph_that_has_k_components_already(rate: float) -> None:
    """The case in which the released code stops with an error."""
    views, labels = real_data("FMVACC_synthetic")
    clusterer = AlignedClusterer("sfmc", n_clusters=4, n_anchors=int(rate * len(labels)), random_state=0)
    assert acc(labels, clusterer.fit_predict(views)) == 1.0


def test_bad_settings() -> None:
    """One sentence each."""
    views = make_simulated(0).views
    for params, n_anchors, message in (
        ({"anchors": "alternating"}, 40, "Unknown anchors 'alternating'; known: 'alternate'"),
        ({"n_neighbors": 0}, 40, "n_neighbors must be a whole number >= 1, got 0"),
        ({"max_iter": 0}, 40, "max_iter must be a whole number >= 1, got 0"),
        ({}, 3, "Each of 4 clusters needs an anchor of its own, got n_anchors=3"),
        ({}, 201, "n_anchors must be between 1 and the number of samples, 200; got 201"),
    ):
        with pytest.raises(InputError, match=message):
            AlignedClusterer("sfmc", n_clusters=4, n_anchors=n_anchors, adapter_params=params).fit(views)


def test_default_number_of_anchors() -> None:
    """Half of the samples as in the paper, limited because the time grows with its third power."""
    adapter = get_adapter("sfmc")
    assert [adapter.default_n_anchors(n, 7) for n in (10, 210, 100_000)] == [7, 105, 200]


class ScriptedSupport:
    """Stands in for a graph: its projections have the numbers of components that the script says."""

    def __init__(self, counts: list[int]) -> None:
        self.values = np.ones(3)
        self.calls: list[tuple[float, float]] = []
        self._counts = iter(counts)
        self._spectra = itertools.count()

    def components(self, values: Any) -> tuple[int, None]:
        """As the script says."""
        return next(self._counts), None

    def spectrum(self, values: Any, k: int, component: None) -> _rank.Spectrum:
        """Singular vectors that tell which call they come from."""
        mark = np.full((1, 1), float(next(self._spectra)))
        return _rank.Spectrum(np.ones(1), np.ones(1), np.ones(k), mark, mark)

    def project(self, a: Any, b: Any, lam: float) -> Any:
        """Keeps what it was called with."""
        self.calls.append((float(a[0, 0]), lam))
        return self.values


def test_too_many_components_are_taken_back() -> None:
    """The next round halves the weight and starts from the singular vectors before, until k components are left."""
    support: Any = ScriptedSupport([1, 1, 5, 4, 2])
    assert _rank._iterate(support, 2, 50)[1] == 4
    assert support.calls == [(0.0, 0.1), (1.0, 0.2), (1.0, 0.1), (1.0, 0.05)]


def wide_graph(seed: int, copies: int = 1) -> sp.csr_array:
    """Sparse graph of 840 samples on 600 anchors with five weakly linked clusters, or copies of a smaller one."""
    rng = np.random.default_rng(seed)
    n, m = 840 // copies, 600 // copies
    near = (np.arange(n) * m // n)[:, None] + rng.integers(-m // 9, m // 9, size=(n, 6))
    G = np.zeros((n, m))
    np.put_along_axis(G, near % m, rng.random((n, 6)) + 0.1, axis=1)
    return sp.csr_array(sp.block_diag([G / G.sum(axis=1, keepdims=True)] * copies))


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_iteration_finds_the_eigenvectors_of_the_decomposition(copies: int) -> None:
    """Eigenvalues and the space of the eigenvectors agree; components give eigenvalues of one."""
    graph = wide_graph(0, copies)
    support = _rank.Support(graph)
    count, component = support.components(support.values)
    assert count == copies
    degrees = np.asarray(graph.sum(axis=0), dtype=np.float64)
    T = sp.csr_array(graph / np.sqrt(degrees))
    k = 9 if copies == 1 else copies + 1
    found = leading_directions(T, degrees, component[840:], k)
    values, V = _rank.largest_eigenpairs((T.T @ T).toarray(), k + 1)
    assert found is not None
    np.testing.assert_allclose(found[0], values[:k], atol=1e-12)
    if values[k - 1] - values[k] > 1e-6:  # otherwise the last direction is arbitrary
        np.testing.assert_allclose(found[1] @ found[1].T, V[:, :k] @ V[:, :k].T, atol=1e-6)


def test_iteration_notices_what_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal parts of a graph have equal eigenvalues, which an iteration that stops early finds only once."""
    graph = wide_graph(1, copies=4)
    component = np.repeat(np.arange(4), 150)
    degrees = np.asarray(graph.sum(axis=0), dtype=np.float64)
    T = sp.csr_array(graph / np.sqrt(degrees))
    values, _ = _rank.largest_eigenpairs((T.T @ T).toarray(), 7)
    found = leading_directions(T, degrees, component, 7)
    assert found is None or found[0] == pytest.approx(values, abs=1e-9)
    monkeypatch.setattr(_leading_directions, "RESIDUAL", 1e-4)
    assert leading_directions(T, degrees, component, 7) is None


@pytest.mark.slow
def test_components_do_not_depend_on_the_eigen_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same graph, rounds and labels with Lanczos iteration and with decompositions."""
    for graph, k in ((wide_graph(2), 5), (wide_graph(3, copies=3), 6)):
        monkeypatch.undo()
        iterated = rank_constrained_graph(graph, k)
        monkeypatch.setattr(_leading_directions, "LEAST_COLUMNS", 1000)
        decomposed = rank_constrained_graph(graph, k)
        assert iterated.n_iter == decomposed.n_iter > 0
        np.testing.assert_array_equal(iterated.labels, decomposed.labels)
        np.testing.assert_allclose(iterated.graph.toarray(), decomposed.graph.toarray(), atol=1e-6)


def test_alternate_sampling_does_not_depend_on_precision() -> None:
    """Data that single precision holds exactly get the same anchors and clusters in either."""
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(150, d)).astype(np.float32) for d in (7, 11)]
    fitted = [
        AlignedClusterer("sfmc", n_clusters=5, n_anchors=75).fit([X.astype(dtype) for X in views])
        for dtype in (np.float32, np.float64)
    ]
    for single, double in zip(fitted[0].anchors_ or (), fitted[1].anchors_ or (), strict=True):
        np.testing.assert_array_equal(single, double)
    np.testing.assert_array_equal(fitted[0].labels_, fitted[1].labels_)
