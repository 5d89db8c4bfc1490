"""Tables of methods that are compared with each other: scores, differences from the first method, average ranks."""

from __future__ import annotations

from collections.abc import Sequence

from ..study import (
    BETTER,
    DONE,
    NO_MEMORY,
    TIMEOUT,
    TOO_FEW,
    UNCLEAR,
    WORSE,
    AverageRanks,
    RivalSummary,
    StudyResult,
    average_ranks,
)
from ._difference_tables import CHOSEN_BY, DIFFERENCE_COLUMNS, difference_cells, statistics_text
from ._formatting import MINUS, NOTHING, count, p_text, percent, score_name
from ._report_table import FAILED_TEXT, Column, ReportTable, TableCell, TableRow, cells

# As papers write it.
WITHOUT_MEAN = {NO_MEMORY: "OM", TIMEOUT: "timeout"}


def rival_tables(result: StudyResult) -> tuple[ReportTable, ...]:
    """For every footing: scores and times of all methods, differences by score, and ranks of five data sets or more."""
    tables: list[ReportTable] = []
    for footing in dict.fromkeys(row.footing for row in result.against):
        rows = [row for row in result.against if row.footing == footing]
        tables.append(_scores(result, rows))
        tables += [_differences(result, rows, score) for score in result.scores if any(row.differences for row in rows)]
        ranks = [found for score in result.scores if (found := average_ranks(rows, score, footing)) is not None]
        tables += [_rank_table(result, ranks)] if ranks else []
    return tuple(tables)


def rival_sentence(result: StudyResult) -> str:
    """How often the first method is better than its rivals, in the study's score; nothing without rivals."""
    first_footing = result.against[0].footing if result.against else ""
    rows = [row for row in result.against if row.footing == first_footing and result.score in row.differences]
    if not rows:
        return ""
    found = [row.differences[result.score] for row in rows]
    outcomes = [each.outcome for each in found]
    better, worse = outcomes.count(BETTER), outcomes.count(WORSE)
    higher, lower = (sum(sign * each.mean > 0 for each in found) for sign in (1, -1))
    total, name = count(len(rows), "comparison"), f"{result.methods[0].name} ({score_name(result.score)})"
    rivals = count(len(dict.fromkeys(row.method.name for row in rows)), "other method")
    sets = count(len(dict.fromkeys(row.dataset for row in rows)), "data set")
    too_few = [each.n_needed for each in found if each.outcome == TOO_FEW]
    if too_few and not {BETTER, WORSE, UNCLEAR} & {*outcomes}:
        # No test could find anything: to count what tests found would mislead.
        return (
            f"Against {rivals} on {sets}, the mean of {name} is higher in {higher} of {total}, lower in {lower}; so "
            f"few repeats cannot show which differences are real; {max(too_few)} can."
        )
    return (
        f"Against {rivals} on {sets}, {name} is better in {better} of {total}, worse in {worse}; its mean is higher in "
        f"{higher}, lower in {lower}."
    )


def _scores(result: StudyResult, rows: Sequence[RivalSummary]) -> ReportTable:
    """A row for every data set and method, with all scores and the time; without labels there are times alone."""
    lines: list[TableRow] = []
    unlabelled = any(row.status == DONE for row in rows) and all(map(_unscored, rows))
    shown = [] if unlabelled else result.scores
    for dataset in dict.fromkeys(row.dataset for row in rows):
        mine = [row for row in rows if row.dataset == dataset]
        tops = {score: _highest(mine, score) for score in shown}
        for row in mine:
            scores = [_score_cell(row, score, tops[score]) for score in shown]
            lines.append((*cells(row.dataset, row.method.name), *scores, *cells(_time(row, mine[0]))))
    repeats = "one repeat" if result.repeats == 1 else f"mean ± sd over {result.repeats} repeats"
    what = f"{', '.join(map(score_name, shown))} in %, {repeats}" if shown else "no labels, so no scores"
    caption = (
        f"All methods on the same data and seeds: {what}; {_footing_text(result, rows[0].footing)}; "
        f"time as a multiple of that of {result.methods[0].name}"
    )
    columns = [Column("data", merged=True), Column("method")]
    columns += [Column(header, numbers=True) for header in (*map(score_name, shown), "time")]
    reasons = dict.fromkeys(f"{row.dataset}, {row.method.name}: {row.reason}" for row in rows if row.reason)
    bold = "highest mean in bold" if shown else ""
    return ReportTable(caption, tuple(columns), tuple(lines), bold=bold, notes=tuple(reasons))


def _footing_text(result: StudyResult, footing: str) -> str:
    if footing != "fixed":
        return f"every method {CHOSEN_BY[footing]}"
    rows = result.of_footing("fixed")
    several = len(rows) > len({(row.dataset, row.adapter) for row in rows})
    return f"{'the first of the settings' if several else 'fixed settings'}, nothing chosen by label"


def _highest(rows: Sequence[RivalSummary], score: str) -> float | None:
    """The highest mean as it reads, among methods whose runs all finished."""
    means = [
        mean for row in rows if (mean := _mean(row, score)) is not None and row.summary and not row.summary.n_failed
    ]
    return max(means) if len(means) > 1 else None


def _unscored(row: RivalSummary) -> bool:
    return row.summary is None or not row.summary.mean


def _mean(row: RivalSummary, score: str) -> float | None:
    mean = None if row.summary is None else row.summary.mean.get(score)
    return None if mean is None else round(100 * mean, 1)


def _score_cell(row: RivalSummary, score: str, top: float | None) -> TableCell:
    mean = _mean(row, score)
    if mean is None or row.summary is None:
        return TableCell(NOTHING if row.status == DONE else WITHOUT_MEAN.get(row.status, FAILED_TEXT))
    text = percent(row.summary.mean[score])
    text += f" ± {percent(row.summary.sd[score])}" if score in row.summary.sd else ""
    return TableCell(text, bold=mean == top and not row.summary.n_failed)


def _time(row: RivalSummary, first: RivalSummary) -> str:
    if row.seconds is None or not first.seconds:
        return NOTHING
    ratio = row.seconds / first.seconds
    return f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"


def _differences(result: StudyResult, rows: Sequence[RivalSummary], score: str) -> ReportTable:
    """The first method minus each other one."""
    others = [row for row in rows if row.method != result.methods[0] and not (row.status == DONE and _unscored(row))]
    statistics = statistics_text(row.differences.get(score) for row in others)
    caption = (
        f"{result.methods[0].name} {MINUS} each other method in points of {score_name(score)}; "
        f"{_footing_text(result, rows[0].footing)}; {statistics}"
    )
    lines: list[TableRow] = []
    for row in others:
        found = row.differences.get(score)
        why = "not compared" if row.status == DONE else WITHOUT_MEAN.get(row.status, FAILED_TEXT)
        numbers = cells(NOTHING, NOTHING, NOTHING, "0", why) if found is None else difference_cells(found)
        lines.append((*cells(row.dataset, row.method.name), *numbers))
    return ReportTable(caption, (Column("data", merged=True), Column("method"), *DIFFERENCE_COLUMNS), tuple(lines))


def _rank_table(result: StudyResult, ranks: Sequence[AverageRanks]) -> ReportTable:
    """Average rank of every method, a column for each score."""
    tests = [f"{score_name(each.score)} {p_text(each.p)}" for each in ranks]
    caption = (
        f"Average ranks over {count(ranks[0].n_data, 'data set')}, 1 is best; "
        f"{_footing_text(result, ranks[0].footing)}; ranks closer than {ranks[0].critical_difference:.2f} are not told "
        f"apart (Nemenyi, 5 %); p of the Friedman test: {', '.join(tests)}; failed runs rank last"
    )
    lines = [(*cells(name), *cells(*(f"{each.ranks[name]:.2f}" for each in ranks))) for name in ranks[0].ranks]
    columns = [Column("method"), *(Column(score_name(each.score), numbers=True) for each in ranks)]
    return ReportTable(caption, tuple(columns), tuple(lines))
