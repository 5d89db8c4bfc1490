"""What a study knows about data without labels: no scores, but how far the views agree, stability and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..clustering import stability
from ..study import DONE, ArmSummary, Record, StudyResult, Summary, setting_key
from ._arms import Arms
from ._difference_tables import CHOSEN_BY
from ._formatting import NOTHING, anchors_text, number_text, params_text, varying
from ._report_table import Column, ReportTable, TableRow, cells

MORE = (
    "The chance level of the agreement, the view that disagrees and a picture of the samples are in the report of one "
    "fit: anchor-align cluster DATA --clusters K --html report.html"
)


def is_unlabelled(row: Summary) -> bool:
    """Whether runs of the row finished and none could be scored."""
    return any(arm.n_done for arm in row.arms.values()) and not any(arm.mean for arm in row.arms.values())


def unlabelled_tables(result: StudyResult) -> list[ReportTable]:
    """A table for each footing that has rows without labels; the best setting is chosen by label, so it has none."""
    footings = ("fixed", *(name for name in CHOSEN_BY if name != "best"))
    groups = ([row for row in result.of_footing(footing) if is_unlabelled(row)] for footing in footings)
    made = [_table(result, rows) for rows in groups if rows]
    if made:
        made[-1] = replace(made[-1], notes=(MORE,))
    return made


def _table(result: StudyResult, rows: Sequence[Summary]) -> ReportTable:
    """One line for each arm of a row."""
    arms, vary = Arms.of(result), varying(arm.setting for row in rows for arm in row.arms.values())
    chosen = CHOSEN_BY.get(rows[0].footing)
    columns = [Column("data", merged=True), Column("adapter", merged=True)]
    columns += [Column("settings", merged=True)] if vary.any_params else []
    columns += [Column("anchors", numbers=True, merged=True)]
    columns += [Column("lam", numbers=True)] if vary.lam else []
    columns += [Column("arm"), *(Column(text, numbers=True) for text in ("agreement", "stability", "sizes"))]
    lines: list[TableRow] = []
    for row in rows:
        for name in arms:
            if (arm := row.arms.get(name)) is None:
                continue
            texts = [row.dataset, row.adapter]
            texts += [params_text(vary.of(arm.setting))] if vary.any_params else []
            texts += [anchors_text(arm.setting.n_anchors)]
            texts += [number_text(arm.setting.lam) if arms.depends_on_lam(name) else NOTHING] if vary.lam else []
            texts += [name, *_known(_runs(result, arm, name))]
            lines.append(cells(*texts))
    numbers = sorted({arm.n_settings for row in rows for arm in row.arms.values()})
    grid = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"{numbers[0]}"
    where = f", every arm {chosen}, one of {grid}" if chosen else ""
    caption = (
        f"Data without labels{where}: agreement of the views' graphs (linear CKA, "
        "0 to 1), stability of the clusters over repeats (adjusted Rand index), smallest and largest cluster"
        f"{vary.common}"
    )
    # Arms that do not depend on lam are the same for every lam.
    return ReportTable(caption, tuple(columns), tuple(dict.fromkeys(lines)))


def _runs(result: StudyResult, arm: ArmSummary, name: str) -> list[Record]:
    where = setting_key(arm.setting)
    return [
        each
        for each in result.records
        if each.arm == name and each.status == DONE and setting_key(each.setting) == where
    ]


def _known(runs: Sequence[Record]) -> list[str]:
    """Agreement, stability and sizes over the repeats, where they are known."""
    agreements = [run.agreement for run in runs if run.agreement is not None]
    labels = [run.labels for run in runs if run.labels is not None]
    stable = stability(labels)
    sizes = np.concatenate([np.bincount(each) for each in labels]) if labels else np.array([], dtype=int)
    return [
        f"{np.mean(agreements):.2f}" if agreements else NOTHING,
        NOTHING if stable is None else f"{stable:.2f}",
        f"{sizes.min():,} to {sizes.max():,}" if len(sizes) else NOTHING,
    ]
