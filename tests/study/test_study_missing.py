"""Studies of views as they are: missing and dropped samples, weights, numbers of anchors by view."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor_align import AlignedClusterer, InputError, MultiViewData
from anchor_align.data import make_simulated
from anchor_align.report import answer, render, write_results
from anchor_align.study import Record, StudyProgress, StudyResult, compare, drop_mask

SIMULATED = make_simulated(0)


def untimed(records: Sequence[Record]) -> list[Record]:
    return [replace(record, seconds=None) for record in records]


def three_views() -> MultiViewData:
    """A third view beside the two that are there."""
    noise = np.random.default_rng(3).standard_normal((200, 2))
    return MultiViewData([*SIMULATED.views, SIMULATED.views[0] + 0.2 * noise], SIMULATED.labels, ["a", "b", "c"])


def with_holes() -> tuple[MultiViewData, Any]:
    """Three views that lack samples, as rows of NaN, and the mask."""
    data = three_views()
    mask = drop_mask(3, 200, 0.2, seed=7)
    holes = [np.where(seen[:, None], X, np.nan) for seen, X in zip(mask, data.views, strict=True)]
    return replace(data, views=holes), mask


def study(**options: Any) -> StudyResult:
    return compare(**{"adapters": "lmvsc", "data": {"mine": three_views()}, "repeats": 2, "n_anchors": "k", **options})


def assert_fits(
    result: StudyResult, mask_of: Any = lambda seed: None, data: MultiViewData | None = None, **options: Any
) -> None:
    """Every arm is what the estimator finds with the run's seed."""
    views = (data or three_views()).views
    for record in result.records:
        assert record.reason == ""
        clusterer = AlignedClusterer("lmvsc", n_clusters=4, fusion=record.arm, random_state=record.seed, **options)
        clusterer.fit(dict(zip("abc", views, strict=True)), mask=mask_of(record.seed))
        np.testing.assert_array_equal(clusterer.labels_, record.labels)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9])
def test_a_dropped_sample_stays_in_some_view(rate: float) -> None:
    """Views lose as many samples as the rate says; a higher rate drops what a lower one drops, and more."""
    mask = drop_mask(4, 5000, rate, seed=1)
    assert mask.any(axis=0).all()
    lost_by_all = rate**4 / 4
    np.testing.assert_allclose(1 - mask.mean(axis=1), rate - lost_by_all, atol=0.02)
    assert not (drop_mask(4, 5000, 0.95, seed=1) & ~mask).any()
    assert (drop_mask(4, 5000, rate, seed=2) == mask).all() == (rate == 0)


def test_dropping_from_views_that_lack_samples() -> None:
    """Nobody gets a sample back, and every sample stays in a view that had it."""
    had = drop_mask(3, 500, 0.5, seed=0)
    left = drop_mask(3, 500, 0.5, seed=1, mask=had)
    assert not (left & ~had).any()
    assert left.any(axis=0).all()
    assert left.sum() < had.sum()


def test_dropped_samples_are_a_mask_of_the_run() -> None:
    """The same for all arms of a repeat, another for the next; all samples are clustered."""
    result = study(drop=0.3)
    assert_fits(result, lambda seed: drop_mask(3, 200, 0.3, seed), n_anchors=4)
    assert result.options == result.records[0].setting.options == (("drop", 0.3),)
    assert study(drop=0.0).records[0].setting.options == ()


def test_rows_of_nan_are_samples_that_are_not_there() -> None:
    """As with the mask; how many is said in the notes; without the option they are refused."""
    data, mask = with_holes()
    with pytest.raises(InputError, match=r"Data 'mine': View a has NaN"):
        study(data={"mine": data})
    result = study(data={"mine": data}, missing="nan")
    assert_fits(result, lambda seed: mask, n_anchors=4)
    lacking = 200 - mask.sum(axis=1)
    expected = ", ".join(f"{name!r} {count}" for name, count in zip("abc", lacking, strict=True))
    assert result.data[0].notes[-1] == f"Of 200 samples, views lack: {expected}."


def test_missing_and_dropped_together() -> None:
    """What is dropped is dropped from what is there."""
    data, mask = with_holes()
    result = study(data={"mine": data}, missing="nan", drop=0.2, repeats=1)
    assert_fits(result, lambda seed: drop_mask(3, 200, 0.2, seed, mask=mask), n_anchors=4)


def test_data_without_holes_are_the_same_with_missing() -> None:
    """The option says how data are read; it is no part of a run's identity."""
    plain, as_nan = study(), study(missing="nan")
    assert [r.scores for r in plain.records] == [r.scores for r in as_nan.records]


@pytest.mark.parametrize("weights", ["auto", (1.0, 2.0, 0.5)])
def test_weights_are_those_of_both_means(weights: Any) -> None:
    """Of the unaligned arm as well as the aligned one; concat has none."""
    assert_fits(study(weights=weights), weights=weights, n_anchors=4)


@pytest.mark.parametrize("n_anchors", ["4,8,6", [["k", "2k", 6]], [(4, 8, 6)]])
@pytest.mark.parametrize("options", [{}, {"reference": 0}, {"reference": 0, "many_to_one": True}])
def test_numbers_of_anchors_by_view(n_anchors: Any, options: dict[str, Any]) -> None:
    """As a text or a list inside the list; multiples of the number of clusters are allowed."""
    result = study(n_anchors=n_anchors, repeats=1, **options)
    assert {record.setting.n_anchors for record in result.records} == {(4, 8, 6)}
    assert_fits(result, n_anchors=[4, 8, 6], **options)


def test_equal_numbers_by_view_are_one_number() -> None:
    """4,4,4 is 4, and is not run twice."""
    result = study(n_anchors=["k", "k,k,4", "4,5,6"], repeats=1)
    assert [row.setting and row.setting.n_anchors for row in result.summaries] == [4, (4, 5, 6)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": 1}, r"drop must be a number >= 0 and < 1, got 1"),
        ({"drop": -0.1}, r"drop must be a finite number >= 0, got -0.1"),
        ({"drop": "half"}, r"drop must be a finite number >= 0, got 'half'"),
        ({"missing": "none"}, r"Unknown missing 'none'"),
        ({"weights": "equal"}, r"weights must be 'auto' or a number for each view, got 'equal'"),
        ({"weights": 3}, r"weights must be a list of numbers"),
        ({"weights": [1, 2]}, r"Data 'mine': got 2 weights for 3 views"),
        ({"weights": [0, 0, 0]}, r"not all zero"),
        ({"weights": [1, -1, 0]}, r">= 0"),
        ({"many_to_one": 1}, r"many_to_one must be True or False"),
        ({"n_anchors": "4,5"}, r"Data 'mine': n_anchors has 2 numbers for 3 views"),
        ({"n_anchors": "4,,5"}, r"n_anchors must be a whole number .* got ''"),
        ({"n_anchors": [[]]}, r"n_anchors has an empty list"),
        ({"n_anchors": ["4,5,6", "4,5,6"]}, r"number of anchors '4,5,6' is given twice"),
        ({"n_anchors": "8,9,8", "adapters": "sfmc"}, r"Data 'mine': Adapter 'sfmc' needs the same number of anchors"),
    ],
)
def test_refused_before_anything_runs(options: dict[str, Any], message: str) -> None:
    """In one sentence."""
    reports: list[StudyProgress] = []
    with pytest.raises(InputError, match=message) as caught:
        study(callback=reports.append, **options)
    assert "\n" not in str(caught.value)
    assert reports == []


def recomputed(folder: Path, **options: Any) -> int:
    reports: list[StudyProgress] = []
    study(cache=folder, callback=reports.append, **options)
    return reports[-1].total - reports[-1].kept


@pytest.mark.parametrize(
    ("options", "runs"),
    [
        ({"drop": 0.3}, 6),
        ({"weights": "auto"}, 4),
        ({"weights": [1, 1, 1]}, 4),
        ({"many_to_one": True}, 2),
        ({"missing": "nan"}, 0),
        ({"n_anchors": "4,5,6"}, 6),
        ({"n_anchors": "k,k,k"}, 0),
    ],
)
def test_what_matters_to_an_arm_is_in_its_key(tmp_path: Path, options: dict[str, Any], runs: int) -> None:
    """Weights are no matter of concat, many_to_one of the aligned arm alone; found again they are not computed."""
    study(cache=tmp_path)
    assert recomputed(tmp_path, **options) == runs
    assert recomputed(tmp_path, **options) == 0
    assert recomputed(tmp_path) == 0


@pytest.mark.slow
def test_result_does_not_depend_on_jobs() -> None:
    """Data in memory with holes, dropped samples and all."""
    data, _ = with_holes()
    options: dict[str, Any] = {
        "data": {"mine": data}, "missing": "nan", "drop": 0.2, "weights": "auto", "n_anchors": ["4,6,5", "k"],
    }  # fmt: skip
    one, two = study(**options), study(jobs=2, **options)
    assert untimed(one.records) == untimed(two.records)
    for form in ("table", "csv", "md", "latex"):
        assert render(one, form) == render(two, form)


def test_runs_that_share_anchors_share_what_was_dropped() -> None:
    """Settings that look for k-means anchors once do so on the samples that are left."""
    both = study(drop=0.3, params={"alpha": [1, 2]})
    alone = study(drop=0.3, params={"alpha": 2})
    assert untimed(both.records[6:]) == untimed(alone.records)


def test_default_numbers_are_those_for_samples_that_are_left() -> None:
    """SFMC takes a fraction of the samples that are in all views: of their mean number if samples are dropped."""
    drop = compare("sfmc", {"mine": three_views()}, drop=0.4, repeats=1)
    assert drop.records[0].setting.n_anchors == int(0.5 * int(200 * 0.6**3))
    assert all(record.reason == "" for record in drop.records)
    data, mask = with_holes()
    holes = compare("sfmc", {"mine": data}, missing="nan", repeats=1)
    assert holes.records[0].setting.n_anchors == int(0.5 * mask.all(axis=0).sum())
    # 200 * 0.1**3 is less than one sample; the plan has at least one.
    few = compare("sfmc", {"mine": three_views()}, drop=0.9, repeats=1)
    assert isinstance(few.records[0].setting.n_anchors, int)


@pytest.mark.slow
def test_all_forms_of_the_result_say_so(tmp_path: Path) -> None:
    """Tables, CSV, JSON, the answer; figures are drawn of views that lack samples and anchors."""
    options: dict[str, Any] = {"drop": 0.25, "weights": [1, 2, 0.5], "reference": 0, "many_to_one": True}
    result = study(n_anchors=["4,6,5", "k"], repeats=2, pictures=True, **options)
    assert answer(result).endswith("All with drop 0.25, weights 1,2,0.5, many to one.")
    for form in ("table", "md", "latex"):
        text = " ".join(render(result, form).split())
        assert "drop 0.25; weights 1,2,0.5; many to one" in text
        assert "4,6,5" in text
    head, first, *_ = render(result, "csv").splitlines()
    assert head.startswith("dataset,adapter,params,n_anchors,lam,drop,weights,many_to_one,arm,")
    assert first.startswith('mine,lmvsc,,"4,6,5",0.1,0.25,"1.0,2.0,0.5",True,unaligned,')
    shown = json.loads(render(result, "json"))
    for part in (shown["study"], shown["records"][0], shown["summary"][0]):
        assert (part["drop"], part["weights"], part["many_to_one"]) == (0.25, [1.0, 2.0, 0.5], True)
    assert shown["records"][0]["n_anchors"] == [4, 6, 5]
    (showcase,) = result.showcases
    record = next(r for r in result.records if r.setting == showcase.setting and r.arm == "aligned")
    np.testing.assert_array_equal(showcase.clusterer.labels_, record.labels)
    write_results(result, tmp_path)
    assert len(list((tmp_path / "figures").glob("*.png"))) == 5


@pytest.mark.slow
def test_pictures_of_weights_by_agreement() -> None:
    """Unaligned graphs have weights of their own."""
    data, _ = with_holes()
    result = study(data={"mine": data}, missing="nan", weights="auto", repeats=1, pictures=True)
    (showcase,) = result.showcases
    from anchor_align.report import plot_graphs, plot_permutations

    assert len(plot_graphs(showcase.clusterer).axes) >= 2
    assert len(plot_permutations(showcase.clusterer).axes) == 3


def test_nothing_new_is_said_of_studies_as_before() -> None:
    """Neither in JSON nor in tables."""
    result = study(repeats=1)
    shown = json.loads(render(result, "json"))
    for part in (shown["study"], shown["records"][0], shown["summary"][0]):
        assert not {"drop", "weights", "many_to_one", "missing", "options"} & set(part)
    assert "All with" not in answer(result)
