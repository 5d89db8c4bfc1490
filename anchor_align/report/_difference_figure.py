"""Figure of a study: the paired differences of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import check_choice
from ..study import BETTER, FOOTINGS, NOTHING_TO_ALIGN, WORSE, StudyResult
from ._arms import Arms
from ._figure_style import NORMAL, PAGE, SMALL, Theme, check_width, get_theme, message_figure, new_figure, style
from ._formatting import MINUS, points, score_name, setting_labels, shortened
from ._outcomes import FAILED, NO_ARM, UNLABELLED, Comparison, comparisons

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Below this width, in inches, names are above their rows instead of beside them.
NARROW = 5.0
MOST_ROWS = 60
# Dots hang below the interval that they would hide.
BELOW = 0.24
WHY_EMPTY = {
    UNLABELLED: "no labels",
    FAILED: "failed",
    NO_ARM: "not both arms",
    NOTHING_TO_ALIGN: "anchors correspond by construction",
}


def plot_differences(
    result: StudyResult,
    *,
    footing: str = "fixed",
    versus: tuple[str, str] | None = None,
    theme: str = "light",
    width: float = PAGE,
) -> Figure:
    """Draw the difference of two arms in every row: each repeat a dot, the mean and its interval.

    Parameters
    ----------
    result : StudyResult
    footing : {"fixed", "agreement", "best"}, default="fixed"
    versus : tuple of str, optional
        The two arms, first - second; by default the first pair of the study.
    theme : {"light", "dark"}, default="light"
    width : float, default=7.0
        Inches; narrow figures have the names above the rows.

    Returns
    -------
    matplotlib.figure.Figure
        Rows without labels, and rows that failed, are marked. Of more than 60 rows the first 60 are drawn.
    """
    colours, width = get_theme(theme), check_width(width)
    arms = versus or result.versus[0]
    everything = comparisons(result, check_choice("footing", footing, FOOTINGS), arms)
    rows = everything[:MOST_ROWS]
    if not any(row.difference for row in rows):
        return message_figure("Nothing to compare: no row has labels and finished runs.", colours, width)
    narrow = width < NARROW
    labels = _row_names(rows, 46 if narrow else 40)
    known = Arms.of(result)
    pair = {arm: colours.arm(arm, known) for arm in arms}
    with style(colours):
        figure = new_figure(width, (0.4 if narrow else 0.26 if len(rows) <= 20 else 0.21) * len(rows) + 0.72)
        axes = figure.subplots()
        for at, row in enumerate(rows):
            _draw_difference(axes, at, row, pair, colours)
        _finish_differences(axes, len(rows), pair, colours)
        separator = "\n" if narrow else "; "
        what = f"{arms[0]} {MINUS} {arms[1]}: {score_name(result.score)} in points"
        axes.set_xlabel(f"{what}{separator}mean and interval; dots: repeats")
        if narrow:
            axes.set_yticks([])
            for at, label in enumerate(labels):
                axes.annotate(
                    label, (0, at - 0.24), (1, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                    va="bottom", fontsize=SMALL, parse_math=False, annotation_clip=False, zorder=6,
                    bbox={"facecolor": colours.background, "edgecolor": "none", "pad": 0.8},
                )  # fmt: skip
        else:
            axes.set_yticks(range(len(rows)), labels, parse_math=False, fontsize=NORMAL, color=colours.text)
        if len(everything) > len(rows):
            figure.suptitle(f"the first {len(rows)} of {len(everything)} rows", fontsize=SMALL, color=colours.muted)
    return figure


def _row_names(rows: list[Comparison], length: int) -> list[str]:
    settings = setting_labels([row.summary for row in rows])
    names = []
    for row, setting in zip(rows, settings, strict=True):
        tail = f" · {shortened(row.summary.adapter, 16)}" + (f" · {shortened(setting, 30)}" if setting else "")
        names.append(shortened(row.summary.dataset, max(12, length - len(tail))) + tail)
    return names


def _draw_difference(axes: Axes, at: int, row: Comparison, pair: Mapping[str, Any], theme: Theme) -> None:
    """One row; numbers are in points. ``pair`` has the colours of the two arms."""
    if row.difference is None or row.outcome == NOTHING_TO_ALIGN:
        axes.annotate(
            WHY_EMPTY[row.outcome], (0, at), (5, 0), textcoords="offset points", va="center_baseline", fontsize=SMALL,
            color=theme.muted, style="italic",
        )  # fmt: skip
        if row.difference is not None:
            axes.plot(0, at, "o", ms=3.4, mfc=theme.background, mec=theme.muted, mew=0.8)
        return
    first, second = pair.values()
    colour = {BETTER: first, WORSE: second}.get(row.outcome, theme.muted)
    values = 100 * np.array(row.pairs)
    axes.scatter(values, np.full(len(values), at + BELOW), s=8, color=colour, alpha=0.45, linewidths=0, zorder=2)
    mean = 100 * row.difference.mean
    ends = [mean]
    if row.difference.low is not None and row.difference.high is not None:
        ends = [100 * row.difference.low, 100 * row.difference.high]
        axes.hlines(at, ends[0], ends[1], color=colour, lw=1.6, zorder=3)
    # Filled only where the test finds a difference: the colour of an arm may be like that of uncertain rows.
    certain = row.outcome in (BETTER, WORSE)
    face, edge = (colour, theme.background) if certain else (theme.background, colour)
    axes.plot(mean, at, "D", ms=4.2, mfc=face, mec=edge, mew=0.6 if certain else 0.9, zorder=4)
    right = max(float(values.max()), max(ends))
    axes.annotate(
        points(row.difference.mean), (max(right, 0.0), at), (6, 0), textcoords="offset points",
        va="center_baseline", fontsize=SMALL, color=colour, zorder=5,
    )  # fmt: skip


def _finish_differences(axes: Axes, n_rows: int, pair: Mapping[str, Any], theme: Theme) -> None:
    """Axes, the zero line, and which side of it is which, where there is room."""
    axes.axvline(0, color=theme.text, lw=0.7, zorder=1)
    axes.set_ylim(n_rows - 0.45, -0.62)
    low, high = axes.dataLim.intervalx
    span = max(high, 0.0) - min(low, 0.0) or 1.0
    # Room for the number at the right end, and for words on both sides of the zero line.
    low, high = min(low, -0.05 * span), max(high + 0.13 * span, 0.3 * span)
    axes.set_xlim(low - 0.02 * span, high)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=theme.faint, lw=0.4)
    axes.set_axisbelow(True)
    (first, colour), (second, other) = pair.items()
    sides = [(f"{shortened(first, 16)} higher →", 5, "left", colour)]
    if -low > 0.2 * (high - low):
        sides.append((f"← {shortened(second, 16)} higher", -5, "right", other))
    for words, offset, side, colour in sides:
        axes.annotate(
            words, (0, 1), (offset, 1), xycoords=("data", "axes fraction"), textcoords="offset points", ha=side,
            va="bottom", fontsize=SMALL, color=colour, parse_math=False,
        )  # fmt: skip
