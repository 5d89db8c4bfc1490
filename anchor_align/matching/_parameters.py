"""Checks of the parameters of an alignment: lam, the reference, known correspondences."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import FloatArray, IndexArray, is_sparse
from ..checks import check_choice, is_iterable
from ..errors import InputError, InputTypeError, shown


def check_lam(lam: object) -> float:
    """Weight of the structure term: a number >= 0, or infinity."""
    if isinstance(lam, (bool, np.bool_)) or not isinstance(lam, numbers.Real):
        raise InputTypeError(f"lam must be a number >= 0 or infinity, got {shown(lam)} ({type(lam).__name__}).")
    try:
        value = float(lam)
    except OverflowError:
        raise InputError("lam is larger than a float can hold; use math.inf for the structure term alone.") from None
    if math.isnan(value) or value < 0:
        raise InputError(f"lam must be a number >= 0 or infinity, got {value}.")
    return value


def check_reference(reference: object, n_views: int, names: Sequence[str] = ()) -> int | str:
    """Index of the reference view, "auto" or "consensus"; ``names`` of the views are accepted, too."""
    if isinstance(reference, numbers.Integral) and not isinstance(reference, (bool, np.bool_)):
        view = int(reference)
        if not 0 <= view < n_views:
            raise InputError(f"reference {shown(view)} is out of range: there are views 0 to {n_views - 1}.")
        return view
    if isinstance(reference, str):
        known = check_choice("reference", reference, ("auto", "consensus", *names))
        return known if known in ("auto", "consensus") else list(names).index(known)
    raise InputTypeError(f"reference must be a view's index, 'auto' or 'consensus', got {shown(reference)}.")


def check_seeds(seeds: object, sizes: Sequence[int]) -> IndexArray:
    """Known correspondences as an array of shape (n_seeds, n_views); -1 where the anchor of a view is not known."""
    n_views = len(sizes)
    if seeds is None:
        return np.empty((0, n_views), dtype=np.intp)
    try:
        table = np.asarray(seeds)
    except ValueError as error:
        raise InputError(f"seeds must have one column per view ({n_views}): {error}.") from error
    if table.size == 0:
        return np.empty((0, n_views), dtype=np.intp)
    if table.dtype.kind not in "iu":
        raise InputTypeError(f"seeds must be anchor indices (whole numbers), got dtype {table.dtype}.")
    if table.ndim != 2 or table.shape[1] != n_views:
        raise InputError(f"seeds must have one column per view ({n_views}), got shape {table.shape}.")
    for view, (column, n_anchors) in enumerate(zip(table.T, sizes, strict=True)):
        known = column[column != -1]
        outside = known[(known < 0) | (known >= n_anchors)]
        if outside.size:
            raise InputError(f"seeds name anchor {outside[0]} of view {view}, which has anchors 0 to {n_anchors - 1}.")
        anchors, counts = np.unique(known, return_counts=True)
        if (counts > 1).any():
            raise InputError(f"seeds name anchor {anchors[counts > 1][0]} of view {view} more than once.")
    return table.astype(np.intp)


def _real_array(given: Any) -> FloatArray | None:
    """The numbers in double precision; None for what is no array of real numbers."""
    if is_sparse(given):
        return None
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):  # rows of different lengths
        return None
    with np.errstate(over="ignore"):  # infinity is refused later
        return found.astype(np.float64) if found.dtype.kind in "biuf" else None


def check_profiles(profiles: Any, sizes: Sequence[int]) -> list[FloatArray]:
    """Weights of each view's anchors in the same groups of samples, with columns of zeros up to the largest size."""
    if isinstance(profiles, (str, Mapping)) or not is_iterable(profiles):
        raise InputTypeError(f"profiles must be a list with one array for each view, got {shown(profiles)}.")
    given = list(profiles)
    if len(given) != len(sizes):
        raise InputError(f"Got profiles of {len(given)} views; there are {len(sizes)}.")
    found: list[FloatArray] = []
    for view, (each, size) in enumerate(zip(given, sizes, strict=True)):
        F = _real_array(each)
        if F is None:
            raise InputTypeError(f"The profiles of view {view} must be an array of real numbers, got {shown(each)}.")
        n_groups = len(found[0]) if found else None
        if F.ndim != 2 or F.shape[1] != size or (n_groups is not None and len(F) != n_groups):
            expected = f"({'n_groups' if n_groups is None else n_groups}, {size})"
            raise InputError(f"The profiles of view {view} have shape {F.shape}; expected {expected}.")
        if not np.isfinite(F).all():
            raise InputError(f"The profiles of view {view} have NaN or infinity.")
        found.append(np.pad(F, ((0, 0), (0, max(sizes) - size))))
    return found
