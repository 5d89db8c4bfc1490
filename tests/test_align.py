"""align and AnchorAligner: planted structure, equivariance, references, seeds, kinds of input."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from strategies import (
    FloatArray,
    lams,
    pair_terms,
    planted_graphs,
    random_graph,
    real_graphs,
    related_graphs,
    seeds,
    sorted_columns,
)

from anchor_align import AnchorAligner, GramMatrices, InputError, Progress, align, fuse

REFERENCES = (0, "auto", "consensus")


def assert_permutations(matrices: list[FloatArray], m: int) -> None:
    for P in matrices:
        assert P.shape == (m, m)
        assert set(np.unique(P)) <= {0.0, 1.0}
        assert (P.sum(axis=0) == 1).all()
        assert (P.sum(axis=1) == 1).all()


def fused_of(graphs: Any, **options: Any) -> FloatArray:
    return np.asarray(fuse(graphs, align(graphs, **options)))


def total_objective(graphs: list[FloatArray], matrices: list[FloatArray], lam: float) -> float:
    aligned = [Z @ P for Z, P in zip(graphs, matrices, strict=True)]
    identity = np.arange(aligned[0].shape[1])
    return sum(pair_terms(A, B).problem(lam).value(identity) for A, B in itertools.combinations(aligned, 2))


# ---------------------------------------------------------------- planted structure


@pytest.mark.parametrize("m", [1, 2, 3, 7, 20, 60, 200])
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
@settings(max_examples=60)
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


# ---------------------------------------------------------------- equivariance


@given(seeds, st.integers(2, 10), st.sampled_from(REFERENCES), st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=60)
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


# ---------------------------------------------------------------- objective, bound, margins


@given(seeds, st.integers(1, 8), lams, st.sampled_from(REFERENCES))
@settings(max_examples=60)
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


def test_methods_rank_as_promised() -> None:
    """Per view: exact is no worse than ascent, ascent no worse than pfp."""
    graphs = related_graphs(np.random.default_rng(10), 80, 7, 4)
    pfp, ascent, exact = (
        AnchorAligner(1.0, reference=0, method=method).fit(graphs).objective_ for method in ("pfp", "ascent", "exact")
    )
    assert (exact >= ascent - 1e-12).all()
    assert (ascent >= pfp - 1e-12).all()


# ---------------------------------------------------------------- reference and consensus


def test_auto_gives_what_its_reference_gives() -> None:
    """Naming the view that "auto" chose changes nothing; scores count at any size of the graphs."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        graphs = [rng.random((20, 6)) for _ in range(3)]
        auto = AnchorAligner(np.inf).fit(graphs)
        named = AnchorAligner(np.inf, reference=int(auto.reference_ or 0)).fit(graphs)
        np.testing.assert_array_equal(auto.objective_, named.objective_)
    base = random_graph(rng, 60, 6)
    for factor in (1.0, 1e-7):
        views = [factor * Z for Z in (0.1 * base, base, base)]
        assert AnchorAligner(0, lam_scale="paper").fit(views).reference_ == 1


def test_auto_takes_the_view_that_all_others_match_best() -> None:
    """A useless first view is not chosen, and aligning to it would be worse."""
    rng = np.random.default_rng(11)
    graphs, _ = planted_graphs(rng, 120, 6, 3, noise=0.3)
    graphs.insert(0, random_graph(rng, 120, 6))
    aligner = AnchorAligner().fit(graphs)
    assert aligner.reference_ not in (0, None)
    by_view = [AnchorAligner(reference=v).fit(graphs) for v in range(4)]
    totals = [a.objective_.sum() for a in by_view]
    assert totals[aligner.reference_] == pytest.approx(max(totals))


@given(seeds, st.integers(2, 8), st.integers(2, 6), st.sampled_from([0.0, 0.1, 1.0, np.inf]))
@settings(max_examples=40)
def test_consensus_is_never_below_the_best_star(seed: int, m: int, n_views: int, lam: float) -> None:
    """Total objective over all pairs of views, against every choice of a reference."""
    graphs = related_graphs(np.random.default_rng(seed), 60, m, n_views)
    consensus = total_objective(graphs, align(graphs, lam, reference="consensus"), lam)
    for reference in range(n_views):
        assert consensus >= total_objective(graphs, align(graphs, lam, reference=reference), lam) - 1e-9


@pytest.mark.parametrize("factor", [1.0, 1e3, 1e6])
def test_consensus_ends_when_nothing_changes(factor: float) -> None:
    """Also where one anchor outweighs the others: rounding is no improvement."""
    for seed in range(6):
        graphs = [np.random.default_rng([seed, view]).random((60, 10)) for view in range(3)]
        for Z in graphs:
            Z[:, 0] *= factor
        calls: list[Progress] = []
        align(graphs, reference="consensus", callback=calls.append)
        assert sum(c.stage == "consensus" for c in calls) <= 10


def test_consensus_is_never_below_the_order_as_it_comes() -> None:
    """Views handed over in the joint optimum stay there, where no reference leads to it."""
    for seed in range(40):
        graphs = related_graphs(np.random.default_rng(seed), 40, 3, 4)
        best, best_total = graphs, -np.inf
        for orders in itertools.product(itertools.permutations(range(3)), repeat=3):
            arranged = [graphs[0], *(Z[:, list(order)] for Z, order in zip(graphs[1:], orders, strict=True))]
            total = total_objective(arranged, [np.eye(3)] * 4, 1.0)
            if total > best_total:
                best, best_total = arranged, total
        found = align(best, 1.0, reference="consensus")
        assert total_objective(best, found, 1.0) >= best_total - 1e-9


# ---------------------------------------------------------------- seeds


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("method", ["ascent", "pfp", "exact"])
def test_seeds_are_kept(reference: int | str, method: str) -> None:
    """Anchors of one row end in the same column, against the data if need be; unknown ones are matched."""
    rng = np.random.default_rng(12)
    graphs, _ = planted_graphs(rng, 100, 6, 3)
    table = np.array([[0, 3, 5], [4, 0, -1], [1, 1, 1]])
    aligner = AnchorAligner(0.5, reference=reference, method=method, seeds=table).fit(graphs)
    positions = [np.argsort(p) for p in aligner.permutations_]
    for row in table:
        columns = {int(positions[view][anchor]) for view, anchor in enumerate(row) if anchor >= 0}
        assert len(columns) == 1
    assert (aligner.upper_bound_ >= aligner.objective_).all()
    fixed = np.isinf(aligner.margins_)
    assert fixed.sum(axis=1).tolist() == [3, 3, 2]


def test_true_seeds_recover_the_rest_from_structure_alone() -> None:
    """The paper's link to partially aligned samples: structure term only, some correspondences known."""
    graphs, (p0, p1) = planted_graphs(np.random.default_rng(13), 300, 40, noise=0.05)
    pairs = np.column_stack([p0, p1])[:10]
    found = align(graphs, np.inf, reference=0, seeds=pairs)[1].argmax(axis=0)
    np.testing.assert_array_equal(found, p1[np.argsort(p0)])


def test_exact_with_seeds_needs_only_the_pairs_of_the_reference() -> None:
    """Twelve anchors, two or three of them known: view 0 is the only possible reference, nine or ten are free."""
    graphs, _ = planted_graphs(np.random.default_rng(15), 100, 12, 3)
    table = [[0, 0, 0], [1, -1, 1], [2, 2, -1]]
    for reference in REFERENCES:
        aligner = AnchorAligner(reference=reference, method="exact", seeds=table).fit(graphs)
        assert aligner.reference_ in (0, None)


def test_seeds_may_fix_everything() -> None:
    """Then nothing is left to search, and the bound is the objective."""
    graphs = related_graphs(np.random.default_rng(14), 50, 5)
    pairs = [(0, 2), (1, 0), (2, 1), (3, 4), (4, 3)]
    aligner = AnchorAligner(1.0, reference=0, seeds=pairs).fit(graphs)
    np.testing.assert_array_equal(aligner.permutations_[1], [2, 0, 1, 4, 3])
    assert aligner.gap_[1] == 0
    assert np.isinf(aligner.margins_).all()


# ---------------------------------------------------------------- kinds of input


def kinds_of(Z: FloatArray, path: Path) -> dict[str, object]:
    np.save(path, Z)
    return {
        "float64": Z,
        "fortran": np.asfortranarray(Z),
        "strided": np.repeat(Z, 2, axis=1)[:, ::2],
        "reversed": np.ascontiguousarray(Z[::-1])[::-1],
        "big-endian": Z.astype(">f8"),
        "lists": Z.tolist(),
        "memmap": np.load(path, mmap_mode="r"),
        "DataFrame": pd.DataFrame(Z, columns=[f"anchor {j}" for j in range(Z.shape[1])]),
        "nullable DataFrame": pd.DataFrame(Z).astype("Float64"),
        "csr_array": sp.csr_array(Z),
        "csc_array": sp.csc_array(Z),
        "csr_matrix": sp.csr_matrix(Z),
        "csc_matrix": sp.csc_matrix(Z),
        "coo_array": sp.coo_array(Z),
    }


def test_every_kind_of_input_gives_the_same_result(tmp_path: Path) -> None:
    """Arrays of any layout, memmaps, DataFrames and sparse formats, alone and mixed."""
    graphs = [np.where(Z > 0.05, Z, 0) for Z in related_graphs(np.random.default_rng(15), 80, 7)]
    expected = align(graphs)
    first, second = (kinds_of(Z, tmp_path / f"{view}.npy") for view, Z in enumerate(graphs))
    for name in first:
        for Z_list in ([first[name], second[name]], [graphs[0], second[name]]):
            for P, Q in zip(align(Z_list), expected, strict=True):
                np.testing.assert_array_equal(P, Q, err_msg=name)
            fused = fuse(Z_list, expected)
            fused = fused if isinstance(fused, np.ndarray) else fused.toarray()
            np.testing.assert_allclose(fused, fuse(graphs, expected), err_msg=name)


def test_float32_and_integers_agree_with_float64() -> None:
    """float32 gives the same permutation and nearly the same numbers; counts are taken as they are."""
    graphs = related_graphs(np.random.default_rng(16), 100, 8)
    counts = [np.round(100 * Z).astype(np.uint8) for Z in graphs]
    for kind in ([Z.astype(np.float32) for Z in graphs], counts):
        a = AnchorAligner(reference=0).fit(kind)
        b = AnchorAligner(reference=0).fit([Z.astype(np.float64) for Z in kind])
        np.testing.assert_array_equal(a.permutations_[1], b.permutations_[1])
        np.testing.assert_allclose(a.objective_, b.objective_, rtol=1e-6)
    single = AnchorAligner(reference=0).fit([Z.astype(np.float32) for Z in graphs])
    np.testing.assert_allclose(single.objective_, AnchorAligner(reference=0).fit(graphs).objective_, rtol=1e-5)


def test_inputs_are_not_modified(tmp_path: Path) -> None:
    """Graphs, seeds and Gram matrices are the same before and after every call."""
    graphs = related_graphs(np.random.default_rng(17), 40, 9)
    table = np.array([[0, 1]])
    mixed = [graphs[0], sp.csc_matrix(graphs[1])]
    grams = GramMatrices.from_graphs(graphs)
    before = pickle.dumps((graphs, table, mixed, grams.matrix.copy()))
    for reference in REFERENCES:
        for method in ("ascent", "pfp", "exact"):
            AnchorAligner(reference=reference, seeds=table, method=method).fit(graphs).transform(mixed)
        fuse(mixed, align(grams, reference=reference))
    assert pickle.dumps((graphs, table, mixed, grams.matrix.copy())) == before


def test_same_seed_same_result_for_any_number_of_threads() -> None:
    """BLAS threads change the last bits of sums, not the answer."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(18)
    graphs = [random_graph(rng, 400, 40, 20.0) for _ in range(3)]
    results = []
    for threads in (1, 2, 2):
        with threadpool_limits(threads):
            results.append(align(graphs, 10.0, random_state=7))
    for P, Q, R in zip(*results, strict=True):
        np.testing.assert_array_equal(P, Q)
        np.testing.assert_array_equal(Q, R)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_random_state_may_be_a_generator(make: Any) -> None:
    """Generators in the same state give the same result; other seeds may give another on a hard problem; None works."""
    rng = np.random.default_rng(19)
    graphs = [random_graph(rng, 70, 70) for _ in range(2)]
    found = [align(graphs, np.inf, random_state=make(seed))[1] for seed in (3, 3, *range(10, 20))]
    np.testing.assert_array_equal(found[0], found[1])
    assert any((found[0] != P).any() for P in found[2:])
    assert_permutations(align(graphs, np.inf, random_state=None), 70)


# ---------------------------------------------------------------- estimator and callback


def test_estimator_conventions() -> None:
    """clone, get_params, pickling; transform before fit says so; transform checks what it gets."""
    graphs = related_graphs(np.random.default_rng(20), 50, 5)
    aligner = AnchorAligner(0.3, reference="consensus", random_state=4)
    assert clone(aligner).get_params() == aligner.get_params()
    assert "reference='consensus'" in repr(aligner)
    with pytest.raises(NotFittedError):
        aligner.transform(graphs)
    fitted = pickle.loads(pickle.dumps(aligner.fit(graphs)))
    for Z, A, P, p in zip(graphs, fitted.transform(graphs), fitted.matrices_, fitted.permutations_, strict=True):
        np.testing.assert_array_equal(A, Z @ P)
        np.testing.assert_array_equal(A, Z[:, p])
    with pytest.raises(InputError, match=r"Got 1 views; the aligner was fitted on 2"):
        fitted.transform(graphs[:1])
    with pytest.raises(InputError, match=r"have 3 anchors; the aligner was fitted on 5"):
        fitted.transform([Z[:, :3] for Z in graphs])


def test_transform_keeps_sparse_graphs_sparse() -> None:
    """And works on samples that were not fitted."""
    graphs = related_graphs(np.random.default_rng(21), 50, 5)
    aligner = AnchorAligner().fit(graphs)
    aligned = aligner.transform([sp.csr_array(Z[:7]) for Z in graphs])
    for A, Z, P in zip(aligned, graphs, aligner.matrices_, strict=True):
        assert isinstance(A, sp.csr_array)
        np.testing.assert_allclose(A.toarray(), Z[:7] @ P)


def test_callback_is_told_honestly() -> None:
    """Every stage counts up to its total; the consensus' objective never falls."""
    graphs = related_graphs(np.random.default_rng(22), 60, 9, 4)
    calls: list[Progress] = []
    align(graphs, reference="consensus", callback=calls.append)
    stages = {stage: [c for c in calls if c.stage == stage] for stage in ("grams", "match", "consensus")}
    assert (stages["grams"][-1].done, stages["grams"][-1].total) == (60, 60)
    assert [c.done for c in stages["match"]] == list(range(1, 7))
    assert {c.total for c in stages["match"]} == {6}
    totals = [float(c.objective or np.nan) for c in stages["consensus"]]
    assert all(later >= earlier for earlier, later in itertools.pairwise(totals))


def test_callback_can_stop_the_work() -> None:
    """What the callback raises reaches the caller."""

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        align([np.eye(3), np.eye(3)], callback=stop)


@pytest.mark.parametrize("name", ["UCI-Digit_3v", "3-Sources"])
def test_alignment_on_real_graphs_is_close_to_the_bound(name: str) -> None:
    """FMVACC graphs of real data: a match within 1 % of the bound, better than taking columns as they come."""
    graphs = real_graphs(name, 12)
    aligner = AnchorAligner(reference=0).fit(graphs)
    assert (aligner.gap_ <= 0.01 * aligner.upper_bound_).all()
    as_they_come = [pair_terms(graphs[0], Z).problem(0.1).value(np.arange(12)) for Z in graphs]
    assert (aligner.objective_ >= np.array(as_they_come) - 1e-12).all()
    assert aligner.objective_[1:].mean() > 1.2 * np.mean(as_they_come[1:])
