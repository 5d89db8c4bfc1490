"""load_views on every form of file: numpy's, folders, tables, HDF5; and on files that are not what they seem."""

from __future__ import annotations

import builtins
import os
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from mat_files import assert_noted, assert_refused, assert_views, cell, is_sparse, write_mat73
from scipy.io import savemat

from anchor_align import FileError, InputError, MissingExtraError, load_views

RNG = np.random.default_rng(1)
A, B = RNG.random((12, 5)), RNG.integers(0, 9, size=(12, 7)).astype(np.uint8)
S: Any = sp.csr_array(RNG.random((12, 20)) * (RNG.random((12, 20)) < 0.3))
Y = np.repeat([3, 1, 7], 4)
CODES = np.repeat([1, 0, 2], 4)


def assert_loaded(path: Path, *views: Any, codes: Any = CODES, names: list[str] | None = None, **options: Any) -> Any:
    data = load_views(path, **options)
    assert_views(data, *views, names=names, labels=codes)
    assert [is_sparse(X) for X in data.views] == [is_sparse(X) for X in views]
    return data


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("stem", ["view_", "X", "view", "fea", "modality"])
def test_npz(tmp_path: Path, save: Any, stem: str) -> None:
    """Numbered arrays come in the order of their numbers, in the type they have."""
    views = [A + i for i in range(9)] + [B]
    order = RNG.permutation(10)
    save(tmp_path / "a.npz", labels=Y, **{f"{stem}{i}": views[i] for i in order})
    data = assert_loaded(tmp_path / "a.npz", *views, names=[f"{stem}{i}" for i in range(10)])
    assert data.views[9].dtype == np.uint8


def test_npz_without_names(tmp_path: Path) -> None:
    """Arrays that numpy named itself; the labels are the only vector."""
    np.savez(tmp_path / "a.npz", A, B, Y)
    assert_loaded(tmp_path / "a.npz", A, B, names=["arr_0", "arr_1"])


def test_sparse_parts_in_npz(tmp_path: Path) -> None:
    """The arrays of a sparse matrix are one view, in either format."""
    parts: dict[str, Any] = {}
    for name, X in (("csr", S), ("csc", sp.csc_array(S * 2))):
        parts |= {f"{name}_{part}": getattr(X, part) for part in ("data", "indices", "indptr")}
        parts |= {f"{name}_shape": np.array(X.shape), f"{name}_format": np.array(name)}
    np.savez(tmp_path / "a.npz", **parts, dense=A, y=Y)
    assert_loaded(tmp_path / "a.npz", S, S * 2, A, names=["csr", "csc", "dense"])
    parts["csr_indices"] = parts["csr_indices"] + 1000
    np.savez(tmp_path / "b.npz", **parts, dense=A, y=Y)
    assert_refused(tmp_path / "b.npz", "damaged", kind=FileError, views="csr")


class Bomb:
    """Pickled, it would run code when it is loaded."""

    def __reduce__(self) -> Any:
        return (os.mkdir, ("exploded",))


@pytest.mark.parametrize("place", ["views", "labels", "npy"])
def test_nothing_is_unpickled(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of objects are refused by name, with the way to save them; nothing in them runs."""
    monkeypatch.chdir(tmp_path)
    bad = np.array([Bomb(), Bomb()], dtype=object)
    if place == "views":
        np.savez(tmp_path / "a.npz", X=bad, y=Y)
    elif place == "labels":
        np.savez(tmp_path / "a.npz", X0=A, X1=B, y=bad)
    else:
        (tmp_path / "a.npz").mkdir()
        np.save(tmp_path / "a.npz" / "X.npy", bad)
    with pytest.raises(InputError, match=r"'(X|y)' (is|are) an array of Python objects.*numpy\.savez"):
        load_views(tmp_path / "a.npz")
    assert not (tmp_path / "exploded").exists()


def test_objects_that_are_not_needed(tmp_path: Path) -> None:
    """Are left out, and said."""
    np.savez(tmp_path / "a.npz", view_0=A, view_1=B, labels=Y, about=np.array([None], dtype=object))
    data = assert_loaded(tmp_path / "a.npz", A, B)
    assert_noted(data, "'about' is an array of Python objects", kind="left out")


def test_folder(tmp_path: Path) -> None:
    """One file for each view, in any mixture of forms, and one for the labels; other files are ignored."""
    np.save(tmp_path / "view_10.npy", A)
    np.savetxt(tmp_path / "view_2.csv", B, delimiter=",", fmt="%d")
    sp.save_npz(tmp_path / "view_3.npz", S)
    np.savez(tmp_path / "view_4.npz", A + 1)
    np.savetxt(tmp_path / "labels.csv", Y, fmt="%d")
    (tmp_path / "README.md").write_text("about the data")
    (tmp_path / ".hidden.npy").write_bytes(b"")
    (tmp_path / "inner").mkdir()
    assert_loaded(tmp_path, B, S, A + 1, A, names=["view_2", "view_3", "view_4", "view_10"])


def test_folder_with_one_text(tmp_path: Path) -> None:
    """A text beside numbered columns is no view, and says nothing about the number of rows."""
    pd.DataFrame(A).to_csv(tmp_path / "a.csv", index=False)
    np.save(tmp_path / "about.npy", np.array("what this is"))
    np.save(tmp_path / "y.npy", Y)
    assert_loaded(tmp_path, A, names=["a"])


@pytest.mark.parametrize("kind", ["coo", "csc", "bsr", "dia"])
def test_sparse_files_in_any_format(tmp_path: Path, kind: str) -> None:
    """Of scipy.sparse.save_npz."""
    sp.save_npz(tmp_path / "a.npz", S.asformat(kind))
    np.save(tmp_path / "b.npy", A)
    np.save(tmp_path / "y.npy", Y)
    assert_loaded(tmp_path, S, A, names=["a", "b"])


@pytest.mark.parametrize(
    "write",
    [
        lambda path, frame: frame.to_csv(path, index=False),
        lambda path, frame: frame.to_csv(path, index=False, header=False),
        lambda path, frame: frame.to_csv(path),
        lambda path, frame: frame.to_csv(path, sep=";", index=False),
        lambda path, frame: frame.to_csv(path, sep="\t", header=False, index=False),
        lambda path, frame: frame.to_csv(path, sep=" ", header=False, index=False),
        lambda path, frame: frame.to_csv(path, quoting=1, index=False),
        lambda path, frame: frame.to_csv(path, index=False, encoding="utf-8-sig", lineterminator="\r\n"),
        lambda path, frame: frame.set_axis(range(5), axis=1).to_csv(path, index=False),
    ],
)
@pytest.mark.parametrize("words", [False, True])
def test_csv(tmp_path: Path, write: Any, words: bool) -> None:
    """With and without names of columns and rows, with any common delimiter; labels may be words."""
    write(tmp_path / "a.csv", pd.DataFrame(A, columns=["a", "b", "c", "d", "e"]))
    write(tmp_path / "b.csv", pd.DataFrame(A * 2, columns=["é", "b", "c", "d", "e"]))
    labels = [f"class {label}" for label in Y] if words else Y
    pd.DataFrame({"label": labels}).to_csv(tmp_path / "labels.csv", index=False)
    assert_loaded(tmp_path, A, A * 2, names=["a", "b"])
    pd.DataFrame({"label": labels}).to_csv(tmp_path / "labels.csv", index=False, header=False)
    assert_loaded(tmp_path, A, A * 2, names=["a", "b"])


def test_missing_values_in_csv(tmp_path: Path) -> None:
    """Are NaN and stay so: nothing is repaired here."""
    table = A.copy()
    table[3, 2] = table[0, 0] = np.nan
    pd.DataFrame(table).to_csv(tmp_path / "a.csv", header=False, index=False)
    np.save(tmp_path / "y.npy", Y)
    assert_loaded(tmp_path, table)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("a,b\n", "nothing below"),
        ("1,2\n3,x\n", "line 2 of those that are not empty, has 'x' in column 2; expected a number"),
        ("1,2\n3\n", "has 1 field; expected 2"),
        ("1,2\n\xff\xfe", "Cannot read"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, message: str) -> None:
    """Says where it is wrong."""
    (tmp_path / "a.csv").write_bytes(text.encode("latin1"))
    assert_refused(tmp_path / "a.csv", message)


def test_single_table(tmp_path: Path) -> None:
    """Is one view; which side samples are on must be said for an array, and are rows in a text file."""
    np.savetxt(tmp_path / "a.csv", A, delimiter=",")
    np.save(tmp_path / "a.npy", A)
    assert_refused(tmp_path / "a.npy", "say orient='rows' or orient='columns' (--orient)", kind=InputError)
    assert load_views(tmp_path / "a.npy", orient="rows").views[0].shape == (12, 5)
    assert load_views(tmp_path / "a.csv").views[0].shape == (12, 5)


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is read; numbers, or words for labels; without pyarrow the message says what to install."""
    pd.DataFrame(A, columns=list("pqrst")).to_parquet(tmp_path / "a.parquet")
    table = pd.DataFrame({"x": pd.array([1, None] * 6, dtype="Int64"), "y": np.arange(12.0)})
    table.to_parquet(tmp_path / "b.parquet")
    pd.DataFrame({"label": [str(label) for label in Y]}).to_parquet(tmp_path / "labels.parquet")
    assert_loaded(tmp_path, A, np.column_stack([[1, np.nan] * 6, np.arange(12.0)]))
    pd.DataFrame({"y": range(12), "x": ["u"] * 12}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="columns that are not numbers: 'x'"):
        load_views(tmp_path)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(FileError, match=r"b\.parquet"):
        load_views(tmp_path)

    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"parquet files need pyarrow.*anchor-align\[parquet\]"):
        load_views(tmp_path)


def test_csv_needs_no_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor anything else that is not installed with the package."""
    np.savetxt(tmp_path / "a.csv", A, delimiter=",", header="a,b,c,d,e", comments="")
    np.savetxt(tmp_path / "y.csv", Y, fmt="%d")
    hide(monkeypatch, "pandas")
    assert_loaded(tmp_path, A)


def hide(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Make a package look as if it were not installed."""
    real = builtins.__import__

    def guarded(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == package:
            raise ImportError(f"No module named {package!r}")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", guarded)


def test_mat73_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Says what to install."""
    path = write_mat73(tmp_path / "a.mat", {"X": [A, B], "y": Y})
    assert_loaded(path, A, B)
    hide(monkeypatch, "h5py")
    with pytest.raises(MissingExtraError, match=r'pip install "anchor-align\[mat73\]"'):
        load_views(path)


def test_mat73_kinds(tmp_path: Path) -> None:
    """Sparse, logical, integers and single stay what they are; empty, complex and objects are no views."""
    logical = RNG.random((12, 4)) > 0.5
    variables = {"a": S, "b": logical, "c": B, "d": A.astype(np.float32), "e": sp.csc_array((12, 3)), "y": Y}
    path = write_mat73(tmp_path / "a.mat", variables)
    with h5py.File(path, "r+") as file:
        empty = file.create_dataset("nothing", data=np.array([0, 0], dtype=np.uint64))
        empty.attrs["MATLAB_class"], empty.attrs["MATLAB_empty"] = np.bytes_("double"), np.uint8(1)
        file.create_dataset("waves", data=np.zeros((4, 12), dtype=[("real", "f8"), ("imag", "f8")]))
        table = file.create_dataset("frame", data=np.zeros((1, 6), dtype=np.uint32))
        table.attrs["MATLAB_class"], table.attrs["MATLAB_object_decode"] = np.bytes_("table"), 3
    data = assert_loaded(
        path, S, logical, B, A.astype(np.float32), sp.csr_array((12, 3)), names=["a", "b", "c", "d", "e"]
    )
    assert [X.dtype.name for X in data.views[:4]] == ["float64", "bool", "uint8", "float32"]
    assert_noted(data, "'frame' is a MATLAB object", kind="left out")
    assert_noted(data, "'waves' is complex", kind="left out")


def test_hdf5_that_is_not_matlabs(tmp_path: Path) -> None:
    """Is read as it is, not transposed, whatever its name."""
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["first"], file["second"] = A, B
        file["group/labels"] = [f"c{label}" for label in Y]
    assert_loaded(tmp_path / "a.mat", A, B, names=["first", "second"])
    assert_loaded(tmp_path / "a.mat", A, codes=None, views="first", labels=False, orient="rows")


def test_mat5_kinds(tmp_path: Path) -> None:
    """Single, integers and logical keep their size; complex numbers are refused where they are asked for."""
    savemat(tmp_path / "a.mat", {"X": cell([A.astype(np.float32), B, S]), "y": Y, "z": A * 1j}, do_compression=True)
    data = assert_loaded(tmp_path / "a.mat", A.astype(np.float32), B, S)
    assert [X.dtype.name for X in data.views] == ["float32", "uint8", "float64"]
    assert_refused(tmp_path / "a.mat", "complex", views="z")
    savemat(tmp_path / "b.mat", {"a": A, "b": B, "y": Y}, format="4")
    assert_loaded(tmp_path / "b.mat", A, B)


def test_a_bare_name_is_the_bundled_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And ./name or a Path the file of that name."""
    np.savez(tmp_path / "a.npz", view_0=A, view_1=B, labels=Y)
    (tmp_path / "a.npz").rename(tmp_path / "simulated")
    monkeypatch.chdir(tmp_path)
    data = load_views("simulated")
    assert data.n_samples == 200
    assert_noted(data, "'./simulated'", kind="bundled")
    assert load_views("./simulated").n_samples == load_views(Path("simulated")).n_samples == 12


def test_options_on_bundled_sets() -> None:
    """Views can be chosen and labels left out; what makes no sense is refused."""
    data = load_views("breast-cancer", views=["worst", "mean"], labels=False)
    assert data.names == ["worst", "mean"]
    assert data.labels is None
    wrong: list[dict[str, Any]] = [{"orient": "columns"}, {"labels": "y"}, {"views": "best"}]
    for options in wrong:
        with pytest.raises(InputError):
            load_views("breast-cancer", **options)


def test_parquet_tables_are_paired_by_the_names_of_their_rows(tmp_path: Path) -> None:
    """The same names in another order are reordered, other names refused; without names, positions count."""
    rng, names = np.random.default_rng(0), [f"s{i}" for i in range(20)]
    a, b = (pd.DataFrame(rng.normal(size=(20, 3)), columns=list("xyz"), index=names) for _ in "ab")

    def load(first: Any, second: Any) -> Any:
        first.to_parquet(tmp_path / "a.parquet")
        second.to_parquet(tmp_path / "b.parquet")
        return load_views(tmp_path, orient="rows")

    np.testing.assert_array_equal(load(a, b).views[1], b.to_numpy())
    np.testing.assert_array_equal(load(a, b[::-1]).views[1], b.to_numpy())
    with pytest.raises(InputError, match="1 of 20 names of view 'a' are not in view 'b', such as 's3'"):
        load(a, b.rename(index={"s3": "other"}))
    shuffled = b.reset_index(drop=True)[::-1].reset_index(drop=True)
    np.testing.assert_array_equal(load(a.reset_index(drop=True), shuffled).views[1], shuffled.to_numpy())
