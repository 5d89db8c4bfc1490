"""Scores of a sweep, laid out by anchors (rows) and ``lam`` (columns)."""

from __future__ import annotations

from collections.abc import Sequence

from ..study import ArmSummary, StudyResult, Summary
from ..study._anchors import Anchors
from ._tables_cells import Cell, Column, Grid
from ._tables_rows import Varying, arm_text, over_repeats, shown_mean, varying
from ._text import anchors_text, number_text, params_text

# As many as fit 80 columns and the width of a page.
LAMS_IN_A_ROW = 7


def pivots(result: StudyResult, rows: Sequence[Summary], vary: Varying) -> list[Grid]:
    """One table for each data set, adapter and setting of the adapter; several where there are many ``lam``."""
    groups: dict[tuple[str, str, str], list[Summary]] = {}
    for row in rows:
        if row.setting is not None:
            params = params_text(vary.of(row.setting)) if vary.any_params else ""
            groups.setdefault((row.dataset, row.adapter, params), []).append(row)
    return [
        grid
        for names, group in groups.items()
        for grid in _blocks(result, ", ".join(filter(None, names)), group, _common(rows, names[1]))
    ]


def _common(rows: Sequence[Summary], adapter: str) -> str:
    """What does not vary for one adapter: the others have tables of their own."""
    return varying(row.setting for row in rows if row.setting and row.adapter == adapter).common


def _blocks(result: StudyResult, name: str, rows: Sequence[Summary], common: str) -> list[Grid]:
    table: dict[Anchors, dict[float, Summary]] = {}
    for row in rows:
        if row.setting is not None:
            table.setdefault(row.setting.n_anchors, {})[row.setting.lam] = row
    lams = list(dict.fromkeys(lam for line in table.values() for lam in line))
    blocks = [lams[at : at + LAMS_IN_A_ROW] for at in range(0, len(lams), LAMS_IN_A_ROW)]
    caption = f"{name}: {over_repeats(result, sd=False)}; aligned for every lam; nothing chosen by label{common}"
    headers = [[f"lam {number_text(lam)}" for lam in block] for block in blocks]
    return [
        Grid(
            caption if at == 0 else f"{name}, continued",
            tuple(Column(text, numbers=True) for text in ("anchors", "unaligned", *headers[at], "concat")),
            tuple(_line(n_anchors, line, block, result.score) for n_anchors, line in table.items()),
            bold="above unaligned in bold",
        )
        for at, block in enumerate(blocks)
    ]


def _line(n_anchors: Anchors, line: dict[float, Summary], lams: Sequence[float], score: str) -> tuple[Cell, ...]:
    """One number of anchors; what does not depend on lam is the same in all rows of the result."""
    any_row = next(iter(line.values()))
    unaligned, concat = (any_row.arms.get(arm) for arm in ("unaligned", "concat"))
    aligned = [line[lam].arms.get("aligned") if lam in line else None for lam in lams]
    # Against unaligned, not the highest of the row: aligned has a chance for every lam, the other arms have one.
    return (
        Cell(anchors_text(n_anchors)),
        Cell(arm_text(unaligned, score, sd=False)),
        *(Cell(arm_text(arm, score, sd=False), _above(arm, unaligned, score)) for arm in aligned),
        Cell(arm_text(concat, score, sd=False)),
    )


def _above(arm: ArmSummary | None, other: ArmSummary | None, score: str) -> bool:
    """Whether one mean is above another, to the digit shown."""
    mean, base = shown_mean(arm, score), shown_mean(other, score)
    return mean is not None and base is not None and mean > base
