"""Mean, variance and range of every column, combined from blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from ..arrays import FloatArray, is_sparse


@dataclass(frozen=True, eq=False)
class ColumnStats:
    """Statistics of the columns of some rows. The sum of two objects describes the rows of both.

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
        """Statistics of the rows of both. Variances are combined without subtracting large numbers."""
        n = self.n_rows + other.n_rows
        weight = other.n_rows / n
        step = other.mean - self.mean
        return ColumnStats(
            n,
            self.mean + weight * step,
            self.variance + weight * (other.variance - self.variance) + weight * (1.0 - weight) * step**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def scaled(self, centre: FloatArray | float, factor: FloatArray) -> ColumnStats:
        """Statistics of the rows minus a centre, times factors >= 0."""
        mean, low, high = ((each - centre) * factor for each in (self.mean, self.low, self.high))
        return ColumnStats(self.n_rows, mean, self.variance * factor**2, low, high)


def block_stats(block: Any) -> ColumnStats:
    if is_sparse(block):
        mean, variance = mean_variance_axis(sp.csr_matrix(block, dtype=np.float64), axis=0)
        low, high = (np.asarray(edge.toarray()).ravel() for edge in (block.min(axis=0), block.max(axis=0)))
        return ColumnStats(block.shape[0], mean, variance, low, high)
    mean = block.mean(axis=0, dtype=np.float64)
    apart = block - mean
    variance = np.einsum("ij,ij->j", apart, apart) / len(block)
    return ColumnStats(len(block), mean, variance, block.min(axis=0), block.max(axis=0))
