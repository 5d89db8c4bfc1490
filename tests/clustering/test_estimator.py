"""AlignedClusterer: from views to labels, for every adapter and every kind of input."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributions import OURS
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import real_data
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer, AnchorAligner, InputError, InputTypeError, UnknownNameError, fuse
from anchor_align.clustering._cluster_profiles import cluster_profiles
from anchor_align.data import make_simulated
from anchor_align.fusion import FUSIONS
from anchor_align.graphs import StoredGraphs
from anchor_align.metrics import acc

ADAPTERS = ("local", "lmvsc", "fmvacc", "sfmc")
DATA = make_simulated(5)
VIEWS = DATA.views


def clusterer(adapter: str = "lmvsc", **options: Any) -> AlignedClusterer:
    # Unit rows leave one dimension of these planes: more anchors are needed along it.
    options = {"n_clusters": 4, "n_anchors": 40 if adapter == "local" else 12, "random_state": 0} | options
    return AlignedClusterer(adapter, **options)


# Every adapter with aligned fusion, and every other fusion. adapter="auto" needs two views; the checks have one table.
CHECKED = [
    *(AlignedClusterer(name, n_clusters=3, random_state=0) for name in OURS),
    *(AlignedClusterer(fusion=each.name, n_clusters=3, random_state=0) for each in FUSIONS if each.name != "aligned"),
]


# The tables of the checks are no graphs, and some have few different rows.
@pytest.mark.filterwarnings("ignore:Adapter 'precomputed' returned graphs", "ignore:View 0 has only")
@parametrize_with_checks(CHECKED)  # type: ignore[untyped-decorator]  # scikit-learn is not typed
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    """All of scikit-learn's checks that apply to a clusterer; none is expected to fail."""
    check(estimator)


def test_errors_of_adapters_call_views_by_their_names() -> None:
    """The adapter gets matrices only; its message has the name of the view."""
    views = dict(zip(("rna", "protein"), make_simulated(0, n_per_cluster=10).views, strict=True))
    large = {**views, "protein": 1e200 * views["protein"]}
    with pytest.raises(InputError, match="View protein's largest absolute value"):
        AlignedClusterer("lmvsc", n_clusters=4).fit(large)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["lmvsc", "fmvacc"])
@pytest.mark.parametrize("source", ["simulated", "file"])
def test_one_anchor_per_cluster_is_aligned(adapter: str, source: str) -> None:
    """Twenty draws of anchors: all clusters are found with aligned fusion, and not always with unaligned.

    Unaligned fusion makes mistakes in three of ten draws or more.
    """
    scores = {"aligned": [], "unaligned": []}  # type: dict[str, list[float]]
    for seed in range(20):
        data = make_simulated(seed)
        views, labels = (data.views, data.labels) if source == "simulated" else real_data("FMVACC_synthetic")
        for fusion, values in scores.items():
            found = clusterer(adapter, n_anchors=4, fusion=fusion, random_state=seed).fit_predict(views)
            values.append(acc(labels, found))
    assert min(scores["aligned"]) == 1.0
    assert np.count_nonzero(np.array(scores["unaligned"]) < 1.0) >= 3


@pytest.mark.slow
def test_flexible_anchors_of_sfmc_are_aligned() -> None:
    """Twenty draws of the simulated data: at least 95 % on average."""
    scores = []
    for seed in range(20):
        data = make_simulated(seed)
        found = clusterer("sfmc", adapter_params={"anchors": "flexible"}, random_state=seed).fit_predict(data.views)
        scores.append(acc(data.labels, found))
    assert np.mean(scores) >= 0.95


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("fusion", ["aligned", "unaligned", "concat"])
def test_what_is_learned(adapter: str, fusion: str) -> None:
    """The fused graph is what the aligner and fuse make of the graphs; predict gives the labels of the fit again."""
    fitted = clusterer(adapter, fusion=fusion, reference="consensus").fit(VIEWS)
    graphs = fitted.anchor_graphs_.graphs
    if fusion == "concat":
        expected = fuse(graphs, how="concat")
    elif fusion == "unaligned" or adapter == "sfmc":
        expected = fuse(graphs, weights=fitted.weights_)
    else:
        profiles = None
        if adapter == "local":
            profiles = cluster_profiles(StoredGraphs(graphs), 4, 0, column_scaling=1.0, directions=1.5)
        matched = AnchorAligner(reference="consensus", near_ties="largest").fit(graphs, profiles=profiles)
        expected = fuse(graphs, matched.matrices_, weights=fitted.weights_)
    difference = expected - fitted.fused_graph_
    assert abs(difference).max() < 1e-12
    assert fitted.embedding_.shape[0] == 200
    assert fitted.embedding_.shape[1] <= (6 if adapter == "local" else 4)
    assert len(fitted.anchors_ or []) == 2
    assert isinstance(fitted.aligner_, AnchorAligner) == (fusion == "aligned" and adapter != "sfmc")
    assert np.mean(fitted.predict(VIEWS) == fitted.labels_) >= 0.995
    assert fitted.predict([X[:1] for X in VIEWS]).shape == (1,)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_new_samples_go_to_their_clusters(adapter: str) -> None:
    """Samples that were not there at the fit are put where the true labels say."""
    train, test = slice(0, 150), slice(150, None)
    fitted = clusterer(adapter, n_anchors={"sfmc": 60, "local": 40}.get(adapter, 12)).fit([X[train] for X in VIEWS])
    assert acc(np.asarray(DATA.labels)[train], fitted.labels_) == 1.0
    both = np.concatenate([fitted.labels_, fitted.predict([X[test] for X in VIEWS])])
    assert acc(DATA.labels, both) >= 0.99


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_real_data_predicts_its_labels(adapter: str) -> None:
    """On the samples of the fit, but for rare ties."""
    views, _ = real_data("MSRC-v1")
    fitted = AlignedClusterer(adapter, n_clusters=7, n_anchors=14, random_state=0).fit(views)
    assert np.mean(fitted.predict(views) == fitted.labels_) >= 0.99


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("kind", ["float32", "fortran", "csr", "csc", "frame", "mixed", "dict", "cell"])
def test_kinds_of_views(adapter: str, kind: str) -> None:
    """The same clusters for any way to hand over the same numbers, which are not modified."""
    made: dict[str, Any] = {
        "float32": [X.astype(np.float32) for X in VIEWS],
        "fortran": [np.asfortranarray(X) for X in VIEWS],
        "csr": [sp.csr_matrix(X) for X in VIEWS],
        "csc": [sp.csc_array(X) for X in VIEWS],
        "frame": [pd.DataFrame(X) for X in VIEWS],
        "mixed": [VIEWS[0], sp.coo_array(VIEWS[1])],
        "dict": {"left": VIEWS[0], "right": VIEWS[1]},
        "cell": np.array([[*VIEWS, None]], dtype=object)[:, :2],
    }
    views = made[kind]
    before = pickle.loads(pickle.dumps(views))
    fitted = clusterer(adapter).fit(views)
    assert acc(DATA.labels, fitted.labels_) == 1.0
    assert np.array_equal(fitted.predict(views), fitted.labels_)
    for X, copy in zip(
        *(each.values() if kind == "dict" else np.ravel(each) if kind == "cell" else each for each in (views, before)),
        strict=True,
    ):
        assert (copy != X).sum().sum() == 0


@pytest.mark.parametrize(
    "groups",
    [
        [2, 2],
        {"a": 2, "b": 2},
        [[True, True, False, False], [False, False, True, True]],
        [[0, 1], [2, 3]],
        {"a": [0, 1], "b": slice(2, 4)},
        (range(2), np.array([2, 3])),
    ],
)
def test_one_table_with_groups_of_columns(groups: Any) -> None:
    """Widths, columns or named columns; dense, sparse and DataFrame alike."""
    expected = clusterer().fit(VIEWS)
    table = np.hstack(VIEWS)
    for made in (table, sp.csr_array(table), pd.DataFrame(table)):
        fitted = clusterer(column_groups=groups).fit(made)
        assert acc(expected.labels_, fitted.labels_) == 1.0
        assert fitted.n_features_in_ == 4
        assert len(fitted.anchor_graphs_.graphs) == 2


def test_frame_with_named_groups() -> None:
    """Column names, or the upper level of a DataFrame's columns."""
    frame = pd.DataFrame(np.hstack(VIEWS), columns=["x0", "y0", "x1", "y1"])
    fitted = clusterer(column_groups={"first": ["x0", "y0"], "second": ["x1", "y1"]}).fit(frame)
    assert np.array_equal(fitted.predict(frame[["y1", "x1", "y0", "x0"]]), fitted.labels_)
    by_position = clusterer(column_groups=[[0, 1], [2, 3]]).fit(frame)
    assert np.array_equal(by_position.labels_, fitted.labels_)
    frame.columns = pd.MultiIndex.from_product([["first", "second"], ["x", "y"]])
    assert np.array_equal(clusterer().fit_predict(frame), fitted.labels_)


def test_views_are_told_apart_by_name() -> None:
    """A dict in another order means the same."""
    fitted = clusterer().fit({"a": VIEWS[0], "b": VIEWS[1]})
    assert np.array_equal(fitted.predict({"b": VIEWS[1], "a": VIEWS[0]}), fitted.labels_)
    with pytest.raises(InputError, match=r"Got views a, c; fitted on a, b. Missing: b. .* Not in the fit: c"):
        fitted.predict({"a": VIEWS[0], "c": VIEWS[1]})


def test_the_way_out_for_new_samples_without_a_view_works() -> None:
    """The message names the missing view, and rows of NaN in its place give labels."""
    fitted = clusterer().fit({"a": VIEWS[0], "b": VIEWS[1]})
    with pytest.raises(InputError, match=r"Missing: b\. .* rows of NaN .* missing='nan' \(--missing nan\)"):
        fitted.predict({"a": VIEWS[0]})
    without = {"a": VIEWS[0], "b": np.full(VIEWS[1].shape, np.nan)}
    found = fitted.set_params(missing="nan").predict(without)
    assert np.mean(found == fitted.labels_) > 0.9


def test_pipeline_and_grid_search() -> None:
    """One table goes through scikit-learn's tools; settings of an adapter can be searched."""
    table = np.hstack(VIEWS)
    made = make_pipeline(StandardScaler(), clusterer("lmvsc", column_groups=[2, 2]))
    assert acc(DATA.labels, made.fit_predict(table)) == 1.0

    def score(estimator: Any, X: Any, y: Any) -> float:
        return acc(y, estimator.predict(X))

    from anchor_align import get_adapter

    search = GridSearchCV(
        AlignedClusterer(get_adapter("lmvsc"), n_clusters=4, n_anchors=4, column_groups=[2, 2], random_state=0),
        {"adapter__alpha": [0.1, 1.0], "fusion": ["aligned", "unaligned"]},
        scoring=score,
        cv=3,
    ).fit(table, DATA.labels)
    assert search.best_score_ == 1.0


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_clone_and_pickle(adapter: str) -> None:
    """A clone fits the same; a pickled clusterer predicts the same."""
    fitted = clusterer(adapter, adapter_params={"scale": "standard"}).fit(VIEWS)
    assert np.array_equal(clone(fitted).fit(VIEWS).labels_, fitted.labels_)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(VIEWS), fitted.labels_)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_same_seed_same_result_for_any_threads(adapter: str) -> None:
    """One thread or two; another seed draws other anchors."""
    views, _ = real_data("MSRC-v1")
    made = AlignedClusterer(adapter, n_clusters=7, n_anchors=20, random_state=3)
    labels = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            labels.append(made.fit_predict(views))
    assert np.array_equal(*labels)
    if adapter != "sfmc":
        other = made.set_params(random_state=4).fit(views)
        assert not np.array_equal(other.labels_, labels[0])


def test_every_view_draws_its_own_seed() -> None:
    """Two copies of one view get different anchors."""
    views, _ = real_data("MSRC-v1")
    for adapter in ("local", "lmvsc", "fmvacc"):
        made = AlignedClusterer(adapter, n_clusters=7, n_anchors=20, random_state=0).fit([views[1], views[1]])
        assert made.anchors_ is not None
        assert not np.allclose(made.anchors_[0], made.anchors_[1])


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["local", "lmvsc", "fmvacc"])
@pytest.mark.parametrize("name", ["UCI-Digit_3v", "3-Sources", "MSRC-v1", "BDGP_3v", "BBCSport"])
def test_alignment_helps_on_real_data(adapter: str, name: str) -> None:
    """Default settings, four seeds, nothing picked by label: aligned fusion is better than unaligned on average."""
    views, labels = real_data(name)
    k = len(np.unique(labels))
    scores = []
    for seed in range(4):
        fitted = AlignedClusterer(adapter, n_clusters=k, random_state=seed).fit(views)
        unaligned = AlignedClusterer("precomputed", n_clusters=k, fusion="unaligned", random_state=seed)
        found = (fitted.labels_, unaligned.fit_predict(fitted.anchor_graphs_.graphs))
        scores.append([acc(labels, each) for each in found])
    aligned, unaligned = np.mean(scores, axis=0)
    assert aligned > unaligned


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize(
    "data", ["zero rows", "constant columns", "duplicates", "scales", "negative", "one feature", "constant view"]
)
def test_odd_data_do_no_harm(adapter: str, data: str) -> None:
    """Finite graphs with rows on the simplex, labels for every sample."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 5))
    odd: dict[str, Any] = {
        "zero rows": np.where(np.arange(60)[:, None] % 3 == 0, 0.0, X),
        "constant columns": np.where(np.arange(5) % 2 == 0, 7.0, X),
        "duplicates": np.repeat(X[:20], 3, axis=0),
        "scales": X * np.array([1.0, 1e13, 1e-13, 1e6, 1e-6]),
        "negative": X - 10,
        "one feature": X[:, :1],
        "constant view": np.ones((60, 3)),
    }
    views = [X + 0.1 * rng.random((60, 5)), odd[data]]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="View 1 has only|sfmc found")
        for scale in ("standard", "spread", "unit", "max", None):
            made = AlignedClusterer(
                adapter, n_clusters=3, n_anchors=6, adapter_params={"scale": scale}, random_state=0
            ).fit(views)
            assert np.isfinite(made.embedding_).all()
            np.testing.assert_allclose(made.fused_graph_.sum(axis=1), 1, rtol=1e-9)
            assert made.labels_.shape == (60,)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_smallest_numbers(adapter: str) -> None:
    """One cluster and one anchor, as many anchors as samples, more anchors than features."""
    views = [X[:12] for X in VIEWS]
    for n_clusters, n_anchors in ((1, 1), (1, 5), (3, 12), (12, 12)):
        made = AlignedClusterer(adapter, n_clusters=n_clusters, n_anchors=n_anchors, random_state=0)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="sfmc found")
            assert len(np.unique(made.fit_predict(views))) <= n_clusters


BAD: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "samples": (lambda: clusterer().fit([VIEWS[0], VIEWS[1][:9]]), InputError, "View 0 has 200 samples; view 1 has 9"),
    "named": (
        lambda: clusterer().fit({"text": VIEWS[0], "image": VIEWS[1][:9]}),
        InputError,
        "View text has 200 samples; view image has 9",
    ),
    "nan": (
        lambda: clusterer().fit([VIEWS[0], VIEWS[1] * np.nan]),
        InputError,
        r"View 1 has NaN or infinity in 200 of 200 rows \(first: row 0\); views must be finite",
    ),
    "no views": (lambda: clusterer().fit([]), InputError, "Got no view"),
    "text": (lambda: clusterer().fit([np.array([["a"]])]), InputTypeError, "View 0 has dtype <U1"),
    "number": (lambda: clusterer().fit(3), InputTypeError, "Expected a list or dict of views, or one table, got int"),
    "n_clusters": (lambda: clusterer(n_clusters=0).fit(VIEWS), InputError, "n_clusters must be a whole number >= 1"),
    "many clusters": (lambda: clusterer(n_clusters=201).fit(VIEWS), InputError, "n_samples=200, fewer than n_clust"),
    "n_anchors": (lambda: clusterer(n_anchors=1.5).fit(VIEWS), InputTypeError, "n_anchors must be a whole number"),
    "many anchors": (lambda: clusterer(n_anchors=201).fit(VIEWS), InputError, "samples, 200; got 201"),
    "fusion": (lambda: clusterer(fusion="algned").fit(VIEWS), UnknownNameError, "Did you mean 'aligned'"),
    "adapter": (lambda: clusterer("lmvcs").fit(VIEWS), UnknownNameError, "Did you mean 'lmvsc'"),
    "adapter kind": (lambda: AlignedClusterer(3).fit(VIEWS), InputTypeError, "adapter must be a name"),  # type: ignore[arg-type]
    "lam": (lambda: clusterer(lam=-1).fit(VIEWS), InputError, "lam must be a number >= 0"),
    "reference": (lambda: clusterer(reference=2).fit(VIEWS), InputError, "reference 2 is out of range"),
    "groups": (
        lambda: clusterer(column_groups=[2, 1]).fit(np.hstack(VIEWS)),
        InputError,
        r"views of \[2, 1\] columns, 3 in all; the table has 4",
    ),
    "groups outside": (
        lambda: clusterer(column_groups=[[0, 1], [2, 9]]).fit(np.hstack(VIEWS)),
        InputError,
        "The columns of view 1 are not in the table",
    ),
    "groups of floats": (
        lambda: clusterer(column_groups=[[0.5, 1.0], [2, 3]]).fit(np.hstack(VIEWS)),
        InputError,
        "The columns of view 0 are not in the table: got .*expected positions or names",
    ),
    "same name": (
        lambda: clusterer(column_groups={1: [0, 1], "1": [2, 3]}).fit(np.hstack(VIEWS)),
        InputError,
        "Two views have the same name: 1, 1",
    ),
    "ragged": (lambda: clusterer().fit([[1, 2], [1]]), InputError, "rectangular"),
    "params": (
        lambda: AlignedClusterer(adapter_params=[1]).fit(VIEWS),  # type: ignore[arg-type]
        InputTypeError,
        "adapter_params must be a dict",
    ),
    "size": (
        lambda: clusterer().fit([VIEWS[0], 1e200 * VIEWS[1]]),
        InputError,
        r"View 1's largest absolute value is .*e\+200; expected 1e-100 to 1e\+100",
    ),
    "columns": (
        lambda: clusterer().fit([pd.DataFrame(X) for X in VIEWS]).predict([pd.DataFrame(X)[[1, 0]] for X in VIEWS]),
        InputError,
        "View 0 has column 1 where the fit had 0; columns must be in the same order",
    ),
    "no dimension": (lambda: clusterer().fit(np.array(3.0)), InputError, "Got one array of 1 numbers"),
    "no first view": (lambda: clusterer().fit([None, np.eye(5)]), InputError, "View 0 has 0 dimension"),
    "groups of views": (lambda: clusterer(column_groups=[2]).fit(VIEWS), InputError, "column_groups splits one table"),
    "new features": (
        lambda: clusterer().fit(VIEWS).predict([VIEWS[0], VIEWS[1][:, :1]]),
        InputError,
        "View 1 has 1 features; fitted on 2",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    """One sentence that says which view, what was got and what was expected."""
    call, kind, message = BAD[name]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
