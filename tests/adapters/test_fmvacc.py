"""FMVACC: orthogonal anchors and graphs by alternation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import real_data

from anchor_align import AlignedClusterer, get_adapter, load_views
from anchor_align.blocks import true_rows
from anchor_align.metrics import acc
from anchor_align_adapters._alternation import Alternated, Settings, alternate, best_graph
from anchor_align_adapters._scaling import scale_views
from anchor_align_adapters.fmvacc import FMVACC


def clustered(rng: np.random.Generator, n: int = 100, d: int = 6) -> np.ndarray:
    return rng.standard_normal((8, d))[rng.integers(8, size=n)] + 0.3 * rng.standard_normal((n, d))


def run(X: np.ndarray, m: int, *, beta: float = 1.0, orthogonal: bool = True, tol: float = 0.0) -> Alternated:
    (view,), _ = scale_views([X], "standard")
    return alternate(view, true_rows(view, slice(m)), Settings(beta, orthogonal, 30, tol))


def graph(X: np.ndarray, result: Alternated, *, beta: float = 1.0, orthogonal: bool = True) -> np.ndarray:
    (view,), _ = scale_views([X], "standard")
    return best_graph(view, result.anchors, Settings(beta, orthogonal, 30, 0.0))


@pytest.mark.parametrize("beta", [0.0, 0.01, 1.0, 100.0])
@pytest.mark.parametrize(("m", "orthogonal"), [(3, True), (6, True), (12, True), (3, False), (12, False)])
def test_objective_never_rises(m: int, orthogonal: bool, beta: float) -> None:
    """With orthogonal anchors (m <= features) and without; the history is the objective computed directly."""
    X = clustered(np.random.default_rng(0))
    result = run(X, m, beta=beta, orthogonal=orthogonal)
    assert (np.diff(result.history) <= 1e-9 * result.history[0]).all()
    assert result.history[-1] < result.history[0]
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    Z, A = graph(X, result, beta=beta, orthogonal=orthogonal), result.anchors
    value = ((standard - Z @ A) ** 2).sum() + beta * (Z**2).sum()
    assert value <= result.history[-1] * (1 + 1e-9)
    if orthogonal and m <= 6:
        assert value == pytest.approx(result.history[-1])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rounding_is_not_enlarged(seed: int) -> None:
    """More anchors than features, and samples in another order: sums round differently, and anchors hardly differ."""
    views = load_views("digits").views
    order = np.random.default_rng(5).permutation(len(views[0]))
    found = [
        FMVACC(n_init=1).learn_anchors(each, n_clusters=10, n_anchors=50, random_state=seed).anchors or ()
        for each in (views, [X[order] for X in views])
    ]
    for stored, shuffled in zip(*found, strict=True):
        assert np.abs(stored - shuffled).max() < 1e-6 * np.abs(stored).max()


@pytest.mark.parametrize(("m", "orthogonal"), [(3, True), (6, True), (12, False)])
def test_anchors_are_orthonormal_where_they_can_be(m: int, orthogonal: bool) -> None:
    """Rows on the simplex in any case."""
    X = clustered(np.random.default_rng(1))
    result = run(X, m)
    assert np.allclose(result.anchors @ result.anchors.T, np.eye(m)) == orthogonal
    Z = graph(X, result)
    assert (Z >= 0).all()
    np.testing.assert_allclose(Z.sum(axis=1), 1, rtol=1e-9)


@pytest.mark.parametrize("m", [4, 9])
def test_graph_is_the_best_for_its_anchors(m: int) -> None:
    """No other rows on the simplex have a lower objective."""
    rng = np.random.default_rng(2)
    (view,), _ = scale_views([clustered(rng)], "standard")
    settings = Settings(0.5, True, 10, 0.0)
    rows = true_rows(view, slice(None))
    A = alternate(view, rows[:m], settings).anchors
    Z = best_graph(view, A, settings)
    for _ in range(20):
        other = 0.9 * Z + 0.1 * rng.dirichlet(np.full(m, 0.3), size=len(Z))
        values = [((rows - W @ A) ** 2).sum(axis=1) + 0.5 * (W**2).sum(axis=1) for W in (Z, other)]
        assert (values[0] <= values[1] + 1e-9).all()


def test_stops_at_the_tolerance() -> None:
    """A loose tolerance takes fewer rounds."""
    X = clustered(np.random.default_rng(3))
    assert len(run(X, 4, tol=1e-2).history) < len(run(X, 4, tol=1e-9).history) <= 30


@pytest.mark.parametrize("scale", ["standard", "spread", "unit", "max", None])
@pytest.mark.parametrize("m", [4, 9])
def test_sparse_views_give_the_same_graphs(scale: str | None, m: int) -> None:
    """The means that are subtracted do not fill a sparse view, and change nothing."""
    rng = np.random.default_rng(4)
    X = rng.exponential(size=(60, 8)) * (rng.random((60, 8)) < 0.4)
    adapter = get_adapter("fmvacc", scale=scale, max_iter=5)
    dense, sparse = (
        adapter.anchor_graphs([view], n_clusters=2, n_anchors=m, random_state=0).graphs[0]
        for view in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(sparse, dense, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "k", "least"), [("3-Sources", 6, 53.2), ("UCI-Digit_3v", 10, 84.1), ("BDGP_3v", 5, 55.9)]
)
def test_published_accuracy_is_reached(name: str, k: int, least: float) -> None:
    """Best of the paper's grid (without its largest number of anchors), within one of its standard deviations."""
    views, labels = real_data(name)
    scores = [
        acc(
            labels,
            AlignedClusterer(
                "fmvacc", n_clusters=k, n_anchors=m, adapter_params={"beta": beta}, random_state=0
            ).fit_predict(views),
        )
        for m, beta in itertools.product((k, 2 * k), (0.01, 1.0, 100.0))
    ]
    assert 100 * max(scores) >= least


def test_a_path_of_betas_starts_where_the_last_one_ended() -> None:
    """The objective is about as low as from the start; the first beta has the very same anchors."""
    views, _ = real_data("UCI-Digit_3v")
    scaled, _ = scale_views(views, "standard")
    path = FMVACC(n_init=1).path(views, [0.5, 1.0, 2.0], n_anchors=10, random_state=0)
    for number, (adapter, learned) in enumerate(path):
        alone = FMVACC(adapter.beta, n_init=1).learn_anchors(views, n_clusters=10, n_anchors=10, random_state=0)
        settings = Settings(adapter.beta, True, 1, 0.0)
        for X, warm, cold in zip(scaled, learned.anchors or (), alone.anchors or (), strict=True):
            if number == 0:
                np.testing.assert_array_equal(warm, cold)
            reached, expected = (alternate(X, A, settings, warm=True).history[0] for A in (warm, cold))
            assert reached <= 1.01 * expected
    assert number == 2
