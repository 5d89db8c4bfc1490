"""Figures of the match: the permutation found for every view, and how close its objective is to the bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import IndexArray
from ..graphs import Order, n_columns
from ..matching import ambiguous
from ._figure_style import COLUMN, NORMAL, SMALL, Theme, check_width, get_theme, message_figure, new_figure, style
from ._formatting import number_text, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..clustering import AlignedClusterer
    from ..matching import AnchorAligner

# A figure has room for this many views; a note says so if there are more.
MOST_VIEWS = 48
REFERENCE = " (ref.)"
BY_CONSTRUCTION = "The anchors of all views correspond by construction:\nnothing had to be aligned."


def plot_permutations(clusterer: AlignedClusterer, *, theme: str = "light", width: float = COLUMN) -> Figure:
    """Draw the permutation found for every view as a matrix with one dot in each row and column.

    A dot in row i and column j says that the view's anchor i was fused at place j. Hollow dots are ambiguous: another
    partner for the anchor would cost almost nothing. A view with fewer anchors than others has empty columns.

    Parameters
    ----------
    clusterer : AlignedClusterer
        Fitted. Where nothing was aligned, all views keep their order.
    theme : {"light", "dark"}, default="light"
    width : float, default=3.5
        Inches; views that do not fit side by side go below.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(make_simulated(0).views)
    >>> figure = plot_permutations(clusterer)
    >>> [axes.get_title() for axes in figure.axes]
    ['view 0', 'view 1']
    """
    colours, width = get_theme(theme), check_width(width)
    permutations = clusterer.permutations_[:MOST_VIEWS]
    names = view_names(clusterer)[: len(permutations)]
    columns = min(len(permutations), max(1, int(width / 1.1)))
    rows = math.ceil(len(permutations) / columns)
    side = min((width - 0.35) / columns, 1.6)
    with style(colours):
        figure = new_figure(width, rows * (0.93 * side + 0.2) + 0.5)
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for axes in grid.flat[len(permutations) :]:
            axes.remove()
        for view, (axes, permutation) in enumerate(zip(grid.flat, permutations, strict=False)):
            unsure = ambiguous_places(clusterer.aligner_, view)
            draw_permutation(axes, permutation, max(anchor_counts(clusterer)), unsure, 72 * (side - 0.12), colours)
            if view + columns >= len(permutations):
                axes.tick_params(labelbottom=True)
            axes.set_title(names[view], pad=3, fontsize=SMALL, parse_math=False)
        figure.supxlabel("place in the fused graph", fontsize=SMALL, color=colours.muted)
        figure.supylabel("anchor of the view", fontsize=SMALL, color=colours.muted)
        figure.get_layout_engine().set(h_pad=0.05)  # type: ignore[union-attr, call-arg]
        figure.suptitle(_permutation_note(clusterer), fontsize=SMALL, color=colours.muted, parse_math=False)
    return figure


def plot_objective(clusterer: AlignedClusterer, *, theme: str = "light", width: float = COLUMN) -> Figure:
    """Draw the objective of every view's match: its two terms, the bound, and what shuffled samples reach (dotted).

    Parameters
    ----------
    clusterer : AlignedClusterer
        Fitted. Where nothing was aligned, the figure says so.
    theme : {"light", "dark"}, default="light"
    width : float, default=3.5
        Inches.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(make_simulated(0).views)
    >>> figure = plot_objective(clusterer)
    """
    colours, width = get_theme(theme), check_width(width)
    aligner = clusterer.aligner_
    if aligner is None:
        return message_figure(why_no_match(clusterer), colours, width)
    names = view_names(clusterer)[:MOST_VIEWS]
    at = np.arange(len(names))
    feature, structure = aligner.feature_, aligner.lam * aligner.structure_
    if aligner.lam == math.inf:  # the objective is the structure term alone
        feature, structure = np.zeros_like(aligner.structure_), aligner.structure_
    feature, structure = feature[: len(at)], structure[: len(at)]
    bound = aligner.upper_bound_[: len(at)]
    with style(colours):
        figure = new_figure(width, 0.2 * len(at) + 0.75)
        axes = figure.subplots()
        axes.barh(at, feature, height=0.62, color=colours.arm("aligned"))
        axes.barh(at, structure, left=feature, height=0.62, color=colours.shade(0.3))
        axes.vlines(bound, at - 0.42, at + 0.42, color=colours.text, lw=1.1)
        if aligner.chance_ is not None:
            axes.vlines(aligner.chance_[: len(at)], at - 0.42, at + 0.42, color=colours.text, lw=1.1, ls=(0, (1, 1)))
        for y, (end, gap) in enumerate(zip(bound, aligner.gap_, strict=False)):
            axes.annotate(
                _gap_text(float(gap), float(end)), (end, y), (4, 0), textcoords="offset points",
                va="center_baseline", fontsize=SMALL, color=colours.muted,
            )  # fmt: skip
        axes.set_ylim(len(at) - 0.4, -0.6)
        axes.set_xlim(0, float(bound.max()) * (1 + 0.95 / width) or 1.0)
        axes.set_yticks(at, names, parse_math=False)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("objective of the match (higher is better)")
        _name_terms(axes, aligner, colours)
    return figure


def view_names(clusterer: AlignedClusterer) -> list[str]:
    """Names for axes; the reference is marked."""
    names = [f"view {name}" if name.isdecimal() else shortened(name, 16) for name in map(str, clusterer._layout)]
    reference = None if clusterer.aligner_ is None else clusterer.aligner_.reference_
    if reference is not None and len(names) > 1:
        names[reference] += REFERENCE
    return names


def anchor_counts(clusterer: AlignedClusterer) -> list[int]:
    return [Z.shape[1] for Z in clusterer.anchor_graphs_.graphs]


def why_no_match(clusterer: AlignedClusterer) -> str:
    if clusterer.anchor_graphs_.aligned:
        return BY_CONSTRUCTION
    return f'Fitted with fusion="{clusterer.fusion}":\nnothing was aligned.'


def _permutation_note(clusterer: AlignedClusterer) -> str:
    aligner = clusterer.aligner_
    if aligner is None:
        return why_no_match(clusterer)
    names, views = view_names(clusterer), len(clusterer.permutations_)
    at = aligner.reference_
    parts = ["consensus, no reference" if at is None else f"reference: {names[at].removesuffix(REFERENCE)}"]
    parts = parts if views > 1 else ["one view"]
    unsure = sum(
        int(ambiguous_places(aligner, view)[_dots(order)[1]].sum())
        for view, order in enumerate(clusterer.permutations_)
    )
    if unsure:
        parts.append(f"hollow: ambiguous ({unsure} of {sum(anchor_counts(clusterer))})")
    if views > MOST_VIEWS:
        parts.append(f"{MOST_VIEWS} of {views} views")
    return "; ".join(parts)


def ambiguous_places(aligner: AnchorAligner | None, view: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Places of the fused graph at which another anchor of the view would fit nearly as well."""
    if aligner is None:
        return np.zeros(0, dtype=bool)
    margins = aligner.margins_[view]
    if view == aligner.reference_:
        return np.zeros(len(margins), dtype=bool)
    return ambiguous(margins, float(aligner.objective_[view]))


def draw_permutation(
    axes: Axes,
    order: Order,
    n_anchors: int,
    unsure: np.ndarray[tuple[int], np.dtype[np.bool_]],
    side: float,
    theme: Theme,
) -> None:
    """One matrix with room for ``n_anchors`` anchors; ``side`` is its size in points."""
    m = n_columns(order)
    anchors, places = _dots(order)
    cell = side / max(m, n_anchors)
    size = min(0.68 * cell, 7.0) if cell > 3 else max(0.9 * cell, 1.1)
    fill = theme.arm("aligned")
    hollow = unsure[places] if len(unsure) else np.zeros(len(places), dtype=bool)
    axes.scatter(places[~hollow], anchors[~hollow], s=size**2, color=fill, linewidths=0)
    axes.scatter(
        places[hollow], anchors[hollow], s=max(size, 2.4) ** 2, facecolors=theme.background,
        edgecolors=theme.accent, linewidths=0.8,
    )  # fmt: skip
    axes.set_xlim(-0.5, m - 0.5)
    axes.set_ylim(n_anchors - 0.5, -0.5)
    axes.set_box_aspect(1)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(theme.faint)
    if m <= 12:
        axes.set_xticks(np.arange(m) - 0.5, minor=True)
        axes.set_yticks(np.arange(n_anchors) - 0.5, minor=True)
        axes.grid(which="minor", color=theme.faint, lw=0.4)
        axes.tick_params(which="minor", length=0)
        axes.set_axisbelow(True)
    axes.set_xticks(few_marks(m))
    axes.set_yticks(few_marks(n_anchors))
    axes.tick_params(length=0, pad=2)
    if m > 12:  # numbers of neighbouring matrices would touch
        marked = axes.get_xticklabels()  # none, where the matrices below have them
        for label in marked[:1]:
            label.set_horizontalalignment("left")
        for label in marked[-1:]:
            label.set_horizontalalignment("right")


def _dots(order: Order) -> tuple[IndexArray, IndexArray]:
    """Anchors, and the places they were fused at."""
    if order.ndim == 2:
        anchors, places = np.nonzero(order)
        return anchors, places
    places = np.flatnonzero(order >= 0)
    return order[places].astype(np.intp), places


def few_marks(m: int) -> IndexArray:
    """The anchors whose numbers an axis shows."""
    return np.arange(m) if m <= 6 else np.array([0, m // 2, m - 1])


def _gap_text(gap: float, bound: float) -> str:
    """The gap in percent of the bound."""
    if bound <= 0:
        return ""
    gap = 100 * max(gap, 0.0) / bound
    return "gap 0" if gap < 5e-4 else f"gap {gap:.2g} %" if gap < 10 else f"gap {gap:.0f} %"


def _name_terms(axes: Axes, aligner: AnchorAligner, theme: Theme) -> None:
    from matplotlib.lines import Line2D

    lam = float(aligner.lam)
    names = {"feature": theme.arm("aligned")} if lam < math.inf else {}
    if lam > 0:
        weight = "" if lam == math.inf else f"{number_text(lam)} \N{MULTIPLICATION SIGN} "
        names[f"{weight}structure"] = theme.shade(0.3)
    handles = [Line2D([], [], color=colour, marker="s", ls="", ms=5, mew=0) for colour in names.values()]
    handles.append(Line2D([], [], color=theme.text, marker="|", ls="", ms=NORMAL, mew=1.1))
    ends = ["upper bound"]
    if aligner.chance_ is not None:
        handles.append(Line2D([], [], color=theme.text, lw=1.1, ls=(0, (1, 1))))
        ends.append("chance")
    legend = axes.legend(
        handles, [*names, *ends], loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, frameon=False,
        borderaxespad=0.1, borderpad=0.1, handlelength=0.9, handletextpad=0.5, columnspacing=1.2, fontsize=SMALL,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_color(theme.text)
