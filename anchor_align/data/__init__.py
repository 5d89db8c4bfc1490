"""Multi-view data: the container, loaders for files as people publish them, and data sets that have a name."""

from __future__ import annotations

from ._annotate import annotate
from ._annotated_entries import annotated_class as annotated_class
from ._annotated_entries import named_rows as named_rows
from ._catalogue import DataSet, catalogue, load_bundled, make_simulated
from ._graph_files import GraphFiles as GraphFiles
from ._graph_files import read_graphs as read_graphs
from ._graph_files import read_mask as read_mask
from ._graph_output import Alignment as Alignment
from ._graph_output import check_output as check_output
from ._graph_output import output_form as output_form
from ._graph_output import write_alignment as write_alignment
from ._join_views import join_views
from ._load import load_views
from ._multi_view_data import MultiViewData, Note
from ._whole_files import check_path as check_path
from ._whole_files import check_writable as check_writable
from ._whole_files import make_folder as make_folder
from ._whole_files import write_whole as write_whole
from ._whole_files import writing as writing

__all__ = [
    "DataSet",
    "MultiViewData",
    "Note",
    "annotate",
    "catalogue",
    "join_views",
    "load_bundled",
    "load_views",
    "make_simulated",
]
