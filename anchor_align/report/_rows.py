"""What the rows of a result say, read once for sentences, tables and figures alike."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ..study import Difference, Record, StudyResult, Summary
from ..study._results import DONE
from ..study._statistics import (
    ALIGNED_BETTER,
    NO_DIFFERENCE,
    NOTHING_TO_ALIGN,
    UNALIGNED_BETTER,
    setting_key,
)

# How a row came out. With an interval: the first three; without one, as for a single repeat: the next two.
BETTER, WORSE, UNCLEAR = "better", "worse", "unclear"
HIGHER, LOWER = "higher", "lower"
SAME, UNLABELLED, FAILED = "same", "unlabelled", "failed"


@dataclass(frozen=True, eq=False)
class Row:
    """A row and what it says of the study's score.

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


def read_rows(result: StudyResult, footing: str = "fixed") -> list[Row]:
    """All rows on a footing.

    Examples
    --------
    >>> from anchor_align.study import StudyResult
    >>> read_rows(StudyResult("compare", (), (), (), (), "acc", 10, 0, "consensus", ""))
    []
    """
    runs: dict[Hashable, list[Record]] = {}
    for record in result.records:
        runs.setdefault((setting_key(record.setting), record.arm), []).append(record)
    return [_read_row(summary, result.score, runs) for summary in result.of_footing(footing)]


def _read_row(summary: Summary, score: str, runs: Mapping[Hashable, Sequence[Record]]) -> Row:
    mine = {arm: runs.get((setting_key(each.setting), arm), ()) for arm, each in summary.arms.items()}
    aligned = [record for record in mine.get("aligned", ()) if record.status == DONE]
    difference = summary.differences.get(score)
    if difference is None:
        return Row(summary, UNLABELLED if aligned else FAILED, None, ())
    values = {
        arm: {record.repeat: record.scores[score] for record in mine[arm] if record.scores is not None}
        for arm in ("unaligned", "aligned")
    }
    both = sorted(values["unaligned"].keys() & values["aligned"].keys())
    pairs = tuple(values["aligned"][repeat] - values["unaligned"][repeat] for repeat in both)
    return Row(summary, _outcome(difference), difference, pairs)


def _outcome(difference: Difference) -> str:
    known = {
        ALIGNED_BETTER: BETTER,
        UNALIGNED_BETTER: WORSE,
        NO_DIFFERENCE: UNCLEAR,
        NOTHING_TO_ALIGN: SAME,
    }
    if difference.verdict in known:
        return known[difference.verdict]
    return HIGHER if difference.mean > 0 else LOWER if difference.mean < 0 else UNCLEAR
