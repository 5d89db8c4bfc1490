"""Figure of average ranks with the critical difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..study import StudyResult, average_ranks
from ._figure_style import NORMAL, PAGE, SMALL, get_theme, message_figure, new_figure, style
from ._formatting import score_name, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_ranks(
    result: StudyResult,
    *,
    score: str | None = None,
    footing: str = "fixed",
    theme: str = "light",
    width: float = PAGE,
) -> Figure:
    """Draw average ranks of all methods over data sets: a critical-difference diagram.

    Parameters
    ----------
    result : StudyResult
        Of a study with rivals on five data sets or more.
    score : str, optional
        By default the first score of the study.
    footing : {"fixed", "agreement", "best"}, default="fixed"
    theme : {"light", "dark"}, default="light"
    width : float, default=7.0
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        A dot for every method. A vertical line at the right joins methods that the Nemenyi test does not tell apart.
    """
    colours = get_theme(theme)
    shown = score or result.score
    found = average_ranks(result.against, shown, footing)
    if found is None:
        return message_figure("No ranks: they need rivals on five data sets or more.", colours, width)
    names, ranks = list(found.ranks), list(found.ranks.values())
    with style(colours):
        figure = new_figure(width, 0.24 * len(names) + 0.95)
        axes = figure.subplots()
        for at, (name, rank) in enumerate(zip(names, ranks, strict=True)):
            colour = colours.arm("aligned") if name == result.methods[0].name else colours.text
            axes.hlines(at, 1, rank, color=colours.faint, lw=0.8, zorder=1)
            axes.plot(rank, at, "o", ms=5, color=colour, zorder=3)
            axes.annotate(f"{rank:.1f}", (rank, at), (7, 0), textcoords="offset points", va="center_baseline",
                          fontsize=SMALL, color=colour)  # fmt: skip
        right = len(names) + 0.6
        for at, (first, last) in enumerate(groups_within(ranks, found.critical_difference)):
            axes.vlines(right + 0.16 * at, first - 0.2, last + 0.2, color=colours.muted, lw=2.4)
        end = min(1 + found.critical_difference, right)
        axes.hlines(-0.9, 1, end, color=colours.text, lw=1.6)
        axes.annotate(f"critical difference {found.critical_difference:.2f}", (end, -0.9), (5, 0),
                      textcoords="offset points", va="center_baseline", fontsize=SMALL)  # fmt: skip
        labels = [shortened(name, 28) for name in names]
        axes.set_yticks(range(len(names)), labels, parse_math=False, fontsize=NORMAL, color=colours.text)
        axes.set_ylim(len(names) - 0.4, -1.4)
        axes.set_xlim(0.8, right + 0.16 * len(names))
        axes.set_xticks(range(1, len(names) + 1))
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(f"average rank over {found.n_data} data sets, {score_name(shown)}; 1 is best")
    return figure


def groups_within(ranks: Sequence[float], critical: float) -> list[tuple[int, int]]:
    """First and last place of every largest group whose ranks, which ascend, differ by less than ``critical``.

    Examples
    --------
    >>> groups_within([1.0, 1.5, 2.8, 4.0], 1.5)
    [(0, 1), (1, 2), (2, 3)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(at for at, other in enumerate(ranks) if other - rank < critical)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
