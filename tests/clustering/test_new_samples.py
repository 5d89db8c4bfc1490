"""What a fitted clusterer does with samples: coordinates, confidence, agreement, names of features, settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from anchor_align import AlignedClusterer, AnchorAlignError, InputError, get_adapter
from anchor_align.clustering import FitQuality, fit_quality
from anchor_align.data import make_simulated

DATA = make_simulated(0)
VIEWS = DATA.views


@pytest.fixture(scope="module")
def fitted() -> AlignedClusterer:
    return AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(VIEWS)


def test_transform_gives_the_embedding(fitted: AlignedClusterer) -> None:
    """For the samples of the fit it is embedding_; a part of the samples gives these rows, in their dtype."""
    np.testing.assert_allclose(fitted.transform(VIEWS), fitted.embedding_, atol=1e-12)
    np.testing.assert_allclose(fitted.transform([X[5:9] for X in VIEWS]), fitted.embedding_[5:9], atol=1e-12)
    again = AlignedClusterer("lmvsc", n_clusters=4, random_state=0)
    np.testing.assert_array_equal(again.fit_transform(VIEWS), again.embedding_)
    assert fitted.transform([X.astype(np.float32) for X in VIEWS]).dtype == np.float32


def test_labels_are_whole_numbers_of_one_type(fitted: AlignedClusterer) -> None:
    """labels_ and predict have numpy's index type, so that they can index arrays."""
    assert fitted.labels_.dtype == np.intp
    assert fitted.predict(VIEWS).dtype == np.intp


def test_confidence_is_the_margin_to_the_next_cluster(fitted: AlignedClusterer) -> None:
    """From the means and coordinates alone: distances, and (b - a) / max(a, b); a sample between clusters has 0."""
    found = fitted.assign(VIEWS)
    distances = np.linalg.norm(fitted.embedding_[:, None] - fitted.cluster_means_, axis=2)
    ordered = np.sort(distances, axis=1)
    np.testing.assert_array_equal(found.labels, fitted.labels_)
    np.testing.assert_allclose(found.distances, ordered[:, 0], atol=1e-6)
    np.testing.assert_allclose(found.confidence, 1.0 - ordered[:, 0] / ordered[:, 1], atol=1e-5)


def test_one_cluster_has_no_margin() -> None:
    """Its confidence is NaN, and its distances are finite."""
    found = AlignedClusterer("lmvsc", n_clusters=1, random_state=0).fit(VIEWS).assign(VIEWS)
    assert np.isnan(found.confidence).all()
    assert np.isfinite(found.distances).all()


def test_score_is_the_agreement_of_the_views(fitted: AlignedClusterer) -> None:
    """High for views of the same samples, low if one is shuffled, NaN for one view; a grid search can use it."""
    order = np.random.default_rng(0).permutation(len(VIEWS[0]))
    assert fitted.score(VIEWS) > 2 * fitted.score([VIEWS[0], VIEWS[1][order]])
    assert np.isnan(AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(VIEWS[:1]).score(VIEWS[:1]))
    table = np.hstack(VIEWS)
    search = GridSearchCV(
        AlignedClusterer("lmvsc", n_clusters=4, column_groups=[2, 2], random_state=0),
        {"adapter__alpha": [0.1, 10.0]},
        cv=2,
    ).fit(table)
    assert set(search.best_params_) == {"adapter__alpha"}
    assert search.best_estimator_.adapter_.alpha == search.best_params_["adapter__alpha"]


def test_names_of_features_are_those_of_all_views() -> None:
    """One view after the other; without names there is no such attribute, also after an earlier fit."""
    frames = [pd.DataFrame(X, columns=[f"{name}_x", f"{name}_y"]) for name, X in zip("ab", VIEWS, strict=True)]
    clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(frames)
    assert clusterer.feature_names_in_.tolist() == ["a_x", "a_y", "b_x", "b_y"]
    assert clusterer.n_features_in_ == 4
    assert not hasattr(clusterer.fit(VIEWS), "feature_names_in_")
    assert not hasattr(clusterer.fit([frames[0], VIEWS[1]]), "feature_names_in_")


def test_settings_of_the_adapter_are_set_by_name() -> None:
    """For an adapter by name and for an instance; a given dict is not changed; an unknown setting is refused."""
    given = {"scale": "unit"}
    clusterer = AlignedClusterer("lmvsc", adapter_params=given, n_clusters=4)
    clusterer.set_params(adapter__alpha=3.0)
    assert (given, clusterer.adapter_params) == ({"scale": "unit"}, {"scale": "unit", "alpha": 3.0})
    assert clusterer.get_params()["adapter__alpha"] == 3.0
    assert clone(clusterer).fit(VIEWS).adapter_.alpha == 3.0
    instance = AlignedClusterer(get_adapter("lmvsc"), n_clusters=4).set_params(adapter__alpha=3.0)
    assert instance.fit(VIEWS).adapter_.alpha == 3.0
    both = AlignedClusterer(n_clusters=4).set_params(adapter="fmvacc", adapter__beta=2.0)
    assert (both.adapter, both.adapter_params) == ("fmvacc", {"beta": 2.0})
    with pytest.raises(AnchorAlignError, match="gamma"):
        AlignedClusterer("lmvsc", n_clusters=4).set_params(adapter__gamma=1.0).fit(VIEWS)
    with pytest.raises(ValueError, match="Invalid parameter 'number'"):
        AlignedClusterer("lmvsc").set_params(number=1)


@pytest.mark.parametrize(("memory", "kept"), [("1GB", True), ("9.2MB", False)])
def test_graphs_go_where_there_is_room(memory: str, kept: bool) -> None:
    """storage="auto" keeps graphs in memory, or in files; the labels are the same."""
    views = [np.tile(X, (20, 1)) for X in VIEWS]
    options: dict[str, Any] = {"n_clusters": 4, "n_anchors": 20, "random_state": 0}
    clusterer = AlignedClusterer("lmvsc", storage="auto", memory=memory, **options).fit(views)
    assert isinstance(clusterer.embedding_, np.memmap) is not kept
    np.testing.assert_array_equal(clusterer.labels_, AlignedClusterer("lmvsc", **options).fit(views).labels_)


def quality_of(views: Any, **options: Any) -> FitQuality:
    clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(views)
    return fit_quality(clusterer, views, draws=2, **options)


def test_the_view_that_disagrees_is_found() -> None:
    """A view of noise agrees with the others as by chance, and its own clusters are others; the clusters are stable."""
    noise = np.random.default_rng(0).normal(size=VIEWS[0].shape)
    quality = quality_of({"a": VIEWS[0], "b": VIEWS[1], "noise": noise})
    assert quality.names == ("a", "b", "noise")
    assert quality.agreement[0, 1] > 2 * quality.chance[0, 1]
    assert np.nanmax(quality.agreement[2]) < 1.5 * np.nanmax(quality.chance[2])
    alone = [value for value in quality.alone if value is not None]
    assert len(alone) == 3
    assert int(np.argmin(alone)) == 2
    assert min(quality.stability) > 0.9


def test_quality_of_a_sample_and_of_views_with_missing_samples() -> None:
    """At most so many samples are used; masks are obeyed; views of other sizes are refused."""
    quality = quality_of(VIEWS, sample=60)
    assert (len(quality.rows), quality.vectors.shape[0]) == (60, 60)
    holes = [X.copy() for X in VIEWS]
    holes[1][:40] = np.nan
    clusterer = AlignedClusterer("lmvsc", n_clusters=4, missing="nan", random_state=0).fit(holes)
    with_holes = fit_quality(clusterer, holes, draws=1)
    assert with_holes.agreement[0, 1] > with_holes.chance[0, 1]
    assert len(with_holes.stability) == 1
    with pytest.raises(InputError, match="fitted on 200 samples; got 5"):
        fit_quality(clusterer, [X[:5] for X in VIEWS])
