"""Profiles of anchors in groups of samples: what they decide in a match, and what they leave alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from anchor_align import AnchorAligner, GramMatrices, InputError, align
from anchor_align.errors import InputTypeError

PER_CLUSTER = 4


def free_choice(
    seed: int, n: int = 600, k: int = 5, n_views: int = 3, noise: float = 1 / 3
) -> tuple[list[Any], Any, list[Any]]:
    """Graphs in which a sample is on any anchor of its cluster; the labels, and the cluster of each anchor.

    Anchors of one cluster share samples with all anchors of that cluster alike, and some samples are noise.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    m = k * PER_CLUSTER
    graphs, clusters = [], []
    for _ in range(n_views):
        of_anchor = rng.permutation(np.repeat(np.arange(k), PER_CLUSTER))
        seen = np.where(rng.random(n) < noise, rng.integers(k, size=n), labels)
        Z = np.zeros((n, m))
        for i, cluster in enumerate(seen):
            Z[i, rng.choice(np.flatnonzero(of_anchor == cluster), 2, replace=False)] = 0.7, 0.3
        graphs.append(Z)
        clusters.append(of_anchor)
    return graphs, labels, clusters


def profiles_of(graphs: list[Any], labels: Any) -> list[Any]:
    return [np.array([Z[labels == each].sum(axis=0) for each in np.unique(labels)]) for Z in graphs]


def in_same_cluster(matrices: list[Any], clusters: list[Any]) -> float:
    """Part of the common columns whose anchors are of one cluster in all views."""
    in_order = np.array([of_anchor[P.argmax(axis=0)] for P, of_anchor in zip(matrices, clusters, strict=True)])
    return float((in_order == in_order[0]).all(axis=0).mean())


@given(st.integers(0, 2**16))
def test_profiles_match_anchors_of_the_same_clusters(seed: int) -> None:
    """Which samples they share does not tell so well, because samples choose freely between them."""
    graphs, labels, clusters = free_choice(seed, n=200)
    guided = in_same_cluster(align(graphs, profiles=profiles_of(graphs, labels)), clusters)
    assert guided == 1.0


def test_without_profiles_anchors_of_other_clusters_are_matched() -> None:
    """Much noise: the samples that anchors share no longer tell their clusters, but labels do."""
    plain, guided = [], []
    for seed in range(5):
        graphs, labels, clusters = free_choice(seed, n=200, noise=0.6)
        plain.append(in_same_cluster(align(graphs), clusters))
        guided.append(in_same_cluster(align(graphs, profiles=profiles_of(graphs, labels)), clusters))
    assert np.mean(guided) > np.mean(plain) + 0.1


def test_equal_profiles_leave_the_choice_to_the_objective() -> None:
    """One group of all samples says nothing."""
    rng = np.random.default_rng(0)
    graphs = [rng.dirichlet(np.full(12, 0.2), size=80) for _ in range(3)]
    same = [np.ones((1, 12))] * 3
    for P, expected in zip(align(graphs, profiles=same), align(graphs), strict=True):
        np.testing.assert_array_equal(P, expected)


def test_numbers_are_those_of_the_objective() -> None:
    """Without the term of the profiles: the objective is below its bound and not above that of the match without."""
    graphs, labels, _ = free_choice(1)
    plain = AnchorAligner(reference=0).fit(graphs)
    guided = AnchorAligner(reference=0).fit(graphs, profiles=profiles_of(graphs, labels))
    np.testing.assert_allclose(guided.objective_, guided.feature_ + 0.1 * guided.structure_)
    assert (guided.objective_ <= guided.upper_bound_ + 1e-12).all()
    np.testing.assert_allclose(guided.upper_bound_, plain.upper_bound_)
    assert guided.objective_[1:].sum() < plain.objective_[1:].sum()
    assert guided.chance_ is not None
    assert plain.chance_ is not None
    np.testing.assert_allclose(guided.chance_[1:], plain.chance_[1:])
    assert (guided.margins_ >= 0).all()


def test_structure_alone_ignores_profiles() -> None:
    """With infinite lam the linear term does not count, and the profiles are in it."""
    graphs, labels, _ = free_choice(2, n=200)
    expected = align(graphs, np.inf)
    for P, Q in zip(align(graphs, np.inf, profiles=profiles_of(graphs, labels)), expected, strict=True):
        np.testing.assert_array_equal(P, Q)


@pytest.mark.parametrize("lam_scale", ["balanced", "paper"])
@pytest.mark.parametrize("reference", ["consensus", "auto", 1])
def test_scales_and_references(lam_scale: str, reference: Any) -> None:
    """Profiles count ten times as much as features on either scale."""
    graphs, labels, clusters = free_choice(3)
    found = align(graphs, 1e-3, lam_scale=lam_scale, reference=reference, profiles=profiles_of(graphs, labels))
    assert in_same_cluster(found, clusters) == 1.0


def test_unequal_numbers_and_missing_samples() -> None:
    """A view without one of its anchors, and samples that views lack."""
    graphs, labels, clusters = free_choice(4)
    graphs[2], clusters[2] = graphs[2][:, 1:], clusters[2][1:]
    mask = np.random.default_rng(5).random((3, 600)) < 0.8
    mask[0, ~mask.any(axis=0)] = True
    present = [Z * own[:, None] for Z, own in zip(graphs, mask, strict=True)]
    grams = GramMatrices.from_graphs(graphs, mask=mask)
    aligner = AnchorAligner().fit(grams, profiles=profiles_of(present, labels))
    common = np.array([np.where(p >= 0, of[p], -1) for p, of in zip(aligner.permutations_, clusters, strict=True)])
    assert (common[0] == common[1]).all()
    assert ((common[2] == common[0]) | (common[2] == -1)).all()


@pytest.mark.parametrize("factor", [1e-300, 1e308])
def test_size_of_profiles_does_not_matter(factor: float) -> None:
    """Also where their squares have no number."""
    graphs, labels, _ = free_choice(0, n=100)
    profiles = profiles_of(graphs, labels)
    profiles = [F / F.max() for F in profiles]
    found = [align(graphs, profiles=[each * size for each in profiles]) for size in (1.0, factor)]
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize(
    ("profiles", "error", "message"),
    [
        ("text", InputTypeError, "one array for each view"),
        ([np.ones((2, 6))], InputError, "profiles of 1 views; there are 2"),
        ([np.ones((2, 6)), np.ones((2, 5))], InputError, r"view 1 have shape \(2, 5\); expected \(2, 6\)"),
        ([np.ones((2, 6)), np.ones((3, 6))], InputError, r"view 1 have shape \(3, 6\); expected \(2, 6\)"),
        ([np.ones(6), np.ones(6)], InputError, r"view 0 have shape \(6,\); expected \(n_groups, 6\)"),
        ([np.ones((2, 6)), np.full((2, 6), np.nan)], InputError, "view 1 have NaN or infinity"),
        ([np.ones((2, 6)), [["a"] * 6] * 2], InputTypeError, "view 1 must be an array of real numbers"),
        ([np.ones((2, 6)), np.full((2, 6), 1j)], InputTypeError, "view 1 must be an array of real numbers"),
        ([np.ones((2, 6)), np.zeros((2, 6), "M8[D]")], InputTypeError, "view 1 must be an array of real numbers"),
        ([np.ones((2, 6)), [[10**400] * 6] * 2], InputTypeError, "view 1 must be an array of real numbers"),
        ([np.ones((2, 6)), [[1], [1, 2]]], InputTypeError, "view 1 must be an array of real numbers"),
        ([sp.eye_array(6), np.ones((2, 6))], InputTypeError, "view 0 must be an array of real numbers"),
        ([b"text", np.ones((2, 6))], InputTypeError, "view 0 must be an array of real numbers"),
    ],
)
def test_wrong_profiles_are_one_sentence(profiles: Any, error: type[Exception], message: str) -> None:
    """What was got and what was expected, with the view."""
    graphs = [np.random.default_rng(view).dirichlet(np.ones(6), size=20) for view in range(2)]
    with pytest.raises(error, match=message):
        align(graphs, profiles=profiles)
