"""Rivals in a study: baselines, adapters and arms on the same data and seeds, differences, ranks and failures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor_align import InputError, NotEnoughMemoryError, UnknownNameError, as_baseline, get_baseline
from anchor_align.data import make_simulated
from anchor_align.metrics import acc
from anchor_align.study import (
    BASELINE,
    DONE,
    FAILED,
    NO_MEMORY,
    ArmSummary,
    Rival,
    RivalSummary,
    Setting,
    StudyProgress,
    StudyResult,
    average_ranks,
    compare,
    paired_difference,
)
from anchor_align.study._sign_flips import holm

RIVALS = ["kmeans", "local", "fmvacc:concat", "lmvsc:unaligned"]


def small(**options: Any) -> StudyResult:
    return compare("lmvsc", "simulated", **{"n_anchors": "k", "repeats": 2, **options})


def test_a_baseline_is_what_it_finds_with_the_seed_of_the_repeat() -> None:
    """Runs of a baseline have the seed of the adapters' runs, and are fits with that seed."""
    result = small(against="kmeans", params={"kmeans.n_init": 2}, seed=4)
    data = make_simulated(0)
    seeds = {record.repeat: record.seed for record in result.records}
    assert [record.arm for record in result.rival_records] == [BASELINE, BASELINE]
    for record in result.rival_records:
        assert record.seed == seeds[record.repeat]
        found = get_baseline("kmeans", n_init=2).fit_predict(data.views, n_clusters=4, random_state=record.seed)
        assert record.scores is not None
        assert record.scores["acc"] == acc(data.labels, found)
        assert record.seconds is not None


def test_every_method_has_a_row_and_only_new_arms_are_run() -> None:
    """Adapters come first; an arm that the study has anyway is not run again."""
    result = small(against=RIVALS)
    assert [row.method.name for row in result.against] == ["lmvsc", *RIVALS]
    assert {(r.setting.adapter, r.arm) for r in result.rival_records} == {
        ("kmeans", BASELINE),
        ("local", "aligned"),
        ("fmvacc", "concat"),
    }
    assert not result.against[0].differences
    alone = small()
    assert [replace(r, seconds=None) for r in result.records] == [replace(r, seconds=None) for r in alone.records]


def test_rivals_do_not_change_with_the_company() -> None:
    """A rival has the same scores as when it is an adapter of its own study."""
    rival = next(row for row in small(against="fmvacc:concat").against if row.method.method == "fmvacc")
    own = compare("fmvacc", "simulated", n_anchors="k", repeats=2).summaries[0].arms["concat"]
    assert rival.summary is not None
    assert rival.summary.mean == own.mean


def test_differences_are_paired_and_corrected_over_the_rows() -> None:
    """Each p is that of the paired test, corrected by Holm for all data sets and rivals of the table."""
    data = {"a": make_simulated(0), "b": make_simulated(1)}
    result = compare("lmvsc", data, n_anchors="k", repeats=7, against=["local", "lmvsc:unaligned"])
    rows = [row for row in result.against if "acc" in row.differences]
    assert len(rows) == 4
    raw = []
    for row in rows:
        scores = [
            [
                record.scores["acc"]
                for record in result.all_records
                if (record.setting.dataset, record.setting.adapter, record.arm) == (row.dataset, method, arm)
                and record.scores is not None
            ]
            for method, arm in (("lmvsc", "aligned"), (row.method.method, row.method.arm))
        ]
        found = paired_difference(*scores)
        assert row.differences["acc"].mean == found.mean
        assert row.differences["acc"].arms == ("lmvsc", row.method.name)
        raw.append(found.p)
    tested = [p for p in raw if p is not None]
    corrected = [p for p, _ in holm(tested)]
    assert [row.differences["acc"].p for row in rows if row.differences["acc"].p is not None] == corrected


def test_finished_baselines_are_kept(tmp_path: Path) -> None:
    """The second study computes nothing; other settings of the baseline are other runs."""
    reports: list[StudyProgress] = []
    first = small(against="kmeans", cache=tmp_path / "cache")
    second = small(against="kmeans", cache=tmp_path / "cache", callback=reports.append)
    assert reports[-1].kept == reports[-1].total == 8
    assert second.rival_records == first.rival_records
    small(against="kmeans", params={"kmeans.n_init": 3}, cache=tmp_path / "cache", callback=reports.append)
    assert reports[-1].kept == 6


@pytest.mark.slow
def test_other_processes_change_nothing() -> None:
    """The same records with two processes, also for methods that are given as objects."""
    rivals = ["kmeans", "fmvacc:concat", get_baseline("rmkm", n_init=2)]
    here, there = (small(against=rivals, jobs=jobs).rival_records for jobs in (1, 2))
    assert [replace(r, seconds=None) for r in here] == [replace(r, seconds=None) for r in there]


def test_too_little_memory_is_a_row_with_a_reason() -> None:
    """A baseline that refuses is reported with its reason; the others go on."""
    result = small(against=["amgl", "kmeans"], params={"amgl.memory": 1000})
    refused, fine = result.against[1:]
    assert (refused.status, fine.status) == (NO_MEMORY, DONE)
    assert "memory" in refused.reason
    assert refused.summary is not None
    assert refused.summary.n_failed == 2
    assert not refused.differences
    assert result.n_failed == 2


def test_a_function_that_runs_out_of_memory_has_the_same_status() -> None:
    """The status is that of the error, not of its wording."""

    def greedy(views: Any, *, n_clusters: int, random_state: int) -> Any:
        raise NotEnoughMemoryError("No.") if random_state % 2 else MemoryError

    assert small(against=greedy).against[1].status == NO_MEMORY


def test_baselines_refuse_missing_samples() -> None:
    """Missing samples are a failed row of the baseline; adapters run."""
    result = small(against="kmeans", drop=0.2)
    assert result.against[1].status == FAILED
    assert "samples are missing in some view" in result.against[1].reason
    assert result.against[0].status == DONE


def test_the_best_setting_of_a_rival_is_chosen_like_that_of_an_adapter() -> None:
    """On the footing "best" each method is at the setting with the highest mean; "fixed" has the first one."""
    result = small(against="kmeans", params={"kmeans.scale": [None, "spread"]}, footings=["fixed", "best"])
    fixed, best = (row.summary for row in result.against if row.method.name == "kmeans")
    assert fixed is not None
    assert best is not None
    assert (fixed.n_settings, best.n_settings) == (1, 2)
    assert dict(fixed.setting.params) == {"scale": None}
    assert best.mean["acc"] >= fixed.mean["acc"]


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("kmean", "Unknown method 'kmean'"),
        ("kmeans:concat", "Baseline 'kmeans' has no arms"),
        ("local:alinged", "Unknown fusion 'alinged'"),
    ],
)
def test_unknown_rivals_are_refused(against: str, message: str) -> None:
    """The error names what was given."""
    with pytest.raises((UnknownNameError, InputError), match=message):
        small(against=against)


def _rows(means: dict[str, list[float | None]]) -> list[RivalSummary]:
    rows = []
    for name, values in means.items():
        for data, mean in enumerate(values):
            setting = Setting(str(data), name, None, 0.0)
            scores = {} if mean is None else {"acc": mean}
            summary = ArmSummary(setting, 1, int(mean is not None), int(mean is None), scores, {})
            rows.append(RivalSummary("fixed", str(data), Rival(name, name, BASELINE), summary, 1.0))
    return rows


def test_average_ranks_and_the_critical_difference() -> None:
    """Ranks by hand: ties share, failures are last; the critical difference is that of Demsar's table (q = 2.343)."""
    ranks = average_ranks(_rows({"a": [0.9] * 5, "b": [0.5, 0.5, 0.5, 0.5, 0.9], "c": [0.5, 0.6, 0.1, 0.1, None]}))
    assert ranks is not None
    assert ranks.ranks == {"a": pytest.approx(1.1), "b": pytest.approx(2.2), "c": pytest.approx(2.7)}
    assert list(ranks.ranks) == ["a", "b", "c"]
    assert ranks.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 5)), abs=1e-3)
    assert ranks.p is not None
    assert ranks.p < 0.05


def test_few_data_sets_have_no_ranks() -> None:
    """Four data sets with labels are too few."""
    assert average_ranks(_rows({"a": [0.9] * 4, "b": [0.5] * 4})) is None
    assert average_ranks(_rows({"a": [0.9] * 4 + [None], "b": [0.5] * 4 + [None]})) is None


def test_a_function_becomes_a_baseline() -> None:
    """It has the name of the function, and is called with views, number of clusters and seed."""

    def halves(views: Any, *, n_clusters: int, random_state: int) -> Any:
        return np.arange(len(views[0])) * n_clusters // len(views[0])

    baseline = as_baseline(halves)
    assert baseline.name == "halves"
    assert baseline.fit_predict([np.zeros((4, 1))], n_clusters=2, random_state=0).tolist() == [0, 0, 1, 1]


PLUGIN = """
import os
from anchor_align import Baseline, hookimpl
class Vanish(Baseline):
    name = "vanish"
    def fit_predict(self, views, *, n_clusters, random_state): os._exit(3)
@hookimpl
def anchor_align_baselines():
    return [Vanish]
"""


@pytest.mark.slow
def test_a_baseline_that_ends_its_process_is_a_row(tmp_path: Path) -> None:
    """Baselines of plug-ins run in another process; its end is a failed row, and the study goes on."""
    file = tmp_path / "vanish.py"
    file.write_text(PLUGIN)
    result = small(against=["vanish", "kmeans"], plugins=file, repeats=1)
    assert [row.status for row in result.against] == [DONE, FAILED, DONE]
    assert "process died (exit code 3)" in result.against[1].reason
