"""MATLAB files of version 4 to 7.2, through scipy, one variable at a time."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy.io import loadmat, whosmat
from scipy.io.matlab import MatlabFunction, MatlabObject, MatlabOpaque

from ..arrays import is_sparse
from ..errors import InputError
from ._entries import Entry, Held, Kind, array_entry, checked_sparse, decoded, guarded, reading, unusable
from ._mat_structure import check_structure, variable_key
from ._size_limits import SizeLimit, sparse_bytes

_NUMBERS = {"double", "single", "logical"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
# Objects, tables and function handles have no name, or one that MATLAB made up.
_MADE_UP_NAMES = ("", "None", "__function_workspace__")


def mat5_entries(limit: SizeLimit) -> list[Entry]:
    """Variables of a MATLAB file of version 4 to 7.2, in the order of the file."""
    with reading(limit.path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sizes = check_structure(limit)
        listed = whosmat(str(limit.path), appendmat=False)
        pairs = list(zip(sizes, listed, strict=True))
    return [
        _variable(limit, number, size, name, tuple(shape), kind)
        for number, (size, (name, shape, kind)) in enumerate(pairs)
    ]


def _variable(limit: SizeLimit, number: int, n_bytes: int, name: str, shape: tuple[int, ...], kind: str) -> Entry:
    """Entry of a variable that has not been read yet."""
    if name in _MADE_UP_NAMES or kind not in _NUMBERS | {"sparse", "char", "cell", "struct"}:
        return Entry(name, "other", shape, what="a function handle" if kind == "function" else "a MATLAB object")

    def load() -> Any:
        limit.claim(variable_key(number), n_bytes)
        with warnings.catch_warnings():
            # Warnings about variables that are not needed do not matter; the needed ones are checked.
            warnings.simplefilter("ignore")
            value = loadmat(str(limit.path), variable_names=[name], appendmat=False)[name]
        # That numbers are complex is not known before they are read.
        if kind in _NUMBERS and not (isinstance(value, np.ndarray) and value.dtype.kind in "fiub"):
            raise InputError(f"{name!r} is {unusable(getattr(value, 'dtype', None))}; expected real numbers.")
        if is_sparse(value):
            value = checked_sparse(name, value)
        return decoded(value) if kind == "char" else value

    if kind in ("cell", "struct"):
        # Only the members hold the arrays, so that each can be freed.
        members = cache(guarded(limit.path, lambda: _value_entry(limit, name, load()).members()))
        return Entry(name, "cell" if kind == "cell" else "struct", shape, members=members)
    form: Kind = "sparse" if kind == "sparse" else "text" if kind == "char" else "matrix"
    # The rows of a sparse matrix take memory even if they are empty.
    pointers = sparse_bytes(shape, 0, 0) if form == "sparse" else 0
    return array_entry(limit, name, form, shape, pointers, load, stack_axis=-1)


def _value_entry(limit: SizeLimit, key: str, value: Any) -> Entry:
    """Entry of a value in memory."""
    held = Held(value=value)
    if is_sparse(value):
        if value.dtype.kind not in "fiub":
            return Entry(key, "other", value.shape, what=unusable(value.dtype))
        limit.claim(key, sparse_bytes(value.shape, 0, 0))
        checked_sparse(key, value)
        return Entry(key, "sparse", value.shape, held.read, drop=held.drop)
    if not isinstance(value, np.ndarray):
        return Entry(key, "other", (), what=f"a {type(value).__name__}")
    if isinstance(value, MatlabFunction | MatlabObject | MatlabOpaque):
        return Entry(key, "other", value.shape, what="a MATLAB object")
    if value.dtype.names is not None:
        # The fields of an array of structs are cells with a member for each struct.
        columns = {name: value[name] for name in value.dtype.names}
        contents = {name: column.item() if column.size == 1 else column for name, column in columns.items()}
        fields = [_value_entry(limit, f"{key}.{name}", content) for name, content in contents.items()]
        return Entry(key, "struct", value.shape, members=lambda: fields)
    if value.dtype.kind == "O":
        members = [_value_entry(limit, f"{key}{{{i + 1}}}", each) for i, each in enumerate(value.ravel(order="F"))]
        return Entry(key, "cell", value.shape, members=lambda: members)
    if value.dtype.kind in "US":
        return Entry(key, "text", value.shape, lambda: decoded(value))
    if value.dtype.kind not in "fiub":
        return Entry(key, "other", value.shape, what=unusable(value.dtype))
    return Entry(key, "matrix", value.shape, held.read, drop=held.drop, stack_axis=-1)
