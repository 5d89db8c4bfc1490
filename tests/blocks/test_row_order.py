"""An order of rows that depends on their content only."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from dask_arrays import chunked
from hypothesis import given
from hypothesis import strategies as st
from strategies import seeds

from anchor_align.blocks import ScaledRows, _row_order, content_order, row_order, spread_places


@given(seeds, st.booleans(), st.booleans(), st.sampled_from([np.float64, np.float32, np.int8]))
def test_shuffled_rows_come_in_the_same_order(seed: int, sparse: bool, unit: bool, dtype: type) -> None:
    """Also sparse, scaled and whole numbers with equal rows."""
    rng = np.random.default_rng(seed)
    X: Any = rng.integers(0, 4, size=(50, 3)).astype(dtype)
    again = X[rng.permutation(len(X))]
    first, second = (
        rows[row_order(ScaledRows(sp.csr_array(rows) if sparse else rows, unit=unit))] for rows in (X, again)
    )
    if unit:  # rows that differ by length only are equal
        first, second = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1) for rows in (first, second))
    np.testing.assert_allclose(first, second, rtol=1e-6)


def test_chunks_and_several_views_with_missing_samples() -> None:
    """Chunks do not matter, all views count, and what stands in the row of a missing sample does not."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), np.repeat(rng.normal(size=(4, 2)), 10, axis=0)
    np.testing.assert_array_equal(row_order(ScaledRows(chunked([X], 7)[0])), row_order(ScaledRows(X)))
    places = np.array([7, 0, 39])
    both = [ScaledRows(Z) for Z in chunked([X, Y], 7)]
    np.testing.assert_array_equal(row_order(*both, places=places), row_order(ScaledRows(X), ScaledRows(Y))[places])
    assert not np.array_equal(row_order(ScaledRows(X), ScaledRows(Y)), row_order(ScaledRows(X)))
    mask = np.ones((2, 40), dtype=bool)
    mask[0, 5] = False
    orders = []
    for junk in (np.nan, 1e300, 0.0):
        X[5] = junk
        orders.append(row_order(ScaledRows(X), ScaledRows(Y), mask=mask))
    assert all(np.array_equal(order, orders[0]) for order in orders)


DAY = 86400e9  # in nanoseconds


def grid() -> list[np.ndarray]:
    """Two views of one feature: sums over them are equal unless the views have different weights."""
    both = np.indices((12, 12)).reshape(2, -1).T.astype(float)
    return [both[:, :1], both[:, 1:]]


def swapped() -> list[np.ndarray]:
    """Each half of a view is the other half of the other view: products with a common vector would be equal."""
    first, second = np.random.default_rng(0).random((2, 50, 4))
    return [np.vstack([first, second]), np.vstack([second, first])]


def opposite() -> list[np.ndarray]:
    """Products with a common vector would cancel."""
    X = np.random.default_rng(0).integers(0, 2, (200, 10)).astype(float)
    return [X, 1.0 - X]


def times() -> list[np.ndarray]:
    """A feature with numbers so large that nothing of the others is left in a product, in each view."""
    rng = np.random.default_rng(0)
    return [np.column_stack([1.7e18 + DAY * rng.integers(0, 30, 300), rng.random((300, 3))]) for _ in range(2)]


@pytest.mark.parametrize("make", [grid, swapped, opposite, times])
def test_samples_of_several_views_have_one_order(make: Any) -> None:
    """Whatever their features have in common; chunks do not matter."""
    views = make()
    rows = np.hstack(views)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(rows))
        found = content_order([X[order] for X in views])
        np.testing.assert_array_equal(rows[order][found], rows[content_order(views)])
    np.testing.assert_array_equal(rows[content_order(chunked(views, 7))], rows[content_order(views)])


def test_missing_samples_have_any_content() -> None:
    """The range of a feature is that of the samples that a view has; a view may have none."""
    rng = np.random.default_rng(0)
    views = [rng.random((40, 3)), rng.random((40, 2)), rng.random((40, 2))]
    mask = np.ones((3, 40), dtype=bool)
    mask[0, 5] = mask[2] = False
    orders = []
    for junk in (np.nan, 1e300, 0.0):
        views[0][5] = views[2][:] = junk
        orders.append(content_order(views, mask))
    assert all(np.array_equal(order, orders[0]) for order in orders)


@pytest.mark.parametrize("value", [0.1, 3.7, 1e6])
def test_a_constant_view_changes_nothing(value: float) -> None:
    """Its products differ by rounding, from block to block; the order is that of the other view."""
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(300, 4)), np.full((300, 3), value)
    expected = row_order(ScaledRows(X))
    np.testing.assert_array_equal(row_order(ScaledRows(X), ScaledRows(C)), expected)
    np.testing.assert_array_equal(row_order(*(ScaledRows(Z) for Z in chunked([X, C], 7))), expected)
    mask = np.ones((2, 300), dtype=bool)
    mask[1, ::3] = False
    np.testing.assert_array_equal(row_order(ScaledRows(X), ScaledRows(C), mask=mask), expected)


def test_no_place_is_no_row() -> None:
    """An empty array of places."""
    assert row_order(ScaledRows(np.eye(3)), places=np.empty(0, dtype=np.intp)).shape == (0,)


@pytest.mark.parametrize("size", [1, 7, 99, 100])
def test_spread_places_are_distinct_and_spread(size: int) -> None:
    """One place from each of as many parts, and all places if as many are wanted."""
    for seed in range(20):
        places = spread_places(100, size, np.random.default_rng(seed))
        assert (np.diff(places) > 0).all()
        assert np.diff(places, prepend=0, append=100).max() <= 2 * 100 / size + 2


@given(seeds, st.integers(1, 60), st.integers(1, 5), st.sampled_from([1, 3, 1000]))
def test_rows_at_some_places_are_those_of_the_whole_order(seed: int, n: int, rows: int, values: int) -> None:
    """With ties and NaN, in chunks and blocks, for places in any order that may repeat."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, size=(n, 1)).astype(float)
    X[rng.random(n) < 0.1] = np.nan
    places = rng.integers(0, n, size=rng.integers(1, 2 * n))
    order = row_order(ScaledRows(X))
    np.testing.assert_array_equal(row_order(ScaledRows(X), places=places), order[places])
    pieces = [part for part in np.array_split(X[:, 0], rows) if len(part)]
    with patch.object(_row_order, "BLOCK", 7):
        found = _row_order._rows_of(pieces, places)
    np.testing.assert_array_equal(found, np.argsort(X[:, 0], kind="stable")[places])
