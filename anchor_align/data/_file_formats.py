"""File formats: the first bytes of a file, not its name, decide which reader it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..errors import FileError, InputError
from ._entries import Entry, natural, reading
from ._hdf5_files import hdf5_entries
from ._mat_files import mat5_entries
from ._numpy_files import npy_entry, npz_entries
from ._size_limits import SizeLimit
from ._table_files import folder_tables, read_table, table_entries

_HDF5 = b"\x89HDF\r\n\x1a\n"
_TABLES = (".csv", ".tsv")
_TABLE_KINDS = ("csv", "parquet")
ENDINGS = (".npy", ".npz", ".parquet", *_TABLES)
EXPECTED = "a .mat, .npz, .npy, .csv or .parquet file, or a folder with one file for each view"


@contextmanager
def open_source(path: Path, max_bytes: int | None = None, *, mmap: bool = False) -> Iterator[list[Entry]]:
    """Entries of a file or folder; they can be read as long as it is open.

    The content of each file may take ``max_bytes`` of memory, see :class:`SizeLimit`.
    """
    with reading(path):
        is_folder = path.is_dir()
        if not is_folder:
            limit = SizeLimit(path, max_bytes)
            kind = file_kind(path)
    if is_folder:
        yield folder_entries(path, max_bytes, mmap=mmap)
    elif kind == "hdf5":
        with hdf5_entries(limit) as entries:
            yield entries
    elif kind == "mat":
        yield mat5_entries(limit)
    elif kind == "npz":
        yield npz_entries(limit)
    elif kind in _TABLE_KINDS:
        yield table_entries(read_table(limit, kind, path.stem))
    elif kind:
        yield [single_entry(limit, kind, path.stem, mmap=mmap)]
    else:
        raise InputError(f"{path} is not a file that can be read here; expected {EXPECTED}.")


def file_kind(path: Path) -> str:
    """Format of a file by its content: "hdf5", "mat", "npz", "npy", "parquet", "csv", or "" for any other."""
    with path.open("rb") as file:
        start = file.read(512)
        signatures = [start[:8]]
        # HDF5 may begin after a header of the program that wrote it, at 512, 1024, ... bytes; MATLAB uses 512.
        for offset in (512, 1024, 2048, 4096):
            file.seek(offset)
            signatures.append(file.read(8))
    if not start:
        raise FileError(f"Cannot read {path}: it is empty.")
    if _HDF5 in signatures:
        return "hdf5"
    if start.startswith(b"\x93NUMPY"):
        return "npy"
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "npz"
    if start.startswith(b"PAR1"):
        return "parquet"
    if start[126:128] in (b"IM", b"MI"):
        return "mat"
    if path.suffix.lower() in _TABLES and b"\0" not in start:
        return "csv"
    # Version 4 has no signature; its first number is a small code in either byte order.
    if path.suffix.lower() == ".mat" and len(start) >= 20 and start[:4].count(0) in (2, 3, 4):
        return "mat"
    return ""


def folder_entries(folder: Path, max_bytes: int | None = None, *, mmap: bool = False) -> list[Entry]:
    """One entry for each file of a folder that holds one array, in natural order of the names."""
    with reading(folder):
        listed = sorted((p for p in folder.iterdir() if p.name[0] != "."), key=lambda p: natural(p.name))
        # A pipe, device or dead link that is named like a table is refused, not left out.
        files = [p for p in listed if p.is_file() or (p.suffix.lower() in ENDINGS and not p.is_dir())]
        limits = {path: SizeLimit(path, max_bytes) for path in files}
    kinds = {path: _kind_in_folder(path) for path in files}
    usable = [path for path in files if kinds[path] in ("npy", "npz", *_TABLE_KINDS)]
    if not usable:
        others = [path.name for path in files if kinds[path]]
        hint = f"; to read {others[0]}, give its own path" if others else ""
        raise InputError(f"{folder} holds no .npy, .csv, .parquet or sparse .npz files, one for each view{hint}.")
    stems = [path.stem for path in usable]
    keys = {p: p.stem if stems.count(p.stem) == 1 else p.name for p in usable}
    tables = [read_table(limits[p], kinds[p], keys[p]) for p in usable if kinds[p] in _TABLE_KINDS]
    arrays = {p: single_entry(limits[p], kinds[p], keys[p], mmap=mmap) for p in usable if kinds[p] not in _TABLE_KINDS}
    settled = folder_tables(tables, list(arrays.values()), folder)
    entries = [entry for path in usable for entry in (settled[path] if path in settled else [arrays[path]])]
    left = [f"{path.name}/" if path.is_dir() else path.name for path in listed if path not in usable]
    return entries + [Entry(name, "unread", (), what="not a table", name=name) for name in left]


def _kind_in_folder(path: Path) -> str:
    """Kind of one of several files. A file with the ending of a table and other content is refused."""
    with reading(path):
        ending = path.suffix.lower()
        kind = file_kind(path) if path.stat().st_size or ending in ENDINGS else ""
    if ending in ENDINGS and kind not in ("npy", "npz", *_TABLE_KINDS):
        expected = "text in UTF-8" if ending in _TABLES else f"a {ending} file"
        raise FileError(f"Cannot read {path}: its content is not that of {expected}.")
    return kind


def single_entry(limit: SizeLimit, kind: str, key: str, *, mmap: bool = False) -> Entry:
    """The one array of a file."""
    if kind in _TABLE_KINDS:
        return table_entries(read_table(limit, kind, key))[0]
    if kind == "npy":
        return replace(npy_entry(limit, key, mmap=mmap), name=limit.path.stem)
    inside = npz_entries(limit)
    if len(inside) != 1:
        keys = ", ".join(repr(entry.key) for entry in inside[:5])
        raise InputError(
            f"{limit.path} holds {len(inside)} arrays ({keys}); in a folder, expected one file for each view: give its "
            "path."
        )
    return replace(inside[0], key=key, name=limit.path.stem)
