"""MATLAB files: version 4 to 7.2 through scipy, version 7.3 (HDF5) through h5py, one variable at a time."""

from __future__ import annotations

import math
import mmap
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import loadmat, whosmat
from scipy.io.matlab import MatlabFunction, MatlabObject, MatlabOpaque

from ..arrays import is_sparse
from ..errors import InputError, missing_extra
from ._entries import Entry, Held, Kind, array_entry, decoded, guarded, reading

_NUMBERS = {"double", "single", "logical"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
# Objects, tables and function handles have no name, or one that MATLAB made up.
_MADE_UP_NAMES = ("", "None", "__function_workspace__")
# Groups of an HDF5 file in which MATLAB keeps the contents of cells and objects.
_HIDDEN_GROUPS = ("#refs#", "#subsystem#")
_DEEPEST_GROUP = 16


def mat5_entries(path: Path) -> list[Entry]:
    """Variables of a MATLAB file of version 4 to 7.2, in the order of the file."""
    with reading(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _check_structure(path)
        listed = whosmat(str(path), appendmat=False)
    return [_variable(path, name, tuple(shape), kind) for name, shape, kind in listed]


def _variable(path: Path, name: str, shape: tuple[int, ...], kind: str) -> Entry:
    """Entry of a variable that has not been read yet."""
    if name in _MADE_UP_NAMES or kind not in _NUMBERS | {"sparse", "char", "cell", "struct"}:
        return Entry(name, "other", shape, what="a function handle" if kind == "function" else "a MATLAB object")

    def load() -> Any:
        with warnings.catch_warnings():
            # Warnings about variables that are not needed do not matter; the needed ones are checked.
            warnings.simplefilter("ignore")
            value = loadmat(str(path), variable_names=[name], appendmat=False)[name]
        # That numbers are complex is not known before they are read.
        if kind in _NUMBERS and not (isinstance(value, np.ndarray) and value.dtype.kind in "fiub"):
            raise InputError(f"{name!r} is {_unusable(getattr(value, 'dtype', None))}; expected real numbers.")
        return decoded(value) if kind == "char" else value

    if kind in ("cell", "struct"):
        # Only the members hold the arrays, so that each can be freed.
        members = cache(guarded(path, lambda: _value_entry(name, load()).members()))
        return Entry(name, "cell" if kind == "cell" else "struct", shape, members=members)
    form: Kind = "sparse" if kind == "sparse" else "text" if kind == "char" else "matrix"
    return array_entry(path, name, form, shape, load, stack_axis=-1)


def _value_entry(key: str, value: Any) -> Entry:
    """Entry of a value in memory."""
    held = Held(value=value)
    if is_sparse(value):
        return Entry(key, "sparse", value.shape, held.read, drop=held.drop)
    if not isinstance(value, np.ndarray):
        return Entry(key, "other", (), what=f"a {type(value).__name__}")
    if isinstance(value, MatlabFunction | MatlabObject | MatlabOpaque):
        return Entry(key, "other", value.shape, what="a MATLAB object")
    if value.dtype.names is not None:
        # The fields of an array of structs are cells with a member for each struct.
        columns = {name: value[name] for name in value.dtype.names}
        contents = {name: column.item() if column.size == 1 else column for name, column in columns.items()}
        fields = [_value_entry(f"{key}.{name}", content) for name, content in contents.items()]
        return Entry(key, "struct", value.shape, members=lambda: fields)
    if value.dtype.kind == "O":
        members = [_value_entry(f"{key}{{{i + 1}}}", each) for i, each in enumerate(value.ravel(order="F"))]
        return Entry(key, "cell", value.shape, members=lambda: members)
    if value.dtype.kind in "US":
        return Entry(key, "text", value.shape, lambda: decoded(value))
    if value.dtype.kind not in "fiub":
        return Entry(key, "other", value.shape, what=_unusable(value.dtype))
    return Entry(key, "matrix", value.shape, held.read, drop=held.drop, stack_axis=-1)


def _unusable(dtype: Any) -> str:
    return "complex numbers" if getattr(dtype, "kind", "") == "c" else f"values of type {dtype}"


# The structure of a version 5 file is checked before scipy parses it: scipy takes the type code of every element as an
# index without a check, and a damaged code ends the whole process. Only the tags of elements are read here, not their
# values. A checksum protects what is compressed.
_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_VALUES = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18))
_DEEPEST_CELL = 64
# Classes of matrices: characters and all numbers have one element of values, sparse matrices three.
_CELL, _STRUCTS, _SPARSE, _DENSE = 1, (2, 3), 5, frozenset((4, *range(6, 16)))


def _check_structure(path: Path) -> None:
    """Raise ValueError if an element has a type that does not exist or is longer than what it is in."""
    with path.open("rb") as file:
        header = file.read(_HEADER)
        # Version 4 has no such structure.
        if len(header) < _HEADER or header[126:128] not in (b"IM", b"MI"):
            return
        order = "<" if header[126:128] == b"IM" else ">"
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            at = _HEADER
            while at + 8 <= len(content):
                kind, size = struct.unpack_from(f"{order}II", content, at)
                at += 8
                if kind == _MATRIX:
                    _check_elements(content, at, at + size, order, 0)
                elif kind != _COMPRESSED:
                    raise ValueError(f"a variable of unknown type {kind}")
                at += size


def _check_elements(content: mmap.mmap, at: int, end: int, order: str, depth: int) -> None:
    """Check the elements of a matrix, which may be matrices themselves."""
    if end > len(content):
        raise ValueError("a variable is cut short")
    if depth > _DEEPEST_CELL:
        raise ValueError("cells are nested too deep")
    # Where the values of each element begin, and how many bytes they are.
    values: list[tuple[int, int]] = []
    n_matrices = 0
    while at + 8 <= end:
        kind, size = struct.unpack_from(f"{order}II", content, at)
        start = at + 8
        if kind >> 16:
            # Up to four bytes of values share the tag with their type and number.
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
            if size > 4:
                raise ValueError("an element is longer than its tag allows")
        if start + size > end:
            raise ValueError("an element is longer than what it is in")
        if kind == _MATRIX:
            _check_elements(content, start, start + size, order, depth + 1)
            n_matrices += 1
        elif kind in _VALUES:
            values.append((start, size))
        else:
            raise ValueError(f"an element of unknown type {kind}")
        # Values are padded to eight bytes.
        at = at + 8 if start == at + 4 else start + size + -size % 8
    # An empty member of a cell has no elements at all.
    if values or n_matrices:
        _check_class(content, values, n_matrices, order)


def _check_class(content: mmap.mmap, values: list[tuple[int, int]], n_matrices: int, order: str) -> None:
    """Check that a matrix has the elements that its class needs; flags, sizes and a name always come first."""

    def whole_numbers(element: tuple[int, int]) -> tuple[int, ...]:
        start, size = element
        return struct.unpack_from(f"{order}{size // 4}i", content, start)

    if len(values) < 3 or values[0][1] != 8:
        raise ValueError("a matrix lacks an element")
    sizes = whole_numbers(values[1])
    if len(sizes) < 2 or len(sizes) * 4 != values[1][1] or min(sizes) < 0:
        raise ValueError("a matrix of impossible size")
    (flags,) = struct.unpack_from(f"{order}I", content, values[0][0])
    kind, is_complex = flags & 0xFF, bool(flags & 0x0800)
    least = 6 + is_complex if kind == _SPARSE else 4 + is_complex if kind in _DENSE else 3
    if len(values) < least:
        raise ValueError("a matrix lacks an element")
    if kind == _CELL and n_matrices != math.prod(sizes):
        raise ValueError("a cell does not have as many members as it says")
    if kind in _STRUCTS:
        # An object names its class before its fields.
        place = 3 + _STRUCTS.index(kind)
        lengths = whole_numbers(values[place]) if len(values) > place + 1 else ()
        if len(lengths) != 1 or lengths[0] < 1:
            raise ValueError("a struct without names of its fields")
        n_fields = values[place + 1][1] // lengths[0]
        if n_matrices != n_fields * math.prod(sizes):
            raise ValueError("a struct does not have as many fields as it says")


@contextmanager
def hdf5_entries(path: Path) -> Iterator[list[Entry]]:
    """Variables of an HDF5 file, which stays open while they may be read."""
    try:
        import h5py
    except ImportError as error:
        raise missing_extra(f"MATLAB 7.3 files such as {path}", "h5py", "mat73") from error
    with reading(path):
        file = h5py.File(path, "r")
    try:
        with reading(path):
            with path.open("rb") as raw:
                reader = _Hdf5Reader(path, file, raw.read(6) == b"MATLAB")
            listed = [reader.entry(name, file[name], 0) for name in file if name not in _HIDDEN_GROUPS]
            # MATLAB allows no dots in names; other programs do.
            entries = [replace(entry, name=entry.key) if "." in entry.key else entry for entry in listed]
        yield entries
    finally:
        file.close()


class _Hdf5Reader:
    """Makes entries of the nodes of one open file.

    MATLAB stores arrays transposed, cells as references to other nodes, and sparse matrices as groups.
    """

    def __init__(self, path: Path, file: Any, from_matlab: bool) -> None:
        self.path, self.file, self.from_matlab = path, file, from_matlab

    def entry(self, key: str, node: Any, depth: int) -> Entry:
        if depth > _DEEPEST_GROUP:
            return Entry(key, "other", (), what="nested too deep")
        kind = node.attrs.get("MATLAB_class", "")
        kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
        if "MATLAB_object_decode" in node.attrs and kind not in ("struct", "cell"):
            return Entry(key, "other", (), what="a MATLAB object" if kind != "function_handle" else "a function handle")
        return self._group(key, node, depth) if hasattr(node, "keys") else self._dataset(key, node, kind, depth)

    def _group(self, key: str, node: Any, depth: int) -> Entry:
        if "MATLAB_sparse" in node.attrs:
            shape = (int(node.attrs["MATLAB_sparse"]), int(node["jc"].shape[0]) - 1)
            return array_entry(self.path, key, "sparse", shape, lambda: _read_sparse(node, shape))

        def fields() -> list[Entry]:
            return [self.entry(f"{key}.{name}", node[name], depth + 1) for name in node]

        return Entry(key, "struct", (1, 1), members=cache(guarded(self.path, fields)))

    def _dataset(self, key: str, node: Any, kind: str, depth: int) -> Entry:
        shape, dtype = node.shape, node.dtype
        if shape is None or "MATLAB_empty" in node.attrs:
            return Entry(key, "empty", (0,), what="empty")
        transposed = bool(kind) or self.from_matlab
        shape = tuple(reversed(shape)) if transposed else shape
        if dtype.kind == "O" and dtype.metadata and "ref" in dtype.metadata:
            return Entry(key, "cell", shape, members=cache(guarded(self.path, lambda: self._members(key, node, depth))))
        if kind == "char" or (dtype.metadata and "vlen" in dtype.metadata) or dtype.kind == "S":

            def texts() -> list[str]:
                if kind != "char":
                    return decoded(node[()])
                return ["".join(map(chr, row)).rstrip() for row in np.atleast_2d(node[()].T)]

            return array_entry(self.path, key, "text", shape, texts)
        if dtype.kind not in "fiub":
            what = "complex numbers" if dtype.names == ("real", "imag") else f"values of type {dtype}"
            return Entry(key, "other", shape, what=what)

        def load() -> Any:
            # A transposed array is a numpy view: nothing is copied.
            return node[()].T if transposed else node[()]

        return array_entry(self.path, key, "matrix", shape, load, stack_axis=-1 if transposed else 0)

    def _members(self, key: str, node: Any, depth: int) -> list[Entry]:
        members = []
        for i, reference in enumerate(np.ravel(node[()])):
            name = f"{key}{{{i + 1}}}"
            target = self.file[reference] if reference else None
            empty = Entry(name, "empty", (0,), what="empty")
            members.append(empty if target is None else self.entry(name, target, depth + 1))
        return members


def _read_sparse(node: Any, shape: tuple[int, int]) -> Any:
    """A sparse matrix; its indices, 64 bits in the file, are narrowed while they are read."""
    if "ir" not in node:
        return sp.csc_array(shape)
    data = node["data"][()]
    count = max(*shape, len(data))
    index_type = np.int32 if count < np.iinfo(np.int32).max else np.int64
    rows, starts = (np.empty(node[name].shape, dtype=index_type) for name in ("ir", "jc"))
    if rows.size:
        node["ir"].read_direct(rows)
    node["jc"].read_direct(starts)
    return sp.csc_array((data, rows, starts), shape=shape)
