"""Checks of parameters, also for adapters. Each failure is one clear sentence."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .errors import FileError, InputError, InputTypeError, shown, unknown_name

# More repeats of a fit than this would never end.
MOST_REPEATS = 1_000_000
# More samples than this cannot be drawn at random in memory.
MOST_SAMPLES = 2**31 - 1


def check_whole_number(what: str, got: object, *, least: int = 0, most: int | None = None) -> int:
    """Whole number that is not below ``least`` and not above ``most``.

    Examples
    --------
    >>> check_whole_number("n_init", 0, least=1)
    Traceback (most recent call last):
    anchor_align.errors.InputError: n_init must be a whole number >= 1, got 0.
    """
    if isinstance(got, (bool, np.bool_)) or not isinstance(got, numbers.Integral):
        raise InputTypeError(f"{what} must be a whole number >= {least}, got {shown(got)} ({type(got).__name__}).")
    if got < least:
        raise InputError(f"{what} must be a whole number >= {least}, got {shown(int(got))}.")
    if most is not None and int(got) > most:
        raise InputError(f"{what} must be at most {most:,}, got {shown(int(got))}.")
    return int(got)


def check_number(what: str, got: object, *, least: float = 0.0) -> float:
    """Finite number that is not below ``least``.

    Examples
    --------
    >>> check_number("alpha", -1)
    Traceback (most recent call last):
    anchor_align.errors.InputError: alpha must be a finite number >= 0, got -1.
    """
    expected = "a finite number" if least == -math.inf else f"a finite number >= {least:g}"
    if isinstance(got, (bool, np.bool_)) or not isinstance(got, numbers.Real):
        raise InputTypeError(f"{what} must be {expected}, got {shown(got)} ({type(got).__name__}).")
    try:
        value = float(got)
    except OverflowError:
        value = math.inf
    if not (math.isfinite(value) and value >= least):
        raise InputError(f"{what} must be {expected}, got {shown(got if isinstance(got, int) else value)}.")
    return value


def check_flag(what: str, got: object) -> bool:
    """True or False.

    Examples
    --------
    >>> check_flag("orthogonal", "no")
    Traceback (most recent call last):
    anchor_align.errors.InputTypeError: orthogonal must be True or False, got 'no'.
    """
    if not isinstance(got, (bool, np.bool_)):
        raise InputTypeError(f"{what} must be True or False, got {shown(got)}.")
    return bool(got)


def check_choice(what: str, got: object, known: Sequence[str]) -> str:
    """One of the known names."""
    if not isinstance(got, str) or got not in known:
        raise unknown_name(what, got, known)
    return got


def check_not_empty(path: str | bytes | os.PathLike[Any]) -> None:
    """Refuse an empty path: for the system it is the current folder, and for users it is a mistake."""
    if not os.fspath(path):
        raise FileError("Got an empty path; expected the name of a file or folder.")


def check_callback(callback: object) -> None:
    """A callable, or None."""
    if callback is not None and not callable(callback):
        raise InputTypeError(f"callback must be callable or None, got {shown(callback)}.")


def is_iterable(got: object) -> bool:
    """Whether ``for`` can go over it. An array without dimensions has the method, but raises.

    Examples
    --------
    >>> is_iterable([4, 5]), is_iterable(np.array(4))
    (True, False)
    """
    return isinstance(got, Iterable) and not (isinstance(got, np.ndarray) and got.ndim == 0)


def check_seed(random_state: object) -> int:
    """The seed of all random choices, as one number."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, (bool, np.bool_)):
        if random_state < 0:
            raise InputError(f"random_state must be >= 0, got {shown(int(random_state))}.")
        seed = int(random_state)
        # scikit-learn accepts seeds of at most 32 bits.
        return seed if seed < 2**32 else int(np.random.SeedSequence(seed).generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    raise InputTypeError(
        "random_state must be a whole number >= 0, a numpy Generator or RandomState, or None, got "
        f"{shown(random_state)}."
    )
