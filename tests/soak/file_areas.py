"""Areas on files: damaged files of every format, read by ``load_views`` and by the command ``align``.

Each file is written whole and then damaged: bits are flipped, pieces cut off, overwritten, doubled or replaced by
large numbers. Inside compressed files the content is damaged and packed again, so that every checksum is right.
"""

from __future__ import annotations

import contextlib
import io
import os
import struct
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from case_checks import Call, promise
from mat_files import cell, write_mat73
from random_data import pick
from scipy.io import savemat

from anchor_align import AlignedClusterer, load, load_views
from anchor_align.cli import main

Rng = np.random.Generator
FORMATS = (
    "mat",
    "mat compressed",
    "mat73",
    "npy",
    "npz",
    "npz sparse",
    "csv",
    "parquet",
    "folder",
    "hdf5 layout",
    "csv compressed",
    "feather",
    "h5ad",
    "h5mu",
)


def _content(rng: Rng) -> dict[str, Any]:
    n = int(rng.integers(4, 40))
    made: dict[str, Any] = {}
    for view in range(int(rng.integers(1, 4))):
        X: Any = rng.random((n, int(rng.integers(2, 9)))) * 10
        if rng.random() < 0.3:
            X = X.astype(pick(rng, np.float32, np.uint8, np.int16))
        made[f"X{view + 1}"] = X
    made["y"] = rng.integers(1, 4, size=(n, 1))
    return made


def _write(rng: Rng, path: Path, form: str) -> Path:
    """A whole file, or a folder of files, of this format."""
    content = _content(rng)
    X1 = content["X1"]
    match form:
        case "mat" | "mat compressed":
            made = dict(content)
            if rng.random() < 0.5:
                made = {"X": cell([content[name] for name in content if name != "y"]), "y": content["y"]}
            if rng.random() < 0.4:
                made["X1" if "X1" in made else "X"] = sp.csc_array(X1.astype(float) * (X1 > 5))
            if rng.random() < 0.3:
                made = {"data": made, "names": cell(["a", "\u00e4b"])}
            with path.open("wb") as file:
                target: Any = file
                savemat(target, made, do_compression=form != "mat")
        case "mat73":
            write_mat73(path, {**content, "cell": [X1, "text"], "S": sp.csc_array(X1.astype(float))}, **_packing(rng))
        case "hdf5 layout":
            _write_odd_hdf5(rng, path, content)
        case "npy":
            np.save(path.with_suffix(".npy"), X1)
            return path.with_suffix(".npy")
        case "npz":
            words = np.array(["a", "bc", "\u00e4"])[content["y"].ravel() % 3]
            made = {**content, "y": words} if rng.random() < 0.4 else content
            with path.open("wb") as file:
                pick(rng, np.savez, np.savez_compressed)(file, **made)
        case "npz sparse":
            sparse = pick(rng, sp.csr_array, sp.csc_array, sp.coo_array, sp.dia_array, sp.bsr_array)(X1.astype(float))
            with path.open("wb") as file:
                sp.save_npz(file, sparse, compressed=bool(rng.random() < 0.5))
        case "csv" | "csv compressed":
            frame = pd.DataFrame(X1).assign(label=content["y"].ravel())
            if rng.random() < 0.3:
                frame.index = pd.Index([f"s{at}" for at in rng.permutation(len(frame))])
            sep = str(pick(rng, ",", ";", "\t"))
            place = path.with_suffix(".csv" if form == "csv" else ".csv.gz")
            frame.to_csv(place, index=bool(rng.random() < 0.5), sep=sep, decimal="." if sep == "," else ",")
            return place
        case "feather":
            frame = pd.DataFrame(X1, columns=[f"c{at}" for at in range(X1.shape[1])])
            codec = pick(rng, "lz4", "zstd", "uncompressed")
            frame.assign(label=content["y"].ravel()).to_feather(path.with_suffix(".feather"), compression=codec)
            return path.with_suffix(".feather")
        case "h5ad" | "h5mu":
            return _write_annotated(rng, path.with_suffix(f".{form}"), X1)
        case "parquet":
            frame = pd.DataFrame(X1, columns=[f"c{at}" for at in range(X1.shape[1])])
            codec = pick(rng, "snappy", "gzip", None)
            frame.assign(label=content["y"].ravel()).to_parquet(path.with_suffix(".parquet"), compression=codec)
            return path.with_suffix(".parquet")
    return path


def _write_annotated(rng: Rng, path: Path, X: Any) -> Path:
    """AnnData or MuData with a layer, an array in obsm, and two modalities that share some samples."""
    import anndata
    import mudata

    mudata.set_options(pull_on_update=False)
    names = np.array([f"s{at}" for at in range(len(X))])

    def part(name: str) -> Any:
        rows = rng.permutation(len(X))[: max(1, len(X) - int(rng.integers(3)))]
        values = X[rows].astype(float)
        made = anndata.AnnData(sp.csr_matrix(values) if rng.random() < 0.5 else values)
        made.obs_names, made.var_names = names[rows], [f"{name}{at}" for at in range(X.shape[1])]
        made.layers["counts"], made.obsm["X_pca"] = sp.csc_matrix(values), values[:, :1].copy()
        made.obs["label"] = pd.Categorical(["u", "v"] * len(rows))[: len(rows)]
        return made

    made = part("a") if path.suffix == ".h5ad" else mudata.MuData({"a": part("a"), "b": part("b")})
    made.write(path)
    return path


def _packing(rng: Rng) -> dict[str, Any]:
    return pick(rng, {}, {"compression": "gzip", "chunks": True})  # type: ignore[no-any-return]


def _write_odd_hdf5(rng: Rng, path: Path, content: dict[str, Any]) -> None:
    """HDF5 that is valid but hostile: shapes without data, links in circles, links and data in other files."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in content.items():
            file[name] = value.T
        large = (int(10 ** rng.integers(3, 12)), int(10 ** rng.integers(0, 6)))
        match int(rng.integers(6)):
            case 0:
                file.create_dataset("X9", shape=large, dtype="f8", chunks=(100, 1))
            case 1:
                file["circle"] = file["/"]
            case 2:
                file["soft"] = h5py.SoftLink("/soft")
            case 3:
                file["outside"] = h5py.ExternalLink("/etc/passwd", "/x")
            case 4:
                file.create_dataset("X9", shape=(16, 8), dtype="u1", external=[("/etc/passwd", 0, 128)])
            case 5:
                count = int(10 ** rng.integers(0, 7))
                refs = file.create_dataset("cell", shape=(count, 1), dtype=h5py.ref_dtype, chunks=(min(count, 1000), 1))
                refs.attrs["MATLAB_class"] = np.bytes_("cell")
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def damage(rng: Rng, content: bytes) -> bytes:
    """One to four faults."""
    made = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        if not made:
            break
        at = int(rng.integers(len(made)))
        match int(rng.integers(7)):
            case 0 | 1:
                made[at] ^= 1 << int(rng.integers(8))
            case 2:
                made[at] = int(rng.integers(256))
            case 3 if rng.random() < 0.4:
                del made[at:]
            case 4:
                # A tag: a number of four or eight bytes where files have such numbers.
                at -= at % 4
                number = pick(rng, 0, 1, 2**31 - 1, 2**31, 2**32 - 1, 5, 14, 15, 10**6, int(rng.integers(2**32)))
                word = struct.pack(pick(rng, "<I", ">I", "<Q"), number)
                made[at : at + len(word)] = word
            case 5:
                made[at : at + int(rng.integers(1, 64))] = bytes(int(rng.integers(64)))
            case 6:
                other = int(rng.integers(len(made)))
                made[at:at] = made[other : other + int(rng.integers(1, 64))]
    return bytes(made)


def _damage_packed_mat(rng: Rng, content: bytes) -> bytes:
    """Damage inside the compressed variables of a MATLAB file; they are compressed again."""
    made, at = bytearray(content[:128]), 128
    while at + 8 <= len(content):  # each step moves on by the eight bytes of a tag or more
        kind, size = struct.unpack("<II", content[at : at + 8])
        packed = content[at + 8 : at + 8 + size]
        if kind == 15 and rng.random() < 0.7:
            packed = zlib.compress(damage(rng, zlib.decompress(packed)))
        made += struct.pack("<II", kind, len(packed)) + packed
        at += 8 + size
    return bytes(made)


def _damage_packed_zip(rng: Rng, content: bytes, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Damage inside the members of a zip file, or of their headers only; checksums are right."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w", packing) as new:
        for name in old.namelist():
            member = old.read(name)
            if rng.random() < 0.6:
                head = 128 if rng.random() < 0.6 else len(member)
                member = damage(rng, member[:head]) + member[head:]
            if rng.random() < 0.05:
                member += bytes(10**7)  # zeros, which hardly need room
            new.writestr(name, member)
    return made.getvalue()


def _damage_text(rng: Rng, content: bytes) -> bytes:
    words = (
        b"1e999",
        b"nan",
        b'"',
        b"\x00",
        b"\xff",
        b",,,,",
        b"=1+1",
        b"\r",
        "\u202e".encode(),
        b"9" * 400,
        b"x" * 200_000,
    )
    at = int(rng.integers(len(content)))
    return content[:at] + pick(rng, *words) + content[at:]  # type: ignore[no-any-return]


def damaged_file(rng: Rng, folder: Path, form: str) -> Path:
    """A damaged file, or one time in ten a whole one."""
    name = "data"
    if form == "folder":
        place = folder / "set"
        place.mkdir(exist_ok=True)
        for at in range(int(rng.integers(1, 4))):
            made = damaged_file(rng, place, str(pick(rng, "npy", "csv", "parquet", "npz sparse")))
            # The name says which file is a view and which has the labels.
            made.rename(place / f"{pick(rng, 'view', 'view', 'labels')}_{at}{made.suffix or '.npz'}")
        return place
    path = _write(rng, folder / name, form)
    content = path.read_bytes()
    if form == "hdf5 layout" or rng.random() < 0.1:
        return path
    inside = rng.random() < 0.5
    if form == "mat compressed" and inside:
        content = _damage_packed_mat(rng, content)
    elif form.startswith("npz") and inside:
        content = _damage_packed_zip(rng, content)
    elif form == "csv" and inside:
        content = _damage_text(rng, content)
    else:
        content = damage(rng, content)
    path.write_bytes(content)
    return path


def load_call(rng: Rng, folder: Path) -> Call:
    """``load_views`` of a damaged file: views of one number of samples, or one line."""
    path = damaged_file(rng, folder, str(pick(rng, *FORMATS)))
    if rng.random() < 0.02:
        path = folder / "pipe"
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path)
    arguments = {"path": path, "views": None, "labels": None, "orient": pick(rng, "auto", "auto", "rows", "columns")}

    def check(data: Any) -> None:
        promise({X.ndim for X in data.views} == {2}, "a view is not a matrix")
        promise({X.shape[0] for X in data.views} == {data.n_samples}, "views have different numbers of samples")
        promise(data.labels is None or len(data.labels) == data.n_samples, "labels have another number of samples")
        promise(len(data.names) == len(data.views) == len(set(data.names)), "names are not one for each view")

    return Call(load_views, {**arguments, "mmap": bool(rng.random() < 0.3)}, check, safe=("path",), spoiled=0.1)


def model_call(rng: Rng, folder: Path) -> Call:
    """``load`` of a damaged model, and labels of new samples: labels, or one line."""
    views = [rng.random((30, width)) for width in (3, 4)]
    adapter = str(pick(rng, "local", "lmvsc", "fmvacc", "sfmc", "msgl", "fmcnof"))
    path = folder / "my.model"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        AlignedClusterer(adapter, n_clusters=2, n_anchors=5, random_state=0).fit(views).save(path)
    content = path.read_bytes()
    # Half of the files have right checksums.
    packed = rng.random() < 0.5
    path.write_bytes(_damage_packed_zip(rng, content, zipfile.ZIP_STORED) if packed else damage(rng, content))

    def run(path: Path) -> Any:
        return load(path).assign(views)

    def check(found: Any) -> None:
        promise(found.labels.shape == (30,), "labels have another number of samples")
        promise(found.labels.min() >= 0 and found.labels.max() < 2, "labels are out of range")

    return Call(run, {"path": path}, check, safe=("path",))


def command_call(rng: Rng, folder: Path) -> Call:
    """``anchor-align align`` on damaged files: one line and an exit code."""
    files = [damaged_file(rng, folder, str(pick(rng, "mat", "mat compressed", "mat73", "npz", "npy", "hdf5 layout")))]
    words = ["align", *map(str, files), "-o", str(folder / f"out.{pick(rng, 'npz', 'mat')}")]
    words += pick(rng, [], [], ["--missing", "nan"], ["--orient", "columns"], ["--graphs", "X1"], ["--weights", "auto"])
    words += pick(rng, [], [], ["--mask", str(files[0])], ["--fusion", "rotated"], ["--lam", "inf"], ["--lam", "nan"])

    def run(words: list[str]) -> tuple[int, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words)
            except SystemExit as error:
                code = int(error.code or 0)
        promise(code in (0, 1, 2), f"exit code {code}")
        promise("Traceback" not in err.getvalue(), "a traceback")
        promise(code == 0 or err.getvalue().strip(), "a failure without a line")
        return code, out.getvalue()

    return Call(run, {"words": words}, safe=("words",))
