"""Settings chosen without labels: the guard, the default, costs, progress, errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from anchor_align import (
    Adapter,
    AlignedClusterer,
    AnchorGraphs,
    Candidate,
    ChoiceProgress,
    InputError,
    choice_cost,
    choose,
    cluster_number_curves,
    get_adapter,
)
from anchor_align.clustering import DrawCriteria, chosen_setting
from anchor_align.data import make_simulated
from anchor_align.errors import InputTypeError, NotEnoughMemoryError, UnknownNameError
from anchor_align.metrics import acc

VIEWS = make_simulated(0).views
GRID = {"adapter": "lmvsc", "scale": ["unit", "standard"], "fusion": ["aligned", "concat"]}


class Outliers(Adapter):
    """Puts all samples but four on one anchor, in all views alike."""

    name = "outliers"

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """The same degenerate graph for every view."""
        Z = np.tile(np.eye(n_anchors)[:1], (views[0].shape[0], 1))
        Z[:4] = np.eye(n_anchors)[1:5]
        return AnchorGraphs([Z] * len(views))


class Broken(Adapter):
    """Raises an error of its own."""

    name = "broken"

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """No graphs."""
        raise RuntimeError("no graphs today")


def test_the_clusterer_is_fitted_on_all_samples_with_the_chosen_setting() -> None:
    """The result of a choice on a sample is that of an ordinary fit of the chosen candidate."""
    choice = choose(VIEWS, 4, GRID, sample=100, random_state=3)
    assert choice.cost.n_samples == 100
    again = AlignedClusterer(n_clusters=4, random_state=3, **choice.candidate.settings(4)).fit(VIEWS)
    assert np.array_equal(choice.clusterer.labels_, again.labels_)
    assert choice.clusterer.labels_.shape == (200,)
    assert choice.results[0].candidate == choice.candidate
    assert len(choice.results) == 4


@pytest.mark.slow
def test_the_same_seed_gives_the_same_choice() -> None:
    """Scores of all candidates are equal, whatever came before."""
    first, second = (choose(VIEWS, 4, GRID, draws=2, random_state=5).results for _ in range(2))
    assert first == second
    other = choose(VIEWS, 4, GRID, random_state=6, sample=60).results
    assert {each.candidate: each.agreement for each in first} != {each.candidate: each.agreement for each in other}


def test_degenerate_graphs_are_not_chosen() -> None:
    """Graphs with one giant cluster agree perfectly and never change; nevertheless they lose."""
    choice = choose(VIEWS, 4, [Candidate("lmvsc"), Candidate(Outliers())], random_state=0)
    worst = choice.results[1]
    assert worst.agreement == pytest.approx(1.0)
    assert worst.degenerate
    assert worst.score == 0.0
    assert choice.candidate == Candidate("lmvsc")
    # Also if they are the default.
    assert choose(VIEWS, 4, [Candidate(Outliers()), Candidate("lmvsc")], random_state=0).candidate.adapter == "lmvsc"


def test_the_default_stays_unless_another_is_clearly_better() -> None:
    """A tenth is the margin; equal scores keep the first; negative stability counts as zero."""
    assert chosen_setting([0.5, 0.5]) == chosen_setting([0.5, 0.549]) == chosen_setting([0.0, 0.0]) == 0
    assert chosen_setting([0.5, 0.551]) == 1
    assert DrawCriteria(0.9, 0.9, 0.9, -0.1).score == 0.0
    assert DrawCriteria(0.5, 0.9, 0.8, None).score == pytest.approx(0.4)


def test_cost_is_known_before_the_first_fit() -> None:
    """The first call of the callback has the cost and no fit done; the last one has all of them."""
    calls: list[ChoiceProgress] = []
    choice = choose(VIEWS, 4, GRID, draws=2, random_state=0, callback=calls.append)
    assert (calls[0].done, calls[0].candidate) == (0, None)
    assert calls[-1].done == calls[0].cost.n_fits == 8
    cost = choice_cost(VIEWS, 4, GRID, draws=2)
    assert cost == calls[0].cost == choice.cost
    assert (cost.n_graphs, cost.n_candidates, cost.n_total) == (4, 4, 200)


@pytest.mark.slow
def test_candidates_of_a_grid() -> None:
    """Every adapter gets the settings that it has; numbers of anchors may be multiples of the number of clusters."""
    grid = {"adapter": ["lmvsc", "fmvacc"], "alpha": [1, 10], "n_anchors": ["k", 10]}
    shown = [repr(each.candidate) for each in choose(VIEWS, 4, grid, draws=1, random_state=0).results]
    assert sorted(shown) == [
        "Candidate('fmvacc', n_anchors='k')",
        "Candidate('fmvacc', n_anchors=10)",
        "Candidate('lmvsc', alpha=1, n_anchors='k')",
        "Candidate('lmvsc', alpha=1, n_anchors=10)",
        "Candidate('lmvsc', alpha=10, n_anchors='k')",
        "Candidate('lmvsc', alpha=10, n_anchors=10)",
    ]


def test_a_candidate_that_fails_has_the_reason() -> None:
    """Others are compared as if it were not there; if all fail, the error has the first reason."""
    result = choose(VIEWS, 4, [Candidate(Broken()), Candidate("lmvsc")], random_state=0).results
    assert [each.reason for each in result] == ["", "RuntimeError: no graphs today"]
    with pytest.raises(InputError, match=r"No candidate could be fitted\. .*no graphs today"):
        choose(VIEWS, 4, [Candidate(Broken())])
    rotated = [Candidate("sfmc", fusion="rotated"), Candidate("lmvsc", fusion="rotated")]
    assert "has its own clustering step" in choose(VIEWS, 4, rotated, random_state=0, draws=1).results[1].reason


@pytest.mark.slow
def test_sparse_views_and_missing_samples() -> None:
    """Sparse views give the choice of dense ones; with a mask the adapters that cannot use it fail with the reason."""
    candidates = [Candidate("local", n_anchors=12), Candidate("local", {"scale": None}, n_anchors=12)]
    dense = choose(VIEWS, 4, candidates, random_state=0)
    sparse = choose([sp.csr_array(X) for X in VIEWS], 4, candidates, random_state=0)
    assert [each.candidate for each in dense.results] == [each.candidate for each in sparse.results]
    mask = np.ones((2, 200), dtype=bool)
    mask[0, ::4] = False
    found = choose(VIEWS, 4, [*candidates, Candidate(Outliers())], mask=mask, sample=150, random_state=0)
    assert found.clusterer.mask_ is not None
    assert "learn_anchors" in found.results[-1].reason


def test_a_table_for_people() -> None:
    """A frame has a row for each candidate, and texts are short."""
    pytest.importorskip("pandas")
    choice = choose(VIEWS, 4, GRID, draws=2, random_state=0)
    frame = choice.to_frame()
    assert frame["fusion"][0] == choice.candidate.fusion
    assert (frame["score"].round(12) == (frame["agreement"] * frame["stability"] * frame["evenness"]).round(12)).all()
    assert repr(choice) == f"Choice({choice.candidate!r}, 1 of 4)"
    assert all(len(repr(each)) < 100 for each in choice.results)


@pytest.mark.slow
def test_auto_is_a_choice_from_a_short_list() -> None:
    """Clusters that differ by length only are found, because another scale than unit rows is chosen."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=300)
    directions = [rng.normal(size=(1, 5)) for _ in range(2)]
    views = [(labels[:, None] + 1) * each + 0.1 * rng.normal(size=(300, 5)) for each in directions]
    clusterer = AlignedClusterer("auto", n_clusters=3, random_state=0).fit(views)
    assert acc(labels, clusterer.labels_) > 0.97
    assert clusterer.candidates_ is not None
    assert clusterer.candidates_[0].candidate.make_adapter().get_params() == clusterer.adapter_.get_params()
    unit = AlignedClusterer("local", n_clusters=3, adapter_params={"scale": "unit"}, random_state=0)
    assert acc(labels, unit.fit_predict(views)) < 0.9
    assert np.array_equal(clusterer.predict([X[:9] for X in views]), clusterer.labels_[:9])
    assert AlignedClusterer("lmvsc", n_clusters=3).fit(views).candidates_ is None


def test_views_may_be_a_generator() -> None:
    """Wherever settings are chosen, as in any fit; nothing is read twice."""
    expected = choose(VIEWS, 4, GRID, random_state=0, draws=1)
    found = choose((X for X in VIEWS), 4, GRID, random_state=0, draws=1)
    assert repr(found.results) == repr(expected.results)
    np.testing.assert_array_equal(found.clusterer.labels_, expected.clusterer.labels_)
    auto = AlignedClusterer("auto", n_clusters=4, random_state=0)
    np.testing.assert_array_equal(auto.fit_predict(X for X in VIEWS), auto.fit_predict(VIEWS))


def test_a_refit_that_fails_changes_no_attribute() -> None:
    """All attributes are those of one fit, also if the failure comes after a choice of settings."""
    fitted = AlignedClusterer(n_clusters=4, random_state=0).fit(VIEWS)
    before = dict(vars(fitted.set_params(adapter="auto", memory=1000)))
    with pytest.raises(NotEnoughMemoryError):
        fitted.fit([X[:50] for X in VIEWS])
    assert vars(fitted) == before


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"views": VIEWS[:1]}, InputError, "expected two views or more, got 1"),
        ({"candidates": []}, InputError, "Got no candidate"),
        ({"candidates": "lmvsc"}, InputTypeError, "list of Candidate or a dict"),
        ({"candidates": ["lmvsc"]}, InputTypeError, "got a list with 'lmvsc'"),
        ({"candidates": {"scale": "unit"}}, InputError, "needs the adapters"),
        ({"candidates": {"adapter": "lmvsc", "beta": 1}}, UnknownNameError, "Unknown setting of lmvsc 'beta'"),
        ({"candidates": {"adapter": "lmvs"}}, UnknownNameError, "Did you mean 'lmvsc'"),
        ({"draws": 0}, InputError, "draws must be a whole number >= 1, got 0"),
        ({"sample": 3}, InputError, "sample of 3 is too small for 4 clusters"),
        ({"wieghts": "auto"}, UnknownNameError, "Did you mean 'weights'"),
        ({"callback": 1}, InputTypeError, "callback must be callable"),
    ],
)
def test_wrong_input_is_one_sentence(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    """Errors name what was given and what is expected."""
    given = {"views": VIEWS, "n_clusters": 4, "candidates": GRID, **arguments}
    with pytest.raises(error, match=message) as caught:
        choose(**given)
    assert "\n" not in str(caught.value)


def test_wrong_candidates_are_refused_when_they_are_made() -> None:
    """A candidate that can never work is no candidate."""
    with pytest.raises(InputTypeError, match="adapter must be a name or an instance"):
        Candidate(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="n_anchors must be a whole number"):
        Candidate("lmvsc", n_anchors="many")
    for wrong in (3, "scale", {3: 4}, [("scale", "unit")], ("scale",), np.zeros((2, 2))):
        with pytest.raises(InputTypeError, match="Settings of an adapter must be a dict"):
            Candidate("lmvsc", wrong)  # type: ignore[arg-type]
        with pytest.raises(InputTypeError, match="Settings of an adapter must be a dict"):
            cluster_number_curves(VIEWS, [2, 3], adapter_params=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="given by name"):
        Candidate(get_adapter("lmvsc"), {"alpha": 1})
    with pytest.raises(InputError, match="adapter_params"):
        AlignedClusterer("auto", adapter_params={"scale": "unit"}, n_clusters=4).fit(VIEWS)
