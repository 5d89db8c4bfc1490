"""Files that are damaged, not what they seem, or not there: refused in one sentence."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from mat_files import assert_noted, assert_refused, assert_views, cell, write_mat73
from scipy.io import savemat

from anchor_align import AnchorAlignError, FileError, InputError, load_views
from anchor_align.data import read_graphs, read_mask

RNG = np.random.default_rng(1)
A, B = RNG.random((12, 5)), RNG.integers(0, 9, size=(12, 7)).astype(np.uint8)
S = sp.csr_array(RNG.random((12, 20)) * (RNG.random((12, 20)) < 0.3))
Y = np.repeat([3, 1, 7], 4)
CODES = np.repeat([1, 0, 2], 4)


def test_damaged_files(tmp_path: Path) -> None:
    """Cut short anywhere or changed anywhere, a file is refused in one sentence or gives arrays of the right shape."""
    path = tmp_path / "a.bin"
    np.savez_compressed(tmp_path / "a.npz", view_0=A, view_1=B, labels=Y)
    savemat(tmp_path / "b.mat", {"X": cell([A, S]), "y": Y})
    savemat(tmp_path / "c.mat", {"X": cell([A, S]), "y": Y}, do_compression=True)
    write_mat73(tmp_path / "d.mat", {"X": [A, S], "y": Y})
    refused = 0
    for whole in sorted(tmp_path.glob("*.*")):
        content = whole.read_bytes()
        for length in [0, 1, 3, 100, 127, 128, 130, *range(200, len(content), max(1, len(content) // 25))]:
            path.with_suffix(whole.suffix).write_bytes(content[:length])
            refused += not _loads(path.with_suffix(whole.suffix))
    assert refused > 60


def _loads(path: Path) -> bool:
    try:
        data = load_views(path)
    except AnchorAlignError as error:
        message = str(error)
    else:
        assert data.views[0].shape[0] == 12
        return True
    assert "\n" not in message
    return False


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"just some text, not data\n" * 30, "not a file that can be read here"),
        (pickle.dumps([1, 2, 3]), "not a file that can be read here"),
        (b"PK\x03\x04" + bytes(100), "damaged"),
        (b"\x93NUMPY" + bytes(100), "damaged"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "damaged"),
        (bytes(124) + b"\x00\x01IM" + b"\x0e\x00\x00\x00\xff\xff\x00\x00" + bytes(40), "damaged"),
    ],
)
def test_files_that_are_not_what_they_seem(tmp_path: Path, content: bytes, message: str) -> None:
    """Whatever their name says."""
    for name in ("a.mat", "a.npz"):
        (tmp_path / name).write_bytes(content)
        assert_refused(tmp_path / name, message)


def test_names_do_not_matter(tmp_path: Path) -> None:
    """The content tells what a file is."""
    np.savez(tmp_path / "a.npz", view_0=A, view_1=B, labels=Y)
    assert_views(load_views((tmp_path / "a.npz").rename(tmp_path / "a.mat")), A, B, labels=CODES)
    write_mat73(tmp_path / "b.mat", {"X": [A, B], "y": Y})
    assert_views(load_views((tmp_path / "b.mat").rename(tmp_path / "b")), A, B, labels=CODES)


def test_zip_without_arrays(tmp_path: Path) -> None:
    """Is not an .npz file."""
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert_refused(tmp_path / "a.npz", "a zip file without arrays", kind=InputError)


def test_places_without_data(tmp_path: Path) -> None:
    """A path that is not there, and folders without usable files."""
    assert_refused(tmp_path / "absent.mat", "does not exist", kind=FileError)
    assert_refused(tmp_path, "holds no .npy, .csv", kind=InputError)
    savemat(tmp_path / "a.mat", {"X": A})
    assert_refused(tmp_path, "to read a.mat, give its own path", kind=InputError)
    with pytest.raises(FileError, match="Did you mean 'digits'"):
        load_views("digit")
    np.savez(tmp_path / "b.npz", view_0=A, view_1=B)
    with pytest.raises(InputError, match="holds 2 arrays"):
        load_views(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_files_that_may_not_be_read(tmp_path: Path) -> None:
    """Are named with the reason."""
    np.savez(tmp_path / "a.npz", view_0=A)
    (tmp_path / "a.npz").chmod(0)
    assert_refused(tmp_path / "a.npz", "Permission denied", kind=FileError)


DAMAGE = """
import sys
from pathlib import Path
from anchor_align import AnchorAlignError, load_views

for place in map(Path, sys.argv[1:]):
    content = place.read_bytes()
    loaded = refused = 0
    for at in range(128, len(content)):
        value = content[at] ^ (1 if at % 3 else 8)
        place.write_bytes(content[:at] + bytes([value]) + content[at + 1 :])
        try:
            load_views(place)
            loaded += 1
        except AnchorAlignError:
            refused += 1
    print(loaded, refused)
"""


@pytest.mark.slow
def test_damaged_mat_ends_no_process(tmp_path: Path) -> None:
    """Every byte of a MATLAB file changed in turn gives data or one of our errors, in a process that lives on."""
    X, sparse, y = A[:6, :3], sp.csc_array(A[:6, :2]), [1, 1, 1, 2, 2, 2]
    layouts: dict[str, dict[str, Any]] = {
        "cell": {"X": cell([X, sparse]), "y": y},
        "struct": {"data": {"X1": X, "X2": sparse}, "y": y},
        "words": {"X1": X, "y": cell(["a", "b", "c", "a", "b", "c"], (6, 1))},
    }
    places = [tmp_path / f"{layout}.mat" for layout in layouts]
    for place, variables in zip(places, layouts.values(), strict=True):
        savemat(place, variables)
    run = subprocess.run([sys.executable, "-c", DAMAGE, *map(str, places)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    counts = [int(count) for count in run.stdout.split()]
    assert len(counts) == 2 * len(layouts)
    assert min(counts) > 50


@pytest.mark.slow
def test_mutated_mat_ends_no_process() -> None:
    """Flipped bits and changed content that was compressed again give data or one of our errors."""
    # These cases ended the process once: types of elements, and starts of columns in a sparse matrix of zeros.
    cases = [*map(str, range(60)), "250", "279", "1573", "2875"]
    command = [sys.executable, str(Path(__file__).parent / "mat_fuzz.py"), "--only", *cases]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "refused" in run.stdout


def test_sparse_matrix_with_overlapping_columns(tmp_path: Path) -> None:
    """Is refused, also if its last number says that nothing is stored: scipy would read beyond the end."""
    parts: dict[str, Any] = {"data": np.zeros(0), "indices": np.zeros(0, np.int32), "shape": np.array([3, 3])}
    np.savez(tmp_path / "a.npz", **parts, indptr=np.array([0, 2**28, 2**29, 0], np.int32), format=np.array(b"csr"))
    assert_refused(tmp_path / "a.npz", "overlap", kind=FileError, orient="rows")


def test_damaged_text(tmp_path: Path) -> None:
    """Labels with codes that are no characters are refused."""
    np.savez(tmp_path / "a.npz", X=A, labels=np.array(list("abcabcabcabc")))
    with zipfile.ZipFile(tmp_path / "a.npz") as old, zipfile.ZipFile(tmp_path / "b.npz", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace("abc".encode("utf-32-le"), b"\xff" * 12))
    assert_refused(tmp_path / "b.npz", "damaged", kind=FileError)


def test_csv_beyond_the_limits_of_its_reader(tmp_path: Path) -> None:
    """A field of 200,000 characters is refused; a label of 1e999 is no whole number, and the column is left out."""
    (tmp_path / "a.csv").write_text(f'a,b\n1,"{"1" * 200_000}"\n2,3\n')
    assert_refused(tmp_path / "a.csv", "field", kind=FileError)
    (tmp_path / "b.csv").write_text("label,a,b\n1,2,3\n1e999,4,5\n1,5,7\n")
    data = load_views(tmp_path / "b.csv", orient="rows")
    assert data.labels is None
    assert_noted(data, "'label'")


@pytest.mark.parametrize("function", ["load_views", "read_graphs", "read_mask"])
def test_any_exception_of_a_reader_is_a_file_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    """Whatever goes wrong between opening a file and returning its arrays is one line that names the file."""

    def fail(*arguments: object, **options: object) -> None:
        raise SystemError("bad\nthing")

    np.save(tmp_path / "a.npy", A)
    place = str(tmp_path / "a.npy")
    monkeypatch.setattr("anchor_align.data._load.flatten", fail)
    monkeypatch.setattr("anchor_align.data._graph_files.flatten", fail)
    monkeypatch.setattr("anchor_align.data._graph_files.named_views", fail)
    readers: dict[str, Callable[[], object]] = {
        "load_views": lambda: load_views(place),
        "read_graphs": lambda: read_graphs([place]),
        "read_mask": lambda: read_mask(place),
    }
    with pytest.raises(FileError, match=r"a\.npy: it is damaged or incomplete \(bad thing\)\.$"):
        readers[function]()
