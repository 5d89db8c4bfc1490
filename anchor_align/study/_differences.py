"""Two arms compared repeat by repeat, in one row or in all rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import FloatArray
from ..checks import is_iterable
from ..errors import InputError, InputTypeError, shown
from ._sign_flips import DIGITS, LEVEL, SignFlips, holm, repeats_needed
from ._vocabulary import (
    BETTER,
    DEFAULT_VERSUS,
    EQUAL,
    HIGHER,
    LOWER,
    NOTHING_TO_ALIGN,
    TOO_FEW,
    UNCLEAR,
    WORSE,
)


@dataclass(frozen=True)
class Difference:
    """first - second of two arms in one score, paired by repeat.

    Attributes
    ----------
    n : int
        Number of pairs.
    mean : float
    low, high : float or None
        Interval of the mean: all differences that the test does not reject. None where there is no test, and where
        too few repeats could reject nothing.
    p : float or None
        Of the sign-flip test, two-sided, corrected for the number of rows (Holm); None where there is no test.
    outcome : str
        "better" (p <= 0.05 and first above second), "worse", "unclear" (p > 0.05), "too few" (p cannot be <= 0.05 with
        so few repeats), "higher", "lower" and "equal" (no test: both arms are the same in every repeat), or "nothing to
        align" (anchors correspond by construction).
    n_needed : int
        Number of repeats with which p can be <= 0.05.
    arms : tuple of str
        The two arms.
    unit : str
        What is paired: "repeat", or "data set" for a mean over data sets.
    """

    n: int
    mean: float
    low: float | None
    high: float | None
    p: float | None
    outcome: str
    n_needed: int = 0
    arms: tuple[str, str] = DEFAULT_VERSUS
    unit: str = "repeat"

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        first, second = self.arms
        return {
            BETTER: f"{first} better",
            WORSE: f"{second} better",
            UNCLEAR: "no clear difference",
            TOO_FEW: f"too few {self.unit}s: {self.n_needed} needed",
            HIGHER: f"{first} higher, the same in every {self.unit}",
            LOWER: f"{second} higher, the same in every {self.unit}",
            EQUAL: f"the same in every {self.unit}",
            NOTHING_TO_ALIGN: "the same, nothing to align",
        }[self.outcome]


def paired_difference(first: ArrayLike, second: ArrayLike, *, arms: tuple[str, str] = DEFAULT_VERSUS) -> Difference:
    """Compare two arms, repeat by repeat.

    Parameters
    ----------
    first, second : array-like of shape (n_repeats,)
        One score of each arm, in the same order of repeats.
    arms : tuple of str, default=("aligned", "unaligned")
        Their names, for the verdict.

    Returns
    -------
    Difference
        The mean of first - second, its 95 % interval, the two-sided p, and the verdict, all of one test.

    Notes
    -----
    The test is exact: it counts with how many choices of signs the differences have a mean that is at least as far from
    zero. The interval has all values that the same test does not reject. So p <= 0.05, an interval without zero, and
    the verdict "better" are one statement. The p cannot fall below ``2 ** (1 - n)``: fewer than six repeats cannot show
    a difference, and the verdict says so. If neither arm changes from repeat to repeat, as with a method without
    randomness, repeats add nothing and nothing is tested. See :doc:`/verdicts`.

    Examples
    --------
    >>> from anchor_align.study import paired_difference
    >>> aligned, unaligned = [0.80, 0.85, 0.83, 0.90, 0.82, 0.86], [0.70, 0.72, 0.75, 0.71, 0.80, 0.74]
    >>> found = paired_difference(aligned, unaligned)
    >>> print(f"{found.mean:.3f} in [{found.low:.3f}, {found.high:.3f}], p = {found.p}, n = {found.n}: {found.verdict}")
    0.107 in [0.020, 0.190], p = 0.03125, n = 6: aligned better
    """
    return compare_rows([(first, second)], arms)[0]


def compare_rows(
    rows: Sequence[tuple[ArrayLike, ArrayLike]], arms: tuple[str, str] = DEFAULT_VERSUS, *, of_data_sets: bool = False
) -> list[Difference]:
    """Compare two arms in every row of a table; p and intervals are corrected for the number of tests (Holm).

    Parameters
    ----------
    rows : sequence of (first, second)
        Scores of both arms, each array-like of shape (n_repeats,), in the same order of repeats.
    arms : tuple of str, default=("aligned", "unaligned")
        Their names, for the verdicts.
    of_data_sets : bool, default=False
        Whether the scores of a row are those of data sets, not of repeats.

    Returns
    -------
    list of Difference
        As :func:`paired_difference`, one for each row.

    Examples
    --------
    >>> from anchor_align.study import compare_rows
    >>> better, worse = [0.80, 0.85, 0.83, 0.90, 0.82, 0.86, 0.91], [0.70, 0.72, 0.75, 0.71, 0.80, 0.74, 0.70]
    >>> [found.verdict for found in compare_rows([(better, worse), (worse, worse[::-1])])]
    ['aligned better', 'no clear difference']
    """
    unit = "data set" if of_data_sets else "repeat"
    scores = [_checked(first, second) for first, second in rows]
    differences = [np.round(first - second, DIGITS) for first, second in scores]
    tested = [at for at, pair in enumerate(scores) if _is_tested(*pair, of_data_sets)]
    tests = [SignFlips.of(differences[at], len(tested)) for at in tested]
    corrected = dict(zip(tested, zip(tests, holm([test.p for test in tests]), strict=True), strict=True))
    found = []
    for at, each in enumerate(differences):
        n, mean = each.size, float(each.mean())
        if at not in corrected:
            outcome = HIGHER if mean > 0 else LOWER if mean < 0 else EQUAL
            found.append(Difference(n, mean, None, None, None, outcome, arms=arms, unit=unit))
            continue
        test, (p, divisor) = corrected[at]
        low, high = test.interval(LEVEL / divisor) or (None, None)
        outcome = UNCLEAR
        if p <= LEVEL:
            outcome = BETTER if mean > 0 else WORSE
        elif n < repeats_needed(divisor):
            outcome = TOO_FEW
        found.append(Difference(n, mean, low, high, p, outcome, repeats_needed(divisor), arms, unit))
    return found


def check_versus(versus: Any) -> tuple[tuple[str, str], ...]:
    """Pairs of arms, each as two names or as "first:second"."""
    if not isinstance(versus, str) and not is_iterable(versus):
        raise InputTypeError(f"versus must be 'first:second' or a list of such pairs of arms, got {shown(versus)}.")
    listed = [versus] if isinstance(versus, str) else list(versus)
    pairs: list[tuple[str, str]] = []
    for each in listed:
        arms = tuple(each.split(":")) if isinstance(each, str) else tuple(each) if is_iterable(each) else ()
        if len(arms) != 2 or not all(isinstance(arm, str) and arm for arm in arms) or arms[0] == arms[1]:
            raise InputError(f"Expected two different arms to compare, as in 'aligned:unaligned', got {shown(each)}.")
        if arms not in pairs:
            pairs.append((arms[0], arms[1]))
    if not pairs:
        raise InputError("Got no arms to compare; expected one pair or more, as in 'aligned:unaligned'.")
    return tuple(pairs)


def _checked(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    try:
        a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputTypeError(
            f"Paired scores must be two lists of numbers, got {shown(first)} and {shown(second)}."
        ) from error
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise InputError(f"Paired scores must be two lists of one length >= 1; got shapes {a.shape} and {b.shape}.")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("Paired scores must be finite.")
    return a, b


def _is_tested(first: FloatArray, second: FloatArray, of_data_sets: bool) -> bool:
    """Whether there is something to test: not if the arms are equal, or if each is the same in several repeats."""
    if not np.round(first - second, DIGITS).any():
        return False
    changes = any(np.ptp(np.round(each, DIGITS)) > 0 for each in (first, second))
    return of_data_sets or first.size == 1 or changes
