"""From records of runs to rows: means, paired differences with intervals, and the best of a grid."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from ..errors import InputError, unknown_name
from ._results import (
    ALL_ARMS,
    DONE,
    FAILED,
    FOOTINGS,
    LAM_ARMS,
    SCORES,
    ArmSummary,
    Difference,
    Record,
    Setting,
    Summary,
)

CONFIDENCE = 0.95
ALIGNED_BETTER, UNALIGNED_BETTER = "aligned better", "unaligned better"
NO_DIFFERENCE, ONE_REPEAT = "no clear difference", "one repeat: no interval"
NOTHING_TO_ALIGN = "the same, nothing to align"
ALWAYS_HIGHER = {True: "aligned higher, the same in every repeat", False: "unaligned higher, the same in every repeat"}

# Scores are between -1 and 1: what is beyond this many digits comes from the order of additions, not from the data.
_DIGITS = 12
_DUST = 1e-10  # with room for the factor that a t interval of few repeats multiplies it by

_Groups = dict[Hashable, list[Record]]


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
        test, and what follows. There is neither interval nor p where there is nothing to take them from: one repeat,
        or a difference other than zero that is the same in every repeat, as with a method without randomness.

    Notes
    -----
    The p is exact, also where differences are tied: it counts the signs that the sizes of the differences could have
    had. Differences of zero are left out, as Wilcoxon did; where all are zero, p is 1. It cannot fall below
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
    return Difference(n, mean, low, high, _signed_rank(differences), _verdict(low, high))


def summarise(records: Sequence[Record], *, score: str, footings: Sequence[str]) -> tuple[Summary, ...]:
    """Rows of a result, in the order in which they appear in the records.

    Parameters
    ----------
    records : sequence of Record
    score : {"acc", "nmi", "purity", "fscore", "ari"}
        What the best of a grid is chosen by.
    footings : sequence of {"fixed", "best"}
        "fixed": one row for every setting. "best": one row for every data set and adapter, each arm at the setting
        with the highest mean score. Only settings with the most finished repeats of the arm compete, so that none wins
        because its worst runs failed; the first of equals wins. Data without labels have no such row.

    Returns
    -------
    tuple of Summary
        Footing by footing.
    """
    if score not in SCORES:
        raise unknown_name("score", score, SCORES)
    rows: list[Summary] = []
    for footing in footings:
        if footing not in FOOTINGS:
            raise unknown_name("footing", footing, FOOTINGS)
        if footing == "fixed":
            rows += [_fixed_row(group) for group in _grouped(records, lambda r: setting_key(r.setting)).values()]
        else:
            groups = _grouped(records, lambda r: (r.setting.dataset, r.setting.adapter)).values()
            rows += [_best_row(group, score) for group in groups if not _unscored(group)]
    return tuple(rows)


def setting_key(setting: Setting, arm: str = "aligned") -> Hashable:
    """What tells a setting from others for one arm: ``lam`` does so for some arms only."""
    # By repr: values such as lists cannot be hashed, and 1 and True are different settings.
    params = tuple((name, repr(value)) for name, value in setting.params)
    lam = setting.lam if arm in LAM_ARMS else None
    return setting.dataset, setting.adapter, setting.n_anchors, lam, params, repr(setting.options)


def _fixed_row(group: Sequence[Record]) -> Summary:
    runs = {arm: [record for record in group if record.arm == arm] for arm in ALL_ARMS}
    chosen = {arm: (found, 1) for arm, found in runs.items() if found}
    return _row("fixed", group, group[0].setting, chosen)


def _best_row(group: Sequence[Record], score: str) -> Summary:
    chosen = {}
    for arm in ALL_ARMS:
        grid = list(_grouped((r for r in group if r.arm == arm), lambda r: setting_key(r.setting)).values())
        # Arms that do not depend on lam are the same runs at every lam: they had one chance, not several.
        distinct = list({setting_key(runs[0].setting, arm): runs for runs in reversed(grid)}.values())[::-1]
        if distinct:
            chosen[arm] = _highest(distinct, score), len(distinct)
    return _row("best", group, None, chosen)


def _highest(grid: Sequence[list[Record]], score: str) -> list[Record]:
    """The setting with the highest mean, among those with the most finished runs."""
    most = max(map(_n_done, grid))
    competing = [runs for runs in grid if _n_done(runs) == most]
    # max() returns the first of equals; rounded, so that dust does not decide.
    return max(competing, key=lambda runs: round(float(np.mean(_values(runs, score))), _DIGITS) if most else 0.0)


def _row(
    footing: str, group: Sequence[Record], setting: Setting | None, chosen: dict[str, tuple[list[Record], int]]
) -> Summary:
    return Summary(
        footing=footing,
        dataset=group[0].setting.dataset,
        adapter=group[0].setting.adapter,
        setting=setting,
        arms={arm: _arm_summary(runs, n_settings) for arm, (runs, n_settings) in chosen.items()},
        differences=_differences({arm: runs for arm, (runs, _) in chosen.items()}),
        failures=tuple(dict.fromkeys(record.reason for record in group if record.status == FAILED)),
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
    # On the footing "best" the arms may be at settings that differ otherwise.
    matched = any(record.objective is not None for record in runs["aligned"])
    if matched or any(aligned[i] != unaligned[i] for i in repeats):
        return found
    return {name: Difference(each.n, 0.0, None, None, None, NOTHING_TO_ALIGN) for name, each in found.items()}


def _signed_rank(differences: NDArray[np.float64]) -> float:
    """Exact two-sided p of the signed-rank test.

    Each rank is in the sum of positive ranks or not, with equal chances: the distribution of the sum is built one rank
    at a time. Ranks are doubled, so that those of ties are whole numbers too.
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


def _verdict(low: float, high: float) -> str:
    if low > _DUST:
        return ALIGNED_BETTER
    return UNALIGNED_BETTER if high < -_DUST else NO_DIFFERENCE


def _unscored(group: Sequence[Record]) -> bool:
    """Whether runs were finished without scores: the data have no labels."""
    return any(record.status == DONE and record.scores is None for record in group)


def _n_done(runs: Sequence[Record]) -> int:
    return sum(record.status == DONE for record in runs)


def _values(runs: Sequence[Record], score: str) -> list[float]:
    return [record.scores[score] for record in runs if record.status == DONE and record.scores is not None]


def _grouped(records: Iterable[Record], key: Callable[[Record], Hashable]) -> _Groups:
    groups: _Groups = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups
