"""Rows, their parts, and the engines that visit them.

An algorithm over all rows is written once, as functions of one part of the rows. Results are added, or kept with the
part for the next visit. Rows on this machine are one part, which blocks and threads divide further. Another engine
divides the rows of its arrays in its own way, for example into the chunks of a Dask array.

An engine is an object like :class:`Engine`. An entry point in the group ``anchor_align.engines`` names it; the name of
the entry point is the top-level package of the array type. The engine is imported when such an array is first used.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from ..arrays import IndexArray, is_sparse
from ..errors import InputError
from ._array_files import read_rows

ENTRY_POINTS = "anchor_align.engines"


class Rows(Protocol):
    """Rows that are visited one block at a time: of one or more arrays, scaled, masked, fused, or made when needed.

    ``block`` and ``width`` are for rows on this machine. The rows of a part always are.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""

    @property
    def width(self) -> int:
        """Numbers in memory for each row while a block is made."""

    def block(self, which: slice, /) -> Any:
        """A block of rows: an array, dense or CSR, or a list with one array for each view. It is read-only."""

    def parts(self) -> Parts:
        """The same rows in parts. Each part is Rows on the machine that computes it."""


class Parts(Protocol):
    """One item for each part of the rows."""

    def zip(self, *others: Parts) -> Parts:
        """Tuples of the items for the same part."""

    def map(self, function: Callable[..., Any], *shared: Any) -> Parts:
        """``function(item, *shared)`` for every part. It must not change the item, and may be called again."""

    def keep(self) -> Parts:
        """The same items, computed now and kept where they are. Use it for items that are needed more than once."""

    def once(self) -> Parts:
        """The same items, each computed once for all its uses in one computation."""

    def total(self, function: Callable[..., Any], *shared: Any, then: Callable[[Any], Any] | None = None) -> Any:
        """Sum of ``function(item, *shared)`` over all parts, in order; ``shared`` is sent to each worker once.

        Results should support ``+``, as lists do. ``then`` is applied to the sum where the sum is. What comes back to
        this machine should be small.
        """

    def against(self, others: Parts, function: Callable[..., Any]) -> Parts:
        """For every item the sum of ``function(other, item)`` over all other items."""

    def joined(self, meta: Any) -> Any:
        """One array from the arrays of all parts, see :func:`joined`."""


class Engine(Protocol):
    """Operations on one type of array.

    ``name`` is the name in messages. ``distributed`` says whether rows are on other machines, in several parts.
    ``fit_kmeans`` takes the parameters of :func:`anchor_align.kmeans.fit_kmeans`; None selects that function.
    """

    name: str
    distributed: bool
    fit_kmeans: Callable[..., Any] | None

    def check(self, array: Any, name: str) -> Any:
        """The array in the form that the package works on; ``name`` is for messages."""

    def alike(self, arrays: Sequence[Any], names: Sequence[int | str]) -> list[Any]:
        """The same arrays, with the same rows in every part."""

    def is_sparse(self, array: Any) -> bool:
        """Whether blocks are sparse."""

    def parts(self, array: Any) -> Parts:
        """The array's rows in parts."""

    def first_rows(self, array: Any) -> Parts:
        """Number of the first row of every part."""

    def read(self, array: Any, which: slice | IndexArray, dtype: np.dtype[Any] | None = None) -> Any:
        """Some rows, on this machine."""

    def gather(self, array: Any) -> Any:
        """The whole array, on this machine."""


@dataclass(frozen=True, eq=False)
class Here:
    """Rows on this machine: one part."""

    item: Any

    def zip(self, *others: Parts) -> Parts:
        return Here((self.item, *(other.total(lambda item: item) for other in others)))

    def map(self, function: Callable[..., Any], *shared: Any) -> Parts:
        return Here(function(self.item, *shared))

    def keep(self) -> Parts:
        return self

    once = keep

    def total(self, function: Callable[..., Any], *shared: Any, then: Callable[[Any], Any] | None = None) -> Any:
        found = function(self.item, *shared)
        return found if then is None else then(found)

    def against(self, others: Parts, function: Callable[..., Any]) -> Parts:
        return Here(others.total(function, self.item))

    def joined(self, meta: Any) -> Any:
        return self.item


class ThisMachine:
    """Arrays, memmaps, sparse arrays, DataFrames and nested lists."""

    name = "NumPy"
    distributed = False
    fit_kmeans: Callable[..., Any] | None = None

    def check(self, array: Any, name: str) -> Any:
        if is_sparse(array):
            check_sparse(array, name)
            return array
        try:
            return _from_frame(array) if hasattr(array, "to_numpy") else np.asarray(array)
        except ValueError as error:
            raise InputError(f"{name} is not a rectangular array: {error}.") from error

    def alike(self, arrays: Sequence[Any], names: Sequence[int | str]) -> list[Any]:
        return list(arrays)

    def is_sparse(self, array: Any) -> bool:
        return is_sparse(array)

    def parts(self, array: Any) -> Parts:
        return Here(array)

    def first_rows(self, array: Any) -> Parts:
        return Here(0)

    def read(self, array: Any, which: slice | IndexArray, dtype: np.dtype[Any] | None = None) -> Any:
        return read_rows(array, which, dtype)

    def gather(self, array: Any) -> Any:
        return array


def check_sparse(X: Any, name: str) -> None:
    """Refuse a sparse array whose indices are outside its shape: SciPy would read or write other memory."""
    try:
        if hasattr(X, "indptr"):
            # A new array of the same numbers: the check may change the type of the indices.
            type(X)((X.data, X.indices, X.indptr), shape=X.shape).check_format(full_check=True)
        elif X.format == "coo" and X.nnz:
            for at, size in zip(X.coords, X.shape, strict=True):
                if at.min() < 0 or at.max() >= size:
                    raise ValueError("an index is outside the shape")
    except (ValueError, IndexError, TypeError) as error:
        raise InputError(f"{name} is a damaged sparse array: {error}.") from error


THIS_MACHINE = ThisMachine()


@cache
def _entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}


def engine_of(array: object) -> Engine:
    if not isinstance(array, np.ndarray) and not is_sparse(array):
        for kind in type(array).__mro__:
            point = _entry_points().get(kind.__module__.partition(".")[0])
            if point is not None:
                engine: Engine = point.load()
                return engine
    return THIS_MACHINE


def is_distributed(array: object) -> bool:
    """Whether the rows of an array are distributed, for example a Dask array."""
    return engine_of(array).distributed


def parts_of(array: Any) -> Parts:
    """Rows of an array: one part, or one part for each chunk of a distributed array."""
    return engine_of(array).parts(array)


def joined(parts: Parts, meta: Any) -> Any:
    """One array from the arrays of all parts.

    Parameters
    ----------
    parts : Parts
        Arrays with one row for each row of the part.
    meta : ndarray or csr_array
        An empty array with the type, dtype and width of the result.

    Returns
    -------
    array
        A distributed array if the parts are chunks. Chunks that are not kept are computed when they are needed.
    """
    return parts.joined(meta)


def is_numeric(frame: Any) -> bool:
    """Whether all columns of a DataFrame are real numbers; they may have missing values."""
    dtypes: Any = getattr(frame, "dtypes", None)
    return hasattr(dtypes, "__iter__") and all(getattr(dtype, "kind", "O") in "fiub" for dtype in dtypes)


def _from_frame(frame: Any) -> np.ndarray:
    """Numbers of a DataFrame without its labels. Nullable numbers of pandas become floats, missing ones NaN."""
    Z = np.asarray(frame.to_numpy())
    if Z.dtype.kind == "O" and Z.ndim == 2 and is_numeric(frame):
        Z = np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    return Z
