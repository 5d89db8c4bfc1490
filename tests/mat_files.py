"""Files for the tests of the loader, and checks of what it makes of them.

``write_mat73`` writes MATLAB 7.3 as MATLAB does; ``cell`` makes cells for scipy.io.savemat.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from anchor_align import AnchorAlignError, load_views

HEADER = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan  1 00:00:00 2024 HDF5 schema 1.00 ."


def cell(values: Sequence[Any], shape: tuple[int, ...] | None = None) -> Any:
    """A cell array for scipy.io.savemat: a row, or of the given shape."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array.reshape(shape or (1, -1))


def write_mat73(path: Path, variables: dict[str, Any], **options: Any) -> Path:
    """Write variables as MATLAB 7.3 does: lists and object arrays are cells, dicts structs, str text."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            _write(file, file, name, value, options)
    with path.open("r+b") as raw:
        raw.write(HEADER.ljust(116) + bytes(8) + b"\x00\x02IM")
    return path


def _write(file: Any, group: Any, name: str, value: Any, options: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        node = group.create_group(name)
        node.attrs["MATLAB_class"] = np.bytes_("struct")
        for field, content in value.items():
            _write(file, node, field, content, options)
    elif is_sparse(value):
        node = _write_sparse(group, name, sp.csc_array(value))
    elif isinstance(value, list) or getattr(value, "dtype", np.dtype("f8")).kind == "O":
        node = _write_cell(file, group, name, value, options)
    elif isinstance(value, str):
        node = group.create_dataset(name, data=np.array([[ord(char)] for char in value], dtype=np.uint16))
        node.attrs["MATLAB_class"] = np.bytes_("char")
        node.attrs["MATLAB_int_decode"] = 2
    else:
        array = np.atleast_2d(value)
        node = group.create_dataset(name, data=array.T, **(options if array.size > 1 else {}))
        kinds = {"float64": "double", "float32": "single", "bool": "logical"}
        node.attrs["MATLAB_class"] = np.bytes_(kinds.get(array.dtype.name, array.dtype.name))
    return node


def _write_sparse(group: Any, name: str, value: Any) -> Any:
    node = group.create_group(name)
    node.attrs["MATLAB_class"] = np.bytes_("double")
    node.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
    node.create_dataset("jc", data=value.indptr.astype(np.uint64))
    if value.nnz:
        node.create_dataset("ir", data=value.indices.astype(np.uint64))
        node.create_dataset("data", data=value.data)
    return node


def _write_cell(file: Any, group: Any, name: str, value: Any, options: dict[str, Any]) -> Any:
    values = np.atleast_2d(value if isinstance(value, np.ndarray) else cell(value))
    references = np.empty(values.shape, dtype=h5py.ref_dtype)
    store = file.require_group("#refs#")
    for place, content in np.ndenumerate(values):
        references[place] = _write(file, store, f"{name}.{place}", content, options).ref
    node = group.create_dataset(name, data=references.T, dtype=h5py.ref_dtype)
    node.attrs["MATLAB_class"] = np.bytes_("cell")
    return node


def is_sparse(X: Any) -> bool:
    return bool(sp.issparse(X))


def dense(X: Any) -> Any:
    return X.toarray() if is_sparse(X) else X


def assert_views(data: Any, *views: Any, names: list[str] | None = None, labels: Any = None) -> None:
    """The data hold these views, under these names, and these labels or none; sparse views are csr_array."""
    assert len(data.views) == len(data.names) == len(views)
    for found, expected in zip(data.views, views, strict=True):
        assert isinstance(found, sp.csr_array) == is_sparse(found)
        np.testing.assert_array_equal(dense(found), dense(expected))
    if names is not None:
        assert data.names == names
    if labels is None:
        assert data.labels is None
    else:
        assert data.labels.dtype == np.int64
        np.testing.assert_array_equal(data.labels, labels)


def assert_noted(data: Any, *parts: str, kind: str | None = None) -> None:
    """Each part is in the text of some note, of this kind if one is given."""
    texts = [str(note) for note in data.notes if kind in (None, note.kind)]
    for part in parts:
        assert any(part in text for text in texts), (part, data.notes)


def assert_refused(path: Path, *parts: str, kind: type[Exception] = AnchorAlignError, **options: Any) -> None:
    """Loading fails with one line that names the file and holds all parts."""
    with pytest.raises(kind) as caught:
        load_views(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    for part in (str(path), *parts):
        assert part in message, message
