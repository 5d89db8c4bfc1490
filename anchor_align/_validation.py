"""Checks of what users hand over: one clear sentence each, nothing repaired silently."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._mapped import read_rows
from ._mapping import map_rows
from ._parts import parts_of
from ._types import Graph, GraphLike, IndexArray, is_dask, is_sparse
from .errors import InputError, InputTypeError, unknown_name


def check_graphs(graphs: Iterable[GraphLike], *, same_anchors: bool = True) -> list[Graph]:
    """Check a list of anchor graphs: each 2-D and numeric, all with the same samples and anchor count.

    Values are not read here; :func:`check_finite` names NaN and infinity once a result shows them.
    """
    if isinstance(graphs, (str, bytes)) or not isinstance(graphs, Iterable):
        raise InputTypeError(f"Expected a list of anchor graphs, one per view, got {type(graphs).__name__}.")
    one = is_sparse(graphs) or hasattr(graphs, "columns") or is_dask(graphs)
    if one or (isinstance(graphs, np.ndarray) and graphs.ndim < 3):
        raise InputTypeError(
            f"Expected a list of anchor graphs, one per view, got one {type(graphs).__name__}; put it in a list."
        )
    if isinstance(graphs, dict):
        raise InputTypeError("Expected a list of anchor graphs, got a dict; pass list(graphs.values()).")
    checked = [check_graph(Z, view) for view, Z in enumerate(graphs)]
    if not checked:
        raise InputError("Got no view; expected a list of one or more anchor graphs.")
    for view, Z in enumerate(checked):
        if Z.shape[0] != checked[0].shape[0]:
            raise InputError(
                f"View 0 has {checked[0].shape[0]} samples; view {view} has {Z.shape[0]}. "
                "All views must describe the same samples."
            )
        if same_anchors and Z.shape[1] != checked[0].shape[1]:
            raise InputError(
                f"View 0 has {checked[0].shape[1]} anchors; view {view} has {Z.shape[1]}. "
                "All views must have the same number of anchors."
            )
    return same_chunks(checked, range(len(checked)))


def check_graph(Z: GraphLike, view: int | str, columns: str = "anchors") -> Graph:
    """Check one graph, or view: 2-D, real, not empty."""
    if isinstance(Z, np.ma.MaskedArray) and np.ma.is_masked(Z):
        raise InputError(f"View {view} is a masked array with masked entries; fill or drop them first.")
    if is_dask(Z):
        from ._dask.arrays import as_array

        Z = as_array(Z, view)
    elif not is_sparse(Z):
        try:
            Z = _from_frame(Z) if hasattr(Z, "to_numpy") else np.asarray(Z)
        except ValueError as error:
            raise InputError(f"View {view} is not a rectangular array: {error}.") from error
    if Z.ndim != 2:
        raise InputError(f"View {view} has {Z.ndim} dimension(s), shape {Z.shape}; expected 2: samples x {columns}.")
    if Z.dtype.kind not in "fiub":
        hint = " Complex data not supported." if Z.dtype.kind == "c" else ""
        raise InputTypeError(f"View {view} has dtype {Z.dtype}; expected real numbers.{hint}")
    if 0 in Z.shape:
        raise InputError(
            f"View {view} is empty: {Z.shape[0]} samples x {Z.shape[1]} {columns}. "
            f"0 {'sample' if Z.shape[0] == 0 else columns[:-1]}(s) (shape={Z.shape}) while a minimum of 1 is required."
        )
    return Z.tocsr() if is_sparse(Z) else Z


def same_chunks(graphs: Sequence[Graph], names: Sequence[int | str]) -> list[Graph]:
    """The same graphs, or views; Dask arrays among them get the same rows in each chunk."""
    if not any(map(is_dask, graphs)):
        return list(graphs)
    from ._dask.arrays import alike

    return alike(graphs, names)


def _from_frame(frame: Any) -> np.ndarray:
    """Numbers of a DataFrame without its labels; pandas' nullable numbers come as floats, missing ones as NaN."""
    Z = np.asarray(frame.to_numpy())
    if Z.dtype.kind == "O" and Z.ndim == 2 and is_numeric(frame):
        Z = np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    return Z


def is_numeric(frame: Any) -> bool:
    """Whether all columns of a DataFrame are real numbers, perhaps of a kind that can be missing."""
    dtypes = getattr(frame, "dtypes", None)
    return isinstance(dtypes, Iterable) and all(getattr(dtype, "kind", "O") in "fiub" for dtype in dtypes)


def check_finite(
    graphs: Sequence[Graph],
    names: Sequence[str] | None = None,
    what: str = "anchor graphs",
    observed: Sequence[Any] | npt.NDArray[np.bool_] | None = None,
) -> None:
    """Name the first view with NaN or infinity, perhaps only in the rows that it has."""
    rows: Sequence[Any] | npt.NDArray[np.bool_] = [None] * len(graphs) if observed is None else observed
    for view, Z, seen in zip(names or range(len(graphs)), graphs, rows, strict=True):
        if Z.dtype.kind in "iub":
            continue
        parts = np.array(parts_of(Z).total(_not_finite, seen))
        count = int(parts[:, 1].sum())
        if count:
            at = int(np.argmax(parts[:, 1] > 0))
            first = int(parts[:at, 0].sum() + parts[at, 2])
            raise InputError(
                f"View {view} has NaN or infinity in {count} of {Z.shape[0]} rows (first: row {first}); "
                f"{what} must be finite."
            )


def _not_finite(Z: Graph, seen: npt.NDArray[np.bool_] | None = None) -> list[tuple[int, int, int]]:
    """Number of rows, how many of those that were observed have NaN or infinity, and which is the first."""
    rows = _rows_not_finite(Z)
    rows = rows if seen is None else rows[seen[rows]]
    return [(int(Z.shape[0]), len(rows), int(rows[0]) if len(rows) else -1)]


def _rows_not_finite(Z: Graph) -> IndexArray:
    if is_sparse(Z):
        if np.isfinite(Z.data).all():
            return np.empty(0, dtype=np.intp)
        coo = Z.tocoo()
        return np.asarray(np.unique(coo.row[~np.isfinite(coo.data)]), dtype=np.intp)

    def find(rows: slice) -> IndexArray:
        block = read_rows(Z, rows)
        # A sum is finite only if all its terms are, and is formed much faster than they are looked at.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(block.sum()):
                return np.empty(0, dtype=np.intp)
        return np.asarray(rows.start + np.flatnonzero(~np.isfinite(block).all(axis=1)))

    return np.concatenate(list(map_rows(find, Z.shape[0], width=Z.shape[1])))


def check_lam(lam: object) -> float:
    """Weight of the structure term: a number >= 0, infinity included."""
    if isinstance(lam, (bool, np.bool_)) or not isinstance(lam, numbers.Real):
        raise InputTypeError(f"lam must be a number >= 0 or infinity, got {lam!r} ({type(lam).__name__}).")
    try:
        value = float(lam)
    except OverflowError:
        raise InputError("lam is larger than a float can hold; use math.inf for the structure term alone.") from None
    if math.isnan(value) or value < 0:
        raise InputError(f"lam must be a number >= 0 or infinity, got {value}.")
    return value


def check_choice(what: str, got: object, known: Sequence[str]) -> str:
    """One of the known names."""
    if not isinstance(got, str) or got not in known:
        raise unknown_name(what, got, known)
    return got


def check_reference(reference: object, n_views: int) -> int | str:
    """View index, "auto" or "consensus"."""
    if isinstance(reference, numbers.Integral) and not isinstance(reference, (bool, np.bool_)):
        view = int(reference)
        if not 0 <= view < n_views:
            raise InputError(f"reference {view} is out of range: there are views 0 to {n_views - 1}.")
        return view
    if isinstance(reference, str):
        return check_choice("reference", reference, ("auto", "consensus"))
    raise InputTypeError(f"reference must be a view's index, 'auto' or 'consensus', got {reference!r}.")


def check_seeds(seeds: object, sizes: Sequence[int]) -> IndexArray:
    """Known correspondences as an array of shape (n_seeds, n_views); -1 where a view's anchor is not known.

    ``sizes`` are the views' numbers of anchors.
    """
    n_views = len(sizes)
    if seeds is None:
        return np.empty((0, n_views), dtype=np.intp)
    try:
        table = np.asarray(seeds)
    except ValueError as error:
        raise InputError(f"seeds must have one column per view ({n_views}): {error}.") from error
    if table.size == 0:
        return np.empty((0, n_views), dtype=np.intp)
    if table.dtype.kind not in "iu":
        raise InputTypeError(f"seeds must be anchor indices (whole numbers), got dtype {table.dtype}.")
    if table.ndim != 2 or table.shape[1] != n_views:
        raise InputError(f"seeds must have one column per view ({n_views}), got shape {table.shape}.")
    for view, (column, n_anchors) in enumerate(zip(table.T, sizes, strict=True)):
        known = column[column != -1]
        outside = known[(known < 0) | (known >= n_anchors)]
        if outside.size:
            raise InputError(f"seeds name anchor {outside[0]} of view {view}, which has anchors 0 to {n_anchors - 1}.")
        anchors, counts = np.unique(known, return_counts=True)
        if (counts > 1).any():
            raise InputError(f"seeds name anchor {anchors[counts > 1][0]} of view {view} more than once.")
    return table.astype(np.intp)


def check_callback(callback: object) -> None:
    """Something that can be called, or None."""
    if callback is not None and not callable(callback):
        raise InputTypeError(f"callback must be callable or None, got {callback!r}.")


def check_seed(random_state: object) -> int:
    """One number that all random choices derive from."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, (bool, np.bool_)):
        if random_state < 0:
            raise InputError(f"random_state must be >= 0, got {random_state}.")
        seed = int(random_state)
        # scikit-learn takes no more than 32 bits.
        return seed if seed < 2**32 else int(np.random.SeedSequence(seed).generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    raise InputTypeError(
        f"random_state must be a whole number >= 0, a numpy Generator or RandomState, or None, got {random_state!r}."
    )
