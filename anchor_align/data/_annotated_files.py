"""Files of annotated data, .h5ad and .h5mu: which nodes hold matrices, names of samples and labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ._annotated_entries import Modality, joined_modalities, modality_entries, obs_entries
from ._entries import Entry

_SPARSE = ("csr_matrix", "csc_matrix")


def is_annotated(file: Any) -> bool:
    """Whether an open HDF5 file holds AnnData or MuData."""
    kind = _attribute(file, "encoding-type").lower()
    return kind in ("anndata", "mudata") or ("obs" in file and ("X" in file or "mod" in file))


def annotated_file_entries(reader: Any, file: Any, stem: str = "") -> list[Entry]:
    """Entries of an open file; ``reader`` makes entries of its nodes. ``stem``, if set, names the only modality."""
    if "mod" not in file:
        modality = _modality(reader, file)
        return [*modality_entries(stem, modality), *_obs(reader, file, modality.samples, stem and f"{stem}/")]
    if int(file.attrs.get("axis", 0)) != 0:
        raise InputError("the file shares variables, not samples (axis=1); expected modalities of the same cells.")
    group = file["mod"]
    order = [
        each.decode() if isinstance(each, bytes) else str(each) for each in group.attrs.get("mod-order", list(group))
    ]
    modalities = {name: _modality(reader, _node(group, name)) for name in order}
    samples = _index(reader, _node(file, "obs"))
    places = {name: np.ravel(_read(reader.linked(_node(file, "obsmap"), name, f"obsmap/{name}", ()))) for name in order}
    return [*joined_modalities(modalities, samples, places), *_obs(reader, file, samples)]


def _modality(reader: Any, group: Any) -> Modality:
    found: dict[str, Entry] = {}
    if "X" in group:
        found[""] = _matrix(reader, group, "X")
    obsm = list(_node(group, "obsm")) if "obsm" in group else []
    for folder in ("layers", "obsm"):
        for name in _node(group, folder) if folder in group else ():
            key = f"layers/{name}" if folder == "layers" and name in obsm else name
            found[key] = _matrix(reader, _node(group, folder), name)
    matrices = {key: entry for key, entry in found.items() if entry.is_matrix and len(entry.shape) == 2}
    return Modality(_index(reader, _node(group, "obs")), matrices)


def _matrix(reader: Any, group: Any, name: str) -> Entry:
    node = _node(group, name)
    kind = _attribute(node, "encoding-type") or _attribute(node, "h5sparse_format") + "_matrix"
    if hasattr(node, "keys") and kind in _SPARSE:
        shape = node.attrs["shape"] if "shape" in node.attrs else node.attrs["h5sparse_shape"]
        entry: Entry = reader.sparse_group(name, node, tuple(map(int, shape)), kind[:3])
        return entry
    entry = reader.linked(group, name, name, ())
    return entry


def _obs(reader: Any, group: Any, samples: tuple[Any, ...], before: str = "") -> list[Entry]:
    """Columns of ``obs`` that hold text, categories or whole numbers."""
    table = _node(group, "obs")
    columns: dict[str, Any] = {}
    for name in table:
        node = _node(table, name)
        if name != _attribute(table, "_index") and (
            hasattr(node, "keys") or getattr(node, "shape", ()) == (len(samples),)
        ):
            columns[name] = _Column(reader, table, name)
    return obs_entries(columns, samples, before)


class _Column:
    """Values of a column, read when they are iterated."""

    def __init__(self, reader: Any, table: Any, name: str) -> None:
        self._source = reader, table, name

    def __iter__(self) -> Any:
        reader, table, name = self._source
        node = _node(table, name)
        if not hasattr(node, "keys"):
            return iter(_values(reader.linked(table, name, f"obs:{name}", ())))
        if "codes" not in node or "categories" not in node:
            raise InputError(f"'obs:{name}' is not text, categories or numbers.")
        words = [*_values(reader.linked(node, "categories", f"obs:{name}", ())), None]
        codes = np.ravel(_read(reader.linked(node, "codes", f"obs:{name} codes", ())))
        if codes.size and not -1 <= codes.min() <= codes.max() < len(words) - 1:
            raise ValueError("codes of categories that are not there")
        return iter([words[code] for code in codes])


def _values(entry: Entry) -> list[Any]:
    values = _read(entry)
    return values if isinstance(values, list) else np.ravel(values).tolist()


def _index(reader: Any, table: Any) -> tuple[Any, ...]:
    """Names of the samples."""
    if not hasattr(table, "keys"):
        raise InputError("the file was written by a version of anndata before 0.7; write it again with a newer one.")
    name = _attribute(table, "_index") or "_index"
    return tuple(_values(reader.linked(table, name, f"obs/{name}", ())))


def _read(entry: Entry) -> Any:
    if entry.kind not in ("matrix", "text", "empty"):
        raise ValueError(f"{entry.key!r} is {entry.description}")
    return [] if entry.kind == "empty" else entry.read()


def own_node(group: Any, name: str) -> Any:
    """A member of a group; None if it is a link, which may lead to another file."""
    import h5py

    return group[name] if isinstance(group.get(name, getlink=True), h5py.HardLink) else None


def _node(group: Mapping[str, Any], name: str) -> Any:
    """A member of a group that is in this file."""
    node = own_node(group, name) if name in group else None
    if node is None:
        raise ValueError(f"{name!r} is missing, or a link")
    return node


def _attribute(node: Any, name: str) -> str:
    value = node.attrs.get(name, "")
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
