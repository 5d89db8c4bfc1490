"""Euclidean projection of rows, or of columns, on the simplex.

The projection of y is max(y - t, 0) with the threshold t at which f(t) = sum(max(y - t, 0)) - 1 is zero. f is convex
and piecewise linear, so Newton's method from a lower bound rises to t and ends after finitely many steps. Dropping
entries lowers f, so the threshold of some of them, such as the largest of each group of eight, is a lower bound too.

Samples are the last axis here, as every operation then runs along memory; rows come in transposed. To sort them instead
is faster for a handful of rows only: the sort itself is fast, but not what has to follow it along rows of few anchors.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Floats = TypeVar("Floats", np.float64, np.float32)

# Bytes that are worked on together, which stay in the cache of a core.
BLOCK = 2**19
# Least number of samples in a block, and least number of rows that are worth transposing.
LEAST = 64
# Anchors up to which the mean is a good enough first bound; anchors in a group beyond.
FEW, GROUP = 16, 8
# Share of the columns below which those that have not ended go on alone; copying a column costs two steps.
RARE = 0.4
# Anchors that are summed one after the other; the roundings of more would add up.
SUMMED = 64
# Entries beyond this are taken relative to the largest of their column first, so that 1 is not lost beside them.
LARGE = 8.0


def project_rows(Y: npt.NDArray[Floats]) -> npt.NDArray[Floats]:
    """Project finite float64 or float32 rows; the input is neither checked nor changed."""
    n, m = Y.shape
    if n < LEAST:
        return _project_sorted(Y)
    Z = np.empty((n, m), dtype=Y.dtype)
    work = _Work(m, n, Y.dtype)
    for at in range(0, n, work.n_columns):
        rows = Y[at : at + work.n_columns]
        C = work.columns(len(rows))
        np.copyto(C, rows.T)
        work.project(C)
        np.copyto(Z[at : at + work.n_columns], C.T)
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
    work = _Work(m, b, Y.dtype)
    # What fits is projected where it is; the parts of wider arrays are not contiguous, which doubles the time.
    in_place = work.n_columns >= b and out.flags.c_contiguous
    for at in range(0, b, work.n_columns):
        part = slice(at, at + work.n_columns)
        C = out if in_place else work.columns(min(work.n_columns, b - at))
        if C is not Y:
            np.copyto(C, Y[:, part])
        work.project(C)
        if not in_place:
            np.copyto(out[:, part], C)
    return out


class _Work:
    """Projection of contiguous columns in place, with the arrays that it needs."""

    def __init__(self, m: int, b: int, dtype: np.dtype[Any]) -> None:
        eighths = max(LEAST, BLOCK // (m * dtype.itemsize)) // 8
        # Rows of an odd number of cache lines: with a power of two, transposing would use a few cache sets only.
        self.n_columns = max(1, min(b, 8 * (eighths | 1)))
        self._values = _aligned(m * self.n_columns, dtype)
        self._groups = _aligned((m // 4 + FEW) * self.n_columns, dtype)
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
        b = C.shape[1]
        levels = self._levels(C)
        # What lies very far below the largest entry may overflow to -inf: it gets zero in any case.
        with np.errstate(over="ignore"):
            t = np.maximum.reduce(levels[-1], axis=0)
            if max(t.max(), -t.min()) > LARGE:
                for level in levels:
                    level -= t
                t[:] = 0.0
            t -= 1.0
            t = _mean_bound(levels[-1], t)
            for at in range(len(levels) - 1, 0, -1):
                largest, step = levels[at], t
                for _ in range(2):
                    largest -= step
                    step = self._clip(largest)
                    counts = self._counts(largest)
                    step /= counts
                    t = t + step
                # Where most groups count, most entries may: then their mean says more than the largest of each group.
                if 2 * np.count_nonzero(counts > len(largest) // 2) > b:
                    t = _mean_bound(levels[at - 1], t)
        # A little lower, where no rounding puts it above the threshold, and at a number of few digits: differences to
        # it are then exact for inputs of few digits, and ties stay ties.
        t /= self._grid
        t -= 0.5
        np.floor(t, out=t)
        t *= self._grid
        return np.asarray(t)

    def _levels(self, C: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """C, the largest entries of groups of its anchors, the largest of groups of those, and so on."""
        levels, free = [C], self._groups
        while len(levels[-1]) >= FEW:
            finer = levels[-1]
            m, b = finer.shape
            g = -(-m // GROUP)
            largest, free = free[: g * b].reshape(g, b), free[g * b :]
            np.maximum(finer[:g], finer[g : 2 * g], out=largest)
            for at in range(2 * g, m, g):
                size = min(g, m - at)
                np.maximum(largest[:size], finer[at : at + size], out=largest[:size])
            levels.append(largest)
        return levels

    def _clip(self, W: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Set what is negative to zero; the sums of the columns, less one."""
        np.maximum(W, self._zeros[: W.shape[1]], out=W)
        excess: npt.NDArray[Any] = np.add.reduce(W[:SUMMED], axis=0)
        for at in range(SUMMED, len(W), SUMMED):
            excess += np.add.reduce(W[at : at + SUMMED], axis=0)
        excess -= 1.0
        return excess

    def _counts(self, W: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Number of positive entries of each column."""
        positive = self._positive[: W.size].reshape(W.shape)
        np.greater(W, self._zeros[: W.shape[1]], out=positive)
        ones = positive.view(np.uint8)
        # Sums of bytes are the fastest by far and hold up to 255.
        counts: npt.NDArray[Any] = np.add.reduce(ones[:255], axis=0, dtype=np.uint8)
        if len(W) > 255:
            counts = counts.astype(W.dtype)
            for at in range(255, len(W), 255):
                counts += np.add.reduce(ones[at : at + 255], axis=0, dtype=np.uint8)
        return counts


def _mean_bound(C: npt.NDArray[Any], least: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The threshold if all anchors were in the support, or ``least``."""
    t = np.add.reduce(C, axis=0)
    t -= 1.0
    t /= len(C)
    np.maximum(t, least, out=t)
    return np.asarray(t)


def _aligned(size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """An array that starts with a cache line: vector instructions across two lines take twice the time."""
    raw = np.empty(size * dtype.itemsize + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size * dtype.itemsize].view(dtype)


def _project_sorted(Y: npt.NDArray[Floats]) -> npt.NDArray[Floats]:
    """Project rows by sorting them."""
    n, m = Y.shape
    # The threshold is never more than one below the largest entry: what lies lower gets zero and may be raised to
    # there. Rows then hold numbers from -1 to 0, whatever they held before.
    with np.errstate(over="ignore"):
        Z = Y - Y.max(axis=1, keepdims=True)
    np.maximum(Z, -1.0, out=Z)
    descending = np.sort(Z, axis=1)[:, ::-1]
    excess = np.cumsum(descending, axis=1)
    excess -= 1.0
    kept = np.count_nonzero(descending * np.arange(1, m + 1) > excess, axis=1)
    Z -= (excess[np.arange(n), kept - 1] / kept)[:, None]
    np.maximum(Z, 0.0, out=Z)
    Z /= Z.sum(axis=1, keepdims=True)
    return np.asarray(Z, dtype=Y.dtype)
