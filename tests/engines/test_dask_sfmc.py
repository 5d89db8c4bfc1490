"""SFMC on Dask arrays: the samples, weights and components that it finds in memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import at_most, real_data, seeds

from anchor_align import get_adapter
from anchor_align.arrays import is_sparse
from anchor_align.blocks import ScaledRows, view_rows
from anchor_align.data import make_simulated
from anchor_align.metrics import acc
from anchor_align_adapters import _rank_parts
from anchor_align_adapters._rank import Segments, rank_constrained_graph
from anchor_align_adapters._rank_parts import Tops, rank_constrained_rows
from anchor_align_adapters._sampling import alternate_sampling

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

# Chunks of 200 samples: one; two; uneven ones, two of them of a single sample; many.
CHUNKS = [(200,), (100, 100), (1, 120, 59, 19, 1), (*(23,) * 8, 16)]


def chunked(X: Any, sizes: Sequence[int]) -> Any:
    """A Dask array with chunks of so many rows, sparse where X is."""
    width = int(X.shape[1])
    meta: Any = sp.csr_array(np.empty((0, width), X.dtype)) if is_sparse(X) else np.empty((0, width), X.dtype)
    blocks = [X[start:stop] for start, stop in pairwise(np.cumsum([0, *sizes]).tolist())]
    return da.concatenate([da.from_delayed(dask.delayed(block), block.shape, meta=meta) for block in blocks])


def sizes_for(n: int) -> tuple[int, ...]:
    """Uneven chunks of n samples."""
    return (n // 7, n // 3, 1, n - 1 - n // 7 - n // 3)


def planted(rng: np.random.Generator, k: int, leak: float, n: int = 20, m: int = 6) -> sp.csr_array:
    """Graph of k blocks with links between them, each sample on its six largest anchors, in any order."""
    G = leak * rng.dirichlet(np.ones(k * m), size=k * n)
    for j in range(k):
        G[j * n : (j + 1) * n, j * m : (j + 1) * m] += (1 - leak) * rng.dirichlet(np.ones(m), size=n)
    sixth = np.sort(G, axis=1)[:, [-6]]
    G = np.where(sixth <= G, G, 0.0)
    return sp.csr_array((G / G.sum(axis=1, keepdims=True))[rng.permutation(k * n)])


def learned(views: Sequence[Any], **settings: Any) -> list[Any]:
    """Anchors that the adapter chooses, dense."""
    made = get_adapter("sfmc", **settings).learn_anchors(views, n_clusters=4, n_anchors=30, random_state=3)
    anchors = [dense(A) for A in made.anchors or ()]
    assert len(anchors) == len(views)
    return anchors


def dense(A: Any) -> Any:
    return A.toarray() if is_sparse(A) else A


@pytest.mark.slow
@pytest.mark.parametrize("sizes", CHUNKS, ids=len)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("anchors", ["alternate", "random", "kmeans", "flexible"])
def test_anchors_are_those_found_in_memory(anchors: str, sparse: bool, sizes: tuple[int, ...]) -> None:
    """All styles, in dense and sparse views; samples to the last digit but one."""
    views = [sp.csr_array(X) if sparse else X for X in make_simulated(2).views]
    found = learned([chunked(X, sizes) for X in views], anchors=anchors)
    for A, B in zip(found, learned(views, anchors=anchors), strict=True):
        np.testing.assert_allclose(A, B, rtol=1e-13 if anchors in ("alternate", "random") else 1e-8, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["max", "standard", "spread", "unit", None])
def test_anchors_of_views_scaled_in_all_ways(scale: str | None) -> None:
    """Random samples and centres; one view is sparse and in single precision, so features are shifted by hand."""
    first, second = make_simulated(3).views[:2]
    views = [first, sp.csr_array(np.maximum(second, 0).astype(np.float32))]
    for anchors in ("random", "kmeans"):
        found = learned([chunked(X, CHUNKS[2]) for X in views], anchors=anchors, scale=scale)
        for A, B in zip(found, learned(views, anchors=anchors, scale=scale), strict=True):
            np.testing.assert_allclose(A, B, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sample", "minibatch"])
def test_anchors_of_some_samples(kind: str) -> None:
    """K-means of a sample and of batches, on all views together."""
    views = make_simulated(4).views
    found = learned([chunked(X, CHUNKS[1]) for X in views], anchors="kmeans", kmeans=kind)
    for A, B in zip(found, learned(views, anchors="kmeans", kmeans=kind), strict=True):
        np.testing.assert_allclose(A, B, rtol=1e-8, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["max", "unit", None])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", CHUNKS, ids=len)
def test_alternate_sampling_to_the_last_digit(sizes: tuple[int, ...], dtype: type, scale: str | None) -> None:
    """The map is chaotic, so 150 equal samples say that all first scores are the same in any chunks."""
    rng = np.random.default_rng(5)
    views = [rng.normal(size=(200, 300)).astype(dtype), sp.csr_array(rng.poisson(0.3, (200, 50)).astype(dtype))]
    adapter = get_adapter("sfmc", scale=scale)
    here, there = (
        adapter.learn_anchors(given, n_clusters=4, n_anchors=150, random_state=0).anchors or ()
        for given in (views, [chunked(X, sizes) for X in views])
    )
    assert len(here) == len(views)
    for A, B in zip(here, there, strict=True):
        assert A.dtype == B.dtype == np.float64
        assert A.shape == B.shape
        np.testing.assert_allclose(dense(A), dense(B), rtol=1e-13)


def test_alternate_sampling_of_duplicates() -> None:
    """Equal scores in several chunks: the first sample is taken, and what is left is filled up in order."""
    X = np.repeat(np.random.default_rng(1).random((4, 3)), 5, axis=0)
    for data in (X, X[::-1].copy(), np.ones((20, 3))):
        for m in (1, 4, 10, 20):
            expected = alternate_sampling([ScaledRows(data)], m)
            for sizes in ((20,), (7, 1, 12), (1,) * 20):
                assert np.array_equal(alternate_sampling([view_rows(chunked(data, sizes))], m), expected)


@pytest.mark.slow
@pytest.mark.parametrize("leak", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_components_are_those_found_in_memory(k: int, leak: float) -> None:
    """The same number of rounds and the same graph, in any chunks."""
    G = planted(np.random.default_rng(2), k, leak)
    expected = rank_constrained_graph(G, k)
    n = 20 * k
    for sizes in ((n,), sizes_for(n), (1,) * n):
        result = rank_constrained_rows(chunked(G, sizes), k)
        assert (result.n_components, result.n_iter) == (expected.n_components, expected.n_iter)
        labels = result.labels
        assert labels.chunks == (sizes,)
        assert acc(expected.labels, labels.compute(scheduler="sync")) == 1.0
        blocks = result.graph.total(lambda P: [P])
        np.testing.assert_allclose(sp.vstack(blocks).toarray(), expected.graph.toarray(), atol=1e-9)


@pytest.mark.parametrize("most", [1, 3, 20])
def test_columns_with_too_many_entries_to_send(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds are then found where the entries are: the graph is the same."""
    monkeypatch.setattr(_rank_parts, "MOST_TOPS", most)
    G = planted(np.random.default_rng(6), 4, 0.2)
    expected = rank_constrained_graph(G, 4)
    with dask.config.set(scheduler="sync"):
        result = rank_constrained_rows(chunked(G, (30, 1, 49)), 4)
        np.testing.assert_allclose(
            sp.vstack(result.graph.total(lambda P: [P])).toarray(), expected.graph.toarray(), atol=1e-9
        )


@settings(max_examples=at_most(50))
@given(seeds, st.integers(1, 5), st.sampled_from([1e-3, 1.0, 1e6, 1e14]), st.integers(1, 40))
def test_thresholds_of_columns_in_parts(seed: int, n_parts: int, scale: float, most: int) -> None:
    """The entries that parts send make the thresholds of whole columns; ones left out can be told."""
    rng = np.random.default_rng(seed)
    columns: list[Any] = [np.sort(rng.choice([0, 1, 3], rng.integers(1, 40))) for _ in range(n_parts)]
    values: list[Any] = [scale * rng.integers(0, 9, len(each)) / 8.0 for each in columns]
    nothing = np.full(4, -np.inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rank_parts, "MOST_TOPS", most)
        parts = [Tops.at_most(*each, nothing) for each in zip(columns, values, strict=True)]
        tops = sum(parts, Tops(columns[0][:0], values[0][:0], nothing))
    largest, thresholds, counts = tops.thresholds()
    for column in (0, 1, 3):
        whole = np.concatenate([y[c == column] for c, y in zip(columns, values, strict=True)])
        if not len(whole):
            continue
        _, expected, kept = Segments(np.array([len(whole)])).cut(whole)
        assert largest[column] == whole.max()
        if tops.left_out[column] - largest[column] <= thresholds[column]:
            assert thresholds[column] == pytest.approx(expected[0], abs=1e-12)
            assert counts[column] == kept.sum()
        else:
            assert thresholds[column] < expected[0]
            assert kept.sum() > most


def test_samples_without_entries_are_components() -> None:
    """They count, have labels of their own, and may fill a whole chunk; so may anchors have no entry."""
    G = planted(np.random.default_rng(7), 2, 0.0).toarray()
    G = np.insert(np.insert(G, [0, 3, 3], 0.0, axis=0), 5, 0.0, axis=1)
    for sizes in ((43,), (4, 1, 38), (1,) * 43):
        result = rank_constrained_rows(chunked(sp.csr_array(G), sizes), 2)
        expected = rank_constrained_graph(G, 2)
        assert result.n_components == expected.n_components == 5
        assert acc(expected.labels, result.labels.compute()) == 1.0


def graphs_of(views: Sequence[Any], n_anchors: int, n_clusters: int) -> list[Any]:
    """Graphs as the adapter makes them."""
    adapter = get_adapter("sfmc")
    return list(adapter.anchor_graphs(views, n_clusters=n_clusters, n_anchors=n_anchors, random_state=0).graphs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simulated", "MSRC-v1"])
def test_weights_and_labels_are_those_found_in_memory(name: str) -> None:
    """View weights to six digits and the same clusters, on simulated and on real data."""
    k, m = (4, 40) if name == "simulated" else (7, 105)
    views = make_simulated(1).views if name == "simulated" else real_data(name)[0]
    graphs = graphs_of(views, m, k)
    adapter: Any = get_adapter("sfmc")
    weights = adapter.view_weights(graphs, n_clusters=k, random_state=0)
    fused = sum(w * B for w, B in zip(weights, graphs, strict=True))
    labels = adapter.cluster(fused, n_clusters=k, random_state=0)
    n = len(views[0])
    for sizes in ((n,), sizes_for(n)):
        found = adapter.view_weights([chunked(B, sizes) for B in graphs], n_clusters=k, random_state=0)
        np.testing.assert_allclose(found, weights, atol=1e-6)
        assert acc(labels, adapter.cluster(chunked(fused, sizes), n_clusters=k, random_state=0).compute()) == 1.0


@pytest.mark.slow
def test_samples_of_real_data() -> None:
    """Alternate sampling takes the same 147 of 210 samples of MSRC-v1 in all chunks."""
    views, _ = real_data("MSRC-v1")
    scaled = [X / np.abs(X).max() for X in views]
    expected = alternate_sampling([ScaledRows(X) for X in scaled], 147)
    for sizes in ((210,), sizes_for(210), (10,) * 21):
        assert np.array_equal(alternate_sampling([view_rows(chunked(X, sizes)) for X in scaled], 147), expected)


def test_a_single_view_has_all_the_weight() -> None:
    """Nothing is computed for it."""
    G = chunked(planted(np.random.default_rng(8), 2, 0.1), (40,))
    assert list(get_adapter("sfmc").view_weights([G], n_clusters=2, random_state=0) or ()) == [1.0]


def test_too_many_components_are_told() -> None:
    """A warning says what was found, and labels come from spectral clustering."""
    G = chunked(planted(np.random.default_rng(9), 4, 0.0), (30, 50))
    with pytest.warns(UserWarning, match=r"sfmc found 4 connected components after 0 rounds, expected 2"):
        labels: Any = get_adapter("sfmc").cluster(G, n_clusters=2, random_state=0)
    assert len(np.unique(labels.compute())) == 2


def test_passes_of_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two reductions for each round of the graph and one before: each costs a round trip to the cluster."""
    G = chunked(planted(np.random.default_rng(2), 4, 0.2), (30, 50))
    kind = type(view_rows(G).parts())
    total, calls = kind.total, []

    def counted(self: Any, function: Any, *shared: Any) -> Any:
        calls.append(function.__name__)
        return total(self, function, *shared)

    monkeypatch.setattr(kind, "total", counted)
    result = rank_constrained_rows(G, 4)
    assert result.n_iter > 1
    assert len(calls) == 1 + 2 * result.n_iter


def test_memory_of_parts_is_told() -> None:
    """Dask goes by it."""
    part = _rank_parts.Part(planted(np.random.default_rng(2), 4, 0.2))
    assert part.__sizeof__() > 5 * part.values.nbytes
