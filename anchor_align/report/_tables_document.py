"""All tables of a study in the order of reading, and what has to be said below them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..study import StudyResult
from ._tables_cells import Grid
from ._tables_pivot import pivots
from ._tables_rows import best_differences_grid, best_grid, differences_grid, scores_grid, varying


def document(result: StudyResult) -> tuple[Grid, ...]:
    """All tables of a study.

    For each footing the scores come first, then the differences. The scores of a sweep are laid out by anchors and
    ``lam``. What failed, or has no labels, is said once, below the first scores.
    """
    scores: list[Grid] = []
    rest: list[Grid] = []
    fixed, best = result.of_footing("fixed"), result.of_footing("best")
    if fixed:
        vary = varying(row.setting for row in fixed if row.setting)
        scores += pivots(result, fixed, vary) if result.kind == "sweep" else [scores_grid(result, fixed, vary)]
        if any(row.differences for row in fixed):
            rest.append(differences_grid(result, fixed, vary))
    if best:
        (rest if scores else scores).append(best_grid(result, best))
        if any(row.differences for row in best):
            rest.append(best_differences_grid(result, best))
    if scores:
        scores[-1] = replace(scores[-1], notes=notes(result))
    return (*scores, *rest)


def notes(result: StudyResult) -> tuple[str, ...]:
    """What failed and why, and what could not be scored."""
    return (*_failures(result), *_unlabelled(result))


def _failures(result: StudyResult) -> list[str]:
    """One line for every data set, adapter and reason."""
    runs: Counter[tuple[str, str]] = Counter()
    failed: dict[tuple[str, str, str], list[str]] = {}
    for record in result.runs:
        where = record.setting.dataset, record.setting.adapter
        runs[where] += 1
        if record.reason:
            failed.setdefault((*where, record.reason), []).append(record.arm)
    lines = []
    for (dataset, adapter, reason), found in failed.items():
        arms = [arm for arm in result.arms if arm in found]
        which = "all arms" if len(arms) == len(result.arms) else " and ".join(arms)
        count = f"{len(found)} of {runs[dataset, adapter]} runs"
        lines.append(f"failed: {dataset}, {adapter}, {which}, {count}: {reason}")
    return lines


def _unlabelled(result: StudyResult) -> list[str]:
    names = dict.fromkeys(r.setting.dataset for r in result.records if r.status == "done" and r.scores is None)
    return [f"{name}: clustered but not scored: the data have no labels" for name in names]
