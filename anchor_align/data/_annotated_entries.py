"""Annotated data: AnnData and MuData, in memory, backed by a file, or as .h5ad and .h5mu files.

A view is named ``rna`` (the matrix X of a modality) or ``rna:KEY`` (one of its layers, or of the arrays in ``obsm``).
The files are read with h5py, as all HDF5 files are: nothing is unpickled, and links are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..arrays import IndexArray, is_sparse
from ..blocks import NamedRows, empty_on_disk, write_rows
from ..errors import InputError, InputTypeError
from ._entries import Entry, Held, quoted
from ._find_labels import IncompleteLabels
from ._joined_entries import placed

ROWS_AT_ONCE = 2**14


class AnnotatedData(Protocol):
    """AnnData or MuData."""

    @property
    def obs(self) -> Any:
        """Columns that describe the samples."""

    @property
    def obs_names(self) -> Any:
        """Names of the samples."""


@dataclass(frozen=True, eq=False)
class Modality:
    """One AnnData: its entries by key ("" for X), and the names of its samples."""

    samples: tuple[Any, ...]
    matrices: Mapping[str, Entry]


def annotated_class(value: object) -> str:
    """The class, AnnData or MuData, if the value is of one, else an empty text. Neither package is imported."""
    for each in type(value).__mro__:
        if each.__name__ in ("AnnData", "MuData") and each.__module__.partition(".")[0] in ("anndata", "mudata"):
            return each.__name__
    return ""


def annotated_entries(value: Any) -> list[Entry]:
    """Entries of an AnnData or MuData object."""
    columns = obs_entries({str(name): value.obs[name] for name in value.obs.columns}, tuple(value.obs_names))
    if annotated_class(value) == "AnnData":
        return [*modality_entries("", _in_memory(value)), *columns]
    if getattr(value, "axis", 0) != 0:
        raise InputError(
            "The MuData object shares variables, not samples (axis=1); expected modalities of the same cells."
        )
    modalities = {str(name): _in_memory(each) for name, each in value.mod.items()}
    places = {name: np.asarray(value.obsmap[name]).ravel() for name in value.mod}
    return [*joined_modalities(modalities, tuple(value.obs_names), places), *columns]


def _in_memory(adata: Any) -> Modality:
    """Matrices of an AnnData; those of a file are read when they are needed."""
    found: dict[str, Any] = {} if adata.X is None else {"": adata.X}
    found |= _named_parts(
        {str(key): adata.layers[key] for key in adata.layers if key is not None},
        {str(key): adata.obsm[key] for key in adata.obsm},
    )
    entries = {}
    for key, values in found.items():
        shape = tuple(int(size) for size in values.shape)
        kind: Any = "sparse" if is_sparse(values) or hasattr(values, "to_memory") else "matrix"
        if len(shape) == 2:
            held = Held(lambda values=values: _loaded(values))  # type: ignore[misc]
            entries[key] = Entry(key, kind, shape, held.read, drop=held.drop, forget=held.drop)
    return Modality(tuple(adata.obs_names), entries)


def _named_parts(layers: Mapping[str, Any], obsm: Mapping[str, Any]) -> dict[str, Any]:
    """Layers and arrays by name; a layer that is named like an array is ``layers/NAME``."""
    return {**{f"layers/{key}" if key in obsm else key: each for key, each in layers.items()}, **obsm}


def _loaded(values: Any) -> Any:
    """The numbers of a matrix: rows of a file go to an unnamed file, sparse matrices into memory."""
    if hasattr(values, "to_memory"):
        values = values.to_memory()
    if is_sparse(values):
        return values.tocsr()
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    return np.asarray(values) if not hasattr(values, "id") else copied_to_disk(values)


def copied_to_disk(dataset: Any) -> Any:
    """The numbers of an open HDF5 dataset, in an unnamed file."""
    if 0 in dataset.shape:
        return dataset[()]
    stored = empty_on_disk(tuple(dataset.shape), np.dtype(dataset.dtype), None)
    for start in range(0, dataset.shape[0], ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        write_rows(stored, rows, dataset[rows])
    return stored


def named_rows(value: Any) -> Any:
    """The matrix X of an AnnData, with the names of its rows and columns; any other table as it is."""
    kind = annotated_class(value)
    if kind == "MuData":
        raise InputTypeError("A MuData object holds all views; give it alone, not in a list.")
    if not kind:
        return value
    if value.X is None:
        raise InputError(
            "An AnnData object has no matrix X; load_views(adata, views=...) takes another of its matrices."
        )
    return NamedRows(_loaded(value.X), tuple(value.obs_names), tuple(value.var_names))


def modality_entries(name: str, modality: Modality) -> list[Entry]:
    """Entries of one AnnData; ``name`` is that of the modality, "" if there is one only."""
    made = []
    for key, entry in modality.matrices.items():
        own = f"{name}:{key}" if name and key else name or key or "X"
        made.append(
            replace(entry, key=own, name=own, ids=modality.samples, ids_are_typed=True, part="other" if key else "X")
        )
    return made


def joined_modalities(
    modalities: Mapping[str, Modality], samples: tuple[Any, ...], places: Mapping[str, IndexArray]
) -> list[Entry]:
    """Entries of all modalities, with the samples of the MuData object.

    ``places`` has, for each modality, its row of every sample, counted from 1; 0 for a sample that it lacks.
    """
    made: list[Entry] = []
    for name, modality in modalities.items():
        rows = np.asarray(places[name], dtype=np.intp) - 1
        present = np.flatnonzero(rows >= 0)
        fits = len(rows) == len(samples) and (not len(present) or rows.max() < len(modality.samples))
        if not fits or any(modality.samples[rows[at]] != samples[at] for at in present):
            raise InputError(
                f"The map of samples of modality {name!r} (obsmap) is out of date; call mdata.update() first."
            )
        made += [_spread(entry, rows, samples) for entry in modality_entries(name, modality)]
    return made


def _spread(entry: Entry, rows: IndexArray, samples: tuple[Any, ...]) -> Entry:
    absent = rows < 0
    same = not absent.any() and bool((rows == np.arange(len(rows))).all()) and len(rows) == entry.shape[0]
    moved = replace(entry, ids=samples) if same else placed(entry, rows, samples)
    return replace(moved, absent=absent if absent.any() else None)


def obs_entries(columns: Mapping[str, Any], samples: tuple[Any, ...], before: str = "") -> list[Entry]:
    """Entries of the columns that describe the samples: possible labels, with the key ``obs:NAME``."""

    def entry(name: str, values: Any) -> Entry:
        key = f"{before}obs:{name}"
        text = Entry(key, "text", (len(samples),), lambda: _texts(key, values), name=name, is_column=True)
        return replace(text, ids=samples, ids_are_typed=True)

    return [entry(name, values) for name, values in columns.items()]


def _texts(key: str, values: Iterable[Any]) -> list[str]:
    words = ["" if value is None or value != value else str(value) for value in values]
    if empty := words.count(""):
        raise IncompleteLabels(
            f"Labels {key!r} are empty for {empty} of {len(words)} samples; expected a label for each (labels=False "
            "leaves them out)."
        )
    return words


def default_views(entries: Sequence[Entry]) -> list[str]:
    """Keys of the matrices X."""
    keys = [entry.key for entry in entries if entry.part == "X"]
    if not keys:
        held = [entry.key for entry in entries if entry.part == "other"]
        raise InputError(f"no modality has a matrix X; views= (--views) names other matrices: {quoted(held)}.")
    return keys
