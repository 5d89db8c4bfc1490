"""Work on many rows, a block at a time: bounded memory, several threads, the same result for any number of them.

Blocks are cut by the shape of the data alone and their results are put together in order, so threads change the time
and nothing else. Adapters use these functions as the rest of the package does::

    from anchor_align import blocks

    totals = sum(blocks.map_rows(lambda rows: X[rows].sum(axis=0), len(X), width=X.shape[1]))

:func:`working` says how much memory blocks may take, where large results are kept and how many threads there are;
outside of it the defaults hold.
"""

from __future__ import annotations

from ._column_stats import ColumnStats
from ._mapped import read_rows, write_rows
from ._mapping import block_rows, empty, map_rows, remember, run_rows, working
from ._rows import Products, RowSource, ScaledRows, scaled_rows, true_rows, weighted_rows, weighted_sums
from ._simplex_projection import project_columns

__all__ = [
    "ColumnStats",
    "Products",
    "RowSource",
    "ScaledRows",
    "block_rows",
    "empty",
    "map_rows",
    "project_columns",
    "read_rows",
    "remember",
    "run_rows",
    "scaled_rows",
    "true_rows",
    "weighted_rows",
    "weighted_sums",
    "working",
    "write_rows",
]
