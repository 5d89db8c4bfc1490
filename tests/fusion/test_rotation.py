"""Rotated fusion: orthogonal matrices that bring aligned graphs together, in fuse, the estimator and studies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FloatArray, at_most, planted_graphs, random_graph, real_data, related_graphs, seeds

from anchor_align import AlignedClusterer, AnchorAligner, GramMatrices, InputError, align, fuse, get_fusion
from anchor_align.cli import main
from anchor_align.data import make_simulated
from anchor_align.graphs import spectral_labels
from anchor_align.metrics import acc
from anchor_align.study import compare

ARMS = ("unaligned", "aligned", "concat")
ALL_ARMS = ("unaligned", "aligned", "rotated", "concat")


def rotations(grams: GramMatrices, orders: Sequence[Any]) -> list[FloatArray]:
    return [np.asarray(R, dtype=np.float64) for R in get_fusion("rotated").maps(orders, grams)]


def agreement(graphs: list[FloatArray], maps: list[FloatArray]) -> float:
    """Feature term of all pairs of views, on the balanced scale."""
    moved = [Z @ R / np.linalg.norm(Z) for Z, R in zip(graphs, maps, strict=True)]
    return sum(float(np.sum(Y * W)) for at, Y in enumerate(moved) for W in moved[:at])


@given(seeds, st.integers(1, 8), st.integers(2, 4))
@settings(max_examples=at_most(30))
def test_rotations_are_orthogonal_and_match_no_worse_than_permutations(seed: int, m: int, n_views: int) -> None:
    """Permutations are where the search starts, and no turn makes the match worse."""
    graphs = related_graphs(np.random.default_rng(seed), 80, m, n_views)
    aligner = AnchorAligner(reference="consensus").fit(graphs)
    found = rotations(GramMatrices.from_graphs(graphs), aligner.permutations_)
    for R in found:
        np.testing.assert_allclose(R.T @ R, np.eye(m), atol=1e-10)
    permuted = aligner.matrices_
    assert agreement(graphs, found) >= agreement(graphs, permuted) - 1e-9


@given(seeds, st.integers(2, 8))
@settings(max_examples=20)
def test_two_views_reach_what_no_rotation_exceeds(seed: int, m: int) -> None:
    """For two views the best value is the sum of the singular values of K, whatever the start."""
    rng = np.random.default_rng(seed)
    graphs = related_graphs(rng, 80, m)
    found = rotations(GramMatrices.from_graphs(graphs), [rng.permutation(m), np.arange(m)])
    K = graphs[0].T @ graphs[1] / (np.linalg.norm(graphs[0]) * np.linalg.norm(graphs[1]))
    best = float(np.linalg.svd(K, compute_uv=False).sum())
    assert agreement(graphs, found) == pytest.approx(best, rel=1e-6)


@given(seeds, st.integers(2, 6), st.integers(2, 4))
@settings(max_examples=20)
def test_planted_rotations_are_undone(seed: int, m: int, n_views: int) -> None:
    """Rotated copies of one graph become the same again: their mean has the products of rows of that graph."""
    rng = np.random.default_rng(seed)
    Z = random_graph(rng, 60, m)
    graphs = [Z @ np.linalg.qr(rng.normal(size=(m, m)))[0] for _ in range(n_views)]
    fused = fuse(graphs, how="rotated")
    np.testing.assert_allclose(fused @ fused.T, Z @ Z.T, atol=1e-3)


def test_order_of_views_does_not_matter() -> None:
    """The same products of rows of the fused matrix for any order of the views, up to rounding."""
    graphs = related_graphs(np.random.default_rng(9), 120, 7, 5)
    found = []
    for order in ([0, 1, 2, 3, 4], [3, 0, 4, 2, 1]):
        permuted = [graphs[view] for view in order]
        fused = fuse(permuted, align(permuted, reference="consensus"), how="rotated")
        found.append(fused @ fused.T)
    np.testing.assert_allclose(found[1], found[0], atol=1e-8)


def test_views_that_agree_are_left_as_aligned() -> None:
    """Where permutations make graphs equal, there is nothing to rotate, up to a common rotation."""
    graphs, permutations = planted_graphs(np.random.default_rng(0), 200, 6, 3, noise=0.0)
    aligned, rotated = fuse(graphs, permutations), fuse(graphs, permutations, how="rotated")
    np.testing.assert_allclose(rotated @ rotated.T, aligned @ aligned.T, atol=1e-8)


def test_one_view_and_empty_anchors() -> None:
    """Nothing to rotate to; anchors that nobody uses, and graphs that are zero, do no harm."""
    Z = random_graph(np.random.default_rng(0), 50, 4)
    np.testing.assert_array_equal(fuse([Z], how="rotated"), Z)
    empty = np.column_stack([Z[:, :3], np.zeros(50)])
    assert np.isfinite(fuse([Z, empty, empty], how="rotated")).all()
    np.testing.assert_allclose(fuse([Z, np.zeros_like(Z)], how="rotated"), Z / 2)


@pytest.mark.parametrize("scale", [1e-130, 1e140])
def test_scale_of_the_graphs_does_not_matter(scale: float) -> None:
    """Neither very large nor very small numbers are lost on the way."""
    graphs = related_graphs(np.random.default_rng(8), 60, 5, 3)
    expected = fuse(graphs, align(graphs), how="rotated")
    found = fuse([scale * Z for Z in graphs], align(graphs), how="rotated")
    np.testing.assert_allclose(found / scale, expected, atol=1e-9)


def test_kinds_of_graphs_give_the_same() -> None:
    """Sparse graphs give a dense matrix; float32 stays float32; inputs are not modified."""
    graphs = related_graphs(np.random.default_rng(3), 90, 5, 3)
    thin = [np.where(Z > 0.1, Z, 0.0) for Z in graphs]
    copies = [Z.copy() for Z in thin]
    expected = fuse(thin, align(thin), how="rotated")
    np.testing.assert_allclose(fuse([sp.csr_array(Z) for Z in thin], align(thin), how="rotated"), expected, atol=1e-12)
    single = fuse([Z.astype(np.float32) for Z in thin], align(thin), how="rotated")
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=1e-5)
    for Z, copy in zip(thin, copies, strict=True):
        np.testing.assert_array_equal(Z, copy)


def test_dask_arrays_give_the_same() -> None:
    """Chunks are fused where they are; the result is dense, also of sparse chunks."""
    da = pytest.importorskip("dask.array")
    graphs = related_graphs(np.random.default_rng(4), 90, 5, 3)
    P = align(graphs)
    chunked = [da.from_array(Z, chunks=(25, -1)).map_blocks(sp.csr_array) for Z in graphs]
    fused = fuse(chunked, P, how="rotated")
    np.testing.assert_allclose(fused.compute(), fuse(graphs, P, how="rotated"), atol=1e-9)


def test_masks_and_different_numbers_of_anchors() -> None:
    """Samples that a view lacks are placed by the others; rotations of smaller views have orthonormal rows."""
    rng = np.random.default_rng(5)
    base = random_graph(rng, 300, 7)
    graphs = [base, base[:, :6] + 0.01 * rng.random((300, 6)), base[:, rng.permutation(7)]]
    mask = rng.random((3, 300)) > 0.3
    mask[0] |= ~mask.any(axis=0)
    aligner = AnchorAligner(reference="consensus").fit(graphs, mask=mask)
    grams = GramMatrices.from_graphs(graphs, mask=mask)
    found = rotations(grams, aligner.permutations_)
    np.testing.assert_allclose(found[1] @ found[1].T, np.eye(6), atol=1e-10)
    weights = [1.0, 2.0, 1.0]
    fused = fuse(graphs, aligner.permutations_, how="rotated", mask=mask, weights=weights)
    at = int(np.flatnonzero(mask[0] & mask[1] & ~mask[2])[0])
    expected = (graphs[0][at] @ found[0] + 2 * graphs[1][at] @ found[1]) / 3
    np.testing.assert_allclose(fused[at], expected)
    whole = np.ones((3, 300), dtype=bool)
    np.testing.assert_array_equal(
        fuse(graphs, aligner.permutations_, how="rotated", mask=whole),
        fuse(graphs, aligner.permutations_, how="rotated"),
    )


def test_auto_weights_leave_noise_out() -> None:
    """A view that has nothing to do with the others weighs little after rotation too."""
    rng = np.random.default_rng(6)
    graphs, permutations = planted_graphs(rng, 400, 5, 3)
    noisy = [*graphs, random_graph(rng, 400, 5)]
    orders = [*permutations, np.arange(5)]
    fused = fuse(noisy, orders, how="rotated", weights="auto")
    without = fuse(graphs, permutations, how="rotated")
    inner = fused @ fused.T
    assert np.linalg.norm(inner - without @ without.T) < 0.1 * np.linalg.norm(inner)


@pytest.mark.parametrize("storage", ["memory", "disk", "never"])
@pytest.mark.parametrize("adapter", ["lmvsc", "fmvacc"])
def test_estimator(adapter: str, storage: str) -> None:
    """The fused matrix is that of fuse; labels do not depend on storage, and predict gives them again."""
    data = make_simulated(0)
    options: dict[str, Any] = {"n_clusters": 4, "fusion": "rotated", "random_state": 0}
    clusterer = AlignedClusterer(adapter, storage=storage, **options).fit(data.views)
    plain = AlignedClusterer(adapter, **options).fit(data.views)
    np.testing.assert_array_equal(clusterer.labels_, plain.labels_)
    np.testing.assert_array_equal(clusterer.predict(data.views), clusterer.labels_)
    assert acc(data.labels, clusterer.labels_) > 0.99
    assert clusterer.rotations_ is not None
    if storage != "never":
        expected = fuse(plain.anchor_graphs_.graphs, plain.permutations_, how="rotated")
        np.testing.assert_allclose(clusterer.fused_graph_, expected, atol=1e-12)
    assert AlignedClusterer(adapter, n_clusters=4, random_state=0).fit(data.views).rotations_ is None


def test_adapters_that_need_a_graph_refuse() -> None:
    """The sentence names the adapter and the way out; nothing is computed before."""
    views = make_simulated(0).views
    with pytest.raises(InputError, match=r"^Adapter 'sfmc' has its own clustering step.*fusion='aligned'"):
        AlignedClusterer("sfmc", n_clusters=4, fusion="rotated").fit(views)


def test_study_has_the_arm_on_request() -> None:
    """A fit of the estimator with the same seed; adapters that cannot have it are without."""
    result = compare(["lmvsc", "sfmc"], "simulated", repeats=2, rotated=True)
    assert result.arms == ALL_ARMS
    arms = {row.adapter: tuple(row.arms) for row in result.summaries}
    assert arms == {"lmvsc": ALL_ARMS, "sfmc": ARMS}
    record = next(each for each in result.records if each.arm == "rotated")
    views = make_simulated(0).views
    fitted = AlignedClusterer("lmvsc", n_clusters=4, fusion="rotated", random_state=record.seed).fit(views)
    np.testing.assert_array_equal(record.labels, fitted.labels_)
    assert compare("lmvsc", "simulated", repeats=1).arms == ARMS


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """--rotated adds the arm to the table and to the command that reproduces it."""
    words = ["compare", "lmvsc", "--data", "simulated", "--repeats", "2", "--no-cache", "-q", "--rotated"]
    assert main(words) == 0
    assert "unaligned" in (shown := capsys.readouterr().out)
    assert "rotated" in shown
    assert main([*words, "--format", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {record["arm"] for record in result["records"]} == set(ALL_ARMS)
    assert "--fusion rotated" in result["study"]["command"]


@pytest.mark.parametrize("fusion", ALL_ARMS)
def test_graphs_made_elsewhere(fusion: str, tmp_path: Path) -> None:
    """The command writes what fuse gives, a control without the permutations, which are there as ever."""
    graphs = related_graphs(np.random.default_rng(7), 60, 5, 3)
    np.savez(tmp_path / "graphs.npz", *graphs)
    words = ["align", str(tmp_path / "graphs.npz"), "-o", str(tmp_path / "out.npz"), "--fusion", fusion]
    assert main(words) == 0
    with np.load(tmp_path / "out.npz") as out:
        permutations = list(out["permutations"]) if get_fusion(fusion).aligns else None
        np.testing.assert_allclose(out["fused"], fuse(graphs, permutations, how=fusion))


@pytest.mark.slow
def test_real_data_gain() -> None:
    """Where anchors have no single partners, rotation recovers what permutations lose: a hundred kinds of leaves."""
    views, labels = real_data("100Leaves")
    fitted = AlignedClusterer("lmvsc", n_clusters=100, random_state=0).fit(views)
    rotated = fuse(fitted.anchor_graphs_.graphs, fitted.permutations_, how="rotated")
    assert acc(labels, spectral_labels(rotated, 100, 0)) > acc(labels, fitted.labels_) + 0.05
