"""What a file may cost: sizes are compared before anything is allocated, and nothing outside the file is read."""

from __future__ import annotations

import os
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from mat_files import assert_noted, assert_refused, assert_views, cell, write_mat73
from numpy.lib import format as npy
from scipy.io import savemat

from anchor_align import FileError, InputError, InputTypeError, load_views
from anchor_align.data import read_graphs, read_mask

RNG = np.random.default_rng(1)
A, B = RNG.random((12, 5)), RNG.random((12, 7))
MIB = 2**20


def refused_cheaply(path: Path, *parts: str) -> None:
    """Refused in one line, and nothing large was allocated on the way."""
    tracemalloc.start()
    try:
        assert_refused(path, *parts, kind=FileError, orient="rows")
        assert tracemalloc.get_traced_memory()[1] < 64 * MIB
    finally:
        tracemalloc.stop()


def _declared_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("X1", shape=(10**6, 1000), dtype="f8")
        file.create_dataset("X2", shape=(10**6, 1000), dtype="f8", chunks=(1000, 10))


def _null_references(path: Path) -> None:
    with h5py.File(path, "w") as file:
        node = file.create_dataset("X", shape=(3 * 10**6,), dtype=h5py.ref_dtype)
        node.attrs["MATLAB_class"] = np.bytes_("cell")


def _many_links(path: Path) -> None:
    """Groups in groups, each linked twenty times: 20^8 nodes from a few."""
    with h5py.File(path, "w") as file:
        inner = file.create_group("#refs#/0")
        inner.create_dataset("X", data=A)
        for depth in range(1, 9):
            outer = file.create_group(f"#refs#/{depth}")
            for link in range(20):
                outer[f"g{link}"] = inner
            inner = outer
        file["data"] = inner


def _tall_sparse(path: Path) -> None:
    parts: dict[str, Any] = {
        "indices": np.zeros(1, np.int32),
        "indptr": np.array([0] + [1] * 10, np.int32),
        "data": np.ones(1),
    }
    np.savez(path, **parts, shape=np.array([2 * 10**9, 10]), format=np.array(b"csc"))


def _wide_diagonal(path: Path) -> None:
    shape = np.array([10**9, 10**9])
    np.savez(path, data=np.ones((1, 1)), offsets=np.zeros(1, np.int32), shape=shape, format=np.array(b"dia"))


def _tall_sparse_73(path: Path) -> None:
    write_mat73(path, {"X": sp.csc_array(A)})
    with h5py.File(path, "r+") as file:
        file["X"].attrs["MATLAB_sparse"] = np.uint64(2 * 10**9)


def _tall_sparse_in_cell(path: Path) -> None:
    savemat(path, {"X": cell([sp.csc_array((2 * 10**9, 5)), sp.csc_array((2 * 10**9, 7))])})


def _parquet_of_zeros(path: Path) -> None:
    pd.DataFrame({"a": np.zeros(2 * 10**7, np.int8)}).to_parquet(path)


def _empty_members(path: Path) -> None:
    """A compressed cell of 10^6 members without content."""
    n = 10**6
    parts = struct.pack("<IIII", 6, 8, 1, 0) + struct.pack("<IIii", 5, 8, 1, n) + struct.pack("<HH4s", 1, 1, b"X")
    _write_compressed(path, parts + struct.pack("<II", 14, 0) * n)


def _write_compressed(path: Path, matrix: bytes) -> None:
    packed = zlib.compress(struct.pack("<II", 14, len(matrix)) + matrix, 1)
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    path.write_bytes(header + struct.pack("<II", 15, len(packed)) + packed)


BOMBS: dict[str, Callable[[Path], None]] = {
    "declared.mat": _declared_hdf5,
    "references.mat": _null_references,
    "links.mat": _many_links,
    "tall.npz": _tall_sparse,
    "wide.npz": _wide_diagonal,
    "tall73.mat": _tall_sparse_73,
    "tall5.mat": _tall_sparse_in_cell,
    "members.mat": _empty_members,
    "zeros.parquet": _parquet_of_zeros,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_small_files_cost_little(tmp_path: Path, name: str) -> None:
    """Files of a few kB that ask for gigabytes are refused before memory is; the line says what allows them."""
    BOMBS[name](tmp_path / name)
    assert (tmp_path / name).stat().st_size < MIB
    refused_cheaply(tmp_path / name, "of memory", "max_bytes= (--max-size)")


@pytest.mark.parametrize("form", ["npz", "npy", "mat5", "mat73", "parquet", "csv"])
def test_max_bytes(tmp_path: Path, form: str) -> None:
    """A limit of the user's own is kept in every format, and a larger one lets the same file through."""
    X = np.zeros((1000, 100))
    path = tmp_path / f"a.{form.rstrip('573')}"
    writers: dict[str, Callable[[], object]] = {
        "npz": lambda: np.savez_compressed(path, X=X),
        "npy": lambda: np.save(path, X),
        "mat5": lambda: savemat(path, {"X": X}, do_compression=True),
        "mat73": lambda: write_mat73(path, {"X": X}, compression="gzip"),
        "parquet": lambda: pd.DataFrame(X, columns=[f"c{i}" for i in range(100)]).to_parquet(path),
        "csv": lambda: np.savetxt(path, X, delimiter=","),
    }
    writers[form]()
    assert_refused(path, "max_bytes (--max-size) is 100 KB", kind=FileError, max_bytes=100_000, orient="rows")
    assert_views(load_views(path, max_bytes="20MB", orient="rows"), X)


def test_max_bytes_is_checked(tmp_path: Path) -> None:
    """It is an amount of memory."""
    np.save(tmp_path / "a.npy", A)
    with pytest.raises(InputError, match="max_bytes must be an amount"):
        load_views(tmp_path / "a.npy", max_bytes="lots")
    with pytest.raises(InputTypeError, match="max_bytes must be an amount"):
        load_views(tmp_path / "a.npy", max_bytes=1.5)  # type: ignore[arg-type]


def test_free_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An array that is larger than the free memory is refused; max_bytes tries it nevertheless."""
    X = np.zeros((MIB, 3))
    np.save(tmp_path / "a.npy", X)
    monkeypatch.setattr("anchor_align.data._size_limits.available_memory", lambda: 20 * MIB)
    refused_cheaply(tmp_path / "a.npy", "an array takes 25.2 MB of memory, and 21 MB are free", "max_bytes=")
    assert_views(load_views(tmp_path / "a.npy", orient="rows", max_bytes="1GB"), X)


@pytest.mark.slow
def test_bombs_that_decompress(tmp_path: Path) -> None:
    """Zeros in zip, zlib and HDF5 chunks are refused by the size they declare, or when they exceed it."""
    n = 300 * MIB
    archive = zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with archive, archive.open("X.npy", "w") as file:
        npy.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (n // 4, 4)})
        for _ in range(n // MIB):
            file.write(bytes(MIB))
    refused_cheaply(tmp_path / "a.npz", "315 MB of memory", "max_bytes=")
    sides = struct.pack("<IIii", 5, 8, n // 4, 4)
    start = struct.pack("<IIII", 6, 8, 9, 0) + sides + struct.pack("<HH4s", 1, 1, b"X") + struct.pack("<II", 2, n)
    _write_compressed(tmp_path / "a.mat", start + bytes(n))
    refused_cheaply(tmp_path / "a.mat", "315 MB of memory", "max_bytes=")
    with h5py.File(tmp_path / "b.mat", "w") as hdf5:
        node = hdf5.create_dataset("X", shape=(2000, 100), dtype="f8", chunks=(2000, 100), compression="gzip")
        node.id.write_direct_chunk((0, 0), zlib.compress(bytes(n), 1))
    refused_cheaply(tmp_path / "b.mat", "a compressed chunk is longer than it says")


def test_zip_methods_that_numpy_does_not_write(tmp_path: Path) -> None:
    """Are refused: they decompress without a limit."""
    np.save(tmp_path / "X.npy", A)
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.write(tmp_path / "X.npy", "X.npy")
    assert_refused(tmp_path / "a.npz", "by a method that numpy does not write", kind=FileError)


def test_sizes_that_the_file_does_not_have(tmp_path: Path) -> None:
    """An array that is longer than its file, or has a negative side, is refused before it is allocated."""
    for shape in ((10**12, 10), (-1, 5)):
        with (tmp_path / "a.npy").open("wb") as file:
            npy.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
            file.write(bytes(100))
        refused_cheaply(tmp_path / "a.npy", "an array is shorter than it says")
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
            archive.write(tmp_path / "a.npy", "X.npy")
        refused_cheaply(tmp_path / "a.npz", "an array is shorter than it says")


@pytest.mark.parametrize("matrix_class", [4, 2])
def test_text_and_structs_without_content(tmp_path: Path, matrix_class: int) -> None:
    """A text of 10^9 characters that stores none, and as many structs without fields, are refused."""
    start = struct.pack("<IIII", 6, 8, matrix_class, 0) + struct.pack("<IIii", 5, 8, 10**5, 10**4)
    start += struct.pack("<HH4s", 1, 1, b"y")
    no_fields = struct.pack("<HHi", 5, 4, 32) + struct.pack("<II", 1, 0)
    _write_compressed(tmp_path / "a.mat", start + (struct.pack("<II", 4, 0) if matrix_class == 4 else no_fields))
    refused_cheaply(tmp_path / "a.mat", "damaged")


def test_long_words_count_once(tmp_path: Path) -> None:
    """One long label among many short ones does not make all of them long."""
    lines = ["label,a,b", f"{'x' * 100_000},1,2", *(f"{'uv'[i % 2]},{i},1" for i in range(5000))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    tracemalloc.start()
    assert load_views(tmp_path / "a.csv").n_clusters == 3
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * MIB


def test_long_texts_of_parquet_count_once(tmp_path: Path) -> None:
    """A text that the file has once stays in memory once, whatever the number of rows, in columns and the index."""
    n = 200
    words: Any = pd.Categorical(["x" * MIB, "y"] * (n // 2))
    frame = pd.DataFrame(
        {"a": np.arange(n) * 0.5, "b": np.arange(n) % 3, "label": words}, index=pd.CategoricalIndex(words)
    )
    frame.to_parquet(tmp_path / "a.parquet")
    tracemalloc.start()
    data = load_views(tmp_path / "a.parquet")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(data.labels, np.arange(n) % 2)
    assert peak < 64 * MIB


def test_group_that_holds_itself(tmp_path: Path) -> None:
    """Is left out, and the rest is read."""
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["X1"], file["X2"] = A, B
        group = file.create_group("about")
        group["about"] = group
    data = load_views(tmp_path / "a.mat")
    assert_views(data, A, B)
    assert_noted(data, "part of itself")


def test_nothing_outside_the_file_is_read(tmp_path: Path) -> None:
    """External links, external storage and virtual datasets are left out, also in cells and sparse matrices."""
    secret = RNG.random((12, 4))
    (tmp_path / "secret.bin").write_bytes(secret.tobytes())
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = secret
    layout = h5py.VirtualLayout(shape=(12, 4), dtype="f8")
    layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "X", shape=(12, 4))
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["X1"], file["X2"] = A, B
        file["X3"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/X")
        file["X4"] = h5py.SoftLink("/X3")
        stored = [(str(tmp_path / "secret.bin"), 0, secret.nbytes)]
        file.create_dataset("X5", shape=(12, 4), dtype="f8", external=stored)
        file.create_virtual_dataset("X6", layout)
        group = file.create_group("data")
        group["X7"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/X")
        sparse = file.create_group("X8")
        sparse.attrs["MATLAB_sparse"] = 12
        sparse["jc"] = np.arange(5)
        sparse["ir"] = np.arange(4)
        sparse.create_dataset("data", shape=(4,), dtype="f8", external=[(str(tmp_path / "secret.bin"), 0, 32)])
        cells = file.create_dataset("more", shape=(2,), dtype=h5py.ref_dtype)
        cells.attrs["MATLAB_class"] = np.bytes_("cell")
        cells[0], cells[1] = file["X5"].ref, file["X6"].ref
    data = load_views(tmp_path / "a.mat")
    assert_views(data, A, B)
    for key in ("X3", "X4", "X5", "X6", "data.X7", "X8"):
        assert_noted(data, f"{key!r} is a link, or stored in another file, and links are not followed: left out.")
    with pytest.raises(InputError, match="not followed"):
        load_views(tmp_path / "a.mat", views="more")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_pipes_and_devices(tmp_path: Path) -> None:
    """Are refused at once, as a path and in a folder, as data, graphs and masks."""
    os.mkfifo(tmp_path / "b.npy")
    for path in (tmp_path / "b.npy", Path(os.devnull)):
        assert_refused(path, "it is a pipe or a device", kind=FileError)
        for read in (lambda name: read_graphs([name]), read_mask):
            with pytest.raises(FileError, match="a pipe or a device"):
                read(str(path))
    np.save(tmp_path / "a.npy", A)
    with pytest.raises(FileError, match=r"b\.npy: it is a pipe or a device"):
        load_views(tmp_path)


def test_graphs_and_masks(tmp_path: Path) -> None:
    """Have the same limits."""
    _tall_sparse(tmp_path / "a.npz")
    for read in (lambda name: read_graphs([name]), read_mask):
        with pytest.raises(FileError, match="max_bytes="):
            read(str(tmp_path / "a.npz"))
    np.savez_compressed(tmp_path / "b.npz", Z1=np.zeros((1000, 100)), Z2=np.zeros((1000, 100)))
    with pytest.raises(FileError, match="is 1 MB"):
        read_graphs([str(tmp_path / "b.npz")], max_bytes="1MB")
    sp.save_npz(tmp_path / "c.npz", sp.csr_array((30_000, 30_000), dtype=bool))
    with pytest.raises(FileError, match="max_bytes="):
        read_mask(str(tmp_path / "c.npz"))


@pytest.mark.parametrize("chunks", [None, (4,)])
def test_a_text_that_claims_to_be_longer_than_the_file(tmp_path: Path, chunks: tuple[int] | None) -> None:
    """HDF5 would allocate what it claims, a gigabyte for one flipped bit in a length."""
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "cells.h5ad"
    names = [f"cell {i}" for i in range(10)]
    anndata.AnnData(np.eye(10), obs=pd.DataFrame({"kind": ["a", "b"] * 5}, index=names)).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["obs/_index"]
        node = file.create_dataset("obs/_index", data=names, dtype=h5py.string_dtype(), chunks=chunks)
        file.flush()
        place = node.id.get_offset() if chunks is None else node.id.get_chunk_info(1).byte_offset
    assert load_views(path).samples == tuple(names)
    content = bytearray(path.read_bytes())
    content[place + 3] ^= 0x40  # the highest byte of a length
    path.write_bytes(content)
    with pytest.raises(FileError, match="a text is longer than the file"):
        load_views(path)
