"""Paired differences of all rows of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._validation import check_choice
from ..study import FOOTINGS, StudyResult
from ._rows import BETTER, FAILED, SAME, UNLABELLED, WORSE, Row, read_rows
from ._style import NORMAL, PAGE, SMALL, Theme, get_theme, message_figure, new_figure, style
from ._text import MINUS, points, score_name, setting_labels, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 60
# Below this width, in inches, names go above their rows instead of beside them.
NARROW = 5.0
# Dots hang below the interval that they would hide.
BELOW = 0.24
WHY_EMPTY = {UNLABELLED: "no labels", FAILED: "failed", SAME: "anchors correspond by construction"}


def plot_differences(
    result: StudyResult, *, footing: str = "fixed", theme: str = "light", width: float = PAGE
) -> Figure:
    """Draw aligned - unaligned of every row: each repeat a dot, the mean and its 95 % interval.

    Parameters
    ----------
    result : StudyResult
    footing : {"fixed", "best"}, default="fixed"
    theme : {"light", "dark"}, default="light"
    width : float, default=7.0
        Inches; narrow figures have the names above the rows.

    Returns
    -------
    matplotlib.figure.Figure
        Rows without labels, and those that failed, are named as such. Of more than 60 rows the first are drawn.
    """
    colours = get_theme(theme)
    everything = read_rows(result, check_choice("footing", footing, FOOTINGS))
    rows = everything[:MOST_ROWS]
    if not any(row.difference for row in rows):
        return message_figure("Nothing to compare: no row has labels and finished runs.", colours, width)
    narrow = width < NARROW
    labels = _labels(rows, 46 if narrow else 40)
    with style(colours):
        figure = new_figure(width, (0.4 if narrow else 0.26 if len(rows) <= 20 else 0.21) * len(rows) + 0.72)
        axes = figure.subplots()
        for at, row in enumerate(rows):
            _draw_row(axes, at, row, colours)
        _finish_axes(axes, rows, colours)
        separator = "\n" if narrow else "; "
        what = f"aligned {MINUS} unaligned: {score_name(result.score)} in points"
        axes.set_xlabel(f"{what}{separator}mean and 95 % interval; dots: repeats")
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


def _labels(rows: list[Row], length: int) -> list[str]:
    settings = setting_labels([row.summary for row in rows])
    labels = []
    for row, setting in zip(rows, settings, strict=True):
        tail = f" · {shortened(row.summary.adapter, 16)}" + (f" · {shortened(setting, 30)}" if setting else "")
        labels.append(shortened(row.summary.dataset, max(12, length - len(tail))) + tail)
    return labels


def _draw_row(axes: Axes, at: int, row: Row, theme: Theme) -> None:
    """One row; numbers are in points."""
    if row.difference is None or row.outcome == SAME:
        axes.annotate(
            WHY_EMPTY[row.outcome], (0, at), (5, 0), textcoords="offset points", va="center_baseline", fontsize=SMALL,
            color=theme.muted, style="italic",
        )  # fmt: skip
        if row.difference is not None:
            axes.plot(0, at, "o", ms=3.4, mfc=theme.background, mec=theme.muted, mew=0.8)
        return
    colour = {BETTER: theme.arms["aligned"], WORSE: theme.arms["unaligned"]}.get(row.outcome, theme.muted)
    values = 100 * np.array(row.pairs)
    axes.scatter(values, np.full(len(values), at + BELOW), s=8, color=colour, alpha=0.45, linewidths=0, zorder=2)
    mean = 100 * row.difference.mean
    ends = [mean]
    if row.difference.low is not None and row.difference.high is not None:
        ends = [100 * row.difference.low, 100 * row.difference.high]
        axes.hlines(at, ends[0], ends[1], color=colour, lw=1.6, zorder=3)
    axes.plot(mean, at, "D", ms=4.2, color=colour, mec=theme.background, mew=0.6, zorder=4)
    right = max(float(values.max()), max(ends))
    axes.annotate(
        points(row.difference.mean), (max(right, 0.0), at), (6, 0), textcoords="offset points",
        va="center_baseline", fontsize=SMALL, color=colour, zorder=5,
    )  # fmt: skip


def _finish_axes(axes: Axes, rows: list[Row], theme: Theme) -> None:
    axes.axvline(0, color=theme.text, lw=0.7, zorder=1)
    axes.set_ylim(len(rows) - 0.45, -0.62)
    low, high = axes.dataLim.intervalx
    span = max(high, 0.0) - min(low, 0.0) or 1.0
    # Room for the number at the right end, and for words on both sides of the zero line.
    low, high = min(low, -0.05 * span), max(high + 0.13 * span, 0.3 * span)
    axes.set_xlim(low - 0.02 * span, high)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=theme.faint, lw=0.4)
    axes.set_axisbelow(True)
    _name_sides(axes, low, high, theme)


def _name_sides(axes: Axes, low: float, high: float, theme: Theme) -> None:
    """Say which side is which, where there is room."""
    sides = [("aligned better →", 5, "left", theme.arms["aligned"])]
    if -low > 0.2 * (high - low):
        sides.append(("← unaligned better", -5, "right", theme.arms["unaligned"]))
    for words, offset, side, colour in sides:
        axes.annotate(
            words, (0, 1), (offset, 1), xycoords=("data", "axes fraction"), textcoords="offset points", ha=side,
            va="bottom", fontsize=SMALL, color=colour,
        )  # fmt: skip
