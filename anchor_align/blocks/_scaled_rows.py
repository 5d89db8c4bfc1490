"""Scaled rows of an array in memory, in a file, or on a cluster.

A block holds stored rows B; the scaled rows are ``(B - offset) * factor``. Scaling every block would cost about as much
as a product with it, so the small matrix in the product is scaled instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import FloatArray, IndexArray, is_sparse
from ._column_stats import ColumnStats, block_stats
from ._engines import Engine, Here, Parts, engine_of
from ._map_blocks import map_rows

# Squared distances from zero, over the variance, up to which products keep enough digits.
FAR = {"float64": 1e6, "float32": 4.0}
FEW = 2**21  # up to this many entries, rows are scaled once and kept: 16 MB


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows of an array, ``(X - centre) / divisor``. The whole array is never copied.

    Parameters
    ----------
    array : ndarray, memmap, csr_array or distributed array of shape (n_rows, n_columns)
        Real numbers: float32 stays float32, other types become float64. Pages of a file are released after reading.
    centre, divisor : ndarray of shape (n_columns,), optional
        An infinite divisor makes a column zero.
    unit : bool, default=False
        Whether every row is first divided by its root mean square; rows of zeros stay zero.
    known : ColumnStats, optional
        Statistics of the array (after ``unit``), if they are known. They save a pass.
    double : bool, default=False
        Make float32 blocks float64, for numbers whose squares do not fit in single precision.
    first : int, default=0
        Number of the first row, if these rows are a part of a larger array.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align.blocks import ScaledRows, true_rows
    >>> X = np.array([[1.0, 5.0], [3.0, 5.0]])
    >>> true_rows(ScaledRows(X, centre=np.array([2.0, 5.0]), divisor=np.array([1.0, np.inf])), slice(0, 2))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    array: Any
    centre: FloatArray | None = None
    divisor: FloatArray | None = None
    unit: bool = False
    known: ColumnStats | None = None
    double: bool = False
    first: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, d = self.array.shape
        return int(n), int(d)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        kind = self.array.dtype
        return np.dtype(np.float32 if kind.kind == "f" and kind.itemsize == 4 and not self.double else np.float64)

    @cached_property
    def engine(self) -> Engine:
        """The engine that visits the rows."""
        return engine_of(self.array)

    @property
    def sparse(self) -> bool:
        """Whether blocks are sparse."""
        return self.engine.is_sparse(self.array)

    @property
    def width(self) -> int:
        """Numbers in a row; for sparse rows, entries and their positions."""
        return 1 + 2 * self.array.nnz // self.shape[0] if self.sparse else self.shape[1]

    def parts(self) -> Parts:
        """The same scaled rows in parts."""
        if not self.engine.distributed:
            return Here(self)
        return self._chunks.map(_part, self.centre, self.divisor, self.unit, self.known, self.double)

    @cached_property
    def _chunks(self) -> Parts:
        """Array and number of the first row, for every part."""
        return self.engine.parts(self.array).zip(self.engine.first_rows(self.array))

    @cached_property
    def offset(self) -> FloatArray:
        """Vector that must still be subtracted from blocks."""
        if self.centre is None or (self._shifts_blocks and self._few is not None):
            return np.zeros(self.shape[1])
        if self._shifts_blocks:  # the part of the centre that single precision loses
            return np.asarray(self.centre - self.centre.astype(self.dtype))
        return self.centre if self._few is None or self.divisor is None else self.centre / self.divisor

    @cached_property
    def factor(self) -> FloatArray:
        """Vector that blocks must still be multiplied by."""
        return np.ones(self.shape[1]) if self.divisor is None or self._few is not None else 1.0 / self.divisor

    def block(self, which: slice | IndexArray) -> Any:
        """Some rows, not yet shifted and scaled. They are read-only."""
        if self._few is not None:
            return self._few[which]
        block = self._raw(which)
        return block - self.centre.astype(self.dtype) if self.centre is not None and self._shifts_blocks else block

    def stats(self) -> ColumnStats:
        """Statistics of the columns of the scaled rows."""
        factor = np.ones(self.shape[1]) if self.divisor is None else 1.0 / self.divisor
        return self._raw_stats.scaled(0.0 if self.centre is None else self.centre, factor)

    def centred(self) -> tuple[ScaledRows, FloatArray]:
        """The rows minus their mean, and the mean. Sparse rows, and rows that lose no digits, are not shifted."""
        mean = self.stats().mean
        if self.sparse:
            return self, np.zeros_like(mean)
        if self._few is not None:
            return ScaledRows(self._few, centre=mean), mean
        if not self._is_far(self._raw_stats.mean):
            return self, np.zeros_like(mean)
        centre = self._raw_stats.mean
        return replace(self, centre=centre, known=self._raw_stats), np.asarray(mean)

    @property
    def _raw_stats(self) -> ColumnStats:
        # Not a cached property: its lock is common to all objects, so threads could wait for each other.
        stats: ColumnStats | None = self.known or self.__dict__.get("_stats")
        if stats is None:
            stats = self.__dict__["_stats"] = self._sum_stats()
        return stats

    def _sum_stats(self) -> ColumnStats:
        if self.engine.distributed:
            chunks = self._chunks.map(_part, None, None, self.unit, None, self.double)
            stats: ColumnStats = chunks.total(ScaledRows.stats)
            return stats
        n, d = self.shape
        return reduce(add, map_rows(lambda rows: block_stats(self._raw(rows)), n, width=2 * d))

    def _raw(self, which: slice | IndexArray) -> Any:
        block = self.engine.read(self.array, which, self.dtype)
        if not self.unit:
            return block
        if is_sparse(block):
            return _unit_sparse_rows(block)
        sizes = None if self.engine.distributed else self._row_sizes
        return _unit_rows(block, sizes, which, is_copy=self.array.dtype != self.dtype)

    @property
    def _row_sizes(self) -> np.ndarray:
        """Two divisors of every row, NaN until they are known: they cost several passes over a block."""
        sizes = self.__dict__.get("_sizes")  # not a cached property: see above
        if sizes is None:
            sizes = self.__dict__.setdefault("_sizes", np.full((2, self.shape[0]), np.nan, dtype=self.dtype))
        return np.asarray(sizes)

    @cached_property
    def _few(self) -> Any:
        """All rows, scaled once, if they are few (sparse rows are only divided); else None."""
        if self.engine.distributed or (self.array.nnz if self.sparse else math.prod(self.shape)) > FEW:
            return None
        rows = self._raw(slice(None))
        if is_sparse(rows):
            if self.divisor is None:
                return rows
            divisors = np.broadcast_to(self.divisor, self.shape[1])[rows.indices].astype(self.dtype)
            return sp.csr_array((rows.data / divisors, rows.indices, rows.indptr), rows.shape)
        if self.centre is not None:
            rows = rows - self.centre.astype(self.dtype)
        return rows if self.divisor is None else rows / self.divisor.astype(self.dtype)

    @cached_property
    def _shifts_blocks(self) -> bool:
        if self.centre is None or self.sparse:
            return False
        return self._few is not None or self._is_far(self.centre)

    def _is_far(self, point: FloatArray) -> bool:
        """Whether products of rows near this point, far from zero, lose the digits that distinguish rows."""
        factor = np.ones(self.shape[1]) if self.divisor is None else 1.0 / self.divisor
        spread = float((self._raw_stats.variance * factor**2).sum())
        return float(((point * factor) ** 2).sum()) > FAR[self.dtype.name] * spread


def _part(chunk: tuple[Any, int], *scale: Any) -> ScaledRows:
    array, first = chunk
    return replace(ScaledRows(array, *scale), first=first)


# Older names.
RowSource: TypeAlias = ScaledRows
view_rows = ScaledRows


def scaled_rows(source: ScaledRows, which: slice | IndexArray) -> tuple[Any, FloatArray]:
    """Some scaled rows, and a vector still to subtract: sparse rows keep their zeros."""
    block = source.block(which)
    factor = source.factor.astype(source.dtype)
    if is_sparse(block):
        scaled = sp.csr_array((block.data * factor[block.indices], block.indices, block.indptr), block.shape)
        return scaled, source.offset * source.factor
    if np.any(source.offset):
        block = block - source.offset.astype(source.dtype)
    return block if (factor == 1.0).all() else block * factor, np.zeros(len(factor))


def true_rows(source: ScaledRows, which: slice | IndexArray) -> FloatArray:
    """Some scaled rows, dense and in double precision."""
    block = source.block(which)
    dense = np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)
    return np.asarray((dense - source.offset) * source.factor)


def weighted_sums(weights: npt.NDArray[Any], block: Any) -> FloatArray:
    """Weights (p x rows) times the rows of a block."""
    sums = (block.T @ weights.T).T if is_sparse(block) else weights @ block
    return np.asarray(sums, dtype=np.float64)


class Products:
    """Products of rows with a few vectors, as vectors x rows: later steps then work along the long side."""

    def __init__(self, source: ScaledRows, vectors: FloatArray, plus: FloatArray | float = 0.0) -> None:
        scaled = vectors * source.factor
        self._vectors = scaled.astype(source.dtype)
        self._constants = (plus - scaled @ source.offset).astype(source.dtype)[:, None]

    def of(self, block: Any) -> npt.NDArray[Any]:
        """Products with the rows of a block."""
        by_row = is_sparse(block)
        products = np.ascontiguousarray((block @ self._vectors.T).T) if by_row else self._vectors @ block.T
        products += self._constants
        return np.asarray(products)


def weighted_rows(source: ScaledRows, sums: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted sums of the scaled rows, from sums over the stored rows and the sums of the weights."""
    return np.asarray((sums - weights[:, None] * source.offset) * source.factor)


def _unit_rows(X: np.ndarray, sizes: np.ndarray | None, which: slice | IndexArray, *, is_copy: bool) -> np.ndarray:
    """Divide rows by their root mean square, in two steps so that squares neither overflow nor vanish.

    ``sizes`` has the two divisors of every row of the array, of which X are the rows ``which``; unknown ones are set.
    """
    known = None if sizes is None else sizes[:, which]
    if known is not None and not np.isnan(known).any():
        X = np.divide(X, known[0, :, None], out=X if is_copy else None)
        X /= known[1, :, None]
        return X
    largest = one_for_zero(np.abs(X).max(axis=1)).astype(X.dtype)
    X = X / largest[:, None]
    means = one_for_zero(np.sqrt(np.mean(X**2, axis=1))).astype(X.dtype)
    X /= means[:, None]
    if sizes is not None:
        sizes[:, which] = largest, means
    return X


def _unit_sparse_rows(X: Any) -> Any:
    lengths = np.diff(X.indptr)
    largest = np.asarray(abs(X).max(axis=1).toarray(), dtype=np.float64).ravel()
    entries = X.data / np.repeat(one_for_zero(largest), lengths)
    squares = np.bincount(np.repeat(np.arange(X.shape[0]), lengths), entries**2, X.shape[0]) / X.shape[1]
    entries = (entries / np.repeat(one_for_zero(np.sqrt(squares)), lengths)).astype(X.dtype)
    return sp.csr_array((entries, X.indices, X.indptr), X.shape)


def one_for_zero(size: FloatArray) -> FloatArray:
    """Divisors: a size of zero is replaced by one."""
    return np.where(size > 0, size, 1.0)


def square_norms(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors))
