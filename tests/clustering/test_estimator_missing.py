"""AlignedClusterer with views that lack samples."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from masked_views import APART, KINDS, MASK, VIEWS, N, assert_same_fit, clusterer, dense, random_mask, spoiled
from sklearn.base import clone

from anchor_align import (
    AlignedClusterer,
    FunctionAdapter,
    InputError,
    InputTypeError,
    NotEnoughMemoryError,
    align,
    fuse,
)
from anchor_align.blocks import _map_blocks as _mapping
from anchor_align.data import make_simulated
from anchor_align.metrics import acc

# Simulated data are small; what is warned of is tested with the aligner.
pytestmark = pytest.mark.filterwarnings("ignore:Too few shared samples", "ignore:sfmc found")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fusion", ["aligned", "unaligned", "concat"])
def test_a_full_mask_changes_nothing(kind: str, fusion: str) -> None:
    """To the last bit, and so does looking for NaN where there is none."""
    plain = clusterer(kind, fusion=fusion).fit(VIEWS)
    full = np.ones((3, N), dtype=bool)
    for options, fitted in (({}, {"mask": full}), ({"missing": "nan"}, {}), ({"missing": "nan"}, {"mask": full})):
        masked = clusterer(kind, fusion=fusion, **options).fit(VIEWS, **fitted)
        assert_same_fit(masked, plain)
        assert masked.mask_ is None
        np.testing.assert_array_equal(masked.predict(VIEWS, **fitted), plain.predict(VIEWS))


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_samples_that_a_view_lacks_do_not_matter(kind: str) -> None:
    """NaN, infinity or anything: the same fit, to the last bit; NaN alone may take the place of the mask."""
    expected = clusterer(kind).fit(VIEWS, mask=MASK)
    np.testing.assert_array_equal(expected.mask_, MASK)
    assert not np.shares_memory(expected.mask_, MASK)
    for value in (np.nan, np.inf, 1e300, -7.0):
        assert_same_fit(clusterer(kind).fit(spoiled(VIEWS, value=value), mask=MASK), expected)
    by_nan = clusterer(kind, missing="nan").fit(spoiled(VIEWS))
    assert_same_fit(by_nan, expected)
    np.testing.assert_array_equal(by_nan.mask_, MASK)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fusion", ["aligned", "unaligned", "concat"])
def test_what_is_learned(kind: str, fusion: str) -> None:
    """Rows that a view lacks are zero; the fused graph is what align and fuse make of the graphs, rows sum to one."""
    fitted = clusterer(kind, fusion=fusion).fit(spoiled(VIEWS), mask=MASK)
    graphs = fitted.anchor_graphs_.graphs
    for Z, seen in zip(graphs, MASK, strict=True):
        np.testing.assert_allclose(dense(Z).sum(axis=1), seen, atol=1e-9)
        assert not dense(Z)[~seen].any()
    if fusion == "concat":
        expected = fuse(graphs, how="concat", mask=MASK)
    elif fusion == "unaligned" or kind == "sfmc shared":
        expected = fuse(graphs, weights=fitted.weights_, mask=MASK)
    else:
        matrices = align(graphs, reference="consensus", mask=MASK)
        expected = fuse(graphs, matrices, weights=fitted.weights_, mask=MASK)
        assert fitted.aligner_ is not None
        np.testing.assert_array_equal(fitted.aligner_.shared_, MASK.astype(int) @ MASK.T)
    np.testing.assert_allclose(dense(fitted.fused_graph_), dense(expected), atol=1e-12)
    if fusion != "concat":
        np.testing.assert_allclose(dense(fitted.fused_graph_).sum(axis=1), 1.0)
    assert len(set(fitted.labels_)) == 4
    assert np.mean(fitted.predict(spoiled(VIEWS), mask=MASK) == fitted.labels_) >= 0.99


@pytest.mark.parametrize("kind", APART)
def test_anchors_come_from_the_samples_that_a_view_has(kind: str) -> None:
    """Of every view on its own: the others' samples matter only for the order, and so for the rounding."""
    parts = [X[seen] for X, seen in zip(VIEWS, MASK, strict=True)]
    learned = KINDS[kind].learn_anchors(parts, n_clusters=4, n_anchors=10, random_state=0)
    fitted = clusterer(kind).fit(spoiled(VIEWS), mask=MASK)
    assert len(fitted.anchors_ or ()) == len(VIEWS)
    for got, expected in zip(fitted.anchors_ or (), learned.anchors or (), strict=True):
        np.testing.assert_allclose(dense(got), dense(expected), rtol=1e-9)


def test_shared_anchors_come_from_the_samples_that_all_views_have() -> None:
    """They are samples, the same in every view."""
    complete = MASK.all(axis=0)
    fitted = clusterer("sfmc shared").fit(spoiled(VIEWS), mask=MASK)
    alone = clusterer("sfmc shared").fit([X[complete] for X in VIEWS])
    assert len(fitted.anchors_ or ()) == len(VIEWS)
    for got, expected in zip(fitted.anchors_ or (), alone.anchors_ or (), strict=True):
        np.testing.assert_array_equal(dense(got), dense(expected))


def test_clusters_are_found_with_a_third_missing() -> None:
    """Ten draws of simulated data, one anchor for each cluster: aligned fusion finds nearly all of them."""
    scores: dict[str, list[float]] = {"aligned": [], "unaligned": []}
    for seed in range(10):
        data = make_simulated(seed)
        mask = random_mask(np.random.default_rng(seed), 2, N)
        for fusion, values in scores.items():
            found = clusterer(n_anchors=4, fusion=fusion, random_state=seed).fit(data.views, mask=mask)
            values.append(acc(data.labels, found.labels_))
    assert np.mean(scores["aligned"]) > 0.97
    assert np.mean(scores["unaligned"]) < np.mean(scores["aligned"]) - 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "fusion"), [*((kind, "aligned") for kind in KINDS), ("lmvsc", "concat")])
def test_storage_changes_nothing(kind: str, fusion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, in memory, on disk and never kept: the same labels."""
    monkeypatch.setattr(_mapping, "BLOCK_NUMBERS", 2**12)
    expected = clusterer(kind, fusion=fusion).fit(spoiled(VIEWS), mask=MASK)
    for storage in ("disk", "never") if kind in ("lmvsc", "fmvacc") else ("disk",):
        found = clusterer(kind, fusion=fusion, storage=storage).fit(spoiled(VIEWS), mask=MASK)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        np.testing.assert_allclose(np.abs(found.embedding_), np.abs(expected.embedding_), atol=1e-9)
        np.testing.assert_array_equal(found.predict(VIEWS, mask=MASK), expected.predict(VIEWS, mask=MASK))
        np.testing.assert_array_equal(found.mask_, MASK)
        if storage == "never":
            assert found.fused_graph_ is None
            assert found.anchor_graphs_.graphs == ()


@pytest.mark.slow
def test_copies_of_the_samples_count(tmp_path: Path) -> None:
    """Anchors of views that lack samples are learned from copies: in the budget or, if there is none, on disk."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "view.npy", rng.random((40_000, 40)))
    views = [np.load(tmp_path / "view.npy", mmap_mode="r")] * 2
    mask = random_mask(rng, 2, 40_000, 0.1)
    budget: dict[str, Any] = {"n_clusters": 2, "n_anchors": 2, "memory": "18MB", "random_state": 0}
    AlignedClusterer("lmvsc", **budget).fit(views)
    with pytest.raises(NotEnoughMemoryError, match="storage='disk' needs"):
        AlignedClusterer("lmvsc", **budget).fit(views, mask=mask)
    found = AlignedClusterer("lmvsc", storage="never", folder=tmp_path, **budget).fit(views, mask=mask)
    assert len(set(found.labels_)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["view.npy"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_sparse_views(kind: str) -> None:
    """The labels of the same views dense, with a mask and with rows of NaN."""
    views = [np.where(X - np.median(X) > 0, X, 0.0) for X in VIEWS]
    expected = clusterer(kind).fit(views, mask=MASK)
    for rows, options, mask in (
        (views, {}, MASK),
        (spoiled(views), {}, MASK),
        (spoiled(views), {"missing": "nan"}, None),
    ):
        found = clusterer(kind, **options).fit([sp.csr_array(X) for X in rows], mask=mask)
        assert acc(expected.labels_, found.labels_) > 0.98
        np.testing.assert_array_equal(found.mask_, MASK)


def test_kinds_of_views() -> None:
    """Lists, dicts, DataFrames, float32, whole numbers, one table: rows of NaN are what a view lacks."""
    spoilt = spoiled(VIEWS)
    expected = clusterer().fit(VIEWS, mask=MASK).labels_
    table = pd.concat({str(v): pd.DataFrame(X) for v, X in enumerate(spoilt)}, axis=1)
    widths = [X.shape[1] for X in VIEWS]
    made: list[Any] = [
        dict(zip("abc", spoilt, strict=True)),
        [pd.DataFrame(X) for X in spoilt],
        [np.asfortranarray(X) for X in spoilt],
        table,
    ]
    for views in made:
        np.testing.assert_array_equal(clusterer(missing="nan").fit_predict(views), expected)
    found = clusterer(missing="nan", column_groups=widths).fit_predict(np.hstack(spoilt))
    np.testing.assert_array_equal(found, expected)
    single = clusterer(missing="nan").fit([X.astype(np.float32) for X in spoilt])
    assert single.fused_graph_.dtype == np.float32
    assert acc(expected, single.labels_) > 0.98
    whole = clusterer().fit([np.round(100 * X).astype(int) for X in VIEWS], mask=MASK)
    assert acc(expected, whole.labels_) > 0.9
    np.testing.assert_array_equal(clusterer().fit(VIEWS, mask=MASK.tolist()).labels_, expected)


def test_one_table_with_rows_of_nan_by_group() -> None:
    """A row that is NaN in the columns of one view alone is a sample that this view lacks."""
    table = np.hstack(spoiled(VIEWS))
    groups = {"a": range(2), "b": range(2, 4), "c": range(4, 8)}
    fitted = clusterer(missing="nan", column_groups=groups).fit(table)
    np.testing.assert_array_equal(fitted.mask_, MASK)


@pytest.mark.parametrize("kind", KINDS)
def test_new_samples_in_some_views(kind: str) -> None:
    """Each is placed by the views that have it, alone or among others, whatever else is in its rows."""
    # The weights that sfmc learns are often zero for some view.
    fitted = clusterer(kind, weights=[1, 1, 1]).fit(VIEWS)
    mask = random_mask(np.random.default_rng(3), 3, N)
    found = fitted.predict(spoiled(VIEWS, mask, np.inf), mask=mask)
    assert found.shape == (N,)
    np.testing.assert_array_equal(fitted.predict(spoiled(VIEWS, mask, 3.0), mask=mask), found)
    few = [X[:3] for X in spoiled(VIEWS, mask)]
    np.testing.assert_array_equal(fitted.predict(few, mask=mask[:, :3]), found[:3])
    assert acc(fitted.labels_, found) > 0.85
    only_first = np.repeat([[True], [False], [False]], 5, axis=1)
    assert fitted.predict([X[:5] for X in VIEWS], mask=only_first).shape == (5,)
    with pytest.raises(InputError, match="mask must have one row per view"):
        fitted.predict(few, mask=mask)
    with pytest.raises(InputError, match=r"Sample 0 is in no view"):
        fitted.predict(few, mask=np.zeros((3, 3), dtype=bool))


def test_new_samples_in_views_without_weight() -> None:
    """Nothing is known of them, which is said; the others get their clusters."""
    fitted = clusterer(weights=[0, 1, 1]).fit(VIEWS)
    mask = np.ones((3, 5), dtype=bool)
    mask[0, 2] = False
    few = [X[:5] for X in VIEWS]
    assert fitted.predict(few, mask=mask).shape == (5,)
    mask[:, 2] = [True, False, False]
    with pytest.raises(InputError, match=r"Sample 2 is only in views whose weight is zero \(1 such samples\)"):
        fitted.predict(few, mask=mask)


def test_estimator_conventions() -> None:
    """Parameters survive clone, a fit survives pickling, and the views are not modified."""
    views = spoiled(VIEWS)
    before = [X.copy() for X in views]
    made = clusterer(n_anchors=[6, 10, 8], weights="auto", missing="nan", many_to_one=True, reference=0)
    fitted = clone(made).fit(views)
    np.testing.assert_equal(views, before)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(views), fitted.predict(views))
    np.testing.assert_array_equal(again.mask_, MASK)
    assert clone(made).get_params()["n_anchors"] == [6, 10, 8]
    np.testing.assert_array_equal(clone(made).fit_predict(views), fitted.labels_)


def whole_graphs(views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int) -> list[np.ndarray]:
    return [np.eye(n_anchors)[np.arange(len(X)) % n_anchors] for X in views]


NOWHERE = MASK.copy()
NOWHERE[:, [4, 9]] = False
EMPTY = np.repeat([[True], [False], [True]], N, axis=1)
ALONE = np.eye(3, dtype=bool)[:, np.arange(N) % 3]


@pytest.mark.parametrize(
    ("options", "mask", "message"),
    [
        ({}, NOWHERE, f"Sample 4 is in no view, nor are 1 others: 2 of {N} samples. Leave them out."),
        ({}, MASK[:2], rf"one column per sample, shape (3, {N}), or be transposed; got (2, {N})."),
        ({}, MASK[:2].T, f"or be transposed; got ({N}, 2)."),
        ({}, MASK[:, :-1], f"got (3, {N - 1})"),
        ({"adapter": FunctionAdapter("whole", whole_graphs)}, MASK, "'whole' needs every sample in every view"),
        ({"adapter": FunctionAdapter("whole", whole_graphs), "n_anchors": [4, 5, 6]}, None, "needs the same number of"),
        ({"kind": "sfmc shared", "n_anchors": [10, 12, 14]}, None, "'sfmc' needs the same number of anchors in every"),
        ({"kind": "sfmc shared"}, ALONE, f"samples that are in all views: 0 of {N}, so there is nothing to learn from"),
        ({"kind": "sfmc shared", "n_anchors": None}, ALONE, "so there is nothing to learn from"),
        ({"n_anchors": None}, EMPTY, f"View 1 has none of the {N} samples; leave it out."),
        ({"kind": "sfmc shared", "n_anchors": 150}, MASK, f"of {N}, too few for 150 anchors."),
        ({"n_anchors": [10, 10]}, None, "n_anchors has 2 numbers for 3 views"),
        ({"n_anchors": [10, 0, 10]}, None, "n_anchors must be a whole number >= 1, got 0"),
        ({"n_anchors": 190}, MASK, "n_anchors must be between 1 and the number of samples of view"),
        ({"weights": [1, 1]}, None, "Got 2 weights for 3 views"),
        ({"weights": [1, 0, 0]}, MASK, "is only in views whose weight is zero"),
        ({"missing": "drop"}, None, "Unknown missing 'drop'"),
    ],
)
def test_errors(options: dict[str, Any], mask: Any, message: str) -> None:
    """What was got, what was expected, and which view or sample."""
    options = dict(options)
    made = clusterer(options.pop("kind", "lmvsc"))
    with pytest.raises(InputError, match=re.escape(message)):
        made.set_params(**options).fit(VIEWS, mask=mask)


@pytest.mark.parametrize(
    ("options", "mask", "message"),
    [
        ({}, MASK.astype(float), "mask must be True where a view has a sample"),
        ({"n_anchors": [10.0, 10, 10]}, None, "n_anchors must be a whole number"),
        ({"n_anchors": "many"}, None, "n_anchors must be a whole number"),
        ({"weights": "equal"}, None, "weights must be a list of numbers"),
        ({"many_to_one": "yes"}, None, "many_to_one must be True or False"),
        ({"many_to_one": "yes", "fusion": "unaligned"}, None, "many_to_one must be True or False"),
    ],
)
def test_errors_of_type(options: dict[str, Any], mask: Any, message: str) -> None:
    """A wrong kind of value is named with what it should be."""
    with pytest.raises(InputTypeError, match=message):
        clusterer(**options).fit(VIEWS, mask=mask)


def test_nan_is_an_error_unless_it_says_that_a_sample_is_missing() -> None:
    """NaN without ``missing="nan"``, some NaN in a row, NaN in a row that the mask has."""
    with pytest.raises(InputError, match=r"NaN"):
        clusterer().fit(spoiled(VIEWS))
    some = [X.copy() for X in VIEWS]
    some[2][7, 1] = np.nan
    with pytest.raises(InputError, match=r"View 2 has 1 NaN among 4 features in row 7 \(1 such rows\)"):
        clusterer(missing="nan").fit(some)
    with pytest.raises(InputError, match="NaN"):
        clusterer().fit(some, mask=np.where(np.arange(N) == 7, True, MASK))
    gone = MASK.copy()
    gone[:, 7] = [True, True, False]
    assert clusterer(missing="nan").fit(some, mask=gone).labels_.shape == (N,)


def test_views_without_a_common_sample() -> None:
    """They are matched through others, which a warning says; without a way between them there is no match."""
    first = np.arange(N) < N // 2
    linked = np.array([first, ~first, np.ones(N, dtype=bool)])
    with pytest.warns(UserWarning, match="views 0 and 1 .*no sample shared"):
        fitted = clusterer().fit(VIEWS, mask=linked)
    assert fitted.aligner_ is not None
    assert fitted.aligner_.shared_[0, 1] == 0
    with pytest.raises(InputError, match="Views 0 share no sample with views 1"):
        clusterer().fit(VIEWS[:2], mask=linked[:2])


def test_dask_arrays_with_a_mask_are_refused() -> None:
    """Before anything is computed."""
    da = pytest.importorskip("dask.array")
    views = [da.from_array(X, chunks=(50, -1)) for X in VIEWS]
    for options, mask in (({}, MASK), ({"missing": "nan"}, None)):
        with pytest.raises(InputError, match="not supported for Dask arrays"):
            clusterer(**options).fit(views, mask=mask)
