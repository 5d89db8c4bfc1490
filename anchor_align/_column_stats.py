"""Mean, variance and range of every column, put together from blocks of rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from ._types import FloatArray, is_sparse


@dataclass(frozen=True, eq=False)
class ColumnStats:
    """What is known of the columns of some rows; the sum of two describes the rows of both.

    Attributes
    ----------
    n_rows : int
    mean, variance, low, high : ndarray of shape (n_columns,)
        The variance divides by the number of rows; ``low`` and ``high`` are the smallest and largest entries.
    """

    n_rows: int
    mean: FloatArray
    variance: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def largest(self) -> float:
        """Largest absolute entry."""
        return float(max(np.abs(self.low).max(), np.abs(self.high).max()))

    @property
    def square_norm(self) -> float:
        """Sum of all squared entries."""
        return float(self.n_rows * (self.variance + self.mean**2).sum())

    def __add__(self, other: ColumnStats) -> ColumnStats:
        """Of the rows of both; variances are combined without subtracting large numbers."""
        n = self.n_rows + other.n_rows
        share = other.n_rows / n
        step = other.mean - self.mean
        return ColumnStats(
            n,
            self.mean + share * step,
            self.variance + share * (other.variance - self.variance) + share * (1.0 - share) * step**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def scaled(self, centre: FloatArray | float, factor: FloatArray) -> ColumnStats:
        """Of the rows less a centre, times factors >= 0."""
        mean, low, high = ((each - centre) * factor for each in (self.mean, self.low, self.high))
        return ColumnStats(self.n_rows, mean, self.variance * factor**2, low, high)


def sum_stats(parts: Iterable[ColumnStats]) -> ColumnStats:
    """Statistics of all parts together."""
    return reduce(add, parts)


def block_stats(block: Any) -> ColumnStats:
    """Statistics of a few rows, in double precision."""
    if is_sparse(block):
        mean, variance = mean_variance_axis(sp.csr_matrix(block, dtype=np.float64), axis=0)
        low, high = (np.asarray(edge.toarray()).ravel() for edge in (block.min(axis=0), block.max(axis=0)))
        return ColumnStats(block.shape[0], mean, variance, low, high)
    mean = block.mean(axis=0, dtype=np.float64)
    apart = block - mean
    variance = np.einsum("ij,ij->j", apart, apart) / len(block)
    return ColumnStats(len(block), mean, variance, block.min(axis=0), block.max(axis=0))
