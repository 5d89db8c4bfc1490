"""Labels, numbered in the order of their first appearance."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import IndexArray
from ._engines import parts_of


def number_by_appearance(labels: npt.NDArray[Any]) -> tuple[IndexArray, int]:
    """Whole-number labels, renumbered in the order of their first appearance, and their number.

    Examples
    --------
    >>> number_by_appearance(np.array([7, 7, -1, 7, 3]))
    (array([0, 0, 1, 0, 2]), 3)
    """
    parts = parts_of(labels).keep()
    numbers = {label: number for number, label in enumerate(dict.fromkeys(parts.total(_by_appearance)))}
    return parts.map(_renumbered, numbers).keep().joined(np.empty(0, dtype=np.intp)), len(numbers)


def _by_appearance(labels: npt.NDArray[Any]) -> list[int]:
    order: dict[int, None] = {}
    # In pieces, so that no array is as long as the labels.
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


PIECE = 2**16  # labels that are sorted at once to see which appear first
