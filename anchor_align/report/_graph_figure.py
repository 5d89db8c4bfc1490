"""The fused graphs without and with alignment, side by side.

Rows are averaged within clusters before the graphs are fused. Both are linear, so their order does not matter, and no
dense matrix of all samples is ever made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import FloatArray, IndexArray, is_sparse
from ..clustering import fuse
from ..errors import InputError
from ..fusion import agreement_weights
from ..graphs import GramMatrices, check_orders
from ._figure_style import (
    COLUMN,
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

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..clustering import AlignedClusterer

IMAGE_ROWS = 600
# Numbers above this quantile have the strongest colour, so that a few large ones do not hide the rest.
CLIPPED = 0.995


@dataclass(frozen=True, eq=False)
class Bands:
    """Samples sorted by cluster and gathered into rows of an image.

    ``names`` are the clusters, ``sizes`` their numbers of samples, ``rows`` their numbers of image rows. ``means``
    times a graph is the image.
    """

    names: tuple[object, ...]
    sizes: IndexArray
    rows: IndexArray
    means: Any

    @property
    def edges(self) -> IndexArray:
        """Image row at which every cluster starts, and the end."""
        return np.concatenate([[0], np.cumsum(self.rows)])


@dataclass(frozen=True, eq=False)
class Panel:
    """One fused graph as an image.

    The anchors of ``image`` are sorted by the cluster in which they weigh most. ``inside`` is the part of all weight
    that samples give to anchors of their own cluster, None for graphs with negative numbers.
    """

    image: FloatArray
    inside: float | None


def plot_graphs(
    clusterer: AlignedClusterer,
    labels: npt.ArrayLike | None = None,
    *,
    scores: Mapping[str, float | None] | None = None,
    theme: str = "light",
    width: float = COLUMN,
) -> Figure:
    """Draw the fused anchor graphs without and with alignment as heat maps.

    Samples are sorted by cluster, the anchors of each graph by the cluster in which they weigh most: a graph that
    separates the clusters is block diagonal. Colours mean the same in both.

    Parameters
    ----------
    clusterer : AlignedClusterer
        Fitted with ``fusion="aligned"``; with the controls, and where anchors correspond by construction, both graphs
        are the same.
    labels : array-like of shape (n_samples,), optional
        True clusters; by default the clusters found.
    scores : dict of float, optional
        Accuracy, from 0 to 1, by arm ("unaligned", "aligned"), written above the graphs.
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
    >>> data = make_simulated(0)
    >>> clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(data.views)
    >>> figure = plot_graphs(clusterer, data.labels, scores={"unaligned": 0.91, "aligned": 1.0})
    """
    colours, width = get_theme(theme), check_width(width)
    bands = sample_bands(checked_labels(clusterer, labels))
    panels = _panels(clusterer, bands)
    bright = [panel.image[panel.image > 0] for panel in panels.values() if panel.image.max() > 0]
    top = max((float(np.quantile(each, CLIPPED)) for each in bright), default=1.0)
    low = min(0.0, *(float(panel.image.min()) for panel in panels.values()))
    with style(colours):
        figure = new_figure(width, 0.74 * width + 0.25)
        grid = figure.subplots(1, 2, sharey=True)
        for axes, (arm, panel) in zip(grid, panels.items(), strict=True):
            # Thinner lines for many clusters: thick ones would hide the image.
            line = 0.35 * min(1.0, 15 / len(bands.sizes))
            drawn = draw_heat_map(axes, panel.image, bands, (low, top), line, colours)
            _finish_panel(axes, arm, panel, None if scores is None else scores.get(arm), colours)
        mark_clusters(grid[0], bands, height=0.5 * width)
        n, m = int(bands.sizes.sum()), panels["aligned"].image.shape[1]
        by = "true cluster" if labels is not None else "cluster found"
        grid[0].set_ylabel(f"{n:,} samples by {by}")
        figure.supxlabel(f"{m:,} anchors by cluster", fontsize=SMALL, color=colours.muted)
        clipped = max(float(panel.image.max()) for panel in panels.values()) > top * (1 + 1e-9)
        extend = "max" if clipped else "neither"
        bar = slim_colour_bar(figure, drawn, grid, extend=extend, aspect=32, pad=0.02, fraction=0.04)
        bar.set_label("weight")
    return figure


def checked_labels(clusterer: AlignedClusterer, labels: npt.ArrayLike | None) -> npt.NDArray[Any]:
    n = len(clusterer.labels_)
    checked = np.asarray(clusterer.labels_ if labels is None else labels)
    if checked.shape != (n,):
        raise InputError(f"labels have shape {checked.shape}; expected one for each of {n} samples.")
    return checked


def sample_bands(labels: npt.NDArray[Any]) -> Bands:
    """Sort samples by cluster; every cluster gets image rows in proportion to its size, at least one."""
    names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    n = len(codes)
    rows = sizes if n <= IMAGE_ROWS else np.maximum(1, np.floor(sizes * (IMAGE_ROWS / n)).astype(np.intp))
    order = np.argsort(codes, kind="stable")
    within = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    cluster = codes[order]
    at = (np.cumsum(rows) - rows)[cluster] + within * rows[cluster] // sizes[cluster]
    weights = 1.0 / np.bincount(at)[at]
    means = sp.csr_array((weights, (at, order)), shape=(int(rows.sum()), n))
    return Bands(tuple(names.tolist()), sizes, np.asarray(rows, dtype=np.intp), means)


def _panels(clusterer: AlignedClusterer, bands: Bands) -> dict[str, Panel]:
    if clusterer.mask_ is not None:
        # Samples that are missing in some views are fused with other weights: this is not linear.
        graphs = clusterer.anchor_graphs_.graphs
        fused = {arm: bands.means @ Z for arm, Z in both_means(clusterer, graphs, clusterer.mask_).items()}
    else:
        fused = both_means(clusterer, [dense(bands.means @ Z) for Z in clusterer.anchor_graphs_.graphs])
    return {arm: _panel(dense(image), bands) for arm, image in fused.items()}


def both_means(clusterer: AlignedClusterer, graphs: Sequence[Any], mask: Any = None) -> dict[str, Any]:
    """The mean of graphs as they come, and with the permutations that were found."""
    weights = _unaligned_weights(clusterer)
    return {
        "unaligned": fuse(graphs, weights=weights, mask=mask),
        "aligned": fuse(graphs, clusterer.permutations_, weights=clusterer.weights_, mask=mask),
    }


def dense(image: Any) -> FloatArray:
    return np.asarray(image.toarray() if is_sparse(image) else image, dtype=np.float64)


def _unaligned_weights(clusterer: AlignedClusterer) -> FloatArray | None:
    """Weights of the unaligned graphs, from the user, from their agreement or from the adapter."""
    if clusterer.weights_ is None or clusterer.aligner_ is None:
        return clusterer.weights_
    graphs = clusterer.anchor_graphs_.graphs
    if isinstance(clusterer.weights, str):
        grams = GramMatrices.from_graphs(graphs, mask=clusterer.mask_)
        return agreement_weights(grams, check_orders(None, grams.sizes))
    if clusterer.weights is not None:
        return clusterer.weights_
    seed = clusterer.random_state if isinstance(clusterer.random_state, int) else 0
    found = clusterer.adapter_.view_weights(graphs, n_clusters=clusterer.n_clusters, random_state=seed)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _panel(image: FloatArray, bands: Bands) -> Panel:
    cluster = np.repeat(np.arange(len(bands.rows)), bands.rows)
    means = np.add.reduceat(image, bands.edges[:-1], axis=0) / bands.rows[:, None]
    home = means.argmax(axis=0)
    order = np.lexsort((-means.max(axis=0), home))
    inside = None
    if image.min() >= 0 and image.sum() > 0:
        per_row = (bands.sizes / bands.rows)[cluster]
        mass = image.sum(axis=1) @ per_row
        own = np.where(home[None, :] == cluster[:, None], image, 0.0).sum(axis=1) @ per_row
        inside = float(own / mass)
    return Panel(image[:, order], inside)


def _finish_panel(axes: Axes, arm: str, panel: Panel, score: float | None, theme: Theme) -> None:
    remove_frame(axes)
    axes.tick_params(axis="y", length=0, pad=2)
    notes = [] if score is None else [f"ACC {percent(score)} %"]
    notes += [] if panel.inside is None else [f"blocks {100 * panel.inside:.0f} %"]
    axes.set_title(arm, color=theme.arm(arm), fontweight="bold", pad=13 if notes else 4)
    axes.annotate(
        " · ".join(notes), (0.5, 1), (0, 4), xycoords="axes fraction", textcoords="offset points",
        ha="center", va="bottom", fontsize=SMALL, color=theme.muted,
    )  # fmt: skip


def draw_heat_map(
    axes: Axes, image: FloatArray, bands: Bands, limits: tuple[float, float], line: float, theme: Theme
) -> Any:
    """A graph, with lines of this width between clusters."""
    drawn = axes.imshow(
        image, aspect="auto", interpolation="nearest", cmap=theme.colormap(), vmin=limits[0], vmax=limits[1]
    )
    right = image.shape[1] - 0.5
    axes.hlines(bands.edges[1:-1] - 0.5, -0.5, right, color=theme.muted, alpha=0.55, lw=line)
    return drawn


def mark_clusters(axes: Axes, bands: Bands, height: float) -> None:
    """Write names of clusters beside their rows, as many as there is room for."""
    edges = bands.edges
    centres = (edges[:-1] + edges[1:] - 1) / 2
    apart = edges[-1] * (SMALL * 1.25 / 72) / height
    kept: list[int] = []
    for at, centre in enumerate(centres):
        if not kept or centre - centres[kept[-1]] >= apart:
            kept.append(at)
    names = [shortened(bands.names[at], 14) for at in kept]
    axes.set_yticks(centres[kept], names, parse_math=False)
