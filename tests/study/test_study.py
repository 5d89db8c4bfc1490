"""Studies: arms on the same anchors, seeds, grids, failures, data without labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor_align import AlignedClusterer, InputError, MultiViewData, UnknownNameError, get_adapter
from anchor_align.data import make_simulated
from anchor_align.metrics import acc
from anchor_align.study import ARMS, SCORES, DataSpec, Record, StudyProgress, StudyResult, compare

AWKWARD = str(Path(__file__).resolve().parents[1] / "awkward_plugin.py")


def awkward(data: Any = "simulated", **options: Any) -> StudyResult:
    return compare("awkward", data, plugins=[AWKWARD], n_anchors=8, **{"repeats": 2, **options})


def untimed(records: Sequence[Record]) -> list[Record]:
    return [replace(record, seconds=None) for record in records]


def test_arms_are_fits_of_the_estimator_with_the_same_seed() -> None:
    """Each arm of a run is what AlignedClusterer finds with the run's seed and that way of fusing."""
    result = compare("lmvsc", "simulated", n_anchors="k", repeats=2, seed=3)
    data = make_simulated(0)
    assert [record.arm for record in result.records] == [*ARMS, *ARMS]
    for record in result.records:
        clusterer = AlignedClusterer(
            "lmvsc", n_clusters=4, n_anchors=4, fusion=record.arm, random_state=record.seed
        ).fit(data.views)
        np.testing.assert_array_equal(clusterer.labels_, record.labels)
        assert record.scores is not None
        assert record.scores["acc"] == acc(data.labels, clusterer.labels_)
        assert set(record.scores) == set(SCORES)
        assert (record.objective is None) == (record.arm != "aligned")


@pytest.mark.slow
def test_seeds_depend_on_seed_data_and_repeat_only() -> None:
    """All adapters, settings and arms of a repeat share one seed; other data, repeats and studies have others."""
    data = {"a": make_simulated(0), "b": make_simulated(1), "a again": make_simulated(0)}
    options: dict[str, Any] = {"repeats": 3, "params": {"lmvsc.alpha": [1, 2]}, "n_anchors": ["k", "2k"]}
    seeds: dict[tuple[int, str, int], set[int]] = {}
    for seed in (0, 1):
        for record in compare(["lmvsc", "awkward"], data, plugins=[AWKWARD], seed=seed, **options).records:
            seeds.setdefault((seed, record.setting.dataset, record.repeat), set()).add(record.seed)
    assert all(len(each) == 1 for each in seeds.values())
    distinct = {next(iter(each)) for (_, name, _), each in seeds.items() if name != "a again"}
    assert len(distinct) == 12
    assert all(seeds[seed, "a", repeat] == seeds[seed, "a again", repeat] for seed in (0, 1) for repeat in range(3))


def test_grid_is_crossed_and_complete() -> None:
    """All three arms for every combination, in order; arms that do not depend on lam are the same for each value."""
    result = compare(
        ["lmvsc", "fmvacc"],
        "simulated",
        n_anchors=["k", 6],
        lam=[0, 1.0, np.inf],
        params={"fmvacc.beta": [1, 100], "scale": [None]},
        repeats=2,
    )
    settings = list(dict.fromkeys(record.setting for record in result.records))
    assert [(s.adapter, dict(s.params).get("beta"), s.n_anchors, s.lam) for s in settings] == [
        (adapter, beta, n_anchors, lam)
        for adapter, betas in (("lmvsc", [None]), ("fmvacc", [1, 100]))
        for beta in betas
        for n_anchors in (4, 6)
        for lam in (0.0, 1.0, np.inf)
    ]
    assert all(dict(setting.params)["scale"] is None for setting in settings)
    assert len(result.records) == len(settings) * 2 * 3
    for setting in settings:
        same = [r for r in result.records if r.setting == replace(setting, lam=0.0) and r.arm == "unaligned"]
        here = [r for r in result.records if r.setting == setting and r.arm == "unaligned"]
        assert [r.scores for r in same] == [r.scores for r in here]
    assert len(result.summaries) == len(settings)


def test_default_anchors_are_the_adapters_own() -> None:
    """Without a number the adapter suggests one; one that finds it on its own is asked once."""
    Z = [np.random.default_rng(v).dirichlet(np.ones(5), 30) for v in range(2)]
    graphs = MultiViewData(Z, np.arange(30) % 3, ["a", "b"])
    assert compare("fmvacc", graphs, repeats=1).records[0].setting.n_anchors == 6
    result = compare("precomputed", graphs, n_anchors=["k", "2k"], repeats=1)
    assert [record.setting.n_anchors for record in result.records] == [None] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adapters": "lmvcs"}, r"Unknown adapter 'lmvcs'.*Did you mean 'lmvsc'"),
        ({"params": {"bta": 1}}, r"Unknown setting of lmvsc 'bta'; known: 'alpha'"),
        ({"params": {"fmvacc.beta": 1}}, r"Unknown method of a setting 'fmvacc'; known: 'lmvsc'"),
        ({"params": {"alpha": []}}, r"no value of alpha"),
        ({"lam": [1, 1.0]}, r"lam 1.0 is given twice"),
        ({"lam": -1}, r"lam must be a number >= 0"),
        ({"n_anchors": "k2"}, r"n_anchors must be .* 'k2'"),
        ({"n_anchors": 0}, r"n_anchors must be .* >= 1"),
        ({"repeats": 0}, r"repeats must be .* >= 1"),
        ({"jobs": 0}, r"jobs must be .* >= 1"),
        ({"reference": 2}, r"reference 2 is out of range"),
        ({"reference": "first"}, r"Unknown reference 'first'"),
        ({"score": "accuracy"}, r"Unknown score 'accuracy'.*'acc'"),
        ({"footings": ["Best"]}, r"Unknown footing 'Best'.*Did you mean 'best'"),
        ({"data": []}, r"no data"),
        ({"data": ["simulated", "simulated"]}, r"Data 'simulated' is given 2 times"),
        ({"data": 3}, r"Expected data as a name, .* got int"),
    ],
)
def test_refused_before_anything_runs(options: dict[str, Any], message: str) -> None:
    """What makes no sense is said in one sentence, and nothing is computed."""
    reports: list[StudyProgress] = []
    with pytest.raises(InputError, match=message) as caught:
        compare(**{"adapters": "lmvsc", "data": "simulated", "callback": reports.append, **options})
    assert "\n" not in str(caught.value)
    assert reports == []


def test_data_that_cannot_be_used_name_data_and_view() -> None:
    """The data set's name comes before what is wrong with it."""
    good = make_simulated(0)
    bad = MultiViewData([good.views[0], np.full((200, 2), np.nan)], good.labels, ["left", "right"])
    with pytest.raises(InputError, match=r"Data 'mine': .*right.*NaN"):
        compare("lmvsc", {"mine": bad})
    with pytest.raises(InputError, match=r"Data 'mine': there are 3 labels for 200 samples"):
        compare("lmvsc", {"mine": replace(good, labels=np.arange(3))})
    with pytest.raises(InputError, match=r"Data 'mine': 300 clusters were asked for, but there are 200 samples"):
        compare("lmvsc", {"mine": DataSpec("x", data=good, n_clusters=300)})
    with pytest.raises(InputError, match=r"Data 'mine': 2 views have the names a, a"):
        compare("lmvsc", {"mine": replace(good, names=["a", "a"])})


def test_data_without_labels_are_clustered_but_not_scored() -> None:
    """The number of clusters must be given; labels are found, scores are not."""
    data = replace(make_simulated(0), labels=None)
    with pytest.raises(InputError, match=r"no labels .* --clusters \(n_clusters\)"):
        compare("lmvsc", {"mine": data})
    result = compare("lmvsc", {"mine": DataSpec("x", data=data, n_clusters=4)}, repeats=1)
    assert all(record.scores is None and record.status == "done" for record in result.records)
    assert all(len(np.unique(np.asarray(record.labels))) == 4 for record in result.records)
    assert not result.summaries[0].differences
    assert not result.data[0].has_labels


def test_one_failing_combination_leaves_the_others() -> None:
    """A run that fails says why, in one line; its neighbours are as if it were not there."""
    result = awkward(params={"mode": ["fine", "fail", "exit", "narrow"]})
    alone = awkward(params={"mode": "fine"})
    by_mode = {
        mode: [r for r in result.records if dict(r.setting.params)["mode"] == mode]
        for mode in ("fine", "fail", "exit", "narrow")
    }
    assert untimed(by_mode["fine"]) == untimed(alone.records)
    assert {record.reason for record in by_mode["fail"]} == {"ZeroDivisionError: nothing to divide by"}
    assert {record.reason for record in by_mode["exit"]} == {"SystemExit: gave up"}
    assert {(r.arm, r.status) for r in by_mode["narrow"]} == {
        ("unaligned", "done"),
        ("aligned", "done"),
        ("concat", "failed"),
    }
    assert result.n_failed == 6 + 6 + 2
    rows = {dict(row.setting.params)["mode"]: row for row in result.summaries if row.setting is not None}
    assert rows["fail"].failures == ("ZeroDivisionError: nothing to divide by",)
    assert rows["narrow"].differences["acc"].n == 2


def test_what_adapters_do_to_the_process_is_undone(capfd: pytest.CaptureFixture[str]) -> None:
    """Printing, the working directory and numpy's error state: nothing is left for the next run."""
    before = os.getcwd(), np.geterr()
    result = awkward(params={"mode": ["careless", "print"]})
    assert result.n_failed == 0
    assert (os.getcwd(), np.geterr()) == before
    assert "printed to stdout" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_result_does_not_depend_on_jobs(jobs: int) -> None:
    """Not even for an adapter that draws from the global generators."""
    options: dict[str, Any] = {"params": {"mode": ["sloppy", "fine"]}, "repeats": 3, "lam": [0.1, 1]}
    random_state = np.random.get_state(legacy=False)["state"]["pos"]  # noqa: NPY002
    first = awkward(**options)
    assert np.random.get_state(legacy=False)["state"]["pos"] == random_state  # noqa: NPY002
    again = awkward(jobs=jobs, **options)
    assert untimed(again.records) == untimed(first.records)
    assert all(
        (a.labels == b.labels).all() for a, b in zip(again.records, first.records, strict=True) if a.labels is not None
    )
    assert len({record.labels.tobytes() for record in first.records if record.labels is not None}) > 6


def test_warnings_are_kept_with_the_run() -> None:
    """Those meant for users, once each."""
    result = awkward(params={"mode": ["warn", "fine"]})
    assert [record.warnings for record in result.records] == [("anchors are few",)] * 6 + [()] * 6


def test_progress_counts_all_runs() -> None:
    """One report before and one after each draw; the last is complete."""
    reports: list[StudyProgress] = []
    awkward(params={"mode": ["fine", "fail"]}, callback=reports.append)
    assert [each.done for each in reports] == [0, 0, 3, 3, 6, 6, 9, 9, 12]
    assert {each.total for each in reports} == {12}
    assert "simulated awkward, 8 anchors, repeat 1" in {each.label for each in reports}
    assert sum(len(each.failures) for each in reports) == 6
    assert "ZeroDivisionError" in reports[-1].failures[0][1]


def test_showcases_are_runs_of_the_study() -> None:
    """The first repeat of every adapter on every data set that ran, with what the study found."""
    result = compare(
        ["lmvsc", "awkward"], "simulated", plugins=[AWKWARD], params={"mode": "fail"}, lam=[0, 0.1], repeats=2,
        pictures=True,
    )  # fmt: skip
    (showcase,) = result.showcases
    assert (showcase.setting.adapter, showcase.setting.lam) == ("lmvsc", 0.1)
    (record,) = [r for r in result.records if r.setting == showcase.setting and r.arm == "aligned" and r.repeat == 0]
    np.testing.assert_array_equal(showcase.clusterer.labels_, record.labels)
    assert record.scores is not None
    assert showcase.accuracy["aligned"] == record.scores["acc"]
    assert set(showcase.accuracy) == set(ARMS)


def test_settings_that_only_look_equal_are_told_apart() -> None:
    """True and 1 are two settings with rows of their own; 1 and 1.0 are one, given twice."""
    result = awkward(params={"seconds": [0, False]}, pictures=True)
    assert [(row.setting and repr(row.setting.params), row.arms["aligned"].n_done) for row in result.summaries] == [
        ("(('seconds', 0),)", 2),
        ("(('seconds', False),)", 2),
    ]
    with pytest.raises(InputError, match=r"value of seconds 1.0 is given twice"):
        awkward(params={"seconds": [1, 1.0]})


def test_labels_do_not_decide_the_anchors() -> None:
    """The same views get the same seeds with, without and with other labels, and in any precision that holds them."""
    data = make_simulated(0)
    views = [X.astype(np.float32) for X in data.views]
    versions = {
        "as it is": replace(data, views=views),
        "other labels": replace(data, views=views, labels=np.arange(200) % 4),
        "double": replace(data, views=[X.astype(np.float64) for X in views]),
    }
    unlabelled = DataSpec("x", "none", data=replace(data, views=views, labels=None), n_clusters=4)
    result = compare("lmvsc", {**versions, "none": unlabelled}, repeats=2)
    for repeat in range(2):
        assert len({record.seed for record in result.records if record.repeat == repeat}) == 1
    assert len({info.digest for info in result.data}) == 3


def test_an_adapter_that_cannot_suggest_a_number_fails_its_runs_only() -> None:
    """Planning goes on; settings that it refuses at once are an error in one line."""
    result = compare(["lmvsc", "awkward"], "simulated", plugins=[AWKWARD], repeats=1, params={"mode": "no default"})
    reasons = {record.setting.adapter: record.reason for record in result.records}
    assert reasons == {"lmvsc": "", "awkward": "RuntimeError: no idea"}


def test_a_picture_that_fails_costs_no_result() -> None:
    """The showcase is left out."""
    result = awkward(params={"mode": "moody"}, repeats=1, pictures=True)
    assert result.n_failed == 0
    assert result.showcases == ()


def test_inputs_are_not_modified() -> None:
    """Views and labels are as before."""
    data = make_simulated(0)
    copies = [X.copy() for X in data.views]
    compare(["lmvsc", "fmvacc", "sfmc"], {"mine": data}, repeats=1)
    assert all((copy == X).all() for X, copy in zip(data.views, copies, strict=True))


def test_adapter_of_the_result_names_its_origin() -> None:
    """A file by its path and content, ours by the package's version."""
    result = compare(["lmvsc", "awkward"], "simulated", plugins=[AWKWARD], repeats=1, params={"alpha": 1.0})
    ours, theirs = result.adapters
    assert (ours.distribution, theirs.distribution) == ("anchor-align", AWKWARD)
    assert theirs.version.startswith("sha256:")
    assert get_adapter("lmvsc").alpha == 1.0


def test_unknown_names_are_lookup_errors() -> None:
    """As everywhere in the package."""
    with pytest.raises(LookupError, match=r"Unknown adapter 'nothing'; known: .*'fmvacc', 'lmvsc'") as caught:
        compare("nothing", "simulated")
    assert isinstance(caught.value, UnknownNameError)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "jobs", "reason"),
    [
        ("base", 1, "Odd: odd"),
        ("base", 2, "Odd: odd"),
        ("cancelled", 1, "CancelledError"),
        ("unspeakable", 1, "Unspeakable: (Unspeakable that cannot be shown)"),
        ("interrupt", 2, "KeyboardInterrupt"),
    ],
)
def test_whatever_an_adapter_raises_is_a_failed_run(mode: str, jobs: int, reason: str) -> None:
    """Also what is no Exception, and what cannot be shown; in another process even what looks like Ctrl-C."""
    result = awkward(params={"mode": mode}, repeats=1, jobs=jobs)
    assert {record.reason for record in result.records} == {reason}


def test_adapters_cannot_write_to_data_that_were_read(tmp_path: Path) -> None:
    """Not even by asking for it: the other adapters see the data as they are."""
    np.savez(tmp_path / "mine.npz", a=np.arange(60.0).reshape(20, 3), b=np.ones((20, 2)), labels=np.arange(20) % 2)
    result = compare("awkward", tmp_path / "mine.npz", plugins=[AWKWARD], params={"mode": "scribble"}, repeats=1)
    assert {record.reason.split(":")[0] for record in result.records} == {"ValueError"}


def test_a_data_set_of_one_view_is_noted() -> None:
    """Somebody who gives each table as a data set of its own learns that nothing can be aligned, and what to do."""
    made = make_simulated(0)
    result = compare("lmvsc", {"alone": (made.views[:1], made.labels), "both": made}, n_anchors="k", repeats=1)
    alone, both = (data.notes for data in result.data)
    assert "There is one view only, so there is nothing to align; tables of one data set go into one folder." in alone
    assert not any("one view only" in note for note in both)
