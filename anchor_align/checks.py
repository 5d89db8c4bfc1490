"""Checks of parameters, for adapters too: one clear sentence each."""

from __future__ import annotations

import math
import numbers

import numpy as np

from .errors import InputError, InputTypeError


def check_whole_number(what: str, got: object, *, least: int = 0) -> int:
    """Whole number that is not below ``least``.

    Examples
    --------
    >>> check_whole_number("n_init", 0, least=1)
    Traceback (most recent call last):
    anchor_align.errors.InputError: n_init must be a whole number >= 1, got 0.
    """
    if isinstance(got, (bool, np.bool_)) or not isinstance(got, numbers.Integral):
        raise InputTypeError(f"{what} must be a whole number >= {least}, got {got!r} ({type(got).__name__}).")
    if got < least:
        raise InputError(f"{what} must be a whole number >= {least}, got {got}.")
    return int(got)


def check_number(what: str, got: object, *, least: float = 0.0) -> float:
    """Finite number that is not below ``least``.

    Examples
    --------
    >>> check_number("alpha", -1)
    Traceback (most recent call last):
    anchor_align.errors.InputError: alpha must be a finite number >= 0, got -1.
    """
    if isinstance(got, (bool, np.bool_)) or not isinstance(got, numbers.Real):
        raise InputTypeError(f"{what} must be a finite number >= {least:g}, got {got!r} ({type(got).__name__}).")
    try:
        value = float(got)
    except OverflowError:
        value = math.inf
    if not (math.isfinite(value) and value >= least):
        raise InputError(f"{what} must be a finite number >= {least:g}, got {got}.")
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
        raise InputTypeError(f"{what} must be True or False, got {got!r}.")
    return bool(got)
