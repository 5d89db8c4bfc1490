"""Methods and data as objects: instances, classes, functions and lists of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans

from anchor_align import InputError, InputTypeError, get_adapter
from anchor_align.data import make_simulated
from anchor_align.study import StudyResult, compare
from anchor_align_adapters.baselines.kmeans import SideBySideKMeans
from anchor_align_adapters.lmvsc import LMVSC

DATA = make_simulated(0)


def accuracies(result: StudyResult) -> dict[str, float]:
    return {row.method.name: row.summary.mean["acc"] for row in result.against if row.summary}


def test_instances_classes_and_names_are_the_same_method() -> None:
    """An adapter has the same runs however it is given."""
    by_name = compare("lmvsc", "simulated", n_anchors="k", repeats=2)
    for given in (get_adapter("lmvsc"), LMVSC, {"lmvsc": LMVSC()}):
        found = compare(given, "simulated", n_anchors="k", repeats=2)
        assert [r.scores for r in found.records] == [r.scores for r in by_name.records]


def test_a_dict_names_instances_of_one_class() -> None:
    """Two instances of a class need two names; rivals may have the name of an installed adapter."""
    given = {"mild": get_adapter("lmvsc", alpha=0.1), "strong": get_adapter("lmvsc", alpha=10.0)}
    result = compare(given, "simulated", n_anchors="k", repeats=1, against="lmvsc")
    assert [row.method.name for row in result.against] == ["mild", "strong", "lmvsc"]
    with pytest.raises(InputError, match=r"'lmvsc' is given twice; a dict gives each its name"):
        compare([get_adapter("lmvsc"), get_adapter("lmvsc", alpha=2.0)], "simulated")


def test_names_and_objects_can_be_mixed() -> None:
    """In a list with a dict, or in a dict under their own names; another name for a name is refused."""
    made = KMeans(n_init=3)
    options: dict[str, Any] = {"n_anchors": "k", "repeats": 1}
    for rivals in (["kmeans", {"mine": made}], {"kmeans": "kmeans", "mine": made}):
        result = compare("lmvsc", "simulated", against=rivals, **options)
        assert list(accuracies(result)) == ["lmvsc", "kmeans", "mine"]
    with pytest.raises(InputError, match=r"The rival 'km' is the name 'kmeans'; .*: \['kmeans', \{'km': ...\}\]"):
        compare("lmvsc", "simulated", against={"km": "kmeans"}, **options)


def test_functions_and_clusterers_are_methods() -> None:
    """A function that makes graphs is an adapter; one that makes labels, and a clusterer or its class, a baseline."""

    def memberships(views: Any, *, n_clusters: int, n_anchors: int, random_state: int) -> Any:
        fits = [KMeans(n_anchors, n_init=1, random_state=random_state + v).fit(X) for v, X in enumerate(views)]
        return [np.eye(n_anchors)[fit.labels_] for fit in fits]

    def first_view(views: Any, *, n_clusters: int, random_state: int) -> Any:
        return KMeans(n_clusters, n_init=3, random_state=random_state).fit_predict(views[0])

    rivals = [first_view, KMeans(n_init=3), AgglomerativeClustering]
    result = compare(memberships, "simulated", n_anchors="k", repeats=1, against=rivals)
    assert list(accuracies(result)) == ["memberships", "first_view", "kmeans", "agglomerativeclustering"]
    assert accuracies(result)["kmeans"] == 1.0


def test_arrays_are_data() -> None:
    """A list of arrays has the views of one data set, a pair has labels, a function returns data."""
    pair = DATA.views, DATA.labels
    options: dict[str, Any] = {"n_anchors": "k", "repeats": 1}
    expected = [r.scores for r in compare("lmvsc", DATA, **options).records]
    for data in (pair, {"mine": pair}, [pair], lambda: pair):
        assert [r.scores for r in compare("lmvsc", data, **options).records] == expected
    with pytest.raises(InputError, match="no labels to count the clusters by"):
        compare("lmvsc", DATA.views, **options)


def test_what_is_no_method_or_data_is_refused() -> None:
    """The error says what was expected."""
    with pytest.raises(InputTypeError, match="is a baseline, without anchor graphs"):
        compare(SideBySideKMeans, "simulated")
    with pytest.raises(InputTypeError, match="Expected an adapter by name"):
        compare(3, "simulated")
    with pytest.raises(InputTypeError, match="Expected data as a name"):
        compare("lmvsc", 3)


def test_objects_of_this_process_only_are_refused_for_other_processes() -> None:
    """A function inside a function cannot be sent; the error says so before anything runs."""

    def mine(views: Any, *, n_clusters: int, random_state: int) -> Any:
        return np.zeros(len(views[0]), dtype=int)

    with pytest.raises(InputTypeError, match="'mine' is an object that only this process has"):
        compare("lmvsc", "simulated", against=mine, jobs=2)


def test_a_result_shows_itself() -> None:
    """One line, a table for notebooks, and a frame with a row for every record."""
    result = compare("lmvsc", {"<b>": DATA}, n_anchors="k", repeats=2, against="kmeans")
    assert repr(result) == "<StudyResult compare: lmvsc against kmeans on <b>; 8 runs>"
    html = result._repr_html_()
    assert "<b>" not in html
    assert html.count("<tr>") == 1 + 3 + 1
    frame = result.to_frame()
    assert len(frame) == 8
    assert list(frame.adapter.unique()) == ["lmvsc", "kmeans"]
    assert frame[frame.arm == "baseline"].lam.isna().all()
    assert frame.acc.between(0, 1).all()
