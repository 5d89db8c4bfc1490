"""Files of numpy and scipy: .npy, .npz and sparse .npz. Nothing is ever unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy

from ..errors import InputError
from ._entries import Entry, array_entry, decoded, reading

# Arrays of one sparse matrix, as scipy.sparse.save_npz calls them.
_SPARSE_PARTS = ("data", "indices", "indptr", "shape")


def npy_entry(path: Path, key: str, *, mmap: bool = False) -> Entry:
    """The array of an .npy file, in memory or left in the file."""
    with reading(path), path.open("rb") as file:
        shape, dtype = _header(file)
    mode: Literal["r"] | None = "r" if mmap and 0 not in shape else None
    return _array_entry(path, key, shape, dtype, lambda: np.load(path, mode, allow_pickle=False))


def npz_entries(path: Path) -> list[Entry]:
    """Arrays of an .npz file, in the order of the file."""
    headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = {}
    with reading(path), zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if member.endswith(".npy"):
                with archive.open(member) as file:
                    headers[member.removesuffix(".npy")] = _header(file)
    if not headers:
        raise InputError(f"{path} is a zip file without arrays; expected an .npz file as numpy.savez writes it.")
    if {"format", "shape", "data"} <= set(headers):
        # scipy.sparse.save_npz writes one matrix, in any format.
        with reading(path):
            sizes = _matrix_shape(path, "shape")
        return [array_entry(path, path.stem, "sparse", sizes, lambda: sp.load_npz(path))]
    groups = _sparse_groups(headers)
    entries: list[Entry] = []
    for key, (shape, dtype) in headers.items():
        if key in groups:
            if key == groups[key] + "shape":
                entries.append(_sparse_entry(path, groups[key], set(headers)))
        else:
            entries.append(_array_entry(path, key, shape, dtype, _member(path, key)))
    return [replace(entry, name=entry.key) for entry in entries]


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of an array, without its values."""
    version = npy.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(file)
    elif version == (3, 0):
        # Only the field names of structured arrays need this version, and those are no views.
        return (0,), np.dtype([("field", "u1")])
    else:
        raise ValueError(f"unknown version {version} of the array format")
    return shape, dtype


def _member(path: Path, key: str) -> Callable[[], Any]:
    """Reader of one array; numpy streams it into place."""

    def load() -> Any:
        with np.load(path, allow_pickle=False) as archive:
            return archive[key]

    return load


def _array_entry(path: Path, key: str, shape: tuple[int, ...], dtype: np.dtype[Any], load: Callable[[], Any]) -> Entry:
    if dtype.hasobject:
        return Entry(key, "objects", shape, what="an array of Python objects")
    if dtype.kind in "US":
        return array_entry(path, key, "text", shape, lambda: decoded(load()))
    if dtype.kind not in "fiub":
        what = "complex numbers" if dtype.kind == "c" else f"values of type {dtype}"
        return Entry(key, "other", shape, what=what)
    return array_entry(path, key, "matrix", shape, load)


def _sparse_groups(keys: Any) -> dict[str, str]:
    """Which keys are parts of a sparse matrix, and the prefix of that matrix."""
    prefixes = [key.removesuffix("indptr") for key in keys if key.endswith("indptr")]
    complete = [prefix for prefix in prefixes if all(prefix + part in keys for part in _SPARSE_PARTS)]
    return {f"{prefix}{part}": prefix for prefix in complete for part in (*_SPARSE_PARTS, "format")}


def _matrix_shape(path: Path, key: str) -> tuple[int, int]:
    sizes = np.ravel(_member(path, key)())
    return int(sizes[0]), int(sizes[1])


def _sparse_entry(path: Path, prefix: str, keys: set[str]) -> Entry:
    """Entry of the arrays that make up one CSR or CSC matrix."""
    key = prefix.rstrip("_.") or "sparse"
    with reading(path):
        shape = _matrix_shape(path, f"{prefix}shape")
        order = str(np.ravel(_member(path, f"{prefix}format")())[0]) if f"{prefix}format" in keys else "csr"
        order = order.removeprefix("b'").removesuffix("'")
    if order not in ("csr", "csc"):
        return Entry(key, "other", shape, what=f"a sparse matrix in the format {order!r}; expected csr or csc")

    def load() -> Any:
        data, indices, starts = (_member(path, prefix + part)() for part in _SPARSE_PARTS[:3])
        kind: Any = sp.csr_array if order == "csr" else sp.csc_array
        return kind((data, indices, starts), shape=shape)

    return array_entry(path, key, "sparse", shape, load)
