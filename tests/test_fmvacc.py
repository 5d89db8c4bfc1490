"""FMVACC's anchor graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import seeds

from anchor_align_adapters.fmvacc import fmvacc_graph, objective, project_rows_on_simplex


@given(seeds, st.integers(1, 8), st.sampled_from([1e-3, 1.0, 1e3]))
def test_projection_on_the_simplex_is_the_nearest_point(seed: int, m: int, scale: float) -> None:
    """Rows are on the simplex, and no vertex lies in the direction of the residual: the optimality condition."""
    Y = scale * np.random.default_rng(seed).standard_normal((20, m))
    Z = project_rows_on_simplex(Y)
    assert (Z >= 0).all()
    np.testing.assert_allclose(Z.sum(axis=1), 1, rtol=1e-9)
    residual = Y - Z
    assert (residual.max(axis=1) - (residual * Z).sum(axis=1) <= 1e-9 * max(scale, 1)).all()


@pytest.mark.parametrize("m", [3, 12])
def test_objective_never_rises(m: int) -> None:
    """With orthogonal anchors (m <= features) and without (m > features)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8, 6))[rng.integers(8, size=100)] + 0.3 * rng.standard_normal((100, 6))
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    values = [objective(standard, *fmvacc_graph(X, m, max_iter=rounds, tol=-1.0), 1.0) for rounds in range(1, 12)]
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert values[-1] < values[0]


def test_objective_is_what_it_says() -> None:
    """The product form equals the residual computed directly."""
    rng = np.random.default_rng(1)
    X, Z, A = rng.standard_normal((30, 5)), rng.random((30, 3)), rng.standard_normal((3, 5))
    assert objective(X, Z, A, 0.5) == pytest.approx(((X - Z @ A) ** 2).sum() + 0.5 * (Z**2).sum())


def test_constant_features_do_no_harm() -> None:
    """A column without spread is centred and left alone."""
    X = np.random.default_rng(2).standard_normal((40, 4))
    X[:, 2] = 7.0
    Z, A = fmvacc_graph(X, 3)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(A @ A.T, np.eye(3), atol=1e-9)
