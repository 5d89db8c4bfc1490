"""Statistics of records: means, paired differences with intervals, and the best setting of a grid."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from ..checks import check_choice
from ..errors import InputError
from ..fusion import FUSIONS, Fusion
from ._agreed_settings import agreed
from ._results import ArmSummary, Difference, Record, Setting, Summary, setting_key
from ._vocabulary import DONE, FOOTINGS, SCORES

CONFIDENCE = 0.95
ALIGNED_BETTER, UNALIGNED_BETTER = "aligned better", "unaligned better"
NO_DIFFERENCE, ONE_REPEAT = "no clear difference", "one repeat: no interval"
NOTHING_TO_ALIGN = "the same, nothing to align"
ALWAYS_HIGHER = {True: "aligned higher, the same in every repeat", False: "unaligned higher, the same in every repeat"}

# Scores are between -1 and 1: digits beyond these come from the order of additions, not from the data.
_DIGITS = 12
_ROUNDING = 1e-10  # larger, because a t interval of few repeats multiplies the rounding error


def paired_difference(aligned: ArrayLike, unaligned: ArrayLike) -> Difference:
    """Compare two arms, repeat by repeat.

    Parameters
    ----------
    aligned, unaligned : array-like of shape (n_repeats,)
        One score of each arm, in the same order of repeats.

    Returns
    -------
    Difference
        The mean of aligned - unaligned, its 95 % interval (Student's t), the two-sided p of Wilcoxon's signed-rank
        test, and a verdict. Interval and p are None for one repeat, and for a difference other than zero that is the
        same in every repeat, as with a method without randomness.

    Notes
    -----
    The p is exact, also for tied differences: it counts all signs that differences of these sizes can have.
    Differences of zero are left out, as Wilcoxon did; if all are zero, p is 1. The p cannot fall below
    ``2 ** (1 - n)``: with fewer than six repeats it is never below 0.05.

    Examples
    --------
    >>> from anchor_align.study import paired_difference
    >>> found = paired_difference([0.80, 0.85, 0.83, 0.90], [0.70, 0.72, 0.75, 0.71])
    >>> print(f"{found.mean:.3f} in [{found.low:.3f}, {found.high:.3f}], p = {found.p}, n = {found.n}: {found.verdict}")
    0.125 in [0.049, 0.201], p = 0.125, n = 4: aligned better
    """
    a, u = np.asarray(aligned, dtype=float), np.asarray(unaligned, dtype=float)
    if a.ndim != 1 or a.shape != u.shape or a.size == 0:
        raise InputError(f"Paired scores must be two lists of one length >= 1; got shapes {a.shape} and {u.shape}.")
    if not (np.isfinite(a).all() and np.isfinite(u).all()):
        raise InputError("Paired scores must be finite.")
    differences = np.round(a - u, _DIGITS)
    n, mean = a.size, float(differences.mean())
    if n == 1:
        return Difference(n, mean, None, None, None, ONE_REPEAT)
    same = bool((differences == differences[0]).all())
    if same and differences[0] != 0:
        return Difference(n, mean, None, None, None, ALWAYS_HIGHER[mean > 0])
    if same and np.ptp(np.round(a, _DIGITS)) == 0:
        return Difference(n, mean, None, None, None, NO_DIFFERENCE)
    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * float(differences.std(ddof=1)) / n**0.5
    low, high = mean - half, mean + half
    verdict = ALIGNED_BETTER if low > _ROUNDING else UNALIGNED_BETTER if high < -_ROUNDING else NO_DIFFERENCE
    return Difference(n, mean, low, high, _signed_rank(differences), verdict)


def summarise(
    records: Sequence[Record], *, score: str, footings: Sequence[str], fusions: Sequence[Fusion] = FUSIONS
) -> tuple[Summary, ...]:
    """Rows of a result, in the order in which they appear in the records.

    Parameters
    ----------
    records : sequence of Record
    score : {"acc", "nmi", "purity", "fscore", "ari"}
        The score that chooses the best setting of a grid.
    footings : sequence of {"fixed", "agreement", "best"}
        "fixed": one row for every setting. "agreement": one row for every data set and adapter, each arm at the setting
        that the agreement of the views chooses, without labels; the first setting is the default. "best": one row for
        every data set and adapter, each arm at the setting with the highest mean score; data without labels have no
        such row. Of equal settings the first is chosen. Only settings with the most finished repeats of the arm
        compete: no setting wins because its worst runs failed.
    fusions : sequence of Fusion, optional
        The arms, in the order in which they are shown; by default those of this package.

    Returns
    -------
    tuple of Summary
        Footing by footing.
    """
    check_choice("score", score, SCORES)
    rows: list[Summary] = []
    for footing in footings:
        if check_choice("footing", footing, FOOTINGS) == "fixed":
            for group in _grouped(records, lambda r: setting_key(r.setting)):
                runs = {fusion.name: [r for r in group if r.arm == fusion.name] for fusion in fusions}
                chosen = {arm: (found, 1) for arm, found in runs.items() if found}
                rows.append(_row("fixed", group, group[0].setting, chosen))
            continue
        groups = _grouped(records, lambda r: (r.setting.dataset, r.setting.adapter))
        if footing == "agreement":
            rows += [_row(footing, each, None, _chosen_settings(each, fusions, _agreed)) for each in groups]
        else:
            scored = [each for each in groups if not any(r.status == DONE and r.scores is None for r in each)]
            best = partial(_highest, score=score)
            rows += [_row(footing, each, None, _chosen_settings(each, fusions, best)) for each in scored]
    return tuple(rows)


def _chosen_settings(
    group: Sequence[Record], fusions: Sequence[Fusion], choose: Callable[[Sequence[list[Record]]], list[Record]]
) -> dict[str, tuple[list[Record], int]]:
    """Runs of each arm at its chosen setting, and the number of settings it was chosen from."""
    chosen = {}
    for fusion in fusions:
        # An arm that does not depend on lam has the same runs at every lam: these are one setting, not several.
        distinct: dict[Hashable, list[Record]] = {}
        for runs in _grouped((r for r in group if r.arm == fusion.name), lambda r: setting_key(r.setting)):
            distinct.setdefault(setting_key(runs[0].setting, with_lam=fusion.aligns), runs)
        if distinct:
            chosen[fusion.name] = choose(list(distinct.values())), len(distinct)
    return chosen


def _highest(grid: Sequence[list[Record]], score: str) -> list[Record]:
    """The setting with the highest mean, among those with the most finished runs."""
    most = max(map(_n_done, grid))
    competing = [runs for runs in grid if _n_done(runs) == most]
    # max() returns the first of equal means. They are rounded: rounding errors must not decide.
    return max(competing, key=lambda runs: round(float(np.mean(_values(runs, score))), _DIGITS) if most else 0.0)


def _agreed(grid: Sequence[list[Record]]) -> list[Record]:
    """The setting that the agreement of the views chooses, among those with the most finished runs."""
    most = max(map(_n_done, grid))
    return agreed([runs for runs in grid if _n_done(runs) == most])


def _row(
    footing: str, group: Sequence[Record], setting: Setting | None, chosen: dict[str, tuple[list[Record], int]]
) -> Summary:
    return Summary(
        footing=footing,
        dataset=group[0].setting.dataset,
        adapter=group[0].setting.adapter,
        setting=setting,
        arms={arm: _arm_summary(*each) for arm, each in chosen.items()},
        differences=_differences({arm: runs for arm, (runs, _) in chosen.items()}),
        failures=tuple(dict.fromkeys(record.reason for record in group if record.status != DONE)),
    )


def _arm_summary(runs: Sequence[Record], n_settings: int) -> ArmSummary:
    n_done = _n_done(runs)
    values = {name: _values(runs, name) for name in SCORES}
    return ArmSummary(
        setting=runs[0].setting,
        n_settings=n_settings,
        n_done=n_done,
        n_failed=len(runs) - n_done,
        mean={name: float(np.mean(x)) for name, x in values.items() if x},
        sd={name: float(np.std(x, ddof=1)) for name, x in values.items() if len(x) > 1},
    )


def _differences(runs: dict[str, list[Record]]) -> dict[str, Difference]:
    """Differences of all scores, over the repeats that both arms finished."""
    aligned, unaligned = (
        {r.repeat: r.scores for r in runs.get(arm, ()) if r.scores} for arm in ("aligned", "unaligned")
    )
    repeats = [repeat for repeat in aligned if repeat in unaligned]
    if not repeats:
        return {}
    found = {
        name: paired_difference([aligned[i][name] for i in repeats], [unaligned[i][name] for i in repeats])
        for name in SCORES
    }
    # On the footing "best" the arms may have settings that differ in more than the alignment.
    matched = any(record.objective is not None for record in runs["aligned"])
    if matched or any(aligned[i] != unaligned[i] for i in repeats):
        return found
    return {name: Difference(each.n, 0.0, None, None, None, NOTHING_TO_ALIGN) for name, each in found.items()}


def _signed_rank(differences: NDArray[np.float64]) -> float:
    """Exact two-sided p of the signed-rank test.

    ``scipy.stats.wilcoxon`` is exact only without ties: for the differences 1, 1, 2, -1, 3 its method "exact" gives
    0.1875 and the truth is 0.25, and its permutation test visits all ``2 ** n`` signs.

    A rank is part of the sum of positive ranks or not, with equal chances: the distribution of the sum is built one
    rank at a time. Ranks are doubled, so that ranks of ties are whole numbers too.
    """
    nonzero = differences[differences != 0]
    if nonzero.size == 0:
        return 1.0
    _, place, counts = np.unique(np.abs(nonzero), return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(counts) - counts + 1)[place]
    chances = np.ones(1)
    for rank in ranks:
        longer = np.zeros(chances.size + rank)
        longer[: chances.size] = chances / 2
        longer[rank:] += chances / 2
        chances = longer
    positive, total = int(ranks[nonzero > 0].sum()), int(ranks.sum())
    smaller = min(positive, total - positive)
    return min(1.0, 2 * float(chances[: smaller + 1].sum()))


def _n_done(runs: Sequence[Record]) -> int:
    return sum(record.status == DONE for record in runs)


def _values(runs: Sequence[Record], score: str) -> list[float]:
    return [record.scores[score] for record in runs if record.status == DONE and record.scores is not None]


def _grouped(records: Iterable[Record], key: Callable[[Record], Hashable]) -> Iterable[list[Record]]:
    groups: dict[Hashable, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups.values()
