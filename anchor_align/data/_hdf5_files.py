"""HDF5 files: MATLAB 7.3, annotated data and others, through h5py. Nothing outside the file is ever read."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import missing_extra
from ._annotated_entries import copied_to_disk
from ._annotated_files import annotated_file_entries, is_annotated, own_node
from ._entries import Entry, array_entry, checked_sparse, decoded, guarded, naming, reading, unusable
from ._hdf5_heaps import check_heaps
from ._size_limits import MEMBER_BYTES, SizeLimit, sparse_bytes

# Groups in which MATLAB keeps the contents of cells and objects.
_HIDDEN_GROUPS = ("#refs#", "#subsystem#")
_DEEPEST_GROUP = 16
# To open a node takes time, and a small file can name the same node very often: each time counts as so much memory.
_AGAIN_BYTES = 2**18
# Texts of variable length are read in blocks: all may be the same long text, which is in the file once.
_TEXTS_AT_ONCE = 64
# A smaller chunk cannot inflate to much; zlib makes at most 1032 bytes of one.
_LARGE_CHUNK = 2**18
_PIECE = 2**20


@contextmanager
def hdf5_entries(limit: SizeLimit, *, stem: str = "", on_disk: bool = False) -> Iterator[list[Entry]]:
    """Variables of an HDF5 file, which stays open while they may be read.

    ``stem`` names the data of an .h5ad file that is one of several. With ``on_disk`` matrices of annotated data are
    copied to unnamed files, not into memory.
    """
    try:
        import h5py
    except ImportError as error:
        raise missing_extra(f"MATLAB 7.3 and HDF5 files such as {limit.path}", "h5py", "mat73") from error
    with reading(limit.path):
        check_heaps(limit.path)
        file = h5py.File(limit.path, "r")
    try:
        with reading(limit.path):
            with limit.path.open("rb") as raw:
                reader = _Hdf5Reader(limit, file, raw.read(6) == b"MATLAB", on_disk)
            if annotated := is_annotated(file):
                with naming(limit.path):
                    entries = annotated_file_entries(reader, file, stem)
        if annotated:
            yield entries
            return
        with reading(limit.path):
            listed = [reader.linked(file, name, name, ()) for name in file if name not in _HIDDEN_GROUPS]
            # MATLAB allows no dots in names; other programs do.
            entries = [replace(entry, name=entry.key) if "." in entry.key else entry for entry in listed]
        yield entries
    finally:
        file.close()


class _Hdf5Reader:
    """Makes entries of the nodes of one open file.

    MATLAB stores arrays transposed, cells as references to other nodes, and sparse matrices as groups.
    """

    def __init__(self, limit: SizeLimit, file: Any, from_matlab: bool, on_disk: bool = False) -> None:
        self.limit, self.file, self.from_matlab, self.on_disk = limit, file, from_matlab, on_disk
        # What was made of each node; MATLAB stores one empty array for all empty members of cells.
        self._is_empty: dict[Any, bool] = {}

    def linked(self, group: Any, name: str, key: str, above: tuple[Any, ...]) -> Entry:
        """Entry of a member of a group; ``above`` are the nodes that it is in."""
        node = own_node(group, name)
        return Entry(key, "other", (), what=_ELSEWHERE) if node is None else self.entry(key, node, above)

    def entry(self, key: str, node: Any, above: tuple[Any, ...]) -> Entry:
        if len(above) > _DEEPEST_GROUP or node in above:
            return Entry(key, "other", (), what="nested too deep or part of itself")
        if self._is_empty.get(node):
            return Entry(key, "empty", (0,), what="empty")
        self.limit.count(_AGAIN_BYTES if node in self._is_empty else 0)
        made = self._new_entry(key, node, above)
        self._is_empty[node] = made.kind == "empty"
        return made

    def _new_entry(self, key: str, node: Any, above: tuple[Any, ...]) -> Entry:
        kind = node.attrs.get("MATLAB_class", "")
        kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
        if "MATLAB_object_decode" in node.attrs and kind not in ("struct", "cell"):
            return Entry(key, "other", (), what="a MATLAB object" if kind != "function_handle" else "a function handle")
        if hasattr(node, "keys"):
            return self._group(key, node, (*above, node))
        if not hasattr(node, "shape"):
            return Entry(key, "other", (), what="the definition of a type")
        return self._dataset(key, node, kind, (*above, node))

    def _group(self, key: str, node: Any, path: tuple[Any, ...]) -> Entry:
        if "MATLAB_sparse" in node.attrs:
            parts = {name: own_node(node, name) for name in ("data", "ir", "jc") if name in node}
            if any(each is None or _is_elsewhere(each) for each in parts.values()):
                return Entry(key, "other", (), what=_ELSEWHERE)
            shape = (int(node.attrs["MATLAB_sparse"]), int(parts["jc"].shape[0]) - 1)
            n_stored = int(parts["data"].shape[0]) if "data" in parts else 0
            n_bytes = sparse_bytes(shape, n_stored, 8)
            return array_entry(self.limit, key, "sparse", shape, n_bytes, lambda: self._read_sparse(key, parts, shape))

        def fields() -> list[Entry]:
            return [self.linked(node, name, f"{key}.{name}", path) for name in node]

        return Entry(key, "struct", (1, 1), members=cache(guarded(self.limit.path, fields)))

    def _dataset(self, key: str, node: Any, kind: str, path: tuple[Any, ...]) -> Entry:
        if _is_elsewhere(node):
            return Entry(key, "other", (), what=_ELSEWHERE)
        shape, dtype = node.shape, node.dtype
        if shape is None or "MATLAB_empty" in node.attrs:
            return Entry(key, "empty", (0,), what="empty")
        transposed = bool(kind) or self.from_matlab
        shape = tuple(reversed(shape)) if transposed else shape
        n_bytes = math.prod(shape) * dtype.itemsize
        metadata = dtype.metadata or {}
        if dtype.kind == "O" and "ref" in metadata:
            members = cache(guarded(self.limit.path, lambda: self._members(key, node, path)))
            return Entry(key, "cell", shape, members=members)
        if metadata.get("vlen") in (str, bytes):
            return array_entry(self.limit, key, "text", shape, n_bytes, lambda: self._read_texts(node))
        if kind == "char" or dtype.kind == "S":

            def characters() -> list[str]:
                values = self._read(key, node)
                return decoded(values) if kind != "char" else [_joined(row) for row in np.atleast_2d(values.T)]

            return array_entry(self.limit, key, "text", shape, 4 * n_bytes, characters)
        if dtype.kind not in "fiub":
            what = "complex numbers" if dtype.names == ("real", "imag") else unusable(dtype)
            return Entry(key, "other", shape, what=what)

        on_disk = self.on_disk and not transposed and len(shape) == 2

        def load() -> Any:
            if on_disk:
                self._check_chunks(key, node)
                return copied_to_disk(node)
            values = self._read(key, node)
            # A transposed array is a numpy view: nothing is copied.
            return values.T if transposed else values

        axis = -1 if transposed else 0
        return array_entry(self.limit, key, "matrix", shape, n_bytes, load, axis, in_memory=not on_disk)

    def _members(self, key: str, node: Any, path: tuple[Any, ...]) -> list[Entry]:
        self.limit.count(math.prod(node.shape) * MEMBER_BYTES)
        members = []
        for i, reference in enumerate(np.ravel(self._read(key, node))):
            name = f"{key}{{{i + 1}}}"
            target = self.file[reference] if reference else None
            empty = Entry(name, "empty", (0,), what="empty")
            members.append(empty if target is None else self.entry(name, target, path))
        return members

    def _read(self, key: str, node: Any) -> Any:
        """All values of a dataset whose size has been claimed."""
        self._check_chunks(key, node)
        return node[()]

    def _read_texts(self, node: Any) -> list[str]:
        if max(node.shape, default=1) != math.prod(node.shape):
            raise ValueError("texts of variable length in several columns")
        self._check_texts(node)
        if not node.shape:
            return decoded(node[()])
        texts: list[str] = []
        axis = node.shape.index(max(node.shape))
        for start in range(0, node.shape[axis], _TEXTS_AT_ONCE):
            block = decoded(node[(slice(None),) * axis + (slice(start, start + _TEXTS_AT_ONCE),)])
            self.limit.count(sum(len(text) + 64 for text in block))
            texts += block
        return texts

    def _check_texts(self, node: Any) -> None:
        """Refuse texts that claim to be longer than the file: HDF5 would allocate what they claim.

        A text is stored as its length, four bytes, and the place of its content. Compressed lengths are not checked.
        """
        size, stored = os.path.getsize(self.file.filename), []
        if node.chunks is not None and node.id.get_create_plist().get_nfilters() == 0:
            node.id.chunk_iter(lambda info: stored.append((info.byte_offset, info.size)))
        elif node.chunks is None and node.id.get_offset() is not None:
            stored.append((node.id.get_offset(), node.id.get_storage_size()))
        width = 4 + self.file.id.get_create_plist().get_sizes()[0] + 4
        with open(self.file.filename, "rb") as file:
            for offset, n_bytes in stored:
                file.seek(offset)
                records = np.frombuffer(file.read(min(n_bytes, size)), dtype=np.uint8)
                lengths = records[: len(records) // width * width].reshape(-1, width)[:, :4].copy().view("<u4")
                if lengths.size and int(lengths.max()) > size:
                    raise ValueError("a text is longer than the file")

    def sparse_group(self, key: str, node: Any, shape: tuple[int, int], form: str) -> Entry:
        """Entry of a sparse matrix as anndata writes it: ``form`` is "csr" or "csc"."""
        parts = {name: own_node(node, name) for name in ("data", "indices", "indptr")}
        if any(each is None or _is_elsewhere(each) for each in parts.values()):
            return Entry(key, "other", (), what=_ELSEWHERE)
        named = {"data": parts["data"], "ir": parts["indices"], "jc": parts["indptr"]}
        n_bytes = sparse_bytes(shape, int(parts["data"].shape[0]), 8)
        make = sp.csr_array if form == "csr" else sp.csc_array
        return array_entry(
            self.limit, key, "sparse", shape, n_bytes, lambda: self._read_sparse(key, named, shape, make)
        )

    def _read_sparse(self, key: str, parts: dict[str, Any], shape: tuple[int, int], make: Any = sp.csc_array) -> Any:
        """A sparse matrix; its indices, 64 bits in the file, are narrowed while they are read."""
        if "ir" not in parts:
            return make(shape)
        for name, part in parts.items():
            self.limit.claim(f"{key}.{name}", math.prod(part.shape) * part.dtype.itemsize)
        data = self._read(f"{key}.data", parts["data"])
        count = max(*shape, len(data))
        index_type = np.int32 if count < np.iinfo(np.int32).max else np.int64
        rows, starts = (np.empty(parts[name].shape, dtype=index_type) for name in ("ir", "jc"))
        for name, target in (("ir", rows), ("jc", starts)):
            if target.size:
                self._check_chunks(f"{key}.{name}", parts[name])
                parts[name].read_direct(target)
        return checked_sparse(key, make((data, rows, starts), shape=shape))

    def _check_chunks(self, key: str, node: Any) -> None:
        """Refuse chunks that inflate to more than the chunk has: HDF5 would follow them without a limit."""
        if node.chunks is None:
            return
        chunk_bytes = math.prod(node.chunks) * node.dtype.itemsize
        self.limit.claim(f"chunk of {key}", chunk_bytes)
        large: list[tuple[int, ...]] = []
        if node.compression == "gzip":
            node.id.chunk_iter(lambda info: large.append(info.chunk_offset) if info.size > _LARGE_CHUNK else None)
        for offset in large:
            content = node.id.read_direct_chunk(offset)[1]
            inflate, n_bytes = zlib.decompressobj(), 0
            while content and not inflate.eof:
                try:
                    n_bytes += len(inflate.decompress(content, _PIECE))
                except zlib.error:
                    # Damaged, or stored as it is: HDF5 finds out.
                    break
                # Filters may add a few bytes to the values.
                if n_bytes > chunk_bytes + _PIECE:
                    raise ValueError("a compressed chunk is longer than it says")
                content = inflate.unconsumed_tail


_ELSEWHERE = "a link, or stored in another file, and links are not followed"


def _is_elsewhere(node: Any) -> bool:
    return bool(node.external) or node.is_virtual


def _joined(row: Any) -> str:
    return "".join(map(chr, row)).rstrip()
