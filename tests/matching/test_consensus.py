"""Consensus with many anchors: never below a reference, no exchange improves it, seeds and order of views hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from strategies import FloatArray, related_graphs, total_objective

from anchor_align import AnchorAligner, GramMatrices, align

M, VIEWS = 36, 7  # more anchors than are searched in full


@pytest.fixture(scope="module")
def graphs() -> list[FloatArray]:
    """Seven views, of which two are nearly equal."""
    rng = np.random.default_rng(0)
    found = related_graphs(rng, 150, M, VIEWS - 1)
    return [*found, found[0][:, rng.permutation(M)] + 1e-3 * rng.random((150, M))]


@pytest.mark.parametrize("lam", [0.0, 0.1, 10.0])
def test_no_reference_and_no_exchange_is_better(graphs: list[FloatArray], lam: float) -> None:
    """The total is not below that of any reference, and all margins are >= 0."""
    grams = GramMatrices.from_graphs(graphs)
    aligner = AnchorAligner(lam, reference="consensus").fit(grams)
    total = total_objective(graphs, aligner.matrices_, lam)
    for reference in range(VIEWS):
        star = align(grams, lam, reference=reference)
        assert total >= total_objective(graphs, star, lam) - 1e-9
    assert (aligner.margins_ >= 0).all()


def test_order_of_views_and_anchors_does_not_matter(graphs: list[FloatArray]) -> None:
    """Relabelled views with shuffled anchors have the same correspondences."""
    rng = np.random.default_rng(1)
    views = rng.permutation(VIEWS)
    shuffles = [rng.permutation(M) for _ in range(VIEWS)]
    P = align(graphs, reference="consensus")
    Q = align([graphs[view][:, shuffle] for view, shuffle in zip(views, shuffles, strict=True)], reference="consensus")
    back = [np.eye(M)[shuffle].T @ matrix for shuffle, matrix in zip(shuffles, Q, strict=True)]
    for i, j in itertools.combinations(range(VIEWS), 2):
        np.testing.assert_array_equal(back[i] @ back[j].T, P[views[i]] @ P[views[j]].T)


def test_seeds_hold_in_groups_too(graphs: list[FloatArray]) -> None:
    """Known correspondences, against the match without them, stay."""
    rng = np.random.default_rng(2)
    seeds = np.stack([rng.permutation(M)[:4] for _ in range(VIEWS)], axis=1)
    seeds[1, 3] = -1
    found = AnchorAligner(reference="consensus", seeds=seeds).fit(GramMatrices.from_graphs(graphs))
    places = np.stack([np.argsort(p)[column] for p, column in zip(found.permutations_, seeds.T, strict=True)], axis=1)
    known = seeds >= 0
    np.testing.assert_array_equal(places[known], np.broadcast_to(places[:, :1], places.shape)[known])
