"""A study's result as text: tables for people, JSON with everything, CSV with one row for every run."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from ..checks import check_choice, check_whole_number
from ..study import (
    BASELINE,
    SCORES,
    ArmSummary,
    Difference,
    Record,
    RivalSummary,
    Setting,
    StudyResult,
    Summary,
    anchors_text,
    average_ranks,
    over_data_sets,
)
from ._formats import FORMATS
from ._formatting import value_text
from ._table_writers import to_latex, to_markdown, to_plain_text

# Measures of a run that need no labels.
MEASURED = ("objective", "upper_bound", "agreement", "anchors_in_use", "evenness")
# What spreadsheets take for a formula when a cell starts with it.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def render(result: StudyResult, format: str, *, width: int = 80) -> str:
    """Write a study's result in one of the formats.

    Parameters
    ----------
    result : StudyResult
    format : {"table", "json", "csv", "md", "latex"}
        ``table``: plain text, no wider than ``width``; for the terminal, with bold, see ``study_table``.
        ``json``: all records, summaries and where they come from, in ASCII. ``csv``: one row for every record, without
        times, so that equal studies give equal files. ``md``: tables for GitHub. ``latex``: tables for booktabs.
    width : int, default=80
        Columns of ``table``.

    Returns
    -------
    str
        Ends with a line break.

    Examples
    --------
    >>> from anchor_align.study import Record, Setting, StudyResult
    >>> scores = {"acc": 0.5, "nmi": 0.4, "purity": 0.5, "fscore": 0.3, "ari": 0.2}
    >>> record = Record(Setting("digits", "lmvsc", 10, 0.1), "aligned", 0, 7, scores, 1.0)
    >>> result = StudyResult("compare", (record,), (), (), (), "acc", 1, 0, "consensus", "anchor-align compare lmvsc")
    >>> for name, value in zip(*(line.split(",") for line in render(result, "csv").splitlines())):
    ...     if name in ("dataset", "n_anchors", "arm", "acc", "status"):
    ...         print(name, value)
    dataset digits
    n_anchors 10
    arm aligned
    acc 0.5
    status done
    """
    if check_choice("format", format, FORMATS) == "table":
        return to_plain_text(result, check_whole_number("width", width, least=1))
    return {"json": to_json, "csv": to_csv, "md": to_markdown, "latex": to_latex}[format](result)


def to_json(result: StudyResult) -> str:
    """Everything about a study, as strict JSON.

    Scores of runs that have none are null, as is every number that is not finite, except ``lam``, which is the string
    "inf" for structure alone. Settings of adapters that JSON has no form for are written as Python shows them.
    """
    about = {
        "kind": result.kind,
        "score": result.score,
        "scores": result.scores,
        "versus": [{"first": first, "second": second} for first, second in result.versus],
        "repeats": result.repeats,
        "seed": result.seed,
        "reference": result.reference,
        **dict(result.options),
        "command": result.command,
        "data": [{**asdict(data), "notes": [str(note) for note in data.notes]} for data in result.data],
        "adapters": [asdict(adapter) for adapter in result.adapters],
        "methods": [asdict(method) for method in result.methods],
    }
    # A line for every run: files of thousands of runs can be read, and compared line by line.
    parts = {
        "study": _dump(about),
        "records": _lines([_record(record) for record in result.all_records]),
        "summary": _lines([_summary(row) for row in result.summaries]),
        "over_data_sets": _lines(_overall(result)),
        "against": _lines([_rival(row) for row in result.against]),
        "ranks": _lines(_ranks(result)),
        "environment": _dump(result.environment),
    }
    return "{\n" + ",\n".join(f' "{name}": {text}' for name, text in parts.items()) + "\n}\n"


def to_csv(result: StudyResult) -> str:
    """One row for every run, quoted as in RFC 4180, with plain line feeds.

    There are no times and no warnings: the same study gives the same bytes. Numbers are written in full. A name or
    reason that starts with a sign that spreadsheets take for a formula (= + - @ or a tab) gets an apostrophe before it:
    names come from files, and opening a table must not run anything.
    """
    options = [name for name, _ in result.options]
    head = ["dataset", "adapter", "params", "n_anchors", "lam", *options, "arm", "repeat", "seed", *SCORES]
    lines = [[*head, *MEASURED, "status", "reason"]]
    for record in result.all_records:
        setting, scores = record.setting, record.scores or {}
        params = ";".join(f"{name}={_quoted_value(value)}" for name, value in setting.params)
        measured = [*(scores.get(name) for name in SCORES), *(getattr(record, name) for name in MEASURED)]
        run = [record.repeat, record.seed, *measured]
        lines.append(
            [
                *map(_text_cell, (setting.dataset, setting.adapter, params)),
                "" if setting.n_anchors is None else _text_cell(anchors_text(setting.n_anchors)),
                "" if record.arm == BASELINE else _number_cell(setting.lam),
                *(_text_cell(_option(dict(setting.options).get(name))) for name in options),
                record.arm,
                *map(_number_cell, run),
                record.status,
                _text_cell(record.reason),
            ]
        )
    return "".join(",".join(line) + "\n" for line in lines)


def _lines(values: Sequence[object]) -> str:
    return "[\n" + ",\n".join(f"  {_dump(value)}" for value in values) + "\n ]" if values else "[]"


def _dump(value: object) -> str:
    # ASCII: the same bytes on every console, and names that are not valid Unicode survive.
    return json.dumps(_plain(value), ensure_ascii=True, allow_nan=False)


def _record(record: Record) -> dict[str, object]:
    scores = record.scores or {}
    return {
        **_setting(record.setting),
        **({"lam": None} if record.arm == BASELINE else {}),
        "arm": record.arm,
        "repeat": record.repeat,
        "seed": record.seed,
        **{name: scores.get(name) for name in SCORES},
        "seconds": record.seconds,
        "status": record.status,
        "reason": record.reason,
        **{name: getattr(record, name) for name in MEASURED},
        "warnings": list(record.warnings),
    }


def _summary(row: Summary) -> dict[str, object]:
    where = {"dataset": row.dataset, "adapter": row.adapter, "n_anchors": None, "lam": None, "params": None}
    return {
        "footing": row.footing,
        **(where if row.setting is None else _setting(row.setting)),
        "arms": {name: _arm(arm) for name, arm in row.arms.items()},
        "differences": {score: _difference(difference) for score, difference in row.differences.items()},
        "contrasts": [
            {"score": score, **_difference(difference)}
            for by_score in row.contrasts.values()
            for score, difference in by_score.items()
        ],
        "failures": list(row.failures),
    }


def _difference(difference: Difference) -> dict[str, object]:
    first, second = difference.arms
    found = {**asdict(difference), "verdict": difference.verdict}
    return {"first": first, "second": second, **{name: each for name, each in found.items() if name != "arms"}}


def _overall(result: StudyResult) -> list[dict[str, object]]:
    """Differences over data sets, of all pairs of arms."""
    return [
        {"footing": each.footing, "adapter": each.adapter, "score": score, **_difference(each.difference)}
        for arms, score in itertools.product(result.versus, SCORES)
        for each in over_data_sets(result.summaries, arms, score)
    ]


def _rival(row: RivalSummary) -> dict[str, object]:
    return {
        "footing": row.footing,
        "dataset": row.dataset,
        "method": row.method.name,
        "summary": None if row.summary is None else _arm(row.summary),
        "seconds": row.seconds,
        "status": row.status,
        "reason": row.reason,
        "differences": {score: _difference(difference) for score, difference in row.differences.items()},
    }


def _ranks(result: StudyResult) -> list[dict[str, object]]:
    """Average ranks on every footing, by score."""
    footings = dict.fromkeys(row.footing for row in result.against)
    found = [average_ranks(result.against, score, footing) for footing in footings for score in result.scores]
    return [asdict(each) for each in found if each is not None]


def _arm(arm: ArmSummary) -> dict[str, object]:
    setting = _setting(arm.setting)
    where = {name: setting[name] for name in ("n_anchors", "lam", "params")}
    counts = {"n_settings": arm.n_settings, "n_done": arm.n_done, "n_failed": arm.n_failed}
    return {**where, **counts, "mean": dict(arm.mean), "sd": dict(arm.sd)}


def _setting(setting: Setting) -> dict[str, object]:
    lam = float(setting.lam)
    return {
        "dataset": setting.dataset,
        "adapter": setting.adapter,
        "n_anchors": setting.n_anchors,
        "lam": lam if math.isfinite(lam) else repr(lam),
        "params": {name: _param(value) for name, value in setting.params},
        **dict(setting.options),
    }


def _param(value: object) -> object:
    """A setting as it is, or as Python shows it where JSON has no form for it."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
    return value


def _plain(value: object) -> object:
    """The value without what JSON does not have: numbers that are not finite, and numbers of NumPy."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _quoted_value(value: object) -> str:
    """Value of a setting, quoted if it looks like the next setting."""
    text = value_text(value)
    return repr(text) if ";" in text or "=" in text else text


def no_formula(text: str) -> str:
    """Text of a cell that no spreadsheet takes for a formula."""
    # File names that are not valid Unicode cannot be written as they are.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return f"'{text}" if text.startswith(FORMULA) else text


def _text_cell(text: str) -> str:
    text = no_formula(text)
    if text != text.strip() or any(sign in text for sign in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _option(value: object) -> str:
    """How the views were used: numbers in full, those of several views as the command line takes them."""
    return ",".join(map(repr, value)) if isinstance(value, tuple) else str(value)


def _number_cell(value: float | None) -> str:
    """A number in full, not as NumPy shows it; floating-point numbers stay such if they are whole."""
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)
