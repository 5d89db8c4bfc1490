"""``load_views``: multi-view data from files as people publish them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .._types import is_sparse
from .._validation import check_choice
from ..checks import check_flag
from ..errors import FileError, InputError, InputTypeError
from ._catalogue import BUNDLED, load_bundled
from ._entries import Entry, find_entry, flatten, reading
from ._label_roles import choose_labels
from ._left import check_order, left_out, not_read
from ._orientation import ORIENTATIONS, find_orientation
from ._roles import Views, guess_views, named_views
from ._source import EXPECTED, open_source, sparse_rows
from ._types import MultiViewData


def load_views(
    path: str | os.PathLike[str],
    *,
    views: str | Sequence[str] | None = None,
    labels: str | Literal[False] | None = None,
    orient: str = "auto",
    mmap: bool = False,
) -> MultiViewData:
    """Load the views of a data set, and its labels where there are any, from a file, a folder or a bundled set.

    Files are told apart by their content: MATLAB's .mat of any version (7.3 needs the extra ``mat73``), .npz, a folder
    with one .npy, .csv, .parquet or sparse .npz file for each view and one for the labels, or a single such file.
    In tables, columns headed ``id`` or ``index`` and names of rows are left out. Nothing is ever unpickled. Which
    variables are views and labels and which side the samples are on is worked out and said in ``notes``, and so is what
    was left out; ``views``, ``labels`` and ``orient`` decide where that is not wanted or not possible.

    Parameters
    ----------
    path : str or path-like
        File or folder, or the name of a set that comes with the package (see :func:`~anchor_align.data.catalogue`). A
        bare name such as ``"digits"`` is the bundled set even if there is a file of that name; ``"./digits"`` or a
        ``Path`` is the file.
    views : str or list of str, optional
        Keys of the views: matrices, or cells or structs that hold nothing else. ``"data.X"`` is a field of a struct,
        ``"X{2}"`` the second member of a cell. In a folder, the names of files without ending. By default a cell or
        struct of matrices, or else all matrices that share the number of samples. One that holds what another one
        holds is not taken again, except for members of one cell and matrices that are numbered alike (X1, X2): these
        are all taken, and a note says that they are equal. A single column is a view if it is numbered like others.
        What has a label's name is no view, nor are masks, 3-D arrays beside matrices, or the parts of a split into
        training and test samples.
    labels : str or False, optional
        Key of the labels; False takes none. By default what has a label's name (``y``, ``gt``, ``truth``, ...). They
        may be a vector, words, a cell of either, a copy for each view, or a matrix with a single 1 for each sample.
        Without such, a table's column headed ``label``, ``class``, ``target`` or ``y``, which is no feature (its key
        is ``"table.label"``), or whole numbers at the end of the cell of views.
    orient : {"auto", "rows", "columns"}, default="auto"
        Whether samples are rows or columns. "auto" takes the side that has as many as there are labels, or, without
        labels, that is as long in all views.
    mmap : bool, default=False
        Leave arrays in their .npy files, as read-only memmaps, which may be larger than memory. The files must not
        change while they are used. Arrays in other kinds of files are loaded all the same.

    Returns
    -------
    MultiViewData
        Views of shape (n_samples, n_features), in the number type of the file; sparse ones stay sparse, as
        ``csr_array``. Labels are numbered 0 to k - 1 in the sorted order of the originals. Values are left as they
        are: whoever computes with them refuses NaN.

    Raises
    ------
    FileError
        If the file cannot be read: it is absent, damaged, or may not be opened.
    InputError
        If it holds no views, or what it holds cannot be told apart; the message says which option decides.
    MissingExtraError
        If a package that the format needs is not installed.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from anchor_align import load_views
    >>> rng = np.random.default_rng(0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "mine.npz")
    ...     np.savez(file, view_0=rng.random((30, 4)), view_1=rng.random((30, 7)), labels=rng.integers(1, 4, size=30))
    ...     data = load_views(file)
    >>> [view.shape for view in data.views], data.names, data.n_clusters
    ([(30, 4), (30, 7)], ['view_0', 'view_1'], 3)
    >>> data.notes[0]
    "Views are 'view_0', 'view_1'."
    """
    keys = _check_keys(views)
    if labels is not None and labels is not False and not isinstance(labels, str):
        raise InputTypeError(f"labels must be a key, False or None, got {labels!r}.")
    check_choice("orient", orient, ORIENTATIONS)
    check_flag("mmap", mmap)
    if isinstance(path, str) and path in BUNDLED:
        return _from_bundled(path, keys, labels, orient)
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"path must be a file, a folder or the name of a bundled set, got {type(path).__name__}.")
    return _from_file(_existing(path), keys, labels, orient, mmap=mmap)


def _check_keys(views: object) -> list[str] | None:
    if views is None:
        return None
    keys = [views] if isinstance(views, str) else views
    if not isinstance(keys, Sequence) or not all(isinstance(key, str) for key in keys):
        raise InputTypeError(f"views must be a key or a list of keys, got {views!r}.")
    if not keys or len(set(keys)) < len(keys):
        raise InputError(f"views must name one or more views, each once, got {views!r}.")
    return list(keys)


def _existing(path: str | os.PathLike[str]) -> Path:
    """The path, if there is something."""
    place = Path(os.fsdecode(path))
    with reading(place):
        exists = place.exists()
    if not exists:
        near = difflib.get_close_matches(str(place), BUNDLED, n=1, cutoff=0.6)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise FileError(
            f"{place} does not exist; expected {EXPECTED}, or a bundled set: {', '.join(map(repr, BUNDLED))}.{hint}"
        )
    return place


def _from_file(
    path: Path, keys: list[str] | None, labels: str | Literal[False] | None, orient: str, *, mmap: bool
) -> MultiViewData:
    with _naming(path), open_source(path, mmap=mmap) as listed:
        entries = flatten(listed)
        nameable = [*entries, *(entry for entry in listed if entry.kind == "struct")]
        told = [] if labels is False else None if labels is None else [find_entry(nameable, labels, path, "labels")]

        def find_views(left: Sequence[Entry], counts: set[int]) -> Views:
            return guess_views(left, counts, path) if keys is None else named_views(nameable, keys, path)

        choice, views = choose_labels(entries, told, find_views, keys or (), path)
        n_labels = None if choice.labels is None else choice.labels.n_samples
        side = find_orientation(views.entries, n_labels, orient, path)
        sources = [entry for entry in entries if choice.labels and entry.key == choice.labels.key]
        rows = [entry for entry, turned in zip(views.entries, side.transposed, strict=True) if not turned]
        check_order([*rows, *sources], path)
        notes = [*views.notes, *choice.notes, *([side.note] if side.note else [])]
        notes += [
            note for entry in entries if keys is None or entry in (*views.entries, *sources) for note in entry.notes
        ]
        notes += not_read(entries)
        if keys is None:
            used = [entry.key for entry in (*views.entries, *sources)] + [choice.labels.key if choice.labels else ""]
            notes += left_out(entries, used, notes)
        arrays = [
            _samples_first(entry, transposed, path)
            for entry, transposed in zip(views.entries, side.transposed, strict=True)
        ]
    return MultiViewData(arrays, choice.labels.codes if choice.labels else None, views.names, tuple(notes))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in what is said of its entries."""
    try:
        yield
    except InputError as error:
        if str(path) in str(error):
            raise
        raise type(error)(f"{path}: {error}") from error


def _samples_first(entry: Entry, transposed: bool, path: Path) -> Any:
    """Array of samples x features. What the reader holds is let go first: a sparse matrix needs room to be turned."""
    X = entry.read()
    entry.drop()
    if X.dtype.kind not in "fiub":
        raise InputError(f"{path}: view {entry.key!r} has values of type {X.dtype}; expected real numbers.")
    if not X.dtype.isnative and not isinstance(X, np.memmap):
        X = X.astype(X.dtype.newbyteorder("="))
    if not is_sparse(X):
        X = X[:, np.newaxis] if X.ndim == 1 else X
        return X.T if transposed else X
    return sparse_rows(X.T if transposed else X, path)


def _from_bundled(name: str, keys: list[str] | None, labels: str | Literal[False] | None, orient: str) -> MultiViewData:
    data = load_bundled(name)
    if labels not in (None, False, "labels"):
        raise InputError(
            f"The bundled set {name!r} has one set of labels; labels must be None or False, got {labels!r}."
        )
    if orient == "columns":
        raise InputError(f"In the bundled set {name!r} samples are rows; orient must be 'auto' or 'rows'.")
    codes = None if labels is False else data.labels
    notes = data.notes
    if Path(name).exists():
        notes += (f"{name!r} is the bundled set; the file of that name is './{name}'.",)
    if keys is None:
        return MultiViewData(data.views, codes, data.names, notes)
    places = [check_choice(f"view of {name!r}", key, data.names) for key in keys]
    return MultiViewData([data.views[data.names.index(key)] for key in places], codes, places, notes)
