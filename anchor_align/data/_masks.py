"""Which view has which sample, from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .._observed import BoolArray
from .._types import is_sparse
from ..errors import InputError
from ._entries import Entry, flatten, reading
from ._source import file_kind, open_source

# A file may hold other things beside it: the graphs, for example.
_NAMES = ("mask", "observed")


def read_mask(path: str) -> BoolArray:
    """Read a mask, views x samples: true or false, or the numbers 1 and 0.

    The file holds this array alone, or under the name ``mask`` or ``observed``.
    """
    place = Path(path)
    with reading(place):
        if place.is_dir() or not file_kind(place):
            raise InputError(f"{place} is not a .npy, .npz, .mat or .csv file, which could hold the mask.")
    with open_source(place) as listed:
        entry = _only(flatten(listed), place)
        values = entry.read()
        entry.drop()
    values = np.asarray(values.toarray() if is_sparse(values) else values)
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise InputError(f"{place}: the mask must hold nothing but true and false, or 1 and 0.")
    mask = values.astype(np.bool_)
    return mask[np.newaxis] if mask.ndim == 1 else mask


def _only(entries: list[Entry], place: Path) -> Entry:
    held = [entry for entry in entries if entry.is_matrix]
    named = [entry for entry in held if entry.short in _NAMES]
    found = named if len(held) > 1 else held
    if len(found) == 1:
        return found[0]
    keys = ", ".join(repr(entry.key) for entry in held[:5])
    holds = f"{len(held)} arrays ({keys})" if held else "no matrix"
    raise InputError(f"{place} holds {holds}; expected one with the mask, or one called 'mask'.")
