"""Statistics of records: means, paired differences over repeats and data sets, and the best setting of a grid."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..checks import check_choice
from ..fusion import FUSIONS, Fusion
from ._agreed_settings import agreed
from ._differences import Difference, compare_rows
from ._results import ArmSummary, Record, Setting, Summary, setting_key
from ._sign_flips import DIGITS
from ._vocabulary import DEFAULT_VERSUS, DONE, FOOTINGS, NOTHING_TO_ALIGN, SCORES

# Scores of the repeats that both arms finished, and whether anchors were matched.
_Pairs = tuple[dict[str, tuple[list[float], list[float]]], bool]


@dataclass(frozen=True)
class Overall:
    """The difference of two arms over data sets.

    Attributes
    ----------
    footing, adapter : str
    score : str
    n_rows : int
        Number of rows; the mean of a data set is over its rows.
    difference : Difference
        Paired by data set.
    """

    footing: str
    adapter: str
    score: str
    n_rows: int
    difference: Difference


def summarise(
    records: Sequence[Record],
    *,
    score: str,
    footings: Sequence[str],
    fusions: Sequence[Fusion] = FUSIONS,
    versus: Sequence[tuple[str, str]] = (DEFAULT_VERSUS,),
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
    versus : sequence of (str, str), default=(("aligned", "unaligned"),)
        Pairs of arms to compare: first - second. For every pair and score, p and intervals are corrected for the number
        of rows of the footing (Holm).

    Returns
    -------
    tuple of Summary
        Footing by footing.
    """
    check_choice("score", score, SCORES)
    summaries: list[Summary] = []
    for footing in footings:
        rows: list[tuple[Summary, dict[str, list[Record]]]] = []
        groups = grouped(records, lambda r: (r.setting.dataset, r.setting.adapter))
        if check_choice("footing", footing, FOOTINGS) == "fixed":
            for group in grouped(records, lambda r: setting_key(r.setting)):
                runs = {fusion.name: [r for r in group if r.arm == fusion.name] for fusion in fusions}
                chosen = {arm: (found, 1) for arm, found in runs.items() if found}
                rows.append(_row("fixed", group, group[0].setting, chosen))
        elif footing == "agreement":
            rows += [_row(footing, each, None, _chosen_settings(each, fusions, agreed_setting)) for each in groups]
        else:
            scored = [each for each in groups if not any(r.status == DONE and r.scores is None for r in each)]
            best = partial(highest, score=score)
            rows += [_row(footing, each, None, _chosen_settings(each, fusions, best)) for each in scored]
        summaries += _compared(rows, versus)
    return tuple(summaries)


def over_data_sets(
    summaries: Sequence[Summary], arms: tuple[str, str] = DEFAULT_VERSUS, score: str = "acc"
) -> tuple[Overall, ...]:
    """The mean difference of two arms over data sets, for every footing and adapter with two data sets or more.

    Parameters
    ----------
    summaries : sequence of Summary
    arms : tuple of str, default=("aligned", "unaligned")
    score : {"acc", "nmi", "purity", "fscore", "ari"}, default="acc"

    Returns
    -------
    tuple of Overall
        Each data set counts once: with the mean over its rows. Corrected for the number of adapters (Holm).
    """
    found: list[Overall] = []
    for footing in FOOTINGS:
        gains: dict[str, dict[str, list[float]]] = {}
        for row in summaries:
            if row.footing == footing and arms in row.contrasts:
                mean = row.contrasts[arms][score].mean
                gains.setdefault(row.adapter, {}).setdefault(row.dataset, []).append(mean)
        several = {adapter: list(by_data.values()) for adapter, by_data in gains.items() if len(by_data) > 1}
        means = [[float(np.mean(each)) for each in by_data] for by_data in several.values()]
        compared = compare_rows([(each, np.zeros(len(each))) for each in means], arms, of_data_sets=True)
        for (adapter, by_data), difference in zip(several.items(), compared, strict=True):
            found.append(Overall(footing, adapter, score, sum(map(len, by_data)), difference))
    return tuple(found)


def _chosen_settings(
    group: Sequence[Record], fusions: Sequence[Fusion], choose: Callable[[Sequence[list[Record]]], list[Record]]
) -> dict[str, tuple[list[Record], int]]:
    """Runs of each arm at its chosen setting, and the number of settings it was chosen from."""
    chosen = {}
    for fusion in fusions:
        # An arm that does not depend on lam has the same runs at every lam: these are one setting, not several.
        distinct: dict[Hashable, list[Record]] = {}
        for runs in grouped((r for r in group if r.arm == fusion.name), lambda r: setting_key(r.setting)):
            distinct.setdefault(setting_key(runs[0].setting, with_lam=fusion.aligns), runs)
        if distinct:
            chosen[fusion.name] = choose(list(distinct.values())), len(distinct)
    return chosen


def highest(grid: Sequence[list[Record]], score: str) -> list[Record]:
    """The setting with the highest mean, among those with the most finished runs."""
    most = max(map(_n_done, grid))
    competing = [runs for runs in grid if _n_done(runs) == most]
    # max() returns the first of equal means. They are rounded: rounding errors must not decide.
    return max(competing, key=lambda runs: round(float(np.mean(_values(runs, score))), DIGITS) if most else 0.0)


def agreed_setting(grid: Sequence[list[Record]]) -> list[Record]:
    """The setting that the agreement of the views chooses, among those with the most finished runs."""
    most = max(map(_n_done, grid))
    return agreed([runs for runs in grid if _n_done(runs) == most])


def _row(
    footing: str, group: Sequence[Record], setting: Setting | None, chosen: dict[str, tuple[list[Record], int]]
) -> tuple[Summary, dict[str, list[Record]]]:
    """A row whose arms are not compared yet, and the runs of its arms."""
    summary = Summary(
        footing=footing,
        dataset=group[0].setting.dataset,
        adapter=group[0].setting.adapter,
        setting=setting,
        arms={arm: arm_summary(*each) for arm, each in chosen.items()},
        contrasts={},
        failures=tuple(dict.fromkeys(record.reason for record in group if record.status != DONE)),
    )
    return summary, {arm: runs for arm, (runs, _) in chosen.items()}


def arm_summary(runs: Sequence[Record], n_settings: int) -> ArmSummary:
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


def _compared(
    rows: Sequence[tuple[Summary, Mapping[str, list[Record]]]], versus: Sequence[tuple[str, str]]
) -> list[Summary]:
    """Rows with the differences of all pairs and scores; each pair and score is a table of its own."""
    contrasts: list[dict[tuple[str, str], dict[str, Difference]]] = [{} for _ in rows]
    for arms in versus:
        pairs = {at: _pairs(runs, arms) for at, (_, runs) in enumerate(rows)}
        # Where nothing was matched, both arms are the same runs, and there is nothing to test.
        tested = [at for at, (scores, matched) in pairs.items() if scores and matched]
        for score in SCORES:
            found = dict(zip(tested, compare_rows([pairs[at][0][score] for at in tested], arms), strict=True))
            for at, (scores, _) in pairs.items():
                if not scores:
                    continue
                same = Difference(len(scores[score][0]), 0.0, None, None, None, NOTHING_TO_ALIGN, arms=arms)
                contrasts[at].setdefault(arms, {})[score] = found.get(at, same)
    return [replace(row, contrasts=found) for (row, _), found in zip(rows, contrasts, strict=True)]


def _pairs(runs: Mapping[str, list[Record]], arms: tuple[str, str]) -> _Pairs:
    """Scores of both arms in the repeats that both finished; empty if there are none."""
    first, second = ({r.repeat: r.scores for r in runs.get(arm, ()) if r.scores} for arm in arms)
    repeats = [repeat for repeat in first if repeat in second]
    if not repeats:
        return {}, True
    scores = {name: ([first[i][name] for i in repeats], [second[i][name] for i in repeats]) for name in SCORES}
    # On the footing "best" the arms may have settings that differ in more than the alignment.
    matched = (
        set(arms) != {"aligned", "unaligned"}
        or any(record.objective is not None for record in runs["aligned"])
        or any(first[i] != second[i] for i in repeats)
    )
    return scores, matched


def _n_done(runs: Sequence[Record]) -> int:
    return sum(record.status == DONE for record in runs)


def _values(runs: Sequence[Record], score: str) -> list[float]:
    return [record.scores[score] for record in runs if record.status == DONE and record.scores is not None]


def grouped(records: Iterable[Record], key: Callable[[Record], Hashable]) -> Iterable[list[Record]]:
    groups: dict[Hashable, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups.values()
