"""Many views: the consensus holds together, is no worse than any reference, and does not depend on numbering."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    FloatArray,
    assert_permutations,
    planted_graphs,
    related_graphs,
    seeds,
    sorted_columns,
    total_objective,
)

from anchor_align import AnchorAligner, GramMatrices, align, fuse
from anchor_align.fusion import agreement_weights


def pairwise(matrices: list[FloatArray], u: int, v: int) -> FloatArray:
    """Correspondence of the anchors of two views."""
    return np.asarray(matrices[u] @ matrices[v].T)


@pytest.mark.slow
@given(seeds, st.integers(2, 6), st.sampled_from([0.0, 0.1, 1.0]))
@settings(max_examples=8)
def test_consensus_of_twelve_views_is_consistent(seed: int, m: int, lam: float) -> None:
    """From u to v and on to w is from u to w, and the total is not below that of any reference."""
    graphs = related_graphs(np.random.default_rng(seed), 60, m, 12)
    P = align(graphs, lam, reference="consensus")
    assert_permutations(P, m)
    for u, v, w in itertools.combinations(range(12), 3):
        np.testing.assert_array_equal(pairwise(P, u, v) @ pairwise(P, v, w), pairwise(P, u, w))
    total = total_objective(graphs, P, lam)
    for reference in range(12):
        star = align(graphs, lam, reference=reference)
        assert total >= total_objective(graphs, star, lam) - 1e-9


@given(seeds)
@settings(max_examples=5)
def test_order_of_twelve_views_does_not_matter(seed: int) -> None:
    """Relabelling views permutes the answer, up to the common order of the columns."""
    rng = np.random.default_rng(seed)
    graphs = related_graphs(rng, 100, 6, 12)
    order = rng.permutation(12)
    P = align(graphs, reference="consensus")
    Q = align([graphs[v] for v in order], reference="consensus")
    for i, j in itertools.combinations(range(12), 2):
        np.testing.assert_array_equal(pairwise(Q, i, j), pairwise(P, order[i], order[j]))


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["auto", "consensus"])
@pytest.mark.parametrize("n_views", [3, 12])
def test_order_of_the_views_does_not_decide_ties(n_views: int, reference: str) -> None:
    """Partitions of a few samples: many matches are equally good, and the same one is taken in any order of views."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        graphs = [np.eye(7)[rng.integers(7, size=20)] for _ in range(n_views)]
        order = rng.permutation(n_views)
        P = align(graphs, 0.0, reference=reference)
        Q = align([graphs[v] for v in order], 0.0, reference=reference)
        for i, j in itertools.combinations(range(n_views), 2):
            np.testing.assert_array_equal(pairwise(Q, i, j), pairwise(P, order[i], order[j]))


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_fifty_views_take_seconds(missing: float) -> None:
    """With all samples or without a third of them: planted correspondences, no star is better, weights near equal."""
    rng = np.random.default_rng(0)
    graphs, permutations = planted_graphs(rng, 300, 20, 50, noise=0.2)
    mask = rng.random((50, 300)) >= missing
    grams = GramMatrices.from_graphs(graphs, mask=mask)
    started = time.process_time()  # others may use the machine, too
    aligner = AnchorAligner(reference="consensus").fit(grams)
    assert time.process_time() - started < 60
    order = np.argsort(permutations[0])
    for found, planted in zip(aligner.permutations_, permutations, strict=True):
        np.testing.assert_array_equal(found, planted[order])
    if not missing:
        star = align(grams, reference="auto")
        total = total_objective(graphs, aligner.matrices_, 0.1)
        assert total >= total_objective(graphs, star, 0.1) - 1e-9
    np.testing.assert_allclose(agreement_weights(grams, aligner.permutations_), 1 / 50, rtol=0.05)


@pytest.mark.slow
def test_fused_graph_of_fifty_views_depends_on_no_numbering() -> None:
    """Views and columns shuffled: the same graph up to the order of its columns."""
    rng = np.random.default_rng(1)
    graphs = related_graphs(rng, 100, 5, 50)
    mixed = [graphs[v][:, rng.permutation(5)] for v in rng.permutation(50)]
    fused = [fuse(Z, align(Z, reference="consensus")) for Z in (graphs, mixed)]
    np.testing.assert_allclose(sorted_columns(fused[1]), sorted_columns(fused[0]), atol=1e-12)
