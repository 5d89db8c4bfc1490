"""The contingency table of two labellings, by its cells that are not zero, and the scores that follow from it.

Counts are exact integers throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from ._labels import Labels, encode_labels
from ._types import IndexArray
from .errors import InputError

# int64, or Python integers (dtype object) where products of two counts could overflow.
CountArray: TypeAlias = npt.NDArray[Any]

# Up to here (2048 x 2048) clusters are matched in a dense table; beyond, in a sparse one.
DENSE_CELLS = 2**22
# c_ij * n <= n ** 2 fits in int64 below.
INT64_SAMPLES = 2**31


@dataclass(frozen=True, eq=False)
class Table:
    """Contingency table by its cells that are not zero: ``counts`` samples of class ``rows`` in cluster ``cols``."""

    rows: IndexArray
    cols: IndexArray
    counts: CountArray
    true_sizes: CountArray
    found_sizes: CountArray
    n: int

    def acc(self) -> float:
        return matched(self.rows, self.cols, self.counts.astype(np.int64)) / self.n

    def nmi(self, average: str) -> float:
        # As many cells as rows and as columns: each class is one cluster.
        if len(self.counts) == len(self.true_sizes) == len(self.found_sizes):
            return 1.0
        outer = self.true_sizes[self.rows] * self.found_sizes[self.cols]
        information = _mean_log(self.counts, self.counts * self.n / outer)
        h_true, h_found = (_mean_log(sizes, self.n / sizes) for sizes in (self.true_sizes, self.found_sizes))
        if information <= 0 or min(h_true, h_found) == 0:
            return 0.0
        normalisers = {
            "arithmetic": (h_true + h_found) / 2,
            "geometric": math.sqrt(h_true * h_found),
            "max": max(h_true, h_found),
            "min": min(h_true, h_found),
        }
        return min(1.0, information / normalisers[average])

    def purity(self) -> float:
        largest = np.zeros_like(self.found_sizes)
        np.maximum.at(largest, self.cols, self.counts)
        return int(largest.sum()) / self.n

    def precision(self) -> float:
        return _share(_pairs(self.counts), _pairs(self.found_sizes))

    def recall(self) -> float:
        return _share(_pairs(self.counts), _pairs(self.true_sizes))

    def fscore(self) -> float:
        return _share(2 * _pairs(self.counts), _pairs(self.true_sizes) + _pairs(self.found_sizes))

    def ari(self) -> float:
        """(both - chance) / (mean(true, found) - chance) with chance = true * found / all, times 2 * all."""
        both, true, found = (_pairs(sizes) for sizes in (self.counts, self.true_sizes, self.found_sizes))
        every = self.n * (self.n - 1) // 2
        return _share(2 * (both * every - true * found), every * (true + found) - 2 * true * found)

    def entropy(self) -> float:
        if len(self.true_sizes) == 1:
            return 0.0
        within = _mean_log(self.counts, self.found_sizes[self.cols] / self.counts)
        return min(1.0, within / math.log(len(self.true_sizes)))


def tabulate(true: Labels, found: Labels) -> Table:
    rows, n_true = encode_labels(true, "true")
    cols, n_found = encode_labels(found, "found")
    if len(rows) != len(cols):
        raise InputError(
            f"true has {len(rows)} labels; found has {len(cols)}. Both must label the same samples, in the same order."
        )
    # At most n ** 2: fits for three thousand million samples, all alone in their group.
    cell_of = rows * n_found + cols
    if n_true * n_found <= max(len(rows), 2**10):
        filled = np.bincount(cell_of)
        cells = np.flatnonzero(filled)
        counts = filled[cells]
    else:
        cells, counts = np.unique(cell_of, return_counts=True)
    return table_of_cells(cells // n_found, cells % n_found, counts)


def table_of_cells(rows: IndexArray, cols: IndexArray, counts: CountArray) -> Table:
    """Table with the sums of its rows and columns."""
    n = int(counts.sum())
    if n >= INT64_SAMPLES:
        counts = counts.astype(object)
    true_sizes, found_sizes = (np.zeros(side.max() + 1, dtype=counts.dtype) for side in (rows, cols))
    np.add.at(true_sizes, rows, counts)
    np.add.at(found_sizes, cols, counts)
    return Table(rows, cols, counts, true_sizes, found_sizes, n)


def _pairs(sizes: CountArray) -> int:
    """Number of pairs of samples within groups of these sizes."""
    return int((sizes * (sizes - 1)).sum()) // 2


def _share(part: int, whole: int) -> float:
    """Correctly rounded ratio of Python integers; 1 of nothing."""
    return part / whole if whole else 1.0


def _mean_log(counts: CountArray, ratios: CountArray) -> float:
    """Mean over samples of log(ratio), the same to the last bit in any order of the groups."""
    terms = counts.astype(np.float64) * np.log(ratios.astype(np.float64))
    return float(np.sort(terms).sum()) / int(counts.sum())


def matched(rows: IndexArray, cols: IndexArray, counts: CountArray) -> int:
    """Largest sum of cells of which no two share a row or a column."""
    n_rows, n_cols = int(rows.max()) + 1, int(cols.max()) + 1
    if n_rows * n_cols <= DENSE_CELLS:
        dense = np.zeros((n_rows, n_cols), dtype=np.int64)
        dense[rows, cols] = counts
        return int(dense[linear_sum_assignment(dense, maximize=True)].sum())
    sure, rest = _match_sure_cells(rows, cols, counts)
    return sure + (match_sparse(rows[rest], cols[rest], counts[rest]) if rest.any() else 0)


def _match_sure_cells(rows: IndexArray, cols: IndexArray, counts: CountArray) -> tuple[int, npt.NDArray[np.bool_]]:
    """Sum over cells that some optimal matching contains, and which cells are left to decide.

    A cell at least as large as the largest other cell of its row plus that of its column is in an optimal matching:
    put in, it displaces at most those two. It remains so when other rows and columns are gone.
    """
    total, rest = 0, np.ones(len(counts), dtype=bool)
    used_rows, used_cols = np.zeros(rows.max() + 1, dtype=bool), np.zeros(cols.max() + 1, dtype=bool)
    while rest.any():
        left = np.flatnonzero(rest)
        rivals = _rivals(rows[left], counts[left]) + _rivals(cols[left], counts[left])
        sure = left[counts[left] >= rivals]
        total += int(counts[sure].sum())
        used_rows[rows[sure]] = True
        used_cols[cols[sure]] = True
        rest &= ~(used_rows[rows] | used_cols[cols])
        # Few sure cells may uncover others one at a time, round after round: the matching itself is then faster.
        if 10 * len(sure) < len(left):
            break
    return total, rest


def _rivals(groups: IndexArray, counts: CountArray) -> npt.NDArray[np.float64]:
    """Second largest cell of the group (0 if alone) for one largest cell of each group; infinity for all others."""
    order = np.lexsort((counts, groups))
    ordered, sizes = groups[order], counts[order]
    same = ordered[1:] == ordered[:-1]
    before = np.append(0, np.where(same, sizes[:-1], 0))
    largest = np.append(~same, True)
    rivals = np.full(len(counts), np.inf)
    rivals[order[largest]] = before[largest]
    return rivals


def match_sparse(rows: IndexArray, cols: IndexArray, counts: CountArray) -> int:
    """Largest sum without a dense table.

    SciPy's sparse matching gives every row a partner, so each row gets an empty column of its own to go to, and all
    cells count one more than they hold because it takes a stored zero for no cell.
    """
    rows, cols = np.unique(rows, return_inverse=True)[1], np.unique(cols, return_inverse=True)[1]
    if rows.max() > cols.max():
        rows, cols = cols, rows
    n_rows, n_cols = int(rows.max()) + 1, int(cols.max()) + 1
    own = np.arange(n_rows)
    weights = np.concatenate([counts + 1, np.ones(n_rows, dtype=np.int64)]).astype(np.float64)
    # 32 bits: older versions of SciPy match no other indices.
    at = np.concatenate([rows, own]).astype(np.int32), np.concatenate([cols, n_cols + own]).astype(np.int32)
    graph = sp.csr_array((weights, at), shape=(n_rows, n_cols + n_rows))
    matched = min_weight_full_bipartite_matching(graph, maximize=True)
    return int(graph[matched].sum()) - n_rows
