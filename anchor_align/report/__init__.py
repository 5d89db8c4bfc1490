"""Reports of studies: the answer in a sentence, tables, figures and one self-contained HTML file."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._formats import FORMATS as FORMATS
from ._formats import LABEL_FORMATS as LABEL_FORMATS

if TYPE_CHECKING:
    from ._cluster_figures import plot_clusters as plot_clusters
    from ._cluster_figures import plot_confidence as plot_confidence
    from ._cluster_number_figure import n_clusters_page as n_clusters_page
    from ._cluster_number_figure import plot_n_clusters as plot_n_clusters
    from ._cluster_page import cluster_page as cluster_page
    from ._difference_figure import plot_differences as plot_differences
    from ._figure_style import check_figures as check_figures
    from ._figure_style import figure_bytes as figure_bytes
    from ._formatting import encodable as encodable
    from ._fusion_figure import plot_fusion as plot_fusion
    from ._graph_figure import plot_graphs as plot_graphs
    from ._html_page import html_report as html_report
    from ._label_files import LabelTable as LabelTable
    from ._label_files import label_format as label_format
    from ._label_files import label_lines as label_lines
    from ._label_files import write_labels as write_labels
    from ._match_figures import plot_objective as plot_objective
    from ._match_figures import plot_permutations as plot_permutations
    from ._outcomes import answer as answer
    from ._output_files import write_figures as write_figures
    from ._output_files import write_results as write_results
    from ._rank_figure import plot_ranks as plot_ranks
    from ._render import render as render
    from ._sweep_figure import plot_sensitivity as plot_sensitivity
    from ._table_writers import study_table as study_table

# Names are imported on first use: the command line reads FORMATS for its help, and must not import SciPy for that.
_HOMES = {
    "_cluster_figures": ("plot_clusters", "plot_confidence"),
    "_cluster_page": ("cluster_page",),
    "_label_files": ("LabelTable", "label_format", "label_lines", "write_labels"),
    "_cluster_number_figure": ("n_clusters_page", "plot_n_clusters"),
    "_figure_style": ("check_figures", "figure_bytes"),
    "_formatting": ("encodable",),
    "_fusion_figure": ("plot_fusion",),
    "_graph_figure": ("plot_graphs",),
    "_html_page": ("html_report",),
    "_match_figures": ("plot_objective", "plot_permutations"),
    "_outcomes": ("answer",),
    "_output_files": ("write_figures", "write_results"),
    "_rank_figure": ("plot_ranks",),
    "_render": ("render",),
    "_difference_figure": ("plot_differences",),
    "_sweep_figure": ("plot_sensitivity",),
    "_table_writers": ("study_table",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
