"""Scores of a sweep against lam and against the number of anchors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..study import StudyResult, Summary
from ..study._anchors import Anchors
from ._style import NORMAL, PAGE, SMALL, Theme, get_theme, message_figure, new_figure, style
from ._text import anchors_text, number_text, params_text, score_name, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_GROUPS = 24
MOST_NAMED_LINES = 6
NARROW = 5.0
CONTROLS = ("unaligned", "concat")


@dataclass(frozen=True)
class Point:
    """Mean and standard deviation of an arm, in percent."""

    mean: float
    sd: float


@dataclass(frozen=True, eq=False)
class Group:
    """Rows of a data set, an adapter and its settings: points by arm, number of anchors and lam."""

    title: str
    points: Mapping[tuple[str, Anchors, float], Point]

    @property
    def lams(self) -> list[float]:
        """In rising order."""
        return sorted({lam for _, _, lam in self.points})

    @property
    def anchors(self) -> list[Anchors]:
        """In rising order, by the mean where views differ; what the adapter finds on its own comes last."""
        return sorted({m for _, m, _ in self.points}, key=_size)


@dataclass(frozen=True, eq=False)
class Line:
    """A line of a panel: values against places on the axis, NaN where there is none."""

    name: str
    colour: Any
    points: Sequence[Point | None]
    control: bool = False


def plot_sensitivity(result: StudyResult, *, theme: str = "light", width: float = PAGE) -> Figure:
    """Draw the scores of a sweep against lam, a line for each number of anchors, and the other way round.

    Parameters
    ----------
    result : StudyResult
        With more than one ``lam`` or number of anchors.
    theme : {"light", "dark"}, default="light"
    width : float, default=7.0
        Inches; in narrow figures the panels are one below the other.

    Returns
    -------
    matplotlib.figure.Figure
        A row of panels for every data set and adapter, and setting of the adapter. Shaded: one standard deviation; for
        the controls against lam, which they do not depend on, the range over the numbers of anchors.
    """
    colours = get_theme(theme)
    everything = _groups(result)
    groups = everything[:MOST_GROUPS]
    panels = [(group, kind) for group in groups for kind in _kinds(group)]
    if not panels:
        return message_figure("No sweep: lam and the number of anchors have one value each.", colours, width)
    columns = 1 if width < NARROW else 2
    # Every group starts on a row of its own.
    places = _places(groups, columns)
    rows = 1 + max(row for row, _ in places)
    with style(colours):
        figure = new_figure(width, 1.95 * rows + 0.1)
        grid = figure.subplots(rows, columns, squeeze=False)
        for (row, column), (group, kind) in zip(places, panels, strict=True):
            axes = grid[row, column]
            _draw_panel(axes, group, kind, result.score, colours)
        for row, column in {(r, c) for r in range(rows) for c in range(columns)} - set(places):
            grid[row, column].remove()
        if len(everything) > len(groups):
            figure.suptitle(f"the first {len(groups)} of {len(everything)} groups", fontsize=SMALL, color=colours.muted)
    return figure


def has_sweep(result: StudyResult) -> bool:
    """Whether there is anything to draw: a group with labels and more than one lam or number of anchors."""
    return any(_kinds(group) for group in _groups(result))


def _groups(result: StudyResult) -> list[Group]:
    rows: dict[tuple[str, str, str], list[Summary]] = {}
    for row in result.of_footing("fixed"):
        if row.setting is not None and any(result.score in arm.mean for arm in row.arms.values()):
            rows.setdefault(
                (row.dataset, row.adapter, params_text(row.setting.params) if row.setting.params else ""), []
            ).append(row)
    return [_group(*key, members, result.score) for key, members in rows.items()]


def _group(dataset: str, adapter: str, params: str, rows: Sequence[Summary], score: str) -> Group:
    title = " · ".join(filter(None, (shortened(dataset, 26), shortened(adapter, 16), shortened(params, 30))))
    made = {}
    for row in rows:
        for arm, each in row.arms.items():
            if score in each.mean:
                point = Point(100 * each.mean[score], 100 * each.sd.get(score, 0.0))
                made[arm, each.setting.n_anchors, each.setting.lam] = point
    return Group(title, made)


def _size(m: Anchors) -> tuple[float, tuple[int, ...]]:
    """What numbers of anchors are sorted by."""
    if isinstance(m, tuple):
        return sum(m) / len(m), m
    return (math.inf if m is None else m), ()


def _kinds(group: Group) -> list[str]:
    """Panels of a group: an axis needs two values."""
    return ["lam"] * (len(group.lams) > 1) + ["anchors"] * (len(group.anchors) > 1)


def _places(groups: Sequence[Group], columns: int) -> list[tuple[int, int]]:
    places, row = [], 0
    alone = columns == 1 or all(len(_kinds(group)) == 1 for group in groups)
    if alone:
        total = sum(len(_kinds(group)) for group in groups)
        return [divmod(at, columns) for at in range(total)]
    for group in groups:
        kinds = _kinds(group)
        places += [(row, column) for column in range(len(kinds))]
        row += bool(kinds)
    return places


def _draw_panel(axes: Axes, group: Group, kind: str, score: str, theme: Theme) -> None:
    by_lam = kind == "lam"
    names = [number_text(lam) for lam in group.lams] if by_lam else [anchors_text(m) for m in group.anchors]
    lines = _aligned_lines(group, by_lam, theme)
    lines += [] if by_lam else [_control_line(group, arm, theme) for arm in CONTROLS]
    x = np.arange(len(names))
    ends: list[tuple[float, str, Any]] = []
    for line in lines:
        mean = np.array([np.nan if p is None else p.mean for p in line.points])
        sd = np.array([np.nan if p is None else p.sd for p in line.points])
        axes.fill_between(x, mean - sd, mean + sd, color=line.colour, alpha=0.13, lw=0)
        dashes = (0, (4, 1.6)) if line.control else "-"
        axes.plot(x, mean, color=line.colour, lw=1.1, ls=dashes, marker="o", ms=2.4, zorder=3)
        last = np.flatnonzero(np.isfinite(mean))
        if line.name and len(last):
            ends.append((float(mean[last[-1]]), line.name, line.colour))
    if by_lam:
        ends += _control_bands(axes, group, theme)
    axes.set_xlim(-0.25, len(names) - 0.75)
    step = math.ceil(len(names) / 8)
    axes.set_xticks(x[::step], names[::step])
    axes.grid(axis="y", color=theme.faint, lw=0.4)
    axes.set_axisbelow(True)
    axes.set_ylabel(f"{score_name(score)} in %")
    by_view = any(isinstance(m, tuple) for m in group.anchors)
    axes.set_xlabel("lam" if by_lam else f"anchors in {'the views' if by_view else 'every view'} (m)")
    axes.set_title(group.title, loc="left", parse_math=False, fontsize=NORMAL, color=theme.text)
    _name_lines(axes, ends, len(names) - 0.75)


def _aligned_lines(group: Group, by_lam: bool, theme: Theme) -> list[Line]:
    """One line for each value of what is not on the axis, lighter to darker as it rises."""
    others: list[Any] = list(group.anchors) if by_lam else list(group.lams)
    named = set(np.unique(np.linspace(0, len(others) - 1, MOST_NAMED_LINES).round().astype(int)).tolist())
    lines = []
    for at, other in enumerate(others):
        share = 0.62 if len(others) == 1 else 0.48 + 0.47 * at / (len(others) - 1)
        name = f"m = {anchors_text(other)}" if by_lam else f"lam = {number_text(other)}"
        keys = [(other, lam) for lam in group.lams] if by_lam else [(m, other) for m in group.anchors]
        values = [group.points.get(("aligned", m, lam)) for m, lam in keys]
        name = "aligned" if len(others) == 1 else name
        lines.append(Line(name if at in named else "", theme.shade(share), values))
    return lines


def _control_line(group: Group, arm: str, theme: Theme) -> Line:
    """A control against the number of anchors; it is the same at every lam."""
    first = group.lams[0]
    values = [
        next((group.points[arm, m, lam] for lam in (first, *group.lams) if (arm, m, lam) in group.points), None)
        for m in group.anchors
    ]
    return Line(arm, theme.arms[arm], values, control=True)


def _control_bands(axes: Axes, group: Group, theme: Theme) -> list[tuple[float, str, Any]]:
    """Controls against lam: one level for each number of anchors, drawn as their range."""
    ends = []
    for arm in CONTROLS:
        means = [point.mean for (name, _, _), point in group.points.items() if name == arm]
        if means:
            low, high = min(means), max(means)
            axes.axhspan(low, high, color=theme.arms[arm], alpha=0.13, lw=0)
            for level in {low, high}:
                axes.axhline(level, color=theme.arms[arm], lw=0.7, ls=(0, (4, 1.6)))
            ends.append(((low + high) / 2, arm, theme.arms[arm]))
    return ends


def _name_lines(axes: Axes, ends: Sequence[tuple[float, str, Any]], right: float) -> None:
    """Names at the right ends of their lines, moved apart where they would touch."""
    low, high = axes.get_ylim()
    apart = (high - low) * (SMALL * 1.15 / 72) / 1.35
    order = sorted(range(len(ends)), key=lambda at: ends[at][0])
    spread = spread_apart([ends[at][0] for at in order], apart)
    axes.set_ylim(min([low, *spread]), max([high, *spread]))
    for place, at in zip(spread, order, strict=True):
        _, name, colour = ends[at]
        axes.annotate(
            name, (right, place), (3, 0), textcoords="offset points", va="center_baseline", fontsize=SMALL,
            color=colour, annotation_clip=False,
        )  # fmt: skip


def spread_apart(places: Sequence[float], apart: float) -> list[float]:
    """Rising places moved as little as needed to be ``apart`` from each other (least squares, by pooling neighbours).

    Examples
    --------
    >>> spread_apart([1.0, 1.0, 5.0], 1.0)
    [0.5, 1.5, 5.0]
    """
    pools: list[tuple[float, int]] = []
    for at, place in enumerate(places):
        pool, size = place - at * apart, 1
        while pools and pools[-1][0] > pool:
            mean, members = pools.pop()
            pool, size = (pool * size + mean * members) / (size + members), size + members
        pools.append((pool, size))
    flat = [mean for mean, size in pools for _ in range(size)]
    return [mean + at * apart for at, mean in enumerate(flat)]
