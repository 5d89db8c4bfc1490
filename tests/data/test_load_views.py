"""load_views on files as people publish them: which variables are views and labels, and which side samples are on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mat_files
import numpy as np
import pytest
import scipy.sparse as sp
from mat_files import assert_noted, cell, write_mat73
from scipy.io import savemat
from strategies import SHARED_DATA

from anchor_align import InputError, InputTypeError, UnknownNameError, load_views
from anchor_align.data import Note

RNG = np.random.default_rng(0)
A, B, C = RNG.random((12, 5)), RNG.random((12, 7)), RNG.random((12, 3))
Y = np.repeat([3, 1, 7], 4)
CODES = np.repeat([1, 0, 2], 4)


def load(tmp_path: Path, options: dict[str, Any] | None = None, **variables: Any) -> Any:
    path = tmp_path / "file.mat"
    savemat(path, variables)
    return load_views(path, **(options or {}))


def assert_views(data: Any, *expected: Any, codes: Any = CODES) -> None:
    mat_files.assert_views(data, *expected, labels=codes)


@pytest.mark.parametrize(
    ("file", "same", "shapes", "n_clusters", "sparse"),
    [
        ("100leaves_feature_major", "100Leaves", [(1600, 64)] * 3, 100, False),
        ("3-sources_sparse_cells", "3-Sources", [(169, 3560), (169, 3631), (169, 3068)], 6, True),
        ("bbcsport_feature_major_cell_labels", "BBCSport", [(544, 3183), (544, 3203)], 5, True),
        ("fmvacc_synthetic_v73", "FMVACC_synthetic", [(200, 2)] * 2, 4, False),
        ("handwritten_numerals_v73", None, [(2000, d) for d in (216, 76, 64, 6, 240, 47)], 10, False),
        ("msrc_separate_matrices", "MSRC-v1", [(210, d) for d in (24, 576, 512, 256, 254)], 7, False),
    ],
)
def test_published_files(file: str, same: str | None, shapes: Any, n_clusters: int, sparse: bool) -> None:
    """Each is read without a hint, and holds what the plain copy of the data set holds."""
    path = SHARED_DATA / "wild" / f"{file}.mat"
    if not path.exists():
        pytest.skip(f"real data {path} are not on this machine")
    data = load_views(path)
    assert [X.shape for X in data.views] == shapes
    assert data.n_clusters == n_clusters
    assert data.n_samples == len(data.labels if data.labels is not None else []) == shapes[0][0]
    assert all(isinstance(X, sp.csr_array) == sparse for X in data.views)
    assert data.notes
    if same is not None:
        plain = load_views(SHARED_DATA / f"{same}.npz")
        np.testing.assert_array_equal(data.labels, plain.labels)
        for X, other in zip(data.views, plain.views, strict=True):
            np.testing.assert_allclose(X.toarray() if sparse else X, other, rtol=1e-6)


def test_plain_files() -> None:
    """All .npz files of the collection load as they are described."""
    paths = sorted(SHARED_DATA.glob("*.npz"))
    if not paths:
        pytest.skip(f"real data {SHARED_DATA} are not on this machine")
    for path in paths:
        data = load_views(path)
        assert data.names == [f"view_{i}" for i in range(len(data.views))]
        with np.load(path) as plain:
            assert len(data.views) == len(plain.files) - 1
            np.testing.assert_array_equal(data.labels, plain["labels"])
            np.testing.assert_array_equal(data.views[-1], plain[data.names[-1]])


@pytest.mark.parametrize("key", ["X", "data", "fea", "Views", "Xs", "dataset", "feature", "whatever"])
@pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
@pytest.mark.parametrize("turn", [False, True])
def test_cell_of_views(tmp_path: Path, key: str, shape: tuple[int, int], turn: bool) -> None:
    """A cell under any name, row or column, samples on either side."""
    views = [X.T if turn else X for X in (A, B, C)]
    data = load(tmp_path, gt=Y[:, None], **{key: cell(views, shape)})
    assert_views(data, A, B, C)
    assert data.names == [f"{key}{{{i}}}" for i in (1, 2, 3)]
    assert_noted(data, f"Samples are {'columns' if turn else 'rows'}", kind="orientation")


@pytest.mark.parametrize(
    "labels",
    [
        Y,
        Y[:, None],
        Y[:, None].astype(float),
        cell([Y[:, None]]),
        cell([Y, Y[:, None], Y - 1]),
        cell([str(label) for label in Y], (12, 1)),
        cell(list(Y), (12, 1)),
        np.array([f"class {label}" for label in Y]),
        np.eye(3)[CODES],
        np.eye(3)[CODES].T,
        sp.csc_array(np.eye(3)[CODES]),
        cell([cell([Y])]),
    ],
    ids=[
        "row",
        "column",
        "float",
        "cell",
        "copies",
        "words",
        "numbers",
        "char",
        "one-hot",
        "turned",
        "sparse",
        "nested",
    ],
)
@pytest.mark.parametrize("version", ["5", "7.3"])
def test_forms_of_labels(tmp_path: Path, labels: Any, version: str) -> None:
    """Labels come in many forms and are numbered in their sorted order."""
    if version == "5":
        data = load(tmp_path, X=cell([A, B]), y=labels)
    elif labels.dtype.kind == "U":
        data = load_views(write_mat73(tmp_path / "a.mat", {"X": [A, B], "y": list(labels)}))
    else:
        data = load_views(write_mat73(tmp_path / "a.mat", {"X": [A, B], "y": labels}))
    assert_views(data, A, B)


@pytest.mark.parametrize("version", ["5", "7.3"])
@pytest.mark.parametrize(
    ("variables", "names"),
    [
        ({"data": {"X": cell([A, B, C]), "gt": Y}}, ["data.X{1}", "data.X{2}", "data.X{3}"]),
        ({"data": {"view1": A, "view2": B, "view3": C}, "y": Y}, ["data.view1", "data.view2", "data.view3"]),
        ({"s": {"t": {"X1": A, "X2": B, "X3": C, "Y": Y}}}, ["s.t.X1", "s.t.X2", "s.t.X3"]),
        ({"X": cell([cell([A]), cell([B]), cell([C])]), "y": Y}, ["X{1}{1}", "X{2}{1}", "X{3}{1}"]),
        ({"X": cell([cell([A, B, C])]), "y": Y}, ["X{1}{1}", "X{1}{2}", "X{1}{3}"]),
        ({"X": cell([{"fea": A}, {"fea": B}, {"fea": C}]), "y": Y}, ["X{1}.fea", "X{2}.fea", "X{3}.fea"]),
        ({"X10": C, "X2": B, "X1": A, "gnd": Y}, ["X1", "X2", "X10"]),
        ({"color": A, "shape": B, "texture": C, "labels": Y}, ["color", "shape", "texture"]),
        ({"Y": cell([A, B, C]), "gt": Y}, ["Y{1}", "Y{2}", "Y{3}"]),
    ],
)
def test_layouts(tmp_path: Path, version: str, variables: dict[str, Any], names: list[str]) -> None:
    """Structs, cells in cells and separate matrices; the names can be handed back as keys."""
    path = tmp_path / "file.mat"
    if version == "5":
        savemat(path, variables)
    else:
        write_mat73(path, variables)
    data = load_views(path)
    assert_views(data, A, B, C)
    assert data.names == names
    assert_views(load_views(path, views=names[1:]), B, C)


def test_array_of_structs(tmp_path: Path) -> None:
    """A field of an array of structs is a view of each."""
    records = np.empty((1, 3), dtype=[("X", object), ("name", object)])
    for i, X in enumerate((A, B, C)):
        records[0, i] = (X, f"view {i}")
    assert_views(load(tmp_path, data=records, y=Y), A, B, C)


def test_stacked_views(tmp_path: Path) -> None:
    """A 3-D array holds its views along the last axis in MATLAB and along the first in numpy."""
    views = [A, A + 1, A + 2]
    assert_views(load(tmp_path, X=np.stack(views, axis=2), y=Y), *views)
    np.savez(tmp_path / "a.npz", X=np.stack(views), y=Y)
    assert_views(load_views(tmp_path / "a.npz"), *views)
    assert_views(load_views(write_mat73(tmp_path / "b.mat", {"X": np.stack(views, axis=2), "y": Y})), *views)


def test_views_stored_twice(tmp_path: Path) -> None:
    """Variables that repeat the cell's matrices give their names, also turned; others are left and said."""
    data = load(tmp_path, X=cell([A, sp.csc_array(B)]), colour=A.T, words=sp.csc_array(B), extra=C, y=Y)
    assert_views(data, A, B)
    assert data.names == ["colour", "words"]
    assert_noted(data, "'extra'", kind="left out")
    data = load(tmp_path, X=cell([A, B]), data=cell([A, B]), y=Y)
    assert_views(data, A, B)
    assert_views(load(tmp_path, one=A, two=B, again=A, y=Y), A, B)


def test_notes_are_data(tmp_path: Path) -> None:
    """Each has a kind and the key that it is about, and prints as its text."""
    data = load(tmp_path, X=cell([A, B]), data=cell([A, B]), y=Y, gnd=Y, waves=A * 1j)
    assert_views(data, A, B)
    assert [(note.kind, note.view) for note in data.notes] == [
        ("views", "X"),
        ("duplicate", "data"),
        ("left out", ""),
        ("labels", "y"),
        ("duplicate", "gnd"),
        ("orientation", ""),
    ]
    assert f"{data.notes[1]}" == str(data.notes[1]) == "'data' holds the same views and was not taken again."


def test_what_is_left_out_is_mentioned_once(tmp_path: Path) -> None:
    """Also where there is more than a note lists."""
    extra: dict[str, Any] = {f"part_{letter}": RNG.random((3, 40)) for letter in "abcdefghijklmno"}
    data = load(tmp_path, colour=A, shape=B, y=Y, **extra)
    assert_views(data, A, B)
    (note,) = (note for note in data.notes if note.kind == "left out")
    assert str(note).endswith("'part_l' and 3 more.")


def test_what_is_not_a_view(tmp_path: Path) -> None:
    """Scalars, words, index vectors, similarities, centres and splits are left alone."""
    data = load(
        tmp_path,
        X=A,
        Xtwo=B,
        gt=Y,
        n=12.0,
        names=cell(["a", "b"]),
        about="some text",
        order_of=np.arange(12),
        W=RNG.random((12, 12)),
        centres=RNG.random((3, 4)),
        trainIdx=RNG.integers(2, size=(12, 10)),
    )
    assert_views(data, A, B)
    assert data.names == ["X", "Xtwo"]


def test_one_matrix_is_one_view(tmp_path: Path) -> None:
    """A classical file of features and labels."""
    assert_views(load(tmp_path, fea=A, gnd=Y[:, None]), A)


def test_one_view_as_long_as_wide(tmp_path: Path) -> None:
    """Square views follow the others."""
    square = RNG.random((12, 12))
    assert_views(load(tmp_path, X=cell([square, A]), y=Y), square, A)
    assert_views(load(tmp_path, X=cell([square, A.T]), y=Y), square.T, A)
    kernel = square + square.T
    assert_views(load(tmp_path, X=cell([kernel, kernel @ kernel]), y=Y), kernel, kernel @ kernel)


def test_sides_may_differ(tmp_path: Path) -> None:
    """Views with samples on different sides are told one by one, with or without labels."""
    for options in ({}, {"labels": False}):
        data = load(tmp_path, options, X=cell([A, B.T]), y=Y)
        assert_views(data, A, B, codes=None if options else CODES)
        assert_noted(data, "columns in others ('X{2}')", kind="orientation")


def test_without_labels(tmp_path: Path) -> None:
    """The size that all views share tells; the data can be clustered, and the notes say that they cannot be scored."""
    for views in ([A, B], [A.T, B.T]):
        data = load(tmp_path, X=cell(views))
        assert_views(data, A, B, codes=None)
        assert_noted(data, "can be clustered, but not scored", kind="labels")
    assert_views(load(tmp_path, {"labels": False}, X=cell([A, B]), y=Y), A, B, codes=None)


def test_labels_under_a_name_that_says_nothing(tmp_path: Path) -> None:
    """The only vector with few values, one for each sample; not an index."""
    data = load(tmp_path, X=cell([A, B]), stuff=Y, numbers=np.arange(12))
    assert_views(data, A, B)
    assert_noted(data, "a guess", kind="labels")
    assert_views(load(tmp_path, X=cell([A, B]), train=Y), A, B, codes=None)


def test_lists_of_clusters_are_no_labels(tmp_path: Path) -> None:
    """What labels are called at times is taken if it fits, and passed over if it does not."""
    assert_views(load(tmp_path, X1=A, X2=B, classes=cell(["one", "two", "three"]), n_class=3.0), A, B, codes=None)
    assert_views(load(tmp_path, X1=A, X2=B, category=Y, class_names=cell(["one", "two", "three"])), A, B)
    data = load(tmp_path, X1=A, X2=B, category=cell([f"c{y}" for y in Y], (12, 1)), classes=np.arange(3), y="about")
    assert_views(data, A, B)
    assert Note("labels", "category", "Labels are 'category'.") in data.notes


def test_several_labels_for_each_sample(tmp_path: Path) -> None:
    """Are neither labels nor a view; a matrix of numbers under such a name is one only if it is named as a view."""
    several = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]] * 4)
    for many in (several, several * 2 - 1, several.astype(bool)):
        data = load(tmp_path, colour=A, shape=B, Y=many)
        assert_views(data, A, B, codes=None)
        assert_noted(data, "'Y' (a 12 x 3 array) do not give one label", kind="labels")
    for labels in ({"labels": Y}, dict[str, Any]()):
        with pytest.raises(InputError, match=r"'Y' \(a 12 x 7 array\) has a label's name.*views= \(--views\)"):
            load(tmp_path, X=A, Y=B, **labels)
    assert_views(load(tmp_path, {"views": ["X", "Y"]}, X=A, Y=B, labels=Y), A, B)
    assert_views(load(tmp_path, X=cell([A, B]), Y=A * 1j), A, B, codes=None)


def test_keys_are_taken_as_told(tmp_path: Path) -> None:
    """Whatever else the file suggests; case matters only where it must."""
    variables = {"X": cell([A, B]), "other": cell([C, A]), "y": Y, "rough": Y > 2, "x": C}
    assert_views(load(tmp_path, {"views": "other"}, **variables), C, A)
    assert_views(load(tmp_path, {"views": ["x", "X{2}"], "labels": "ROUGH"}, **variables), C, B, codes=(Y > 2) * 1)
    struct = {"data": {"a": A, "b": B, "t": Y}}
    assert_views(load(tmp_path, {"views": ["data.b"], "labels": "data.t"}, **struct), B)
    assert_views(load(tmp_path, {"views": "data"}, data={"a": A, "b": B}, y=Y), A, B)


def test_orient_is_taken_as_told(tmp_path: Path) -> None:
    """Where sizes cannot tell."""
    square = RNG.random((12, 12))
    assert_views(load(tmp_path, {"orient": "columns"}, X=cell([square]), y=Y), square.T)
    assert_views(load(tmp_path, {"orient": "rows"}, X=cell([A, A + 1])), A, A + 1, codes=None)


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        ({"X": cell([A, A + 1])}, {}, "say orient='rows' or orient='columns' (--orient)"),
        ({"X": cell([A, A.T])}, {}, "cannot tell whether there are 5 or 12 samples"),
        ({"X": A}, {}, "the only view is 12 x 5; say orient="),
        ({"X": cell([RNG.random((12, 12))]), "y": Y}, {}, "12 x 12 and there are 12 labels; say orient="),
        ({"X": cell([A, B[:10]]), "y": Y}, {}, "labels 'y' has 12; view 'X{1}' is 12 x 5, 'X{2}' is 10 x 7"),
        ({"X": cell([A, B[:10]])}, {}, "same number of samples: 'X{1}' is 12 x 5, 'X{2}' is 10 x 7"),
        ({"X": cell([A, B]), "y": Y[:9]}, {}, "labels=False takes no labels"),
        ({"X": A, "y": Y[:9]}, {}, "there are 9 labels, and no matrix has that many"),
        ({"X": cell([A, B]), "Y": Y, "gnd": Y[::-1]}, {}, "'Y' and 'gnd' differ; labels="),
        ({"X": cell([A, B]), "y": cell([Y, Y[::-1]])}, {}, "'y{1}' and 'y{2}' of cell 'y' differ; labels="),
        ({"X": cell([A, B]), "y": np.where(Y == 1, np.nan, Y)}, {}, "NaN for 4 of 12 samples"),
        ({"X": cell([A, B]), "y": Y / 2}, {"labels": "y"}, "not whole numbers"),
        ({"X": cell([A, B]), "y": A}, {"labels": "y"}, "'y' (a 12 x 5 array) do not give one label"),
        ({"X": cell([A, B]), "data": cell([B, C]), "y": Y}, {}, "'X' and 'data' could both be the views; views="),
        ({"X": cell([A, B]), "y": Y}, {"orient": "columns"}, "view 'X{1}' (12 x 5) has 5 samples; there are 12 labels"),
        ({"n": 3.0, "about": "text"}, {}, "nothing that looks like views"),
        ({"X": cell([A, "text"]), "y": Y}, {"views": "X"}, "'X{2}' is text; expected a matrix"),
        ({"X": A + 1j, "y": Y}, {"views": "X"}, "'X' is complex numbers; expected real numbers"),
    ],
)
def test_what_cannot_be_decided(tmp_path: Path, variables: Any, options: Any, message: str) -> None:
    """Is one sentence that names the file, what it holds and the option that decides."""
    with pytest.raises(InputError) as caught:
        load(tmp_path, options, **variables)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_arguments(tmp_path: Path) -> None:
    """Unknown keys and options of the wrong kind."""
    with pytest.raises(UnknownNameError, match=r"'fea'; known: 'X', 'y'"):
        load(tmp_path, {"views": "fea"}, X=A, y=Y)
    with pytest.raises(UnknownNameError, match="orient"):
        load(tmp_path, {"orient": "row"}, X=A, y=Y)
    for options in ({"views": 3}, {"labels": True}, {"labels": 0}, {"views": [1]}):
        with pytest.raises(InputTypeError):
            load(tmp_path, options, X=A, y=Y)
    with pytest.raises(InputError, match="each once"):
        load(tmp_path, {"views": ["X", "X"]}, X=A, y=Y)
    with pytest.raises(InputTypeError, match="path must be"):
        load_views(3)  # type: ignore[arg-type]
