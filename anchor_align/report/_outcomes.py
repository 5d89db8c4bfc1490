"""How every comparison of a study came out, read once for sentences, tables and figures, and the answer in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ..study import (
    ALIGNED_BETTER,
    DONE,
    FOOTINGS,
    NO_DIFFERENCE,
    NOTHING_TO_ALIGN,
    UNALIGNED_BETTER,
    Difference,
    Record,
    StudyResult,
    Summary,
    setting_key,
)
from ._formatting import (
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

# Outcomes of a comparison: the first three with an interval, the next two without one, as after a single repeat.
BETTER, WORSE, UNCLEAR = "better", "worse", "unclear"
HIGHER, LOWER = "higher", "lower"
SAME, UNLABELLED, FAILED = "same", "unlabelled", "failed"
COMPARED = (BETTER, WORSE, UNCLEAR, HIGHER, LOWER)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A row of a study, and what it says about aligned and unaligned by the study's score.

    Attributes
    ----------
    summary : Summary
    outcome : str
        "better", "worse", "unclear"; "higher", "lower" where there is no interval; "same" where anchors correspond by
        construction; "unlabelled" and "failed" where there is nothing to compare.
    difference : Difference or None
    pairs : tuple of float
        aligned - unaligned of every repeat.
    """

    summary: Summary
    outcome: str
    difference: Difference | None
    pairs: tuple[float, ...]


def comparisons(result: StudyResult, footing: str = "fixed") -> list[Comparison]:
    """All rows on a footing.

    Examples
    --------
    >>> from anchor_align.study import StudyResult
    >>> comparisons(StudyResult("compare", (), (), (), (), "acc", 10, 0, "consensus", ""))
    []
    """
    runs: dict[Hashable, list[Record]] = {}
    for record in result.records:
        runs.setdefault((setting_key(record.setting), record.arm), []).append(record)
    return [_comparison(summary, result.score, runs) for summary in result.of_footing(footing)]


def _comparison(summary: Summary, score: str, runs: Mapping[Hashable, Sequence[Record]]) -> Comparison:
    mine = {arm: runs.get((setting_key(each.setting), arm), ()) for arm, each in summary.arms.items()}
    difference = summary.differences.get(score)
    if difference is None:
        ran = any(record.status == DONE for record in mine.get("aligned", ()))
        return Comparison(summary, UNLABELLED if ran else FAILED, None, ())
    aligned, unaligned = (
        {record.repeat: record.scores[score] for record in mine[arm] if record.scores is not None}
        for arm in ("aligned", "unaligned")
    )
    pairs = tuple(aligned[repeat] - unaligned[repeat] for repeat in sorted(aligned.keys() & unaligned.keys()))
    by_verdict = {ALIGNED_BETTER: BETTER, UNALIGNED_BETTER: WORSE, NO_DIFFERENCE: UNCLEAR, NOTHING_TO_ALIGN: SAME}
    by_sign = HIGHER if difference.mean > 0 else LOWER if difference.mean < 0 else UNCLEAR
    return Comparison(summary, by_verdict.get(difference.verdict, by_sign), difference, pairs)


def answer(result: StudyResult) -> str:
    """Say in a sentence or few whether alignment helped.

    Every claim comes with its number of repeats. Rows that failed, rows without labels and rows with nothing to align
    are counted apart.

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
    rows = comparisons(result)
    agreed, best = ([row for row in comparisons(result, name) if row.outcome in COMPARED] for name in FOOTINGS[1:])
    if not rows and not agreed and not best:
        unscored = any(record.status == DONE and record.scores is None for record in result.records)
        lacking = "nothing can be scored" if result.of_footing("agreement") else "there is no best setting"
        why = f": without labels {lacking}" if unscored else ""
        return f"Nothing was compared{why}."
    sentences = []
    if rows:
        sentences = [_one_row(rows[0], result)] if len(rows) == 1 else _many_rows(rows, result)
    if agreed and len(rows) != 1:
        about = f"{score_name(result.score)}, {_repeats(agreed)}"
        chosen = f"With the setting of each arm chosen by agreement of the views (no labels used; {about})"
        sentences.append(f"{chosen}, aligned fusion is {_counts(agreed)}.")
    if best and len(rows) != 1:
        about = f"{score_name(result.score)}, {_repeats(best)}"
        chosen = f"With the best setting of each arm chosen by label (optimistic; {about})"
        sentences.append(f"{chosen}, aligned fusion is {_counts(best)}.")
    if result.options:
        sentences.append(f"All with {', '.join(option_texts(result.options))}.")
    return " ".join(sentences)


def _one_row(row: Comparison, result: StudyResult) -> str:
    data, adapter = _name(row.summary.dataset), _name(row.summary.adapter)
    repeats = count(result.repeats, "repeat")
    if row.outcome == UNLABELLED:
        return (
            f"{data} has no labels, so nothing can be scored: {adapter} ran ({repeats}), but whether alignment helped "
            "cannot be said."
        )
    if row.difference is None:
        reason = f" {printable(row.summary.failures[0])}" if row.summary.failures else ""
        return f"On {data}, no comparison of {adapter} could be made: runs failed ({repeats}).{reason}"
    name, repeats = score_name(result.score), _repeats([row])
    aligned, unaligned = (percent(row.summary.arms[arm].mean[result.score]) for arm in ("aligned", "unaligned"))
    if row.outcome == SAME:
        return (
            f"On {data}, the anchors of {adapter} correspond by construction, so aligned and unaligned fusion are the "
            f"same: {aligned} % {name} ({repeats})."
        )
    size = points(row.difference.mean).lstrip(f"+{MINUS}")
    found = "no difference"
    if float(size) != 0:
        found = f"{size} points {'higher' if row.difference.mean > 0 else 'lower'}"
        found += ", no clear difference" if row.outcome == UNCLEAR else ""
    reached = f"On {data}, {adapter} reaches {aligned} % {name} with aligned fusion and {unaligned} % without"
    return f"{reached}: {found} ({_evidence(row.difference)}{repeats}).{_lost([row])}"


def _evidence(difference: Difference) -> str:
    if difference.low is not None and difference.high is not None:
        p = p_text(difference.p)
        test = "" if difference.p is None else f", signed-rank p {p if p.startswith('<') else f'= {p}'}"
        return f"95 % interval {interval_text(difference.low, difference.high)}{test}, "
    return "no interval, may be chance: " if difference.n == 1 else "the same in every repeat: "


def _many_rows(rows: Sequence[Comparison], result: StudyResult) -> list[str]:
    compared = [row for row in rows if row.outcome in COMPARED]
    sentences = []
    if len(compared) == 1:
        sentences.append(_one_row(compared[0], result))
    elif compared:
        places = {(row.summary.dataset, row.summary.adapter) for row in compared}
        footing = "fixed settings" if len(places) == len(compared) else "every setting a comparison"
        about = f"({score_name(result.score)}, {_repeats(compared)} each, {footing})"
        sentences.append(f"Aligned fusion is {_counts(compared)} {about}.")
        mean = sum(row.difference.mean for row in compared if row.difference) / len(compared)
        sentences.append(f"Mean difference: {points(mean)} points.")
        if all(row.difference is not None and row.difference.n == 1 for row in compared):
            sentences.append("One repeat gives no interval: this may be chance.")
    sentences += _not_compared(rows)
    lost = "" if len(compared) == 1 else _lost(rows)
    return [*sentences, lost.strip()] if lost else sentences


def _counts(rows: Sequence[Comparison]) -> str:
    """How many rows have which outcome."""
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


def _not_compared(rows: Sequence[Comparison]) -> list[str]:
    """Which rows are no comparison, and why."""
    of = {outcome: [row for row in rows if row.outcome == outcome] for outcome in (SAME, UNLABELLED, FAILED)}
    number = {outcome: count(len(found), "comparison") for outcome, found in of.items()}
    sentences = []
    if of[SAME]:
        names = ", ".join(dict.fromkeys(_name(row.summary.adapter) for row in of[SAME]))
        sentences.append(
            f"In {number[SAME]} ({names}; {_repeats(of[SAME])}) the anchors correspond by construction and both arms "
            "are the same."
        )
    if of[UNLABELLED]:
        names = ", ".join(dict.fromkeys(_name(row.summary.dataset) for row in of[UNLABELLED]))
        sentences.append(f"{number[UNLABELLED]} cannot be scored without labels: {names}.")
    if of[FAILED]:
        labels = setting_labels([row.summary for row in rows])
        where = [
            " · ".join(filter(None, (_name(row.summary.dataset), _name(row.summary.adapter), label)))
            for row, label in zip(rows, labels, strict=True)
            if row.outcome == FAILED
        ]
        more = f" and {len(where) - 3} more" if len(where) > 3 else ""
        sentences.append(f"{number[FAILED]} failed: {', '.join(where[:3])}{more}.")
    return sentences


def _name(text: str) -> str:
    """A name that does not fill the sentence."""
    return shortened(text, 60)


def _repeats(rows: Sequence[Comparison]) -> str:
    numbers = sorted({row.difference.n for row in rows if row.difference is not None})
    return count(numbers[0], "repeat") if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]} repeats"


def _lost(rows: Sequence[Comparison]) -> str:
    """How many repeats failed in rows that could be compared nevertheless."""
    lost = sum(max((arm.n_failed for arm in row.summary.arms.values()), default=0) for row in rows if row.difference)
    return f" {count(lost, 'repeat')} failed and {'is' if lost == 1 else 'are'} left out." if lost else ""
