"""Work on many rows, a block at a time: bounded memory, several threads, the same result for any number of them.

Blocks are cut by the shape of the data alone and their results are put together in order, so threads change the time
and nothing else. Adapters use these functions as the rest of the package does::

    from anchor_align import blocks

    totals = sum(blocks.map_rows(lambda rows: X[rows].sum(axis=0), len(X), width=X.shape[1]))

:func:`working` says how much memory blocks may take, where large results are kept and how many threads there are;
outside of it the defaults hold.

Rows may also be on a cluster, as Dask arrays. :func:`view_rows` then gives them in :class:`Parts`, one for each chunk::

    view_rows(X).parts().total(lambda part: part.stats())
"""

from __future__ import annotations

from ._column_stats import ColumnStats
from ._mapped import read_rows, write_rows
from ._mapping import block_rows, empty, map_rows, remember, run_rows, working
from ._parts import Parts, joined, parts_of
from ._rows import Products, RowSource, ScaledRows, scaled_rows, true_rows, view_rows, weighted_rows, weighted_sums
from ._simplex_projection import project_columns
from ._types import is_dask

__all__ = [
    "ColumnStats",
    "Parts",
    "Products",
    "RowSource",
    "ScaledRows",
    "block_rows",
    "empty",
    "is_dask",
    "joined",
    "map_rows",
    "parts_of",
    "project_columns",
    "read_rows",
    "remember",
    "run_rows",
    "scaled_rows",
    "true_rows",
    "view_rows",
    "weighted_rows",
    "weighted_sums",
    "working",
    "write_rows",
]
