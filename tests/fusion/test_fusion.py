"""fuse: means, weights, concatenation, sparse graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_graph, related_graphs, seeds

from anchor_align import AlignedClusterer, AnchorAligner, Fusion, InputError, InputTypeError, align, fuse
from anchor_align.blocks import _map_blocks as _mapping
from anchor_align.data import make_simulated
from anchor_align.fusion._fusion import Concat
from anchor_align.graphs import spectral_embedding


@given(seeds, st.integers(1, 6), st.integers(1, 4))
def test_mean_of_the_aligned_graphs(seed: int, m: int, n_views: int) -> None:
    """The definition: (Z_1 P_1 + ... + Z_v P_v) / v; rows keep summing to one."""
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, 30, m) for _ in range(n_views)]
    matrices = [np.eye(m)[:, rng.permutation(m)] for _ in range(n_views)]
    fused = fuse(graphs, matrices)
    np.testing.assert_allclose(fused, sum(Z @ P for Z, P in zip(graphs, matrices, strict=True)) / n_views)
    np.testing.assert_allclose(fused.sum(axis=1), 1)


def test_without_permutations_graphs_are_taken_as_they_come() -> None:
    """The unaligned control."""
    graphs = related_graphs(np.random.default_rng(0), 30, 4, 3)
    np.testing.assert_allclose(fuse(graphs), np.mean(graphs, axis=0))


@pytest.mark.parametrize("how", ["unaligned", "concat"])
def test_a_control_keeps_the_given_order(how: str) -> None:
    """A fusion without alignment is never one of aligned graphs, whatever permutations it gets."""
    graphs = related_graphs(np.random.default_rng(0), 30, 4, 3)
    for weights in (None, "auto"):
        expected = fuse(graphs, how=how, weights=weights)
        np.testing.assert_array_equal(fuse(graphs, align(graphs), how=how, weights=weights), expected)


def test_index_arrays_and_matrices_mean_the_same() -> None:
    """What AnchorAligner offers in either form can be handed over, sparse permutation matrices too."""
    graphs = related_graphs(np.random.default_rng(1), 30, 4)
    aligner = AnchorAligner().fit(graphs)
    expected = fuse(graphs, aligner.matrices_)
    np.testing.assert_array_equal(fuse(graphs, aligner.permutations_), expected)
    np.testing.assert_array_equal(fuse(graphs, [sp.csr_array(P) for P in aligner.matrices_]), expected)


def test_weights_are_relative() -> None:
    """They are divided by their sum; a weight of zero leaves the view out."""
    graphs = related_graphs(np.random.default_rng(2), 30, 4)
    np.testing.assert_allclose(fuse(graphs, weights=[3, 1]), 0.75 * graphs[0] + 0.25 * graphs[1])
    np.testing.assert_allclose(fuse(graphs, weights=np.array([0.0, 7.0])), graphs[1])
    np.testing.assert_allclose(fuse(graphs, weights=[5, 5]), fuse(graphs))


def test_extreme_weights_and_values() -> None:
    """Neither sums of weights nor of values overflow."""
    graphs = related_graphs(np.random.default_rng(6), 30, 4)
    np.testing.assert_allclose(fuse(graphs, weights=[1e308, 1e308]), fuse(graphs))
    assert np.isfinite(fuse([np.full((3, 2), 1e308)] * 2)).all()


def test_duplicate_entries_of_small_integers_are_added_up() -> None:
    """A sparse row may hold an anchor twice: 200 + 100 is 300 also for bytes, beside a dense or a sparse view."""
    counts = np.array([200, 100], dtype=np.uint8)
    Z = sp.csr_array((counts, np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    assert fuse([Z, np.zeros((1, 2))])[0, 0] == 150
    assert fuse([Z, sp.csr_array((1, 2))])[0, 0] == 150


def test_concatenation() -> None:
    """The graphs side by side; its singular values do not change with any permutation."""
    graphs = related_graphs(np.random.default_rng(3), 30, 4, 3)
    np.testing.assert_array_equal(fuse(graphs, how="concat"), np.hstack(graphs))
    aligned = fuse(AnchorAligner().fit_transform(graphs), how="concat")
    np.testing.assert_allclose(
        np.linalg.svd(aligned, compute_uv=False), np.linalg.svd(np.hstack(graphs), compute_uv=False), atol=1e-12
    )
    weighted = fuse(graphs, weights=[1, 1, 2], how="concat")
    np.testing.assert_allclose(weighted[:, 8:], 1.5 * graphs[2])


@pytest.mark.parametrize("how", ["mean", "concat"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
def test_sparse_graphs_stay_sparse(how: str, kind: Any) -> None:
    """All sparse gives sparse, with the same numbers; a mixture gives a dense array."""
    rng = np.random.default_rng(4)
    dense = [np.where(Z > 0.2, Z, 0) for Z in related_graphs(rng, 40, 5)]
    P = align(dense) if how == "mean" else None
    expected = fuse(dense, P, how=how)
    fused = fuse([kind(Z) for Z in dense], P, how=how)
    assert isinstance(fused, sp.csr_array)
    np.testing.assert_allclose(fused.toarray(), expected)
    mixed = fuse([kind(dense[0]), dense[1]], P, how=how)
    assert isinstance(mixed, np.ndarray)
    np.testing.assert_allclose(mixed, expected)


def test_dtype_of_the_result() -> None:
    """float32 only if every graph is float32; integers become float64."""
    Z = np.eye(3)
    assert fuse([Z.astype(np.float32)] * 2).dtype == np.float32
    assert fuse([sp.csr_array(Z.astype(np.float32))] * 2).dtype == np.float32
    assert fuse([Z.astype(np.float32), Z]).dtype == np.float64
    assert fuse([Z.astype(np.uint8)] * 2).dtype == np.float64


def test_block_size_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fusing three rows at a time gives the same array."""
    graphs = related_graphs(np.random.default_rng(5), 31, 4)
    expected = fuse(graphs)
    monkeypatch.setattr(_mapping, "BLOCK_NUMBERS", 36)
    np.testing.assert_array_equal(fuse(graphs), expected)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"how": "sum"}, InputError, r"Unknown fusion 'sum'; known: 'unaligned', 'aligned', 'rotated', 'concat'"),
        ({"weights": [1]}, InputError, r"Got 1 weights for 2 views"),
        ({"weights": [1, -1]}, InputError, r"weights must be finite, >= 0"),
        ({"weights": [0, 0]}, InputError, r"not all zero"),
        ({"weights": [np.nan, 1]}, InputError, r"weights must be finite"),
        ({"weights": ["a", 1]}, InputTypeError, r"weights must be numbers"),
        ({"weights": "equal"}, InputTypeError, r"weights must be a list of numbers, one per view, got 'equal'"),
        ({"weights": np.array(1.0)}, InputTypeError, r"weights must be a list of numbers"),
        ({"weights": 5}, InputTypeError, r"weights must be a list of numbers, one per view, got 5"),
        ({"weights": {0: 0.9, 1: 0.1}}, InputTypeError, r"weights must be a list of numbers"),
        ({"weights": [10**400, 1]}, InputError, r"weights must be finite"),
        ({"P_list": 5}, InputTypeError, r"P_list must be a list of permutations, one per view, got int"),
        ({"P_list": [[[1, 0], [1]], np.eye(3)]}, InputError, r"permutation of view 0 is not a rectangular array"),
        ({"P_list": [np.eye(3)]}, InputError, r"Got 1 permutations for 2 views"),
        ({"P_list": [np.eye(3), np.eye(2)]}, InputError, r"permutation of view 1 has shape \(2, 2\).*3 x 3"),
        ({"P_list": [np.eye(3), np.full((3, 3), 1 / 3)]}, InputError, r"view 1 does not have each of its"),
        ({"P_list": [[0, 1, 2], [0, 0, 2]]}, InputError, r"view 1 does not have each of its"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], kind: Any, message: str) -> None:
    """One sentence that names the view, what was got and what was expected."""
    with pytest.raises(kind, match=message):
        fuse([np.eye(3), np.eye(3)], **options)


def test_not_finite_graphs_are_refused() -> None:
    """NaN does not travel into a fused graph."""
    bad = np.eye(3)
    bad[1, 1] = np.nan
    with pytest.raises(InputError, match=r"View 1 has NaN or infinity in 1 of 3 rows \(first: row 1\)"):
        fuse([np.eye(3), bad])
    with pytest.raises(InputError, match=r"View 0 has NaN or infinity in 1 of 3 rows"):
        fuse([sp.csr_array(bad), sp.csr_array(np.eye(3))])


class Squared(Concat):
    """The squared entries side by side."""

    name = "squared"
    aligns = True

    def fuse(self, graphs: Any, weights: Any, present: Any = None) -> Any:
        """Other rows."""
        return super().fuse(graphs, weights, present) ** 2


class Reversed(Concat):
    """Another order of the columns, which the inherited Gram matrix must follow."""

    name = "reversed"
    aligns = True

    def maps(self, orders: Any, grams: Any) -> Any:
        """Other columns."""
        return [order[::-1] for order in super().maps(orders, grams)]


@pytest.mark.parametrize("fusion", [Squared(), Reversed()])
def test_an_inherited_gram_matrix_never_describes_other_rows(fusion: Fusion) -> None:
    """The embedding is that of the fused graph, whatever a class overrides."""
    fitted = AlignedClusterer("lmvsc", n_clusters=4, fusion=fusion, random_state=0).fit(make_simulated(0).views)
    expected = spectral_embedding(fitted.fused_graph_, 4).unit_rows(fitted.fused_graph_)
    np.testing.assert_allclose(fitted.embedding_ @ fitted.embedding_.T, expected @ expected.T, atol=1e-6)
