"""Gram matrices: from any kind of graph, from blocks, added up."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import REFERENCES, planted_graphs, random_graph, related_graphs, seeds

from anchor_align import GramMatrices, InputError, InputTypeError, align
from anchor_align.blocks import _map_blocks as _mapping


def test_blocks_are_the_plain_products() -> None:
    """cross(u, v) is Z_u' Z_v, structure(v) is Z_v' Z_v, norms are Frobenius norms."""
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, 40, m) for m in (3, 5, 4)]
    grams = GramMatrices.from_graphs(graphs)
    assert (grams.n_views, grams.n_samples, grams.sizes) == (3, 40, (3, 5, 4))
    np.testing.assert_allclose(grams.cross(0, 2), graphs[0].T @ graphs[2])
    np.testing.assert_allclose(grams.structure(1), graphs[1].T @ graphs[1])
    np.testing.assert_allclose(grams.norms, [np.linalg.norm(Z) for Z in graphs])


@pytest.mark.parametrize("sums", ["abc", ["a"] * 8, object(), {1: 2}, [[1], [1, 2]], np.full(8, 1j), 3, np.array(3)])
def test_wrong_sums_are_refused(sums: Any) -> None:
    """One sentence of ours, whatever is given."""
    grams = GramMatrices.from_graphs([np.eye(4), np.eye(4)])
    with pytest.raises(InputError, match=r"sums must be"):
        GramMatrices(grams.matrix, grams.sizes, 4, sums)


@pytest.mark.parametrize("field", ["shared", "structures", "masses"])
@pytest.mark.parametrize("wrong", ["abc", [[1], [1, 2]], np.array(3)])
def test_wrong_sums_of_pairs_are_refused(field: str, wrong: Any) -> None:
    """The message names the array."""
    grams = GramMatrices.from_graphs([np.eye(4), np.eye(4)], mask=np.array([[True] * 4, [True] * 3 + [False]]))
    assert grams.pairs is not None
    with pytest.raises(InputError, match=f"The {field} of pairs must be"):
        GramMatrices(grams.matrix, grams.sizes, 4, None, dataclasses.replace(grams.pairs, **{field: wrong}))


@pytest.mark.parametrize("wrong", [3, object(), "abc", {1: 2}, np.array(4)])
def test_wrong_types_are_refused(wrong: Any) -> None:
    """For the callback, the blocks, their masks and the numbers of anchors."""
    graphs = [np.eye(4), np.eye(4)]
    with pytest.raises(InputTypeError, match="callback must be callable or None"):
        GramMatrices.from_graphs(graphs, callback=wrong)
    with pytest.raises(InputTypeError, match="blocks must have one entry for each block of rows"):
        GramMatrices.from_blocks(wrong)
    with pytest.raises(InputTypeError, match="masks must have one entry for each block of rows"):
        GramMatrices.from_blocks([graphs], masks=wrong)
    with pytest.raises(InputTypeError, match="sizes must"):
        GramMatrices(np.eye(8), 4 if isinstance(wrong, dict) else wrong, 4)  # type: ignore[arg-type]


@given(seeds, st.lists(st.integers(1, 59), max_size=4, unique=True), st.sampled_from(REFERENCES))
def test_any_partition_of_the_rows_gives_the_same_alignment(seed: int, cuts: list[int], reference: int | str) -> None:
    """Sums of parts, in any order, describe the same samples."""
    rng = np.random.default_rng(seed)
    graphs = related_graphs(rng, 60, 5, 3)
    order = rng.permutation(60)
    parts = [[Z[rows] for Z in graphs] for rows in np.split(order, sorted(cuts))]
    whole = GramMatrices.from_graphs(graphs)
    total = sum(GramMatrices.from_graphs(part) for part in reversed(parts))
    assert isinstance(total, GramMatrices)
    assert total.n_samples == 60
    np.testing.assert_allclose(total.matrix, whole.matrix)
    np.testing.assert_allclose(GramMatrices.from_blocks(parts).matrix, whole.matrix)
    for P, Q in zip(align(whole, reference=reference), align(total, reference=reference), strict=True):
        np.testing.assert_array_equal(P, Q)


def test_blocks_of_tiny_values_are_part_of_the_whole() -> None:
    """What is too small alone is not too small beside other rows; alone it is refused once it is to be aligned."""
    rows = np.array([[1.0, 0.5], [1e-150, 1e-150], [0.5, 1.0]])
    total = GramMatrices.from_blocks([rows[i : i + 1]] * 2 for i in range(3))
    np.testing.assert_allclose(total.matrix, GramMatrices.from_graphs([rows, rows]).matrix)
    with pytest.raises(InputError, match="View 0's values are too small"):
        align(GramMatrices.from_graphs([rows[1:2]] * 2))


def test_many_small_blocks_give_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The block size is a matter of speed only, and the callback counts the rows honestly."""
    rng = np.random.default_rng(1)
    graphs = [random_graph(rng, 1000, 5) for _ in range(2)]
    whole = GramMatrices.from_graphs(graphs)
    monkeypatch.setattr(_mapping, "BLOCK_NUMBERS", 640)
    calls: list[tuple[int, int]] = []
    blocked = GramMatrices.from_graphs(graphs, callback=lambda done, total: calls.append((done, total)))
    np.testing.assert_allclose(blocked.matrix, whole.matrix, rtol=1e-12)
    assert calls[0] == (64, 1000)
    assert calls[-1] == (1000, 1000)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


@pytest.mark.parametrize(
    "kind", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix, sp.coo_array, sp.lil_matrix]
)
def test_sparse_graphs_equal_dense_ones(kind: Any) -> None:
    """Every sparse format gives the products of the dense graph, also beside a dense view."""
    rng = np.random.default_rng(2)
    dense = [np.where(Z > 0.1, Z, 0) for Z in (random_graph(rng, 80, 6) for _ in range(2))]
    expected = GramMatrices.from_graphs(dense).matrix
    np.testing.assert_allclose(GramMatrices.from_graphs([kind(Z) for Z in dense]).matrix, expected)
    np.testing.assert_allclose(GramMatrices.from_graphs([kind(dense[0]), dense[1]]).matrix, expected)


def test_small_integers_do_not_overflow() -> None:
    """Sums of int8 products are computed as floats."""
    Z = np.full((1000, 2), 100, dtype=np.int8)
    assert GramMatrices.from_graphs([Z]).matrix[0, 1] == 1e7
    assert GramMatrices.from_graphs([sp.csr_array(Z)]).matrix[0, 1] == 1e7


def test_float32_loses_no_digits_in_long_sums() -> None:
    """Products of float32 graphs are added up as float64."""
    Z = np.full((300_000, 1), 0.1, dtype=np.float32)
    assert GramMatrices.from_graphs([Z]).matrix[0, 0] == pytest.approx(300_000 * float(np.float32(0.1)) ** 2, rel=1e-12)


def test_no_array_of_the_size_of_the_data_is_made() -> None:
    """Memory beyond the input stays far below a float64 copy, also for float32, integers and sparse graphs."""
    import tracemalloc

    n, m = 200_000, 10
    rng = np.random.default_rng(0)
    dense = rng.random((n, m)).astype(np.float32)
    two_a_row = (rng.random(2 * n), rng.integers(200, size=2 * n), np.arange(0, 2 * n + 1, 2))
    for Z in (dense, (100 * dense).astype(np.int32), sp.csr_array(two_a_row, shape=(n, 200))):
        graphs = [Z, Z, Z, Z]
        tracemalloc.start()
        GramMatrices.from_graphs(graphs)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.3 * 4 * 8 * n * Z.shape[1]


def test_can_be_built_from_products_made_elsewhere_and_pickled() -> None:
    """The constructor takes the matrix of the graphs side by side."""
    graphs, _ = planted_graphs(np.random.default_rng(3), 50, 4)
    side_by_side = np.hstack(graphs)
    grams = GramMatrices(side_by_side.T @ side_by_side, (4, 4), 50)
    again = pickle.loads(pickle.dumps(grams))
    for P, Q in zip(align(again), align(graphs), strict=True):
        np.testing.assert_array_equal(P, Q)


def test_is_read_only() -> None:
    """What was summed up cannot be changed by accident, also not through what it was made from or after unpickling."""
    source = np.eye(3)
    grams = GramMatrices(source, (3,), 3)
    source[0, 0] = np.nan
    assert grams.matrix[0, 0] == 1
    for frozen in (grams, pickle.loads(pickle.dumps(grams))):
        with pytest.raises(ValueError, match="read-only"):
            frozen.matrix[0, 0] = 5


def test_bad_construction_is_refused() -> None:
    """Each with its own message."""
    with pytest.raises(InputError, match=r"4 x 4, got \(3, 3\)"):
        GramMatrices(np.eye(3), (2, 2), 5)
    with pytest.raises(InputError, match="not symmetric"):
        GramMatrices(np.triu(np.ones((4, 4))), (2, 2), 5)
    with pytest.raises(InputError, match="NaN or infinity"):
        GramMatrices(np.full((4, 4), np.nan), (2, 2), 5)
    with pytest.raises(InputError, match="one anchor or more"):
        GramMatrices(np.empty((0, 0)), (), 5)
    with pytest.raises(InputError, match="no Gram matrix"):
        GramMatrices(0.5 - np.eye(4), (2, 2), 5)
    with pytest.raises(InputTypeError, match="real numbers, got csr_array"):
        GramMatrices(sp.csr_array(np.eye(4)), (2, 2), 5)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="real numbers"):
        GramMatrices(1j * np.eye(4), (2, 2), 5)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="sizes must be a whole number"):
        GramMatrices(np.eye(4), (2.9, 2), 5)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="sizes must list"):
        GramMatrices(np.eye(4), 4, 5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="n_samples must be a whole number >= 0, got -5"):
        GramMatrices(np.eye(4), (2, 2), -5)
    with pytest.raises(InputError, match="no block"):
        GramMatrices.from_blocks([])
    with pytest.raises(InputError, match="must be a rectangular array"):
        GramMatrices([[1.0], [1.0, 2.0]], (2,), 5)  # type: ignore[arg-type]
    grams = GramMatrices.from_graphs([np.eye(3)])
    with pytest.raises(InputError, match=r"\(3,\) and \(2,\)"):
        grams + GramMatrices.from_graphs([np.eye(2)])
    with pytest.raises(InputTypeError, match="got ndarray"):
        grams.__add__(np.eye(3))


def test_sizes_that_cannot_be_printed_get_a_sentence() -> None:
    """A whole number of more digits than Python writes out is refused by our own error."""
    for sizes in (10**5000, (-(10**5000),)):
        with pytest.raises((InputError, InputTypeError), match="sizes"):
            GramMatrices(np.eye(2), sizes, 5)  # type: ignore[arg-type]
