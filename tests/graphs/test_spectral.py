"""The embedding of a fused graph, against a full singular value decomposition."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from strategies import FloatArray, random_graph, seeds

from anchor_align import InputError
from anchor_align.blocks import Here, Parts, working
from anchor_align.blocks import _map_blocks as _mapping
from anchor_align.graphs import SpectralEmbedding, kmeans_labels, spectral_embedding, spectral_labels
from anchor_align.graphs import _spectral as _spectral


class MadeRows:
    """Rows that are made on the spot, and how often."""

    def __init__(self, Z: Any) -> None:
        self.Z = Z
        self.shape = Z.shape
        self.dtype = Z.dtype
        self.rows_made = 0

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return int(self.shape[1])

    def parts(self) -> Parts:
        """All rows, in one part."""
        return Here(self)

    def block(self, rows: slice, /) -> Any:
        """Some rows."""
        block = self.Z[rows].copy()
        self.rows_made += block.shape[0]
        return block


def with_values(values: FloatArray, n: int, m: int) -> FloatArray:
    """Matrix with given singular values."""
    rng = np.random.default_rng(len(values))
    U, V = (np.linalg.qr(rng.standard_normal((size, len(values))))[0] for size in (n, m))
    return np.asarray(U * values @ V.T)


def falling(*leading: float, m: int) -> FloatArray:
    """Leading singular values, and others well below them."""
    return np.append(leading, np.linspace(0.4, 0.1, m - len(leading)) * leading[-1])


def angle(made: SpectralEmbedding, Z: Any, k: int) -> float:
    """Between the directions found and the true ones, on the right and on the left."""
    U, _, right = np.linalg.svd(Z, full_matrices=False)
    assert made.projection.shape[1] == k
    return max(
        float(subspace_angles(made.projection, right[:k].T).max()),
        float(subspace_angles(made.vectors(Z), U[:, :k]).max()),
    )


@pytest.fixture
def rows_iterated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Iteration over the rows is always tried."""
    monkeypatch.setattr(_spectral, "STEP_COST", (1.0, 0.1))


def no_gram(_rows: object) -> FloatArray:
    raise AssertionError("the Gram matrix is not needed")


@given(seeds, st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_embedding_is_that_of_a_full_decomposition(seed: int, m: int, k: int, sparse: bool) -> None:
    """The same subspace and singular values, orthonormal; more samples than anchors or fewer."""
    rng = np.random.default_rng(seed)
    Z = random_graph(rng, int(rng.integers(2, 60)), m)
    made = spectral_embedding(sp.csr_array(Z) if sparse else Z, k)
    U, values, _ = np.linalg.svd(Z, full_matrices=False)
    found, kept = made.vectors(Z), len(made.singular_values)
    assert kept <= min(k, *Z.shape)
    np.testing.assert_allclose(made.singular_values, values[:kept], rtol=1e-7)
    np.testing.assert_allclose(found.T @ found, np.eye(kept), atol=1e-6)
    apart = kept == len(values) or values[kept - 1] > 1.01 * values[kept]
    if apart:
        assert subspace_angles(found, U[:, :kept]).max() < 1e-5
    np.testing.assert_allclose(np.linalg.norm(made.unit_rows(Z), axis=1), 1)


def test_directions_of_noise_are_left_out() -> None:
    """A graph of rank three, with and without noise, has three directions, however many are asked for."""
    rng = np.random.default_rng(0)
    Z = random_graph(rng, 200, 3, 1.0) @ random_graph(rng, 3, 8, 1.0)
    for noise in (0.0, 1e-9, 1e-3):
        noisy = Z + noise * rng.random(Z.shape)
        assert len(spectral_embedding(noisy, 6).singular_values) == 3


def test_small_singular_values_keep_their_digits() -> None:
    """Half of them would be lost in the Gram matrix."""
    rng = np.random.default_rng(1)
    U = np.linalg.qr(rng.standard_normal((100, 6)))[0]
    V = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    values = 0.2 ** np.arange(6) * [1, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4]
    Z = U * values @ V.T
    made = spectral_embedding(Z, 6)
    np.testing.assert_allclose(made.singular_values, values, rtol=1e-7)
    found = made.vectors(Z)
    np.testing.assert_allclose(found.T @ found, np.eye(6), atol=1e-7)


def test_no_direction_at_all() -> None:
    """Zeros stay zeros."""
    assert not spectral_embedding(np.zeros((5, 3)), 2).unit_rows(np.zeros((5, 3))).any()


def test_given_gram_matrix_saves_the_pass() -> None:
    """Directions come from the matrix alone."""
    Z = random_graph(np.random.default_rng(3), 300, 8)
    rows = MadeRows(Z)
    made = spectral_embedding(rows, 3, gram=Z.T @ Z)
    assert rows.rows_made == 0
    np.testing.assert_allclose(made.projection, spectral_embedding(Z, 3).projection, atol=1e-10)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("values", [falling(1, 0.8, 0.7, m=9), np.array([1.0, 0.5, 1e-6, 5e-7])], ids=["gram", "qr"])
def test_small_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, values: FloatArray, sparse: bool) -> None:
    """Stored rows or rows made on the spot, all at once or a few at a time, one thread or three."""
    monkeypatch.setattr(_spectral, "LARGEST_DROP", 0.0)
    Z = with_values(values, 500, 9)
    rows = MadeRows(sp.csr_array(Z) if sparse else Z)
    whole, units = spectral_embedding(Z, 3), spectral_embedding(Z, 3).unit_rows(Z)
    monkeypatch.setattr(_mapping, "BLOCK_NUMBERS", 64)
    made = [rows, rows.Z]
    for graph in made:
        embeddings = []
        for threads in (1, 3):
            with working(threads=threads):
                found = spectral_embedding(graph, 3)
                embeddings.append(found.unit_rows(graph))
        np.testing.assert_allclose(found.singular_values, whole.singular_values, rtol=1e-8)
        np.testing.assert_allclose(embeddings[0], units, atol=1e-8)
        np.testing.assert_array_equal(embeddings[0], embeddings[1])
    assert angle(found, Z, 3) < 1e-7


@pytest.mark.parametrize("shape", [(40, 1), (1, 1), (1, 6), (5, 30), (300, 30)])
@pytest.mark.parametrize("block", [16, 2**20])
def test_any_shape(monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], block: int) -> None:
    """One anchor, one sample, fewer samples than anchors."""
    monkeypatch.setattr(_mapping, "BLOCK_NUMBERS", block)
    Z = random_graph(np.random.default_rng(4), *shape, 1.0)
    k = min(2, *shape)
    assert angle(spectral_embedding(Z, 2), Z, k) < 1e-7


def test_rows_in_a_file(tmp_path: Path) -> None:
    """The same as in memory, and float32 stays float32."""
    for dtype in (np.float64, np.float32):
        Z = random_graph(np.random.default_rng(5), 400, 6).astype(dtype)
        stored = np.memmap(tmp_path / f"{np.dtype(dtype)}", dtype, "w+", shape=Z.shape)
        stored[:] = Z
        made = spectral_embedding(stored, 3)
        np.testing.assert_array_equal(made.projection, spectral_embedding(Z, 3).projection)
        np.testing.assert_array_equal(made.unit_rows(stored), made.unit_rows(Z))
        assert made.unit_rows(stored).dtype == dtype
        assert angle(made, Z.astype(np.float64), 3) < 1e-6


def test_single_precision_is_not_widened_whole() -> None:
    """What is made for float32 rows is the embedding in float32 and a few blocks."""
    n = 2**19
    Z = np.random.default_rng(6).random((n, 16), dtype=np.float32)
    tracemalloc.start()
    with working(threads=1, memory=2**22):
        spectral_embedding(Z, 8).unit_rows(Z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * 8 * 4 + 2**23


@pytest.mark.slow
@pytest.mark.parametrize("leading", [(1.0, 0.9, 0.8), (1.0, 1.0 - 1e-9, 1.0 - 2e-9), (1.0, 0.9, 3e-3)])
@pytest.mark.usefixtures("rows_iterated")
def test_iteration_over_rows(monkeypatch: pytest.MonkeyPatch, leading: tuple[float, ...]) -> None:
    """No Gram matrix is made where the values wanted stand out, nearly equal among themselves or not."""
    monkeypatch.setattr(_spectral, "_gram", no_gram)
    monkeypatch.setattr(_spectral, "LARGEST_DROP", 0.0)
    Z = with_values(falling(*leading, m=500), 800, 500)
    made = spectral_embedding(Z, 3)
    np.testing.assert_allclose(made.singular_values, leading, rtol=1e-9)
    assert angle(made, Z, 3) < 1e-6
    assert angle(spectral_embedding(MadeRows(Z.astype(np.float32)), 3), Z, 3) < 1e-4
    monkeypatch.setattr(_mapping, "BLOCK_NUMBERS", 2**14)
    with working(threads=3):
        again = spectral_embedding(Z, 3)
    assert subspace_angles(again.projection, made.projection).max() < 1e-6


@pytest.mark.usefixtures("rows_iterated")
def test_iteration_gives_up_in_time() -> None:
    """Where values at the cut are nearly equal, or there are fewer than wanted, the answer is as accurate as ever."""
    values = np.append([1.0, 0.9, 0.8], np.full(397, 0.8 - 1e-6))
    rows = MadeRows(with_values(values, 600, 400))
    made = spectral_embedding(rows, 3)
    assert rows.rows_made < 600 * _spectral.ROW_STEPS
    assert angle(made, rows.Z, 3) < 1e-6
    Z = with_values(np.array([1.0, 0.9]), 600, 400)
    assert angle(spectral_embedding(Z, 5), Z, 2) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("spread", [1.0, 1e-9])
def test_iteration_on_a_wide_gram_matrix(monkeypatch: pytest.MonkeyPatch, spread: float) -> None:
    """It is not decomposed where iteration is faster; the directions are the same."""
    monkeypatch.setattr(_spectral, "GRAM_WIDTH", 16)
    Z = with_values(falling(1.0, 1.0 - 0.1 * spread, 1.0 - 0.2 * spread, m=500), 800, 500)
    gram = Z.T @ Z
    assert _spectral._iterate(gram.__matmul__, 500, 3, _spectral.MOST_STEPS, every=3) is not None
    assert angle(spectral_embedding(sp.csr_array(Z), 3), Z, 3) < 1e-6
    assert angle(spectral_embedding(Z, 3, gram=gram), Z, 3) < 1e-6


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_very_small_and_large_numbers(size: float) -> None:
    """Squares that overflow or vanish do no harm."""
    Z = random_graph(np.random.default_rng(7), 200, 5)
    made = spectral_embedding(size * Z, 3)
    np.testing.assert_allclose(made.unit_rows(size * Z), spectral_embedding(Z, 3).unit_rows(Z), atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_graphs_that_are_not_finite(bad: float) -> None:
    """Are refused."""
    Z = random_graph(np.random.default_rng(8), 50, 4)
    Z[7, 2] = bad
    with pytest.raises(InputError, match="NaN, infinity"):
        spectral_embedding(Z, 2)


def test_clusters_are_those_of_scikit_learn() -> None:
    """On clusters that are well apart, up to their names."""
    rng = np.random.default_rng(9)
    truth = rng.integers(6, size=600)
    Z = 0.8 * np.eye(6)[truth] + 0.2 * random_graph(rng, 600, 6)
    E = spectral_embedding(Z, 6).unit_rows(Z)
    theirs = KMeans(6, n_init=10, tol=0.0, random_state=0).fit_predict(E)
    assert adjusted_rand_score(theirs, kmeans_labels(E, 6, 0)) == 1.0
    labels = spectral_labels(MadeRows(Z), 6, 0)
    assert labels.dtype == np.intp
    assert adjusted_rand_score(truth, labels) == 1.0


def test_kmeans_runs_until_nobody_moves() -> None:
    """Every sample is with the nearest of the means of its labels."""
    E = np.random.default_rng(2).standard_normal((300, 4))
    labels = kmeans_labels(E, 5, 0)
    means = np.array([E[labels == j].mean(axis=0) for j in range(5)])
    assert np.array_equal(((E[:, None] - means) ** 2).sum(axis=2).argmin(axis=1), labels)


def test_too_few_distinct_rows_are_told() -> None:
    """Fewer clusters than asked for come with a warning."""
    with pytest.warns(UserWarning, match="Found 2 clusters instead of 3"):
        kmeans_labels(np.repeat(np.eye(2), 5, axis=0), 3, 0)


@pytest.mark.parametrize("kind", ["dense", "sparse", "made", "gram"])
@pytest.mark.parametrize("column_scaling", [0.0, 1.0])
def test_columns_are_scaled_before_the_decomposition(kind: str, column_scaling: float) -> None:
    """Singular values and vectors of the scaled graph, for rows in any form; an empty column does no harm."""
    Z = np.random.default_rng(0).dirichlet(np.full(12, 0.2), size=300)
    Z[:, 3] = 0.0
    sums = Z.sum(axis=0)
    divisors = np.sqrt(sums + column_scaling * sums.mean())
    scaled = Z / np.where(divisors > 0, divisors, 1.0)
    U, values, _ = np.linalg.svd(scaled, full_matrices=False)
    graph: Any = {"sparse": sp.csr_array(Z), "made": MadeRows(Z)}.get(kind, Z)
    gram = Z.T @ Z if kind == "gram" else None
    made = spectral_embedding(graph, 4, column_scaling=column_scaling, gram=gram)
    np.testing.assert_allclose(made.singular_values / made.singular_values[0], values[:4] / values[0], rtol=1e-9)
    np.testing.assert_allclose(np.abs(made.vectors(Z)), np.abs(U[:, :4]), atol=1e-8)


def test_more_directions_are_weighted() -> None:
    """By their singular values relative to the second; the first counts as much as the second."""
    Z = np.random.default_rng(0).dirichlet(np.full(12, 0.2), size=300)
    plain, weighted = spectral_embedding(Z, 6), spectral_embedding(Z, 4, directions=1.5)
    weights = plain.singular_values / plain.singular_values[1]
    weights[0] = 1.0
    np.testing.assert_allclose(weighted.projection, plain.projection * weights, atol=1e-9)


def test_there_are_never_more_directions_than_columns() -> None:
    """Any number of directions for each cluster may be asked for."""
    Z = np.random.default_rng(0).dirichlet(np.full(12, 0.2), size=300)
    assert spectral_embedding(Z, 4, directions=1e308).projection.shape == (12, 12)
