"""Statistics of a study: intervals that cover, exact ranks, verdicts, and rows chosen by label."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, ttest_1samp, wilcoxon

from anchor_align import InputError
from anchor_align.errors import UnknownNameError
from anchor_align.study import SCORES, Difference, Record, Setting, Summary, paired_difference, summarise

# Few values, so that ties and zeros are the rule; 0.1 + 0.2 and the like make dust.
coarse = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9)


def enumerated_p(differences: Sequence[float]) -> float:
    """Two-sided signed-rank p over all signs, one by one."""
    nonzero = np.array([d for d in differences if d])
    if not nonzero.size:
        return 1.0
    ranks = rankdata(np.abs(nonzero))
    sums = np.array([ranks @ signs for signs in itertools.product([0, 1], repeat=nonzero.size)])
    found = ranks @ (nonzero > 0)
    return float(min(1.0, 2 * min((sums <= found).mean(), (sums >= found).mean())))


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


def test_the_interval_is_student_t() -> None:
    """Mean and interval are those of scipy's one-sample t test of the differences."""
    rng = np.random.default_rng(0)
    aligned, unaligned = rng.random(10), rng.random(10)
    found = paired_difference(aligned, unaligned)
    expected = ttest_1samp(aligned - unaligned, 0.0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-10)
    assert found.mean == pytest.approx(np.mean(aligned - unaligned))
    assert found.n == 10


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("draw", ["normal", "bounded"])
def test_the_interval_covers_the_truth(n: int, draw: str) -> None:
    """In 2,000 studies the interval holds the true difference about 95 % of the times, for paired scores too."""
    rng = np.random.default_rng(1)
    draws: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "normal": lambda: (rng.normal(0.7, 0.03, n), rng.normal(0.6, 0.05, n)),
        "bounded": lambda: (rng.beta(7, 3, n), rng.beta(6, 4, n)),
    }
    found = [paired_difference(*draws[draw]()) for _ in range(2000)]
    covered = np.mean([d.low is not None and d.high is not None and d.low <= 0.1 <= d.high for d in found])
    assert covered == pytest.approx(0.95, abs=0.0125)


def test_the_verdict_is_wrong_in_one_of_twenty_studies() -> None:
    """Where the arms do not differ, a difference is called in about 5 % of the studies, half of them each way."""
    rng = np.random.default_rng(2)
    verdicts = [paired_difference(rng.normal(size=6), rng.normal(size=6)).verdict for _ in range(2000)]
    assert verdicts.count("aligned better") / 2000 == pytest.approx(0.025, abs=0.01)
    assert verdicts.count("unaligned better") / 2000 == pytest.approx(0.025, abs=0.01)


@given(coarse)
def test_the_p_is_exact_with_ties_and_zeros(pairs: list[tuple[int, int]]) -> None:
    """The p counts all signs the differences could have had, ties and zeros included, dust ignored."""
    aligned, unaligned = (np.array(x) * 0.1 for x in zip(*pairs, strict=True))
    found = paired_difference(aligned, unaligned)
    exact = [a - b for a, b in pairs]
    if found.p is None:
        assert len(set(exact)) == 1
    else:
        assert found.p == pytest.approx(enumerated_p(exact), rel=1e-9)


@pytest.mark.parametrize("n", [5, 10, 40])
def test_the_p_agrees_with_scipy_where_there_are_no_ties(n: int) -> None:
    """Without ties it is scipy's exact test."""
    rng = np.random.default_rng(n)
    differences = rng.normal(0.3, 1, n)
    found = paired_difference(differences, np.zeros(n))
    assert found.p == pytest.approx(float(wilcoxon(differences, method="exact").pvalue), rel=1e-9)


def test_swapping_the_arms_turns_the_difference_round() -> None:
    """Everything is mirrored, the p stays."""
    a, b = [0.8, 0.85, 0.83, 0.9], [0.7, 0.72, 0.75, 0.71]
    there, back = paired_difference(a, b), paired_difference(b, a)
    assert (there.verdict, back.verdict) == ("aligned better", "unaligned better")
    assert (back.mean, back.low, back.high) == pytest.approx((-there.mean, -there.high, -there.low))  # type: ignore[operator]
    assert there.p == back.p


def test_one_repeat_has_no_interval() -> None:
    """One pair says nothing about the spread."""
    assert paired_difference([0.75], [0.5]) == Difference(1, 0.25, None, None, None, "one repeat: no interval")


@pytest.mark.parametrize(
    ("aligned", "unaligned", "verdict"),
    [
        ([0.75] * 3, [0.5] * 3, "aligned higher, the same in every repeat"),
        ([0.5] * 3, [0.75] * 3, "unaligned higher, the same in every repeat"),
        ([0.5] * 3, [0.5] * 3, "no clear difference"),
        ([0.3] * 3, [0.1 + 0.2] * 3, "no clear difference"),
        ([0.3, 0.1 + 0.2, 0.3], [0.1 + 0.2, 0.3, 0.3], "no clear difference"),
        ([0.5, 0.75], [0.25, 0.5], "aligned higher, the same in every repeat"),
    ],
)
def test_repeats_without_spread_add_nothing(aligned: list[float], unaligned: list[float], verdict: str) -> None:
    """A method without randomness gets no interval and no p, however often it is repeated."""
    found = paired_difference(aligned, unaligned)
    assert (found.low, found.high, found.p, found.verdict) == (None, None, None, verdict)


@pytest.mark.parametrize("dust", [0.0, 1e-16])
def test_arms_that_always_agree_do_not_differ(dust: float) -> None:
    """Where the scores vary and the arms are equal in every repeat, the interval is zero and p is 1."""
    found = paired_difference(np.array([0.5, 0.6, 0.7]) + dust, [0.5, 0.6, 0.7])
    assert found == Difference(3, 0.0, 0.0, 0.0, 1.0, "no clear difference")


def test_an_interval_that_touches_zero_is_no_difference() -> None:
    """One end at zero, up to dust, does not exclude it."""
    t = math.tan(math.pi * 0.475)  # 97.5 % of Student's t with one degree of freedom
    found = paired_difference([0.1 * (t + 1) / 2, 0.1 * (t - 1) / 2], [0.0, 0.0])
    assert found.low == pytest.approx(0.0, abs=1e-10)
    assert found.verdict == "no clear difference"


@pytest.mark.parametrize(
    ("aligned", "unaligned"), [([], []), ([0.1, 0.2], [0.1]), ([float("nan")], [0.1]), ([[0.1]], [[0.1]])]
)
def test_what_is_no_pair_of_scores_is_refused(aligned: list[float], unaligned: list[float]) -> None:
    """Empty, unequal, unknown and nested scores have no paired difference."""
    with pytest.raises(InputError, match="Paired scores"):
        paired_difference(aligned, unaligned)


def test_fixed_rows_follow_the_records() -> None:
    """One row a setting, in the order of first appearance, with mean, sd of a sample, and all scores."""
    records = grid({(9, 0.1): {"unaligned": [0.25, 0.75], "aligned": [0.5, 1.0]}, (4, 1.0): {"unaligned": [0.5]}})
    rows = summarise(records, score="acc", footings=["fixed"])
    assert [row.setting for row in rows] == [Setting("d", "lmvsc", 9, 0.1), Setting("d", "lmvsc", 4, 1.0)]
    arm = rows[0].arms["unaligned"]
    assert (arm.n_done, arm.n_failed, arm.n_settings) == (2, 0, 1)
    assert (arm.mean["acc"], arm.sd["ari"]) == pytest.approx((0.5, 0.125**0.5))
    assert tuple(rows[0].differences) == SCORES
    assert (rows[1].arms["unaligned"].sd, rows[1].differences) == ({}, {})


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
