"""Three ways to set an arm, side by side: fixed, chosen by agreement without labels, best by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..study import FOOTINGS, StudyResult, Summary, summarise
from ._arms import Arms
from ._formatting import percent, points, score_name
from ._report_table import Column, ReportTable, TableRow, cells

Means = Mapping[str, float]


def footing_table(result: StudyResult) -> ReportTable | None:
    """Mean scores on all footings, and the regret of each: the best mean minus its mean. None without scores.

    "fixed" is the first setting of the grid, which is also the default of the choice by agreement.
    """
    lines: list[tuple[Summary, str, Means]] = []
    groups: dict[tuple[str, str], dict[str, Summary]] = {}
    for row in summarise(result.records, score=result.score, footings=FOOTINGS, fusions=result.fusions):
        groups.setdefault((row.dataset, row.adapter), {}).setdefault(row.footing, row)
    for rows in groups.values():
        for arm in Arms.of(result):
            found = {name: row.arms[arm].mean for name, row in rows.items() if arm in row.arms}
            means = {name: each[result.score] for name, each in found.items() if result.score in each}
            if len(means) == len(FOOTINGS):
                lines.append((rows["fixed"], arm, means))
    if not lines:
        return None
    caption = (
        f"{score_name(result.score)} in %, mean over repeats: the first setting, the setting that agreement of the "
        "views chooses without labels, and the best setting by label, which is optimistic; regret: points below best"
    )
    headers = (*(text for name in FOOTINGS[:-1] for text in (name, "regret")), FOOTINGS[-1])
    columns = (Column("data", merged=True), Column("adapter", merged=True), Column("arm"))
    made = [(*cells(row.dataset, row.adapter, arm), *_cells(means)) for row, arm, means in lines]
    if len({(row.dataset, row.adapter) for row, _, _ in lines}) > 1:
        made += _overall(lines)
    return ReportTable(caption, (*columns, *(Column(text, numbers=True) for text in headers)), tuple(made))


def _overall(lines: Sequence[tuple[Summary, str, Means]]) -> list[TableRow]:
    """Means over the rows of every arm."""
    rows = []
    for arm in dict.fromkeys(arm for _, arm, _ in lines):
        mine = [means for _, other, means in lines if other == arm]
        overall = {name: sum(each[name] for each in mine) / len(mine) for name in FOOTINGS}
        rows.append((*cells(f"mean of {len(mine)}", "", arm), *_cells(overall)))
    return rows


def _cells(means: Means) -> TableRow:
    best = means[FOOTINGS[-1]]
    pairs = [(percent(means[name]), points(best - means[name]).lstrip("+")) for name in FOOTINGS[:-1]]
    return cells(*(text for pair in pairs for text in pair), percent(best))
