"""Files of numpy and scipy: .npy, .npz and sparse .npz. Nothing is ever unpickled."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy

from ..errors import InputError
from ._entries import Entry, array_entry, checked_sparse, decoded, reading, unusable
from ._size_limits import SizeLimit, sparse_bytes

# Arrays of one sparse matrix in each format, as scipy.sparse.save_npz calls them; the values come first.
_COMPRESSED = ("data", "indices", "indptr")
_SPARSE_PARTS = {
    **dict.fromkeys(("csr", "csc", "bsr"), _COMPRESSED),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
# numpy refuses longer headers, but reads them first.
_LONGEST_HEADER = 2**14


@dataclass(frozen=True)
class _Header:
    """Shape and type of an array, and its bytes in memory."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def npy_entry(limit: SizeLimit, key: str, *, mmap: bool = False) -> Entry:
    """The array of an .npy file, in memory or left in the file."""
    path = limit.path
    with reading(path), path.open("rb") as file:
        header = _read_header(file, limit.file_size)
    mode: Literal["r"] | None = "r" if mmap and 0 not in header.shape else None
    n_bytes = 0 if mode else header.n_bytes
    return _array_entry(limit, key, header, n_bytes, lambda: np.load(path, mode, allow_pickle=False))


def spreadsheet(path: Path) -> InputError:
    """The error for a file of Excel or LibreOffice."""
    return InputError(
        f"{path} is a spreadsheet, which cannot be read here; save each sheet as a .csv file, in Excel as 'CSV UTF-8', "
        "and give these files."
    )


def npz_entries(limit: SizeLimit) -> list[Entry]:
    """Arrays of an .npz file, in the order of the file."""
    headers: dict[str, _Header] = {}
    with reading(limit.path), zipfile.ZipFile(limit.path) as archive:
        for member in dict.fromkeys(archive.namelist()):
            if member.endswith(".npy"):
                about = archive.getinfo(member)
                # Other methods decompress without a limit, and numpy writes none of them.
                if about.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ValueError(f"{member!r} is compressed by a method that numpy does not write")
                with archive.open(member) as file:
                    headers[member.removesuffix(".npy")] = _read_header(file, about.file_size)
        if "[Content_Types].xml" in archive.namelist():
            raise spreadsheet(limit.path)
    if not headers:
        raise InputError(f"{limit.path} is a zip file without arrays; expected an .npz file as numpy.savez writes it.")
    if {"format", "shape", "data"} <= set(headers):
        # scipy.sparse.save_npz writes one matrix, in any format.
        return [replace(_sparse_entry(limit, "", headers), key=limit.path.stem)]
    groups = _sparse_groups(headers)
    entries: list[Entry] = []
    for key, header in headers.items():
        if key in groups:
            if key == groups[key] + "shape":
                entries.append(_sparse_entry(limit, groups[key], headers))
        else:
            entries.append(_array_entry(limit, key, header, header.n_bytes, _member(limit, key)))
    return [replace(entry, name=entry.key) for entry in entries]


def _read_header(file: Any, file_size: int) -> _Header:
    """Shape and type of an array, whose values must fit a file of this size."""
    start = io.BytesIO(file.read(_LONGEST_HEADER))
    version = npy.read_magic(start)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(start)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(start)
    elif version == (3, 0):
        # Only the field names of structured arrays need this version, and those are no views.
        return _Header((0,), np.dtype([("field", "u1")]))
    else:
        raise ValueError(f"unknown version {version} of the array format")
    header = _Header(shape, dtype)
    if min(shape, default=0) < 0 or (not dtype.hasobject and start.tell() + header.n_bytes > file_size):
        raise ValueError("an array is shorter than it says")
    return header


def _member(limit: SizeLimit, key: str) -> Callable[[], Any]:
    """Reader of one array; numpy streams it into place."""

    def load() -> Any:
        with zipfile.ZipFile(limit.path) as archive, archive.open(f"{key}.npy") as file:
            return npy.read_array(file, allow_pickle=False)

    return load


def _array_entry(limit: SizeLimit, key: str, header: _Header, n_bytes: int, load: Callable[[], Any]) -> Entry:
    shape, dtype = header.shape, header.dtype
    if dtype.hasobject:
        return Entry(key, "objects", shape, what="an array of Python objects")
    if dtype.kind in "US":
        return array_entry(limit, key, "text", shape, n_bytes, lambda: decoded(load()))
    if dtype.kind not in "fiub":
        return Entry(key, "other", shape, what=unusable(dtype))
    return array_entry(limit, key, "matrix", shape, n_bytes, load)


def _sparse_groups(keys: Mapping[str, object]) -> dict[str, str]:
    """Which keys are parts of a sparse matrix, and the prefix of that matrix."""
    parts = (*_COMPRESSED, "shape")
    prefixes = [key.removesuffix("indptr") for key in keys if key.endswith("indptr")]
    complete = [prefix for prefix in prefixes if all(prefix + part in keys for part in parts)]
    return {f"{prefix}{part}": prefix for prefix in complete for part in (*parts, "format")}


def _sparse_entry(limit: SizeLimit, prefix: str, headers: Mapping[str, _Header]) -> Entry:
    """Entry of the arrays that make up one sparse matrix."""
    key = prefix.rstrip("_.") or "sparse"

    def part(name: str) -> Any:
        limit.claim(prefix + name, headers[prefix + name].n_bytes)
        return _member(limit, prefix + name)()

    with reading(limit.path):
        n_rows, n_columns = (int(size) for size in np.ravel(part("shape")))
        order = str(np.ravel(part("format"))[0]) if f"{prefix}format" in headers else "csr"
        order = order.removeprefix("b'").removesuffix("'")
        shape = n_rows, n_columns
        if min(shape) < 0:
            raise ValueError(f"a sparse matrix of shape {shape}")
        missing = [name for name in _SPARSE_PARTS.get(order, ()) if prefix + name not in headers]
        if missing:
            raise ValueError(f"a sparse matrix without {missing[0]!r}")
    if order not in _SPARSE_PARTS:
        expected = ", ".join(_SPARSE_PARTS)
        return Entry(key, "other", shape, what=f"a sparse matrix in the format {order!r}; expected one of {expected}")
    values = headers[f"{prefix}data"]
    if values.dtype.hasobject or values.dtype.kind not in "fiub":
        return Entry(key, "other", shape, what=unusable(values.dtype))

    def load() -> Any:
        data, *places = (part(name) for name in _SPARSE_PARTS[order])
        kind: Any = getattr(sp, f"{order}_array")
        where = places[0] if order == "dia" else tuple(places)
        X = kind((data, where) if order in ("coo", "dia") else (data, *places), shape=shape)
        return checked_sparse(key, X)

    n_bytes = sparse_bytes(shape, math.prod(values.shape), values.dtype.itemsize)
    return array_entry(limit, key, "sparse", shape, n_bytes, load)
