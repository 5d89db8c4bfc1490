"""Kinds of input, and the aligner as an estimator."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from strategies import (
    REFERENCES,
    FloatArray,
    assert_permutations,
    pair_terms,
    random_graph,
    real_graphs,
    related_graphs,
)
from threadpoolctl import threadpool_limits

from anchor_align import AnchorAligner, GramMatrices, InputError, Progress, align, fuse
from anchor_align.arrays import GraphLike


def kinds_of(Z: FloatArray, path: Path) -> dict[str, GraphLike]:
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
        lists: list[list[GraphLike]] = [[first[name], second[name]], [graphs[0], second[name]]]
        for Z_list in lists:
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
    mixed: list[GraphLike] = [graphs[0], sp.csc_matrix(graphs[1])]
    grams = GramMatrices.from_graphs(graphs)
    before = pickle.dumps((graphs, table, mixed, grams.matrix.copy()))
    for reference in REFERENCES:
        for method in ("ascent", "pfp", "exact"):
            AnchorAligner(reference=reference, seeds=table, method=method).fit(graphs).transform(mixed)
        fuse(mixed, align(grams, reference=reference))
    assert pickle.dumps((graphs, table, mixed, grams.matrix.copy())) == before


def test_same_seed_same_result_for_any_number_of_threads() -> None:
    """BLAS threads change the last bits of sums, not the answer."""
    rng = np.random.default_rng(18)
    graphs = [random_graph(rng, 400, 40, 20.0) for _ in range(3)]
    results = []
    for threads in (1, 2, 2):
        with threadpool_limits(threads):
            results.append(align(graphs, 10.0, random_state=7))
    for P, Q, R in zip(*results, strict=True):
        np.testing.assert_array_equal(P, Q)
        np.testing.assert_array_equal(Q, R)


def test_numbers_are_the_same_to_the_last_digit_for_any_number_of_threads() -> None:
    """BLAS rounds long sums by the number of its threads; Gram matrices and certificates do not depend on it."""
    graphs = [random_graph(np.random.default_rng(view), 3000, 60, 1.0) for view in range(3)]
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            aligner = AnchorAligner(reference="consensus").fit(graphs)
            grams = GramMatrices.from_graphs(graphs)
            results.append([grams.matrix, aligner.objective_, aligner.upper_bound_, aligner.margins_])
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("lam", [0.0, 1e-300, np.inf])
@pytest.mark.parametrize("reference", [0, "auto", "consensus"])
def test_graphs_too_large_for_the_raw_structure_term_are_refused(lam: float, reference: Any) -> None:
    """The structure term is reported for any lam, and would be infinite; one view alone says so too."""
    graphs = [1e78 * random_graph(np.random.default_rng(view), 30, 4) for view in range(3)]
    for views in (graphs, [np.full((5, 1), 1e153)]):
        with pytest.raises(InputError, match=r"overflows at lam.*lam_scale='balanced', or graphs divided by a"):
            AnchorAligner(lam, lam_scale="paper", reference=reference).fit(views)
    assert np.isfinite(AnchorAligner(lam, reference=reference).fit(graphs).structure_).all()


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_random_state_may_be_a_generator(make: Any) -> None:
    """Generators in the same state give the same result; other seeds may give another on a hard problem; None works."""
    rng = np.random.default_rng(19)
    graphs = [random_graph(rng, 70, 70) for _ in range(2)]
    found = [align(graphs, np.inf, random_state=make(seed))[1] for seed in (3, 3, *range(10, 20))]
    np.testing.assert_array_equal(found[0], found[1])
    assert any((found[0] != P).any() for P in found[2:])
    assert_permutations(align(graphs, np.inf, random_state=None), 70)


def test_estimator_conventions() -> None:
    """clone, get_params, pickling; transform before fit says so; transform checks what it gets."""
    graphs = related_graphs(np.random.default_rng(20), 50, 5)
    aligner = AnchorAligner(0.3, reference="auto", random_state=4)
    assert clone(aligner).get_params() == aligner.get_params()
    assert "reference='auto'" in repr(aligner)
    with pytest.raises(NotFittedError):
        aligner.transform(graphs)
    fitted = pickle.loads(pickle.dumps(aligner.fit(graphs)))
    for Z, A, P, p in zip(graphs, fitted.transform(graphs), fitted.matrices_, fitted.permutations_, strict=True):
        np.testing.assert_array_equal(A, Z @ P)
        np.testing.assert_array_equal(A, Z[:, p])
    with pytest.raises(InputError, match=r"Got 1 views; the aligner was fitted on 2"):
        fitted.transform(graphs[:1])
    with pytest.raises(InputError, match=r"View 0 has 3 anchors; the aligner was fitted on 5"):
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["UCI-Digit_3v", "3-Sources"])
def test_alignment_on_real_graphs_is_close_to_the_bound(name: str) -> None:
    """FMVACC graphs of real data: a match within 1 % of the bound, better than taking columns as they come."""
    graphs = real_graphs(name, 12)
    aligner = AnchorAligner(reference=0).fit(graphs)
    assert (aligner.gap_ <= 0.01 * aligner.upper_bound_).all()
    as_they_come = [pair_terms(graphs[0], Z).problem(0.1).value(np.arange(12)) for Z in graphs]
    assert (aligner.objective_ >= np.array(as_they_come) - 1e-12).all()
    assert aligner.objective_[1:].mean() > 1.2 * np.mean(as_they_come[1:])


def test_scikit_learn_sees_a_transformer_of_lists() -> None:
    """Its tags say that it takes no table, and a pipeline hands the aligned graphs on."""
    tags = get_tags(AnchorAligner())
    assert tags.transformer_tags is not None
    assert not tags.input_tags.two_d_array
    graphs = related_graphs(np.random.default_rng(3), 40, 5, 3)
    fused = make_pipeline(AnchorAligner(), FunctionTransformer(fuse)).fit_transform(graphs)
    np.testing.assert_allclose(fused, fuse(graphs, align(graphs)))
