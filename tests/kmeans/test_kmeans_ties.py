"""Of centres that are equally far, up to rounding, a row gets the first, so that the order of rows does not count."""

from __future__ import annotations

import numpy as np
import pytest

from anchor_align import load_views
from anchor_align.blocks import ScaledRows
from anchor_align.kmeans import fit_kmeans


def centres_of_shuffled(X: np.ndarray, k: int, unit: bool) -> tuple[np.ndarray, np.ndarray]:
    """Centres of the rows, and of the same rows in another order."""
    order = np.random.default_rng(0).permutation(len(X))
    first, second = (
        fit_kmeans(ScaledRows(rows, unit=unit), k, n_init=1, random_state=1).centres for rows in (X, X[order])
    )
    return first, second


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("width", [9, 30, 100])
@pytest.mark.parametrize("seed", range(3))
def test_binary_rows(seed: int, width: int, unit: bool) -> None:
    """Distances between binary rows have few values, so that many are equal."""
    rng = np.random.default_rng(seed)
    frequent = rng.random((4, width)) < 0.3
    X = (rng.random((400, width)) < np.where(frequent[rng.integers(4, size=400)], 0.7, 0.2)).astype(float)
    first, second = centres_of_shuffled(X, 40, unit)
    np.testing.assert_allclose(first, second, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_whole_numbers_of_real_data(dtype: type) -> None:
    """Pixels and counts of the digits."""
    for X in load_views("digits").views:
        first, second = centres_of_shuffled(X.astype(dtype), 20, unit=False)
        np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-6 if dtype == np.float64 else 1e-3)
