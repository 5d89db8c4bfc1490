"""Computation over many rows, one block at a time, with bounded memory and several threads.

The size of the blocks depends on the shape of the data only, and results are combined in order. The result is therefore
the same for any number of threads. Adapters can use these functions too::

    from anchor_align import blocks

    totals = sum(blocks.map_rows(lambda rows: X[rows].sum(axis=0), len(X), width=X.shape[1]))

:func:`working` sets the memory for blocks, the place of large results and the number of threads.

Rows may also be on a cluster, as Dask arrays. :class:`ScaledRows` then has one part (:class:`Parts`) for each chunk::

    ScaledRows(X).parts().total(lambda part: part.stats())
"""

from ._array_files import check_disk as check_disk
from ._array_files import empty_on_disk as empty_on_disk
from ._array_files import in_file as in_file
from ._array_files import read_rows, write_rows
from ._column_stats import ColumnStats
from ._engines import Engine as Engine
from ._engines import Here as Here
from ._engines import Parts, is_distributed, joined, parts_of
from ._engines import Rows as Rows
from ._engines import check_sparse as check_sparse
from ._engines import engine_of as engine_of
from ._engines import is_numeric as is_numeric
from ._map_blocks import COPIES as COPIES
from ._map_blocks import DEFAULT_MEMORY as DEFAULT_MEMORY
from ._map_blocks import Memo as Memo
from ._map_blocks import blas_limit as blas_limit
from ._map_blocks import block_rows, empty, map_rows, remember, run_rows, working
from ._map_blocks import growing as growing
from ._map_blocks import openmp_limit as openmp_limit
from ._map_blocks import work_memory as work_memory
from ._matrices import as_floats as as_floats
from ._matrices import check_finite as check_finite
from ._matrices import check_graph as check_graph
from ._matrices import check_graphs as check_graphs
from ._matrices import check_matrix as check_matrix
from ._matrices import join_graphs as join_graphs
from ._matrices import read_only as read_only
from ._matrices import same_chunks as same_chunks
from ._memory import available_memory as available_memory
from ._memory import check_size as check_size
from ._memory import readable_size as readable_size
from ._named_tables import NamedRows as NamedRows
from ._named_tables import join_tables as join_tables
from ._named_tables import table_names as table_names
from ._named_tables import take_rows as take_rows
from ._numbering import number_by_appearance as number_by_appearance
from ._row_order import content_order as content_order
from ._row_order import row_order
from ._row_order import sorting_direction as sorting_direction
from ._row_order import spread_places as spread_places
from ._sample_names import JOINS as JOINS
from ._sample_names import JoinedSamples as JoinedSamples
from ._sample_names import check_join as check_join
from ._sample_names import check_names as check_names
from ._sample_names import join_samples as join_samples
from ._sample_names import name_order as name_order
from ._sample_names import natural as natural
from ._sample_names import row_places as row_places
from ._scaled_rows import (
    Products,
    RowSource,
    ScaledRows,
    scaled_rows,
    true_rows,
    view_rows,
    weighted_rows,
    weighted_sums,
)
from ._scaled_rows import square_norms as square_norms
from ._simplex_projection import project_columns
from ._simplex_projection import project_rows as project_rows

# The older name.
is_dask = is_distributed

__all__ = [
    "ColumnStats",
    "Parts",
    "Products",
    "RowSource",
    "ScaledRows",
    "block_rows",
    "empty",
    "is_dask",
    "is_distributed",
    "joined",
    "map_rows",
    "parts_of",
    "project_columns",
    "read_rows",
    "remember",
    "row_order",
    "run_rows",
    "scaled_rows",
    "true_rows",
    "view_rows",
    "weighted_rows",
    "weighted_sums",
    "working",
    "write_rows",
]
