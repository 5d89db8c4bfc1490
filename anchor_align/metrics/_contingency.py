"""Labels from users, and the contingency table of two labellings: only its nonzero cells, with exact integer counts."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from ..arrays import IndexArray
from ..errors import InputError, InputTypeError

# Labels from users: list, tuple, ndarray, Series, Categorical.
Labels: TypeAlias = Any

LABEL_KINDS = "labels must be whole numbers, text or booleans"
GOOD_KINDS = ("number", "text", "bytes")
FLOAT_INTEGERS = 2**53


def encode_labels(labels: Labels, name: str) -> tuple[IndexArray, int]:
    """Group of each sample, numbered from 0, and the number of groups."""
    if not hasattr(labels, "__array__"):
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Sequence):
            raise InputTypeError(f"{name} must be a 1-D sequence of labels, got {type(labels).__name__}.")
        return _encode_values(labels, name)
    if np.ma.is_masked(labels):
        raise InputError(f"{name} has masked labels; every sample needs a label.")
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InputError(
            f"{name} has shape {array.shape}; expected one label per sample, shape (n_samples,). "
            "Flatten a single column or row with ravel()."
        )
    if array.dtype.kind in "USOT":
        return _encode_values(array.tolist(), name)
    if array.dtype.kind not in "biuf":
        raise InputTypeError(f"{name} has dtype {array.dtype}; {LABEL_KINDS}.")
    if not array.size:
        raise _empty(name)
    return _encode_integers(_whole_floats(array, name) if array.dtype.kind == "f" else array)


def _empty(name: str) -> InputError:
    return InputError(f"{name} is empty; expected one label per sample.")


def _whole_floats(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Whole floats as integers; unchanged if they may not fit in 64 bits."""
    bad = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)))
    if bad.size:
        raise _bad_label(float(array[bad[0]]), f"{name}[{bad[0]}]")
    return array.astype(np.int64) if max(-float(array.min()), float(array.max())) < FLOAT_INTEGERS else array


def _encode_integers(array: npt.NDArray[Any]) -> tuple[IndexArray, int]:
    low, high = int(array.min()), int(array.max())
    if array.dtype.kind == "f" or high - low >= max(len(array), 2**10):
        groups, codes = np.unique(array, return_inverse=True)
        return codes, len(groups)
    offsets = (array.astype(np.int64 if array.dtype.kind == "i" else np.uint64) - low).astype(np.intp)
    present = np.bincount(offsets) > 0
    return (np.cumsum(present) - 1)[offsets], int(present.sum())


def _encode_values(values: Sequence[Any], name: str) -> tuple[IndexArray, int]:
    """Groups of equal Python values. NumPy would turn [1, "1"] or ["a", nan] into text."""
    group_of: dict[Any, int] = {}
    try:
        codes = [group_of.setdefault(value, len(group_of)) for value in values]
    except TypeError:
        at = next(at for at, value in enumerate(values) if _kind(value) not in GOOD_KINDS)
        raise _bad_label(values[at], f"{name}[{at}]") from None
    if not codes:
        raise _empty(name)
    first = {_kind(value): value for value in reversed(group_of)}
    where = {kind: f"{name}[{codes.index(group_of[value])}]" for kind, value in first.items()}
    for kind, value in first.items():
        if kind not in GOOD_KINDS:
            raise _bad_label(value, where[kind])
    if len(first) > 1:
        found = " and ".join(f"{where[kind]} is {first[kind]!r}" for kind in sorted(first))
        raise InputTypeError(f"{name} mixes kinds of labels: {found}; use one kind.")
    return np.array(codes, dtype=np.intp), len(group_of)


def _kind(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return "text" if isinstance(value, str) else "bytes"
    if isinstance(value, (numbers.Integral, np.bool_)):
        return "number"
    if isinstance(value, numbers.Real):
        if value != value:
            return "missing"
        return "number" if abs(value) != math.inf and value % 1 == 0 else "not whole"
    # pandas' NA and NaT, without importing pandas.
    return "missing" if str(value) in ("None", "<NA>", "NaT") else "other"


def _bad_label(value: Any, where: str) -> InputError:
    kind = _kind(value)
    if kind == "missing":
        return InputError(f"{where} is missing ({value}); every sample needs a label.")
    if kind == "not whole":
        return InputError(f"{where} is {value}; {LABEL_KINDS}.")
    return InputTypeError(f"{where} is of type {type(value).__name__}; {LABEL_KINDS}.")


# int64, or Python integers (dtype object) where products of two counts could overflow.
CountArray: TypeAlias = npt.NDArray[Any]

DENSE_CELLS = 2**22  # up to this size (2048 x 2048) clusters are matched in a dense table; above it, in a sparse one
INT64_SAMPLES = 2**31  # below this number of samples c_ij * n <= n ** 2 fits in int64


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
        return _ratio(_pairs(self.counts), _pairs(self.found_sizes))

    def recall(self) -> float:
        return _ratio(_pairs(self.counts), _pairs(self.true_sizes))

    def fscore(self) -> float:
        return _ratio(2 * _pairs(self.counts), _pairs(self.true_sizes) + _pairs(self.found_sizes))

    def ari(self) -> float:
        """(both - chance) / (mean(true, found) - chance) with chance = true * found / all, times 2 * all."""
        both, true, found = (_pairs(sizes) for sizes in (self.counts, self.true_sizes, self.found_sizes))
        every = self.n * (self.n - 1) // 2
        return _ratio(2 * (both * every - true * found), every * (true + found) - 2 * true * found)

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
    # At most n ** 2, which fits for three thousand million samples.
    cell_of = rows * n_found + cols
    if n_true * n_found <= max(len(rows), 2**10):
        filled = np.bincount(cell_of)
        cells = np.flatnonzero(filled)
        counts = filled[cells]
    else:
        cells, counts = np.unique(cell_of, return_counts=True)
    return table_of_cells(cells // n_found, cells % n_found, counts)


def table_of_cells(rows: IndexArray, cols: IndexArray, counts: CountArray) -> Table:
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


def _ratio(part: int, whole: int) -> float:
    """Correctly rounded ratio of Python integers; 1 for 0 / 0."""
    return part / whole if whole else 1.0


def _mean_log(counts: CountArray, ratios: CountArray) -> float:
    """Mean over samples of log(ratio), equal to the last bit for any order of the groups."""
    terms = counts.astype(np.float64) * np.log(ratios.astype(np.float64))
    return float(np.sort(terms).sum()) / int(counts.sum())


def matched(rows: IndexArray, cols: IndexArray, counts: CountArray) -> int:
    """Largest sum of cells, no two of them in one row or column."""
    n_rows, n_cols = int(rows.max()) + 1, int(cols.max()) + 1
    if n_rows * n_cols <= DENSE_CELLS:
        dense = np.zeros((n_rows, n_cols), dtype=np.int64)
        dense[rows, cols] = counts
        return int(dense[linear_sum_assignment(dense, maximize=True)].sum())
    sure, rest = _match_sure_cells(rows, cols, counts)
    return sure + (match_sparse(rows[rest], cols[rest], counts[rest]) if rest.any() else 0)


def _match_sure_cells(rows: IndexArray, cols: IndexArray, counts: CountArray) -> tuple[int, npt.NDArray[np.bool_]]:
    """Sum over cells that are in some optimal matching, and a mask of the remaining cells.

    A cell is in an optimal matching if it is at least as large as the largest other cell of its row plus the largest
    other cell of its column: it replaces at most these two. This stays true when other rows and columns are removed.
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
        # If there are few sure cells, many rounds could follow: the matching itself is then faster. A round without any
        # is the last, so that this ends.
        if 10 * len(sure) < len(left):
            break
    return total, rest


def _rivals(groups: IndexArray, counts: CountArray) -> npt.NDArray[np.float64]:
    """Second largest cell of the group (0 if alone) for one largest cell of each group; infinity for other cells."""
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

    SciPy's sparse matching gives every row a partner, so each row gets its own empty column. It ignores stored zeros,
    so one is added to all cells.
    """
    rows, cols = np.unique(rows, return_inverse=True)[1], np.unique(cols, return_inverse=True)[1]
    if rows.max() > cols.max():
        rows, cols = cols, rows
    n_rows, n_cols = int(rows.max()) + 1, int(cols.max()) + 1
    own = np.arange(n_rows)
    weights = np.concatenate([counts + 1, np.ones(n_rows, dtype=np.int64)]).astype(np.float64)
    # 32 bits: older versions of SciPy accept no other indices.
    at = np.concatenate([rows, own]).astype(np.int32), np.concatenate([cols, n_cols + own]).astype(np.int32)
    graph = sp.csr_array((weights, at), shape=(n_rows, n_cols + n_rows))
    matched = min_weight_full_bipartite_matching(graph, maximize=True)
    return int(graph[matched].sum()) - n_rows
