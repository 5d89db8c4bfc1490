"""MATLAB files up to version 7, read one variable at a time."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat, whosmat
from scipy.io.matlab import MatlabFunction, MatlabObject, MatlabOpaque

from .._types import is_sparse
from ..errors import InputError
from ._entries import Entry, Held, Kind, guarded, once, reading
from ._mat5_check import check_mat5

_DENSE = {"double", "single", "logical"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
# Objects, tables and function handles have no name, or a made-up one.
_HIDDEN = ("", "None", "__function_workspace__")


def mat5_entries(path: Path) -> list[Entry]:
    """Variables of a MATLAB file of version 4 to 7.2, in the order of the file."""
    with reading(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_mat5(path)
        listed = whosmat(str(path), appendmat=False)
    return [_variable(path, name, tuple(shape), kind) for name, shape, kind in listed]


def _variable(path: Path, name: str, shape: tuple[int, ...], kind: str) -> Entry:
    """Entry of a variable that has not been read yet."""

    def load() -> Any:
        with warnings.catch_warnings():
            # What is wrong with a variable that is not needed is of no concern; one that is needed is checked.
            warnings.simplefilter("ignore")
            return loadmat(str(path), variable_names=[name], appendmat=False)[name]

    if name in _HIDDEN or kind not in _DENSE | {"sparse", "char", "cell", "struct"}:
        what = "a function handle" if kind == "function" else "a MATLAB object"
        return Entry(name, "other", shape, what=what)
    held = Held(guarded(path, load))
    if kind in ("cell", "struct"):
        return Entry(name, "cell" if kind == "cell" else "struct", shape, members=once(lambda: _opened(name, held)))
    if kind == "char":
        return Entry(name, "text", shape, lambda: _texts(held.read()), drop=held.drop, forget=held.drop)
    read = held.read if kind == "sparse" else guarded(path, lambda: _numbers(path, name, held.read()))
    form: Kind = "sparse" if kind == "sparse" else "matrix"
    return Entry(name, form, shape, read, drop=held.drop, forget=held.drop, stack_axis=-1)


def _opened(name: str, held: Held) -> list[Entry]:
    """Members of a cell or struct variable; only they hold its arrays from here on, so that each can be freed."""
    members = _value_entry(name, held.read()).members()
    held.drop()
    return members


def _value_entry(key: str, value: Any) -> Entry:
    """Entry of something that is in memory."""
    held = Held(lambda: None, value)
    if is_sparse(value):
        return Entry(key, "sparse", value.shape, held.read, drop=held.drop)
    if not isinstance(value, np.ndarray):
        return Entry(key, "other", (), what=f"a {type(value).__name__}")
    if isinstance(value, MatlabFunction | MatlabObject | MatlabOpaque):
        return Entry(key, "other", value.shape, what="a MATLAB object")
    if value.dtype.names is not None:
        return _struct(key, value)
    if value.dtype.kind == "O":
        contents = list(value.ravel(order="F"))
        members = [_value_entry(f"{key}{{{i + 1}}}", each) for i, each in enumerate(contents)]
        return Entry(key, "cell", value.shape, members=lambda: members)
    if value.dtype.kind in "US":
        return Entry(key, "text", value.shape, lambda: _texts(value))
    if value.dtype.kind not in "fiub":
        return Entry(key, "other", value.shape, what=_unusable(value.dtype))
    return Entry(key, "matrix", value.shape, held.read, drop=held.drop, stack_axis=-1)


def _struct(key: str, value: Any) -> Entry:
    """A struct as its fields; the fields of an array of structs are cells with a member for each of them."""
    fields: list[Entry] = []
    for field in value.dtype.names or ():
        column = value[field]
        content = column.ravel(order="F")[0] if column.size == 1 else column
        fields.append(_value_entry(f"{key}.{field}", content))
    return Entry(key, "struct", value.shape, members=lambda: fields)


def _texts(value: Any) -> list[str]:
    return [str(text) for text in np.asarray(value).ravel()]


def _numbers(path: Path, name: str, value: Any) -> Any:
    """Dense numbers; that they are complex is not known before they are read."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
        raise InputError(f"{path}: {name!r} is {_unusable(getattr(value, 'dtype', None))}; expected real numbers.")
    return value


def _unusable(dtype: Any) -> str:
    return "complex numbers" if getattr(dtype, "kind", "") == "c" else f"values of type {dtype}"
