"""The tables of a study before they have a format: :func:`study_tables` makes all of them, in the order of reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..study import (
    ALIGNED_BETTER,
    ALWAYS_HIGHER,
    DONE,
    NO_DIFFERENCE,
    NOTHING_TO_ALIGN,
    ONE_REPEAT,
    UNALIGNED_BETTER,
    Anchors,
    ArmSummary,
    Setting,
    StudyResult,
    Summary,
)
from ._arms import Arms
from ._footing_table import footing_table
from ._formatting import (
    MINUS,
    NOTHING,
    Varying,
    anchors_text,
    interval_text,
    number_text,
    p_text,
    params_text,
    percent,
    points,
    score_name,
    varying,
)
from ._report_table import Column, ReportTable, TableCell, TableRow, cells

HIGHEST = "highest mean in bold"
# How the settings of each footing are chosen, where they are.
CHOSEN_BY = {
    "agreement": "at the setting that agreement of the views chooses, no labels used",
    "best": "at its best setting, chosen by label, which is optimistic",
}
FAILED_TEXT = "failed"
# As many as fit 80 columns and the width of a page.
LAMS_IN_A_ROW = 7
_DIFFERENCE_COLUMNS = (
    *(Column(header, numbers=True) for header in ("mean", "95 % interval", "p", "n")),
    Column("verdict"),
)
_SHORT_VERDICTS = {
    ALIGNED_BETTER: "better",
    UNALIGNED_BETTER: "worse",
    NO_DIFFERENCE: "no clear diff.",
    NOTHING_TO_ALIGN: "the same",
    ONE_REPEAT: "one repeat",
    ALWAYS_HIGHER[True]: "always higher",
    ALWAYS_HIGHER[False]: "always lower",
}


def study_tables(result: StudyResult) -> tuple[ReportTable, ...]:
    """All tables of a study.

    For each footing the scores come first, then the differences. The scores of a sweep are laid out by anchors and
    ``lam``. With the footing "agreement", the last table has all footings side by side. What failed, or has no labels,
    is said once, below the first scores.
    """
    scores: list[ReportTable] = []
    rest: list[ReportTable] = []
    fixed = result.of_footing("fixed")
    if fixed:
        vary = varying(row.setting for row in fixed if row.setting)
        scores += _sweep_tables(result, fixed, vary) if result.kind == "sweep" else [_scores(result, fixed, vary)]
        if any(row.differences for row in fixed):
            rest.append(_differences(result, fixed, vary))
    for footing in CHOSEN_BY:
        if chosen := result.of_footing(footing):
            (rest if scores else scores).append(_chosen_scores(result, chosen))
            if any(row.differences for row in chosen):
                rest.append(_chosen_differences(result, chosen))
    if result.of_footing("agreement") and (footings := footing_table(result)) is not None:
        rest.append(footings)
    if scores:
        scores[-1] = replace(scores[-1], notes=(*_failures(result), *_unlabelled(result)))
    return (*scores, *rest)


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
    return tuple(
        TableCell(_mean_text(arm, score), mean is not None and mean == top)
        for arm, mean in zip(found, means, strict=True)
    )


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


def _over_repeats(result: StudyResult, *, sd: bool = True) -> str:
    """What the numbers of a table are: "ACC in %, mean ± sd over 10 repeats"."""
    spread = " ± sd" if sd else ""
    what = "one repeat" if result.repeats == 1 else f"mean{spread} over {result.repeats} repeats"
    return f"{score_name(result.score)} in %, {what}"


def _scores(result: StudyResult, rows: Sequence[Summary], vary: Varying) -> ReportTable:
    """The arms of every setting side by side."""
    shown, arms = replace(vary, anchors=True), Arms.of(result)
    return ReportTable(
        f"{_over_repeats(result)}, all arms on the same anchors; fixed settings, nothing chosen by label{vary.common}",
        (*_setting_columns(shown), *(Column(arm, numbers=True) for arm in arms)),
        tuple(
            (*_setting_cells(row.setting, shown), *arm_cells(row, arms, result.score)) for row in rows if row.setting
        ),
        bold=HIGHEST,
    )


def _differences(result: StudyResult, rows: Sequence[Summary], vary: Varying) -> ReportTable:
    """What alignment changes at every setting, and how sure that is."""
    return ReportTable(
        f"aligned {MINUS} unaligned in points of {score_name(result.score)}, {_statistics(result)}",
        (*_setting_columns(vary), *_DIFFERENCE_COLUMNS),
        tuple((*_setting_cells(row.setting, vary), *_difference_cells(row, result)) for row in rows if row.setting),
    )


def _chosen_scores(result: StudyResult, rows: Sequence[Summary]) -> ReportTable:
    """Every arm at its own chosen setting, one line for each arm."""
    vary, arms = varying(arm.setting for row in rows for arm in row.arms.values()), Arms.of(result)
    columns = [Column("data", merged=True), Column("adapter", merged=True), Column("arm")]
    columns += [Column(header, numbers=True) for header in (score_name(result.score), "anchors", "lam")]
    columns += [Column("settings")] if vary.any_params else []
    columns += [Column("best of" if rows[0].footing == "best" else "one of", numbers=True)]
    lines: list[TableRow] = []
    for row in rows:
        for name, cell in zip(arms, arm_cells(row, arms, result.score), strict=True):
            if (arm := row.arms.get(name)) is not None:
                lam = number_text(arm.setting.lam) if arms.depends_on_lam(name) else NOTHING
                where = [anchors_text(arm.setting.n_anchors), lam]
                where += [params_text(vary.of(arm.setting))] if vary.any_params else []
                lines.append((*cells(row.dataset, row.adapter, name), cell, *cells(*where, str(arm.n_settings))))
    caption = f"{_over_repeats(result)}; every arm {CHOSEN_BY[rows[0].footing]}"
    return ReportTable(f"{caption}{_more_settings(rows)}", tuple(columns), tuple(lines), bold=HIGHEST)


def _chosen_differences(result: StudyResult, rows: Sequence[Summary]) -> ReportTable:
    """What alignment changes where both arms are at their chosen setting."""
    return ReportTable(
        f"aligned {MINUS} unaligned in points of {score_name(result.score)}, each {CHOSEN_BY[rows[0].footing]}"
        f"{_more_settings(rows)}; {_statistics(result)}",
        (Column("data", merged=True), Column("adapter"), *_DIFFERENCE_COLUMNS),
        tuple((*cells(row.dataset, row.adapter), *_difference_cells(row, result)) for row in rows),
    )


def _statistics(result: StudyResult) -> str:
    """How intervals and p were computed, where there are any."""
    if result.repeats == 1:
        return "one repeat: no interval, no p"
    many = ", not corrected for the number of rows" if len(result.summaries) > 1 else ""
    return f"paired by repeat; 95 % interval (Student's t); p of the signed-rank test{many}; n repeats"


def _more_settings(rows: Sequence[Summary]) -> str:
    pairs = [(row.arms["aligned"], row.arms["unaligned"]) for row in rows if {"aligned", "unaligned"} <= set(row.arms)]
    more = any(aligned.n_settings > unaligned.n_settings for aligned, unaligned in pairs)
    return "; aligned chose from more settings than unaligned" if more else ""


def _difference_cells(row: Summary, result: StudyResult) -> TableRow:
    found = row.differences.get(result.score)
    if found is None:
        unlabelled = any(arm.n_done and not arm.mean for arm in row.arms.values())
        return cells(NOTHING, NOTHING, NOTHING, "0", "not scored" if unlabelled else FAILED_TEXT)
    interval = interval_text(found.low, found.high)
    verdict = TableCell(found.verdict, short=_SHORT_VERDICTS.get(found.verdict, ""))
    return (*cells(points(found.mean), interval, p_text(found.p), str(found.n)), verdict)


def _setting_columns(vary: Varying) -> list[Column]:
    columns = [Column("data", merged=True), Column("adapter", merged=True)]
    columns += [Column("settings", merged=True)] if vary.any_params else []
    columns += [Column("anchors", numbers=True)] if vary.anchors else []
    return columns + ([Column("lam", numbers=True)] if vary.lam else [])


def _setting_cells(setting: Setting, vary: Varying) -> TableRow:
    texts = [setting.dataset, setting.adapter]
    texts += [params_text(vary.of(setting))] if vary.any_params else []
    texts += [anchors_text(setting.n_anchors)] if vary.anchors else []
    return cells(*texts, *([number_text(setting.lam)] if vary.lam else []))


def _sweep_tables(result: StudyResult, rows: Sequence[Summary], vary: Varying) -> list[ReportTable]:
    """One table for each data set, adapter and setting of the adapter, with anchors as rows and ``lam`` as columns."""
    groups: dict[tuple[str, str, str], dict[Anchors, dict[float, Summary]]] = {}
    for row in rows:
        if row.setting is not None:
            params = params_text(vary.of(row.setting)) if vary.any_params else ""
            lines = groups.setdefault((row.dataset, row.adapter, params), {})
            lines.setdefault(row.setting.n_anchors, {})[row.setting.lam] = row
    tables = []
    others = [arm for arm in Arms.of(result).without_lam if arm != "unaligned"]
    for (dataset, adapter, params), lines in groups.items():
        name = ", ".join(filter(None, (dataset, adapter, params)))
        common = varying(row.setting for row in rows if row.setting and row.adapter == adapter).common
        caption = f"{name}: {_over_repeats(result, sd=False)}; aligned for every lam; nothing chosen by label{common}"
        lams = list(dict.fromkeys(lam for line in lines.values() for lam in line))
        for at in range(0, len(lams), LAMS_IN_A_ROW):
            block = lams[at : at + LAMS_IN_A_ROW]
            headers = ("anchors", "unaligned", *(f"lam {number_text(lam)}" for lam in block), *others)
            tables.append(
                ReportTable(
                    f"{name}, continued" if at else caption,
                    tuple(Column(text, numbers=True) for text in headers),
                    tuple(_sweep_row(m, line, block, others, result.score) for m, line in lines.items()),
                    bold="above unaligned in bold",
                )
            )
    return tables


def _sweep_row(
    n_anchors: Anchors, line: dict[float, Summary], lams: Sequence[float], others: Sequence[str], score: str
) -> TableRow:
    """One number of anchors; arms that do not depend on ``lam`` are the same in all rows of the result."""
    arms = next(iter(line.values())).arms
    base = _shown_mean(arms.get("unaligned"), score)
    made = [*cells(anchors_text(n_anchors), _mean_text(arms.get("unaligned"), score, sd=False))]
    for lam in lams:
        aligned = line[lam].arms.get("aligned") if lam in line else None
        mean = _shown_mean(aligned, score)
        # Compared with unaligned, not with the row: aligned has a chance for every lam, the other arms have one.
        above = mean is not None and base is not None and mean > base
        made.append(TableCell(_mean_text(aligned, score, sd=False), above))
    return (*made, *cells(*(_mean_text(arms.get(arm), score, sd=False) for arm in others)))


def _failures(result: StudyResult) -> list[str]:
    """One line for every data set, adapter and reason."""
    runs: Counter[tuple[str, str]] = Counter()
    failed: dict[tuple[str, str, str], list[str]] = {}
    for record in result.runs:
        where = record.setting.dataset, record.setting.adapter
        runs[where] += 1
        if record.reason:
            failed.setdefault((*where, record.reason), []).append(record.arm)
    lines, arms = [], Arms.of(result)
    for (dataset, adapter, reason), found in failed.items():
        which = [arm for arm in arms if arm in found]
        shown = "all arms" if len(which) == len(arms.fusions) else " and ".join(which)
        lines.append(f"failed: {dataset}, {adapter}, {shown}, {len(found)} of {runs[dataset, adapter]} runs: {reason}")
    return lines


def _unlabelled(result: StudyResult) -> list[str]:
    names = dict.fromkeys(r.setting.dataset for r in result.records if r.status == DONE and r.scores is None)
    return [f"{name}: clustered but not scored: the data have no labels" for name in names]
