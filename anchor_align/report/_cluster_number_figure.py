"""Curves over the number of clusters: as a figure, and as a page with table and figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import __version__
from ..clustering import CAUTION, CURVE_SUMMARIES, ClusterCurves
from ._arms import Arms
from ._figure_style import PAGE, SMALL, check_width, get_theme, new_figure, style
from ._formatting import count, printable
from ._html_elements import cell, escaped, paragraph, picture, row_name, section, table, whole_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_n_clusters(
    curves: ClusterCurves, *, known: int | None = None, theme: str = "light", width: float = PAGE
) -> Figure:
    """Draw every curve over the number of clusters, with its peak.

    Parameters
    ----------
    curves : ClusterCurves
        Of :func:`anchor_align.cluster_number_curves`.
    known : int, optional
        The number of clusters in the labels, drawn as a line.
    theme : {"light", "dark"}, default="light"
    width : float, default=7.0
        In inches. Panels are side by side if there is room for them.

    Returns
    -------
    matplotlib.figure.Figure
    """
    colours, width = get_theme(theme), check_width(width)
    n = len(curves.curves)
    columns = min(n, max(1, int(width // 1.7)))
    lines = -(-n // columns)
    with style(colours):
        from matplotlib.ticker import MaxNLocator

        figure = new_figure(width, 1.75 * lines)
        panels = figure.subplots(lines, columns, squeeze=False, sharex=True).ravel()
        for axes, curve in zip(panels, curves.curves, strict=False):
            values = np.array(curve.values)
            line, peak = colours.shade(0.62), curves.peaks[curve.name]
            if curve.sd is not None:
                low, high = values - curve.sd, values + curve.sd
                axes.fill_between(curves.n_clusters, low, high, color=line, alpha=0.13, lw=0)
            axes.plot(curves.n_clusters, values, color=line, lw=1.1, marker="o", ms=2.2, zorder=3)
            height = values[curves.n_clusters.index(peak)]
            axes.plot([peak], [height], color=colours.accent, marker="o", ms=4.5, zorder=4)
            if known is not None:
                axes.axvline(known, color=colours.muted, lw=0.7, ls=(0, (3, 2)))
            axes.set_title(f"{curve.name.replace('_', ' ')}, peak at {peak}", loc="left", fontsize=SMALL)
            axes.grid(axis="y", color=colours.faint, lw=0.4)
            axes.set_axisbelow(True)
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            axes.set_xlabel("clusters")
        for axes in panels[n:]:
            axes.remove()
    return figure


def n_clusters_page(curves: ClusterCurves, *, title: str = "", known: int | None = None) -> str:
    """The curves as one HTML page that needs nothing else: figure and table.

    Parameters
    ----------
    curves : ClusterCurves
    title : str, optional
        Name of the data.
    known : int, optional
        The number of clusters in the labels.

    Returns
    -------
    str
    """
    heading = f"Number of clusters: {printable(title)}" if title else "Number of clusters"
    about = f"{count(curves.n_samples, 'sample')}, {count(curves.n_draws, 'draw')} of anchors; no labels were used. "
    shown = picture(
        lambda theme, width: plot_n_clusters(curves, known=known, theme=theme, width=width),
        "Curves over the number of clusters; the table below has the numbers.",
        "Mean over draws, for stability over pairs of draws. Shaded: one standard deviation; a single draw or pair has "
        "none. The larger dot is the peak."
        + ("" if known is None else f" Dashed: the {known} clusters of the labels."),
        wide=True,
    )
    heads = [("clusters", ""), *((each.name.replace("_", " "), "number") for each in curves.curves)]
    rows = [
        row_name(str(k)) + "".join(cell(f"{each.values[at]:.3f}", "number") for each in curves.curves)
        for at, k in enumerate(curves.n_clusters)
    ]
    meaning = "; ".join(f"{each.name.replace('_', ' ')}: {CURVE_SUMMARIES[each.name]}" for each in curves.curves)
    body = "\n".join(
        [
            f"<header>\n<h1>{escaped(heading)}</h1>\n{paragraph(about + CAUTION, 'answer')}\n</header>\n<main>",
            section("Curves", shown, table(f"{meaning[:1].upper()}{meaning[1:]}.", heads, rows, "results")),
            f"</main>\n<footer>Made with anchor-align {escaped(__version__)}.</footer>",
        ]
    )
    return whole_page(heading, body, Arms(()))
