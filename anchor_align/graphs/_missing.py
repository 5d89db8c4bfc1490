"""Missing samples: masks, and sums over the samples that both views of a pair have.

K_uv and both S of a pair of views use the samples that both have. Rows of missing samples count as zero, so they add
nothing to K_uv. S_u needs the rows of view u that view v has too, so each pair of views has its own S_u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import BoolArray, FloatArray, Graph, is_sparse
from ..blocks import JoinedSamples, engine_of, map_rows, read_rows
from ..checks import check_choice
from ..errors import InputError, InputTypeError

MISSING = ("error", "nan")


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over the samples that both views of a pair have.

    Attributes
    ----------
    shared : ndarray of int of shape (n_views, n_views)
        Number of samples that two views share; on the diagonal, the number of samples of a view.
    structures : ndarray of shape (n_views, total anchors, most anchors)
        ``structures[v]`` has, one below the other, the S of each view over the samples shared with view v. Zeros fill
        the rows of views with fewer anchors.
    masses : ndarray of shape (n_views, total anchors)
        ``masses[v]``: sums of the columns of all graphs over the same samples.
    """

    shared: npt.NDArray[np.intp]
    structures: FloatArray
    masses: FloatArray

    def __add__(self, other: PairSums) -> PairSums:
        with np.errstate(over="ignore", invalid="ignore"):
            return PairSums(self.shared + other.shared, self.structures + other.structures, self.masses + other.masses)

    def structure(self, view: int, other: int, sizes: Sequence[int]) -> FloatArray:
        """S of a view over the samples shared with another view."""
        return self.structures[other, columns_of(view, sizes), : sizes[view]]

    @classmethod
    def of_all(cls, matrix: FloatArray, sums: FloatArray, sizes: Sequence[int], n_samples: int) -> PairSums:
        """The same if no sample is missing."""
        v = len(sizes)
        structures = np.zeros((sum(sizes), max(sizes)))
        for view, size in enumerate(sizes):
            columns = columns_of(view, sizes)
            structures[columns, :size] = matrix[columns, columns]
        return cls(
            np.full((v, v), n_samples, dtype=np.intp), np.repeat(structures[None], v, axis=0), np.tile(sums, (v, 1))
        )


def columns_of(view: int, sizes: Sequence[int]) -> slice:
    """Columns of a view when all graphs are side by side."""
    start = sum(sizes[:view])
    return slice(start, start + sizes[view])


def without_missing(Z: Graph, present: BoolArray) -> Graph:
    """Set the rows of missing samples to zero, without reading them."""
    if present.all():
        return Z
    if not is_sparse(Z):
        return np.where(present[:, None], Z, Z.dtype.type(0))
    lengths = np.diff(Z.indptr)
    kept = np.repeat(present, lengths)
    edges = np.append(0, np.cumsum(lengths * present)).astype(Z.indptr.dtype)
    return sp.csr_array((Z.data[kept], Z.indices[kept], edges), shape=Z.shape)


def pair_sums(blocks: Sequence[Graph], present: BoolArray) -> PairSums:
    """Sums over the pairs of views for some samples; missing samples are already zero in the blocks."""
    sizes = [Z.shape[1] for Z in blocks]
    v, total = len(sizes), sum(sizes)
    counts = present.astype(np.intp)
    structures = np.zeros((v, total, max(sizes)))
    masses = np.zeros((v, total))
    with np.errstate(over="ignore", invalid="ignore"):
        for view, Z in enumerate(blocks):
            columns = columns_of(view, sizes)
            rows = Z.astype(np.float64, copy=False)
            known: dict[bytes, tuple[FloatArray, FloatArray]] = {}
            for other in range(v):
                both = present[view] & present[other]
                key = both.tobytes()
                if key not in known:
                    part = rows if both.all() else rows[both]
                    product: Any = part.T @ part
                    known[key] = (product.toarray() if is_sparse(product) else product, column_sums(part))
                structures[other, columns, : sizes[view]], masses[other, columns] = known[key]
    return PairSums(counts @ counts.T, structures, masses)


def column_sums(Z: Graph) -> FloatArray:
    if is_sparse(Z):
        return np.asarray(Z.sum(axis=0, dtype=np.float64)).ravel()
    # Several times faster than a sum along the columns.
    return np.asarray(np.ones(len(Z)) @ Z.astype(np.float64, copy=False))


def check_missing(
    graphs: Sequence[Graph],
    mask: object,
    missing: object = "error",
    *,
    joined: JoinedSamples | None = None,
    names: Sequence[str] | None = None,
    columns: str = "anchors",
) -> BoolArray | None:
    """Mask of present samples (views x samples) from a mask, from rows of NaN, or both; None if none is missing.

    With ``missing="nan"`` a row with only NaN is a missing sample. ``joined`` says how the samples of the graphs were
    joined by name. ``names`` of the views and ``columns`` are for messages.
    """
    check_choice("missing", missing, MISSING)
    if joined is not None and joined.moved:
        if mask is not None:
            raise InputError(
                "mask says by position where a sample is missing, but the views have their samples in different "
                "orders, by their names. Put all views in one order, or leave missing samples out and use join='outer'."
            )
        mask = joined.mask
    if mask is None and missing == "error":
        return None
    samples = None if joined is None else joined.samples
    present = check_mask(mask, len(graphs), int(graphs[0].shape[0]))
    engine = engine_of(graphs[0])
    if engine.distributed and not (missing == "error" and present.all()):
        raise InputError(f"Missing samples are not supported for {engine.name} arrays; compute them first.")
    if missing == "nan":
        numbered = zip(names or map(str, range(len(graphs))), graphs, present, strict=True)
        present = np.array([_not_nan(Z, view, rows, columns, samples) for view, Z, rows in numbered])
    check_present(present, samples)
    return None if present.all() else present


def check_mask(mask: object, n_views: int, n_samples: int) -> BoolArray:
    """A mask that fits the graphs, views x samples; without a mask, all True.

    A mask of samples x views is transposed. If both numbers are equal, rows are views.
    """
    if mask is None:
        return np.ones((n_views, n_samples), dtype=np.bool_)
    if np.ma.is_masked(mask):
        raise InputError("mask is a masked array with masked entries: fill it first, with True or False.")
    try:
        values = np.array(mask)  # a copy: results refer to it
    except ValueError as error:
        raise InputError(f"mask must have one row per view ({n_views}) and one column per sample: {error}.") from error
    if values.dtype.kind != "b":
        raise InputTypeError(f"mask must be True where a view has a sample, else False; got dtype {values.dtype}.")
    if values.shape == (n_views, n_samples):
        return values
    # scikit-learn slices the first axis of what is routed to fit: there a mask has one row per sample.
    if values.shape == (n_samples, n_views):
        return np.ascontiguousarray(values.T)
    raise InputError(
        f"mask must have one row per view and one column per sample, shape {(n_views, n_samples)}, or be transposed; "
        f"got {values.shape}."
    )


def check_present(mask: BoolArray, samples: Sequence[Any] | None = None) -> None:
    nowhere = np.flatnonzero(~mask.any(axis=0))
    if nowhere.size:
        others = f", nor are {nowhere.size - 1} others" if nowhere.size > 1 else ""
        first = nowhere[0] if samples is None else repr(samples[nowhere[0]])
        raise InputError(
            f"Sample {first} is in no view{others}: {nowhere.size} of {mask.shape[1]} samples. Leave them out."
        )


def _not_nan(Z: Graph, view: str, present: BoolArray, columns: str, samples: Sequence[Any] | None) -> BoolArray:
    """Which rows are present, that is, not NaN. A row with some NaN is an error."""
    if Z.dtype.kind != "f":
        return present
    m = Z.shape[1]

    def count(rows: slice) -> npt.NDArray[np.intp]:
        block = read_rows(Z, rows)
        if not is_sparse(block):
            return np.asarray(np.isnan(block).sum(axis=1))
        lengths = np.diff(block.indptr)
        return np.bincount(np.repeat(np.arange(len(lengths)), lengths), np.isnan(block.data), len(lengths)).astype(int)

    counts = np.concatenate(list(map_rows(count, Z.shape[0], width=m)))
    some = np.flatnonzero((counts > 0) & (counts < m) & present)
    if some.size:
        where = f"row {some[0]}" if samples is None else f"sample {samples[some[0]]!r}"
        raise InputError(
            f"View {view} has {counts[some[0]]} NaN among {m} {columns} in {where} ({some.size} such rows); "
            "a missing sample has only NaN."
        )
    return np.asarray(present & (counts < m))
