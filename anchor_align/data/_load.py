"""``load_views``: load multi-view data from files as people publish them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays import is_sparse
from ..blocks import check_graph, check_join
from ..checks import check_choice, check_not_empty
from ..errors import FileError, InputError, InputTypeError, shown
from ._annotated_entries import AnnotatedData, annotated_class, annotated_entries, default_views
from ._catalogue import BUNDLED, load_bundled
from ._entries import Entry, find_entry, flatten, listed, naming, quoted, reading
from ._file_formats import ENDINGS, EXPECTED, open_list, open_source
from ._find_labels import LabelChoice, choose_labels, has_label_name, is_misnamed, named_labels, read_labels
from ._find_views import ViewChoice, guess_views, named_views
from ._joined_entries import ChosenSamples, JoinedEntries, choose_samples, join_entries, naming_transposed, turned
from ._multi_view_data import MultiViewData, Note
from ._orientation import ORIENTATIONS, find_orientation
from ._read_options import IndexName, ReadOptions

Keys: TypeAlias = Sequence[str] | None
Source: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | AnnotatedData"
LabelKey: TypeAlias = str | Literal[False] | None


def load_views(
    path: Source,
    *,
    views: str | Sequence[str] | None = None,
    labels: str | Literal[False] | None = None,
    orient: str = "auto",
    mmap: bool = False,
    max_bytes: int | str | None = None,
    join: str | None = None,
    index: IndexName = None,
    sep: str | None = None,
    decimal: str | None = None,
) -> MultiViewData:
    """Load the views of a data set, and its labels where there are any, from a file, a folder or a bundled set.

    The content of a file says which format it has: MATLAB's .mat of any version (7.3 needs the extra ``mat73``), .npz,
    annotated data in .h5ad and .h5mu, a folder with one .npy, .csv, .tsv, .txt, .parquet, .feather or sparse .npz file
    for each view and one for the labels, a single such file, or a list of them. Text may be compressed (.csv.gz).
    Tables whose rows have names (an index of a parquet file, a column headed ``id`` or ``index``, a first column
    without numbers, or that named by ``index``) are joined by these names. Nothing is ever unpickled. The loader works
    out which variables are views and labels, and whether samples are rows or columns; ``notes`` say what it decided
    and what it left out. Use ``views``, ``labels`` and ``orient`` to decide yourself.

    Parameters
    ----------
    path : str or path-like, list of them, AnnData or MuData
        File or folder, a list of files with one view each, an object of annotated data, or the name of a set that comes
        with the package (see :func:`~anchor_align.data.catalogue`). A bare name such as ``"digits"`` is the bundled set
        even if there is a file of that name; ``"./digits"`` or a ``Path`` is the file.
    views : str or list of str, optional
        Keys of the views: matrices, or cells or structs that hold nothing else. ``"data.X"`` is a field of a struct,
        ``"X{2}"`` the second member of a cell. In a folder, the names of files without ending. In annotated data,
        ``"rna"`` is the matrix X of a modality, ``"rna:X_pca"`` one of its layers or arrays in ``obsm``; without
        modalities, ``"X"`` and ``"X_pca"``. By default the matrices X of all modalities, in other files a cell or
        struct of matrices, or else all matrices that share the number of samples. A matrix that equals another one is
        not taken again, except for members of one cell and matrices that are numbered alike (X1, X2): these are all
        taken, and a note says that they are equal. A single column is a view if it is numbered like others. An entry
        with a label's name is no view, nor are masks, 3-D arrays beside matrices, or the parts of a split into
        training and test samples.
    labels : str or False, optional
        Key of the labels; False takes none. By default the entry with a label's name (``y``, ``gt``, ``truth``, ...).
        Labels may be a vector, words, a cell of either, a copy for each view, or a matrix with a single 1 for each
        sample. In annotated data, ``"obs:cell_type"`` is a column of ``obs``. Without such an entry, a table's column
        headed ``label``, ``class``, ``target`` or ``y``, which is then no feature (its key is ``"table.label"``), or
        whole numbers at the end of the cell of views.
    orient : {"auto", "rows", "columns"}, default="auto"
        Whether samples are rows or columns. "auto" takes the side that is as long as the labels, or, without labels,
        that has the same length in all views; in .csv, .tsv, .txt, .parquet and .feather files it takes rows, unless
        only columns are as many as the labels. With "columns", the heads of a table are the names of the samples.
    mmap : bool, default=False
        Leave arrays in their .npy files, as read-only memmaps, which may be larger than memory. The files must not
        change while they are used. Dense arrays of .parquet, .h5ad and .h5mu files are copied, a few rows at a time, to
        unnamed files in the folder of temporary files. Other arrays are loaded into memory.
    max_bytes : int or str, optional
        How much memory the content of one file may take, such as ``"20GB"``: a small file can declare, or decompress
        to, arrays of any size. Sizes are compared before anything is allocated. By default 256 MiB or 100 times the
        size of the file, whichever is larger, and no array that is larger than the free memory.
    join : {"inner", "outer"}, optional
        For tables that name different samples: "inner" keeps the samples that all views have, "outer" keeps all, and
        ``mask`` of the result marks those that a view lacks. By default different samples are an error. The same
        samples in another order are put in the order of the first view, with a note.
    index : str or False, optional
        Head of the column that has the names of the samples, in tables. False: rows have no names and are paired by
        position.
    sep : str, optional
        Separator of text files. By default tab, semicolon or comma, whichever the first line has, or spaces.
    decimal : {".", ","}, optional
        Decimal mark of text files. By default a comma only if the separator is another character and numbers have one.

    Returns
    -------
    MultiViewData
        Views of shape (n_samples, n_features), in the number type of the file; sparse ones stay sparse, as
        ``csr_array``. Labels are numbered 0 to k - 1 in the sorted order of the originals. Values are not changed or
        checked: functions that compute with them refuse NaN.

    Raises
    ------
    FileError
        If the file cannot be read: it does not exist, is damaged or too large, or may not be opened.
    InputError
        If the file holds no views, or several answers are possible; the message says which option decides.
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
    >>> print(data.notes[0])
    Views are 'view_0', 'view_1'.
    """
    keys = None if views is None else [views] if isinstance(views, str) else views
    if keys is not None:
        if not isinstance(keys, Sequence) or not all(isinstance(key, str) for key in keys):
            raise InputTypeError(f"views must be a key or a list of keys, got {shown(views)}.")
        if not keys or len(set(keys)) < len(keys):
            raise InputError(f"views must name one or more views, each once, got {shown(views)}.")
    if labels is not None and labels is not False and not isinstance(labels, str):
        raise InputTypeError(f"labels must be a key, False or None, got {shown(labels)}.")
    check_choice("orient", orient, ORIENTATIONS)
    check_join(join)
    options = ReadOptions.checked(max_bytes, mmap, index, sep, decimal)
    if isinstance(path, str) and path in BUNDLED:
        if join is not None or index:
            raise InputError(f"The bundled set {path!r} has no names of samples; join and index are for files.")
        return _from_bundled(path, keys, labels, orient)
    if annotated_class(path):
        return _from_entries(annotated_entries(path), keys, labels, orient, join)
    if isinstance(path, Sequence) and not isinstance(path, (str, bytes)):
        return _from_list(path, keys, labels, orient, join, options)
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(
            f"path must be a file, a folder, a list of files or the name of a bundled set, got {type(path).__name__}."
        )
    check_not_empty(path)
    place = Path(os.fsdecode(path))
    with reading(place):
        exists = place.exists()
    if not exists:
        near = difflib.get_close_matches(str(place), BUNDLED, n=1, cutoff=0.6)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise FileError(
            f"{place} does not exist; expected {EXPECTED}, or a bundled set: {', '.join(map(repr, BUNDLED))}.{hint}"
        )
    with reading(place):
        return _from_file(place, keys, labels, orient, join, options)


def _from_bundled(name: str, keys: Keys, labels: LabelKey, orient: str) -> MultiViewData:
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
        notes += (Note("bundled", "", f"{name!r} is the bundled set; the file of that name is './{name}'."),)
    if keys is None:
        return MultiViewData(data.views, codes, data.names, notes)
    names = [check_choice(f"view of {name!r}", key, data.names) for key in keys]
    return MultiViewData([data.views[data.names.index(key)] for key in names], codes, names, notes)


def _from_file(
    path: Path, keys: Keys, labels: LabelKey, orient: str, join: str | None, options: ReadOptions
) -> MultiViewData:
    with open_source(path, options) as listed_entries, naming(path):
        return _from_entries(listed_entries, keys, labels, orient, join)


def _from_list(
    paths: Sequence[Any], keys: Keys, labels: LabelKey, orient: str, join: str | None, options: ReadOptions
) -> MultiViewData:
    """Views of several files: each file that holds no labels is a view."""
    if not paths or not all(isinstance(path, (str, os.PathLike)) for path in paths):
        raise InputTypeError(f"path must be a file, a folder or a list of files, got {shown(paths)}.")
    for path in paths:
        check_not_empty(path)
    places = [Path(os.fsdecode(path)) for path in paths]
    for place in places:
        if not place.exists():
            raise FileError(f"{place} does not exist; expected {EXPECTED}.")
        if places.count(place) > 1:
            raise InputError(f"{place} is given {places.count(place)} times; expected one file for each view.")
    with open_list(places, options) as entries:
        if keys is None:
            views = [entry for entry in entries if not entry.is_column and entry.key != labels]
            views = [entry for entry in views if entry.kind != "text" and entry.part != "other"]
            keys = [entry.key for entry in views if not has_label_name(entry) or _is_named_like_labels(entry)]
            for entry in entries:
                words = entry.read() if entry.kind == "text" and entry.key != labels else []
                if words and len(set(words)) == len(words) and not has_label_name(entry):
                    raise InputError(
                        f"{entry.key!r} has one column of words, such as {shown(words[0])}; expected numbers, or "
                        "labels. If another character separates the fields, say sep= (--sep)."
                    )
            if not keys:
                raise InputError(f"The files {quoted([str(place) for place in places])} hold labels and no views.")
        return _from_entries(entries, keys, labels, orient, join)


def _is_named_like_labels(entry: Entry) -> bool:
    """Whether an entry is a table, such as laboratory values in lab.csv, that only has the name of labels."""
    if entry.is_vector or not entry.is_matrix:
        return False
    try:
        read_labels(entry)
    except InputError:
        return True
    return False


def _from_entries(
    listed_entries: Sequence[Entry], keys: Keys, labels: LabelKey, orient: str, join: str | None
) -> MultiViewData:
    flat = flatten(listed_entries)
    if keys is None and any(entry.part for entry in flat):
        keys = default_views(flat)
    by_rows, are_turned = orient == "auto", orient == "columns" and any(entry.heads for entry in flat)
    if are_turned:
        flat, orient = [turned(entry) for entry in flat], "rows"
    with naming_transposed(flat, are_turned=are_turned, by_rows=by_rows):
        joined = JoinedEntries(flat) if orient == "columns" else join_entries(flat, keys, labels, join)
    entries = joined.entries
    views, choice = _choose(entries, [e for e in listed_entries if e.kind == "struct"], keys, labels)
    n_labels = choice.labels.n_samples if choice.labels else None
    with naming_transposed(views.entries, are_turned=are_turned, by_rows=by_rows, n_labels=n_labels):
        side = find_orientation(views.entries, n_labels, orient)
        sources = [entry for entry in entries if choice.labels and entry.key == choice.labels.key]
        if join is not None and (any(side.transposed) or not any(view.ids for view in views.entries)):
            raise InputError(
                f"join={join!r} (--join) joins samples by name, and the rows have no names; index= (--index) names the "
                "column that has them."
            )
        if any(side.transposed):
            chosen = ChosenSamples(views.entries, None)
        else:
            chosen = choose_samples(joined, views.entries, sources[0] if sources else None, join)
    used = [*views.entries, *sources]
    notes = [*views.notes, *choice.notes, *side.notes, *joined.notes]
    notes += [note for entry in entries if keys is None or entry in used for note in entry.notes]
    known = [entry.key for entry in used] + ([choice.labels.key] if choice.labels else [])
    notes += _left_out(entries, [*known, *views.mentioned, *choice.mentioned] if keys is None else None)
    arrays = [
        _samples_first(entry, transposed) for entry, transposed in zip(chosen.views, side.transposed, strict=True)
    ]
    codes = choice.labels.codes if choice.labels else None
    codes = codes if codes is None or chosen.kept is None else codes[chosen.kept]
    heads = tuple(
        entry.heads if entry.heads and not turned else None
        for entry, turned in zip(chosen.views, side.transposed, strict=True)
    )
    return MultiViewData(arrays, codes, views.names, tuple(notes), chosen.samples, chosen.mask, heads)


def _choose(
    entries: Sequence[Entry], structs: Sequence[Entry], keys: Keys, labels: LabelKey
) -> tuple[ViewChoice, LabelChoice]:
    """Choose views and labels, which depend on each other: labels tell how many samples there are."""
    nameable = [*entries, *structs]
    named = None if keys is None else named_views(nameable, keys)
    if labels is not None:
        source = None if labels is False else find_entry(nameable, labels, "labels")
        values = None if source is None else read_labels(source)
        left = [entry for entry in entries if entry is not source and not has_label_name(entry)]
        views = named or guess_views(left, {values.n_samples} if values else set())
        return views, LabelChoice(values, list(values.notes) if values else [], [])
    taken = {key.lower() for key in keys or ()}
    found, refused = named_labels([entry for entry in entries if entry.key.lower() not in taken])
    sources = [entry for _, entry in found]
    misnamed = [] if named else [entry for entry in entries if entry not in sources and is_misnamed(entry)]
    if misnamed and not found:
        raise _no_labels(misnamed[0])
    left = [entry for entry in entries if entry not in sources and not has_label_name(entry)]
    views = named or guess_views(left, {values.n_samples for values, _ in found})
    if misnamed and not views.in_container:
        raise _no_labels(misnamed[0])
    return views, choose_labels([values for values, _ in found], refused, entries, views.entries, views.last_member)


def _no_labels(entry: Entry) -> InputError:
    return InputError(
        f"{entry.key!r} ({entry.description}) has a label's name, and does not give one label for each sample; "
        "views= (--views) names the views, labels= (--labels) the labels, labels=False (--no-labels) takes none."
    )


def _left_out(entries: Sequence[Entry], known: Sequence[str] | None) -> list[Note]:
    """Notes on entries that hold data and are not ``known``: neither used nor mentioned before.

    If ``known`` is None, the user named the views: only files that cannot be read are mentioned.
    """
    notes = []
    unread = [entry.key for entry in entries if entry.kind == "unread"]
    if unread:
        text = f"Not read: {quoted(unread)}; expected tables ({', '.join(ENDINGS)})."
        notes.append(Note("left out", "", text))
    if known is None:
        return notes
    for entry in entries:
        if entry.kind in ("objects", "other"):
            which = repr(entry.key) if entry.key else "A variable without a name"
            notes.append(Note("left out", entry.key, f"{which} is {entry.what}: left out."))
    left = [
        f"{entry.key!r} ({entry.description})"
        for entry in entries
        if _holds_data(entry)
        and not any(key == entry.key or key.startswith((f"{entry.key}{{", f"{entry.key}.")) for key in known)
    ]
    return [*notes, Note("left out", "", f"Left out: {listed(left)}.")] if left else notes


def _holds_data(entry: Entry) -> bool:
    """Whether an entry is more than text or a single number."""
    if entry.kind == "cell":
        return any(member.is_matrix and max(member.shape) > 1 for member in entry.members())
    return entry.kind in ("matrix", "sparse") and max(entry.shape, default=0) > 1 and 0 not in entry.shape


def _samples_first(entry: Entry, transposed: bool) -> Any:
    """Array of samples x features. The reader's copy is freed first: transposing a sparse matrix needs the memory."""
    X = entry.read()
    entry.drop()
    if not X.dtype.isnative and not isinstance(X, np.memmap):
        X = X.astype(X.dtype.newbyteorder("="))
    X = X[:, np.newaxis] if X.ndim == 1 else X
    X = X.T if transposed else X
    X = sp.csr_array(X) if is_sparse(X) else X
    check_graph(X, repr(entry.key), "features")
    return X
