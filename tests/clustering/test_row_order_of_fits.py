"""The order of the samples does not change the clusters of any method, on real data without names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from distributions import OUR_BASELINES

from anchor_align import (
    AlignedClusterer,
    AnchorAligner,
    choose,
    cluster_number_curves,
    get_baseline,
    load_views,
)
from anchor_align.data import MultiViewData
from anchor_align.metrics import ari
from anchor_align.study import compare

ADAPTERS: list[tuple[str, dict[str, Any]]] = [
    ("local", {}),
    ("local", {"kmeans": "sample"}),
    ("local", {"kmeans": "minibatch"}),
    ("lmvsc", {}),
    ("fmvacc", {}),
    ("sfmc", {}),
    ("sfmc", {"anchors": "random"}),
    ("sfmc", {"anchors": "kmeans"}),
    ("sfmc", {"anchors": "flexible"}),
    ("msgl", {}),
    ("fmcnof", {}),
]


def digits(n: int = 400) -> MultiViewData:
    """Every few digits, sorted by class as in the file."""
    data = load_views("uci-digit")
    rows = np.linspace(0, data.n_samples - 1, n).astype(int)
    assert data.labels is not None
    return MultiViewData([np.asarray(X[rows]) for X in data.views], np.asarray(data.labels)[rows], data.names)


def shuffled(data: MultiViewData, seed: int) -> tuple[MultiViewData, Any]:
    order = np.random.default_rng(seed).permutation(data.n_samples)
    assert data.labels is not None
    return MultiViewData([X[order] for X in data.views], np.asarray(data.labels)[order], data.names), order


@pytest.mark.parametrize("fusion", ["aligned", "unaligned"])
@pytest.mark.parametrize(("adapter", "params"), ADAPTERS)
@pytest.mark.filterwarnings("ignore:sfmc found", "ignore:View")
def test_shuffled_samples_have_the_same_clusters(adapter: str, params: dict[str, Any], fusion: str) -> None:
    """Sorted by class and in two random orders: to the last label, whether or not the clusters are clear."""
    data = digits()
    clusterer = AlignedClusterer(adapter, n_clusters=10, fusion=fusion, adapter_params=params, random_state=3)
    expected = clusterer.fit_predict(data.views)
    for seed in range(2):
        other, order = shuffled(data, seed)
        assert ari(expected[order], clusterer.fit_predict(other.views)) == 1.0


@pytest.mark.parametrize("name", OUR_BASELINES)
def test_baselines_have_the_same_clusters(name: str) -> None:
    """As for adapters."""
    data = digits(200)
    other, order = shuffled(data, 0)
    expected, found = (
        get_baseline(name).fit_predict(each.views, n_clusters=10, random_state=1) for each in (data, other)
    )
    assert ari(expected[order], found) == 1.0


@pytest.mark.filterwarnings("ignore:Too few shared")
def test_missing_samples() -> None:
    """Samples that are missing at random are missing wherever they stand."""
    data = digits()
    mask = np.random.default_rng(0).random((3, data.n_samples)) > 0.3
    mask[0] |= ~mask.any(axis=0)
    other, order = shuffled(data, 1)
    clusterer = AlignedClusterer(n_clusters=10, random_state=0)
    expected = clusterer.fit_predict(data.views, mask=mask)
    assert ari(expected[order], clusterer.fit_predict(other.views, mask=mask[:, order])) == 1.0


def test_chance_level_choice_and_curves_do_not_depend_on_it() -> None:
    """Whatever is computed on a sample of the data."""
    data = digits()
    other, _ = shuffled(data, 2)
    graphs = [AlignedClusterer("lmvsc", n_clusters=10, random_state=0).fit(each.views) for each in (data, other)]
    chances = [np.asarray(AnchorAligner(random_state=0).fit(each.anchor_graphs_.graphs).chance_) for each in graphs]
    np.testing.assert_allclose(chances[0], chances[1], rtol=1e-6)
    tables = [choose(each.views, 10, sample=200, draws=2, random_state=0) for each in (data, other)]
    scores = [[result.score for result in each.results] for each in tables]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-6)
    curves = [cluster_number_curves(each.views, [8, 10], sample=200, draws=1, random_state=0) for each in (data, other)]
    for one, two in zip(curves[0].curves, curves[1].curves, strict=True):
        np.testing.assert_allclose(one.values, two.values, rtol=1e-6, err_msg=one.name)


def test_a_study_has_the_same_scores() -> None:
    """Its seeds depend on the content of the data, not on the order of the samples."""
    scores = []
    for each in (digits(), shuffled(digits(), 3)[0]):
        records = compare(["lmvsc"], {"digits": each}, repeats=2).records
        scores.append([(record.arm, record.scores) for record in records])
    assert scores[0] == scores[1]
