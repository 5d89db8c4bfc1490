"""Projection of rows and of columns on the simplex: few anchors by Newton's method, many by a sort."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import FloatArray, seeds

from anchor_align.blocks import _simplex_projection, project_columns, project_rows

KINDS = ("normal", "heavy", "ties", "sparse", "dense", "offset", "constant", "one high", "staircase")
dtypes = st.sampled_from([np.float64, np.float32])
kinds = st.sampled_from(KINDS)
# Below and above the sizes at which rows are sorted and then summed in parts, full parts and others.
anchors = st.sampled_from([1, 2, 3, 5, 15, 16, 17, 24, 25, 31, 64, 65, 130, 256, 300])


def columns(seed: int, m: int, b: int, kind: str) -> FloatArray:
    """Columns that are hard in their own way."""
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((m, b))
    if kind == "heavy":
        return rng.standard_cauchy((m, b))
    if kind == "ties":
        return rng.integers(-3, 4, size=(m, b)) / 4.0
    if kind == "offset":
        return 1e6 + np.round(Y, 3)
    if kind == "constant":
        return np.broadcast_to(rng.standard_normal(b), (m, b)).copy()
    if kind == "one high":
        Y[rng.integers(m, size=b), np.arange(b)] += 100.0
    if kind == "staircase":
        # Each step of Newton's method drops few entries.
        return rng.permuted(np.broadcast_to(-(2.0 ** -np.arange(m))[:, None], (m, b)), axis=0)
    return Y * {"sparse": 100.0, "dense": 1e-3}.get(kind, 1.0)


def exact(y: Any) -> list[Fraction]:
    """The projection in rational numbers."""
    values = [Fraction(float(v)) for v in y]
    total, threshold = Fraction(0), Fraction(0)
    for k, value in enumerate(sorted(values, reverse=True), start=1):
        total += value
        if k * value > total - 1:
            threshold = (total - 1) / k
    return [max(value - threshold, Fraction(0)) for value in values]


@given(seeds, anchors, st.integers(1, 200), kinds, dtypes)
@example(0, 300, 200, "staircase", np.float64)
@example(0, 16, 1, "ties", np.float32)
def test_optimality(seed: int, m: int, b: int, kind: str, dtype: Any) -> None:
    """Columns are on the simplex and meet the KKT conditions: y - z is largest, and the same, on the support."""
    Y = columns(seed, m, b, kind).astype(dtype)
    Z = project_columns(Y)
    eps = float(np.finfo(dtype).eps)
    assert Z.dtype == dtype
    assert (Z >= 0).all()
    wide = Z.astype(np.float64)
    # Along memory, where NumPy adds in pairs: the roundings of plain sums would count as well.
    np.testing.assert_allclose(np.ascontiguousarray(wide.T).sum(axis=1), 1.0, rtol=0, atol=(8 + m**0.5) * eps)
    # Relative to the largest entry, or the test itself would round.
    residual = Y.astype(np.float64) - Y.max(axis=0).astype(np.float64) - wide
    on_support = np.where(wide > 0, residual, np.inf).min(axis=0)
    assert (residual.max(axis=0) - on_support <= 16 * eps).all()


@given(seeds, st.integers(1, 40), kinds, dtypes)
def test_same_as_in_rational_numbers(seed: int, m: int, kind: str, dtype: Any) -> None:
    """Every weight is within a few roundings of the exact one, for columns and for rows, few or many."""
    Y = columns(seed, m, 80, kind).astype(dtype)
    expected = np.array([[float(z) for z in exact(y)] for y in Y[:, :3].T])
    tolerance = 8 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(project_columns(Y)[:, :3].T, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(project_rows(Y.T)[:3], expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(project_rows(Y[:, :3].T), expected, rtol=0, atol=tolerance)


def by_sorting(Y: FloatArray) -> FloatArray:
    """Projection of rows by sorting them and taking all sums."""
    n, m = Y.shape
    Z = np.maximum(Y - Y.max(axis=1, keepdims=True), -1.0)
    descending = np.sort(Z, axis=1)[:, ::-1]
    excess = np.cumsum(descending, axis=1) - 1.0
    kept = np.count_nonzero(descending * np.arange(1, m + 1) > excess, axis=1)
    Z = np.maximum(Z - (excess[np.arange(n), kept - 1] / kept)[:, None], 0.0)
    return np.asarray(Z / Z.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 2, 10, 20, 25, 50, 200, 1000])
def test_same_as_with_all_sums(m: int, kind: str) -> None:
    """Rows, few or many, are those of the textbook to 1e-15."""
    Y = columns(m, m, 500, kind).T
    expected = by_sorting(Y)
    np.testing.assert_allclose(project_rows(Y), expected, rtol=0, atol=1.5e-15)
    np.testing.assert_allclose(project_rows(Y[:9]), expected[:9], rtol=0, atol=1.5e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [0.001, 0.01, 0.05, 1.0])
def test_supports_of_any_size(scale: float, dtype: Any) -> None:
    """Supports may end in the first part of the sorted rows or in another, for few of the rows or for most."""
    rng = np.random.default_rng(0)
    Y = (scale * rng.lognormal(0.0, 1.0, (400, 1)) * rng.standard_normal((400, 100))).astype(dtype)
    expected = by_sorting(Y.astype(np.float64))
    np.testing.assert_allclose(project_rows(Y), expected, rtol=0, atol=8 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("offset", [0.0, -3.0, 7.9, 1000.0])
def test_sums_of_many_small_weights(offset: float, scale: float, dtype: Any) -> None:
    """Weights that are all about the same sum to one, though their roundings and those of their sum are alike."""
    Y = (offset + scale * np.random.default_rng(0).standard_normal((333, 100))).astype(dtype)
    tolerance = (8 + 333**0.5) * float(np.finfo(dtype).eps)
    for Z in (project_columns(Y), project_rows(np.ascontiguousarray(Y.T)).T):
        sums = [math.fsum(z) for z in Z[:, :50].T]
        np.testing.assert_allclose(sums, 1.0, rtol=0, atol=tolerance)


@given(seeds, st.integers(1, 70), kinds, dtypes)
def test_order_of_columns_does_not_matter(seed: int, m: int, kind: str, dtype: Any) -> None:
    """Columns in another order, or alone, have the same projections up to roundings."""
    Y = columns(seed, m, 150, kind).astype(dtype)
    order = np.random.default_rng(seed).permutation(150)
    Z = project_columns(Y)
    tolerance = 8 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(project_columns(Y[:, order]), Z[:, order], rtol=0, atol=tolerance)
    np.testing.assert_allclose(project_columns(Y[:, 7:8]), Z[:, 7:8], rtol=0, atol=tolerance)


@given(seeds, st.sampled_from([1, 12, 70]), st.sampled_from([1, 100, 9000]), dtypes)
def test_in_place_or_not(seed: int, m: int, b: int, dtype: Any) -> None:
    """The result goes to a new array, to a given one or to the input itself, in any memory order; else Y is kept."""
    Y = columns(seed, m, b, "normal").astype(dtype)
    before = Y.copy()
    Y.flags.writeable = False
    Z = project_columns(Y)
    np.testing.assert_array_equal(Y, before)
    orders: tuple[Literal["C", "F"], ...] = ("C", "F")
    for order in orders:
        elsewhere, same = np.empty((m, b), dtype=dtype, order=order), np.array(Y, order=order)
        assert project_columns(Y, out=elsewhere) is elsewhere
        assert project_columns(same, out=same) is same
        np.testing.assert_array_equal(elsewhere, Z)
        np.testing.assert_array_equal(same, Z)
        view = np.array(Y, order=order)
        project_columns(view, out=view[:])
        np.testing.assert_array_equal(view, Z)


@pytest.mark.parametrize("shape", [(5000, 10), (5000, 30), (499, 10), (64, 1000), (1, 1), (0, 4)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_are_left_alone(shape: tuple[int, int], dtype: Any) -> None:
    """Rows of any number, also none, give a new array of their dtype in C order and keep their values."""
    Y = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    before = Y.copy()
    Y.flags.writeable = False
    Z = project_rows(Y)
    assert Z.dtype == dtype
    assert Z.shape == shape
    assert Z.flags.c_contiguous
    np.testing.assert_array_equal(Y, before)
    np.testing.assert_allclose(project_columns(np.ascontiguousarray(Y.T)).T, Z, rtol=0, atol=1e-6)


@pytest.mark.parametrize("m", [3, 40])
def test_huge_and_tiny_numbers(m: int) -> None:
    """Entries near the largest float, or so small that all weights are equal, neither overflow nor lose a column."""
    top = np.finfo(float).max
    Y = np.full((m, 100), -top)
    Y[0, :50] = top
    Y[1, :25] = top
    Z = np.zeros((m, 100))
    Z[0, :50] = 1.0
    Z[:2, :25] = 0.5
    Z[:, 50:] = 1 / m
    np.testing.assert_allclose(project_columns(Y), Z, rtol=4e-16 * m)
    np.testing.assert_array_equal(project_columns(Y) == 0.0, Z == 0.0)
    tiny = 5e-324 * np.random.default_rng(0).integers(-9, 9, size=(m, 100))
    np.testing.assert_allclose(project_columns(tiny), 1 / m, rtol=4e-16 * m)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_vertices_are_exact(dtype: Any) -> None:
    """An entry that is more than one above the others gets exactly one, and the others exactly zero."""
    Y = columns(0, 50, 300, "normal").astype(dtype)
    which = np.random.default_rng(1).integers(50, size=300)
    Y[which, np.arange(300)] = Y.max(axis=0) + dtype(1.5)
    np.testing.assert_array_equal(project_columns(Y), np.eye(50)[:, which])


@pytest.mark.parametrize("kind", KINDS)
def test_few_passes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's method ends after a handful of passes: columns that have not ended go on alone."""
    sizes = []
    clip = _simplex_projection._Newton._clip

    def counted(self: Any, W: FloatArray) -> FloatArray:
        sizes.append(W.size)
        return clip(self, W)

    monkeypatch.setattr(_simplex_projection._Newton, "_clip", counted)
    Y = columns(0, _simplex_projection.FEW - 1, 300, kind)
    project_columns(Y)
    assert sum(sizes) <= 8 * Y.size
