"""Rows that can be had a block at a time: of an array in memory, in a file, or on a cluster; scaled on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._column_stats import ColumnStats, block_stats, sum_stats
from ._mapped import read_rows
from ._mapping import map_rows
from ._parts import Here, Parts
from ._types import FloatArray, IndexArray, is_dask, is_sparse

# Squared distances from zero, over the variance, up to which products keep enough digits.
FAR = {"float64": 1e6, "float32": 4.0}
# Entries up to which rows are scaled once and kept: 16 MB.
FEW = 2**21


class RowSource(Protocol):
    """Rows that can be had a block at a time: of an array, scaled, or made on the spot.

    A block holds rows B as they are at hand; the rows meant are ``(B - offset) * factor``. Scaling every block would
    cost about as much as a product with it, while the small matrix in the product is scaled at once.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""

    @property
    def offset(self) -> FloatArray:
        """Vector of shape (n_columns,)."""

    @property
    def factor(self) -> FloatArray:
        """Vector of shape (n_columns,)."""

    def block(self, which: slice | IndexArray) -> Any:
        """Some rows B, dense or CSR; they must not be written to."""

    def stats(self) -> ColumnStats:
        """Statistics of the columns of the rows meant."""

    def centred(self) -> tuple[RowSource, FloatArray]:
        """The same rows less a vector, and the vector: zero unless the rows are so far out that digits are lost."""

    def parts(self) -> Parts:
        """The same rows in parts, each a RowSource: one part of all rows, or one for each chunk of a Dask array."""


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows of an array, ``(X - centre) / divisor``; the array is never copied whole.

    Parameters
    ----------
    array : ndarray, memmap or csr_array of shape (n_rows, n_columns)
        Real numbers: float32 stays float32, everything else becomes float64. Pages of a file are given back when they
        have been read.
    centre, divisor : ndarray of shape (n_columns,), optional
        An infinite divisor makes a column zero.
    unit : bool, default=False
        Whether every row is first divided by its root mean square; rows of zeros stay.
    known : ColumnStats, optional
        Of the array, divided to unit rows if ``unit`` says so: saves a pass.
    double : bool, default=False
        Make float32 blocks float64: for numbers whose squares single precision cannot hold.
    first : int, default=0
        Number of the first row, where these rows are a part of others.

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

    @property
    def sparse(self) -> bool:
        """Whether blocks are sparse."""
        return is_sparse(self.array)

    @property
    def width(self) -> int:
        """Numbers in a row; of a sparse one, with their positions."""
        return 1 + 2 * self.array.nnz // self.shape[0] if self.sparse else self.shape[1]

    def parts(self) -> Parts:
        """All rows, in one part."""
        return Here(self)

    @cached_property
    def offset(self) -> FloatArray:
        """What blocks are yet to be shifted by."""
        if self.centre is None or (self._shifts_blocks and self._few is not None):
            return np.zeros(self.shape[1])
        if self._shifts_blocks:  # what single precision cannot say of the centre
            return np.asarray(self.centre - self.centre.astype(self.dtype))
        return self.centre if self._few is None or self.divisor is None else self.centre / self.divisor

    @cached_property
    def factor(self) -> FloatArray:
        """What blocks are yet to be multiplied by."""
        return np.ones(self.shape[1]) if self.divisor is None or self._few is not None else 1.0 / self.divisor

    def block(self, which: slice | IndexArray) -> Any:
        """Some rows, to be shifted and scaled; they must not be written to."""
        if self._few is not None:
            return self._few[which]
        block = self._raw(which)
        return block - self.centre.astype(self.dtype) if self.centre is not None and self._shifts_blocks else block

    def stats(self) -> ColumnStats:
        """Statistics of the columns of the rows meant."""
        factor = np.ones(self.shape[1]) if self.divisor is None else 1.0 / self.divisor
        return self._raw_stats.scaled(0.0 if self.centre is None else self.centre, factor)

    def centred(self) -> tuple[ScaledRows, FloatArray]:
        """The same rows less their mean, and the mean; unshifted where no digits are lost, and where sparse."""
        mean = self.stats().mean
        if self.sparse:
            return self, np.zeros_like(mean)
        if self._few is not None:
            return ScaledRows(self._few, centre=mean), mean  # has its precision already
        if not self._is_far(self._raw_stats.mean):
            return self, np.zeros_like(mean)
        centre = self._raw_stats.mean
        return replace(self, centre=centre, known=self._raw_stats), np.asarray(mean)

    @cached_property
    def _raw_stats(self) -> ColumnStats:
        if self.known is not None:
            return self.known
        n, d = self.shape
        return sum_stats(map_rows(lambda rows: block_stats(self._raw(rows)), n, width=2 * d))

    def _raw(self, which: slice | IndexArray) -> Any:
        block = read_rows(self.array, which, self.dtype)
        if not self.unit:
            return block
        return _unit_sparse_rows(block) if is_sparse(block) else _unit_rows(block)

    @cached_property
    def _few(self) -> Any:
        """All rows, scaled once and for all, if they are few; a sparse array's are divided only. None otherwise."""
        if (self.array.nnz if self.sparse else math.prod(self.shape)) > FEW:
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
        """Whether products of rows at a point so far from zero lose digits that tell the rows apart."""
        factor = np.ones(self.shape[1]) if self.divisor is None else 1.0 / self.divisor
        spread = float((self._raw_stats.variance * factor**2).sum())
        return float(((point * factor) ** 2).sum()) > FAR[self.dtype.name] * spread


def view_rows(array: Any, *scaling: Any, **settings: Any) -> ScaledRows:
    """Rows of an array of any kind; takes the parameters of :class:`ScaledRows`, and Dask arrays too."""
    if not is_dask(array):
        return ScaledRows(array, *scaling, **settings)
    from ._dask.rows import DaskRows

    return DaskRows(array, *scaling, **settings)


def scaled_rows(source: RowSource, which: slice | IndexArray) -> tuple[Any, FloatArray]:
    """Some rows as they are meant, but for a vector that sparse rows, which keep their zeros, are yet to lose."""
    block = source.block(which)
    factor = source.factor.astype(source.dtype)
    if is_sparse(block):
        scaled = sp.csr_array((block.data * factor[block.indices], block.indices, block.indptr), block.shape)
        return scaled, source.offset * source.factor
    if np.any(source.offset):
        block = block - source.offset.astype(source.dtype)
    return block if (factor == 1.0).all() else block * factor, np.zeros(len(factor))


def true_rows(source: RowSource, which: slice | IndexArray) -> FloatArray:
    """Some rows as they are meant, dense and in double precision."""
    block = source.block(which)
    dense = np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)
    return np.asarray((dense - source.offset) * source.factor)


def weighted_sums(weights: npt.NDArray[Any], block: Any) -> FloatArray:
    """Weights (p x rows) times the rows of a block."""
    sums = (block.T @ weights.T).T if is_sparse(block) else weights @ block
    return np.asarray(sums, dtype=np.float64)


class Products:
    """Products of the rows of a source with a few vectors, vectors x rows: what follows works along the long side."""

    def __init__(self, source: RowSource, vectors: FloatArray, plus: FloatArray | float = 0.0) -> None:
        scaled = vectors * source.factor
        self._vectors = scaled.astype(source.dtype)
        self._constants = (plus - scaled @ source.offset).astype(source.dtype)[:, None]

    def of(self, block: Any) -> npt.NDArray[Any]:
        """Products with the rows of a block."""
        by_row = is_sparse(block)
        products = np.ascontiguousarray((block @ self._vectors.T).T) if by_row else self._vectors @ block.T
        products += self._constants
        return np.asarray(products)


def weighted_rows(source: RowSource, sums: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted sums of rows as they are meant, from those of the rows at hand and the sums of the weights."""
    return np.asarray((sums - weights[:, None] * source.offset) * source.factor)


def _unit_rows(X: np.ndarray) -> np.ndarray:
    """Rows divided by their root mean square, in two steps lest squares overflow or vanish."""
    X = X / one_for_zero(np.abs(X).max(axis=1, keepdims=True)).astype(X.dtype)
    X /= one_for_zero(np.sqrt(np.mean(X**2, axis=1, keepdims=True))).astype(X.dtype)
    return X


def _unit_sparse_rows(X: Any) -> Any:
    lengths = np.diff(X.indptr)
    largest = np.asarray(abs(X).max(axis=1).toarray(), dtype=np.float64).ravel()
    entries = X.data / np.repeat(one_for_zero(largest), lengths)
    squares = np.bincount(np.repeat(np.arange(X.shape[0]), lengths), entries**2, X.shape[0]) / X.shape[1]
    entries = (entries / np.repeat(one_for_zero(np.sqrt(squares)), lengths)).astype(X.dtype)
    return sp.csr_array((entries, X.indices, X.indptr), X.shape)


def one_for_zero(size: FloatArray) -> FloatArray:
    """What has no extent is divided by one."""
    return np.where(size > 0, size, 1.0)


def square_norms(vectors: FloatArray) -> FloatArray:
    """Squared length of every row."""
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors))
