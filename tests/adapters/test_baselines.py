"""All our baselines keep the same promises: planted clusters, any order, any threads, data with ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributions import OUR_BASELINES
from sklearn.metrics import adjusted_rand_score
from strategies import IndexArray, planted_views
from threadpoolctl import threadpool_limits

from anchor_align import InputError, NotEnoughMemoryError, get_baseline
from anchor_align.metrics import acc
from anchor_align.plugins import baseline_labels

QUADRATIC = ("pmsc", "msc-ias")
WITH_BUDGET = ("amgl", "bmvc", *QUADRATIC)


def labels_of(name: str, views: Any, k: int = 3, seed: int = 0, **params: Any) -> IndexArray:
    return baseline_labels(get_baseline(name, **params), views, n_clusters=k, random_state=seed)


@pytest.mark.parametrize("name", OUR_BASELINES)
@pytest.mark.parametrize("seed", range(3))
def test_planted_clusters_are_found(name: str, seed: int) -> None:
    """For every seed; the views are not changed, and float32 is as good."""
    views, labels = planted_views(seed)
    copies = [X.copy() for X in views]
    assert acc(labels, labels_of(name, views, seed=seed)) == 1.0
    assert all(np.array_equal(X, copy) for X, copy in zip(views, copies, strict=True))
    assert acc(labels, labels_of(name, [X.astype(np.float32) for X in views], seed=seed)) == 1.0


@pytest.mark.parametrize("name", OUR_BASELINES)
def test_order_of_samples_and_features_changes_nothing(name: str) -> None:
    """Also not the order of the views: the clusters are the same."""
    views, _ = planted_views(3)
    rng = np.random.default_rng(0)
    rows = rng.permutation(120)
    before = labels_of(name, views)
    shuffled = labels_of(name, [X[rows][:, rng.permutation(X.shape[1])] for X in reversed(views)])
    assert adjusted_rand_score(before[rows], shuffled) == 1.0


@pytest.mark.parametrize("name", OUR_BASELINES)
def test_tables_are_joined_by_name(name: str) -> None:
    """Also if the user calls the baseline himself; labels are in the order of the first view."""
    views, labels = planted_views(3)
    tables = [pd.DataFrame(X, index=[f"s{row}" for row in range(120)]) for X in views]
    tables[1] = tables[1].iloc[np.random.default_rng(0).permutation(120)]
    assert acc(labels, get_baseline(name).fit_predict(tables, n_clusters=3, random_state=0)) == 1.0
    with pytest.raises(InputError, match="different samples"):
        get_baseline(name).fit_predict([tables[0], tables[1][:100]], n_clusters=3, random_state=0)


@pytest.mark.parametrize("name", OUR_BASELINES)
def test_same_seed_same_labels_for_any_number_of_threads(name: str) -> None:
    """Also on data without clusters, where every digit counts."""
    rng = np.random.default_rng(1)
    views = [rng.standard_normal((150, 8)), rng.standard_normal((150, 5))]
    found = []
    for threads in (1, 2, 2):
        with threadpool_limits(threads):
            found.append(labels_of(name, views, 4, seed=7))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[1], found[2])


@pytest.mark.parametrize("name", OUR_BASELINES)
def test_sparse_views_give_the_same_clusters(name: str) -> None:
    """Also beside dense ones."""
    views, labels = planted_views(5)
    views = [np.where(np.median(X) < X, X, 0.0) for X in views]
    mixed = [sp.csr_array(views[0]), views[1], sp.csr_array(views[2])]
    assert acc(labels, labels_of(name, views)) == 1.0
    assert acc(labels, labels_of(name, mixed)) == 1.0


AWKWARD: dict[str, tuple[list[Any], int]] = {
    "constant": ([np.zeros((12, 3)), np.ones((12, 2))], 3),
    "one constant view": ([np.zeros((20, 3)), np.arange(20.0)[:, None] // 10], 2),
    "two values": ([np.repeat(np.eye(2), 10, axis=0), np.repeat(np.eye(2), 10, axis=0)], 4),
    "whole numbers": ([np.arange(40).reshape(20, 2) % 3, np.arange(20)[:, None] % 2], 3),
    "one feature": ([np.linspace(0, 1, 15)[:, None]], 3),
    "one cluster": ([np.random.default_rng(0).random((15, 4))], 1),
    "a cluster for each sample": ([np.random.default_rng(0).random((8, 4))], 8),
    "three samples": ([np.random.default_rng(0).random((3, 4))], 2),
    "one sample": ([np.ones((1, 4))], 1),
    "zeros among samples": ([np.vstack([np.zeros((6, 4)), np.eye(4).repeat(3, axis=0)]), np.ones((18, 1))], 4),
    "large offset": ([1e8 + np.repeat(np.eye(3), 6, axis=0)], 3),
}


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("name", OUR_BASELINES)
@pytest.mark.parametrize("kind", AWKWARD)
def test_tied_and_degenerate_data_have_labels(name: str, kind: str) -> None:
    """The fit ends, with a label for every sample and at most as many clusters as asked for."""
    views, k = AWKWARD[kind]
    found = labels_of(name, views, k)
    assert found.shape == (views[0].shape[0],)
    assert len(np.unique(found)) <= k


@pytest.mark.parametrize("name", WITH_BUDGET)
def test_a_budget_is_kept(name: str) -> None:
    """A fit that needs more is refused before it starts, with both amounts."""
    views, _ = planted_views(0)
    with pytest.raises(NotEnoughMemoryError, match=rf"^Baseline '{name}' needs .*B of memory .*; 1 KB were given"):
        labels_of(name, views, memory="1KB")
    with pytest.raises(InputError, match="memory must be an amount"):
        labels_of(name, views, memory="much")


@pytest.mark.parametrize("name", QUADRATIC)
def test_quadratic_methods_refuse_many_samples(name: str) -> None:
    """300,000 samples would need terabytes; nothing is allocated."""
    views = [np.broadcast_to(np.float32(1.0), (300_000, 400_000 if name == "msc-ias" else 2))]
    baseline = get_baseline(name)
    baseline.check_input = lambda views, n_clusters: views  # type: ignore[method-assign]  # it would read everything
    with pytest.raises(NotEnoughMemoryError, match=r"needs .* TB of memory beyond the views; .* are available"):
        baseline.fit_predict(views, n_clusters=3, random_state=0)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("rmkm", {"r": 1.0}, "r must be larger than 1, got 1"),
        ("rmkm", {"n_init": 0}, "n_init must be a whole number >= 1, got 0"),
        ("rmkm", {"scale": "units"}, "Unknown scale 'units'"),
        ("bmvc", {"gamma": 1.0}, "Expected r > 1 and gamma < 1"),
        ("bmvc", {"n_bits": 0}, "n_bits must be a whole number >= 1, got 0"),
        ("amgl", {"n_neighbors": 0}, "n_neighbors must be a whole number >= 1, got 0"),
        ("pmsc", {"alpha": 0.0}, "alpha must be a finite number >= 1e-12, got 0.0"),
        ("msc-ias", {"lam": -1}, "lam must be a finite number >= 0, got -1"),
        ("spectral", {"n_neighbors": "x"}, "n_neighbors must be a whole number >= 1, got 'x'"),
        ("kmeans", {"n_init": 1.5}, "n_init must be a whole number >= 1, got 1.5"),
    ],
)
def test_bad_settings(name: str, params: dict[str, Any], message: str) -> None:
    """Refused when they are used, with the name of the setting."""
    with pytest.raises(InputError, match=message):
        labels_of(name, planted_views(0)[0], **params)
