"""Tables of differences: two arms in every row of a study, and over its data sets, with intervals, p and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..study import (
    BETTER,
    EQUAL,
    HIGHER,
    LOWER,
    NOTHING_TO_ALIGN,
    TOO_FEW,
    UNCLEAR,
    WORSE,
    Difference,
    StudyResult,
    Summary,
    over_data_sets,
)
from ._formatting import MINUS, NOTHING, Varying, count, interval_text, p_text, points, score_name
from ._report_table import FAILED_TEXT, Column, ReportTable, TableCell, TableRow, cells, setting_cells, setting_columns

# How the settings of each footing are chosen, where they are.
CHOSEN_BY = {
    "agreement": "at the setting that agreement of the views chooses, no labels used",
    "best": "at its best setting, chosen by label, which is optimistic",
}
DIFFERENCE_COLUMNS = (
    *(Column(header, numbers=True) for header in ("mean", "interval", "p", "n")),
    Column("verdict"),
)
_SHORT_VERDICTS = {
    BETTER: "better",
    WORSE: "worse",
    UNCLEAR: "no clear diff.",
    HIGHER: "always higher",
    LOWER: "always lower",
    EQUAL: "always the same",
    NOTHING_TO_ALIGN: "the same",
}


def difference_tables(result: StudyResult, rows: Sequence[Summary], vary: Varying | None) -> list[ReportTable]:
    """One table for every pair of arms and score; ``vary`` is None if each arm has its own setting.

    A table over data sets follows where there are enough of them for an interval.
    """
    tables = []
    for arms in result.versus:
        for score in result.scores:
            if any(arms in row.contrasts for row in rows):
                tables += [_row_table(result, rows, vary, arms, score), *_over_table(rows, arms, score)]
    return tables


def statistics_text(differences: Iterable[Difference | None], unit: str = "repeat") -> str:
    """Which test interval and p come from, and what they are corrected for.

    Examples
    --------
    >>> statistics_text([Difference(10, 0.1, 0.0, 0.2, 0.01, "better")])
    'paired by repeat; 95 % interval and p of the exact sign-flip test; n repeats'
    """
    n_tests = sum(each is not None and each.p is not None for each in differences)
    if n_tests == 0:
        return f"paired by {unit}; nothing to test; n {unit}s"
    many = f", corrected for {count(n_tests, 'test')} (Holm)" if n_tests > 1 else ""
    return f"paired by {unit}; 95 % interval and p of the exact sign-flip test{many}; n {unit}s"


def more_settings(rows: Sequence[Summary], arms: tuple[str, str]) -> str:
    """Whether the first arm was chosen from more settings than the second."""
    pairs = [(row.arms[arms[0]], row.arms[arms[1]]) for row in rows if set(arms) <= set(row.arms)]
    more = any(first.n_settings > second.n_settings for first, second in pairs)
    return f"; {arms[0]} chose from more settings than {arms[1]}" if more else ""


def _row_table(
    result: StudyResult, rows: Sequence[Summary], vary: Varying | None, arms: tuple[str, str], score: str
) -> ReportTable:
    """What the first arm changes in every row, and how sure that is."""
    what = f"{arms[0]} {MINUS} {arms[1]} in points of {score_name(score)}"
    statistics = statistics_text(row.contrasts.get(arms, {}).get(score) for row in rows)
    names: list[TableRow]
    if vary is None:
        what += f", each {CHOSEN_BY[rows[0].footing]}{more_settings(rows, arms)}"
        columns = [Column("data", merged=True), Column("adapter")]
        names = [cells(row.dataset, row.adapter) for row in rows]
    else:
        columns = setting_columns(vary)
        names = [setting_cells(row.setting, vary) for row in rows if row.setting]
    lines = [(*name, *_row_cells(row, arms, score)) for name, row in zip(names, rows, strict=True)]
    return ReportTable(f"{what}; {statistics}", (*columns, *DIFFERENCE_COLUMNS), tuple(lines))


def _over_table(rows: Sequence[Summary], arms: tuple[str, str], score: str) -> list[ReportTable]:
    """The mean over data sets for every adapter, if there are enough data sets for an interval."""
    found = over_data_sets(rows, arms, score)
    if all(each.difference.outcome == TOO_FEW for each in found):
        return []
    settings = ", each the mean over its settings" if any(each.n_rows > each.difference.n for each in found) else ""
    caption = (
        f"{arms[0]} {MINUS} {arms[1]} in points of {score_name(score)}, mean over data sets{settings}; "
        f"{statistics_text((each.difference for each in found), 'data set')}"
    )
    lines = tuple((*cells(each.adapter), *difference_cells(each.difference)) for each in found)
    return [ReportTable(caption, (Column("adapter"), *DIFFERENCE_COLUMNS), lines)]


def _row_cells(row: Summary, arms: tuple[str, str], score: str) -> TableRow:
    found = row.contrasts.get(arms, {}).get(score)
    if found is not None:
        return difference_cells(found)
    absent = [arm for arm in arms if arm not in row.arms]
    why = f"no arm {absent[0]}" if absent else FAILED_TEXT
    return cells(NOTHING, NOTHING, NOTHING, "0", why)


def difference_cells(found: Difference) -> TableRow:
    short = f"needs {found.n_needed}" if found.outcome == TOO_FEW else _SHORT_VERDICTS[found.outcome]
    numbers = cells(points(found.mean), interval_text(found.low, found.high), p_text(found.p), str(found.n))
    return (*numbers, TableCell(found.verdict, short=short))
