"""The projection on the doubly stochastic matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FloatArray, seeds

from anchor_align.matching._fixed_point import project_birkhoff


def matrices(seed: int, m: int, scale: float, kind: str) -> FloatArray:
    rng = np.random.default_rng(seed)
    if kind == "ties":
        return scale * rng.integers(-2, 3, size=(m, m)).astype(float)
    if kind == "rank one":
        return scale * np.outer(rng.random(m), rng.random(m))
    return scale * rng.standard_normal((m, m))


def alternate(Y: FloatArray, rounds: int, *, correction: bool) -> FloatArray:
    """Alternating projections on the sums and on the signs, with or without Dykstra's correction."""
    m = len(Y)
    X, q = Y, np.zeros_like(Y)
    for _ in range(rounds):
        A = X + 1 / m + X.sum() / m**2 - X.mean(axis=1, keepdims=True) - X.mean(axis=0)
        X = np.maximum(A + q, 0)
        q = A + q - X if correction else q
    return X


@given(
    seeds,
    st.integers(1, 25),
    st.sampled_from([1e-6, 1.0, 30.0, 1e6]),
    st.sampled_from(["normal", "ties", "rank one"]),
)
def test_projection_is_doubly_stochastic(seed: int, m: int, scale: float, kind: Any) -> None:
    """Entries are not negative; rows and columns sum to one, up to rounding of the input's size, in few steps."""
    projection = project_birkhoff(matrices(seed, m, scale, kind))
    X = projection.matrix
    assert projection.n_iter < 50
    assert (X >= 0).all()
    np.testing.assert_allclose(X.sum(axis=0), 1, atol=1e-11 * max(1, scale))
    np.testing.assert_allclose(X.sum(axis=1), 1, atol=1e-11 * max(1, scale))


@given(seeds, st.integers(1, 15), st.sampled_from([1e-3, 1.0, 30.0]))
def test_projection_is_the_nearest_point(seed: int, m: int, scale: float) -> None:
    """<Y - X, W - X> <= 0 for every doubly stochastic W: the best W is a permutation, found by assignment."""
    from scipy.optimize import linear_sum_assignment

    Y = matrices(seed, m, scale, "normal")
    X = project_birkhoff(Y).matrix
    residual = Y - X
    best = residual[linear_sum_assignment(residual, maximize=True)].sum()
    assert best - np.vdot(residual, X) <= 1e-8 * max(1, scale)


@pytest.mark.parametrize("m", [3, 8, 20])
def test_projection_is_the_limit_of_dykstra(m: int) -> None:
    """Alternation reaches the same point, but only with Dykstra's correction."""
    Y = np.random.default_rng(m).standard_normal((m, m))
    X = project_birkhoff(Y).matrix
    np.testing.assert_allclose(alternate(Y, 5000, correction=True), X, atol=1e-9)
    plain = alternate(Y, 5000, correction=False)
    assert np.linalg.norm(plain - Y) > np.linalg.norm(X - Y) + 1e-4


def test_doubly_stochastic_matrices_stay() -> None:
    """Points of the polytope are their own projection."""
    Y = np.array([[0.2, 0.8, 0.0], [0.5, 0.2, 0.3], [0.3, 0.0, 0.7]])
    np.testing.assert_allclose(project_birkhoff(Y).matrix, Y, atol=1e-12)


def test_start_from_a_neighbour_gives_the_same_point() -> None:
    """Potentials of a nearby matrix save steps and change nothing."""
    rng = np.random.default_rng(0)
    Y = 5 * rng.standard_normal((30, 30))
    near = project_birkhoff(Y + 0.01 * rng.standard_normal(Y.shape))
    cold, warm = project_birkhoff(Y), project_birkhoff(Y, near)
    np.testing.assert_allclose(warm.matrix, cold.matrix, atol=1e-10)
    assert warm.n_iter < cold.n_iter
