"""Euclidean projection of rows, or of columns, on the simplex.

The projection of y is max(y - t, 0) with the threshold t at which f(t) = sum(max(y - t, 0)) - 1 is zero. If the support
were the k largest entries, t would be (their sum - 1) / k; the threshold is the largest of these numbers over k.

Rows with many anchors are sorted: NumPy's sort takes the time of a few plain passes. Cumulative sums of whole rows
would take longer than the sort, so they are computed only in the part of the row where the support ends. Rows with few
anchors are not sorted: f is convex and piecewise linear, so Newton's method from a lower bound rises to t and ends
after finitely many steps.

The usual projection, NumPy's sort and cumulative sum of whole rows, takes about twice the time
(``benchmarks/speed/projection.py``).
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Floats = TypeVar("Floats", np.float64, np.float32)

SORTED, BLOCK = 2**20, 2**19  # bytes per block: data that Newton's method reads many times stay in the cache of a core
LEAST = 64  # least number of samples in a block
# Rows of FEW anchors or more are sorted, and so are fewer than FEW_ROWS rows: that takes fewer NumPy calls.
FEW, FEW_ROWS = 16, 500
PART, WHOLE = 12, 24  # least number of sorted entries in a part; rows of up to WHOLE anchors are one part
SUMMED = 64  # anchors in one sum; longer sums would add up rounding errors
RARE = 0.4  # below this fraction, unfinished columns continue alone; copying a column costs two steps
# The largest entry of a row is subtracted first if it is above LARGE (1 would be lost beside it) or negative (it minus
# 1 is then exact), or if an entry is below LOW (sums might overflow).
LARGE, LOW = 8.0, -(2.0**60)


def project_rows(Y: npt.NDArray[Floats]) -> npt.NDArray[Floats]:
    """Project finite float64 or float32 rows. The input is neither checked nor changed."""
    n, m = Y.shape
    Z = np.empty((n, m), dtype=Y.dtype)
    if m >= FEW or n < FEW_ROWS:
        by_sort = _Sort(m, n, Y.dtype)
        for at in range(0, n, by_sort.n_rows):
            part = slice(at, at + by_sort.n_rows)
            by_sort.project(Y[part], Z[part], Z[part])
        return Z
    newton = _Newton(m, n, Y.dtype)
    for at in range(0, n, newton.n_columns):
        rows = Y[at : at + newton.n_columns]
        C = newton.columns(len(rows))
        np.copyto(C, rows.T)
        newton.project(C)
        np.copyto(Z[at : at + newton.n_columns], C.T)
    return Z


def project_columns(Y: npt.NDArray[Floats], out: npt.NDArray[Floats] | None = None) -> npt.NDArray[Floats]:
    """Project every column of a finite float64 or float32 array of shape (m, b); the input is not checked.

    Parameters
    ----------
    Y : ndarray of shape (m, b)
        Anchors first, samples last. Fastest in C order.
    out : ndarray of shape (m, b) and the dtype of Y, optional
        Array for the result; it may be Y itself, which is then overwritten. By default a new array.

    Returns
    -------
    out : ndarray of shape (m, b)
        Columns >= 0 that sum to one up to rounding; entries outside the support are exactly 0.
    """
    m, b = Y.shape
    if out is None:
        out = np.empty((m, b), dtype=Y.dtype)
    if m >= FEW:
        by_sort = _Sort(m, b, Y.dtype)
        # If there is one block only, its rows can be sorted in the memory of the result.
        whole = out.flags.c_contiguous and by_sort.n_rows >= b
        S = out.reshape(b, m) if whole else np.empty((by_sort.n_rows, m), dtype=Y.dtype)
        in_place = np.may_share_memory(Y, out)
        for at in range(0, b, by_sort.n_rows):
            part = slice(at, at + by_sort.n_rows)
            rows = (Y[:, part].copy() if in_place else Y[:, part]).T
            by_sort.project(rows, out[:, part].T, S[: len(rows)])
        return out
    newton = _Newton(m, b, Y.dtype)
    # Small arrays are projected in place; parts of wider arrays are not contiguous, which doubles the time.
    in_place = newton.n_columns >= b and out.flags.c_contiguous
    for at in range(0, b, newton.n_columns):
        part = slice(at, at + newton.n_columns)
        C = out if in_place else newton.columns(min(newton.n_columns, b - at))
        if C is not Y:
            np.copyto(C, Y[:, part])
        newton.project(C)
        if not in_place:
            np.copyto(out[:, part], C)
    return out


class _Parts(NamedTuple):
    """Parts of sorted rows in which supports may end, all of the same size; the last begins early enough to be full."""

    starts: npt.NDArray[np.intp]  # number of entries that are larger than those of each part
    larger: npt.NDArray[Any]  # sorted rows times this are the sums of these entries
    places: npt.NDArray[np.intp]  # positions of the entries of the first part
    sums: npt.NDArray[Any]  # this times a part is the largest entry, the sum of the two largest, and so on
    sizes: npt.NDArray[Any]


@lru_cache(maxsize=16)
def _parts(m: int, dtype: np.dtype[Any]) -> _Parts:
    n_parts = 1 if m <= WHOLE else m // max(PART, isqrt(m))
    q = -(-m // n_parts)
    starts = np.minimum(q * np.arange(n_parts), m - q)
    return _Parts(
        starts=starts,
        larger=(np.arange(m)[:, None] >= m - starts).astype(dtype),
        places=np.arange(m - q, m)[:, None],
        sums=np.ascontiguousarray(np.tri(q, dtype=dtype)[:, ::-1]),
        sizes=np.arange(1, q + 1, dtype=dtype)[:, None],
    )


class _Sort:
    """Projection of rows by sorting, with its work arrays."""

    def __init__(self, m: int, n: int, dtype: np.dtype[Any]) -> None:
        self.n_rows = max(1, min(n, max(LEAST, SORTED // (m * dtype.itemsize))))
        self._parts = _parts(m, dtype)
        self._ones = np.ones(m, dtype=dtype)
        # An array of zeros, as a comparison with the number 0 is not vectorised.
        self._zeros = np.zeros(self.n_rows, dtype=dtype)
        self._tolerance = (4 + m**0.5 / 4) * float(np.finfo(dtype).eps)

    def project(self, rows: npt.NDArray[Any], out: npt.NDArray[Any], S: npt.NDArray[Any]) -> None:
        """Project rows; S is used to sort them. S may share the memory of out, but rows may not."""
        n, m = rows.shape
        np.copyto(S, rows)
        S.sort(axis=1)
        largest = S[:, -1].copy()
        # Entries very far below the largest may overflow to -inf: their weight is zero in any case.
        with np.errstate(over="ignore"):
            if largest.max() > LARGE or largest.min() < 0.0 or S[:, 0].min() < LOW:
                rows = rows - largest[:, None]
                S -= largest[:, None]
                np.maximum(S, -1.0, out=S)  # the threshold is never lower
            S[:, -1] -= 1.0
            t = self._thresholds(S)
            np.subtract(rows, t[:, None], out=out)
        # Long rows are faster, whatever their order.
        long = out.reshape(m, n) if out.flags.c_contiguous else out.T
        np.maximum(long, self._zeros[:n], out=long)
        excess = out[:, :SUMMED] @ self._ones[:SUMMED]
        for at in range(SUMMED, m, SUMMED):
            excess += out[:, at : at + SUMMED] @ self._ones[at : at + SUMMED]
        excess -= 1.0
        if max(excess.max(), -excess.min()) > self._tolerance:
            # The rounding of a large threshold, times the size of the support.
            wrong = np.flatnonzero(np.abs(excess) > self._tolerance)
            step = excess[wrong] / np.count_nonzero(out[wrong], axis=1)
            out[wrong] = np.maximum(rows[wrong] - t[wrong, None] - step[:, None], 0.0)

    def _thresholds(self, S: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Thresholds of sorted rows whose largest entry is one too low."""
        parts = self._parts
        q = len(parts.sizes)
        first = S[:, -q:]
        index: npt.NDArray[np.intp] | None = None
        if len(parts.starts) > 1:
            # An entry is in the support if it is above the threshold of all larger entries.
            index = np.flatnonzero(S[:, -q - 1] * q > first @ self._ones[:q])
            if 2 * len(index) > len(S):
                return self._thresholds_beyond(S)
        means = parts.sums @ first.T
        means /= parts.sizes
        t: npt.NDArray[Any] = np.maximum.reduce(means, axis=0)
        if index is not None and len(index):
            t[index] = self._thresholds_beyond(S[index])
        return t

    def _thresholds_beyond(self, S: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The same, for supports that may end in any part."""
        parts = self._parts
        n, m = S.shape
        larger = np.ascontiguousarray((S @ parts.larger).T)
        next_ones = S.T[m - 1 - parts.starts[1:]]
        next_ones *= parts.starts[1:, None]
        part = np.add.reduce(next_ones > larger[1:], axis=0, dtype=np.intp)
        start = parts.starts[part]
        each = np.arange(n)
        means: npt.NDArray[Any] = parts.sums @ S.reshape(-1).take(parts.places + (m * each - start))
        means += larger[part, each]
        means /= parts.sizes + start.astype(S.dtype)
        return np.asarray(np.maximum.reduce(means, axis=0))


class _Newton:
    """Projection of contiguous columns of few anchors in place; samples are the last axis, along memory."""

    def __init__(self, m: int, b: int, dtype: np.dtype[Any]) -> None:
        eighths = max(LEAST, BLOCK // (m * dtype.itemsize)) // 8
        # An odd number of cache lines: with a power of two, a transposition would use only a few cache sets.
        self.n_columns = max(1, min(b, 8 * (eighths | 1)))
        self._values = _aligned(m * self.n_columns, dtype)
        self._positive = np.empty(m * self.n_columns, dtype=np.bool_)
        # An array of zeros, as a comparison with the number 0 is not vectorised.
        self._zeros = np.zeros(self.n_columns, dtype=dtype)
        self._eps = float(np.finfo(dtype).eps)
        self._grid = 2.0**-16 if self._eps < 1e-10 else 2.0**-10

    def columns(self, b: int) -> npt.NDArray[Any]:
        m = self._values.size // self.n_columns
        return self._values[: m * b].reshape(m, b)

    def project(self, C: npt.NDArray[Any]) -> None:
        m = len(C)
        C -= self._bound(C)
        tolerance = (4 + m**0.5 / 4) * self._eps
        left, index = C, None
        excess = self._clip(left)
        for _ in range(m + 1):
            # A negative step would lift the zeros.
            np.maximum(excess, self._zeros[: len(excess)], out=excess)
            excess /= self._counts(left)
            left -= excess
            excess = self._clip(left)
            if excess.min() < -tolerance:
                # A long step may overshoot by roundings.
                left /= np.minimum(excess, 0.0) + 1.0
            going = np.flatnonzero(excess > tolerance)
            if not len(going):
                break
            if len(going) <= RARE * len(excess):
                if index is None:
                    index = going
                else:
                    C[:, index] = left
                    index = index[going]
                # Not left[:, going], which NumPy returns in Fortran order.
                left, excess = left.take(going, axis=1), excess[going]
        if index is not None:
            C[:, index] = left

    def _bound(self, C: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Lower bounds of the thresholds. If entries are large, C first loses the largest of each column."""
        # Entries very far below the largest may overflow to -inf: their weight is zero in any case.
        with np.errstate(over="ignore"):
            least = np.maximum.reduce(C, axis=0)
            if max(least.max(), -least.min()) > LARGE:
                C -= least
                least[:] = 0.0
            least -= 1.0
            # The threshold if all anchors were in the support.
            t = np.add.reduce(C, axis=0)
            t -= 1.0
            t /= len(C)
            np.maximum(t, least, out=t)
        # A little lower, so that no rounding puts it above the threshold, and rounded to few digits: differences from
        # it are then exact for inputs of few digits, and ties stay ties.
        t /= self._grid
        t -= 0.5
        np.floor(t, out=t)
        t *= self._grid
        return np.asarray(t)

    def _clip(self, W: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Set negative entries to zero; returns the column sums minus one."""
        np.maximum(W, self._zeros[: W.shape[1]], out=W)
        excess: npt.NDArray[Any] = np.add.reduce(W, axis=0)
        excess -= 1.0
        return excess

    def _counts(self, W: npt.NDArray[Any]) -> npt.NDArray[Any]:
        positive = self._positive[: W.size].reshape(W.shape)
        np.greater(W, self._zeros[: W.shape[1]], out=positive)
        # Sums of bytes are the fastest by far.
        return np.asarray(np.add.reduce(positive.view(np.uint8), axis=0, dtype=np.uint8))


def _aligned(size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """An array that starts at a cache line: vector instructions across two lines take twice the time."""
    raw = np.empty(size * dtype.itemsize + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size * dtype.itemsize].view(dtype)
