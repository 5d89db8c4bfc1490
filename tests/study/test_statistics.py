"""Statistics of a study: rows of all settings and of the best by label, paired by repeat, and over data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from anchor_align import InputError
from anchor_align.errors import UnknownNameError
from anchor_align.study import SCORES, Record, Setting, Summary, compare, over_data_sets, summarise
from anchor_align.study._differences import check_versus
from anchor_align.study._showcases import _typical_repeats


def record(
    value: float | None, arm: str, repeat: int = 0, *, dataset: str = "d", anchors: int = 4, lam: float = 0.1
) -> Record:
    """One run with all scores equal to ``value``; None: it failed."""
    setting = Setting(dataset, "lmvsc", anchors, lam)
    if value is None:
        return Record(setting, arm, repeat, 0, None, None, "failed", "no memory")
    return Record(setting, arm, repeat, 0, dict.fromkeys(SCORES, value), 1.0)


def grid(values: Mapping[tuple[int, float], Mapping[str, list[float | None]]]) -> list[Record]:
    """Records by (anchors, lam), arm and repeat."""
    return [
        record(value, arm, repeat, anchors=anchors, lam=lam)
        for (anchors, lam), arms in values.items()
        for arm, scores in arms.items()
        for repeat, value in enumerate(scores)
    ]


def best(records: list[Record]) -> Summary:
    (row,) = summarise(records, score="acc", footings=["best"])
    return row


def test_fixed_rows_follow_the_records() -> None:
    """One row a setting, in the order of first appearance, with mean, sd of a sample, and all scores."""
    records = grid({(9, 0.1): {"unaligned": [0.25, 0.75], "aligned": [0.5, 1.0]}, (4, 1.0): {"unaligned": [0.5]}})
    rows = summarise(records, score="acc", footings=["fixed"])
    assert [row.setting for row in rows] == [Setting("d", "lmvsc", 9, 0.1), Setting("d", "lmvsc", 4, 1.0)]
    arm = rows[0].arms["unaligned"]
    assert (arm.n_done, arm.n_failed, arm.n_settings) == (2, 0, 1)
    assert (arm.mean["acc"], arm.sd["ari"]) == pytest.approx((0.5, 0.125**0.5))
    assert tuple(rows[0].differences) == SCORES
    assert (rows[1].arms["unaligned"].sd, rows[1].contrasts) == ({}, {})


def test_pairs_are_made_by_repeat_where_both_arms_finished() -> None:
    """A repeat that failed in one arm leaves the difference, not the mean of the other arm."""
    records = grid({(4, 0.1): {"unaligned": [0.5, None, 0.5, 0.25], "aligned": [None, 0.5, 0.75, 0.75]}})
    (row,) = summarise(records[::-1], score="acc", footings=["fixed"])
    assert (row.differences["acc"].n, row.differences["acc"].mean) == (2, 0.375)
    assert (row.arms["aligned"].n_done, row.arms["aligned"].n_failed) == (3, 1)
    assert row.arms["aligned"].mean["acc"] == pytest.approx(2 / 3)
    assert row.failures == ("no memory",)


def test_each_arm_has_its_own_best_setting() -> None:
    """The best of the grid is chosen for each arm, and the difference is paired between the two choices."""
    records = grid(
        {
            (4, 0.1): {"unaligned": [0.5, 0.75], "aligned": [0.5, 0.5], "concat": [0.5, 0.5]},
            (4, 1.0): {"unaligned": [0.5, 0.75], "aligned": [0.25, 0.25], "concat": [0.5, 0.5]},
            (9, 0.1): {"unaligned": [0.25, 0.25], "aligned": [0.75, 0.5], "concat": [0.5, 0.5]},
            (9, 1.0): {"unaligned": [0.25, 0.25], "aligned": [0.75, 1.0], "concat": [0.5, 0.5]},
        }
    )
    row = best(records)
    settings = {arm: (found.setting.n_anchors, found.setting.lam) for arm, found in row.arms.items()}
    assert settings == {"unaligned": (4, 0.1), "aligned": (9, 1.0), "concat": (4, 0.1)}
    assert {arm: found.n_settings for arm, found in row.arms.items()} == {"unaligned": 2, "aligned": 4, "concat": 2}
    assert row.differences["acc"].mean == 0.25
    assert row.setting is None


def test_a_setting_does_not_win_because_its_worst_runs_failed() -> None:
    """Settings with fewer finished repeats do not compete; where none is complete, those with the most do."""
    row = best(grid({(4, 0.1): {"aligned": [0.5, 0.5]}, (9, 0.1): {"aligned": [None, 1.0]}}))
    assert row.arms["aligned"].setting.n_anchors == 4
    row = best(grid({(4, 0.1): {"aligned": [None, None]}, (9, 0.1): {"aligned": [None, 0.25]}}))
    assert (row.arms["aligned"].setting.n_anchors, row.failures) == (9, ("no memory",))


def test_the_first_of_equal_settings_is_best() -> None:
    """Dust does not decide between settings."""
    row = best(grid({(4, 0.1): {"aligned": [0.3]}, (9, 0.1): {"aligned": [0.1 + 0.2]}}))
    assert row.arms["aligned"].setting.n_anchors == 4


def test_data_without_labels_have_no_best_row() -> None:
    """Without labels there is nothing to choose by, and nothing to compare."""
    runs = [replace(record(0.5, arm), scores=None) for arm in ("unaligned", "aligned")]
    (row,) = summarise(runs, score="acc", footings=["fixed", "best"])
    assert (row.footing, row.differences, row.arms["aligned"].mean) == ("fixed", {}, {})
    assert row.arms["aligned"].n_done == 1


def test_a_grid_that_failed_as_a_whole_has_a_row() -> None:
    """What failed is reported on every footing."""
    rows = summarise([record(None, "aligned"), record(None, "unaligned")], score="acc", footings=["best", "fixed"])
    assert [(row.footing, row.failures, row.differences) for row in rows] == [
        ("best", ("no memory",), {}),
        ("fixed", ("no memory",), {}),
    ]


def test_settings_that_cannot_be_hashed_are_told_apart() -> None:
    """Lists are fine as settings, and 1 is not True."""
    setting = Setting("d", "lmvsc", 4, 0.1)
    params: list[object] = [[1], [2], 1, True]
    runs = [replace(record(0.5, "aligned"), setting=replace(setting, params=(("a", value),))) for value in params]
    assert len(summarise(runs, score="acc", footings=["fixed"])) == 4


def test_unknown_names_are_refused() -> None:
    """A score or footing that does not exist names the ones that do."""
    with pytest.raises(UnknownNameError, match="Did you mean 'acc'"):
        summarise([], score="accc", footings=[])
    with pytest.raises(UnknownNameError, match="Did you mean 'best'"):
        summarise([], score="acc", footings=["bests"])


def test_any_two_arms_are_compared() -> None:
    """Every pair has its differences, with the sign of first - second and its arms in the verdict."""
    values: dict[str, list[float | None]] = {
        "unaligned": [0.1 + 0.01 * i for i in range(6)],
        "aligned": [0.5] * 6,
        "concat": [0.75] * 6,
    }
    pairs = [("aligned", "concat"), ("aligned", "unaligned"), ("aligned", "rotated")]
    (row,) = summarise(grid({(4, 0.1): values}), score="acc", footings=["fixed"], versus=pairs)
    assert list(row.contrasts) == pairs[:2]
    found = row.contrasts["aligned", "concat"]["nmi"]
    assert (found.mean, found.verdict) == (-0.25, "concat higher, the same in every repeat")
    assert row.contrasts["aligned", "unaligned"]["acc"].verdict == row.differences["acc"].verdict == "aligned better"


def test_rows_are_corrected_for_each_other() -> None:
    """A p that is small in a table of one row is not in a table of ten; rows without a test do not count."""
    rng = np.random.default_rng(0)
    gains = [0.03, 0.04, 0.05, 0.02, 0.06, 0.01]
    base = [0.5, 0.52, 0.51, 0.5, 0.49, 0.53]
    planted = [record(x, "unaligned", i, dataset="planted") for i, x in enumerate(base)]
    better = [x + gain for x, gain in zip(base, gains, strict=True)]
    planted += [record(x, "aligned", i, dataset="planted") for i, x in enumerate(better)]
    equal = [record(x, arm, i, dataset="equal") for arm in ("unaligned", "aligned") for i, x in enumerate(base)]
    noise = [
        record(float(rng.normal(0.5, 0.01)), arm, i, dataset=f"noise {at}")
        for at in range(9)
        for arm in ("unaligned", "aligned")
        for i in range(6)
    ]
    alone = summarise([*planted, *[replace(r, objective=1.0) for r in equal]], score="acc", footings=["fixed"])
    assert [row.differences["acc"].verdict for row in alone] == ["aligned better", "the same in every repeat"]
    crowded = summarise([*planted, *noise], score="acc", footings=["fixed"])[0].differences["acc"]
    assert (crowded.p, crowded.verdict) == (10 * 2 / 2**6, "too few repeats: 9 needed")
    assert (crowded.low, crowded.high) == (None, None)


def test_each_data_set_counts_once_in_the_mean_over_data_sets() -> None:
    """The difference over data sets is paired by data set, each with the mean over its settings."""
    records = []
    for at in range(6):
        for anchors in (4, 9) if at == 0 else (4,):
            for repeat in range(2):
                gain = 0.1 * (at + 1) + (0.2 if anchors == 9 else 0.0)
                for arm, value in (("unaligned", 0.1), ("aligned", 0.1 + gain)):
                    records.append(record(value, arm, repeat, dataset=f"set {at}", anchors=anchors))
    summaries = summarise(records, score="acc", footings=["fixed", "best"])
    fixed, best = over_data_sets(summaries)
    assert (fixed.footing, fixed.adapter, fixed.n_rows, fixed.difference.n) == ("fixed", "lmvsc", 7, 6)
    assert fixed.difference.mean == pytest.approx((0.2 + 0.2 + 0.3 + 0.4 + 0.5 + 0.6) / 6)
    assert (fixed.difference.low, fixed.difference.high) == pytest.approx((0.2, 0.6))
    assert (fixed.difference.p, fixed.difference.verdict) == (2 / 2**6, "aligned better")
    assert best.difference.mean == pytest.approx((0.3 + 0.2 + 0.3 + 0.4 + 0.5 + 0.6) / 6)
    few = over_data_sets(summaries[:3])
    assert few[0].difference.verdict == "too few data sets: 6 needed"
    assert over_data_sets(summaries[:2]) == ()


@pytest.mark.parametrize("versus", [[], "aligned", "aligned:aligned", "a:b:c", [("aligned",)], [("aligned", 3)], ":b"])
def test_what_is_no_pair_of_arms_is_refused(versus: object) -> None:
    """A pair is two names."""
    with pytest.raises(InputError, match="arms to compare"):
        check_versus(versus)


def test_pairs_of_arms_are_read_once() -> None:
    """As text or as two names; the same pair twice is one pair."""
    assert check_versus(["aligned:concat", ("aligned", "concat"), "rotated:aligned"]) == (
        ("aligned", "concat"),
        ("rotated", "aligned"),
    )


def agreeing(
    anchors: int, agreement: float | None, labels: Sequence[Sequence[int]], value: float = 0.5
) -> list[Record]:
    """Repeats of one setting with a given agreement and given clusters."""
    return [
        replace(
            record(value, "aligned", repeat, anchors=anchors),
            agreement=agreement,
            anchors_in_use=0.9,
            evenness=1.0,
            labels=np.array(each),
        )
        for repeat, each in enumerate(labels)
    ]


def agreed_anchors(*settings: list[Record]) -> int | tuple[int, ...] | None:
    records = [each for runs in settings for each in runs]
    (row,) = summarise(records, score="acc", footings=["agreement"])
    assert row.arms["aligned"].n_settings == len(settings)
    return row.arms["aligned"].setting.n_anchors


def test_agreement_chooses_without_labels() -> None:
    """Agreement times stability decides, not the score; the first setting stays unless another is clearly better."""
    stable, other = [[0, 0, 1, 1], [1, 1, 0, 0]], [[0, 0, 1, 1], [0, 1, 0, 1]]
    assert agreed_anchors(agreeing(4, 0.5, stable, 0.9), agreeing(9, 0.7, stable, 0.1)) == 9
    assert agreed_anchors(agreeing(4, 0.5, stable, 0.1), agreeing(9, 0.52, stable, 0.9)) == 4
    assert agreed_anchors(agreeing(4, 0.5, stable), agreeing(9, 0.9, other)) == 4
    assert agreed_anchors(agreeing(4, None, stable), agreeing(9, None, stable)) == 4  # one view
    scores = [replace(each, scores=None) for each in agreeing(4, 0.5, stable)]
    assert agreed_anchors(scores, [replace(each, scores=None) for each in agreeing(9, 0.7, stable)]) == 9


def test_agreement_does_not_choose_a_setting_whose_runs_failed() -> None:
    """Settings with fewer finished repeats do not compete."""
    stable = [[0, 0, 1, 1], [1, 1, 0, 0]]
    (row,) = summarise(
        [*agreeing(9, 0.9, stable[:1]), record(None, "aligned", 1, anchors=9), *agreeing(4, 0.3, stable)],
        score="acc",
        footings=["agreement"],
    )
    assert row.arms["aligned"].setting.n_anchors == 4


def test_pictures_show_the_repeat_nearest_the_mean_difference() -> None:
    """Of the setting with the usual lam; the first of equal ones; without scores, the first that finished."""
    values: dict[str, list[float | None]] = {"unaligned": [0.1, 0.1, 0.1, None], "aligned": [0.2, 0.42, 0.7, 0.9]}
    records = grid({(4, 1.0): {"unaligned": [0.0], "aligned": [0.0]}, (4, 0.1): values})
    pair = ("aligned", "unaligned")
    (shown,) = _typical_repeats(records, "acc", pair)
    assert (shown["aligned"].repeat, shown["aligned"].setting.lam) == (1, 0.1)
    assert set(shown) == {"unaligned", "aligned"}
    unscored = [replace(each, scores=None) for each in records if each.repeat > 0]
    assert _typical_repeats(unscored, "acc", pair)[0]["aligned"].repeat == 1


def test_summarise_gives_the_rows_of_a_study() -> None:
    """Records of a study, summed up again, are its summaries."""
    result = compare("lmvsc", "simulated", n_anchors="k", repeats=2)
    assert summarise(result.records, score="acc", footings=["fixed"]) == result.summaries
