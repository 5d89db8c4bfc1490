"""How every comparison of a study came out, read once for sentences, tables and figures, and the answer in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ..study import (
    BETTER,
    DONE,
    EQUAL,
    FOOTINGS,
    HIGHER,
    LOWER,
    NOTHING_TO_ALIGN,
    TOO_FEW,
    UNCLEAR,
    WORSE,
    Difference,
    Overall,
    Record,
    StudyResult,
    Summary,
    over_data_sets,
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
    score_name,
    setting_labels,
    shortened,
)
from ._rival_tables import rival_sentence

# Outcomes besides those of a difference: where there is nothing to compare.
UNLABELLED, FAILED, NO_ARM = "unlabelled", "failed", "no arm"
TESTED, UNTESTED = (BETTER, WORSE, UNCLEAR), (TOO_FEW, HIGHER, LOWER)
COMPARED = (*TESTED, *UNTESTED, EQUAL)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A row of a study, and what it says about two arms.

    Attributes
    ----------
    summary : Summary
    outcome : str
        The outcome of the difference; "unlabelled", "failed" and "no arm" where there is nothing to compare.
    difference : Difference or None
    pairs : tuple of float
        first - second of every repeat.
    """

    summary: Summary
    outcome: str
    difference: Difference | None
    pairs: tuple[float, ...]


def comparisons(
    result: StudyResult,
    footing: str = "fixed",
    arms: tuple[str, str] | None = None,
    score: str | None = None,
) -> list[Comparison]:
    """All rows on a footing; by default the first pair of arms and the first score of the study.

    Examples
    --------
    >>> from anchor_align.study import StudyResult
    >>> comparisons(StudyResult("compare", (), (), (), (), "acc", 10, 0, "consensus", ""))
    []
    """
    runs: dict[Hashable, list[Record]] = {}
    for record in result.records:
        runs.setdefault((setting_key(record.setting), record.arm), []).append(record)
    pair, shown = arms or result.versus[0], score or result.score
    return [_comparison(summary, pair, shown, runs) for summary in result.of_footing(footing)]


def _comparison(
    summary: Summary, arms: tuple[str, str], score: str, runs: Mapping[Hashable, Sequence[Record]]
) -> Comparison:
    mine = {arm: runs.get((setting_key(each.setting), arm), ()) for arm, each in summary.arms.items()}
    difference = summary.contrasts.get(arms, {}).get(score)
    if difference is None:
        ran = all(any(record.status == DONE for record in mine.get(arm, ())) for arm in arms)
        absent = any(arm not in mine for arm in arms)
        return Comparison(summary, NO_ARM if absent else UNLABELLED if ran else FAILED, None, ())
    first, second = (
        {record.repeat: record.scores[score] for record in mine[arm] if record.scores is not None} for arm in arms
    )
    pairs = tuple(first[repeat] - second[repeat] for repeat in sorted(first.keys() & second.keys()))
    return Comparison(summary, difference.outcome, difference, pairs)


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
        sentences.append(f"{chosen}, {result.versus[0][0]} fusion is {_counts(agreed)}.")
    if best and len(rows) != 1:
        about = f"{score_name(result.score)}, {_repeats(best)}"
        chosen = f"With the best setting of each arm chosen by label (optimistic; {about})"
        sentences.append(f"{chosen}, {result.versus[0][0]} fusion is {_counts(best)}.")
    for arms in result.versus[1:]:
        compared = [row for row in comparisons(result, arms=arms) if row.outcome in COMPARED]
        sentences += [f"{_capital(arms[0])} fusion is {_counts(compared)}."] if compared else []
    if against := rival_sentence(result):
        sentences.append(against)
    if result.options:
        sentences.append(f"All with {', '.join(option_texts(result.options))}.")
    return " ".join(sentences)


def _one_row(row: Comparison, result: StudyResult) -> str:
    data, adapter = _name(row.summary.dataset), _name(row.summary.adapter)
    repeats = count(result.repeats, "repeat")
    if row.outcome == UNLABELLED:
        return (
            f"{data} has no labels, so nothing can be scored: {adapter} ran ({repeats}), but whether alignment helped "
            "cannot be said. The table has what a study knows without labels, anchor-align cluster --html has more."
        )
    if row.outcome == NO_ARM:
        return f"On {data}, {adapter} does not have both arms: {' and '.join(result.versus[0])}."
    if row.difference is None:
        return f"On {data}, no comparison of {adapter} could be made: runs failed ({repeats})."
    name, repeats = score_name(result.score), _repeats([row])
    first, second = row.difference.arms
    means = [percent(row.summary.arms[arm].mean[result.score]) for arm in (first, second)]
    if row.outcome == NOTHING_TO_ALIGN:
        return (
            f"On {data}, the anchors of {adapter} correspond by construction, so aligned and unaligned fusion are the "
            f"same: {means[0]} % {name} ({repeats})."
        )
    size = points(row.difference.mean).lstrip(f"+{MINUS}")
    found = "no difference"
    if float(size) != 0:
        found = f"{size} points {'higher' if row.difference.mean > 0 else 'lower'}"
        found += ", no clear difference" if row.outcome == UNCLEAR else ""
    reached = f"On {data}, {adapter} reaches {means[0]} % {name} with {first} and {means[1]} % with {second} fusion"
    return f"{reached}: {found} ({_evidence(row.difference)}{repeats}).{_too_few([row])}{_lost([row])}"


def _evidence(difference: Difference) -> str:
    if difference.low is not None and difference.p is not None:
        p = p_text(difference.p)
        interval = interval_text(difference.low, difference.high)
        return f"95 % interval {interval}, p {p if p.startswith('<') else f'= {p}'}, "
    return "" if difference.outcome == TOO_FEW else "the same in every repeat: "


def _too_few(rows: Sequence[Comparison]) -> str:
    """How many repeats would do, where there are too few."""
    found = [row.difference for row in rows if row.difference and row.outcome == TOO_FEW]
    if not found:
        return ""
    needed = max(difference.n_needed for difference in found)
    return f" So few repeats cannot show a difference; {needed} can."


def _many_rows(rows: Sequence[Comparison], result: StudyResult) -> list[str]:
    compared = [row for row in rows if row.outcome in COMPARED]
    sentences = []
    if len(compared) == 1:
        sentences.append(_one_row(compared[0], result))
    elif compared:
        places = {(row.summary.dataset, row.summary.adapter) for row in compared}
        footing = "fixed settings" if len(places) == len(compared) else "every setting a comparison"
        about = f"({score_name(result.score)}, {_repeats(compared)} each, {footing})"
        sentences.append(f"{_capital(result.versus[0][0])} fusion is {_counts(compared)} {about}.{_too_few(compared)}")
        sentences.append(_mean_difference(compared, result))
    sentences += _not_compared(rows)
    lost = "" if len(compared) == 1 else _lost(rows)
    return [*sentences, lost.strip()] if lost else sentences


def _mean_difference(compared: Sequence[Comparison], result: StudyResult) -> str:
    """The mean over data sets for each adapter; over all rows if there is one data set."""
    every = over_data_sets(result.summaries, result.versus[0], result.score)
    found = [each for each in every if each.footing == compared[0].summary.footing]
    if not found:
        mean = sum(row.difference.mean for row in compared if row.difference) / len(compared)
        return f"Mean difference: {points(mean)} points."
    named = len({row.summary.adapter for row in compared}) > 1
    sizes = sorted({each.difference.n for each in found})
    sets = count(sizes[0], "data set") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} data sets"
    texts = [f"{_name(each.adapter)} {_over(each)}" if named else _over(each) for each in found]
    return f"Mean difference over {sets}: {', '.join(texts)}."


def _over(each: Overall) -> str:
    found = each.difference
    text = f"{points(found.mean)} points"
    return text if found.low is None else f"{text} (95 % interval {interval_text(found.low, found.high)})"


def _counts(rows: Sequence[Comparison]) -> str:
    """How many rows have which outcome."""
    of = Counter(row.outcome for row in rows)
    second = next(row.difference.arms[1] for row in rows if row.difference)
    total = count(len(rows), "comparison")
    if of[UNCLEAR] == len(rows) > 1:
        return f"not clearly different from {second} in any of {total}"
    parts = []
    if any(of[outcome] for outcome in TESTED):
        parts.append(f"better than {second} in {of[BETTER]} of {total}, worse in {of[WORSE]}")
    untested = [row.difference.mean > 0 for row in rows if row.difference and row.outcome in UNTESTED]
    if untested:
        head = f"higher in {sum(untested)}" if parts else f"higher than {second} in {sum(untested)} of {total}"
        parts.append(f"{head}, lower in {len(untested) - sum(untested)} without a test")
    if of[EQUAL]:
        parts.append(f"the same as {second} in every repeat of {count(of[EQUAL], 'comparison')}")
    unclear = ""
    if of[UNCLEAR]:
        unclear = f"; {of[UNCLEAR]} {'shows' if of[UNCLEAR] == 1 else 'show'} no clear difference"
    return f"{', '.join(parts)}{unclear}"


def _not_compared(rows: Sequence[Comparison]) -> list[str]:
    """Which rows are no comparison, and why."""
    of = {
        outcome: [row for row in rows if row.outcome == outcome]
        for outcome in (NOTHING_TO_ALIGN, UNLABELLED, FAILED, NO_ARM)
    }
    number = {outcome: count(len(found), "comparison") for outcome, found in of.items()}
    sentences = []
    if same := of[NOTHING_TO_ALIGN]:
        names = ", ".join(dict.fromkeys(_name(row.summary.adapter) for row in same))
        sentences.append(
            f"In {count(len(same), 'comparison')} ({names}; {_repeats(same)}) the anchors correspond by construction "
            "and both arms are the same."
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
    if of[NO_ARM]:
        names = ", ".join(dict.fromkeys(_name(row.summary.adapter) for row in of[NO_ARM]))
        sentences.append(f"{number[NO_ARM]} cannot be made: {names} does not have both arms.")
    return sentences


def _capital(text: str) -> str:
    return _name(text[:1].upper() + text[1:])


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
