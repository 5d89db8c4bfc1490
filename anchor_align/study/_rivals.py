"""Methods compared with each other: the first adapter with aligned fusion, the other adapters, and the rivals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import InputError
from ..plugins import AdapterRecord, Registry
from ._differences import Difference, compare_rows
from ._results import ArmSummary, Record, setting_key
from ._sign_flips import DIGITS
from ._statistics import agreed_setting, arm_summary, grouped, highest
from ._vocabulary import BASELINE, DONE, FAILED, FOOTINGS, MAIN_ARM, SCORES

# Average ranks say something from this number of data sets on.
LEAST_DATA_SETS = 5


@dataclass(frozen=True)
class Rival:
    """A method of the comparison.

    Attributes
    ----------
    name : str
        As tables show it: "kmeans", "fmvacc", or "lmvsc:concat" for an arm that is not "aligned".
    method : str
        Name of the adapter or the baseline.
    arm : str
        "baseline" for a baseline.
    distribution, version : str
        Where it comes from.
    """

    name: str
    method: str
    arm: str
    distribution: str = ""
    version: str = ""


@dataclass(frozen=True)
class RivalSummary:
    """A method on a data set, and how the first method compares with it.

    Attributes
    ----------
    footing, dataset : str
    method : Rival
    summary : ArmSummary or None
        Mean and sd of every score; on the footing "fixed" at the first setting of the grid, on the others at the chosen
        one. None if the method has no such arm.
    seconds : float or None
        Mean time from the views to the labels.
    status, reason : str
        "done" if any run finished; else the status of the first run, and why it failed.
    differences : dict of Difference by score
        The first method - this one, paired by repeat; empty for the first method, and where nothing can be compared.
    is_extra : bool
        Whether its runs are in ``rival_records`` of the result, not in ``records``.
    """

    footing: str
    dataset: str
    method: Rival
    summary: ArmSummary | None
    seconds: float | None
    status: str = DONE
    reason: str = ""
    differences: Mapping[str, Difference] = field(default_factory=dict)
    is_extra: bool = False


@dataclass(frozen=True)
class AverageRanks:
    """Ranks of all methods, averaged over data sets.

    Attributes
    ----------
    footing, score : str
    n_data : int
    ranks : dict of float by name of the method
        1 is the best, in ascending order. Equal means share their rank. A method without a mean, because its runs
        failed, shares the last ranks of the data set.
    critical_difference : float
        Methods whose ranks differ by less are not told apart (Nemenyi test, 5 %).
    p : float or None
        Of the Friedman test that all methods are alike; None for two methods.
    """

    footing: str
    score: str
    n_data: int
    ranks: Mapping[str, float]
    critical_difference: float
    p: float | None


def check_rivals(adapters: Sequence[str], against: Sequence[str], registry: Registry) -> tuple[Rival, ...]:
    """All methods of the comparison, each once: the adapters with aligned fusion, then the rivals; none without rivals.

    Raises
    ------
    UnknownNameError
        If there is no such method or arm.
    InputError
        If a baseline has an arm.
    """
    found: dict[str, Rival] = {}
    for text in (*adapters, *against) if against else ():
        name, colon, arm = text.partition(":")
        record = registry.method(name)
        if not isinstance(record, AdapterRecord):
            if colon:
                raise InputError(f"Baseline {name!r} has no arms; got {text!r}.")
            arm = BASELINE
        else:
            arm = arm or MAIN_ARM
            registry.fusion(arm)
        shown = name if arm in (MAIN_ARM, BASELINE) else f"{name}:{arm}"
        found.setdefault(shown, Rival(shown, name, arm, record.distribution, record.version))
    return tuple(found.values())


def extra_arms(methods: Sequence[Rival], adapters: Sequence[str], arms: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Arms of every method that the study would not run without rivals."""
    extra: dict[str, list[str]] = {}
    for each in methods:
        if each.method not in adapters or each.arm not in arms:
            extra.setdefault(each.method, []).append(each.arm)
    return {method: tuple(found) for method, found in extra.items()}


def summarise_rivals(
    records: Sequence[Record],
    extra: Sequence[Record],
    methods: Sequence[Rival],
    *,
    score: str,
    footings: Sequence[str],
    lam_arms: Sequence[str],
) -> tuple[RivalSummary, ...]:
    """Rows of all methods, footing by footing and data set by data set.

    For every footing and score, p and intervals are corrected for the number of rows (Holm). ``lam_arms`` are the arms
    that depend on ``lam``.
    """
    if not methods:
        return ()
    runs: dict[tuple[str, str, str], list[Record]] = {}
    for record in (*records, *extra):
        runs.setdefault((record.setting.dataset, record.setting.adapter, record.arm), []).append(record)
    in_extra = {(record.setting.adapter, record.arm) for record in extra}
    rows: list[RivalSummary] = []
    for footing in footings:
        found: list[tuple[RivalSummary, list[Record]]] = []
        for dataset in dict.fromkeys(record.setting.dataset for record in records):
            for method in methods:
                mine = runs.get((dataset, method.method, method.arm), [])
                chosen, n_settings = _chosen(mine, footing, score, with_lam=method.arm in lam_arms)
                is_extra = (method.method, method.arm) in in_extra
                found.append((_row(footing, dataset, method, chosen, n_settings, is_extra), chosen))
        rows += _compared(found, methods[0])
    return tuple(rows)


def _chosen(runs: Sequence[Record], footing: str, score: str, *, with_lam: bool) -> tuple[list[Record], int]:
    """Runs at the setting of the footing, and the number of settings it was chosen from."""
    settings: dict[object, list[Record]] = {}
    for each in grouped(runs, lambda r: setting_key(r.setting)):
        settings.setdefault(setting_key(each[0].setting, with_lam=with_lam), each)
    grid = list(settings.values())
    if not grid:
        return [], 0
    if footing == FOOTINGS[0]:
        return grid[0], 1
    unlabelled = any(record.status == DONE and record.scores is None for record in runs)
    if footing == "best" and not unlabelled:
        return highest(grid, score), len(grid)
    return agreed_setting(grid), len(grid)


def _row(
    footing: str, dataset: str, method: Rival, runs: Sequence[Record], n_settings: int, is_extra: bool
) -> RivalSummary:
    if not runs:
        reason = f"The adapter {method.method!r} has no arm {method.arm!r}."
        return RivalSummary(footing, dataset, method, None, None, FAILED, reason, {}, is_extra)
    times = [record.seconds for record in runs if record.seconds is not None]
    failed = [record for record in runs if record.status != DONE]
    return RivalSummary(
        footing=footing,
        dataset=dataset,
        method=method,
        summary=arm_summary(runs, n_settings),
        seconds=float(np.mean(times)) if times else None,
        status=DONE if len(failed) < len(runs) else failed[0].status,
        reason=failed[0].reason if failed else "",
        differences={},
        is_extra=is_extra,
    )


def _compared(rows: Sequence[tuple[RivalSummary, list[Record]]], first: Rival) -> list[RivalSummary]:
    """Rows with the differences from the first method."""
    scores = [{r.repeat: r.scores for r in runs if r.scores is not None} for _, runs in rows]
    own = {row.dataset: scores[at] for at, (row, _) in enumerate(rows) if row.method == first}
    differences: list[dict[str, Difference]] = [{} for _ in rows]
    pairs = {}
    for at, (row, _) in enumerate(rows):
        repeats = [repeat for repeat in own[row.dataset] if repeat in scores[at]]
        if row.method != first and repeats:
            pairs[at] = own[row.dataset], scores[at], repeats
    for score in SCORES:
        values = [([a[i][score] for i in repeats], [b[i][score] for i in repeats]) for a, b, repeats in pairs.values()]
        for at, found in zip(pairs, compare_rows(values, (first.name, "")), strict=True):
            differences[at][score] = replace(found, arms=(first.name, rows[at][0].method.name))
    return [replace(row, differences=found) for (row, _), found in zip(rows, differences, strict=True)]


def average_ranks(rows: Sequence[RivalSummary], score: str = "acc", footing: str = "fixed") -> AverageRanks | None:
    """Average ranks of the methods over data sets, with a critical difference.

    Parameters
    ----------
    rows : sequence of RivalSummary
        ``against`` of a result.
    score : {"acc", "nmi", "purity", "fscore", "ari"}, default="acc"
    footing : {"fixed", "agreement", "best"}, default="fixed"

    Returns
    -------
    AverageRanks or None
        None for fewer than five data sets with labels.
    """
    from scipy import stats  # takes longer to import than the rest of the study

    means: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.footing == footing:
            mean = None if row.summary is None else row.summary.mean.get(score)
            means.setdefault(row.dataset, {})[row.method.name] = -np.inf if mean is None else round(mean, DIGITS)
    scored = [by_method for by_method in means.values() if np.isfinite(max(by_method.values()))]
    if len(scored) < LEAST_DATA_SETS:
        return None
    names = list(scored[0])
    values = np.array([[by_method[name] for name in names] for by_method in scored])
    n, k = values.shape
    mean_ranks = stats.rankdata(-values, axis=1).mean(axis=0)
    ordered = sorted(zip(mean_ranks.tolist(), names, strict=True))
    quantile = float(stats.studentized_range.ppf(0.95, k, np.inf)) / np.sqrt(2)
    p = None
    if k > 2 and np.ptp(mean_ranks) > 0:
        # Failed runs share the last rank: any number below all means gives this rank.
        p = float(stats.friedmanchisquare(*np.where(np.isfinite(values), values, -1.0).T).pvalue)
    return AverageRanks(
        footing, score, n, {name: rank for rank, name in ordered}, float(quantile * np.sqrt(k * (k + 1) / (6 * n))), p
    )
