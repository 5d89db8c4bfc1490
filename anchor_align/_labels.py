"""Labels as users hand them over, turned into group numbers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._parts import joined, parts_of
from ._types import IndexArray
from .errors import InputError, InputTypeError

# Labels as users hand them over: list, tuple, ndarray, Series, Categorical.
Labels: TypeAlias = Any

LABEL_KINDS = "labels must be whole numbers, text or booleans"
GOOD_KINDS = ("number", "text", "bytes")
FLOAT_INTEGERS = 2**53
# Labels that are sorted at once to see which appear first.
PIECE = 2**16


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


def number_by_appearance(labels: npt.NDArray[Any]) -> tuple[IndexArray, int]:
    """Whole-number labels renumbered in the order in which they first appear, and how many there are.

    Examples
    --------
    >>> number_by_appearance(np.array([7, 7, -1, 7, 3]))
    (array([0, 0, 1, 0, 2]), 3)
    """
    parts = parts_of(labels).keep()
    numbers = {label: number for number, label in enumerate(dict.fromkeys(parts.total(_by_appearance)))}
    return joined(parts.map(_renumbered, numbers).keep(), np.empty(0, dtype=np.intp)), len(numbers)


def _by_appearance(labels: npt.NDArray[Any]) -> list[int]:
    """Different labels in the order in which they first appear."""
    order: dict[int, None] = {}
    # Piece by piece: nothing here is as long as the labels.
    for start in range(0, len(labels), PIECE):
        found, at = np.unique(labels[start : start + PIECE], return_index=True)
        order.update(dict.fromkeys(found[np.argsort(at)].tolist()))
    return list(order)


def _renumbered(labels: npt.NDArray[Any], numbers: dict[int, int]) -> IndexArray:
    renumbered = np.empty(len(labels), dtype=np.intp)
    for start in range(0, len(labels), PIECE):
        found, codes = np.unique(labels[start : start + PIECE], return_inverse=True)
        renumbered[start : start + PIECE] = np.array([numbers[label] for label in found.tolist()])[codes]
    return renumbered


def first_places(codes: npt.NDArray[Any], n_groups: int) -> IndexArray:
    """Where each group, numbered from 0, appears first; the number of codes for groups that do not."""
    first = np.full(n_groups, len(codes))
    for start in range(0, len(codes), PIECE):
        found, at = np.unique(codes[start : start + PIECE], return_index=True)
        first[found] = np.minimum(first[found], start + at)
        if first.max() < len(codes):
            break
    return first


def _empty(name: str) -> InputError:
    return InputError(f"{name} is empty; expected one label per sample.")


def _whole_floats(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Whole numbers as integers; as they are where integers of 64 bits may not hold them."""
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
    """Python values, equal ones in one group; NumPy would turn [1, "1"] or ["a", nan] into text."""
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
