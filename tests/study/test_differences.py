"""Two arms compared: one exact test, its interval, verdicts that agree with both, and rates that hold."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from anchor_align import InputError
from anchor_align.study import paired_difference
from anchor_align.study._differences import check_versus, compare_rows
from anchor_align.study._sign_flips import LEVEL, SignFlips, holm, repeats_needed

# Few values, so that ties and zeros are the rule; 0.1 + 0.2 and the like make dust.
coarse = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9)
tables = st.lists(st.lists(st.integers(-3, 5), min_size=1, max_size=8), min_size=1, max_size=6)


def enumerated_p(differences: Sequence[int]) -> float:
    """Two-sided p of the mean over all signs, one by one."""
    signed = np.array(list(itertools.product([1, -1], repeat=len(differences)))) @ np.array(differences)
    found = sum(differences)
    return float(min(1.0, 2 * min((signed <= found).mean(), (signed >= found).mean())))


@given(coarse)
def test_the_p_is_exact_with_ties_and_zeros(pairs: list[tuple[int, int]]) -> None:
    """The p counts all signs the differences could have had, ties and zeros included, dust ignored."""
    first, second = (np.array(x) * 0.1 for x in zip(*pairs, strict=True))
    found = paired_difference(first, second)
    exact = [a - b for a, b in pairs]
    if found.p is None:
        assert not any(exact) or len(set(pairs)) == 1
    else:
        assert found.p == pytest.approx(enumerated_p(exact), rel=1e-9)


def test_the_p_is_that_of_scipy() -> None:
    """With scores that do not tie it is scipy's permutation test of the mean."""
    rng = np.random.default_rng(0)
    differences = rng.normal(0.3, 1, 10)
    expected = permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=2**10)
    assert paired_difference(differences, np.zeros(10)).p == pytest.approx(float(expected.pvalue), rel=1e-9)


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=9))
def test_the_interval_has_all_that_the_test_does_not_reject(values: list[float]) -> None:
    """Just inside an end the test finds no difference from there, just outside it does."""
    differences = np.array(values)
    low, high = SignFlips.of(differences).interval() or (np.nan, np.nan)
    step = 1e-6
    for end, inwards in ((low, step), (high, -step)):
        assert SignFlips.of(differences - end - inwards).p > LEVEL or high - low < 2 * step
        assert SignFlips.of(differences - end + inwards).p <= LEVEL


@given(tables)
def test_verdict_interval_and_p_never_contradict_each_other(rows: list[list[int]]) -> None:
    """In every table: better or worse if and only if p <= 0.05, if and only if the interval leaves out zero."""
    for found in compare_rows([(np.array(row) * 0.01, np.zeros(len(row))) for row in rows]):
        if found.p is None:
            assert (found.low, found.high) == (None, None)
            assert found.outcome in ("higher", "lower", "equal")
            continue
        certain = found.outcome in ("better", "worse")
        assert certain == (found.p <= 0.05)
        assert (found.outcome == "too few") == (found.low is None and found.n < found.n_needed)
        if found.low is not None and found.high is not None:
            assert found.low <= found.mean <= found.high
            assert certain == (found.low > 1e-10 or found.high < -1e-10)
            assert not certain or (found.low > 0) == (found.outcome == "better")


@given(st.lists(st.sampled_from([2.0**-k for k in range(12)]), min_size=1, max_size=8))
def test_holm_is_holm(ps: list[float]) -> None:
    """The k-th smallest p is found if it and all smaller ones are at most 0.05 / (m - k + 1)."""
    steps = [p <= 0.05 / (len(ps) - k) for k, p in enumerate(sorted(ps))]
    n_found = steps.index(False) if False in steps else len(steps)
    corrected = holm(ps)
    assert sum(p <= 0.05 for p, _ in corrected) == n_found
    assert all((p <= 0.05) == (raw <= 0.05 / divisor) for raw, (p, divisor) in zip(ps, corrected, strict=True))
    assert all(1 >= p >= raw for raw, (p, _) in zip(ps, corrected, strict=True))
    assert holm(ps[::-1]) == corrected[::-1]


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 10, 30])
@pytest.mark.parametrize("draw", ["normal", "bounded", "outliers"])
def test_the_interval_covers_the_truth(n: int, draw: str) -> None:
    """In 1,000 studies the interval holds the true difference in about 95 % of the cases or more."""
    rng = np.random.default_rng(1)
    draws: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "normal": lambda: (rng.normal(0.7, 0.03, n), rng.normal(0.6, 0.05, n)),
        "bounded": lambda: (rng.beta(7, 3, n), rng.beta(6, 4, n)),
        "outliers": lambda: (0.7 + 0.02 * rng.standard_t(2, n), 0.6 + 0.02 * rng.standard_t(2, n)),
    }
    found = [paired_difference(*draws[draw]()) for _ in range(1000)]
    covered = np.mean([d.low is not None and d.high is not None and d.low <= 0.1 <= d.high for d in found])
    exact = 1 - 2 * int(0.025 * 2 ** min(n, 12)) / 2 ** min(n, 12)
    assert covered == pytest.approx(exact, abs=0.025)


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 20])
def test_equal_arms_are_told_apart_in_one_of_twenty_studies_at_most(n: int) -> None:
    """Where the arms do not differ, a difference is found in 5 % of the studies at most, half of them each way."""
    rng = np.random.default_rng(2)
    # Scores of 40 samples: many ties and zeros.
    draws = (rng.binomial(40, 0.7, (2, n)) / 40 for _ in range(2000))
    outcomes = [paired_difference(*pair).outcome for pair in draws]
    for outcome in ("better", "worse"):
        assert 0.01 < outcomes.count(outcome) / 2000 < 0.025 + 0.0075


@pytest.mark.slow
def test_a_table_of_equal_arms_has_a_wrong_row_in_one_of_twenty_studies_at_most() -> None:
    """Holm's correction: the chance of any wrong verdict among eight rows is at most 5 %."""
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(600):
        scores = rng.normal(0.7, 0.05, (8, 2, 10))
        wrong += any(found.outcome in ("better", "worse") for found in compare_rows([(a, b) for a, b in scores]))
    assert 0.01 < wrong / 600 < 0.05 + 0.022


@pytest.mark.parametrize(("effect", "least"), [(1.0, 0.7), (2.0, 0.99)])
def test_planted_differences_are_found(effect: float, least: float) -> None:
    """Ten repeats find a difference of one standard deviation most of the times, one of two nearly always."""
    rng = np.random.default_rng(4)
    outcomes = [paired_difference(rng.normal(effect, 1, 10), np.zeros(10)).outcome for _ in range(300)]
    assert outcomes.count("better") / 300 >= least
    assert outcomes.count("worse") == 0


def test_one_planted_row_is_found_among_equal_ones() -> None:
    """The correction does not hide a large difference, and does not spread it to its neighbours."""
    rng = np.random.default_rng(5)
    found = [
        [d.outcome for d in compare_rows([(rng.normal(3.0 * (at == 2), 1, 10), np.zeros(10)) for at in range(5)])]
        for _ in range(100)
    ]
    assert np.mean([outcomes[2] == "better" for outcomes in found]) > 0.95
    assert np.mean([any(o != "unclear" for o in (*outcomes[:2], *outcomes[3:])) for outcomes in found]) < 0.12


def test_swapping_the_arms_turns_the_difference_round() -> None:
    """Everything is mirrored, the p stays, for few repeats and for many."""
    rng = np.random.default_rng(6)
    for n in (8, 25):
        a, b = rng.random(n) + 1, rng.random(n)
        there, back = paired_difference(a, b), paired_difference(b, a, arms=("unaligned", "aligned"))
        assert (there.outcome, back.outcome, there.verdict) == ("better", "worse", back.verdict)
        assert (back.mean, back.low, back.high) == pytest.approx((-there.mean, -there.high, -there.low))  # type: ignore[operator]
        assert there.p == back.p


@pytest.mark.parametrize("n", [1, 2, 5])
def test_too_few_repeats_are_said_to_be(n: int) -> None:
    """Whatever the scores, fewer than six repeats find nothing, and the verdict says how many can."""
    found = paired_difference(np.linspace(0.8, 0.9, n), np.linspace(0.1, 0.11, n))
    assert (found.low, found.high, found.p) == (None, None, 2.0 ** (1 - n))
    assert found.verdict == "too few repeats: 6 needed"
    assert paired_difference(np.linspace(0.8, 0.9, 6), np.linspace(0.1, 0.11, 6)).verdict == "aligned better"


def test_more_rows_need_more_repeats() -> None:
    """The number that is named is enough, and one less is not."""
    for n_rows in (1, 2, 7, 40, 3000):
        n = repeats_needed(n_rows)
        assert 2.0 ** (1 - n) * n_rows <= 0.05 < 2.0 ** (2 - n) * n_rows


def test_very_many_rows_have_sets_enough() -> None:
    """With many repeats and thousands of rows a certain difference can still be found."""
    differences = np.random.default_rng(0).normal(3, 1, 40)
    assert SignFlips.of(differences, 3000).p * 3000 <= 0.05


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ([0.75] * 3, [0.5] * 3, "aligned higher, the same in every repeat"),
        ([0.5] * 3, [0.75] * 3, "unaligned higher, the same in every repeat"),
        ([0.5] * 3, [0.5] * 3, "the same in every repeat"),
        ([0.3] * 3, [0.1 + 0.2] * 3, "the same in every repeat"),
        ([0.3, 0.1 + 0.2, 0.4], [0.1 + 0.2, 0.3, 0.4], "the same in every repeat"),
    ],
)
def test_repeats_without_spread_add_nothing(first: list[float], second: list[float], verdict: str) -> None:
    """A method without randomness gets no interval and no p, however often it is repeated; neither do equal arms."""
    found = paired_difference(first, second)
    assert (found.low, found.high, found.p, found.verdict) == (None, None, None, verdict)


def test_a_difference_that_is_the_same_for_varying_scores_is_tested() -> None:
    """Both arms vary, their difference does not: that is as sure as six repeats can be."""
    found = paired_difference([0.5, 0.6, 0.7, 0.8, 0.9, 0.55], [0.4, 0.5, 0.6, 0.7, 0.8, 0.45])
    assert (found.mean, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))
    assert (found.p, found.outcome) == (2 / 64, "better")


@pytest.mark.parametrize(
    ("first", "second"), [([], []), ([0.1, 0.2], [0.1]), ([float("nan")], [0.1]), ([[0.1]], [[0.1]])]
)
def test_what_is_no_pair_of_scores_is_refused(first: list[float], second: list[float]) -> None:
    """Empty, unequal, unknown and nested scores have no paired difference."""
    with pytest.raises(InputError, match="Paired scores"):
        paired_difference(first, second)


@pytest.mark.parametrize("versus", [3, None, np.array(2), [3], [None], {3: 4}, b"x", []])
def test_what_is_no_pair_of_arms_is_refused(versus: object) -> None:
    """With one sentence, before anything is computed."""
    with pytest.raises(InputError, match=r"'first:second'|'aligned:unaligned'"):
        check_versus(versus)
