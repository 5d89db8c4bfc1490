"""Dask arrays of views and graphs, and what is in them, which several tests share."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from anchor_align.arrays import is_sparse


def chunked(views: list[Any], rows: Any) -> list[Any]:
    """Dask arrays of the same numbers, so many rows in each chunk; sparse chunks of sparse views."""
    import dask.array as da

    arrays = []
    for X in views:
        dense = da.from_array(X.toarray() if is_sparse(X) else X, chunks=(rows, -1))
        arrays.append(dense.map_blocks(sp.csr_array) if is_sparse(X) else dense)
    return arrays


def computed(array: Any) -> Any:
    """What is in a Dask array; that it is one is part of what the tests check."""
    return array.compute()
