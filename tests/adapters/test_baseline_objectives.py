"""The baselines one by one: objectives never rise, shortcuts give the answer of the plain formula."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from strategies import planted_views, real_data

from anchor_align import get_baseline
from anchor_align.blocks import ScaledRows, row_order
from anchor_align.metrics import acc
from anchor_align_adapters.baselines._eigenvectors import DENSE, leading_eigenvectors
from anchor_align_adapters.baselines._neighbour_graph import neighbour_graph, normalised
from anchor_align_adapters.baselines._preparation import nearest_samples
from anchor_align_adapters.baselines.amgl import weighted_embedding
from anchor_align_adapters.baselines.pmsc import _graph, _inverse
from anchor_align_adapters.baselines.rmkm import RobustRun, robust_kmeans


@pytest.mark.parametrize("r", [1.2, 4.0, 50.0])
@pytest.mark.parametrize("k", [4, 30])
def test_the_objective_of_rmkm_never_rises(r: float, k: int) -> None:
    """Starts side by side end like starts alone; few and many clusters, empty ones too."""
    rng = np.random.default_rng(0)
    views = [ScaledRows(rng.standard_normal((80, d))) for d in (3, 7)]
    starts = [rng.integers(k // 2, size=80) for _ in range(3)]
    together = robust_kmeans(views, [RobustRun(start.copy()) for start in starts], k, r, 60, 1e-6)
    for run, start in zip(together, starts, strict=True):
        assert np.all(np.diff(run.history) <= 1e-9 * run.history[0])
        (alone,) = robust_kmeans(views, [RobustRun(start.copy())], k, r, 60, 1e-6)
        assert np.array_equal(run.labels, alone.labels)
        assert len(np.unique(run.labels)) > k // 2  # empty clusters are used


def test_rmkm_minimises_what_it_says() -> None:
    """The objective of the end is that of the formula, for the best centroids of the partition."""
    views, _ = planted_views(0)
    views = [X / X.std() for X in views]
    run = robust_kmeans([ScaledRows(X) for X in views], [RobustRun(np.arange(120) % 3)], 3, 4.0, 100, 0.0)[0]
    value = 0.0
    for X, weight in zip(views, run.weights, strict=True):
        for cluster in range(3):
            members = X[run.labels == cluster]
            centre = members.mean(axis=0)
            for _ in range(200):  # the geometric median
                factors = 1.0 / np.linalg.norm(members - centre, axis=1)
                centre = factors @ members / factors.sum()
            value += weight**4 * np.linalg.norm(members - centre, axis=1).sum()
    assert run.history[-1] == pytest.approx(value, rel=1e-3)


def test_the_objective_of_amgl_never_rises() -> None:
    """Embedding and weights in turn, on unrelated graphs."""
    rng = np.random.default_rng(0)
    graphs = [
        normalised(neighbour_graph(*nearest_samples(ScaledRows(rng.standard_normal((90, d))), 6))) for d in (2, 4, 9)
    ]
    found = weighted_embedding(graphs, 5, 0, max_iter=40, tol=0.0)
    assert np.all(np.diff(found.history) <= 1e-9 * found.history[0])


def test_duplicates_are_neighbours() -> None:
    """A sample is not its own neighbour, its copy is; equal distances give equal weights; rows sum to one."""
    X = np.repeat(np.array([[0.0], [10.0], [20.0]]), 7, axis=0)
    near, distances = nearest_samples(ScaledRows(X), 6)
    assert not (near == np.arange(21)[:, None]).any()
    assert (near // 7 == np.arange(21)[:, None] // 7).all()
    assert not distances.any()
    graph = neighbour_graph(near, distances)
    np.testing.assert_allclose(graph.sum(), 21.0)
    assert np.unique(graph.data.round(12)).tolist() == [0.1, 0.2]


def test_lanczos_steps_and_the_dense_decomposition_agree() -> None:
    """The same subspace for a neighbour graph that is just large enough for the iteration."""
    n, k = DENSE + 50, 4
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4, 6))[np.arange(n) % 4] * 2 + rng.standard_normal((n, 6))
    M = normalised(neighbour_graph(*nearest_samples(ScaledRows(X), 8)))
    found = leading_eigenvectors(n, k, M.__matmul__, M.toarray, 0)
    values, vectors = np.linalg.eigh(M.toarray())
    assert values[-k] - values[-k - 1] > 1e-6
    np.testing.assert_allclose(np.linalg.svd(vectors[:, -k:].T @ found)[1], 1.0, atol=1e-10)


@pytest.mark.parametrize("d", [5, 60])
def test_the_graph_of_pmsc_is_that_of_the_formula(d: int) -> None:
    """Without the matrix of distances, and with the inverse through the features or the samples."""
    rng = np.random.default_rng(d)
    X, F = rng.standard_normal((30, d)), np.linalg.qr(rng.standard_normal((30, 3)))[0]
    K = X @ X.T
    inverse = np.asarray(np.linalg.inv(K + 0.7 * np.eye(30)), dtype=np.float64)
    for form in (X, sp.csr_array(X)):
        np.testing.assert_allclose(_inverse(form, 0.7), inverse, atol=1e-10)
    distances = ((F[:, None] - F) ** 2).sum(axis=2)
    Z = np.maximum(inverse @ (K - 0.4 / 4 * distances), 0.0)
    np.testing.assert_allclose(_graph(inverse, 0.7, 0.4, F), (Z + Z.T) / 2, atol=1e-10)


def test_kmeans_is_that_of_scikit_learn() -> None:
    """On the same scaled views side by side, with the samples in the order of the draws."""
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((100, 4)), 50.0 * rng.standard_normal((100, 3))]
    scaled = np.hstack([(X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).sum()) for X in views])
    order = row_order(ScaledRows(scaled))
    for seed, n_init in ((0, 1), (1, 1), (2, 1), (3, 10)):
        expected = KMeans(5, n_init=n_init, random_state=seed).fit_predict(scaled[order])
        found = get_baseline("kmeans", n_init=n_init).fit_predict(views, n_clusters=5, random_state=seed)
        assert adjusted_rand_score(expected, found[order]) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "params", "data", "low", "high"),
    [
        ("amgl", {}, "3-Sources", 31.0, 34.0),
        ("amgl", {}, "MSRC-v1", 73.0, 76.5),
        ("rmkm", {}, "UCI-Digit_3v", 88.0, 100.0),
        ("pmsc", {}, "3-Sources", 61.0, 67.5),
        ("msc-ias", {}, "3-Sources", 52.0, 64.0),
    ],
)
def test_published_or_prototype_accuracy(
    name: str, params: dict[str, object], data: str, low: float, high: float
) -> None:
    """Mean of two draws on real data."""
    views, labels = real_data(data)
    k = len(np.unique(labels))
    scores = [
        acc(labels, get_baseline(name, **params).fit_predict(views, n_clusters=k, random_state=s)) for s in (0, 1)
    ]
    assert low <= 100 * np.mean(scores) <= high
