"""K-means over blocks, against scikit-learn's."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from strategies import seeds

from anchor_align import InputError
from anchor_align.blocks import ScaledRows, _map_blocks, _scaled_rows, row_order, working
from anchor_align.kmeans import _kmeans, fit_kmeans


def clustered(seed: int, n: int = 300, d: int = 5, k: int = 6, spread: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((k, d))[rng.integers(k, size=n)] + spread * rng.standard_normal((n, d))


def best_inertia(X: Any, labels: np.ndarray) -> float:
    dense = X.toarray() if isinstance(X, sp.csr_array) else X
    return sum(float(((dense[labels == j] - dense[labels == j].mean(axis=0)) ** 2).sum()) for j in np.unique(labels))


@given(seeds, st.integers(1, 12), st.integers(1, 4), st.booleans(), st.sampled_from([0.0, 1e-4]))
def test_same_clusters_as_scikit_learn(seed: int, k: int, n_init: int, sparse: bool, tol: float) -> None:
    """The same random numbers lead to the same centres and inertia; scikit-learn gets the rows in their order."""
    X = clustered(seed)
    data: Any = sp.csr_array(np.maximum(X, 0.0)) if sparse else X
    theirs = KMeans(k, n_init=n_init, tol=tol, random_state=seed).fit(data[row_order(ScaledRows(data))])
    ours = fit_kmeans(ScaledRows(data), k, n_init=n_init, tol=tol, random_state=seed)
    assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-8)
    assert ours.n_found == k
    ours_sorted, theirs_sorted = (each[np.lexsort(each.T.round(6))] for each in (ours.centres, theirs.cluster_centers_))
    np.testing.assert_allclose(ours_sorted, theirs_sorted, atol=1e-9)


@given(seeds, st.sampled_from([np.float64, np.float32]), st.booleans(), st.sampled_from([100, 10_000]))
def test_the_order_of_the_rows_does_not_matter(seed: int, dtype: type, sparse: bool, start_rows: int) -> None:
    """The same clusters, also if first centres are chosen among a sample."""
    X: Any = np.maximum(np.random.default_rng(seed).standard_normal((400, 4)), 0.0).astype(dtype)
    order = np.random.default_rng(seed + 1).permutation(len(X))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_kmeans, "START_ROWS", start_rows)
        patch.setattr(_kmeans, "START_ROWS_PER_CENTRE", 1)
        before, after = (
            fit_kmeans(ScaledRows(sp.csr_array(rows) if sparse else rows), 6, n_init=2, random_state=seed, tol=0.0)
            for rows in (X, X[order])
        )
    assert adjusted_rand_score(before.labels[order], after.labels) == 1.0


def test_first_centres_from_a_sample_are_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean objective of several draws is within a per cent of that with all rows."""
    X = clustered(5, n=6000, k=30, spread=0.5)
    inertias = []
    for start_rows in (10_000, 1500):
        monkeypatch.setattr(_kmeans, "START_ROWS", start_rows)
        monkeypatch.setattr(_kmeans, "START_ROWS_PER_CENTRE", 50)
        inertias.append(np.mean([fit_kmeans(ScaledRows(X), 30, n_init=1, random_state=s).inertia for s in range(10)]))
    assert inertias[1] < 1.01 * inertias[0]


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("few", [0, _scaled_rows.FEW])
def test_scaled_rows_far_from_zero(few: int, dtype: type, offset: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Centres are those of the scaled rows, whether these are made at once or folded into the products."""
    monkeypatch.setattr(_scaled_rows, "FEW", few)
    X: np.ndarray = (clustered(0) + offset).astype(dtype)
    exact = X.astype(np.float64)
    source = ScaledRows(X, centre=exact.mean(axis=0), divisor=exact.std(axis=0))
    found = fit_kmeans(source, 6, n_init=5, random_state=0)
    standard = (exact - exact.mean(axis=0)) / exact.std(axis=0)
    expected = KMeans(6, n_init=5, random_state=0).fit(standard)
    assert found.inertia == pytest.approx(expected.inertia_, rel=1e-2 if dtype == np.float32 else 1e-8)
    means = np.array([standard[found.labels == j].mean(axis=0) for j in range(6)])
    np.testing.assert_allclose(found.centres, means, atol=2e-2 if dtype == np.float32 else 1e-3)


@pytest.mark.parametrize("sparse", [False, True])
def test_neither_blocks_nor_threads_nor_shared_passes_matter(sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny blocks, several threads and one run at a time find what one block finds."""
    monkeypatch.setattr(_scaled_rows, "FEW", 0)
    X = np.maximum(clustered(1, n=2000), 0.0)
    source = ScaledRows(sp.csr_array(X) if sparse else X)
    expected = fit_kmeans(source, 7, n_init=4, random_state=3)
    for threads in (1, 3):
        with working(threads=threads, memory=8 * _map_blocks.COPIES * 600):  # also: one run at a time
            found = fit_kmeans(source, 7, n_init=4, random_state=3)
        assert np.array_equal(found.labels, expected.labels)
        np.testing.assert_allclose(found.centres, expected.centres, atol=1e-10)


def test_threads_give_the_same_to_the_last_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are cut and added up alike for any number of threads."""
    monkeypatch.setattr(_map_blocks, "BLOCK_NUMBERS", 2**11)
    X = clustered(2, n=3000)
    results = []
    for threads in (1, 2, 4):
        with working(threads=threads):
            results.append(fit_kmeans(ScaledRows(X), 5, n_init=3, random_state=0))
    assert all(np.array_equal(each.centres, results[0].centres) for each in results)
    assert len({each.inertia for each in results}) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-18, 1.0, 1e18])
def test_each_row_is_with_its_nearest_centre(scale: float, dtype: type) -> None:
    """After many rounds, on data without clear clusters and on any scale."""
    X: np.ndarray = (scale * np.random.default_rng(4).standard_normal((4000, 6))).astype(dtype)
    found = fit_kmeans(ScaledRows(X), 9, n_init=1, tol=0.0, random_state=0)
    assert found.n_iter > 20
    exact = X.astype(np.float64) / scale
    squares = ((exact[:, None] - found.centres / scale) ** 2).sum(axis=2)
    mine = squares[np.arange(len(X)), found.labels]
    assert (mine - squares.min(axis=1)).max() <= (1e-5 if dtype == np.float32 else 1e-12)
    assert found.inertia / scale**2 == pytest.approx(mine.sum(), rel=1e-5)


@pytest.mark.parametrize("distinct", [1, 3])
def test_fewer_distinct_rows_than_clusters(distinct: int) -> None:
    """The result says how many clusters have rows; clusters without rows have a finite centre."""
    X = np.repeat(np.arange(3.0 * distinct).reshape(distinct, 3), 5, axis=0)
    found = fit_kmeans(ScaledRows(X), 4, n_init=2, random_state=0)
    assert found.n_found == distinct
    assert found.inertia == pytest.approx(0, abs=1e-20)
    assert np.isfinite(found.centres).all()
    assert len(np.unique(found.labels)) == distinct


def test_empty_clusters_are_given_a_row() -> None:
    """With as many clusters as distinct rows every one of them gets its own, whatever the start."""
    X = np.array([[0.0], [0.0], [0.0], [1.0], [5.0], [100.0]])
    for seed in range(20):
        found = fit_kmeans(ScaledRows(X), 4, n_init=1, random_state=seed)
        assert found.n_found == 4
        assert found.inertia == pytest.approx(0, abs=1e-9)


def test_more_than_256_clusters() -> None:
    """Labels are as wide as they have to be."""
    X = np.random.default_rng(0).random((700, 2))
    found = fit_kmeans(ScaledRows(X), 300, n_init=1, random_state=0)
    assert found.labels.dtype == np.uint16
    assert found.inertia == pytest.approx(best_inertia(X, found.labels), rel=1e-3)


def test_memory_does_not_grow_with_the_features() -> None:
    """Nothing of the size of the data is copied, in single precision either."""
    X = np.random.default_rng(0).random((80_000, 100), dtype=np.float32) + 100
    tracemalloc.start()
    with working(memory=2**22, threads=1):
        fit_kmeans(ScaledRows(X), 4, n_init=1, max_iter=3, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 2


def test_rows_that_cannot_be_squared_are_refused() -> None:
    """The message says that rows are too large."""
    X = np.random.default_rng(0).normal(size=(200, 8)) * 1e200
    with np.errstate(all="ignore"), pytest.raises(InputError, match="too large to square"):
        fit_kmeans(ScaledRows(X), 5, n_init=2, random_state=0)


def test_the_number_of_rounds_is_bounded() -> None:
    """No more rounds than asked for; less than one round is one."""
    for max_iter in (0, 1, 2):
        result = fit_kmeans(ScaledRows(clustered(0)), 6, n_init=1, random_state=0, tol=0.0, max_iter=max_iter)
        assert result.n_iter <= max(max_iter, 1)
