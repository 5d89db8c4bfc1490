"""Fusion step by step: the graphs of all views as they come, their mean without and with alignment, the permutations.

This is the paper's figure on simulated data, for any methods and data. Anchors keep their order, unlike in
:func:`anchor_align.report.plot_graphs`: the figure shows that columns of different views do not correspond.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray
from ..errors import InputError
from ._figure_style import (
    NORMAL,
    PAGE,
    SMALL,
    Theme,
    check_width,
    get_theme,
    new_figure,
    remove_frame,
    slim_colour_bar,
    style,
)
from ._formatting import percent, shortened
from ._graph_figure import Bands, both_means, checked_labels, dense, draw_heat_map, mark_clusters, sample_bands
from ._match_figures import ambiguous_places, anchor_counts, draw_permutation, few_marks, view_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..clustering import AlignedClusterer

# A row has room for this many views; a note says so if there are more.
MOST_VIEWS = 4
ROW = 1.45
LETTER = 0.062  # inches, in small letters


@dataclass(frozen=True, eq=False)
class FusionPanel:
    """One graph of a row: its title and image; ``arm`` is empty for the graph of a view."""

    title: str
    image: FloatArray
    arm: str = ""


def plot_fusion(
    clusterers: AlignedClusterer | Mapping[str, AlignedClusterer],
    labels: npt.ArrayLike | None = None,
    *,
    scores: Mapping[str, Mapping[str, float | None]] | None = None,
    theme: str = "light",
    width: float = PAGE,
) -> Figure:
    """Draw how graphs are fused: those of the views, their mean without and with alignment, and the permutations.

    Samples are sorted by cluster; anchors are in the order in which they came, those of the aligned mean in the order
    of the reference (of the first view, where there is none). Colours mean the same in all graphs of a row.

    Parameters
    ----------
    clusterers : AlignedClusterer, or dict of them by name
        Fitted on the same samples with ``fusion="aligned"``; each is a row.
    labels : array-like of shape (n_samples,), optional
        True clusters; by default the clusters that the first clusterer found.
    scores : dict of dict of float, optional
        Accuracy, from 0 to 1, by name and arm ("unaligned", "aligned"), written above the means.
    theme : {"light", "dark"}, default="light"
    width : float, default=7.0
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        The first four views at most. Dots of permutations are as in :func:`anchor_align.report.plot_permutations`.

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> data = make_simulated(0)
    >>> clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(data.views)
    >>> figure = plot_fusion({"lmvsc": clusterer}, data.labels, scores={"lmvsc": {"aligned": 1.0}})
    """
    rows = dict(clusterers) if isinstance(clusterers, Mapping) else {"": clusterers}
    if not rows:
        raise InputError("Got no clusterer to draw; expected one or more.")
    colours, width = get_theme(theme), check_width(width)
    first = next(iter(rows.values()))
    bands = sample_bands(checked_labels(first, labels))
    for name, clusterer in rows.items():
        if len(clusterer.labels_) != int(bands.sizes.sum()):
            raise InputError(f"{name!r} has {len(clusterer.labels_)} samples; the first has {len(first.labels_)}.")
    steps = {name: _steps(clusterer, bands) for name, clusterer in rows.items()}
    moved = {name: _moved(clusterer) for name, clusterer in rows.items()}
    columns = max(len(steps[name]) + len(moved[name]) for name in rows)
    letters = max(6, int(width / columns / LETTER))
    with style(colours):
        figure = new_figure(width, ROW * len(rows) + 0.55)
        grid = figure.subplots(len(rows), columns, squeeze=False)
        for axes in grid.flat:
            remove_frame(axes)
        for (name, clusterer), panels in zip(rows.items(), grid, strict=True):
            graphs = panels[: len(steps[name])]
            _draw_steps(graphs, steps[name], (scores or {}).get(name, {}), bands, letters, colours)
            for view, axes in zip(moved[name], panels[len(graphs) :], strict=False):
                _draw_move(axes, clusterer, view, letters, colours)
            mark_clusters(graphs[0], bands, height=ROW - 0.4)
            graphs[0].set_ylabel(shortened(name, 26), fontsize=NORMAL, color=colours.text, fontweight="bold")
        by = "true cluster" if labels is not None else "cluster found"
        views = len(first.permutations_)
        note = f"; the first {MOST_VIEWS} of {views} views" if views > MOST_VIEWS else ""
        figure.supxlabel(
            f"rows of graphs: {int(bands.sizes.sum()):,} samples by {by}, columns: anchors{note}\n"
            "unaligned, aligned: the mean of the graphs; P: anchor of the view (row) to its place in the mean (column)",
            fontsize=SMALL, color=colours.muted,
        )  # fmt: skip
    return figure


def _steps(clusterer: AlignedClusterer, bands: Bands) -> list[FusionPanel]:
    """Graphs of the views, as they come, and their two means."""
    graphs, names = clusterer.anchor_graphs_.graphs, view_names(clusterer)
    found = [FusionPanel(names[view], dense(bands.means @ Z)) for view, Z in enumerate(graphs[:MOST_VIEWS])]
    means = both_means(clusterer, graphs, clusterer.mask_)
    return found + [FusionPanel(arm, dense(bands.means @ fused), arm) for arm, fused in means.items()]


def _moved(clusterer: AlignedClusterer) -> list[int]:
    """Views whose permutation is drawn: all but the one that keeps its order."""
    views = range(min(len(clusterer.permutations_), MOST_VIEWS))
    kept = None if clusterer.aligner_ is None else clusterer.aligner_.reference_
    return [view for view in views if view != (kept or 0)]


def _draw_steps(
    panels: npt.NDArray[np.object_],
    steps: list[FusionPanel],
    scores: Mapping[str, float | None],
    bands: Bands,
    letters: int,
    theme: Theme,
) -> None:
    top = max(float(step.image.max()) for step in steps) or 1.0
    low = min(0.0, *(float(step.image.min()) for step in steps))
    for axes, step in zip(panels, steps, strict=True):
        drawn = draw_heat_map(axes, step.image, bands, (low, top), 0.35, theme)
        axes.set_xticks(few_marks(step.image.shape[1]))
        axes.tick_params(length=0, pad=2)
        score = scores.get(step.arm)
        _name_panel(
            axes, shortened(step.title, letters), "" if score is None else f"ACC {percent(score)} %", step.arm, theme
        )
    slim_colour_bar(axes.figure, drawn, axes, aspect=24, pad=0.06, fraction=0.09)


def _draw_move(axes: Axes, clusterer: AlignedClusterer, view: int, letters: int, theme: Theme) -> None:
    order = clusterer.permutations_[view]
    unsure = ambiguous_places(clusterer.aligner_, view)
    draw_permutation(axes, order, max(anchor_counts(clusterer)), unsure, 72 * (ROW - 0.45), theme)
    note = "by construction" if clusterer.aligner_ is None else ""
    _name_panel(axes, f"P of {shortened(view_names(clusterer)[view], letters - 4)}", note, "", theme)


def _name_panel(axes: Axes, title: str, note: str, arm: str, theme: Theme) -> None:
    """A title, and below it a note in small letters; the arms' titles have their colours."""
    axes.set_title(
        title, color=theme.arm(arm) if arm else theme.text, fontsize=SMALL, fontweight="bold" if arm else "normal",
        pad=12, parse_math=False,
    )  # fmt: skip
    axes.annotate(
        note, (0.5, 1), (0, 3), xycoords="axes fraction", textcoords="offset points", ha="center", va="bottom",
        fontsize=SMALL, color=theme.muted,
    )  # fmt: skip
