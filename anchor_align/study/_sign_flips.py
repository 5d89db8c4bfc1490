"""The test of a study: random signs of paired differences; the interval that belongs to it, and Holm's correction.

If two arms do not differ, each of the n differences is as likely to be positive as negative, whatever its size. The
test flips signs and counts how often the sum is at least as far from zero as the sum that was found. Flipping a set of
repeats raises the sum if and only if the mean of their differences is below zero. So the means of all sets of repeats
give the p, and, sorted, the ends of the interval (Hartigan's typical values). The estimate is the mean, which is the
difference of the means in the table of scores. A difference of zero keeps its sign and needs no rule of its own.

For many repeats the sets are a group of ``2 ** BITS`` sets (each two differ by a third one), for which test and
interval are as exact as for all sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IndexArray

LEVEL = 0.05
BITS = 12
# Scores are between -1 and 1: digits beyond these come from the order of additions, not from the data.
DIGITS = 12
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class SignFlips:
    """Sorted means of the differences in every set of repeats, the empty set left out."""

    means: FloatArray

    @classmethod
    def of(cls, differences: npt.ArrayLike, n_rows: int = 1) -> SignFlips:
        """Means for the test of one row among ``n_rows``: more rows need more sets."""
        values: FloatArray = np.asarray(differences, dtype=np.float64)
        bits = min(values.size, max(BITS, repeats_needed(n_rows) + 2))
        codes, sizes = _sets(values.size, bits)
        flipped = values.sum() - _signed_sums(values, codes, bits)
        return cls(np.sort(flipped[1:] / (2 * sizes[1:])))

    @property
    def p(self) -> float:
        """Two-sided p."""
        below = int(np.searchsorted(self.means, ROUNDING, side="right"))
        above = self.means.size - int(np.searchsorted(self.means, -ROUNDING, side="left"))
        return min(1.0, 2 * (1 + min(below, above)) / (self.means.size + 1))

    def interval(self, level: float = LEVEL) -> tuple[float, float] | None:
        """All differences that the test does not reject at this level; None if it can reject none.

        The interval leaves out zero if and only if p <= level.
        """
        left_out = int(level / 2 * (self.means.size + 1))
        if left_out == 0:
            return None
        return float(self.means[left_out - 1]), float(self.means[-left_out])


def repeats_needed(n_rows: int = 1) -> int:
    """Fewest repeats with which the test can find a difference in one of ``n_rows`` rows.

    Examples
    --------
    >>> [repeats_needed(n_rows) for n_rows in (1, 3, 20)]
    [6, 7, 10]
    """
    n = 1
    while 2.0 ** (1 - n) * n_rows > LEVEL:
        n += 1
    return n


def holm(ps: Sequence[float]) -> list[tuple[float, int]]:
    """Holm's correction: for every p the corrected one, and by what the level of its test is divided.

    A corrected p is at most ``LEVEL`` if and only if the p is at most ``LEVEL`` divided by that number. Tests go from
    the smallest p up; equal ones have the level of the first of them, whatever their order, and those after the first
    that finds nothing have its level.

    Examples
    --------
    >>> holm([0.04, 0.001, 0.03])
    [(0.06, 2), (0.003, 3), (0.06, 2)]
    >>> holm([0.001, 0.001])
    [(0.002, 2), (0.002, 2)]
    """
    largest, divisor, corrected = 0.0, 0, {}
    for n_left, p in zip(range(len(ps), 0, -1), sorted(ps), strict=True):
        if p in corrected:
            continue
        if largest <= LEVEL:
            divisor = n_left
        largest = max(largest, min(1.0, n_left * p))
        corrected[p] = largest, divisor
    return [corrected[p] for p in ps]


@lru_cache(maxsize=64)
def _sets(n: int, bits: int) -> tuple[IndexArray, FloatArray]:
    """Code of each repeat, and the size of each set: set g has the repeats whose codes share an odd number of bits."""
    single = 2 ** np.arange(bits)
    # The codes are fixed: the same scores give the same p. Different codes, so that no two repeats go together.
    others = np.random.default_rng(0).permutation(np.setdiff1d(np.arange(1, 2**bits), single))
    codes = np.concatenate([single, np.resize(others, n - bits)]) if n > bits else single[:n]
    return codes, (n - _signed_sums(np.ones(n), codes, bits)) / 2


def _signed_sums(values: FloatArray, codes: IndexArray, bits: int) -> FloatArray:
    """Sum of the values for every set, with the signs of those in the set turned round (Walsh-Hadamard transform)."""
    sums = np.zeros(2**bits)
    np.add.at(sums, codes, values)
    for bit in range(bits):
        kept, turned = np.moveaxis(sums.reshape(-1, 2, 2**bit), 1, 0)
        sums = np.stack([kept + turned, kept - turned], axis=1).ravel()
    return sums
