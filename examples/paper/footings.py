"""Scores of a study on several footings: at one setting fixed beforehand, and at the best of a grid by label.

There are two ways of choosing by label. "best of grid": the setting with the highest mean ACC over all draws of
anchors. "best, each draw": the mean of the highest ACC in every draw. Papers that draw anchors once for each setting
report the second, which is more optimistic. NMI, F-score and purity are those of the setting with the highest ACC.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.stats import ttest_rel

from anchor_align.study import Record, Setting, Summary, summarise

# Scores by number of the draw.
Draws = dict[int, Mapping[str, float]]
FIXED, BEST, EACH_DRAW = FOOTINGS = ("fixed", "best of grid", "best, each draw")
NOTHING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Footing:
    """Scores of every arm on one footing of one data set and method; the study's own row, where it has one."""

    name: str
    arms: Mapping[str, Draws]
    row: Summary | None = None

    def cell(self, arm: str, score: str) -> str:
        """Mean and standard deviation over the draws, in percent."""
        return mean_sd([100 * scores[score] for scores in self.arms.get(arm, {}).values()])

    def gain(self, score: str) -> str:
        """Aligned less unaligned in points, with its 95 % interval (Student's t) where each arm has one setting."""
        unaligned, aligned = self.arms.get("unaligned", {}), self.arms.get("aligned", {})
        mean = difference(unaligned, aligned, score, sd=False)
        both = [draw for draw in unaligned if draw in aligned]
        ones, others = [aligned[draw][score] for draw in both], [unaligned[draw][score] for draw in both]
        if self.row is None or len({round(one - other, 12) for one, other in zip(ones, others, strict=True)}) < 2:
            return mean
        interval = ttest_rel(ones, others).confidence_interval(0.95)
        return f"{mean} ({points(float(interval.low))} to {points(float(interval.high))})"


def footings_of(records: Sequence[Record], fixed: Callable[[Setting], bool]) -> list[Footing]:
    """Scores of one method on one data set, on all footings; a footing without a finished run is left out."""
    arms = dict.fromkeys(record.arm for record in records)
    found = []
    for row in summarise(records, score="acc", footings=["fixed", "best"]):
        if row.setting is None:
            chosen = {arm: _at(records, arm, summary.setting) for arm, summary in row.arms.items()}
            each = {arm: best_in_each_draw(records, arm) for arm in arms}
            found += [Footing(BEST, chosen, row), Footing(EACH_DRAW, each)]
        elif fixed(row.setting):
            found.append(Footing(FIXED, {arm: _at(records, arm, row.setting) for arm in arms}, row))
    return [footing for footing in found if any(footing.arms.values())]


def best_in_each_draw(records: Sequence[Record], arm: str) -> Draws:
    """Scores of the setting with the highest ACC, in every single draw."""
    best: Draws = {}
    for record in records:
        if record.arm == arm and record.scores is not None:
            before = best.get(record.repeat)
            if before is None or record.scores["acc"] > before["acc"]:
                best[record.repeat] = record.scores
    return best


def difference(one: Draws, other: Draws, score: str, *, sd: bool = True) -> str:
    """Mean of other less one in points, paired by draw."""
    values = [100 * (other[draw][score] - one[draw][score]) for draw in one if draw in other]
    if not values:
        return NOTHING
    spread = f" ± {stdev(values):.1f}" if sd and len(values) > 1 else ""
    return points(fmean(values) / 100) + spread


def mean_sd(values: list[float]) -> str:
    """Such as "60.4 ± 7.1", or without a deviation where there is one value."""
    if not values:
        return NOTHING
    return f"{fmean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def points(value: float) -> str:
    """A difference of scores in points, with its sign."""
    return "0.0" if abs(value) < 1e-10 else f"{100 * value:+.1f}".replace("-", MINUS)


def _at(records: Sequence[Record], arm: str, setting: Setting) -> Draws:
    return {r.repeat: r.scores for r in records if r.arm == arm and r.setting == setting and r.scores is not None}
