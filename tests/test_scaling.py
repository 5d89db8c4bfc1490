"""Scaling of views: what it promises, for dense and sparse views."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from anchor_align_adapters._scaling import ScaledView, learn_scaler

X = np.random.default_rng(0).exponential(size=(50, 7)) * (np.random.default_rng(1).random((50, 7)) < 0.5)
X[7] = 0.0
WITH_CONSTANT = np.where(np.arange(7) == 3, 4.0, X)


def scaled(data: npt.NDArray[Any], scale: str | None, sparse: bool) -> ScaledView:
    view = sp.csr_array(data) if sparse else data
    return learn_scaler(view, scale)(view)


def dense(view: ScaledView) -> npt.NDArray[np.float64]:
    return view.times(np.eye(view.matrix.shape[1]))


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
    assert view.matrix.nnz <= np.count_nonzero(X)
    full = dense(scaled(X, scale, sparse=False))
    rng = np.random.default_rng(2)
    B, Z = rng.standard_normal((7, 3)), rng.standard_normal((50, 4))
    np.testing.assert_allclose(view.times(B), full @ B, atol=1e-10)
    np.testing.assert_allclose(view.weighted_sums(Z), Z.T @ full, atol=1e-10)
    assert view.square_norm() == pytest.approx((full**2).sum())


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
