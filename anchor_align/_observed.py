"""Samples that some views do not have: masks, graphs without the rows that were not observed, and sums over pairs.

K_uv and both S of a pair of views rest on the samples that both have. A product with a row that was not observed is no
product at all: such rows are taken as zero, whatever is in them, and then add nothing to K_uv. S_u needs the rows of
view u that view v has too, so there is one for each pair of views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._graph_rows import GraphSet, LocalGraphSet, StoredGraphs, graph_set
from ._mapped import read_rows
from ._mapping import map_rows
from ._parts import Here, Parts
from ._types import FloatArray, Graph, is_dask, is_sparse
from ._validation import check_choice
from .errors import InputError, InputTypeError

BoolArray = npt.NDArray[np.bool_]
MISSING = ("error", "nan")


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over the samples that both views of a pair have.

    Attributes
    ----------
    shared : ndarray of int of shape (n_views, n_views)
        Numbers of samples that two views share; of those that a view has, on the diagonal.
    structures : ndarray of shape (n_views, total anchors, most anchors)
        ``structures[v]`` has, one below the other, the S of each view over the samples that it shares with view v;
        zeros fill the rows of views with fewer anchors.
    masses : ndarray of shape (n_views, total anchors)
        ``masses[v]``: sums of the columns of all graphs over the same samples.
    """

    shared: npt.NDArray[np.intp]
    structures: FloatArray
    masses: FloatArray

    def __add__(self, other: PairSums) -> PairSums:
        """Sums over the samples of both."""
        with np.errstate(over="ignore", invalid="ignore"):
            return PairSums(self.shared + other.shared, self.structures + other.structures, self.masses + other.masses)

    def structure(self, view: int, other: int, sizes: Sequence[int]) -> FloatArray:
        """S of a view over the samples that it shares with another."""
        return self.structures[other, columns_of(view, sizes), : sizes[view]]

    @classmethod
    def of_all(cls, matrix: FloatArray, sums: FloatArray, sizes: Sequence[int], n_samples: int) -> PairSums:
        """The same where every view has every sample."""
        v = len(sizes)
        structures = np.zeros((sum(sizes), max(sizes)))
        for view, size in enumerate(sizes):
            columns = columns_of(view, sizes)
            structures[columns, :size] = matrix[columns, columns]
        return cls(
            np.full((v, v), n_samples, dtype=np.intp), np.repeat(structures[None], v, axis=0), np.tile(sums, (v, 1))
        )


@dataclass(frozen=True, eq=False)
class ObservedGraphs:
    """Graphs of which some rows were not observed: these are zero here, whatever they hold.

    Attributes
    ----------
    source : LocalGraphSet
        The graphs as they are.
    mask : ndarray of bool of shape (n_views, n_samples)
        Which view has which sample.
    """

    source: LocalGraphSet
    mask: BoolArray

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.source.n_samples

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of anchors of every view."""
        return self.source.sizes

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 if all graphs are, else float64."""
        return self.source.dtype

    @property
    def width(self) -> int:
        """Numbers at work for every row."""
        return 2 * self.source.width

    def blocks(self, rows: slice) -> list[Graph]:
        """The same few rows of every graph; they must not be written to."""
        blocks = self.source.blocks(rows)
        return [only_observed(Z, seen) for Z, seen in zip(blocks, self.mask[:, rows], strict=True)]

    def parts(self) -> Parts:
        """All rows, in one part."""
        return Here(self)


def observed_set(graphs: Sequence[Graph], mask: BoolArray | None) -> GraphSet:
    """Checked graphs, without the rows that were not observed if there is a mask."""
    return graph_set(graphs) if mask is None else ObservedGraphs(StoredGraphs(graphs), mask)


def columns_of(view: int, sizes: Sequence[int]) -> slice:
    """Columns of a view where all graphs are side by side."""
    start = sum(sizes[:view])
    return slice(start, start + sizes[view])


def observed_rows(graphs: Any, rows: slice) -> BoolArray | None:
    """Which view has which of a few samples; None: all have all."""
    return graphs.mask[:, rows] if isinstance(graphs, ObservedGraphs) else None


def only_observed(Z: Graph, seen: BoolArray) -> Graph:
    """Rows of a graph with zeros in place of those that were not observed, which are not looked at."""
    if seen.all():
        return Z
    if not is_sparse(Z):
        return np.where(seen[:, None], Z, Z.dtype.type(0))
    lengths = np.diff(Z.indptr)
    kept = np.repeat(seen, lengths)
    edges = np.append(0, np.cumsum(lengths * seen)).astype(Z.indptr.dtype)
    return sp.csr_array((Z.data[kept], Z.indices[kept], edges), shape=Z.shape)


def pair_sums(blocks: Sequence[Graph], seen: BoolArray) -> PairSums:
    """Sums over the pairs of views for a few samples; what was not observed is zero in the blocks already."""
    sizes = [Z.shape[1] for Z in blocks]
    v, total = len(sizes), sum(sizes)
    counts = seen.astype(np.intp)
    structures = np.zeros((v, total, max(sizes)))
    masses = np.zeros((v, total))
    with np.errstate(over="ignore", invalid="ignore"):
        for view, Z in enumerate(blocks):
            columns = columns_of(view, sizes)
            rows = Z.astype(np.float64, copy=False)
            known: dict[bytes, tuple[FloatArray, FloatArray]] = {}
            for other in range(v):
                both = seen[view] & seen[other]
                key = both.tobytes()
                if key not in known:
                    part = rows if both.all() else rows[both]
                    product = part.T @ part
                    known[key] = (product.toarray() if is_sparse(product) else product, column_sums(part))
                structures[other, columns, : sizes[view]], masses[other, columns] = known[key]
    return PairSums(counts @ counts.T, structures, masses)


def column_sums(Z: Graph) -> FloatArray:
    """Sums of the columns, in double precision."""
    if is_sparse(Z):
        return np.asarray(Z.sum(axis=0, dtype=np.float64)).ravel()
    # Several times as fast as a sum along the columns.
    return np.asarray(np.ones(len(Z)) @ Z.astype(np.float64, copy=False))


def check_missing(
    graphs: Sequence[Graph],
    mask: object,
    missing: object = "error",
    *,
    whole: bool = True,
    names: Sequence[str] | None = None,
    columns: str = "anchors",
) -> BoolArray | None:
    """Which view has which sample, from a mask, from rows of NaN, or both; None if every view has every sample.

    Parameters
    ----------
    graphs : list of checked graphs
    mask : array-like of bool of shape (n_views, n_samples) or None
    missing : {"error", "nan"}
        "nan": rows that are NaN throughout are not observed.
    whole : bool, default=True
        Whether every sample must be in some view.
    names : sequence of str, optional
        Of the views, for messages.
    columns : str, default="anchors"
        What the columns are, for messages.
    """
    check_choice("missing", missing, MISSING)
    if mask is None and missing == "error":
        return None
    observed = check_mask(mask, len(graphs), int(graphs[0].shape[0]))
    if any(map(is_dask, graphs)) and not (missing == "error" and observed.all()):
        raise InputError("Samples that views do not have are not supported for Dask arrays; compute them first.")
    if missing == "nan":
        numbered = zip(names or map(str, range(len(graphs))), graphs, observed, strict=True)
        observed = np.array([_not_nan(Z, view, seen, columns) for view, Z, seen in numbered])
    if whole:
        check_seen(observed)
    return None if observed.all() else observed


def check_mask(mask: object, n_views: int, n_samples: int) -> BoolArray:
    """A mask that fits the graphs; all samples in all views if there is none."""
    if mask is None:
        return np.ones((n_views, n_samples), dtype=np.bool_)
    if np.ma.is_masked(mask):
        raise InputError("mask is a masked array with masked entries: fill it first, with True or False.")
    try:
        values = np.array(mask)  # results refer to it
    except ValueError as error:
        raise InputError(f"mask must have one row per view ({n_views}) and one column per sample: {error}.") from error
    if values.dtype.kind != "b":
        raise InputTypeError(f"mask must be True where a view has a sample, else False; got dtype {values.dtype}.")
    if values.shape != (n_views, n_samples):
        hint = "; transpose it" if values.shape == (n_samples, n_views) else ""
        raise InputError(
            f"mask must have one row per view and one column per sample, shape {(n_views, n_samples)}; "
            f"got {values.shape}{hint}."
        )
    return values


def check_seen(mask: BoolArray) -> None:
    """Every sample must be in some view."""
    nowhere = np.flatnonzero(~mask.any(axis=0))
    if nowhere.size:
        others = f", nor are {nowhere.size - 1} others" if nowhere.size > 1 else ""
        raise InputError(
            f"Sample {nowhere[0]} is in no view{others}: {nowhere.size} of {mask.shape[1]} samples. Leave them out."
        )


def _not_nan(Z: Graph, view: str, seen: BoolArray, columns: str) -> BoolArray:
    """Which rows hold numbers; a row with some NaN is an error."""
    if Z.dtype.kind != "f":
        return seen
    m = Z.shape[1]

    def count(rows: slice) -> npt.NDArray[np.intp]:
        block = read_rows(Z, rows)
        if not is_sparse(block):
            return np.asarray(np.isnan(block).sum(axis=1))
        lengths = np.diff(block.indptr)
        return np.bincount(np.repeat(np.arange(len(lengths)), lengths), np.isnan(block.data), len(lengths)).astype(int)

    counts = np.concatenate(list(map_rows(count, Z.shape[0], width=m)))
    some = np.flatnonzero((counts > 0) & (counts < m) & seen)
    if some.size:
        raise InputError(
            f"View {view} has {counts[some[0]]} NaN among {m} {columns} in row {some[0]} ({some.size} such rows); "
            "a row that was not observed is NaN throughout."
        )
    return np.asarray(seen & (counts < m))
