"""The result as tables: every setting, and the best of a grid."""

from __future__ import annotations

from collections.abc import Sequence

from ..study import ARMS, ArmSummary, StudyResult, Summary
from ._html_parts import cell, escaped, table
from ._rows import BETTER, FAILED, SAME, UNLABELLED, WORSE, Row, read_rows
from ._text import count, p_value, percent, points, score_name, setting_labels, setting_text

# Longer tables are folded: the figures say what they say.
MOST_ROWS = 40
NOTHING = '<span class="muted">none</span>'
SIGNS = {BETTER: "▲", WORSE: "▼"}
ARM_OF = {BETTER: "aligned", WORSE: "unaligned"}


def fixed_table(result: StudyResult) -> str:
    """Rows in which nothing was chosen by label."""
    rows = read_rows(result)
    if not rows:
        return ""
    labels = setting_labels([row.summary for row in rows])
    several = any(labels)
    caption = (
        f"{score_name(result.score)} in %, mean ± standard deviation over {count(result.repeats, 'repeat')}; the best "
        "mean is bold. Difference: aligned minus unaligned in points, paired by repeat, with its 95 % interval. p: "
        "exact signed-rank test, two-sided, not corrected for the number of rows. Fixed settings: nothing was chosen "
        "by label."
    )
    heads = _heads(["setting"] if several else [])
    lines = [
        _start(row.summary) + (cell(escaped(label)) if several else "") + _numbers(row, result.score)
        for row, label in zip(rows, labels, strict=True)
    ]
    made = table(caption, heads, lines, "results")
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
    lines = [_start(row.summary) + _numbers(row, result.score) for row in rows]
    return table(caption, _heads([]), lines, "results")


def _heads(more: Sequence[str]) -> list[tuple[str, str]]:
    arms = [(f'<span class="arm-{arm}">{arm}</span>', "number") for arm in ARMS]
    numbers = [(name, "number") for name in ("difference", "95 % interval", "p", "repeats")]
    return [("data", ""), ("adapter", ""), *((name, "") for name in more), *arms, *numbers, ("verdict", "")]


def _start(row: Summary) -> str:
    return f'<th scope="row" class="name">{escaped(row.dataset)}</th>{cell(escaped(row.adapter))}'


def _numbers(row: Row, score: str) -> str:
    """Arms, difference, interval, p, repeats and verdict."""
    means = [arm.mean[score] for arm in row.summary.arms.values() if score in arm.mean]
    # As shown: what looks the same is equally good.
    top = percent(max(means)) if means else None
    arms = "".join(_arm(row.summary.arms.get(arm), score, top) for arm in ARMS)
    return arms + _difference(row) + cell(_verdict(row), "words")


def _arm(arm: ArmSummary | None, score: str, top: str | None) -> str:
    if arm is None or score not in arm.mean:
        failed = arm is not None and arm.n_failed and not arm.n_done
        return cell("failed" if failed else NOTHING, "number")
    mean = percent(arm.mean[score])
    shown = f"<strong>{mean}</strong>" if mean == top else mean
    if score in arm.sd:
        shown += f" ± {percent(arm.sd[score])}"
    if arm.n_failed:
        shown += f"<small>{arm.n_done} of {arm.n_done + arm.n_failed} runs</small>"
    if arm.n_settings > 1:
        shown += f"<small>{escaped(setting_text(arm.setting))}</small><small>best of {arm.n_settings}</small>"
    return cell(shown, "number")


def _difference(row: Row) -> str:
    difference = row.difference
    if difference is None:
        return cell(NOTHING, "number") * 3 + cell("0", "number")
    interval = p = NOTHING
    if difference.low is not None and difference.high is not None:
        interval = f"{percent(difference.low)} to {percent(difference.high)}"
    if difference.p is not None:
        p = escaped(p_value(difference.p).removeprefix("= "))
    return "".join(cell(content, "number") for content in (points(difference.mean), interval, p, f"{difference.n}"))


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
