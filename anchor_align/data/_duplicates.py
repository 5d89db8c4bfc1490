"""Whether two entries hold the same numbers, without a copy of either."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import is_sparse
from ..errors import InputError
from ._entries import Entry

_BLOCK = 2**18


def same_content(one: Entry, other: Entry) -> bool:
    """Whether two matrices are the same, or one is the other transposed; the second is let go again."""
    if one.shape not in (other.shape, other.shape[::-1]):
        return False
    try:
        a, b = one.read(), other.read()
    except InputError:
        # Complex numbers, which are no view.
        return False
    same = (one.shape == other.shape and _same(a, b)) or (one.shape == other.shape[::-1] and _same(a, b.T))
    del b
    other.forget()
    return same


def _same(a: Any, b: Any) -> bool:
    if is_sparse(a) or is_sparse(b):
        return is_sparse(a) and is_sparse(b) and _same_sparse(a, b)
    if a.ndim != 2:
        return np.array_equal(a, b)
    # Along the axis in which memory runs, block by block: comparing all at once takes an array of its own.
    a, b = (a.T, b.T) if a.flags.f_contiguous else (a, b)
    step = max(1, _BLOCK // a.shape[1])
    return all(np.array_equal(a[i : i + step], b[i : i + step]) for i in range(0, len(a), step))


def _same_sparse(a: Any, b: Any) -> bool:
    if a.format != b.format or a.nnz != b.nnz or a.format not in ("csr", "csc"):
        return False
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data"))
