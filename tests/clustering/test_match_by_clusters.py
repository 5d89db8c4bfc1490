"""Anchors matched by the clusters of a first clustering: where it happens, from which rows, and where it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import real_data

from anchor_align import AlignedClusterer, InputTypeError
from anchor_align.clustering import _cluster_profiles, _pipeline
from anchor_align.graphs import StoredGraphs
from anchor_align.metrics import acc

PROFILES = {"column_scaling": 1.0, "directions": 1.5}


def planted(n: int = 400, k: int = 4, seed: int = 0) -> tuple[list[Any], Any]:
    """Sparse graphs of two views: a sample is on three of the ten anchors of its cluster."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    graphs = []
    for _ in range(2):
        columns = 10 * labels[:, None] + rng.random((n, 10)).argsort(axis=1)[:, :3]
        entries = (np.full(3 * n, 1 / 3), columns.ravel(), np.arange(0, 3 * n + 1, 3))
        graphs.append(sp.csr_array(entries, shape=(n, 10 * k))[:, rng.permutation(10 * k)])
    return graphs, labels


def test_profiles_are_the_weights_in_the_planted_clusters() -> None:
    """Over the root of the size of the cluster; each anchor is in one cluster only."""
    graphs, labels = planted()
    found = _cluster_profiles.cluster_profiles(StoredGraphs(graphs), 4, 0, **PROFILES)
    expected = [np.array([Z[labels == c].sum(axis=0) / np.sqrt((labels == c).sum()) for c in range(4)]) for Z in graphs]
    for F, G in zip(found, expected, strict=True):
        assert sorted(map(tuple, F.round(9).tolist())) == sorted(map(tuple, G.round(9).tolist()))


def test_profiles_are_from_a_bounded_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which rows are in it does not depend on their order."""
    graphs, _ = planted(n=1000)
    monkeypatch.setattr(_cluster_profiles, "MOST_ROWS", 200)
    order = np.random.default_rng(1).permutation(1000)
    found, shuffled = (
        _cluster_profiles.cluster_profiles(StoredGraphs(each), 4, 0, **PROFILES)
        for each in (graphs, [Z[order] for Z in graphs])
    )
    for F, G in zip(found, shuffled, strict=True):
        assert F.sum() < 0.3 * np.sqrt(1000) * 4
        np.testing.assert_allclose(np.sort(F, axis=0), np.sort(G, axis=0), atol=1e-12)


def fitted(graphs: list[Any], fusion: str = "aligned", *, by_clusters: Any, mask: Any = None) -> AlignedClusterer:
    params = {"match_by_clusters": by_clusters, "column_scaling": 1.0, "directions": 1.5}
    clusterer = AlignedClusterer("precomputed", n_clusters=4, fusion=fusion, adapter_params=params, random_state=0)
    return clusterer.fit(graphs, mask=mask)


def test_anchors_of_the_same_cluster_are_matched() -> None:
    """Samples choose freely among the anchors of their cluster; with few samples, only clusters tell the partners."""
    graphs, labels = planted(n=60)
    found = fitted(graphs, by_clusters=True)
    aligned = [Z[:, p] for Z, p in zip(graphs, found.permutations_, strict=True)]
    of_column = [np.array([np.bincount(labels, np.ravel(Z[:, [j]].toarray()), 4) for j in range(40)]) for Z in aligned]
    used = (of_column[0].sum(axis=1) > 0) & (of_column[1].sum(axis=1) > 0)
    assert (of_column[0].argmax(axis=1) == of_column[1].argmax(axis=1))[used].all()
    assert acc(labels, found.labels_) == 1.0


def test_only_fusions_of_aligned_graphs_use_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not rotation, which follows samples, no controls, no missing samples, and not if the setting is off."""
    calls: list[int] = []
    original = _cluster_profiles.cluster_profiles

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return original(*arguments, **options)

    monkeypatch.setattr(_pipeline, "cluster_profiles", counted)
    graphs, _ = planted()
    for fusion in ("rotated", "unaligned", "concat"):
        fitted(graphs, fusion, by_clusters=True)
    fitted(graphs, by_clusters=False)
    mask = np.ones((2, 400), dtype=bool)
    mask[0, 0] = False
    fitted(graphs, by_clusters=True, mask=mask)
    assert calls == []
    fitted(graphs, by_clusters=True)
    assert calls == [1]


def test_a_wrong_setting_is_one_sentence() -> None:
    """What was got."""
    with pytest.raises(InputTypeError, match="match_by_clusters"):
        fitted(planted()[0], by_clusters="yes")


@pytest.mark.slow
def test_it_gains_on_real_data() -> None:
    """100Leaves has four anchors for each of 100 clusters, and samples that choose freely between them."""
    views, labels = real_data("100Leaves")
    scores = []
    for by_clusters in (True, False):
        clusterer = AlignedClusterer(n_clusters=100, adapter_params={"match_by_clusters": by_clusters}, random_state=0)
        scores.append(100 * acc(labels, clusterer.fit_predict(views)))
    assert scores[0] > scores[1] + 1
    assert scores[0] > 92
