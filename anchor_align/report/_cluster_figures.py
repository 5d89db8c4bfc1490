"""Figures of one fit without labels: its clusters in the embedding, and how sure they are."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IndexArray
from ..clustering import Assignment
from ._figure_style import COLUMN, SMALL, Theme, check_width, get_theme, new_figure, remove_frame, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOLDEN = 0.6180339887498949  # steps of this part of the colour circle never come close to an earlier colour
MOST_LINES = 30  # clusters that one panel shows


def plot_clusters(
    vectors: npt.ArrayLike, labels: npt.ArrayLike, *, theme: str = "light", width: float = COLUMN
) -> Figure:
    """Draw samples in the two directions in which their coordinates vary most, coloured by cluster.

    Parameters
    ----------
    vectors : array-like of shape (n_samples, n_directions)
        Coordinates, such as ``embedding_``.
    labels : array-like of int of shape (n_samples,)
    theme : {"light", "dark"}, default="light"
    width : float, default=3.5
        In inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    colours, width = get_theme(theme), check_width(width)
    found = np.asarray(labels)
    points = principal_directions(np.asarray(vectors, dtype=np.float64))
    with style(colours):
        figure = new_figure(width, 0.9 * width)
        axes = figure.subplots()
        size = float(np.clip(6000.0 / max(len(found), 1), 1.5, 14.0))
        for cluster in np.unique(found):
            x, y = points[found == cluster].T
            axes.scatter(x, y, s=size, color=cluster_colour(int(cluster), colours), alpha=0.55, lw=0)
        for cluster in np.unique(found):
            middle = np.median(points[found == cluster], axis=0)
            axes.annotate(
                str(cluster), middle, ha="center", va="center", fontsize=SMALL, fontweight="bold", color=colours.text,
                bbox={"boxstyle": "circle,pad=0.25", "fc": colours.background, "ec": "none", "alpha": 0.75},
            )  # fmt: skip
        remove_frame(axes)
    return figure


def plot_confidence(found: Assignment, *, theme: str = "light", width: float = COLUMN) -> Figure:
    """Draw the size of every cluster, and the confidence of its samples: median, middle half, and 5 % to 95 %.

    Parameters
    ----------
    found : Assignment
    theme : {"light", "dark"}, default="light"
    width : float, default=3.5
        In inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    colours, width = get_theme(theme), check_width(width)
    sizes = np.bincount(found.labels)
    shown = np.argsort(-sizes, kind="stable")[:MOST_LINES]
    with style(colours):
        figure = new_figure(width, 0.55 + 0.16 * len(shown))
        left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"width_ratios": [1, 1.4]})
        for place, cluster in enumerate(shown):
            colour = cluster_colour(int(cluster), colours)
            left.barh(place, sizes[cluster], height=0.62, color=colour)
            values = found.confidence[found.labels == cluster]
            values = values[~np.isnan(values)]
            if len(values):
                low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
                right.plot([low, high], [place, place], color=colour, lw=0.8)
                right.plot([first, third], [place, place], color=colour, lw=3.2, solid_capstyle="butt")
                right.plot([middle], [place], marker="o", ms=3.2, color=colours.text, zorder=3)
        left.set_yticks(range(len(shown)), [str(cluster) for cluster in shown])
        left.invert_yaxis()
        left.set_title("samples", loc="left", fontsize=SMALL)
        right.set_title("confidence", loc="left", fontsize=SMALL)
        right.axvline(0.0, color=colours.muted, lw=0.6)
        right.set_xlim(min(0.0, float(np.nanmin(found.confidence, initial=0.0))) - 0.02, 1.02)
        for axes in (left, right):
            axes.grid(axis="x", color=colours.faint, lw=0.4)
            axes.set_axisbelow(True)
            axes.spines["left"].set_visible(False)
            axes.tick_params(axis="y", length=0)
            axes.locator_params(axis="x", nbins=4)
    return figure


def principal_directions(vectors: FloatArray) -> FloatArray:
    """Coordinates in the two directions of largest variance; zeros where there are fewer."""
    centred = vectors - vectors.mean(axis=0)
    _, _, right = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])
    points = centred @ (right * signs[:, None])[:2].T
    return np.pad(points, ((0, 0), (0, 2 - points.shape[1])))


def cluster_colour(cluster: int, theme: Theme) -> Any:
    """A colour for each cluster that differs from those of its neighbours, also on a dark background."""
    light = (0.42, 0.55)[cluster // 8 % 2] if theme.name == "light" else (0.68, 0.58)[cluster // 8 % 2]
    return colorsys.hls_to_rgb((0.58 + cluster * GOLDEN) % 1.0, light, 0.62)


def drawn(labels: IndexArray) -> int:
    """Number of clusters that the figure of confidence shows."""
    return min(len(np.bincount(labels)), MOST_LINES)
