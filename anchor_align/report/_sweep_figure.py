"""Figure of a sweep: scores against lam and the number of anchors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..study import Anchors, StudyResult, Summary
from ._arms import Arms
from ._figure_style import NORMAL, PAGE, SMALL, Theme, check_width, get_theme, message_figure, new_figure, style
from ._formatting import (
    anchors_text,
    number_text,
    params_text,
    score_name,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Below this width, in inches, panels are in one column.
NARROW = 5.0
MOST_GROUPS, MOST_NAMED_LINES = 24, 6
DASHES = (0, (4, 1.6))


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
    arms: Arms

    @property
    def lams(self) -> list[float]:
        return sorted({lam for _, _, lam in self.points})

    @property
    def anchors(self) -> list[Anchors]:
        """In rising order, by the mean where views differ; numbers that the adapter finds on its own come last."""
        return sorted({m for _, m, _ in self.points}, key=_anchors_rank)

    @property
    def panels(self) -> list[str]:
        """What to draw scores against: an axis needs two values."""
        return ["lam"] * (len(self.lams) > 1) + ["anchors"] * (len(self.anchors) > 1)


@dataclass(frozen=True, eq=False)
class Line:
    """A line of a panel: values against places on the axis, None where there is none."""

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
        A row of panels for every data set and adapter, and setting of the adapter. The shade is one standard deviation.
        Arms that do not depend on lam are drawn against lam as their range over the numbers of anchors.
    """
    colours, width = get_theme(theme), check_width(width)
    everything = _groups(result)
    groups = everything[:MOST_GROUPS]
    panels = [(group, kind) for group in groups for kind in group.panels]
    if not panels:
        return message_figure("No sweep: lam and the number of anchors have one value each.", colours, width)
    columns = 1 if width < NARROW else 2
    if columns == 1 or all(len(group.panels) == 1 for group in groups):
        places = [divmod(at, columns) for at in range(len(panels))]
    else:  # every group starts on a row of its own
        drawn = [group for group in groups if group.panels]
        places = [(row, column) for row, group in enumerate(drawn) for column in range(len(group.panels))]
    rows = 1 + max(row for row, _ in places)
    with style(colours):
        figure = new_figure(width, 1.95 * rows + 0.1)
        grid = figure.subplots(rows, columns, squeeze=False)
        for place, (group, kind) in zip(places, panels, strict=True):
            _draw_panel(grid[place], group, kind, result.score, colours)
        for place in {(r, c) for r in range(rows) for c in range(columns)} - set(places):
            grid[place].remove()
        if len(everything) > len(groups):
            figure.suptitle(f"the first {len(groups)} of {len(everything)} groups", fontsize=SMALL, color=colours.muted)
    return figure


def has_sweep(result: StudyResult) -> bool:
    """Whether a group has labels and more than one lam or number of anchors."""
    return any(group.panels for group in _groups(result))


def _groups(result: StudyResult) -> list[Group]:
    rows: dict[tuple[str, str, str], list[Summary]] = {}
    for row in result.of_footing("fixed"):
        if row.setting is not None and any(result.score in arm.mean for arm in row.arms.values()):
            params = params_text(row.setting.params) if row.setting.params else ""
            rows.setdefault((row.dataset, row.adapter, params), []).append(row)
    groups = []
    for names, members in rows.items():
        title = " · ".join(shortened(name, most) for name, most in zip(names, (26, 16, 30), strict=True) if name)
        found = [(name, arm) for row in members for name, arm in row.arms.items() if result.score in arm.mean]
        made = {
            (name, arm.setting.n_anchors, arm.setting.lam): Point(
                100 * arm.mean[result.score], 100 * arm.sd.get(result.score, 0.0)
            )
            for name, arm in found
        }
        groups.append(Group(title, made, Arms.named((arm for arm, _, _ in made), result.fusions)))
    return groups


def _anchors_rank(m: Anchors) -> tuple[float, tuple[int, ...]]:
    if isinstance(m, tuple):
        return sum(m) / len(m), m
    return (math.inf if m is None else m), ()


def _draw_panel(axes: Axes, group: Group, kind: str, score: str, theme: Theme) -> None:
    by_lam = kind == "lam"
    names = [number_text(lam) for lam in group.lams] if by_lam else [anchors_text(m) for m in group.anchors]
    lines = _aligned_lines(group, by_lam, theme)
    lines += [] if by_lam else _control_lines(group, theme)
    x = np.arange(len(names))
    ends: list[tuple[float, str, Any]] = []
    for line in lines:
        mean = np.array([np.nan if p is None else p.mean for p in line.points])
        sd = np.array([np.nan if p is None else p.sd for p in line.points])
        axes.fill_between(x, mean - sd, mean + sd, color=line.colour, alpha=0.13, lw=0)
        axes.plot(x, mean, color=line.colour, lw=1.1, ls=DASHES if line.control else "-", marker="o", ms=2.4, zorder=3)
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
        shade = 0.62 if len(others) == 1 else 0.48 + 0.47 * at / (len(others) - 1)
        name = f"m = {anchors_text(other)}" if by_lam else f"lam = {number_text(other)}"
        keys = [(other, lam) for lam in group.lams] if by_lam else [(m, other) for m in group.anchors]
        values = [group.points.get(("aligned", m, lam)) for m, lam in keys]
        name = "aligned" if len(others) == 1 else name
        lines.append(Line(name if at in named else "", theme.shade(shade), values))
    return lines


def _control_lines(group: Group, theme: Theme) -> list[Line]:
    """Arms that are the same at every lam, against the number of anchors."""
    lines = []
    for arm in group.arms.without_lam:
        values = [
            next((group.points[arm, m, lam] for lam in group.lams if (arm, m, lam) in group.points), None)
            for m in group.anchors
        ]
        lines.append(Line(arm, theme.arm(arm, group.arms), values, control=True))
    return lines


def _control_bands(axes: Axes, group: Group, theme: Theme) -> list[tuple[float, str, Any]]:
    """Arms that are the same at every lam, against lam: the range over the numbers of anchors."""
    ends = []
    for arm in group.arms.without_lam:
        means = [point.mean for (name, _, _), point in group.points.items() if name == arm]
        low, high, colour = min(means), max(means), theme.arm(arm, group.arms)
        axes.axhspan(low, high, color=colour, alpha=0.13, lw=0)
        for level in {low, high}:
            axes.axhline(level, color=colour, lw=0.7, ls=DASHES)
        ends.append(((low + high) / 2, arm, colour))
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
            color=colour, annotation_clip=False, parse_math=False,
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
