"""Reports of studies: the answer in a sentence, tables, figures and one self-contained HTML file."""

from __future__ import annotations

from ._difference_figure import plot_differences
from ._figure_files import write_figures
from ._formats import render
from ._fusion_figure import plot_fusion
from ._graph_figure import plot_graphs
from ._html import html_report
from ._match_figures import plot_objective, plot_permutations
from ._result_files import write_results
from ._sensitivity_figure import plot_sensitivity
from ._sentences import answer
from ._style import check_figures, figure_bytes
from ._tables import study_table
from ._text import encodable

__all__ = [
    "answer",
    "check_figures",
    "encodable",
    "figure_bytes",
    "html_report",
    "plot_differences",
    "plot_fusion",
    "plot_graphs",
    "plot_objective",
    "plot_permutations",
    "plot_sensitivity",
    "render",
    "study_table",
    "write_figures",
    "write_results",
]
