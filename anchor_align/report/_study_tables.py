"""All tables of a study, in the order of reading, before they have a format."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..study import Anchors, ArmSummary, StudyResult, Summary
from ._arms import Arms
from ._difference_tables import CHOSEN_BY, difference_tables, more_settings
from ._footing_table import footing_table
from ._formatting import (
    NOTHING,
    Varying,
    anchors_text,
    number_text,
    params_text,
    percent,
    score_name,
    varying,
)
from ._report_table import FAILED_TEXT, Column, ReportTable, TableCell, TableRow, cells, setting_cells, setting_columns
from ._rival_tables import rival_tables
from ._unlabelled_tables import is_unlabelled, unlabelled_tables

HIGHEST = "highest mean in bold"
# As many as fit 80 columns and the width of a page.
LAMS_IN_A_ROW = 7


def study_tables(result: StudyResult) -> tuple[ReportTable, ...]:
    """All tables of a study.

    Methods that are compared with each other come first. For each footing the scores of the arms come before the
    differences. The scores of a sweep are laid out by anchors and ``lam``. With the footing "agreement", the last table
    has all footings side by side. Data without labels have tables of their own, without scores. What failed is said
    once, below the first scores.
    """
    scores: list[ReportTable] = []
    rest: list[ReportTable] = []
    fixed = [row for row in result.of_footing("fixed") if not is_unlabelled(row)]
    if fixed:
        vary = varying(row.setting for row in fixed if row.setting)
        scores += _sweep_tables(result, fixed, vary) if result.kind == "sweep" else [_scores(result, fixed, vary)]
        rest += difference_tables(result, fixed, vary)
    for footing in CHOSEN_BY:
        if chosen := [row for row in result.of_footing(footing) if not is_unlabelled(row)]:
            (rest if scores else scores).append(_chosen_scores(result, chosen))
            rest += difference_tables(result, chosen, None)
    if result.of_footing("agreement") and (footings := footing_table(result)) is not None:
        rest.append(footings)
    known = unlabelled_tables(result)
    if first := scores or known:
        first[-1] = replace(first[-1], notes=(*_failures(result), *first[-1].notes))
    return (*rival_tables(result), *scores, *rest, *known)


def arm_cells(summary: Summary, arms: Iterable[str], score: str) -> TableRow:
    """The arms of a row, the highest in bold.

    Means are compared as they read, to the digit shown, so that equal numbers are treated alike. An arm with failed
    runs is not compared with arms that have none.
    """
    found = [summary.arms.get(arm) for arm in arms]
    most = max((arm.n_done for arm in found if arm), default=0)
    means = [_shown_mean(arm, score) if arm and arm.n_done == most else None for arm in found]
    compared = [mean for mean in means if mean is not None]
    top = max(compared) if len(compared) > 1 else None
    return tuple(TableCell(_mean_text(arm, score), _is_top(mean, top)) for arm, mean in zip(found, means, strict=True))


def _shown_mean(arm: ArmSummary | None, score: str) -> float | None:
    """Mean of an arm to the digit that tables show."""
    return None if arm is None or score not in arm.mean else round(100 * arm.mean[score], 1)


def _mean_text(arm: ArmSummary | None, score: str, *, sd: bool = True) -> str:
    """Mean and sd of an arm, or why there is none."""
    if arm is not None and not arm.n_done:
        return FAILED_TEXT
    if arm is None or score not in arm.mean:
        return NOTHING
    mean = percent(arm.mean[score])
    return f"{mean} ± {percent(arm.sd[score])}" if sd and score in arm.sd else mean


def _over_repeats(result: StudyResult, scores: Sequence[str], *, sd: bool = True) -> str:
    """What the numbers of a table are: "ACC in %, mean ± sd over 10 repeats"."""
    spread = " ± sd" if sd else ""
    what = "one repeat" if result.repeats == 1 else f"mean{spread} over {result.repeats} repeats"
    return f"{', '.join(map(score_name, scores))} in %, {what}"


def _scores(result: StudyResult, rows: Sequence[Summary], vary: Varying) -> ReportTable:
    """The arms of every setting side by side, a line for each score."""
    shown, arms = replace(vary, anchors=True), Arms.of(result)
    return ReportTable(
        f"{_over_repeats(result, result.scores)}, all arms on the same anchors; fixed settings, nothing chosen by "
        f"label{vary.common}",
        (*setting_columns(shown), *_score_column(result), *(Column(arm, numbers=True) for arm in arms)),
        tuple(
            (*setting_cells(row.setting, shown), *_score_cell(result, score), *arm_cells(row, arms, score))
            for row in rows
            if row.setting
            for score in result.scores
        ),
        bold=HIGHEST,
    )


def _score_column(result: StudyResult) -> list[Column]:
    """A column for the name of the score, where there are several."""
    return [Column("score")] if result.more_scores else []


def _score_cell(result: StudyResult, score: str) -> TableRow:
    return cells(score_name(score)) if result.more_scores else ()


def _chosen_scores(result: StudyResult, rows: Sequence[Summary]) -> ReportTable:
    """Every arm at its own chosen setting, one line for each arm."""
    vary, arms = varying(arm.setting for row in rows for arm in row.arms.values()), Arms.of(result)
    columns = [Column("data", merged=True), Column("adapter", merged=True), Column("arm")]
    columns += [Column(header, numbers=True) for header in (*map(score_name, result.scores), "anchors", "lam")]
    columns += [Column("settings")] if vary.any_params else []
    columns += [Column("best of" if rows[0].footing == "best" else "one of", numbers=True)]
    lines: list[TableRow] = []
    for row in rows:
        by_score = [arm_cells(row, arms, score) for score in result.scores]
        for name, *means in zip(arms, *by_score, strict=True):
            if (arm := row.arms.get(name)) is not None:
                lam = number_text(arm.setting.lam) if arms.depends_on_lam(name) else NOTHING
                where = [anchors_text(arm.setting.n_anchors), lam]
                where += [params_text(vary.of(arm.setting))] if vary.any_params else []
                lines.append((*cells(row.dataset, row.adapter, name), *means, *cells(*where, str(arm.n_settings))))
    by = f" ({score_name(result.score)})" if result.more_scores and rows[0].footing == "best" else ""
    caption = (
        f"{_over_repeats(result, result.scores)}; every arm {CHOSEN_BY[rows[0].footing]}{by}"
        f"{more_settings(rows, result.versus[0])}"
    )
    return ReportTable(caption, tuple(columns), tuple(lines), bold=HIGHEST)


def _sweep_tables(result: StudyResult, rows: Sequence[Summary], vary: Varying) -> list[ReportTable]:
    """One table for each data set, adapter and setting of the adapter, with anchors as rows and ``lam`` as columns."""
    groups: dict[tuple[str, str, str], dict[Anchors, dict[float, Summary]]] = {}
    for row in rows:
        if row.setting is not None:
            params = params_text(vary.of(row.setting)) if vary.any_params else ""
            lines = groups.setdefault((row.dataset, row.adapter, params), {})
            lines.setdefault(row.setting.n_anchors, {})[row.setting.lam] = row
    others = [arm for arm in Arms.of(result).without_lam if arm != "unaligned"]
    tables: list[ReportTable] = []
    for score, ((dataset, adapter, params), lines) in itertools.product(result.scores, groups.items()):
        name = ", ".join(filter(None, (dataset, adapter, params)))
        common = varying(row.setting for row in rows if row.setting and row.adapter == adapter).common
        tables += _sweep_blocks(result, score, name, lines, others, common)
    return tables


def _sweep_blocks(
    result: StudyResult,
    score: str,
    name: str,
    lines: dict[Anchors, dict[float, Summary]],
    others: Sequence[str],
    common: str,
) -> Iterable[ReportTable]:
    """The table of one score, in blocks of as many ``lam`` as fit."""
    repeats = _over_repeats(result, [score], sd=False)
    caption = f"{name}: {repeats}; aligned for every lam; nothing chosen by label{common}"
    lams = list(dict.fromkeys(lam for line in lines.values() for lam in line))
    for at in range(0, len(lams), LAMS_IN_A_ROW):
        block = lams[at : at + LAMS_IN_A_ROW]
        headers = ("anchors", "unaligned", *(f"lam {number_text(lam)}" for lam in block), *others)
        yield ReportTable(
            f"{name}: {score_name(score)}, continued" if at else caption,
            tuple(Column(text, numbers=True) for text in headers),
            tuple(_sweep_row(m, line, block, others, score) for m, line in lines.items()),
            bold=HIGHEST,
        )


def _sweep_row(
    n_anchors: Anchors, line: dict[float, Summary], lams: Sequence[float], others: Sequence[str], score: str
) -> TableRow:
    """One number of anchors; arms that do not depend on ``lam`` are the same in all rows of the result."""
    arms = next(iter(line.values())).arms
    shown = [arms.get("unaligned"), *(line[lam].arms.get("aligned") if lam in line else None for lam in lams)]
    shown += [arms.get(arm) for arm in others]
    # The highest of all lams, also of those in other blocks of the table.
    every = [*(row.arms.get("aligned") for row in line.values()), *(arms.get(arm) for arm in ("unaligned", *others))]
    top = max((mean for arm in every if (mean := _shown_mean(arm, score)) is not None), default=None)
    means = (TableCell(_mean_text(arm, score, sd=False), _is_top(_shown_mean(arm, score), top)) for arm in shown)
    return (*cells(anchors_text(n_anchors)), *means)


def _is_top(mean: float | None, top: float | None) -> bool:
    return mean is not None and mean == top


def _failures(result: StudyResult) -> list[str]:
    """One line for every reason, with the runs that it stopped; tables of rivals have their own.

    Reasons that differ only in the names of files, which may be temporary, are one; the first is shown.
    """
    runs: Counter[tuple[str, str]] = Counter()
    failed: dict[str, dict[tuple[str, str], list[str]]] = {}
    first: dict[str, str] = {}
    extra = {(record.setting.adapter, record.arm) for record in result.rival_records}
    for record in result.runs:
        if (record.setting.adapter, record.arm) in extra:
            continue
        where = record.setting.dataset, record.setting.adapter
        runs[where] += 1
        if record.reason:
            reason = first.setdefault(re.sub(r"\S*[/\\]\S*", "", record.reason), record.reason)
            failed.setdefault(reason, {}).setdefault(where, []).append(record.arm)
    lines, arms = [], Arms.of(result)
    for reason, places in failed.items():
        texts = []
        for where, found in places.items():
            which = [arm for arm in arms if arm in found]
            shown = "all arms" if len(which) == len(arms.fusions) else " and ".join(which)
            texts.append(f"{', '.join(where)}, {shown}, {len(found)} of {runs[where]} runs")
        lines.append(f"failed: {'; '.join(texts)}: {reason}")
    return lines
