"""The embedding of a fused graph, against a full singular value decomposition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from strategies import random_graph, seeds

from anchor_align._spectral import kmeans_labels, spectral_embedding


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
