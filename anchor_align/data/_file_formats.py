"""File formats: the first bytes of a file, not its name, decide which reader it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from ..blocks import natural
from ..errors import FileError, InputError
from ._entries import Entry, normal, reading
from ._find_labels import LABEL_NAMES
from ._hdf5_files import hdf5_entries
from ._mat_files import mat5_entries
from ._numpy_files import npy_entry, npz_entries, spreadsheet
from ._read_options import ReadOptions
from ._size_limits import SizeLimit
from ._table_columns import field_number
from ._table_files import TABLE_KINDS, folder_tables, read_table, table_entries
from ._text_tables import GZIP

_HDF5 = b"\x89HDF\r\n\x1a\n"
_TABLES = (".csv", ".tsv", ".txt")
_SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_SINGLE = ("npy", "npz", *TABLE_KINDS)
ENDINGS = (".npy", ".npz", ".parquet", ".feather", *_TABLES)
EXPECTED = (
    "a .mat, .npz, .npy, .csv, .tsv, .txt, .parquet, .feather, .h5ad or .h5mu file, or a folder with one file for each "
    "view"
)


@contextmanager
def open_source(path: Path, options: ReadOptions) -> Iterator[list[Entry]]:
    """Entries of a file or folder; they can be read as long as it is open."""
    with reading(path):
        is_folder = path.is_dir()
        if not is_folder:
            limit = SizeLimit(path, options.max_bytes)
            kind = file_kind(path)
    if is_folder:
        yield folder_entries(path, options)
    elif kind == "hdf5":
        with hdf5_entries(limit, on_disk=options.mmap) as entries:
            yield entries
    elif kind == "mat":
        yield mat5_entries(limit)
    elif kind == "npz":
        yield npz_entries(limit)
    elif kind in TABLE_KINDS:
        yield table_entries(read_table(limit, kind, _stem(path), options))
    elif kind:
        yield [single_entry(limit, kind, _stem(path), options)]
    else:
        raise InputError(f"{path} is not a file that can be read here; expected {EXPECTED}.")


def _ending(path: Path) -> str:
    """Ending of a file's name; that of its content if it is compressed."""
    inner = Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else ""
    return inner if inner in _TABLES else path.suffix.lower()


def _stem(path: Path) -> str:
    """Name of a file without its ending."""
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def file_kind(path: Path) -> str:
    """Format of a file by its content: one of those that ``open_source`` knows, or "" for any other."""
    if path.suffix.lower() in _SPREADSHEETS:
        raise spreadsheet(path)
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
    if start.startswith(b"ARROW1\0\0"):
        return "feather"
    if start.startswith(GZIP) and _ending(path) in _TABLES:
        return "csv"
    if start[126:128] in (b"IM", b"MI"):
        return "mat"
    if _ending(path) in _TABLES and b"\0" not in start:
        return "csv"
    # Version 4 has no signature; its first number is a small code in either byte order.
    if path.suffix.lower() == ".mat" and len(start) >= 20 and start[:4].count(0) in (2, 3, 4):
        return "mat"
    return ""


def folder_entries(folder: Path, options: ReadOptions) -> list[Entry]:
    """One entry for each file of a folder that holds one array, in natural order of the names."""
    with reading(folder):
        listed = sorted((p for p in folder.iterdir() if p.name[0] != "."), key=lambda p: natural(p.name.lower()))
        # A pipe, device or dead link that is named like a table is refused, not left out.
        files = [p for p in listed if p.is_file() or (_ending(p) in ENDINGS and not p.is_dir())]
        for path in files:
            SizeLimit(path)
    kinds = {path: _kind_in_folder(path) for path in files}
    usable = {path: kind for path, kind in kinds.items() if kind in _SINGLE}
    if not usable:
        others = [path.name for path in files if kinds[path] or path.suffix.lower() in _SPREADSHEETS]
        hint = f"; to read {others[0]}, give its own path" if others else ""
        raise InputError(
            f"{folder} holds no .npy, .csv, .tsv, .txt, .parquet, .feather or sparse .npz files, one for each "
            f"view{hint}."
        )
    entries = _separate_files(usable, str(folder), options)
    left = [f"{path.name}/" if path.is_dir() else path.name for path in listed if path not in usable]
    return entries + [Entry(name, "unread", (), what="not a table", name=name) for name in left]


@contextmanager
def open_list(paths: Sequence[Path], options: ReadOptions) -> Iterator[list[Entry]]:
    """Entries of several files that hold one table, or one AnnData, each; they can be read as long as it is open."""
    kinds: dict[Path, str] = {}
    for path in paths:
        with reading(path):
            if path.is_dir():
                raise InputError(f"{path} is a folder; in a list, expected one file for each view.")
            SizeLimit(path)
            kinds[path] = file_kind(path)
        if not kinds[path]:
            _refuse_content(path)
        if kinds[path] not in (*_SINGLE, "hdf5"):
            raise InputError(f"{path} cannot be one of several files; expected a table for each view: {EXPECTED}.")
    tables = {path: kind for path, kind in kinds.items() if kind != "hdf5"}
    found = _separate_files(tables, "the files", options)
    with ExitStack() as stack:
        for path in (path for path, kind in kinds.items() if kind == "hdf5"):
            limit = SizeLimit(path, options.max_bytes)
            made = stack.enter_context(hdf5_entries(limit, stem=path.stem, on_disk=options.mmap))
            if not any(entry.part for entry in made) or any(entry.absent is not None for entry in made):
                raise InputError(
                    f"{path} cannot be one of several files; expected a table or an .h5ad file for each view."
                )
            found = [*found, *made]
        yield found


def _separate_files(kinds: Mapping[Path, str], where: str, options: ReadOptions) -> list[Entry]:
    """Entries of files of which each holds one array, and perhaps labels."""
    limits = {path: SizeLimit(path, options.max_bytes) for path in kinds}
    stems = {path: _stem(path) for path in kinds}
    keys = {p: stem if list(stems.values()).count(stem) == 1 else p.name for p, stem in stems.items()}
    if len(set(keys.values())) < len(keys):
        keys = {p: str(p) for p in kinds}
    tables = [read_table(limits[p], kind, keys[p], options) for p, kind in kinds.items() if kind in TABLE_KINDS]
    arrays = {
        p: single_entry(limits[p], kind, keys[p], options) for p, kind in kinds.items() if kind not in TABLE_KINDS
    }
    settled = folder_tables(tables, list(arrays.values()), where)
    return [entry for path in kinds for entry in (settled[path] if path in settled else [arrays[path]])]


def _kind_in_folder(path: Path) -> str:
    """Kind of one of several files. A file with the ending of a table and other content is refused."""
    with reading(path):
        ending = _ending(path)
        if ending in _SPREADSHEETS or (path.suffix.lower() == ".txt" and not _looks_like_table(path)):
            return ""
        kind = file_kind(path) if path.stat().st_size or ending in ENDINGS else ""
    if kind not in _SINGLE:
        _refuse_content(path)
    return kind


def _looks_like_table(path: Path) -> bool:
    """Whether a .txt file holds labels, or half of the fields of its second line are numbers; README.txt does not."""
    if normal(path.stem) in LABEL_NAMES:
        return True
    with path.open("rb") as file:
        lines = [file.readline().decode("utf-8", "replace").strip() for _ in range(2)]
    fields = re.findall(r"[^\s;,]+", lines[1] or lines[0])
    return bool(fields) and 2 * sum(field_number(each.strip('"')) is not None for each in fields) >= len(fields)


def _refuse_content(path: Path) -> None:
    """Refuse a file that has the ending of a table and other content."""
    ending = _ending(path)
    if ending in ENDINGS:
        expected = "text in UTF-8 (in Excel 'CSV UTF-8')" if ending in _TABLES else f"a {ending} file"
        raise FileError(f"Cannot read {path}: its content is not that of {expected}.")


def single_entry(limit: SizeLimit, kind: str, key: str, options: ReadOptions) -> Entry:
    """The one array of a file."""
    if kind in TABLE_KINDS:
        return table_entries(read_table(limit, kind, key, options))[0]
    if kind == "npy":
        return replace(npy_entry(limit, key, mmap=options.mmap), name=limit.path.stem)
    inside = npz_entries(limit)
    if len(inside) != 1:
        keys = ", ".join(repr(entry.key) for entry in inside[:5])
        raise InputError(
            f"{limit.path} holds {len(inside)} arrays ({keys}); in a folder, expected one file for each view: give its "
            "path."
        )
    return replace(inside[0], key=key, name=limit.path.stem)
