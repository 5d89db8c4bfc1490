"""Euclidean projection of rows, or of columns, on the simplex.

The projection of y is max(y - t, 0) with the threshold t at which f(t) = sum(max(y - t, 0)) - 1 is zero. If the support
were the k largest entries, t would be (their sum - 1) / k; the threshold is the largest of these numbers over k.

Rows of many anchors are sorted, which NumPy does in the time of a few plain passes over them. Sums of all of the first
entries would take longer than the sort, so that they are taken only in the part of the row where the support ends. Few
anchors are not worth a sort: f is convex and piecewise linear, so Newton's method from a lower bound rises to t and
ends after finitely many steps.
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Floats = TypeVar("Floats", np.float64, np.float32)

# Bytes that are worked on together: what Newton's method goes over many times stays in the cache of a core.
SORTED, BLOCK = 2**20, 2**19
# Least number of samples in a block.
LEAST = 64
# Anchors from which rows are sorted, and number of rows up to which they are in any case: fewer calls of NumPy.
FEW, FEW_ROWS = 16, 500
# Least number of sorted entries in a part; rows of up to WHOLE anchors are one part.
PART, WHOLE = 12, 24
# Anchors that are summed one after the other; the roundings of more would add up.
SUMMED = 64
# Share of the columns below which those that have not ended go on alone; copying a column costs two steps.
RARE = 0.4
# Entries are taken relative to the largest first where that is beyond this, so that 1 is not lost beside it, or
# negative, so that it minus 1 is exact. Also where an entry is so low that sums might overflow.
LARGE, LOW = 8.0, -(2.0**60)


def project_rows(Y: npt.NDArray[Floats]) -> npt.NDArray[Floats]:
    """Project finite float64 or float32 rows; the input is neither checked nor changed."""
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
        Where the result goes; may be Y itself, which is then overwritten. By default a new array.

    Returns
    -------
    out : ndarray of shape (m, b)
        Columns >= 0 that sum to one up to a few roundings; entries outside the support are exactly 0.
    """
    m, b = Y.shape
    if out is None:
        out = np.empty((m, b), dtype=Y.dtype)
    if m >= FEW:
        by_sort = _Sort(m, b, Y.dtype)
        # The result may be used for the sort if it takes one block only.
        whole = out.flags.c_contiguous and by_sort.n_rows >= b
        S = out.reshape(b, m) if whole else np.empty((by_sort.n_rows, m), dtype=Y.dtype)
        in_place = np.may_share_memory(Y, out)
        for at in range(0, b, by_sort.n_rows):
            part = slice(at, at + by_sort.n_rows)
            rows = (Y[:, part].copy() if in_place else Y[:, part]).T
            by_sort.project(rows, out[:, part].T, S[: len(rows)])
        return out
    newton = _Newton(m, b, Y.dtype)
    # What fits is projected where it is; the parts of wider arrays are not contiguous, which doubles the time.
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

    # Number of entries that are larger than those of each part.
    starts: npt.NDArray[np.intp]
    # Sorted rows times this are the sums of these entries.
    larger: npt.NDArray[Any]
    # Where the entries of a part are if none is larger.
    places: npt.NDArray[np.intp]
    # This times a part is the largest entry, the sum of the two largest, and so on.
    sums: npt.NDArray[Any]
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
    """Projection of rows by sorting them, with the arrays that it needs."""

    def __init__(self, m: int, n: int, dtype: np.dtype[Any]) -> None:
        self.n_rows = max(1, min(n, max(LEAST, SORTED // (m * dtype.itemsize))))
        self._parts = _parts(m, dtype)
        self._ones = np.ones(m, dtype=dtype)
        # An array of zeros, as a comparison with the number 0 is not vectorised.
        self._zeros = np.zeros(self.n_rows, dtype=dtype)
        self._tolerance = (4 + m**0.5 / 4) * float(np.finfo(dtype).eps)

    def project(self, rows: npt.NDArray[Any], out: npt.NDArray[Any], S: npt.NDArray[Any]) -> None:
        """Project rows, which are sorted in S; S may share the memory of out, but rows may not."""
        n, m = rows.shape
        np.copyto(S, rows)
        S.sort(axis=1)
        largest = S[:, -1].copy()
        # What lies very far below the largest entry may overflow to -inf: it gets zero in any case.
        with np.errstate(over="ignore"):
            if largest.max() > LARGE or largest.min() < 0.0 or S[:, 0].min() < LOW:
                rows = rows - largest[:, None]
                S -= largest[:, None]
                # The threshold is never lower than that.
                np.maximum(S, -1.0, out=S)
            S[:, -1] -= 1.0
            t = self._thresholds(S)
            np.subtract(rows, t[:, None], out=out)
        # Long rows are faster, whatever they hold.
        long = out.reshape(m, n) if out.flags.c_contiguous else out.T
        np.maximum(long, self._zeros[:n], out=long)
        excess = out[:, :SUMMED] @ self._ones[:SUMMED]
        for at in range(SUMMED, m, SUMMED):
            excess += out[:, at : at + SUMMED] @ self._ones[at : at + SUMMED]
        excess -= 1.0
        if max(excess.max(), -excess.min()) > self._tolerance:
            # Roundings of a threshold that is not small, times the size of the support.
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
            # An entry is in the support if it is above the threshold of all that are larger.
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
    """Projection of contiguous columns of few anchors in place, with the arrays that it needs.

    Samples are the last axis, as every operation then runs along memory; rows come in transposed.
    """

    def __init__(self, m: int, b: int, dtype: np.dtype[Any]) -> None:
        eighths = max(LEAST, BLOCK // (m * dtype.itemsize)) // 8
        # Rows of an odd number of cache lines: with a power of two, transposing would use a few cache sets only.
        self.n_columns = max(1, min(b, 8 * (eighths | 1)))
        self._values = _aligned(m * self.n_columns, dtype)
        self._positive = np.empty(m * self.n_columns, dtype=np.bool_)
        # An array of zeros, as a comparison with the number 0 is not vectorised.
        self._zeros = np.zeros(self.n_columns, dtype=dtype)
        self._eps = float(np.finfo(dtype).eps)
        self._grid = 2.0**-16 if self._eps < 1e-10 else 2.0**-10

    def columns(self, b: int) -> npt.NDArray[Any]:
        """An array for b columns, to fill and project."""
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
        """Lower bounds of the thresholds; where entries are large, C is first taken relative to the largest."""
        # What lies very far below the largest entry may overflow to -inf: it gets zero in any case.
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
        # A little lower, where no rounding puts it above the threshold, and at a number of few digits: differences to
        # it are then exact for inputs of few digits, and ties stay ties.
        t /= self._grid
        t -= 0.5
        np.floor(t, out=t)
        t *= self._grid
        return np.asarray(t)

    def _clip(self, W: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Set what is negative to zero; the sums of the columns, less one."""
        np.maximum(W, self._zeros[: W.shape[1]], out=W)
        excess: npt.NDArray[Any] = np.add.reduce(W, axis=0)
        excess -= 1.0
        return excess

    def _counts(self, W: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Number of positive entries of each column."""
        positive = self._positive[: W.size].reshape(W.shape)
        np.greater(W, self._zeros[: W.shape[1]], out=positive)
        # Sums of bytes are the fastest by far.
        return np.asarray(np.add.reduce(positive.view(np.uint8), axis=0, dtype=np.uint8))


def _aligned(size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """An array that starts with a cache line: vector instructions across two lines take twice the time."""
    raw = np.empty(size * dtype.itemsize + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size * dtype.itemsize].view(dtype)
