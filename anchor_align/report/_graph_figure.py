"""The fused graphs without and with alignment, side by side.

Rows are averaged within clusters and graphs fused afterwards; both are linear, so the order does not matter, and no
matrix of all samples is ever made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._columns import check_orders
from .._fusion import fuse
from .._grams import GramMatrices
from .._types import FloatArray, IndexArray, is_sparse
from .._view_weights import agreement_weights
from ..errors import InputError
from ._style import COLUMN, SMALL, Theme, bare, get_theme, new_figure, style
from ._text import percent, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..estimator import AlignedClusterer

IMAGE_ROWS = 600
# What is darker than this share of all numbers is drawn as dark as possible, so that a few do not hide the rest.
CLIPPED = 0.995


@dataclass(frozen=True, eq=False)
class Bands:
    """Samples sorted by cluster and gathered into rows of an image.

    ``names`` are the clusters, ``sizes`` their numbers of samples, ``rows`` their numbers of image rows; ``means``
    times a graph gives the image.
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

    ``image`` has anchors in the order of the cluster in which they weigh most; ``inside`` is the share of all weight
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

    Samples are sorted by cluster, the anchors of each graph by the cluster in which they weigh most: a graph that tells
    the clusters apart is a block diagonal. Colours mean the same in both.

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
    colours = get_theme(theme)
    bands = _bands(_check_labels(clusterer, labels))
    panels = _panels(clusterer, bands)
    top = _top(panels)
    low = min(0.0, *(float(panel.image.min()) for panel in panels.values()))
    with style(colours):
        figure = new_figure(width, 0.74 * width + 0.25)
        grid = figure.subplots(1, 2, sharey=True)
        for axes, (arm, panel) in zip(grid, panels.items(), strict=True):
            drawn = axes.imshow(
                panel.image, aspect="auto", interpolation="nearest", cmap=colours.colormap(), vmin=low, vmax=top
            )
            _finish_panel(axes, arm, panel, None if scores is None else scores.get(arm), colours)
            # Many clusters need lines less than few, and would drown in them.
            line = 0.35 * min(1.0, 15 / len(bands.sizes))
            right = panel.image.shape[1] - 0.5
            axes.hlines(bands.edges[1:-1] - 0.5, -0.5, right, color=colours.muted, alpha=0.55, lw=line)
        _mark_clusters(grid[0], bands, height=0.5 * width)
        n, m = int(bands.sizes.sum()), panels["aligned"].image.shape[1]
        by = "true cluster" if labels is not None else "cluster found"
        grid[0].set_ylabel(f"{n:,} samples by {by}")
        figure.supxlabel(f"{m:,} anchors by cluster", fontsize=SMALL, color=colours.muted)
        clipped = max(float(panel.image.max()) for panel in panels.values()) > top * (1 + 1e-9)
        bar = figure.colorbar(
            drawn, ax=grid, extend="max" if clipped else "neither", aspect=32, pad=0.02, fraction=0.04
        )
        bar.set_label("weight")
        bar.outline.set_visible(False)
        bar.locator = _few_ticks()
        bar.update_ticks()
    return figure


def _check_labels(clusterer: AlignedClusterer, labels: npt.ArrayLike | None) -> npt.NDArray[Any]:
    n = len(clusterer.labels_)
    checked = np.asarray(clusterer.labels_ if labels is None else labels)
    if checked.shape != (n,):
        raise InputError(f"labels have shape {checked.shape}; expected one for each of {n} samples.")
    return checked


def _bands(labels: npt.NDArray[Any]) -> Bands:
    """Sort samples by cluster and share the image's rows out by size, at least one for each cluster."""
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
    graphs, mask = clusterer.anchor_graphs_.graphs, clusterer.mask_
    weights = {"unaligned": _unaligned_weights(clusterer), "aligned": clusterer.weights_}
    orders = {"unaligned": None, "aligned": clusterer.permutations_}
    if mask is not None:
        # Samples that other views have are fused with other weights: not linear.
        whole = {arm: bands.means @ fuse(graphs, orders[arm], weights=weights[arm], mask=mask) for arm in orders}
        return {arm: _panel(_dense(image), bands) for arm, image in whole.items()}
    rows = [_dense(bands.means @ Z) for Z in graphs]
    return {arm: _panel(fuse(rows, orders[arm], weights=weights[arm]), bands) for arm in orders}


def _dense(image: Any) -> FloatArray:
    return np.asarray(image.toarray() if is_sparse(image) else image, dtype=np.float64)


def _unaligned_weights(clusterer: AlignedClusterer) -> FloatArray | None:
    """Weights of the graphs as they come, which the user, their agreement or the adapter gives."""
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


def _top(panels: Mapping[str, Panel]) -> float:
    """Number with the strongest colour, the same for all panels."""
    tops = [
        float(np.quantile(panel.image[panel.image > 0], CLIPPED)) for panel in panels.values() if panel.image.max() > 0
    ]
    return max(tops, default=1.0)


def _finish_panel(axes: Axes, arm: str, panel: Panel, score: float | None, theme: Theme) -> None:
    bare(axes)
    axes.tick_params(axis="y", length=0, pad=2)
    notes = [] if score is None else [f"ACC {percent(score)} %"]
    notes += [] if panel.inside is None else [f"blocks {100 * panel.inside:.0f} %"]
    axes.set_title(arm, color=theme.arms[arm], fontweight="bold", pad=13 if notes else 4)
    axes.annotate(
        " · ".join(notes), (0.5, 1), (0, 4), xycoords="axes fraction", textcoords="offset points",
        ha="center", va="bottom", fontsize=SMALL, color=theme.muted,
    )  # fmt: skip


def _mark_clusters(axes: Axes, bands: Bands, height: float) -> None:
    """Names of clusters beside their rows, as many as there is room for."""
    edges = bands.edges
    centres = (edges[:-1] + edges[1:] - 1) / 2
    apart = edges[-1] * (SMALL * 1.25 / 72) / height
    kept: list[int] = []
    for at, centre in enumerate(centres):
        if not kept or centre - centres[kept[-1]] >= apart:
            kept.append(at)
    names = [shortened(bands.names[at], 14) for at in kept]
    axes.set_yticks(centres[kept], names, parse_math=False)


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)
