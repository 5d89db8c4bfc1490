"""Samples that some views do not have: masks and rows of NaN."""

from __future__ import annotations

import itertools
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from masked_views import Mask, random_mask
from strategies import (
    REFERENCES,
    FloatArray,
    assert_permutations,
    at_most,
    lams,
    pair_terms,
    planted_graphs,
    random_graph,
    related_graphs,
    seeds,
    sorted_columns,
)

from anchor_align import AnchorAligner, GramMatrices, InputError, InputTypeError, align, fuse
from anchor_align.blocks import _map_blocks


def spoiled(graphs: list[FloatArray], mask: Mask, value: float = np.nan) -> list[FloatArray]:
    """The same graphs with something else in the rows of missing samples."""
    return [np.where(seen[:, None], Z, value) for Z, seen in zip(graphs, mask, strict=True)]


def fit(graphs: Any, **options: Any) -> AnchorAligner:
    """Few samples for many anchors are no reason to stop here."""
    fitted = {key: options.pop(key) for key in ("mask", "missing") if key in options}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Too few shared samples")
        return AnchorAligner(**options).fit(graphs, **fitted)


def shared_total(graphs: list[FloatArray], mask: Mask, permutations: Any, lam: float) -> float:
    """Objective over all pairs by its definition: each pair by the samples that both views have."""
    total = 0.0
    for u in range(len(graphs)):
        for v in range(u):
            both = mask[u] & mask[v]
            if both.any():
                Z1, Z2 = (graphs[w][both][:, permutations[w]] for w in (u, v))
                total += pair_terms(Z1, Z2).problem(lam).value(np.arange(Z1.shape[1]))
    return total


@given(seeds, st.integers(1, 9), st.integers(1, 4), lams, st.sampled_from(REFERENCES))
@settings(max_examples=at_most(40))
def test_a_full_mask_changes_nothing(seed: int, m: int, n_views: int, lam: float, reference: int | str) -> None:
    """To the last bit: permutations, numbers, Gram matrices and the fused graph."""
    graphs = related_graphs(np.random.default_rng(seed), 40, m, n_views)
    full = np.ones((n_views, 40), dtype=bool)
    plain = AnchorAligner(lam, reference=reference).fit(graphs)
    for options in ({"mask": full}, {"missing": "nan"}, {"mask": full.tolist(), "missing": "nan"}):
        masked = AnchorAligner(lam, reference=reference).fit(graphs, **options)
        for name in ("objective_", "upper_bound_", "margins_", "feature_", "structure_", "n_iter_", "shared_"):
            np.testing.assert_array_equal(getattr(masked, name), getattr(plain, name))
        np.testing.assert_array_equal(masked.permutations_, plain.permutations_)
        np.testing.assert_array_equal(
            fuse(graphs, masked.matrices_, **options),
            fuse(graphs, plain.matrices_),
        )
        grams = GramMatrices.from_graphs(graphs, **options)
        np.testing.assert_array_equal(grams.matrix, GramMatrices.from_graphs(graphs).matrix)
        assert grams.pairs is None


@given(seeds, st.integers(2, 6), st.integers(2, 4), st.sampled_from([np.nan, np.inf, 1e300, -7.0]), st.booleans())
@settings(max_examples=at_most(40))
def test_values_in_rows_of_missing_samples_do_not_matter(
    seed: int, m: int, n_views: int, value: float, sparse: bool
) -> None:
    """They may be NaN, infinite or anything, dense or sparse."""
    rng = np.random.default_rng(seed)
    graphs = related_graphs(rng, 60, m, n_views)
    mask = random_mask(rng, n_views, 60)
    kind: Any = sp.csr_array if sparse else np.asarray
    expected = fit(graphs, mask=mask)
    found = fit([kind(Z) for Z in spoiled(graphs, mask, value)], mask=mask)
    np.testing.assert_array_equal(found.permutations_, expected.permutations_)
    np.testing.assert_allclose(found.objective_, expected.objective_)
    fused = fuse([kind(Z) for Z in spoiled(graphs, mask, value)], expected.matrices_, mask=mask)
    np.testing.assert_allclose(fused.toarray() if sparse else fused, fuse(graphs, expected.matrices_, mask=mask))
    by_nan = fit([kind(Z) for Z in spoiled(graphs, mask)], missing="nan")
    np.testing.assert_array_equal(by_nan.shared_, expected.shared_)
    np.testing.assert_array_equal(by_nan.permutations_, expected.permutations_)


@pytest.mark.parametrize("lam", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("lam_scale", ["balanced", "paper"])
def test_planted_permutations_are_found_with_a_third_missing(lam: float, reference: int | str, lam_scale: str) -> None:
    """Each view lacks 30 % of the samples, others in every view."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        graphs, permutations = planted_graphs(rng, 300, 12, 4)
        mask = random_mask(rng, 4, 300)
        aligner = AnchorAligner(lam, reference=reference, lam_scale=lam_scale)
        aligner.fit(spoiled(graphs, mask), mask=mask)
        order = np.argsort(permutations[0 if aligner.reference_ is None else aligner.reference_])
        for found, planted in zip(aligner.permutations_, permutations, strict=True):
            np.testing.assert_array_equal(found, planted[order])


def test_pairs_rest_on_the_samples_that_both_views_have() -> None:
    """K and both S of a pair, its column sums and its number of samples are those of the shared samples alone."""
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, 50, m) for m in (3, 5, 4)]
    mask = random_mask(rng, 3, 50, 0.5)
    grams = GramMatrices.from_graphs(spoiled(graphs, mask), mask=mask)
    for u in range(3):
        for v in range(3):
            both = mask[u] & mask[v]
            assert grams.shared[u, v] == both.sum()
            np.testing.assert_allclose(grams.cross(u, v), graphs[u][both].T @ graphs[v][both])
            np.testing.assert_allclose(grams.structure(u, v), graphs[u][both].T @ graphs[u][both])
            np.testing.assert_allclose(grams.column_sums(u, v), graphs[u][both].sum(axis=0))


@pytest.mark.parametrize("lam", [0.3, np.inf])
def test_a_pair_is_matched_as_if_the_shared_samples_were_all(lam: float) -> None:
    """A star of two views has the objective, bound and permutation of the shared samples; "paper" scales them up."""
    rng = np.random.default_rng(1)
    graphs = related_graphs(rng, 80, 6)
    mask = random_mask(rng, 2, 80, 0.4)
    both = mask.all(axis=0)
    rows = [Z[both] for Z in graphs]
    masked, plain = fit(graphs, mask=mask, lam=lam, reference=0), fit(rows, lam=lam, reference=0)
    np.testing.assert_array_equal(masked.permutations_[1], plain.permutations_[1])
    assert masked.objective_[1] == pytest.approx(plain.objective_[1])
    assert masked.upper_bound_[1] == pytest.approx(plain.upper_bound_[1])
    raw, few = (
        fit(Z, lam=lam, lam_scale="paper", reference=0, **more) for Z, more in ((graphs, {"mask": mask}), (rows, {}))
    )
    factor = 80 / both.sum()
    assert raw.feature_[1] == pytest.approx(factor * few.feature_[1])
    assert raw.structure_[1] == pytest.approx(factor**2 * few.structure_[1])


@given(seeds, st.integers(2, 8), st.integers(3, 5), lams)
@settings(max_examples=at_most(30))
def test_consensus_is_never_below_the_best_star(seed: int, m: int, n_views: int, lam: float) -> None:
    """The total over pairs, each by its own samples; and what is reported is its mean over the other views."""
    rng = np.random.default_rng(seed)
    graphs = related_graphs(rng, 60, m, n_views)
    mask = random_mask(rng, n_views, 60, 0.4)
    consensus = fit(graphs, mask=mask, lam=lam, reference="consensus")
    assert_permutations(consensus.matrices_, m)
    best = shared_total(graphs, mask, consensus.permutations_, lam)
    for reference in range(n_views):
        star = fit(graphs, mask=mask, lam=lam, reference=reference)
        assert best >= shared_total(graphs, mask, star.permutations_, lam) - 1e-9
    assert consensus.objective_.sum() * (n_views - 1) / 2 == pytest.approx(best)
    assert (consensus.upper_bound_ >= consensus.objective_).all()


@pytest.mark.parametrize("lam", [0.1, 10.0, np.inf])
def test_no_exchange_improves_a_consensus(lam: float) -> None:
    """The solver and the margins judge by the same objective, also where each pair has its own samples."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        graphs = [rng.dirichlet(np.full(6, 0.3), 60) for _ in range(3)]
        mask = random_mask(rng, 3, 60)
        assert (fit(graphs, mask=mask, lam=lam, reference="consensus").margins_ >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_consensus_has_the_best_total_of_three_small_views(missing: float) -> None:
    """Against the best of all orders of four anchors in three unrelated views."""
    found, best = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        graphs = [rng.dirichlet(np.full(4, 0.3), 12) for _ in range(3)]
        mask = random_mask(rng, 3, 12, missing) if missing else np.ones((3, 12), dtype=bool)
        aligner = fit(graphs, mask=mask, lam=10.0, reference="consensus")
        found.append(shared_total(graphs, mask, aligner.permutations_, 10.0))
        orders = [np.array(p) for p in itertools.permutations(range(4))]
        best.append(max(shared_total(graphs, mask, [orders[0], p, q], 10.0) for p in orders for q in orders))
    np.testing.assert_allclose(found, best)


@given(seeds, st.sampled_from(["auto", "consensus"]))
@settings(max_examples=20)
def test_relabelling_views_permutes_the_answer(seed: int, reference: str) -> None:
    """The fused graph of views in another order is the same up to the order of its columns."""
    rng = np.random.default_rng(seed)
    graphs, _ = planted_graphs(rng, 100, 6, 4, noise=0.2)
    mask = random_mask(rng, 4, 100)
    order = rng.permutation(4)
    expected, mixed = (
        fuse(Z, fit(Z, mask=M, reference=reference).matrices_, mask=M)
        for Z, M in ((graphs, mask), ([graphs[v] for v in order], mask[order]))
    )
    np.testing.assert_allclose(sorted_columns(mixed), sorted_columns(expected), atol=1e-12)


@given(seeds, st.integers(1, 6), st.integers(1, 4))
@settings(max_examples=at_most(40))
def test_rows_of_the_mean_still_sum_to_one(seed: int, m: int, n_views: int) -> None:
    """The weighted mean over the views that have the sample, by its definition."""
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, 30, m) for _ in range(n_views)]
    mask, weights = random_mask(rng, n_views, 30, 0.6), rng.uniform(0.1, 1, n_views)
    P = [np.eye(m)[:, rng.permutation(m)] for _ in graphs]
    fused = fuse(spoiled(graphs, mask), P, weights=weights, mask=mask)
    np.testing.assert_allclose(fused.sum(axis=1), 1)
    for row in range(30):
        there = np.flatnonzero(mask[:, row])
        expected = sum(weights[v] * graphs[v][row] @ P[v] for v in there) / weights[there].sum()
        np.testing.assert_allclose(fused[row], expected)
    side_by_side = fuse(spoiled(graphs, mask), mask=mask, how="concat")
    np.testing.assert_allclose(side_by_side, np.hstack(spoiled(graphs, mask, 0.0)))


def test_blocks_bring_their_own_masks() -> None:
    """Sums of blocks, with and without a mask, are those of all samples; pickled they stay so, and read-only."""
    rng = np.random.default_rng(2)
    graphs = [random_graph(rng, 60, m) for m in (4, 5, 4)]
    mask = random_mask(rng, 3, 60)
    mask[:, 20:40] = True
    whole = GramMatrices.from_graphs(spoiled(graphs, mask), mask=mask)
    cuts = [slice(0, 20), slice(20, 40), slice(40, 60)]
    blocks = [[Z[rows] for Z in spoiled(graphs, mask)] for rows in cuts]
    masks = [mask[:, cuts[0]], None, mask[:, cuts[2]]]
    by_nan = GramMatrices.from_blocks(blocks, missing="nan")
    for total in (GramMatrices.from_blocks(blocks, masks=masks), by_nan, pickle.loads(pickle.dumps(by_nan))):
        assert total.n_samples == 60
        np.testing.assert_array_equal(total.shared, whole.shared)
        np.testing.assert_allclose(total.matrix, whole.matrix)
        for u in range(3):
            for v in range(3):
                np.testing.assert_allclose(total.structure(u, v), whole.structure(u, v))
                np.testing.assert_allclose(total.column_sums(u, v), whole.column_sums(u, v))
        with pytest.raises(ValueError, match="read-only"):
            total.shared[0, 0] = 1
    with pytest.raises(InputError, match="numbers of masks and blocks differ"):
        GramMatrices.from_blocks(blocks, masks=masks[:2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kinds_of_graphs_by_blocks(dtype: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense, sparse, mixed, memory maps, a few rows at a time: the same numbers, in the precision of the graphs."""
    rng = np.random.default_rng(3)
    graphs = [np.where(Z > 0.1, Z, 0).astype(dtype) for Z in related_graphs(rng, 90, 5, 3)]
    mask = random_mask(rng, 3, 90)
    P = align(graphs, mask=mask)
    expected = fuse(graphs, P, mask=mask)
    assert expected.dtype == dtype
    for view, Z in enumerate(spoiled(graphs, mask)):
        np.save(tmp_path / f"{view}.npy", Z.astype(dtype))
    mapped = [np.load(tmp_path / f"{view}.npy", mmap_mode="r") for view in range(3)]
    monkeypatch.setattr(_map_blocks, "BLOCK_NUMBERS", 300)
    sparse = [sp.csr_array(Z) for Z in graphs]
    for Z_list in (mapped, sparse, [mapped[0], sparse[1], graphs[2]]):
        for found, matrix in zip(align(Z_list, mask=mask), P, strict=True):
            np.testing.assert_array_equal(found, matrix)
        fused: Any = fuse(Z_list, P, mask=mask)
        assert isinstance(fused, np.ndarray) == (Z_list is not sparse)
        assert fused.dtype == dtype
        np.testing.assert_allclose(fused.toarray() if Z_list is sparse else fused, expected, atol=1e-6)


@pytest.mark.parametrize("reference", ["auto", "consensus"])
def test_views_that_share_no_sample_are_matched_through_others(reference: str) -> None:
    """Two halves that only a third view connects; a star needs each pair, and says so."""
    graphs, permutations = planted_graphs(np.random.default_rng(4), 200, 6, 3)
    mask = np.ones((3, 200), dtype=bool)
    mask[0, 100:], mask[2, :100] = False, False
    if reference == "auto":
        aligner = AnchorAligner(reference=reference).fit(graphs, mask=mask)
        assert aligner.reference_ == 1
    else:
        with pytest.warns(UserWarning, match=r"partners of: views 0 and 2 \(no sample shared: matched through other"):
            aligner = AnchorAligner(reference=reference).fit(graphs, mask=mask)
    assert aligner.shared_.tolist() == [[100, 100, 0], [100, 200, 100], [0, 100, 100]]
    order = np.argsort(permutations[aligner.reference_ or 0])
    for found, planted in zip(aligner.permutations_, permutations, strict=True):
        np.testing.assert_array_equal(found, planted[order])
    with pytest.raises(InputError, match=r"View 2 shares no sample with view 0, the reference; use reference='auto'"):
        align(graphs, reference=0, mask=mask)
    mask[1, 100:] = False
    with pytest.raises(InputError, match=r"Views 0, 1 share no sample with views 2, neither directly"):
        align(graphs, reference=reference, mask=mask)


def test_a_chain_of_views_is_followed() -> None:
    """Each view shares samples with the next one only: every view is reached, and seeds hold on the way."""
    graphs, permutations = planted_graphs(np.random.default_rng(5), 400, 5, 5)
    mask = np.zeros((5, 400), dtype=bool)
    for view in range(5):
        mask[view, max(0, 80 * view - 40) : 80 * view + 80] = True
    for table in (None, [[int(p[0]) for p in permutations]]):
        with pytest.warns(UserWarning, match=r"views \d and \d, .*\(no sample shared: matched"):
            aligner = AnchorAligner(reference="auto", seeds=table).fit(graphs, mask=mask)
        order = np.argsort(permutations[aligner.reference_ or 0])
        for found, planted in zip(aligner.permutations_, permutations, strict=True):
            np.testing.assert_array_equal(found, planted[order])


def test_thin_anchors_are_named() -> None:
    """One warning for a fit names views and anchors whose columns have less than one row's weight in common."""
    Z = np.repeat(np.eye(4), 20, axis=0)
    mask = np.ones((3, 80), dtype=bool)
    mask[1, 40:60] = False
    with pytest.warns(UserWarning, match=r"partners of: view 1, anchors \[2\]\. Expected") as caught:
        AnchorAligner(reference=0).fit([Z, Z, Z], mask=mask)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match=r"view 1, anchors \[2\]"):
        align([Z, Z, Z], reference="consensus", mask=mask)
    mask[1, 40:42] = True
    AnchorAligner(reference=0).fit([Z, Z, Z], mask=mask)


GOOD = np.eye(4)[:, :3] + 0.1
HALF = np.array([[True, True, False, True], [True, False, False, True]])


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"mask": np.ones((2, 4))}, InputTypeError, r"mask must be True where a view has a sample.*got dtype float64"),
        ({"mask": np.ones((4, 3), dtype=bool)}, InputError, r"shape \(2, 4\), or be transposed; got \(4, 3\)"),
        ({"mask": [[True], [True, False]]}, InputError, r"mask must have one row per view \(2\)"),
        ({"mask": np.ma.MaskedArray(~HALF, HALF)}, InputError, r"mask is a masked array with masked entries: fill it"),
        ({"mask": HALF}, InputError, r"Sample 2 is in no view: 1 of 4 samples"),
        ({"mask": np.zeros((2, 4), dtype=bool)}, InputError, r"Sample 0 is in no view, nor are 3 others: 4 of 4"),
        ({"missing": "NaN"}, InputError, r"Unknown missing 'NaN'; known: 'error', 'nan'"),
    ],
)
def test_bad_masks_are_refused(options: dict[str, Any], kind: Any, message: str) -> None:
    """One sentence, whatever the mask is handed to."""
    for call in (align, fuse, GramMatrices.from_graphs, AnchorAligner().fit):
        with pytest.raises(kind, match=message):
            call([GOOD, GOOD], **options)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_with_some_nan_are_refused(make: Any) -> None:
    """View and row are named; NaN in the row of a sample that the view has is still refused."""
    bad = GOOD.copy()
    bad[2, 1] = np.nan
    for call in (align, fuse):
        with pytest.raises(InputError, match=r"View 1 has 1 NaN among 3 anchors in row 2 \(1 such rows\)"):
            call([make(GOOD), make(bad)], missing="nan")
        mask = np.ones((2, 4), dtype=bool)
        mask[1, 0] = False
        with pytest.raises(InputError, match=r"View 1 has NaN or infinity in 1 of 4 rows \(first: row 2\)"):
            call([make(GOOD), make(bad)], mask=mask)


def test_what_cannot_be_combined_with_a_mask() -> None:
    """Gram matrices know their own; Dask arrays cannot have one; views of weight zero are as good as absent."""
    grams = GramMatrices.from_graphs([GOOD, GOOD])
    with pytest.raises(InputError, match="Gram matrices include the missing samples"):
        align(grams, mask=np.ones((2, 4), dtype=bool))
    mask = np.ones((2, 4), dtype=bool)
    mask[1, 3] = False
    with pytest.raises(InputError, match=r"Sample 3 is only in views whose weight is zero \(1 such samples\)"):
        fuse([GOOD, GOOD], weights=[0, 1], mask=mask)
    da = pytest.importorskip("dask.array")
    on_dask = [da.from_array(GOOD), da.from_array(GOOD)]
    for options in ({"mask": mask}, {"missing": "nan"}):
        with pytest.raises(InputError, match="not supported for Dask arrays; compute them first"):
            align(on_dask, **options)
    np.testing.assert_array_equal(align(on_dask, mask=np.ones((2, 4), dtype=bool)), align(on_dask))


def test_products_made_elsewhere_can_be_added_to_masked_ones() -> None:
    """If rows sum to one, as the products themselves tell; else the sums of the columns must be given."""
    rng = np.random.default_rng(6)
    graphs = [random_graph(rng, 40, 4) for _ in range(2)]
    mask = random_mask(rng, 2, 40)
    masked = GramMatrices.from_graphs(graphs, mask=mask)
    side_by_side = np.hstack(graphs)
    product = side_by_side.T @ side_by_side
    total = masked + GramMatrices(product, (4, 4), 40)
    np.testing.assert_allclose(total.column_sums(0, 1), masked.column_sums(0, 1) + graphs[0].sum(axis=0))
    with pytest.raises(InputError, match="sums of the columns of view 0's graph are not known"):
        masked + GramMatrices(9 * product, (4, 4), 40)
    given_sums = GramMatrices(9 * product, (4, 4), 40, 3 * side_by_side.sum(axis=0))
    np.testing.assert_array_equal((masked + given_sums).shared, masked.shared + 40)
    with pytest.raises(InputError, match=r"sums must be 8 finite numbers, one for each column, got shape \(3,\)"):
        GramMatrices(product, (4, 4), 40, np.ones(3))
