"""Sections of the HTML report without pictures: tables of the result, and how the result was made."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

from ..study import BETTER, DONE, NOTHING_TO_ALIGN, WORSE, ArmSummary, DataInfo, StudyResult
from ._arms import Arms, arm_class
from ._difference_tables import statistics_text
from ._footing_table import footing_table
from ._formatting import (
    anchors_text,
    count,
    interval_text,
    number_text,
    option_texts,
    p_text,
    params_text,
    percent,
    points,
    printable,
    score_name,
    setting_text,
    shortened,
    varying,
)
from ._html_elements import arm_name, cell, escaped, facts, paragraph, row_name, table
from ._outcomes import FAILED, NO_ARM, UNLABELLED, Comparison, comparisons
from ._report_table import ReportTable, TableCell
from ._study_tables import arm_cells
from ._unlabelled_tables import is_unlabelled, unlabelled_tables

# Longer tables are folded: the figures show the same.
MOST_ROWS = 40
# The table of data sets has names in full.
LONGEST_NAME = 60
MOST_VIEWS, MOST_REASONS = 12, 20
NOTHING = '<span class="muted">none</span>'
SIGNS = {BETTER: ("▲", 0), WORSE: ("▼", 1)}


def result_tables(result: StudyResult) -> list[str]:
    """A table for every score, and for every further pair of arms: rows in which nothing was chosen by label first.

    Data without labels have no scores; tables of what is known about them come last.
    """
    made = []
    makers = {"fixed": _fixed_table, "agreement": _agreement_table, "best": _best_table}
    for footing, make in makers.items():
        if not all(map(is_unlabelled, result.of_footing(footing))):
            for arms, score in itertools.product(result.versus, result.scores):
                rows = [row for row in comparisons(result, footing, arms, score) if not is_unlabelled(row.summary)]
                made.append(make(result, rows, arms, score))
    if result.of_footing("agreement") and (footings := footing_table(result)) is not None:
        made.append(plain_table(footings))
    return [*made, *map(plain_table, unlabelled_tables(result))]


def _fixed_table(result: StudyResult, rows: Sequence[Comparison], arms: tuple[str, str], score: str) -> str:
    settings = [row.summary.setting for row in rows if row.summary.setting is not None]
    vary = varying(settings)
    columns = {
        ("m", "number"): [anchors_text(each.n_anchors) for each in settings],
        ("lam", "number"): [number_text(each.lam) for each in settings],
        ("settings", ""): [params_text(vary.of(each)) for each in settings],
    }
    # Where lam or settings are the same in all rows, the caption says so.
    shown = {head: texts for head, texts in columns.items() if head[0] == "m" or len(set(texts)) > 1}
    places = [
        "".join(cell(escaped(texts[at]), kind) for (_, kind), texts in shown.items()) for at in range(len(settings))
    ]
    means = (
        f"{score_name(score)} in %, mean ± standard deviation over {count(result.repeats, 'repeat')}; the highest "
        "mean is bold. "
    )
    caption = (
        f"{means if arms == result.versus[0] else ''}{_difference_caption(rows, arms, score)} Fixed settings: nothing "
        f"was chosen by label{vary.common}."
    )
    label = f"{score_name(score)} at fixed settings, {' and '.join(arms)}"
    made = _result_table(caption, label, rows, result, arms, score, list(shown), places)
    if len(rows) <= MOST_ROWS:
        return made
    return f"<details>\n<summary>Table of all {len(rows)} rows</summary>\n{made}\n</details>"


def _agreement_table(result: StudyResult, rows: Sequence[Comparison], arms: tuple[str, str], score: str) -> str:
    caption = (
        "Settings chosen by agreement of the views: no labels were used. Below each mean: the setting, and from how "
        f"many it was chosen. {_difference_caption(rows, arms, score)}"
    )
    label = f"{score_name(score)} at the settings chosen by agreement, {' and '.join(arms)}"
    return _result_table(caption, label, rows, result, arms, score, [], [""] * len(rows))


def plain_table(made: ReportTable) -> str:
    """A table whose first cell names the row."""
    heads = [(column.header, "number" if column.numbers else "") for column in made.columns]
    lines = [
        row_name(escaped(first.text))
        + "".join(cell(_cell_text(each), kind) for each, (_, kind) in zip(rest, heads[1:], strict=True))
        for first, *rest in made.rows
    ]
    notes = "".join(paragraph(printable(note), "muted") for note in made.notes)
    return table(made.caption, heads, lines, "results") + notes


def _cell_text(made: TableCell) -> str:
    text = escaped(made.text)
    return f"<strong>{text}</strong>" if made.bold else text


def _best_table(result: StudyResult, rows: Sequence[Comparison], arms: tuple[str, str], score: str) -> str:
    caption = (
        f"Best settings, chosen by label: for each arm the setting with the highest mean {score_name(result.score)}, "
        "as much of the literature reports. This is optimistic: without labels nobody could choose like that, and an "
        "arm with more settings has more chances. Below each mean: the setting, and from how many it was chosen. "
        f"{_difference_caption(rows, arms, score)}"
    )
    label = f"{score_name(score)} at the best settings, {' and '.join(arms)}"
    return _result_table(caption, label, rows, result, arms, score, [], [""] * len(rows))


def _difference_caption(rows: Sequence[Comparison], arms: tuple[str, str], score: str) -> str:
    statistics = statistics_text(row.difference for row in rows)
    return f"Difference: {arms[0]} minus {arms[1]} in points of {score_name(score)}, {statistics}."


def _result_table(
    caption: str,
    label: str,
    rows: Sequence[Comparison],
    result: StudyResult,
    pair: tuple[str, str],
    score: str,
    setting_heads: Sequence[tuple[str, str]],
    setting_cells: Sequence[str],
) -> str:
    """Data, adapter, settings, arms, difference and verdict; the arms have been shown for a later pair."""
    arms = Arms.of(result) if pair == result.versus[0] else Arms(())
    uneven = len({row.difference.n for row in rows if row.difference}) > 1
    numbers = [*map(arm_name, arms), "difference", "interval", "p", *["n"] * uneven]
    heads = [("data", ""), ("adapter", ""), *setting_heads, *((name, "number") for name in numbers), ("verdict", "")]
    lines = []
    for row, settings in zip(rows, setting_cells, strict=True):
        data, adapter = row.summary.dataset, row.summary.adapter
        name = f'<span title="{escaped(data)}">{escaped(shortened(data, LONGEST_NAME))}</span>'
        found = zip(arms, arm_cells(row.summary, arms, score), strict=True)
        chosen = "best of" if row.summary.footing == "best" else "one of"
        means = [
            _mean(arm, arms, row.summary.arms.get(arm), score, bold=each.bold, chosen=chosen) for arm, each in found
        ]
        shown = "".join(cell(each, "number") for each in (*means, *_difference(row, uneven)))
        lines.append(row_name(name) + cell(escaped(adapter)) + settings + shown + cell(_verdict(row), "words"))
    return table(caption, heads, lines, "results many-arms" if len(arms.fusions) > 3 else "results", label=label)


def _mean(name: str, arms: Arms, arm: ArmSummary | None, score: str, *, bold: bool, chosen: str) -> str:
    if arm is None or score not in arm.mean:
        return "failed" if arm is not None and arm.n_failed and not arm.n_done else NOTHING
    mean = percent(arm.mean[score])
    shown = f"<strong>{mean}</strong>" if bold else mean
    if score in arm.sd:
        shown += f" ± {percent(arm.sd[score])}"
    if arm.n_failed:
        shown += f"<small>{arm.n_done} of {arm.n_done + arm.n_failed} runs</small>"
    if arm.n_settings > 1:
        setting = setting_text(arm.setting, with_lam=arms.depends_on_lam(name))
        shown += f"<small>{escaped(setting)}</small><small>{chosen} {arm.n_settings}</small>"
    return shown


def _difference(row: Comparison, uneven: bool) -> list[str]:
    found = row.difference
    if found is None:
        return [NOTHING] * 3 + ["0"] * uneven
    interval = interval_text(found.low, found.high)
    return [points(found.mean), interval, escaped(p_text(found.p)), *[f"{found.n}"] * uneven]


def _verdict(row: Comparison) -> str:
    if row.outcome == FAILED:
        return "failed" + "".join(f"<small>{escaped(reason)}</small>" for reason in row.summary.failures[:2])
    if row.outcome == UNLABELLED:
        return "no labels"
    if row.outcome == NO_ARM or row.difference is None:
        return "not both arms"
    if row.outcome == NOTHING_TO_ALIGN:
        return "the same: anchors correspond by construction"
    words = escaped(row.difference.verdict)
    if row.outcome not in SIGNS:
        return words
    sign, at = SIGNS[row.outcome]
    return f'<span class="{arm_class(row.difference.arms[at])}">{sign} {words}</span>'


def about(result: StudyResult) -> str:
    """All that is needed to judge and repeat the study."""
    parts = [
        facts((name, escaped(text)) for name, text in _facts(result).items()),
        _data_table(result),
        _adapter_table(result),
        _failures(result),
        _warnings(result),
    ]
    if result.command:
        command = f"<pre><code>{escaped(result.command)}</code></pre>"
        parts += ["<h3>Command</h3>", paragraph("This gives the same result:"), command]
    return "\n".join(part for part in parts if part)


def _facts(result: StudyResult) -> dict[str, str]:
    footings = []
    if result.of_footing("fixed"):
        footings.append("Fixed settings: every setting that was run is a row, and nothing was chosen by label.")
    if result.of_footing("agreement"):
        footings.append("Settings chosen by agreement: for each arm the one that the views agree on, without labels.")
    if result.of_footing("best"):
        footings.append("Best settings: for each arm the one with the highest mean was chosen by label: optimistic.")
    found = {
        "Arms": f"All arms use the same anchors. {'; '.join(Arms.of(result).texts)}.",
        "Footing": " ".join(footings),
        "Seeds": f"{count(result.repeats, 'repeat')} from seed {result.seed}. Every repeat and view draws its own "
        "numbers, and all arms of a repeat share them: the comparison is paired.",
        "Reference": f"{result.reference}",
    }
    if result.options:
        found["Views"] = ", ".join(option_texts(result.options))
    if result.environment:
        found["Versions"] = ", ".join(f"{name} {version}" for name, version in result.environment.items())
    return found


def _data_table(result: StudyResult) -> str:
    if not result.data:
        return ""
    heads = [("data", ""), ("source", ""), ("samples", "number"), ("clusters", "number"), ("views", ""), ("labels", "")]
    return table("Data sets", [*heads, ("digest", "")], map(_data_row, result.data))


def _data_row(data: DataInfo) -> str:
    notes = "".join(f"<small>{escaped(str(note))}</small>" for note in data.notes)
    views = [f"{printable(name)} ({width:,})" for name, width in data.views[:MOST_VIEWS]]
    views += [f"and {len(data.views) - MOST_VIEWS} more"] if len(data.views) > MOST_VIEWS else []
    return (
        row_name(escaped(data.name))
        + cell(f"<code>{escaped(data.source)}</code>{notes}", "source")
        + cell(f"{data.n_samples:,}", "number")
        + cell(f"{data.n_clusters:,}", "number")
        + cell(f"{len(data.views)}<small>{escaped(', '.join(views))}</small>", "words")
        + cell("yes" if data.has_labels else "no")
        + cell(f"<code>{escaped(data.digest)}</code>", "digest")
    )


def _adapter_table(result: StudyResult) -> str:
    if not result.adapters:
        return ""
    rows = [
        row_name(escaped(each.name)) + cell(escaped(each.distribution), "name") + cell(escaped(each.version))
        for each in result.adapters
    ]
    return table("Adapters", [("adapter", ""), ("from", ""), ("version", "")], rows)


def _failures(result: StudyResult) -> str:
    """Every reason once, with the number of runs that failed for it."""
    failed = [record for record in result.runs if record.status != DONE]
    times = Counter((record.setting.dataset, record.setting.adapter, record.reason) for record in failed)
    items = []
    for (dataset, adapter, reason), n in times.items():
        where = f"{printable(dataset)} · {printable(adapter)}, {count(n, 'run')}"
        items.append(f"{escaped(where)}: <code>{escaped(reason)}</code>")
    return _first_items("Failures", items)


def _warnings(result: StudyResult) -> str:
    times = Counter(warning for record in result.runs for warning in record.warnings).most_common()
    items = [f"{escaped(text)} <span class='muted'>({count(n, 'run')})</span>" for text, n in times]
    return _first_items("Warnings", items)


def _first_items(title: str, items: Sequence[str]) -> str:
    """A list under a heading; nothing without items."""
    if not items:
        return ""
    shown = "".join(f"<li>{item}</li>" for item in items[:MOST_REASONS])
    left = len(items) - MOST_REASONS
    return f"<h3>{title}</h3>\n<ul>{shown}</ul>" + (paragraph(f"and {left} more", "muted") if left > 0 else "")
