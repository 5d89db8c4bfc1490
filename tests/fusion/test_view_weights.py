"""Weights of the views by their agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import at_most, planted_graphs, random_graph, real_data, related_graphs, seeds

from anchor_align import AnchorAligner, GramMatrices, InputError, align, fuse, get_adapter
from anchor_align.fusion import agreement_weights
from anchor_align.fusion._weights import agreement, cosines
from anchor_align.graphs import check_orders, kmeans_labels, spectral_embedding
from anchor_align.metrics import acc


def weights_of(graphs: Any, **options: Any) -> Any:
    grams = GramMatrices.from_graphs(graphs, **options)
    return agreement_weights(grams, AnchorAligner(reference="consensus").fit(grams).permutations_)


@given(seeds, st.integers(2, 8), st.integers(3, 5))
@settings(max_examples=at_most(30))
def test_agreement_is_the_cosine_of_centred_graphs(seed: int, m: int, n_views: int) -> None:
    """By the definition, on the graphs themselves: each with the mean of the others, scaled to length one."""
    rng = np.random.default_rng(seed)
    graphs = related_graphs(rng, 50, m, n_views)
    orders = [rng.permutation(m) for _ in graphs]
    found = agreement(cosines(GramMatrices.from_graphs(graphs), orders))
    centred = [(Z - Z.mean(axis=0))[:, p] for Z, p in zip(graphs, orders, strict=True)]
    unit = [Z / np.linalg.norm(Z) for Z in centred]
    for view in range(n_views):
        others = np.sum([Z for v, Z in enumerate(unit) if v != view], axis=0)
        if np.linalg.norm(others) >= 1:
            assert found[view] == pytest.approx(np.vdot(unit[view], others) / np.linalg.norm(others), abs=1e-9)


@given(seeds, st.integers(1, 6), st.integers(1, 2))
def test_one_or_two_views_weigh_the_same(seed: int, m: int, n_views: int) -> None:
    """Two views agree with each other alike, whatever they are."""
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, 20, m) for _ in range(n_views)]
    np.testing.assert_array_equal(weights_of(graphs), np.full(n_views, 1 / n_views))
    np.testing.assert_array_equal(fuse(graphs, weights="auto"), fuse(graphs))


@given(seeds, st.integers(3, 6))
@settings(max_examples=at_most(25))
def test_relabelling_views_permutes_the_weights(seed: int, n_views: int) -> None:
    """Weights belong to views, not to places; they are positive and sum to one."""
    rng = np.random.default_rng(seed)
    graphs, permutations = planted_graphs(rng, 80, 5, n_views, noise=0.3)
    graphs[0] = random_graph(rng, 80, 5)
    order = rng.permutation(n_views)
    weights = agreement_weights(GramMatrices.from_graphs(graphs), permutations)
    mixed = agreement_weights(GramMatrices.from_graphs([graphs[v] for v in order]), [permutations[v] for v in order])
    np.testing.assert_allclose(mixed, weights[order])
    assert (weights > 0).all()
    assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("sizes", [(8, 8, 8, 8), (8, 6, 7, 8)])
def test_a_view_of_noise_weighs_next_to_nothing(missing: float, sizes: tuple[int, ...]) -> None:
    """The others weigh nearly the same; also with samples missing and unequal numbers of anchors."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        graphs, _ = planted_graphs(rng, 400, 8, 4, noise=0.2)
        graphs[2] = random_graph(rng, 400, 8)
        graphs = [Z[:, :m] for Z, m in zip(graphs, sizes, strict=True)]
        mask = rng.random((4, 400)) >= missing
        mask[0] = True
        weights = weights_of(graphs, mask=mask)
        assert weights[2] < 0.05
        np.testing.assert_allclose(np.delete(weights, 2), 1 / 3, atol=0.04)


def test_fuse_takes_the_weights_of_the_aligned_graphs() -> None:
    """weights="auto" is what agreement_weights finds for the same permutations; dense, sparse and masked."""
    rng = np.random.default_rng(0)
    graphs, _ = planted_graphs(rng, 200, 5, 4, noise=0.2)
    graphs[3] = random_graph(rng, 200, 5)
    mask = rng.random((4, 200)) > 0.2
    mask[1] = True
    for observed in (None, mask):
        P = align(graphs, reference="consensus", mask=observed)
        weights = weights_of(graphs, mask=observed)
        for kind in (np.asarray, sp.csr_array):
            made = [kind(Z) for Z in graphs]
            fused = fuse(made, P, weights="auto", mask=observed)
            expected = fuse(graphs, P, weights=weights, mask=observed)
            np.testing.assert_allclose(fused if kind is np.asarray else fused.toarray(), expected)
            np.testing.assert_allclose(np.asarray(expected.sum(axis=1)), 1)


def test_graphs_that_do_not_vary_weigh_the_same_if_all_do_not() -> None:
    """Uniform graphs agree with nothing; if there is no agreement at all, no view is better than another."""
    uniform = np.full((30, 4), 0.25)
    np.testing.assert_allclose(weights_of([uniform] * 3), 1 / 3)
    Z = random_graph(np.random.default_rng(1), 30, 4)
    assert weights_of([Z, Z, uniform, Z])[2] < 0.01


def test_products_made_elsewhere_need_their_sums() -> None:
    """Unless the rows of the graphs sum to one, which the products tell."""
    graphs = related_graphs(np.random.default_rng(2), 60, 4, 3)
    side_by_side = np.hstack(graphs)
    product, orders = side_by_side.T @ side_by_side, [np.arange(4)] * 3
    expected = agreement_weights(GramMatrices.from_graphs(graphs), orders)
    np.testing.assert_allclose(agreement_weights(GramMatrices(product, (4, 4, 4), 60), orders), expected)
    with pytest.raises(InputError, match="are not known: give them to GramMatrices as sums"):
        agreement_weights(GramMatrices(4 * product, (4, 4, 4), 60), orders)
    scaled = GramMatrices(4 * product, (4, 4, 4), 60, 2 * side_by_side.sum(axis=0))
    np.testing.assert_allclose(agreement_weights(scaled, orders), expected)


@pytest.mark.slow
def test_noise_costs_little_on_real_data() -> None:
    """UCI-Digit with a fourth view of noise: less than two points of accuracy, and the real views stay near equal."""
    views, labels = real_data("UCI-Digit_3v")
    clean: list[float] = []
    noisy: list[float] = []
    for seed in range(10):
        noise = np.random.default_rng(seed).standard_normal((len(labels), 76))
        adapter = get_adapter("lmvsc")
        made = adapter.anchor_graphs([*views, noise], n_clusters=10, n_anchors=20, random_state=seed)
        for graphs, scores in ((list(made.graphs[:3]), clean), (list(made.graphs), noisy)):
            P = align(graphs, reference="consensus")
            fused = fuse(graphs, P, weights="auto")
            rows = spectral_embedding(fused, 10).unit_rows(fused)
            scores.append(100 * acc(labels, kmeans_labels(rows, 10, seed)))
        weights = weights_of(made.graphs)
        assert weights[3] < 0.01
        np.testing.assert_allclose(weights[:3], 1 / 3, atol=0.02)
    assert np.mean(clean) - np.mean(noisy) < 2


def test_automatic_weights_side_by_side_are_those_of_the_mean() -> None:
    """Also where views have different numbers of anchors: agreement is judged among the common columns."""
    rng = np.random.default_rng(3)
    graphs = [Z[:, :m] for Z, m in zip(related_graphs(rng, 80, 7, 3), (4, 7, 6), strict=True)]
    weights = agreement_weights(GramMatrices.from_graphs(graphs), check_orders(None, (4, 7, 6)))
    assert np.ptp(weights) > 0.01
    np.testing.assert_array_equal(
        fuse(graphs, how="concat", weights="auto"), fuse(graphs, how="concat", weights=weights)
    )
