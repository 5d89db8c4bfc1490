"""Reports of studies: figures, sentences and one self-contained HTML file."""

from __future__ import annotations

from ._difference_figure import plot_differences
from ._graph_figure import plot_graphs
from ._match_figures import plot_objective, plot_permutations
from ._sensitivity_figure import plot_sensitivity
from ._sentences import answer
from ._style import figure_bytes

__all__ = [
    "answer",
    "figure_bytes",
    "plot_differences",
    "plot_graphs",
    "plot_objective",
    "plot_permutations",
    "plot_sensitivity",
]
