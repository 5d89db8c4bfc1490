"""The result as tables: every setting, and the best of a grid."""

from __future__ import annotations

from collections.abc import Sequence

from ..study import ArmSummary, Setting, StudyResult, Summary
from ._html_parts import cell, escaped, table
from ._rows import BETTER, FAILED, SAME, UNLABELLED, WORSE, Row, read_rows
from ._tables_rows import Varying, arm_cells, varying
from ._text import (
    anchors_text,
    count,
    interval_text,
    number_text,
    p_text,
    params_text,
    percent,
    points,
    score_name,
    setting_text,
    shortened,
)

# Longer tables are folded: the figures say what they say.
MOST_ROWS = 40
# The table of data sets has names in full.
LONGEST_NAME = 60
NOTHING = '<span class="muted">none</span>'
SIGNS = {BETTER: "▲", WORSE: "▼"}
ARM_OF = {BETTER: "aligned", WORSE: "unaligned"}


def fixed_table(result: StudyResult) -> str:
    """Rows in which nothing was chosen by label."""
    rows = read_rows(result)
    if not rows:
        return ""
    settings = [row.summary.setting for row in rows if row.summary.setting is not None]
    vary = varying(settings)
    heads, places = _settings(settings, vary)
    uneven = len({row.difference.n for row in rows if row.difference}) > 1
    caption = (
        f"{score_name(result.score)} in %, mean ± standard deviation over {count(result.repeats, 'repeat')}; the best "
        "mean is bold. Difference: aligned minus unaligned in points, paired by repeat, with its 95 % interval. p: "
        "exact signed-rank test, two-sided, not corrected for the number of rows. Fixed settings: nothing was chosen "
        f"by label{vary.common}."
    )
    lines = [
        _start(row.summary) + place + _numbers(row, result, uneven) for row, place in zip(rows, places, strict=True)
    ]
    made = table(caption, _heads(heads, result, uneven), lines, "results", label="Results at fixed settings")
    if len(rows) <= MOST_ROWS:
        return made
    return f"<details>\n<summary>Table of all {len(rows)} rows</summary>\n{made}\n</details>"


def best_table(result: StudyResult) -> str:
    """Rows in which each arm has the setting that labels say is best."""
    rows = read_rows(result, "best")
    if not rows:
        return ""
    caption = (
        f"Best settings, chosen by label: for each arm the setting with the highest mean {score_name(result.score)}, "
        "as much of the literature reports. This is optimistic: without labels nobody could choose like that, and an "
        "arm with more settings has more chances. Below each mean: the setting, and from how many it was chosen."
    )
    uneven = len({row.difference.n for row in rows if row.difference}) > 1
    lines = [_start(row.summary) + _numbers(row, result, uneven) for row in rows]
    return table(caption, _heads([], result, uneven), lines, "results", label="Results at the best settings")


def _heads(more: Sequence[tuple[str, str]], result: StudyResult, uneven: bool) -> list[tuple[str, str]]:
    """Columns; the number of repeats is one where it is not the same in all rows."""
    arms = [(f'<span class="arm-{arm}">{arm}</span>', "number") for arm in result.arms]
    names = ["difference", "95 % interval", "p", *["repeats"] * uneven]
    return [("data", ""), ("adapter", ""), *more, *arms, *((name, "number") for name in names), ("verdict", "")]


def _settings(settings: Sequence[Setting], vary: Varying) -> tuple[list[tuple[str, str]], list[str]]:
    """Columns for what differs between the rows' settings, and the cells of every row."""
    columns = {
        ("m", "number"): [anchors_text(each.n_anchors) for each in settings],
        ("lam", "number"): [number_text(each.lam) for each in settings],
        ("settings", ""): [params_text(vary.of(each)) for each in settings],
    }
    # Where lam or settings are the same in all rows, the caption says so.
    shown = {head: texts for head, texts in columns.items() if head[0] == "m" or len(set(texts)) > 1}
    lines = ["".join(cell(escaped(texts[at]), head[1]) for head, texts in shown.items()) for at in range(len(settings))]
    return list(shown), lines


def _start(row: Summary) -> str:
    name = f'<span title="{escaped(row.dataset)}">{escaped(shortened(row.dataset, LONGEST_NAME))}</span>'
    return f'<th scope="row" class="name">{name}</th>{cell(escaped(row.adapter))}'


def _numbers(row: Row, result: StudyResult, uneven: bool) -> str:
    """Arms, difference, interval, p, repeats and verdict."""
    cells = zip(result.arms, arm_cells(row.summary, result.arms, result.score), strict=True)
    arms = "".join(_arm(arm, row.summary.arms.get(arm), result.score, bold=each.bold) for arm, each in cells)
    return arms + _difference(row, uneven) + cell(_verdict(row), "words")


def _arm(name: str, arm: ArmSummary | None, score: str, *, bold: bool) -> str:
    if arm is None or score not in arm.mean:
        failed = arm is not None and arm.n_failed and not arm.n_done
        return cell("failed" if failed else NOTHING, "number")
    mean = percent(arm.mean[score])
    shown = f"<strong>{mean}</strong>" if bold else mean
    if score in arm.sd:
        shown += f" ± {percent(arm.sd[score])}"
    if arm.n_failed:
        shown += f"<small>{arm.n_done} of {arm.n_done + arm.n_failed} runs</small>"
    if arm.n_settings > 1:
        shown += f"<small>{escaped(setting_text(arm.setting, name))}</small><small>best of {arm.n_settings}</small>"
    return cell(shown, "number")


def _difference(row: Row, uneven: bool) -> str:
    difference = row.difference
    if difference is None:
        return cell(NOTHING, "number") * 3 + cell("0", "number") * uneven
    interval = interval_text(difference.low, difference.high)
    contents = [points(difference.mean), interval, escaped(p_text(difference.p)), *[f"{difference.n}"] * uneven]
    return "".join(cell(content, "number") for content in contents)


def _verdict(row: Row) -> str:
    if row.outcome == FAILED:
        reasons = "".join(f"<small>{escaped(reason)}</small>" for reason in row.summary.failures[:2])
        return f"failed{reasons}"
    if row.outcome == UNLABELLED:
        return "no labels"
    if row.outcome == SAME or row.difference is None:
        return "the same: anchors correspond by construction"
    if row.outcome in SIGNS:
        words = f"{SIGNS[row.outcome]} {escaped(row.difference.verdict)}"
        return f'<strong class="arm-{ARM_OF[row.outcome]}">{words}</strong>'
    return escaped(row.difference.verdict)
