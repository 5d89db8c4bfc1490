"""Tables of a study before they have a format: which columns there are, how each row reads, and what stands out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..study import LAM_ARMS, ArmSummary, Setting, StudyResult, Summary
from ..study._anchors import Anchors
from ..study._statistics import (
    ALIGNED_BETTER,
    ALWAYS_HIGHER,
    NO_DIFFERENCE,
    NOTHING_TO_ALIGN,
    ONE_REPEAT,
    UNALIGNED_BETTER,
)
from ._tables_cells import FAILED_CELL, Cell, Column, Grid, Row, cells
from ._text import (
    MINUS,
    NOTHING,
    SCORE_NAMES,
    anchors_text,
    interval_text,
    number_text,
    option_texts,
    p_text,
    params_text,
    percent,
    points,
)

HIGHEST = "highest mean in bold"
_DIFFERENCE_COLUMNS = (
    Column("mean", numbers=True),
    Column("95 % interval", numbers=True),
    Column("p", numbers=True),
    Column("n", numbers=True),
    Column("verdict"),
)
_SHORT = {
    ALIGNED_BETTER: "better",
    UNALIGNED_BETTER: "worse",
    NO_DIFFERENCE: "no clear diff.",
    NOTHING_TO_ALIGN: "the same",
    ONE_REPEAT: "one repeat",
    ALWAYS_HIGHER[True]: "always higher",
    ALWAYS_HIGHER[False]: "always lower",
}


@dataclass(frozen=True)
class Varying:
    """Which settings tell rows apart, and what all rows have in common.

    Attributes
    ----------
    anchors, lam : bool
        Whether rows of one data set and adapter differ in it, and whether any rows do.
    params : dict of set of str
        By adapter, the names of settings that rows of that adapter differ in.
    common : str
        What does not vary, for the caption; empty, or starting with "; ".
    """

    anchors: bool
    lam: bool
    params: dict[str, set[str]]
    common: str

    @property
    def any_params(self) -> bool:
        """Whether there is a setting of an adapter to show in a column."""
        return any(self.params.values())

    def of(self, setting: Setting) -> list[tuple[str, object]]:
        """The adapter's settings that vary."""
        return [(name, value) for name, value in setting.params if name in self.params[setting.adapter]]


def varying(settings: Iterable[Setting]) -> Varying:
    """Which settings differ between rows."""
    rows = list(settings)
    anchors: dict[tuple[str, str], set[Anchors]] = {}
    values: dict[str, list[dict[str, str]]] = {}
    for setting in rows:
        anchors.setdefault((setting.dataset, setting.adapter), set()).add(setting.n_anchors)
        values.setdefault(setting.adapter, []).append({name: repr(value) for name, value in setting.params})
    params = {
        adapter: {name for each in given for name in each if len({other.get(name) for other in given}) > 1}
        for adapter, given in values.items()
    }
    lams = {setting.lam for setting in rows}
    common = [f"lam {number_text(lam)}" for lam in lams] if len(lams) == 1 else []
    common += option_texts(rows[0].options) if rows else []  # those of a study are the same in all rows
    shared: dict[str, list[str]] = {}
    for adapter, names in params.items():
        first = next(setting for setting in rows if setting.adapter == adapter)
        same = [(name, value) for name, value in first.params if name not in names]
        if same:
            shared.setdefault(params_text(same), []).append(adapter)
    common += [f"{', '.join(adapters)} with {text}" for text, adapters in shared.items()]
    return Varying(
        anchors=any(len(found) > 1 for found in anchors.values()),
        lam=len(lams) > 1,
        params=params,
        common="".join(f"; {text}" for text in common),
    )


def over_repeats(result: StudyResult, *, sd: bool = True) -> str:
    """What the numbers of a table are: "ACC in %, mean ± sd over 10 repeats"."""
    spread = " ± sd" if sd else ""
    what = "one repeat" if result.repeats == 1 else f"mean{spread} over {result.repeats} repeats"
    return f"{SCORE_NAMES[result.score]} in %, {what}"


def arm_text(arm: ArmSummary | None, score: str, *, sd: bool = True) -> str:
    """Mean and sd of an arm, or why there is none."""
    if arm is None:
        return NOTHING
    if not arm.n_done:
        return FAILED_CELL
    if score not in arm.mean:
        return NOTHING
    mean = percent(arm.mean[score])
    return f"{mean} ± {percent(arm.sd[score])}" if sd and score in arm.sd else mean


def arm_cells(summary: Summary, arms: Sequence[str], score: str) -> Row:
    """The arms of a row, the highest in bold.

    Arms are compared as they read, to the digit shown, so that what looks equal is treated alike; an arm with failed
    runs is not compared with those that have none.
    """
    found = [summary.arms.get(arm) for arm in arms]
    most = max((arm.n_done for arm in found if arm), default=0)
    means = [shown_mean(arm, score) if arm and arm.n_done == most else None for arm in found]
    compared = [mean for mean in means if mean is not None]
    top = max(compared) if len(compared) > 1 else None
    return tuple(
        Cell(arm_text(arm, score), mean is not None and mean == top) for arm, mean in zip(found, means, strict=True)
    )


def shown_mean(arm: ArmSummary | None, score: str) -> float | None:
    """Mean of an arm to the digit that tables show."""
    return None if arm is None or score not in arm.mean else round(100 * arm.mean[score], 1)


def scores_grid(result: StudyResult, rows: Sequence[Summary], vary: Varying) -> Grid:
    """The arms of every setting side by side."""
    everywhere = replace(vary, anchors=True)
    arms = result.arms
    return Grid(
        f"{over_repeats(result)}, all arms on the same anchors; fixed settings, nothing chosen by label{vary.common}",
        (*_where_columns(everywhere), *(Column(arm, numbers=True) for arm in arms)),
        tuple((*_where(row.setting, everywhere), *arm_cells(row, arms, result.score)) for row in rows if row.setting),
        bold=HIGHEST,
    )


def differences_grid(result: StudyResult, rows: Sequence[Summary], vary: Varying) -> Grid:
    """What alignment changes at every setting, and how sure that is."""
    return Grid(
        f"aligned {MINUS} unaligned in points of {SCORE_NAMES[result.score]}, {_statistics(result)}",
        (*_where_columns(vary), *_DIFFERENCE_COLUMNS),
        tuple((*_where(row.setting, vary), *_difference_cells(row, result.score)) for row in rows if row.setting),
    )


def best_grid(result: StudyResult, rows: Sequence[Summary]) -> Grid:
    """Every arm at a setting of its own: one line an arm."""
    vary = varying(arm.setting for row in rows for arm in row.arms.values())
    columns = [Column("data", merged=True), Column("adapter", merged=True), Column("arm")]
    columns += [Column(header, numbers=True) for header in (SCORE_NAMES[result.score], "anchors", "lam")]
    columns += [Column("settings")] if vary.any_params else []
    columns += [Column("best of", numbers=True)]
    lines: list[Row] = []
    for row in rows:
        for name, cell in zip(result.arms, arm_cells(row, result.arms, result.score), strict=True):
            if (arm := row.arms.get(name)) is not None:
                where = [
                    anchors_text(arm.setting.n_anchors),
                    number_text(arm.setting.lam) if name in LAM_ARMS else NOTHING,
                ]
                where += [params_text(vary.of(arm.setting))] if vary.any_params else []
                lines.append((*cells(row.dataset, row.adapter, name), cell, *cells(*where, str(arm.n_settings))))
    return Grid(
        f"{over_repeats(result)}; every arm at its best setting, chosen by label, which is optimistic{_chances(rows)}",
        tuple(columns),
        tuple(lines),
        bold=HIGHEST,
    )


def best_differences_grid(result: StudyResult, rows: Sequence[Summary]) -> Grid:
    """What alignment changes where both arms are at their best setting."""
    return Grid(
        f"aligned {MINUS} unaligned in points of {SCORE_NAMES[result.score]}, each at its best setting, chosen by "
        f"label, which is optimistic{_chances(rows)}; {_statistics(result)}",
        (Column("data", merged=True), Column("adapter"), *_DIFFERENCE_COLUMNS),
        tuple((*cells(row.dataset, row.adapter), *_difference_cells(row, result.score)) for row in rows),
    )


def _statistics(result: StudyResult) -> str:
    """How intervals and p were had, where there are any."""
    if result.repeats == 1:
        return "one repeat: no interval, no p"
    many = ", not corrected for the number of rows" if len(result.summaries) > 1 else ""
    return f"paired by repeat; 95 % interval (Student's t); p of the signed-rank test{many}; n repeats"


def _chances(rows: Sequence[Summary]) -> str:
    """That aligned could choose from more settings, where it could."""
    pairs = [(row.arms["aligned"], row.arms["unaligned"]) for row in rows if {"aligned", "unaligned"} <= set(row.arms)]
    more = any(aligned.n_settings > unaligned.n_settings for aligned, unaligned in pairs)
    return "; aligned chose from more settings than unaligned" if more else ""


def _difference_cells(row: Summary, score: str) -> Row:
    found = row.differences.get(score)
    if found is None:
        unlabelled = any(arm.n_done and not arm.mean for arm in row.arms.values())
        return cells(NOTHING, NOTHING, NOTHING, "0", "not scored" if unlabelled else FAILED_CELL)
    interval = interval_text(found.low, found.high)
    verdict = Cell(found.verdict, short=_SHORT.get(found.verdict, ""))
    return (*cells(points(found.mean), interval, p_text(found.p), str(found.n)), verdict)


def _where_columns(vary: Varying) -> list[Column]:
    columns = [Column("data", merged=True), Column("adapter", merged=True)]
    columns += [Column("settings", merged=True)] if vary.any_params else []
    columns += [Column("anchors", numbers=True)] if vary.anchors else []
    return columns + ([Column("lam", numbers=True)] if vary.lam else [])


def _where(setting: Setting, vary: Varying) -> Row:
    texts = [setting.dataset, setting.adapter]
    texts += [params_text(vary.of(setting))] if vary.any_params else []
    texts += [anchors_text(setting.n_anchors)] if vary.anchors else []
    return cells(*texts, *([number_text(setting.lam)] if vary.lam else []))
