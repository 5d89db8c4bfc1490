"""Rows in parts that are worked on apart from each other, and what comes of it.

An algorithm that visits all rows is written once, as functions of one part: their results are added up, or kept with
the part for the next visit. Rows on this machine are one part, which its blocks and threads divide further; those of a
Dask array are one part for each chunk, wherever on the cluster it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ._types import is_dask


class Parts(Protocol):
    """Something for each part of the rows."""

    def zip(self, *others: Parts) -> Parts:
        """Tuples of what is there for the same part."""

    def map(self, function: Callable[..., Any], *shared: Any) -> Parts:
        """``function(item, *shared)`` for every part. It must not change the item, and may be called again."""

    def keep(self) -> Parts:
        """The same, computed now and kept where it is: it will be needed more than once."""

    def total(self, function: Callable[..., Any], *shared: Any) -> Any:
        """Sum of ``function(item, *shared)`` over all parts, in order: small results that have ``+``, as lists do.

        ``shared`` is sent to each worker once.
        """


@dataclass(frozen=True, eq=False)
class Here:
    """The one part of rows that are on this machine."""

    item: Any

    def zip(self, *others: Parts) -> Parts:
        """Tuples of what is there for the same part."""
        return Here((self.item, *(other.total(_itself) for other in others)))

    def map(self, function: Callable[..., Any], *shared: Any) -> Parts:
        """Call the function."""
        return Here(function(self.item, *shared))

    def keep(self) -> Parts:
        """It is there already."""
        return self

    def total(self, function: Callable[..., Any], *shared: Any) -> Any:
        """Call the function."""
        return function(self.item, *shared)


def parts_of(array: Any) -> Parts:
    """Rows of an array: one part of all of them, or one for each chunk of a Dask array."""
    if not is_dask(array):
        return Here(array)
    from ._dask.rows import blocks_of

    return blocks_of(array)


def joined(parts: Parts, meta: Any) -> Any:
    """One array of what there is for every part.

    Parameters
    ----------
    parts : Parts
        Arrays with one row for each row of the part.
    meta : ndarray or csr_array
        An empty array of the kind, dtype and width of the result.

    Returns
    -------
    array
        A Dask array if the parts are chunks; they are computed when they are needed, unless they are kept.
    """
    if isinstance(parts, Here):
        return parts.item
    from ._dask.arrays import from_parts
    from ._dask.parts import Chunked

    assert isinstance(parts, Chunked)
    return from_parts(parts, meta)


def _itself(item: Any) -> Any:
    return item
