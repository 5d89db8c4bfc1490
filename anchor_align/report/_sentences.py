"""What a study found, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ..study import DONE, Difference, StudyResult
from ._rows import BETTER, FAILED, HIGHER, LOWER, SAME, UNCLEAR, UNLABELLED, WORSE, Row, read_rows
from ._text import (
    MINUS,
    count,
    interval_text,
    option_texts,
    p_text,
    percent,
    points,
    printable,
    score_name,
    setting_labels,
    shortened,
)

COMPARED = (BETTER, WORSE, UNCLEAR, HIGHER, LOWER)


def answer(result: StudyResult) -> str:
    """Say in a sentence or few whether alignment helped.

    Every claim comes with the number of repeats it rests on. Rows that failed, that have no labels or in which there is
    nothing to align are counted apart.

    Parameters
    ----------
    result : StudyResult

    Returns
    -------
    str
        Plain text on one line.

    Examples
    --------
    >>> from anchor_align.study import StudyResult
    >>> answer(StudyResult("compare", (), (), (), (), "acc", 10, 0, "consensus", ""))
    'Nothing was compared.'
    """
    rows, best = read_rows(result), [row for row in read_rows(result, "best") if row.outcome in COMPARED]
    if not rows and not best:
        unscored = any(record.status == DONE and record.scores is None for record in result.records)
        why = ": without labels there is no best setting" if unscored else ""
        return f"Nothing was compared{why}."
    sentences = []
    if rows:
        sentences = [_one_row(rows[0], result)] if len(rows) == 1 else _many_rows(rows, result)
    if best and len(rows) != 1:
        chosen = f"With the best setting of each arm chosen by label (optimistic; {_about(best, result)})"
        sentences.append(f"{chosen}, aligned fusion is {_counts(best)}.")
    if result.options:
        sentences.append(f"All with {', '.join(option_texts(result.options))}.")
    return " ".join(sentences)


def _one_row(row: Row, result: StudyResult) -> str:
    data, adapter = _name(row.summary.dataset), _name(row.summary.adapter)
    if row.outcome == FAILED or row.difference is None:
        return _nothing_to_compare(row, result)
    name, arms, difference = score_name(result.score), row.summary.arms, row.difference
    aligned, unaligned = (percent(arms[arm].mean[result.score]) for arm in ("aligned", "unaligned"))
    repeats = _repeats([row])
    if row.outcome == SAME:
        return (
            f"On {data}, the anchors of {adapter} correspond by construction, so aligned and unaligned fusion are the "
            f"same: {aligned} % {name} ({repeats})."
        )
    reached = f"On {data}, {adapter} reaches {aligned} % {name} with aligned fusion and {unaligned} % without"
    return f"{reached}: {_difference_text(difference, row.outcome)} ({_evidence(difference)}{repeats}).{_lost([row])}"


def _nothing_to_compare(row: Row, result: StudyResult) -> str:
    data, adapter = _name(row.summary.dataset), _name(row.summary.adapter)
    if row.outcome == UNLABELLED:
        return (
            f"{data} has no labels, so nothing can be scored: {adapter} ran ({count(result.repeats, 'repeat')}), but "
            "whether alignment helped cannot be said."
        )
    reason = f" {printable(row.summary.failures[0])}" if row.summary.failures else ""
    return (
        f"On {data}, no comparison of {adapter} could be made: runs failed ({count(result.repeats, 'repeat')}).{reason}"
    )


def _difference_text(difference: Difference, outcome: str) -> str:
    size = points(difference.mean).lstrip(f"+{MINUS}")
    if float(size) == 0:
        return "no difference"
    text = f"{size} points {'higher' if difference.mean > 0 else 'lower'}"
    return f"{text}, no clear difference" if outcome == UNCLEAR else text


def _evidence(difference: Difference) -> str:
    if difference.low is not None and difference.high is not None:
        interval = f"95 % interval {interval_text(difference.low, difference.high)}"
        p = p_text(difference.p)
        test = "" if difference.p is None else f", signed-rank p {p if p.startswith('<') else f'= {p}'}"
        return f"{interval}{test}, "
    if difference.n == 1:
        return "no interval, may be chance: "
    return "the same in every repeat: "


def _many_rows(rows: Sequence[Row], result: StudyResult) -> list[str]:
    compared = [row for row in rows if row.outcome in COMPARED]
    sentences = []
    if len(compared) == 1:
        sentences.append(_one_row(compared[0], result))
    elif compared:
        places = {(row.summary.dataset, row.summary.adapter) for row in compared}
        footing = "fixed settings" if len(places) == len(compared) else "every setting a comparison"
        about = f"({_about(compared, result)} each, {footing})"
        sentences.append(f"Aligned fusion is {_counts(compared)} {about}.")
        mean = sum(row.difference.mean for row in compared if row.difference) / len(compared)
        sentences.append(f"Mean difference: {points(mean)} points.")
        if all(row.difference is not None and row.difference.n == 1 for row in compared):
            sentences.append("One repeat gives no interval: this may be chance.")
    sentences += _others(rows)
    lost = "" if len(compared) == 1 else _lost(rows)
    return [*sentences, lost.strip()] if lost else sentences


def _counts(rows: Sequence[Row]) -> str:
    """How many rows came out which way."""
    of = {outcome: sum(row.outcome == outcome for row in rows) for outcome in COMPARED}
    total = count(len(rows), "comparison")
    if of[UNCLEAR] == len(rows) > 1:
        return f"not clearly different from unaligned in any of {total}"
    parts = []
    if of[BETTER] or of[WORSE] or of[UNCLEAR]:
        parts.append(f"better than unaligned in {of[BETTER]} of {total}, worse in {of[WORSE]}")
    if of[HIGHER] or of[LOWER]:
        head = f"higher in {of[HIGHER]}" if parts else f"higher than unaligned in {of[HIGHER]} of {total}"
        parts.append(f"{head}, lower in {of[LOWER]} without an interval")
    unclear = ""
    if of[UNCLEAR]:
        unclear = f"; {of[UNCLEAR]} {'shows' if of[UNCLEAR] == 1 else 'show'} no clear difference"
    return f"{', '.join(parts)}{unclear}"


def _others(rows: Sequence[Row]) -> list[str]:
    """Rows that are no comparison, and why."""
    of = {outcome: [row for row in rows if row.outcome == outcome] for outcome in (SAME, UNLABELLED, FAILED)}
    sentences = []
    if of[SAME]:
        names = ", ".join(dict.fromkeys(_name(row.summary.adapter) for row in of[SAME]))
        sentences.append(
            f"In {_rows_text(len(of[SAME]))} ({names}; {_repeats(of[SAME])}) the anchors correspond by construction "
            "and both arms are the same."
        )
    if of[UNLABELLED]:
        names = ", ".join(dict.fromkeys(_name(row.summary.dataset) for row in of[UNLABELLED]))
        sentences.append(f"{_rows_text(len(of[UNLABELLED]))} cannot be scored, for want of labels: {names}.")
    if of[FAILED]:
        labels = setting_labels([row.summary for row in rows])
        where = [
            " · ".join(filter(None, (_name(row.summary.dataset), _name(row.summary.adapter), label)))
            for row, label in zip(rows, labels, strict=True)
            if row.outcome == FAILED
        ]
        shown = ", ".join(where[:3]) + (f" and {len(where) - 3} more" if len(where) > 3 else "")
        sentences.append(f"{_rows_text(len(where))} failed: {shown}.")
    return sentences


def _name(text: str) -> str:
    """A name that does not fill the sentence."""
    return shortened(text, 60)


def _rows_text(n: int) -> str:
    return count(n, "comparison")


def _about(rows: Sequence[Row], result: StudyResult) -> str:
    return f"{score_name(result.score)}, {_repeats(rows)}"


def _repeats(rows: Sequence[Row]) -> str:
    """Over how many repeats the rows are averaged."""
    numbers = sorted({row.difference.n for row in rows if row.difference is not None})
    return count(numbers[0], "repeat") if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]} repeats"


def _lost(rows: Sequence[Row]) -> str:
    """Runs that failed in rows that could be compared nevertheless."""
    lost = [max((arm.n_failed for arm in row.summary.arms.values()), default=0) for row in rows if row.difference]
    if not sum(lost):
        return ""
    failed = count(sum(lost), "repeat")
    return f" {failed} failed and {'is' if sum(lost) == 1 else 'are'} left out."
