"""load_views where names mislead: labels among views, views among labels, tables with more than features, splits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from mat_files import assert_noted, assert_refused, assert_views, cell
from scipy.io import savemat

from anchor_align import FileError, InputError, load_views

RNG = np.random.default_rng(3)
N = 60
A, B, C = RNG.random((N, 5)), RNG.random((N, 7)), RNG.random((N, 4))
Y = RNG.permutation(np.repeat([0, 1, 2], 20))


def mat(tmp_path: Path, **variables: Any) -> Path:
    savemat(tmp_path / "file.mat", variables)
    return tmp_path / "file.mat"


def npz(tmp_path: Path, **variables: Any) -> Path:
    np.savez(tmp_path / "file.npz", **variables)
    return tmp_path / "file.npz"


def assert_data(data: Any, names: list[str], views: list[Any], labels: Any = Y) -> None:
    assert_views(data, *views, names=names, labels=labels)


def refused(path: Path, *parts: str, kind: type[Exception] = InputError, **options: Any) -> None:
    assert_refused(path, *parts, kind=kind, **options)


def test_what_has_a_labels_name_is_no_view(tmp_path: Path) -> None:
    """It is refused with the options that decide, and left out where they do."""
    path = mat(tmp_path, pixel=A, fourier=B, labels=np.column_stack([np.arange(N), Y]))
    refused(path, "'labels' (a 60 x 2 array)", "views= (--views)", "labels= (--labels)", "labels=False (--no-labels)")
    data = load_views(path, labels=False)
    assert_data(data, ["pixel", "fourier"], [A, B], None)
    assert_noted(data, "'labels' (a 60 x 2 array)")
    data = load_views(mat(tmp_path, pixel=A, fourier=B, category=RNG.random((N, 2))))
    assert_data(data, ["pixel", "fourier"], [A, B], None)
    assert_noted(data, "'category' (a 60 x 2 array)")


@pytest.mark.parametrize("ids", [range(N), [f"s{i}" for i in range(N)]])
@pytest.mark.parametrize("head", ["label", "Class", "target"])
@pytest.mark.parametrize("words", [False, True])
def test_a_table_of_labels(tmp_path: Path, ids: Any, head: str, words: bool) -> None:
    """Has them in the column that says so, whatever is beside it."""
    np.save(tmp_path / "a.npy", A)
    np.save(tmp_path / "b.npy", B)
    frame = pd.DataFrame({"id": ids, head: [f"c{y}" for y in Y] if words else Y, "split": ["train"] * N})
    frame.to_csv(tmp_path / "labels.csv", index=False)
    data = load_views(tmp_path)
    assert_data(data, ["a", "b"], [A, B])
    assert_noted(data, f"its column {head!r}")
    (tmp_path / "labels.csv").unlink()
    frame.to_parquet(tmp_path / "labels.parquet")
    assert_data(load_views(tmp_path), ["a", "b"], [A, B])


def test_files_that_are_not_read_are_named(tmp_path: Path) -> None:
    """All but hidden ones; what has the ending of a table and cannot be read is refused, a text left out."""
    np.savetxt(tmp_path / "a.csv", A, delimiter=",")
    (tmp_path / "b.txt").write_text("Two tables of 60 samples,\nmeasured in 2020.\n")
    (tmp_path / "empty.txt").touch()
    np.savetxt(tmp_path / "labels.csv.bz2", Y)
    (tmp_path / "inner").mkdir()
    (tmp_path / ".hidden").write_text("x")
    data = load_views(tmp_path, orient="rows")
    assert_data(data, ["a"], [A], None)
    assert_noted(data, "'b.txt', 'empty.txt', 'inner/', 'labels.csv.bz2'")
    assert not any("hidden" in str(note) for note in data.notes)
    assert_noted(load_views(tmp_path, orient="rows", views="a"), "'b.txt', 'empty.txt', 'inner/', 'labels.csv.bz2'")
    for name, content in (
        ("c.csv", pd.DataFrame(B).to_csv().encode("utf-16")),
        ("c.npy", b"no array"),
        ("c.npz", b"no archive"),
        ("c.parquet", b""),
        ("c.CSV", b"\0\1"),
    ):
        (tmp_path / name).write_bytes(content)
        refused(tmp_path, name, kind=FileError)
        (tmp_path / name).unlink()


def test_a_view_of_one_feature(tmp_path: Path) -> None:
    """Is one if it is numbered like others, never a guess for labels; else it is named as left out."""
    one = RNG.random((N, 1))
    assert_data(load_views(mat(tmp_path, X1=one, X2=B, gt=Y)), ["X1", "X2"], [one, B])
    whole = RNG.integers(3, size=(N, 1))
    assert_data(load_views(mat(tmp_path, X1=whole, X2=B, X3=C)), ["X1", "X2", "X3"], [whole, B, C], None)
    assert_data(load_views(npz(tmp_path, msr1=whole[:, 0], msr2=B, y=Y)), ["msr1", "msr2"], [whole, B])
    data = load_views(mat(tmp_path, colour=A, age=one, gt=Y))
    assert_data(data, ["colour"], [A])
    assert_noted(data, "'age' (a 60 x 1 array)")
    assert_data(
        load_views(mat(tmp_path, colour=A, age=one, gt=Y), views=["age", "colour"]), ["age", "colour"], [one, A]
    )


def test_dots_in_names(tmp_path: Path) -> None:
    """Are part of the name of a file or key, and set off fields in MATLAB only."""
    assert_data(load_views(npz(tmp_path, **{"resnet.fc": A, "vgg.fc": B, "y": Y})), ["resnet.fc", "vgg.fc"], [A, B])
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, X in {"gene.expr": A, "methy.data": B, "labels": Y}.items():
        np.save(folder / f"{name}.npy", X)
    assert_data(load_views(folder), ["gene.expr", "methy.data"], [A, B])


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("words", [False, True])
def test_numbered_columns(tmp_path: Path, start: int, width: int, index: bool, words: bool) -> None:
    """The headers of DataFrames without names are told from data by the files together."""
    named = {"a": A[:, :width], "b": B[:, :width]}
    for name, X in named.items():
        pd.DataFrame(X, columns=range(start, start + width)).to_csv(tmp_path / f"{name}.csv", index=index)
    labels = pd.Series([f"c{y}" for y in Y] if words else Y, name=start if words and index else None)
    for has_header in (True, False):
        labels.to_csv(tmp_path / "labels.csv", index=index and has_header, header=has_header)
        assert_data(load_views(tmp_path), ["a", "b"], list(named.values()))
    (tmp_path / "labels.csv").unlink()
    np.save(tmp_path / "y.npy", Y)
    data = load_views(tmp_path)
    assert_data(data, ["a", "b"], list(named.values()))
    assert_noted(data, "first column" if index else "The first line of a.csv")


def test_numbers_that_look_like_a_header(tmp_path: Path) -> None:
    """Are data where the other files have as many lines, and refused where nothing tells."""
    X = RNG.integers(5, size=(N, 2))
    X[0] = [0, 1]
    labels = np.concatenate([[0], Y[1:]])
    np.savetxt(tmp_path / "a.csv", X, delimiter=",", fmt="%d")
    np.savetxt(tmp_path / "b.csv", B, delimiter=",")
    np.savetxt(tmp_path / "labels.csv", labels, fmt="%d")
    assert_data(load_views(tmp_path), ["a", "b"], [X, B], labels)
    (tmp_path / "b.csv").unlink()
    np.save(tmp_path / "c.npy", RNG.random((N, N - 1)))
    refused(tmp_path, "cannot tell whether the first line of a.csv, 0, 1, holds names of columns or numbers")
    (tmp_path / "c.npy").unlink()
    refused(tmp_path, "cannot tell whether the first line of a.csv, 0, 1, holds names of columns or numbers")
    data = load_views(tmp_path / "a.csv", orient="rows")
    assert_data(data, ["a"], [X], None)
    assert_noted(data, "The first line of a.csv, 0, 1, was taken as numbers")


def test_parts_of_a_split_are_no_views(tmp_path: Path) -> None:
    """Training and test samples are refused together, as matrices and as cells."""
    path = npz(tmp_path, X_train=A[:40], X_test=A[40:], y_train=Y[:40], y_test=Y[40:])
    refused(path, "'X_train' (40 x 5) and 'X_test' (20 x 5)", "views= and labels=")
    refused(npz(tmp_path, trainX=A[:30], valX=A[30:]), "look like parts of a split")
    path = mat(tmp_path, Xtr=cell([A[:40], B[:40]]), Xte=cell([A[40:], B[40:]]))
    refused(path, "look like parts of a split")
    assert_data(load_views(npz(tmp_path, X1=A, X2=B, y=Y, trainIdx=np.eye(N), testIdx=np.eye(N))), ["X1", "X2"], [A, B])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_columns_that_are_no_features(tmp_path: Path, form: str) -> None:
    """Labels and numbers of samples in a table of features are used as such, or left out; both are said."""

    def save(name: str, frame: pd.DataFrame) -> None:
        path = tmp_path / f"{name}.{form}"
        frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)

    frame = pd.DataFrame(A, columns=list("abcde"))
    save("one", frame.assign(id=range(1, N + 1), label=Y))
    save("two", pd.DataFrame(B, columns=list("fghijkl")))
    data = load_views(tmp_path)
    assert_data(data, ["one", "two"], [A, B])
    assert_noted(data, "Column 'id' of one", "'one.label'")
    assert_data(load_views(tmp_path, labels=False), ["one", "two"], [A, B], None)
    np.save(tmp_path / "truth.npy", Y[::-1])
    data = load_views(tmp_path)
    assert_data(data, ["one", "two"], [A, B], Y[::-1])
    assert_noted(data, "'one.label'")
    assert_data(load_views(tmp_path, labels="one.label"), ["one", "two"], [A, B])
    assert_data(load_views(tmp_path / f"one.{form}"), ["one"], [A])
    words: list[Any] = [None if i == 7 else f"c{y}" for i, y in enumerate(Y)]
    for labels in (words, [None if i == 7 else y for i, y in enumerate(Y)]):
        save("one", frame.assign(label=pd.Series(labels)))
        refused(tmp_path / f"one.{form}", "for 1 of 60 samples; expected a label for each")
    save("one", pd.DataFrame({"x": A[:, 0], "y": np.arange(N) % 7}))
    data = load_views(tmp_path)
    assert data.views[0].shape == (N, 2)
    assert_noted(data, "Column 'y' of one")
    save("one", pd.DataFrame({"a": A[:, 0], "index": A[:, 1], "b": A[:, 2]}))
    assert load_views(tmp_path).views[0].shape == (N, 3)


def test_samples_in_different_orders(tmp_path: Path) -> None:
    """Are put in the order of the first view, with a note, where tables name them; so are labels."""
    names = [f"s{i}" for i in range(N)]
    pd.DataFrame(A, index=names).to_csv(tmp_path / "a.csv")
    pd.DataFrame(B, index=names).to_csv(tmp_path / "b.csv")
    assert_data(load_views(tmp_path, orient="rows"), ["a", "b"], [A, B], None)
    pd.DataFrame(B, index=names[::-1]).to_csv(tmp_path / "b.csv")
    turned = load_views(tmp_path)
    assert_data(turned, ["a", "b"], [A, B[::-1]], None)
    assert turned.samples == tuple(names)
    assert_noted(turned, "The samples of view 'b' were put in the order of view 'a', by their names.")
    pd.DataFrame(B, index=names).to_csv(tmp_path / "b.csv")
    pd.DataFrame({"id": names[::-1], "label": Y}).to_csv(tmp_path / "labels.csv", index=False)
    data = load_views(tmp_path)
    np.testing.assert_array_equal(data.labels, load_views(tmp_path, labels="labels").labels)
    assert_noted(data, "Labels of 'labels' were put in the order of the views")
    assert data.labels is not None
    assert (data.labels == np.unique(np.ravel(Y), return_inverse=True)[1][::-1]).all()


def test_images_beside_views(tmp_path: Path) -> None:
    """A 3-D array beside matrices is left out, and said, with labels and without."""
    images = RNG.random((N, 8, 8))
    for labels in ({"y": Y}, {}):
        data = load_views(npz(tmp_path, colour=A, img=images, shape=B, **labels))
        assert_data(data, ["colour", "shape"], [A, B], labels.get("y"))
        assert_noted(data, "'img' (a 60 x 8 x 8 array)")


def test_numbered_views_of_unequal_length(tmp_path: Path) -> None:
    """Are refused, both named; an aside under another name is left out and said."""
    refused(mat(tmp_path, X1=A, X2=B[:-1], y=Y), "'X1' is 60 x 5 and 'X2' is 59 x 7; there are 60 labels", "--views")
    refused(mat(tmp_path, X1=A, X2=B, X3=C[:-1]), "'X1' is 60 x 5 and 'X3' is 59 x 4")
    data = load_views(mat(tmp_path, X1=A, X2=B, centres=RNG.random((3, 5)), y=Y))
    assert_data(data, ["X1", "X2"], [A, B])
    assert_noted(data, "'centres'")


def test_equal_views(tmp_path: Path) -> None:
    """Are all taken, and said, where they are numbered or members of one cell; once under two other names."""
    for path in (mat(tmp_path, X1=A, X2=A, X3=B, y=Y), npz(tmp_path, msr1=A, msr2=A, msr3=B, y=Y)):
        data = load_views(path)
        assert len(data.views) == 3
        assert_noted(data, "hold the same numbers; both are taken")
    data = load_views(mat(tmp_path, X=cell([A, B, A]), y=Y))
    assert len(data.views) == 3
    assert_noted(data, "'X{1}' and 'X{3}' hold the same numbers")
    assert_data(load_views(mat(tmp_path, one=A, again=A, other=B, y=Y)), ["one", "other"], [A, B])


@pytest.mark.parametrize("name", ["miss", "M", "Ind", "mask", "index"])
def test_masks_are_no_views(tmp_path: Path, name: str) -> None:
    """Zeros and ones that say which samples are missing in which view are left out, and said."""
    mask = RNG.integers(2, size=(N, 2))
    data = load_views(mat(tmp_path, colour=A, shape=B, gt=Y, **{name: mask}))
    assert_data(data, ["colour", "shape"], [A, B])
    assert_noted(data, repr(name))


def test_labels_as_the_last_member(tmp_path: Path) -> None:
    """A whole number for each sample at the end of a cell is no view, and the labels if nothing else is."""
    path = mat(tmp_path, data=cell([A, B, Y[:, None]]))
    for views in (None, "data"):
        data = load_views(path, views=views)
        assert_data(data, ["data{1}", "data{2}"], [A, B])
        assert_noted(data, "Labels are 'data{3}', a guess", "'data{3}' is a whole number for each sample")
    data = load_views(mat(tmp_path, data=cell([A, B, np.arange(N)[:, None]]), gt=Y))
    assert_data(data, ["data{1}", "data{2}"], [A, B])
    assert_noted(data, "'data{3}' is a whole number for each sample")
