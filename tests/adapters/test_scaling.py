"""Scaling of views: what it promises, for dense and sparse views."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from anchor_align.blocks import Products, ScaledRows, _scaled_rows, true_rows, weighted_rows, weighted_sums
from anchor_align_adapters._scaling import learn_scaler, scale_views, side_by_side

X = np.random.default_rng(0).exponential(size=(50, 7)) * (np.random.default_rng(1).random((50, 7)) < 0.5)
X[7] = 0.0
WITH_CONSTANT = np.where(np.arange(7) == 3, 4.0, X)


@pytest.fixture(params=[0, _scaled_rows.FEW], ids=["many", "few"], autouse=True)
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are scaled once, many a block at a time."""
    monkeypatch.setattr(_scaled_rows, "FEW", request.param)


def scaled(data: npt.NDArray[Any], scale: str | None, sparse: bool) -> ScaledRows:
    view = sp.csr_array(data) if sparse else data
    return learn_scaler(view, scale)(view)


def dense(view: ScaledRows) -> npt.NDArray[np.float64]:
    return true_rows(view, slice(None))


@pytest.mark.parametrize("sparse", [False, True])
def test_what_the_scales_promise(sparse: bool) -> None:
    """Standard deviations, their mean square, mean squares of samples, largest entries."""
    standard = dense(scaled(WITH_CONSTANT, "standard", sparse))
    np.testing.assert_allclose(standard.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(standard.std(axis=0), np.arange(7) != 3, atol=1e-12)
    assert np.mean(dense(scaled(X, "spread", sparse)).var(axis=0)) == pytest.approx(1)
    squares = (dense(scaled(X, "unit", sparse)) ** 2).mean(axis=1)
    np.testing.assert_allclose(squares[X.any(axis=1)], 1)
    assert (squares[~X.any(axis=1)] == 0).all()
    assert np.abs(dense(scaled(-X, "max", sparse))).max() == 1.0
    assert np.array_equal(dense(scaled(X, None, sparse)), X)


@pytest.mark.parametrize("scale", ["standard", "spread", "unit", "max", None])
def test_products_of_a_sparse_view(scale: str | None) -> None:
    """Means are subtracted in the products only, and the view keeps its zeros."""
    view = scaled(X, scale, sparse=True)
    block = view.block(slice(None))
    assert block.nnz <= np.count_nonzero(X)
    full = dense(scaled(X, scale, sparse=False))
    rng = np.random.default_rng(2)
    B, Z = rng.standard_normal((3, 7)), rng.standard_normal((4, 50))
    np.testing.assert_allclose(Products(view, B).of(block), B @ full.T, atol=1e-10)
    sums = weighted_rows(view, weighted_sums(Z, block), Z.sum(axis=1))
    np.testing.assert_allclose(sums, Z @ full, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e3])
@pytest.mark.parametrize("scale", ["standard", "spread", "unit", "max", None])
def test_statistics_and_centring(scale: str | None, offset: float, dtype: type) -> None:
    """Statistics are those of the scaled rows; less their mean, products keep their digits wherever the rows lie."""
    data: np.ndarray = (X + offset).astype(dtype)
    view = scaled(data, scale, sparse=False)
    full = dense(view)
    digits = 1e-11 if dtype == np.float64 else 1e-3
    size = np.abs(full).max()
    np.testing.assert_allclose(view.stats().mean, full.mean(axis=0), atol=digits * size)
    np.testing.assert_allclose(view.stats().high, full.max(axis=0), atol=digits * size)
    near, shift = view.centred()
    np.testing.assert_allclose(dense(near) + shift, full, atol=digits * size)
    spread = full.std(axis=0).max()
    np.testing.assert_allclose(view.stats().variance, full.var(axis=0), atol=1e-3 * spread**2)
    B = np.random.default_rng(2).standard_normal((3, 7))
    exact = B @ (full - shift).T
    found = Products(near, B).of(near.block(slice(None)))
    # No more digits are lost than the entries, at their distance from zero, have not got.
    resolution = np.finfo(dtype).eps * np.abs(data).max() / max(data.std(axis=0).min(), 1e-300)
    np.testing.assert_allclose(found, exact, atol=(1e-6 + 10 * resolution) * np.abs(exact).max())


def test_views_side_by_side() -> None:
    """The features of all views, scaled, for dense and sparse views."""
    views, _ = scale_views([X, 3.0 * X[:, :2]], "spread")
    together = dense(side_by_side(views))
    np.testing.assert_allclose(together, np.hstack([dense(view) for view in views]))
    sparse, _ = scale_views([sp.csr_array(X), 3.0 * X[:, :2]], "spread")
    np.testing.assert_allclose(dense(side_by_side(sparse)), together)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n", [30, 3000])
def test_constant_features_are_recognised(n: int, sparse: bool) -> None:
    """However many samples round their mean; new samples do not see them either."""
    constant = np.tile(np.random.default_rng(3).uniform(0.01, 10, 20), (n, 1))
    assert not dense(scaled(constant, "standard", sparse)).any()
    scaler = learn_scaler(constant, "standard")
    assert not dense(scaler(constant + 1e-9)).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [1e-20, 1e20])
@pytest.mark.parametrize("scale", ["standard", "spread", "unit", "max"])
@pytest.mark.parametrize("sparse", [False, True])
def test_any_scale_gives_the_same(scale: str, factor: float, dtype: type, sparse: bool) -> None:
    """A constant factor changes nothing, in single precision either."""
    expected = dense(scaled(X.astype(dtype), scale, sparse))
    np.testing.assert_allclose(dense(scaled((factor * X).astype(dtype), scale, sparse)), expected, atol=1e-4)
