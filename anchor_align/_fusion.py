"""Fusing aligned anchor graphs into one."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._grams import GramMatrices
from ._graph_rows import GraphSet, LocalGraphSet, MadeGraphs, StoredGraphs, graph_set, store
from ._mapped import read_rows
from ._mapping import map_rows
from ._parts import Here, Parts
from ._types import FloatArray, Graph, GraphLike, IndexArray, is_dask, is_sparse
from ._validation import check_choice, check_finite, check_graphs
from .errors import InputError, InputTypeError

if TYPE_CHECKING:
    from ._dask.graphs import ChunkedFused


def fuse(
    Z_list: Iterable[GraphLike],
    P_list: Iterable[Any] | None = None,
    *,
    weights: npt.ArrayLike | None = None,
    how: str = "mean",
) -> Any:
    """Fuse the anchor graphs of several views.

    Parameters
    ----------
    Z_list : list of array-like, sparse or Dask array of shape (n_samples, n_anchors)
        One graph per view.
    P_list : list, optional
        Permutation matrices from :func:`align`, or index arrays as in ``AnchorAligner.permutations_``. Without it the
        graphs are fused as they come, which is the unaligned control.
    weights : array-like of float of shape (n_views,), optional
        One weight >= 0 per view; they are divided by their sum. By default all views weigh the same.
    how : {"mean", "concat"}, default="mean"
        "mean" is the weighted mean, n_samples x n_anchors: rows that sum to one still do. "concat" puts the graphs
        side by side, n_samples x (n_views * n_anchors): a control that needs no alignment, because clustering it gives
        the same result for any order of the columns; weights then multiply each view's columns, relative to their
        mean.

    Returns
    -------
    ndarray, csr_array or Dask array
        Sparse if every graph is sparse. float32 if every graph is, else float64. Of Dask arrays a Dask array, made when
        it is needed; NaN and overflow are then not looked for.

    Raises
    ------
    InputError
        If graphs, permutations or weights do not fit together; the message names the view.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import align, fuse
    >>> Z0 = np.array([[1.0, 0.0], [0.2, 0.8], [0.0, 1.0]])
    >>> Z1 = np.array([[0.0, 1.0], [0.6, 0.4], [1.0, 0.0]])
    >>> fuse([Z0, Z1], align([Z0, Z1]))
    array([[1. , 0. ],
           [0.3, 0.7],
           [0. , 1. ]])
    """
    check_choice("how", how, ("mean", "concat"))
    graphs = check_graphs(Z_list)
    permutations = _check_permutations(P_list, len(graphs), graphs[0].shape[1])
    shares = check_weights(weights, len(graphs))
    if how == "concat":
        shares = shares * len(graphs)
    recipe = Recipe(tuple(permutations), tuple(shares), how)
    with np.errstate(over="ignore", invalid="ignore"):
        fused = fused_rows(graph_set(graphs), recipe).stored()
    if is_dask(fused):
        return fused
    if not is_finite(fused):
        check_finite(graphs)
        raise InputError("The fused graph overflows; divide the graphs by a constant.")
    return fused


@dataclass(frozen=True, eq=False)
class Recipe:
    """How the graphs of all views become one: the order of each view's anchors, its share, and "mean" or "concat"."""

    permutations: tuple[IndexArray, ...]
    shares: tuple[float, ...]
    how: str

    def of(self, graphs: Sequence[Graph], dtype: np.dtype[Any]) -> Any:
        """Fuse the graphs of a few samples."""
        kind = _fuse_sparse if all(is_sparse(Z) for Z in graphs) else _fuse_dense
        return kind(graphs, self, dtype)

    def n_columns(self, sizes: Sequence[int]) -> int:
        """Columns of the fused graph of views with so many anchors."""
        return sum(sizes) if self.how == "concat" else sizes[0]

    def gram(self, grams: GramMatrices) -> FloatArray:
        """Gram matrix of the fused graph, from those of the graphs."""
        if self.how == "concat":
            shares = np.repeat(self.shares, grams.sizes)
            return np.asarray(grams.matrix * np.outer(shares, shares))
        views = range(grams.n_views)
        return np.asarray(
            sum(
                self.shares[u] * self.shares[v] * grams.cross(u, v)[np.ix_(self.permutations[u], self.permutations[v])]
                for u in views
                for v in views
            )
        )


@dataclass(frozen=True, eq=False)
class FusedRows:
    """Rows of the fused graph, made from those of the graphs."""

    graphs: LocalGraphSet
    recipe: Recipe

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of columns."""
        return self.graphs.n_samples, self.recipe.n_columns(self.graphs.sizes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 if all graphs are, else float64."""
        return self.graphs.dtype

    @property
    def width(self) -> int:
        """Numbers at work for every row while it is made."""
        return self.graphs.width + self.shape[1]

    def block(self, rows: slice) -> Any:
        """Some rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.recipe.of(self.graphs.blocks(rows), self.dtype)

    def parts(self) -> Parts:
        """All rows, in one part."""
        return Here(self)

    def stored(self) -> Any:
        """All rows, kept where large results are."""
        return store(lambda rows: [self.block(rows)], self.shape[0], width=self.width)[0]


def fused_rows(graphs: GraphSet, recipe: Recipe) -> FusedRows | ChunkedFused:
    """The fused graph, here or on a cluster."""
    if isinstance(graphs, (StoredGraphs, MadeGraphs)):
        return FusedRows(graphs, recipe)
    from ._dask.graphs import ChunkedFused, ChunkedGraphs

    assert isinstance(graphs, ChunkedGraphs)
    return ChunkedFused(graphs, recipe)


def is_finite(graph: Graph) -> bool:
    """Whether all entries are finite: the sum tells, unless finite entries overflow."""
    entries = graph.data if is_sparse(graph) else graph
    n, width = len(entries), 1 if entries.ndim == 1 else entries.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = map_rows(lambda rows: read_rows(entries, rows).sum(dtype=np.float64), n, width=width)
        return bool(np.isfinite(sum(sums)) or np.isfinite(entries).all())


def permute_columns(Z: Graph, permutation: IndexArray) -> Graph:
    """Columns of a checked graph in the order of ``permutation``."""
    # Dask's own indexing knows nothing of sparse chunks.
    return Z.map_blocks(permute_columns, permutation, dtype=Z.dtype, meta=Z._meta) if is_dask(Z) else Z[:, permutation]


def permutation_matrix(permutation: IndexArray) -> FloatArray:
    """Matrix P with ``Z @ P == Z[:, permutation]``."""
    m = len(permutation)
    P = np.zeros((m, m))
    P[permutation, np.arange(m)] = 1.0
    return P


def _fuse_sparse(graphs: Sequence[Graph], recipe: Recipe, dtype: np.dtype[Any]) -> Any:
    parts: list[Any] = [
        permute_columns(Z.astype(dtype), p) * dtype.type(share)
        for Z, p, share in zip(graphs, recipe.permutations, recipe.shares, strict=True)
    ]
    if recipe.how == "concat":
        return sp.csr_array(sp.hstack(parts, format="csr"))
    fused = parts[0]
    for part in parts[1:]:
        fused = fused + part
    return sp.csr_array(fused)


def _fuse_dense(graphs: Sequence[Graph], recipe: Recipe, dtype: np.dtype[Any]) -> Any:
    n, m = graphs[0].shape
    concat = recipe.how == "concat"
    fused = np.zeros((n, m * len(graphs) if concat else m), dtype=dtype)
    for view, (Z, p, share) in enumerate(zip(graphs, recipe.permutations, recipe.shares, strict=True)):
        # Duplicate entries of a sparse row are added up here: not as small integers.
        block = Z.astype(dtype).toarray() if is_sparse(Z) else Z
        fused[:, slice(view * m, (view + 1) * m) if concat else slice(None)] += dtype.type(share) * block[:, p]
    return fused


def _check_permutations(P_list: Iterable[Any] | None, n_views: int, m: int) -> list[IndexArray]:
    if P_list is None:
        return [np.arange(m)] * n_views
    if not isinstance(P_list, Iterable):
        raise InputTypeError(f"P_list must be a list of permutations, one per view, got {type(P_list).__name__}.")
    matrices = list(P_list)
    if len(matrices) != n_views:
        raise InputError(f"Got {len(matrices)} permutations for {n_views} views.")
    return [_as_indices(P, view, m) for view, P in enumerate(matrices)]


def _as_indices(P: Any, view: int, m: int) -> IndexArray:
    """Index array of a permutation matrix or of an index array."""
    try:
        P = P.toarray() if is_sparse(P) else np.asarray(P)
    except ValueError as error:
        raise InputError(f"The permutation of view {view} is not a rectangular array: {error}.") from error
    if P.shape == (m,) and P.dtype.kind in "iu":
        if np.array_equal(np.sort(P), np.arange(m)):
            return np.asarray(P, dtype=np.intp)
    elif P.shape == (m, m) and P.dtype.kind in "fiub":
        indices: IndexArray = np.asarray(P.argmax(axis=0))
        if np.array_equal(P, permutation_matrix(indices)):
            return indices
    else:
        raise InputError(
            f"The permutation of view {view} has shape {P.shape} and dtype {P.dtype}; expected a {m} x {m} matrix "
            f"or {m} indices."
        )
    raise InputError(f"The permutation of view {view} is not one-to-one: expected each of {m} anchors exactly once.")


def check_weights(weights: Any, n_views: int) -> FloatArray:
    """Share of every view in the mean; they sum to one."""
    if weights is None:
        return np.full(n_views, 1.0 / n_views)
    if isinstance(weights, (dict, str)) or not isinstance(weights, Iterable) or getattr(weights, "ndim", 1) == 0:
        raise InputTypeError(f"weights must be a list of numbers, one per view, got {weights!r}.")
    values = list(weights)
    if not all(isinstance(w, numbers.Real) for w in values):
        raise InputTypeError(f"weights must be numbers, got {values!r}.")
    if len(values) != n_views:
        raise InputError(f"Got {len(values)} weights for {n_views} views.")
    if not all(0 <= w <= sys.float_info.max for w in values) or not any(values):
        raise InputError(f"weights must be finite, >= 0 and not all zero, got {values!r}.")
    shares = np.asarray(values, dtype=np.float64)
    shares = shares / shares.max()
    return np.asarray(shares / shares.sum())
