"""Views with different numbers of anchors, and matches that are not one-to-one."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    REFERENCES,
    FloatArray,
    at_most,
    lams,
    pair_terms,
    planted_graphs,
    random_graph,
    related_graphs,
    seeds,
    sorted_columns,
    total_objective,
)

from anchor_align import AnchorAligner, GramMatrices, InputError, InputTypeError, align, fuse

sizes_of_views = st.lists(st.integers(1, 7), min_size=1, max_size=4)


def cut(graphs: list[FloatArray], sizes: Any) -> list[FloatArray]:
    """The first anchors of every view; rows sum to one again."""
    return [Z[:, :m] / Z[:, :m].sum(axis=1, keepdims=True) for Z, m in zip(graphs, sizes, strict=True)]


def unequal_graphs(rng: np.random.Generator, n: int, sizes: Any) -> list[FloatArray]:
    return cut([Z + 1e-9 for Z in related_graphs(rng, n, max(sizes), len(sizes))], sizes)


def assert_partial(matrices: list[FloatArray], sizes: Any) -> None:
    """One 1 in each row, at most one in each column, as many columns in all views."""
    for P, m in zip(matrices, sizes, strict=True):
        assert P.shape == (m, matrices[0].shape[1])
        assert set(np.unique(P)) <= {0.0, 1.0}
        assert (P.sum(axis=1) == 1).all()
        assert (P.sum(axis=0) <= 1).all()


@given(seeds, sizes_of_views, lams, st.sampled_from(["ascent", "pfp", "exact"]))
@settings(max_examples=at_most(60))
def test_every_anchor_has_one_column(seed: int, sizes: list[int], lam: float, method: str) -> None:
    """For every kind of reference; the reference keeps its order, and the fused rows still sum to one."""
    graphs = unequal_graphs(np.random.default_rng(seed), 30, sizes)
    for reference in (*REFERENCES, len(sizes) - 1):
        aligner = AnchorAligner(lam, reference=reference, method=method).fit(graphs)
        assert_partial(aligner.matrices_, sizes)
        base = 0 if aligner.reference_ is None else aligner.reference_
        columns = aligner.matrices_[0].shape[1]
        np.testing.assert_array_equal(aligner.matrices_[base], np.eye(sizes[base], columns))
        assert columns >= max(sizes)
        if isinstance(reference, str):
            assert columns == max(sizes)
        if reference == "auto":
            assert sizes[base] == max(sizes)
        assert aligner.margins_.shape == (len(sizes), columns)
        assert (aligner.upper_bound_ >= aligner.objective_).all()
        for P, p in zip(aligner.matrices_, aligner.permutations_, strict=True):
            assert p.shape == (columns,)
            np.testing.assert_array_equal(P.sum(axis=0), p >= 0)
            np.testing.assert_array_equal(P[p[p >= 0], np.flatnonzero(p >= 0)], 1)
        for orders in (aligner.matrices_, aligner.permutations_, [sp.csr_array(P) for P in aligner.matrices_]):
            np.testing.assert_allclose(fuse(graphs, orders).sum(axis=1), 1)


@given(seeds, st.integers(1, 7), st.integers(1, 4), lams, st.sampled_from(REFERENCES), st.booleans())
@settings(max_examples=at_most(30))
def test_equal_numbers_of_anchors_reduce_to_permutations(
    seed: int, m: int, n_views: int, lam: float, reference: int | str, many_to_one: bool
) -> None:
    """Whatever becomes of anchors without a partner, there are none."""
    graphs = related_graphs(np.random.default_rng(seed), 30, m, n_views)
    plain = align(graphs, lam, reference=reference)
    for P, Q in zip(plain, align(graphs, lam, reference=reference, many_to_one=many_to_one), strict=True):
        np.testing.assert_array_equal(P, Q)
        assert P.shape == (m, m)
        assert (P.sum(axis=0) == 1).all()


@pytest.mark.parametrize("lam", [0.0, 0.1])
@pytest.mark.parametrize("reference", ["auto", "consensus", 1])
def test_planted_correspondences_are_found(lam: float, reference: int | str) -> None:
    """Views that lack some anchors of a common graph: each anchor comes to the column of its own kind."""
    sizes = (9, 12, 10, 12)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        graphs, permutations = planted_graphs(rng, 300, 12, 4)
        kinds = [np.argsort(p)[:m] for p, m in zip(permutations, sizes, strict=True)]
        P = align(cut(graphs, sizes), lam, reference=reference)
        columns = [np.full(12, -1) for _ in sizes]
        for Q, kind, column in zip(P, kinds, columns, strict=True):
            column[Q.argmax(axis=1)] = kind
        for first, second in itertools.combinations(columns, 2):
            both = (first >= 0) & (second >= 0)
            np.testing.assert_array_equal(first[both], second[both])


@given(seeds, st.integers(1, 4), st.integers(1, 5), st.sampled_from([0.0, 0.3, 5.0, np.inf]))
@settings(max_examples=at_most(40))
def test_partial_matching_is_the_best_there_is(seed: int, few: int, many: int, lam: float) -> None:
    """Of all ways to give each anchor of the smaller view a partner of its own; the bound holds for them, too."""
    few, many = min(few, many), max(few, many)
    small, large = unequal_graphs(np.random.default_rng(seed), 30, (few, many))
    aligner = AnchorAligner(lam).fit([small, large])
    padded = np.hstack([small, np.zeros((30, many - few))])
    problem = pair_terms(large, padded).problem(lam)
    best = max(problem.value(np.array(p)) for p in itertools.permutations(range(many)))
    which = 1 - (aligner.reference_ or 0)
    assert aligner.objective_[which] == pytest.approx(best)
    assert aligner.upper_bound_[which] >= best - 1e-9


@given(seeds, st.sampled_from(["auto", "consensus"]))
@settings(max_examples=20)
def test_numbering_of_views_and_anchors_does_not_matter(seed: int, reference: str) -> None:
    """The fused graph is the same up to the order of its columns."""
    rng = np.random.default_rng(seed)
    sizes = (5, 7, 6)
    graphs = cut(planted_graphs(rng, 100, 7, 3, noise=0.2)[0], sizes)
    order = rng.permutation(3)
    mixed = [graphs[v][:, rng.permutation(sizes[v])] for v in order]
    fused = [fuse(Z, align(Z, reference=reference)) for Z in (graphs, mixed)]
    np.testing.assert_allclose(sorted_columns(fused[1]), sorted_columns(fused[0]), atol=1e-12)


@given(seeds, st.lists(st.integers(1, 6), min_size=3, max_size=5), lams)
@settings(max_examples=20)
def test_consensus_of_unequal_views_is_never_below_a_star(seed: int, sizes: list[int], lam: float) -> None:
    """The total over all pairs of views, whichever view is the reference."""
    graphs = unequal_graphs(np.random.default_rng(seed), 40, sizes)
    total = total_objective(graphs, align(graphs, lam, reference="consensus"), lam)
    for reference in ("auto", *range(len(sizes))):
        assert total >= total_objective(graphs, align(graphs, lam, reference=reference), lam) - 1e-9


def test_a_smaller_reference_leaves_anchors_without_a_partner() -> None:
    """They are columns of their own after the reference's; those of two views do not share one."""
    rng = np.random.default_rng(0)
    graphs, permutations = planted_graphs(rng, 200, 6, 3)
    sizes = (4, 6, 5)
    graphs = [Z[:, p[:m]] for Z, p, m in zip(graphs, permutations, sizes, strict=True)]
    aligner = AnchorAligner(reference=0).fit(graphs)
    assert [p.tolist() for p in aligner.permutations_] == [
        [0, 1, 2, 3, -1, -1, -1],
        [0, 1, 2, 3, 4, 5, -1],
        [0, 1, 2, 3, -1, -1, 4],
    ]
    assert (aligner.margins_[1, :6] > 0).all()
    assert np.isinf(aligner.margins_[0, 4:]).all()
    assert np.isfinite(aligner.margins_[2, [0, 1, 2, 3, 6]]).all()
    aligned = aligner.transform([graphs[0], sp.csr_array(graphs[1]), graphs[2].astype(np.float32)])
    assert [A.shape for A in aligned] == [(200, 7)] * 3
    assert aligned[2].dtype == np.float32
    np.testing.assert_allclose(aligned[1].toarray(), graphs[1] @ aligner.matrices_[1])


@given(seeds, sizes_of_views, st.sampled_from([0.0, 0.1, np.inf]), st.sampled_from(["ascent", "pfp", "exact"]))
@settings(max_examples=at_most(30))
def test_no_anchor_is_left_where_the_reference_has_room(seed: int, sizes: list[int], lam: float, method: str) -> None:
    """Partitions, in which most pairs of clusters share no sample: nothing speaks for a partner, nor against it."""
    rng = np.random.default_rng(seed)
    sizes = [3, 5, *sizes, 9]
    graphs = [np.eye(m)[rng.integers(m, size=8)] for m in sizes]
    for reference, width in enumerate(sizes):
        aligner = AnchorAligner(lam, reference=reference, method=method).fit(graphs)
        for p, m in zip(aligner.permutations_, sizes, strict=True):
            assert np.count_nonzero(p[:width] >= 0) == min(m, width)
        assert_partial(aligner.matrices_, sizes)
        assert (aligner.upper_bound_ >= aligner.objective_).all()


def test_partners_that_lower_the_objective_are_not_forced() -> None:
    """Of graphs with negative entries: there the reference's anchor rather has none."""
    reference, view = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0, 0.0], [0.0, -1.0, -2.0]])
    wide = np.ones((2, 4))
    found = AnchorAligner(0.0, reference=0).fit([reference, view, wide])
    assert found.permutations_[1].tolist()[:2] == [0, -1]


@given(seeds, st.integers(1, 4), st.lists(st.integers(1, 9), min_size=1, max_size=3), lams)
@settings(max_examples=at_most(40))
def test_many_to_one_is_balanced(seed: int, few: int, others: list[int], lam: float) -> None:
    """Each anchor has one of the reference's columns, and no column gets more than the fair number."""
    sizes = [few, *others]
    graphs = unequal_graphs(np.random.default_rng(seed), 30, sizes)
    aligner = AnchorAligner(lam, reference=0, many_to_one=True).fit(graphs)
    for P, m in zip(aligner.matrices_, sizes, strict=True):
        assert P.shape == (m, few)
        assert (P.sum(axis=1) == 1).all()
        assert P.sum(axis=0).max() <= np.ceil(m / few)
    np.testing.assert_array_equal(aligner.matrices_[0], np.eye(few))
    np.testing.assert_allclose(fuse(graphs, aligner.matrices_).sum(axis=1), 1)
    aligned = aligner.transform([sp.csr_array(graphs[0]), *graphs[1:]])
    for A, Z, P in zip(aligned[1:], graphs[1:], aligner.matrices_[1:], strict=True):
        np.testing.assert_allclose(A, Z @ P)


def test_many_to_one_finds_the_anchors_that_were_split() -> None:
    """Each anchor of the reference was cut in two in the other view: both halves come to it."""
    rng = np.random.default_rng(1)
    Z = random_graph(rng, 300, 5)
    part = rng.uniform(0.3, 0.7, size=(300, 5))
    order = rng.permutation(10)
    halves = np.hstack([part * Z, (1 - part) * Z])[:, order]
    P = align([Z, halves], reference=0, many_to_one=True)
    np.testing.assert_array_equal(P[1].argmax(axis=1), order % 5)
    np.testing.assert_allclose(fuse([Z, halves], P), Z)


@given(seeds, st.lists(st.integers(1, 8), min_size=1, max_size=3), st.sampled_from([0, "auto"]))
@settings(max_examples=at_most(30))
def test_released_rounding_keeps_every_anchor(seed: int, sizes: list[int], reference: int | str) -> None:
    """Every anchor of a view has one column, so rows keep their sums; the objective is that of the matrix."""
    graphs = unequal_graphs(np.random.default_rng(seed), 40, tuple(sizes))
    aligner = AnchorAligner(1.0, reference=reference, method="pfp-many-to-one").fit(graphs)
    base = graphs[aligner.reference_ or 0]
    for view, (Z, P) in enumerate(zip(graphs, aligner.matrices_, strict=True)):
        assert P.shape == (Z.shape[1], base.shape[1])
        assert (P.sum(axis=1) == 1).all()
        terms = pair_terms(base, Z)
        feature, structure = np.trace(terms.K @ P), np.trace(terms.S1.T @ P.T @ terms.S2 @ P)
        assert aligner.objective_[view] == pytest.approx(feature + structure)
    fused = fuse(graphs, aligner.matrices_)
    np.testing.assert_allclose(fused, np.mean([Z @ P for Z, P in zip(graphs, aligner.matrices_, strict=True)], axis=0))
    np.testing.assert_allclose(fused.sum(axis=1), np.mean([Z.sum(axis=1) for Z in graphs], axis=0))
    np.testing.assert_allclose(np.mean(aligner.transform(graphs), axis=0), fused)


def test_released_rounding_shares_columns() -> None:
    """On graphs that agree in part several anchors share a column and some columns stay empty; on copies, none."""
    graphs = related_graphs(np.random.default_rng(2), 100, 20)
    P = align(graphs, 0.1, reference=0, method="pfp-many-to-one")
    assert (P[1].sum(axis=0) > 1).any()
    copies, (p, q) = planted_graphs(np.random.default_rng(3), 100, 8)
    found = AnchorAligner(reference=0, method="pfp-many-to-one").fit(copies)
    np.testing.assert_array_equal(found.permutations_[1], q[np.argsort(p)])
    with pytest.raises(InputError, match=r"not one-to-one and has no consensus; use a view's index or 'auto'"):
        align(graphs, reference="consensus", method="pfp-many-to-one")


def test_seeds_and_gram_matrices_of_unequal_views() -> None:
    """Known pairs are kept, also where they are not the best; Gram matrices are as good as the graphs."""
    rng = np.random.default_rng(4)
    graphs = unequal_graphs(rng, 60, (5, 3, 4))
    for reference in (0, 1, "auto", "consensus"):
        table = [[4, 0, 3]]
        aligner = AnchorAligner(reference=reference, seeds=table).fit(graphs)
        assert len({int(P[anchor].argmax()) for P, anchor in zip(aligner.matrices_, table[0], strict=True)}) == 1
        again = AnchorAligner(reference=reference, seeds=table).fit(
            pickle.loads(pickle.dumps(GramMatrices.from_graphs(graphs)))
        )
        for P, Q in zip(aligner.matrices_, again.matrices_, strict=True):
            np.testing.assert_array_equal(P, Q)
    with pytest.raises(InputError, match="anchor 4 of view 2, which has anchors 0 to 3"):
        align(graphs, seeds=[[0, 0, 4]])
    with pytest.raises(InputError, match=r"No view with the most anchors \(5\) is named in every row of seeds"):
        align(graphs, seeds=[[-1, 0, 1]], reference="auto")


def test_unequal_views_with_samples_missing() -> None:
    """Both at once: planted correspondences are found, and rows sum to one."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        graphs, permutations = planted_graphs(rng, 300, 8, 3)
        sizes = (8, 6, 7)
        graphs = cut([Z[:, p] for Z, p in zip(graphs, permutations, strict=True)], sizes)
        mask = rng.random((3, 300)) > 0.3
        mask[0, ~mask.any(axis=0)] = True
        for reference in REFERENCES:
            P = align(graphs, reference=reference, mask=mask)
            for Q, m in zip(P, sizes, strict=True):
                np.testing.assert_array_equal(Q, np.eye(m, 8))
            for weights in (None, "auto"):
                np.testing.assert_allclose(fuse(graphs, P, weights=weights, mask=mask).sum(axis=1), 1)


def test_fusing_unequal_views_as_they_come() -> None:
    """Without permutations the last columns lack the smaller views; side by side there is a column for each anchor."""
    graphs = unequal_graphs(np.random.default_rng(5), 20, (3, 5))
    expected = np.hstack([graphs[0], np.zeros((20, 2))])
    np.testing.assert_allclose(fuse(graphs), (expected + graphs[1]) / 2)
    np.testing.assert_array_equal(fuse(graphs, how="concat"), np.hstack(graphs))
    aligner = AnchorAligner(reference=0).fit(graphs)
    made = fuse([sp.csr_array(Z) for Z in graphs], aligner.permutations_)
    np.testing.assert_allclose(made.toarray(), fuse(graphs, aligner.permutations_))


def test_dask_arrays_of_unequal_widths() -> None:
    """Aligned and fused chunk by chunk like any other."""
    da = pytest.importorskip("dask.array")
    graphs = unequal_graphs(np.random.default_rng(6), 40, (3, 5))
    chunked = [da.from_array(Z, chunks=(15, -1)) for Z in graphs]
    aligner = AnchorAligner(reference=0).fit(chunked)
    expected = fuse(graphs, align(graphs, reference=0), weights="auto")
    np.testing.assert_allclose(fuse(chunked, aligner.matrices_, weights="auto").compute(), expected)
    for A, Z, P in zip(aligner.transform(chunked), graphs, aligner.matrices_, strict=True):
        assert A.shape == (40, P.shape[1])
        np.testing.assert_allclose(A.compute(), Z @ P)


@pytest.mark.parametrize(
    ("P_list", "message"),
    [
        (
            [np.eye(3, 5), np.eye(4)],
            r"permutation of view 1 has shape \(4, 4\).*; expected a matrix of 5 rows or 5 ind",
        ),
        ([np.eye(3, 4), np.eye(5)], r"permutation of view 1 has 5 common columns; that of view 0 has 4"),
        ([[0, 1, -1, -1, -1], np.eye(5)], r"view 0 does not have each of its 3 anchors exactly once"),
        ([[0, 1, 2, 2, -1], np.eye(5)], r"view 0 does not have each of its 3 anchors exactly once"),
        ([[0, 1, 2, -2, -1], np.eye(5)], r"view 0 does not have each of its 3 anchors exactly once"),
        ([[0, 1], np.eye(5)], r"permutation of view 0 has shape \(2,\) and dtype int64; expected"),
        ([np.zeros((3, 5)), np.eye(5)], r"view 0 does not have each of its 3 anchors exactly once"),
    ],
)
def test_bad_orders_are_refused(P_list: Any, message: str) -> None:
    """One sentence that names the view."""
    with pytest.raises(InputError, match=message):
        fuse([np.eye(4)[:, :3], np.ones((4, 5))], P_list)


def test_bad_options_are_refused() -> None:
    """many_to_one is a flag; transform takes the anchors that were fitted."""
    with pytest.raises(InputTypeError, match="many_to_one must be True or False, got 1"):
        align([np.eye(3), np.eye(3)], many_to_one=1)  # type: ignore[arg-type]
    aligner = AnchorAligner().fit([np.eye(3), np.eye(3)[:, :2]])
    with pytest.raises(InputError, match="View 1 has 3 anchors; the aligner was fitted on 2"):
        aligner.transform([np.eye(3), np.eye(3)])
