"""align: planted structure, equivariance, what is reported of a match."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    REFERENCES,
    assert_permutations,
    at_most,
    fused_of,
    lams,
    pair_terms,
    planted_graphs,
    random_graph,
    related_graphs,
    seeds,
    sorted_columns,
)

from anchor_align import AnchorAligner, align


@pytest.mark.parametrize("m", [1, 2, 3, 7, 20, 60, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("lam", [0.0, 0.1, 1.0])
def test_planted_permutations_are_recovered(m: int, reference: int | str, lam: float) -> None:
    """Shuffled noisy copies of one graph come back in one order."""
    for seed in range(3):
        graphs, permutations = planted_graphs(np.random.default_rng(seed), max(100, 3 * m), m, 3)
        aligner = AnchorAligner(lam, reference=reference).fit(graphs)
        base = 0 if aligner.reference_ is None else aligner.reference_
        order = np.argsort(permutations[base])
        for found, planted in zip(aligner.permutations_, permutations, strict=True):
            np.testing.assert_array_equal(found, planted[order])


@given(seeds, st.integers(1, 12), st.integers(1, 4), lams, st.sampled_from(["ascent", "pfp"]))
@settings(max_examples=at_most(60))
def test_result_is_always_a_permutation(seed: int, m: int, n_views: int, lam: float, method: str) -> None:
    """Also with duplicate and empty columns, whole empty views included."""
    rng = np.random.default_rng(seed)
    graphs = related_graphs(rng, 20, m, n_views)
    for Z in graphs:
        Z[:, rng.integers(m)] = Z[:, rng.integers(m)]
        Z[:, rng.integers(m)] = 0.0
    if seed % 5 == 0:
        graphs[-1][:] = 0.0
    for reference in REFERENCES:
        assert_permutations(align(graphs, lam, reference=reference, method=method), m)


def test_one_view_is_the_identity() -> None:
    """There is nothing to align to."""
    Z = random_graph(np.random.default_rng(0), 20, 4)
    for reference in REFERENCES:
        np.testing.assert_array_equal(align([Z], reference=reference)[0], np.eye(4))
    aligner = AnchorAligner(0.5).fit([Z])
    assert aligner.objective_[0] == pytest.approx(1.5)
    assert aligner.gap_[0] == 0


def test_reference_keeps_its_order() -> None:
    """The matrix of the reference is the identity; view 0's for the consensus."""
    graphs = related_graphs(np.random.default_rng(1), 80, 6, 4)
    for reference in (*range(4), *REFERENCES[1:]):
        aligner = AnchorAligner(reference=reference).fit(graphs)
        named: dict[str, list[Any]] = {"consensus": [None], "auto": [0, 1, 2, 3]}
        expected = named.get(str(reference), [reference])
        assert aligner.reference_ in expected
        np.testing.assert_array_equal(aligner.matrices_[aligner.reference_ or 0], np.eye(6))


def test_dozens_of_views() -> None:
    """Thirty noisy copies are aligned by every kind of reference."""
    graphs, _ = planted_graphs(np.random.default_rng(2), 100, 5, 30, noise=0.1)
    for reference in REFERENCES:
        aligned = AnchorAligner(reference=reference).fit_transform(graphs)
        assert max(np.abs(Z - aligned[0]).max() for Z in aligned) < 0.2


@given(seeds, st.integers(2, 10), st.sampled_from(REFERENCES), st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=at_most(60))
def test_fused_graph_depends_on_no_numbering_or_scale(seed: int, m: int, reference: int | str, lam: float) -> None:
    """Columns of any view, samples, a common factor, every sample twice: the same fused graph up to column order."""
    rng = np.random.default_rng(seed)
    graphs = related_graphs(rng, 50, m, 3)
    options = {"lam": lam, "reference": reference}
    expected = sorted_columns(fused_of(graphs, **options))

    shuffled = [Z[:, rng.permutation(m)] for Z in graphs]
    np.testing.assert_allclose(sorted_columns(fused_of(shuffled, **options)), expected, atol=1e-12)

    rows = rng.permutation(50)
    by_sample = fused_of([Z[rows] for Z in graphs], **options)[np.argsort(rows)]
    np.testing.assert_allclose(sorted_columns(by_sample), expected, atol=1e-12)

    scaled = fused_of([0.37 * Z for Z in graphs], **options) / 0.37
    np.testing.assert_allclose(sorted_columns(scaled), expected, atol=1e-12)

    twice = fused_of([np.repeat(Z, 2, axis=0) for Z in graphs], **options)[::2]
    np.testing.assert_allclose(sorted_columns(twice), expected, atol=1e-12)


@pytest.mark.parametrize("m", [40, 120])
def test_larger_graphs_do_not_depend_on_the_order_of_columns(m: int) -> None:
    """Anchors are numbered by what they are before the random starts are drawn."""
    rng = np.random.default_rng(m)
    graphs = related_graphs(rng, 8 * m, m, 2)
    shuffled = [Z[:, rng.permutation(m)] for Z in graphs]
    expected = sorted_columns(fused_of(graphs, lam=1.0, reference=0))
    np.testing.assert_allclose(sorted_columns(fused_of(shuffled, lam=1.0, reference=0)), expected, atol=1e-12)


def test_ties_do_not_depend_on_scale_or_numbering() -> None:
    """Equal weights on the nearest anchors make many near-ties: rounding and numbering must not decide."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        graphs = []
        for _ in range(2):
            Z = np.zeros((60, 9))
            np.put_along_axis(Z, np.argsort(rng.random((60, 9)), axis=1)[:, :3], 1 / 3, axis=1)
            graphs.append(Z)
        for lam in (0.1, np.inf):
            expected = AnchorAligner(lam, reference=0).fit(graphs).objective_[1]
            scaled = AnchorAligner(lam, reference=0).fit([3 * Z for Z in graphs])
            shuffled = AnchorAligner(lam, reference=0).fit([graphs[0], graphs[1][:, rng.permutation(9)]])
            assert scaled.objective_[1] == pytest.approx(expected, rel=1e-9)
            assert shuffled.objective_[1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("reference", ["auto", "consensus"])
def test_order_of_the_views_does_not_matter(reference: int | str) -> None:
    """Relabelling the views permutes the answer."""
    rng = np.random.default_rng(5)
    graphs = related_graphs(rng, 100, 8, 5)
    expected = sorted_columns(fused_of(graphs, reference=reference))
    for _ in range(4):
        mixed = [graphs[v] for v in rng.permutation(5)]
        np.testing.assert_allclose(sorted_columns(fused_of(mixed, reference=reference)), expected, atol=1e-12)


@given(seeds, st.integers(1, 8), lams, st.sampled_from(REFERENCES))
@settings(max_examples=at_most(60))
def test_reported_numbers_are_consistent(seed: int, m: int, lam: float, reference: int | str) -> None:
    """Terms, objective, bound, gap and margins agree with each other and with the definition."""
    graphs = related_graphs(np.random.default_rng(seed), 40, m, 3)
    aligner = AnchorAligner(lam, reference=reference).fit(graphs)
    expected = aligner.structure_ if np.isinf(lam) else aligner.feature_ + lam * aligner.structure_
    np.testing.assert_allclose(aligner.objective_, expected, rtol=1e-9)
    assert (aligner.upper_bound_ >= aligner.objective_).all()
    np.testing.assert_array_equal(aligner.gap_, aligner.upper_bound_ - aligner.objective_)
    assert (aligner.margins_ >= -1e-9).all()
    assert aligner.margins_.shape == (3, m)
    assert (aligner.feature_ <= 1 + 1e-9).all()
    assert (aligner.structure_ <= 1 + 1e-9).all()
    if aligner.reference_ is not None:
        base = graphs[aligner.reference_]
        for view, Z in enumerate(graphs):
            value = pair_terms(base, Z).problem(lam).value(aligner.permutations_[view])
            assert aligner.objective_[view] == pytest.approx(value, rel=1e-9)


def test_margin_is_the_loss_of_the_best_exchange() -> None:
    """Checked by exchanging partners by hand; a duplicated anchor is ambiguous, its margin is zero."""
    graphs = related_graphs(np.random.default_rng(6), 60, 6, 2)
    graphs[1][:, 4] = graphs[1][:, 2]
    aligner = AnchorAligner(0.5, reference=0).fit(graphs)
    problem = pair_terms(*graphs).problem(0.5)
    p = aligner.permutations_[1]
    for a in range(6):
        losses = []
        for b in set(range(6)) - {a}:
            q = p.copy()
            q[a], q[b] = p[b], p[a]
            losses.append(problem.value(p) - problem.value(q))
        assert aligner.margins_[1][a] == pytest.approx(min(losses), abs=1e-12)
    ambiguous = np.isin(p, [2, 4])
    assert np.abs(aligner.margins_[1][ambiguous]).max() < 1e-12
    assert aligner.margins_[1][~ambiguous].min() > 1e-4


def test_paper_scale_is_the_raw_objective() -> None:
    """With lam_scale="paper" the objective is Tr(K P) + lam Tr(S_1' P' S_2 P) of the graphs as they are."""
    Z1, Z2 = related_graphs(np.random.default_rng(7), 60, 5)
    aligner = AnchorAligner(0.3, lam_scale="paper", reference=0).fit([Z1, Z2])
    P = aligner.matrices_[1]
    K, S1, S2 = Z1.T @ Z2, Z1.T @ Z1, Z2.T @ Z2
    assert aligner.objective_[1] == pytest.approx(np.trace(K @ P) + 0.3 * np.trace(S1.T @ P.T @ S2 @ P))


@pytest.mark.parametrize("method", ["ascent", "pfp"])
def test_scales_differ_only_in_the_meaning_of_lam(method: str) -> None:
    """Balanced with lam is paper with lam times the ratio of the norms: the same permutation by both methods."""
    Z1, Z2 = related_graphs(np.random.default_rng(8), 200, 9)
    ratio = float(np.linalg.norm(Z1) * np.linalg.norm(Z2) / (np.linalg.norm(Z1.T @ Z1) * np.linalg.norm(Z2.T @ Z2)))
    balanced = align([Z1, Z2], 0.7, reference=0, method=method)[1]
    paper = align([Z1, Z2], 0.7 * ratio, lam_scale="paper", reference=0, method=method)[1]
    np.testing.assert_array_equal(balanced, paper)


@pytest.mark.parametrize("method", ["ascent", "pfp"])
@pytest.mark.parametrize("lam", [0.1, np.inf])
def test_extreme_values_are_aligned_like_any_other(method: str, lam: float) -> None:
    """The balanced scale takes graphs of any size that their products can hold."""
    graphs, (p0, p1) = planted_graphs(np.random.default_rng(0), 80, 8)
    for factor in (1e-130, 1e-80, 1e5, 1e9, 1e80, 1e150):
        aligner = AnchorAligner(lam, reference=0, method=method).fit([factor * Z for Z in graphs])
        np.testing.assert_array_equal(aligner.permutations_[1], p1[np.argsort(p0)])
        assert aligner.structure_[1] > 0.99


@pytest.mark.parametrize("lam", [0.0, 0.1, 1.0])
def test_one_heavy_anchor_does_not_blur_the_others(lam: float) -> None:
    """An anchor a hundred thousand times heavier than the rest leaves the rest their partners."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        Z, p = rng.random((100, 9)), rng.permutation(9)
        Z[:, 0] *= 1e5
        np.testing.assert_array_equal(align([Z, Z[:, p]], lam, reference=0)[1].argmax(axis=0), np.argsort(p))


def test_counts_on_the_paper_scale() -> None:
    """Large counts make the fixed point's gradients huge: its iterates stay doubly stochastic, below the bound."""
    counts = [np.round(1e4 * Z) for Z in related_graphs(np.random.default_rng(1), 5000, 10)]
    aligner = AnchorAligner(0.1, lam_scale="paper", method="pfp", reference=0).fit(counts)
    assert max(aligner.history_[1]) <= aligner.upper_bound_[1]


def test_extreme_lam() -> None:
    """A tiny lam is the feature term, a huge one the structure term."""
    graphs = related_graphs(np.random.default_rng(9), 100, 7)
    np.testing.assert_array_equal(align(graphs, 1e-300)[1], align(graphs, 0)[1])
    np.testing.assert_array_equal(align(graphs, 1e300)[1], align(graphs, np.inf)[1])


@pytest.mark.parametrize("lam", [10**20, Fraction(1, 10), np.longdouble(0.1)])
def test_lam_may_be_any_real_number(lam: Any) -> None:
    """Also one that NumPy does not know."""
    graphs = related_graphs(np.random.default_rng(9), 100, 7)
    found, expected = (AnchorAligner(each).fit(graphs) for each in (lam, float(lam)))
    np.testing.assert_array_equal(found.objective_, expected.objective_)
    np.testing.assert_array_equal(found.chance_, expected.chance_)


def test_methods_rank_as_promised() -> None:
    """Per view: exact is no worse than ascent, ascent no worse than pfp."""
    graphs = related_graphs(np.random.default_rng(10), 80, 7, 4)
    pfp, ascent, exact = (
        AnchorAligner(1.0, reference=0, method=method).fit(graphs).objective_ for method in ("pfp", "ascent", "exact")
    )
    assert (exact >= ascent - 1e-12).all()
    assert (ascent >= pfp - 1e-12).all()
