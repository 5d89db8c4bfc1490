"""Agreement of views: what it does not depend on, missing samples, and graphs that are degenerate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from anchor_align import GramMatrices
from anchor_align.errors import InputError, InputTypeError
from anchor_align.graphs import anchors_in_use, evenness, leading_agreement, pair_agreement, view_agreement


def planted(seed: int, n: int = 300, m: int = 6, k: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two graphs of the same clusters, and one of noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    weights = np.full((k, m), 0.05)
    for cluster in range(k):
        weights[cluster, 2 * cluster : 2 * cluster + 2] = 3.0
    first, second = (np.array([rng.dirichlet(weights[label]) for label in labels]) for _ in range(2))
    return first, second[:, rng.permutation(m)], rng.dirichlet(np.ones(m), size=n)


def test_agreement_is_cka_of_the_centred_graphs() -> None:
    """Gram matrices and column sums give the value that the graphs themselves give."""
    Z, other, _ = planted(0)
    C, D = Z - Z.mean(axis=0), other - other.mean(axis=0)
    expected = np.linalg.norm(C.T @ D) / np.sqrt(np.linalg.norm(C.T @ C) * np.linalg.norm(D.T @ D))
    assert view_agreement(GramMatrices.from_graphs([Z, other])) == pytest.approx(expected)
    assert view_agreement(GramMatrices.from_graphs([sp.csr_array(Z), other])) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_the_same_clusters_agree_more_than_noise(seed: int) -> None:
    """The order of anchors does not matter, and noise agrees with nothing."""
    Z, other, noise = planted(seed)
    same, noisy = (view_agreement(GramMatrices.from_graphs([Z, each])) for each in (other, noise))
    moved = view_agreement(GramMatrices.from_graphs([Z[:, ::-1], other]))
    assert same is not None
    assert noisy is not None
    assert same > 0.8 > 0.3 > noisy
    assert moved == pytest.approx(same)


def test_missing_samples_are_left_out_of_the_pairs_that_miss_them() -> None:
    """The agreement of two views is that over their common samples; pairs without any do not count."""
    Z, other, noise = planted(1)
    mask = np.ones((3, 300), dtype=bool)
    mask[1, :100] = mask[2, 100:] = False
    found = view_agreement(GramMatrices.from_graphs([Z, other, noise], mask=mask))
    pairs = [(Z[100:], other[100:]), (Z[:100], noise[:100])]
    assert found == pytest.approx(np.mean([view_agreement(GramMatrices.from_graphs(list(pair))) for pair in pairs]))


def test_one_view_has_no_agreement_and_equal_rows_agree_with_none() -> None:
    """Nothing is divided by zero."""
    Z, _, _ = planted(2)
    assert view_agreement(GramMatrices.from_graphs([Z])) is None
    assert leading_agreement(GramMatrices.from_graphs([Z]), 2) is None
    assert view_agreement(GramMatrices.from_graphs([Z, np.full((300, 4), 0.25)])) == 0.0


def test_degenerate_graphs_agree_but_use_few_anchors() -> None:
    """One cluster with all samples but a few outliers, the same in both views, is what the guard is for."""
    Z = np.zeros((200, 10))
    Z[:, 0] = 1.0
    Z[:5] = np.eye(10)[1:6]
    grams = GramMatrices.from_graphs([Z, Z[:, ::-1]])
    assert view_agreement(grams) == pytest.approx(1.0)
    assert anchors_in_use(grams) < 0.2


def test_leading_directions_agree_up_to_the_number_of_clusters() -> None:
    """Three clusters have two common directions; further ones differ between the views."""
    Z, other, _ = planted(3)
    found = leading_agreement(GramMatrices.from_graphs([Z, other]), 7)
    assert found is not None
    assert found[:2].min() > 0.9 > 0.85 > found[2]
    assert (np.diff(found[2:]) < 0).all()


def test_evenness_of_nothing_is_zero() -> None:
    """Sizes that are all zero are not divided."""
    assert evenness([0, 0]) == 0.0
    assert evenness([7]) == 1.0


def test_sizes_of_numbers_do_not_matter() -> None:
    """Neither squares nor sums overflow or vanish."""
    assert evenness([1e308, 1e308]) == 1.0
    assert evenness([1e308, 1e-308]) == 0.5
    rng = np.random.default_rng(0)
    graphs = [rng.dirichlet(np.ones(4), 30) for _ in range(2)]
    one, large, small = (
        pair_agreement(GramMatrices.from_graphs([size * Z for Z in graphs])) for size in (1.0, 1e80, 1e-150)
    )
    np.testing.assert_allclose(large, one)
    np.testing.assert_allclose(small, one)


def test_wrong_arguments_are_one_sentence() -> None:
    """What was got and what was expected."""
    graphs: Any = [np.eye(3)]
    with pytest.raises(InputTypeError, match="pair_agreement needs GramMatrices, got list"):
        pair_agreement(graphs)
    for sizes in ([1.0, -1.0], [np.nan, 1.0], [np.inf, 1.0]):
        with pytest.raises(InputError, match="finite numbers >= 0"):
            evenness(sizes)
    words: Any = ["a", "b"]
    for wrong in (words, [10**400], np.array([1j, 2])):
        with pytest.raises(InputTypeError, match="sizes must be real numbers"):
            evenness(wrong)
    with pytest.raises(InputTypeError, match="sizes must be numbers"):
        evenness([[1], [1, 2]])
