"""MATLAB files of version 7.3, which are HDF5: arrays transposed, cells as references, sparse matrices as groups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import missing_extra
from ._entries import Entry, array_entry, guarded, once, reading

# Where MATLAB keeps the contents of cells and objects.
_HIDDEN = ("#refs#", "#subsystem#")
_DEEPEST = 16


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
                reader = _Reader(path, file, raw.read(6) == b"MATLAB")
            listed = [reader.entry(name, file[name], 0) for name in file if name not in _HIDDEN]
            # MATLAB allows no dots in names; other programs do.
            entries = [replace(entry, name=entry.key) if "." in entry.key else entry for entry in listed]
        yield entries
    finally:
        file.close()


class _Reader:
    """Makes entries of the nodes of one open file."""

    def __init__(self, path: Path, file: Any, from_matlab: bool) -> None:
        self.path, self.file, self.from_matlab = path, file, from_matlab

    def entry(self, key: str, node: Any, depth: int) -> Entry:
        """Entry of a dataset or group."""
        if depth > _DEEPEST:
            return Entry(key, "other", (), what="nested too deep")
        kind = _matlab_class(node)
        if "MATLAB_object_decode" in node.attrs and kind not in ("struct", "cell"):
            return Entry(key, "other", (), what="a MATLAB object" if kind != "function_handle" else "a function handle")
        return self._group(key, node, depth) if hasattr(node, "keys") else self._dataset(key, node, kind, depth)

    def _group(self, key: str, node: Any, depth: int) -> Entry:
        if "MATLAB_sparse" in node.attrs:
            shape = (int(node.attrs["MATLAB_sparse"]), int(node["jc"].shape[0]) - 1)
            return array_entry(key, "sparse", shape, guarded(self.path, lambda: _sparse(node, shape)))

        def fields() -> list[Entry]:
            return [self.entry(f"{key}.{name}", node[name], depth + 1) for name in node]

        return Entry(key, "struct", (1, 1), members=once(guarded(self.path, fields)))

    def _dataset(self, key: str, node: Any, kind: str, depth: int) -> Entry:
        shape, dtype = node.shape, node.dtype
        if shape is None or "MATLAB_empty" in node.attrs:
            return Entry(key, "other", (0,), what="empty")
        transposed = bool(kind) or self.from_matlab
        shape = tuple(reversed(shape)) if transposed else shape
        if dtype.kind == "O" and dtype.metadata and "ref" in dtype.metadata:
            return Entry(key, "cell", shape, members=once(guarded(self.path, lambda: self._cell(key, node, depth))))
        if kind == "char" or (dtype.metadata and "vlen" in dtype.metadata) or dtype.kind == "S":
            return Entry(key, "text", shape, guarded(self.path, lambda: _texts(node, kind)))
        if dtype.kind not in "fiub":
            what = "complex numbers" if dtype.names == ("real", "imag") else f"values of type {dtype}"
            return Entry(key, "other", shape, what=what)
        # A transposed array is a view: nothing is copied.
        load = guarded(self.path, lambda: node[()].T if transposed else node[()])
        return array_entry(key, "matrix", shape, load, stack_axis=-1 if transposed else 0)

    def _cell(self, key: str, node: Any, depth: int) -> list[Entry]:
        members = []
        for i, reference in enumerate(np.ravel(node[()])):
            name = f"{key}{{{i + 1}}}"
            target = self.file[reference] if reference else None
            found = target is not None
            members.append(self.entry(name, target, depth + 1) if found else Entry(name, "other", (0,), what="empty"))
        return members


def _matlab_class(node: Any) -> str:
    kind = node.attrs.get("MATLAB_class", "")
    return kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)


def _sparse(node: Any, shape: tuple[int, int]) -> Any:
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


def _texts(node: Any, kind: str) -> list[str]:
    if kind == "char":
        codes = np.atleast_2d(node[()].T)
        return ["".join(map(chr, row)).rstrip() for row in codes]
    values = np.ravel(node[()])
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values]
