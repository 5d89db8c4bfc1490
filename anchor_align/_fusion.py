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

from ._columns import Order, aligned_product, check_orders, n_columns, permute_columns
from ._grams import GramMatrices
from ._graph_rows import GraphSet, LocalGraphSet, MadeGraphs, StoredGraphs, store
from ._mapped import read_rows
from ._mapping import map_rows
from ._observed import BoolArray, ObservedGraphs, check_missing, observed_rows, observed_set
from ._parts import Here, Parts
from ._rotation import rotations
from ._types import FloatArray, Graph, GraphLike, is_dask, is_sparse
from ._validation import check_choice, check_finite, check_graphs
from ._view_weights import agreement_weights
from .errors import InputError, InputTypeError

if TYPE_CHECKING:
    from ._dask.graphs import ChunkedFused


def fuse(
    Z_list: Iterable[GraphLike],
    P_list: Iterable[Any] | None = None,
    *,
    weights: npt.ArrayLike | str | None = None,
    how: str = "mean",
    mask: npt.ArrayLike | None = None,
    missing: str = "error",
) -> Any:
    """Fuse the anchor graphs of several views.

    Parameters
    ----------
    Z_list : list of array-like, sparse or Dask array of shape (n_samples, n_anchors)
        One graph per view; the numbers of anchors may differ.
    P_list : list, optional
        Matrices from :func:`align`, or index arrays as in ``AnchorAligner.permutations_`` (-1: the view has no anchor
        for this column). A matrix may put several anchors in one column: they are added up. One that has exactly one 1
        in each column is taken too, as ``method="pfp-many-to-one"`` makes it: anchors that it repeats or leaves out
        count as often, and rows need not sum to one then. Without any, the graphs are fused as they come, which is the
        unaligned control; views with fewer anchors then have none in the last columns.
    weights : array-like of float of shape (n_views,), or "auto", optional
        One weight >= 0 per view; they are divided by their sum. By default all views weigh the same. "auto": by how
        much a view's graph, with the anchors where ``P_list`` puts them, agrees with those of the others: views that
        have to do with each other weigh nearly the same, a view of noise next to nothing. One or two views always
        weigh the same. It takes one more pass over the samples.
    how : {"mean", "rotated", "concat"}, default="mean"
        "mean" is the weighted mean, n_samples x n_columns: rows that sum to one still do. "rotated" goes beyond
        permutations: each graph is first multiplied by the orthogonal matrix that brings it as close to the others as
        it can get, starting from ``P_list``. The mean has the same shape, and is always dense; its entries may be
        negative and rows need not sum to one, so that it is for embedding (its leading left singular vectors), not for
        reading. "concat" puts the graphs side by side, n_samples x (all anchors): a control that needs no alignment,
        because clustering it gives the same result for any order of the columns; weights then multiply each view's
        columns, relative to their mean.
    mask : array-like of bool of shape (n_views, n_samples), optional
        True where a view has a sample; other rows of its graph are not looked at. The mean is then over the views that
        have the sample, their weights divided by their sum; "concat" has zeros for the others. Not for Dask arrays.
    missing : {"error", "nan"}, default="error"
        "nan": rows that are NaN throughout are samples that the view does not have.

    Returns
    -------
    ndarray, csr_array or Dask array
        Sparse if every graph is sparse. float32 if every graph is, else float64. Of Dask arrays a Dask array, made when
        it is needed; NaN and overflow are then not looked for.

    Raises
    ------
    InputError
        If graphs, permutations, weights or mask do not fit together, or a sample is in no view (or only in views
        whose weight is zero); the message names the view or the sample.

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

    View 1 does not have the second sample:

    >>> mask = [[True, True, True], [True, False, True]]
    >>> fuse([Z0, Z1], align([Z0, Z1]), mask=mask)
    array([[1. , 0. ],
           [0.2, 0.8],
           [0. , 1. ]])
    """
    check_choice("how", how, ("mean", "rotated", "concat"))
    graphs = check_graphs(Z_list, same_anchors=False)
    orders = check_orders(P_list, [Z.shape[1] for Z in graphs])
    observed = check_missing(graphs, mask, missing)
    rows = observed_set(graphs, observed)
    auto = isinstance(weights, str) and weights == "auto"
    if auto or how == "rotated":
        grams = GramMatrices.of_set(rows)
        orders = rotations(grams, orders) if how == "rotated" else orders
        weights = agreement_weights(grams, orders) if auto else weights
    shares = check_weights(weights, len(graphs))
    if how == "concat":
        shares = shares * len(graphs)
    recipe = Recipe(tuple(orders), tuple(shares), how)
    with np.errstate(over="ignore", invalid="ignore"):
        fused = fused_rows(rows, recipe).stored()
    if is_dask(fused):
        return fused
    if not is_finite(fused):
        check_finite(graphs, observed=observed)
        raise InputError("The fused graph overflows; divide the graphs by a constant.")
    return fused


@dataclass(frozen=True, eq=False)
class Recipe:
    """How the graphs of all views become one.

    Attributes
    ----------
    maps : tuple
        Where each view's anchors go: an order or, for "rotated", any matrix, anchors x common columns.
    shares : tuple of float
        Of the views.
    how : {"mean", "rotated", "concat"}
    """

    maps: tuple[Order, ...]
    shares: tuple[float, ...]
    how: str

    def of(self, graphs: Sequence[Graph], dtype: np.dtype[Any], seen: BoolArray | None = None) -> Any:
        """Fuse the graphs of a few samples; ``seen`` says which view has which of them, if not all have all.

        Rows that were not observed are zero in the graphs.
        """
        fused = (_fuse_sparse if self.makes_sparse(graphs) else _fuse_dense)(graphs, self.orders, self, dtype)
        return fused if seen is None or self.how == "concat" else _over_observed(fused, self.shares, seen)

    def makes_sparse(self, graphs: Sequence[Graph]) -> bool:
        """Whether the fused graph is sparse."""
        return self.how != "rotated" and all(map(is_sparse, graphs))

    def check_seen(self, observed: BoolArray) -> None:
        """Every sample must be in a view that weighs something; ``observed`` says which view has which."""
        if self.how != "concat":
            _check_shares(self.shares, observed)

    @property
    def orders(self) -> list[Order]:
        """Where each view's anchors go in what is made of it: side by side, there are no columns without an anchor."""
        if self.how != "concat":
            return list(self.maps)
        return [order[order >= 0] if order.ndim == 1 else order for order in self.maps]

    def n_columns(self, sizes: Sequence[int]) -> int:
        """Columns of the fused graph of views with so many anchors."""
        widths = [n_columns(order) for order in self.orders]
        return sum(widths) if self.how == "concat" else widths[0]

    def gram(self, grams: GramMatrices) -> FloatArray | None:
        """Gram matrix of the fused graph, from those of the graphs.

        None for the mean of views that lack samples: its rows have other shares for other samples.
        """
        if self.how == "concat":
            shares = np.repeat(self.shares, grams.sizes)
            return np.asarray(grams.matrix * np.outer(shares, shares))
        if grams.pairs is not None:
            return None
        views = range(grams.n_views)
        return np.asarray(
            sum(
                self.shares[u] * self.shares[v] * aligned_product(grams.cross(u, v), self.maps[u], self.maps[v])
                for u in views
                for v in views
            )
        )


@dataclass(frozen=True, eq=False)
class FusedGraph:
    """A fused graph that is made from the graphs when it is needed."""

    graphs: GraphSet
    recipe: Recipe

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of columns."""
        return self.graphs.n_samples, self.recipe.n_columns(self.graphs.sizes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 if all graphs are, else float64."""
        return self.graphs.dtype


@dataclass(frozen=True, eq=False)
class FusedRows(FusedGraph):
    """Rows of the fused graph, made from those of the graphs."""

    graphs: LocalGraphSet

    @property
    def width(self) -> int:
        """Numbers at work for every row while it is made."""
        return self.graphs.width + self.shape[1]

    def block(self, rows: slice) -> Any:
        """Some rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.recipe.of(self.graphs.blocks(rows), self.dtype, observed_rows(self.graphs, rows))

    def parts(self) -> Parts:
        """All rows, in one part."""
        return Here(self)

    def stored(self) -> Any:
        """All rows, kept where large results are."""
        return store(lambda rows: [self.block(rows)], self.shape[0], width=self.width)[0]


def fused_rows(graphs: GraphSet, recipe: Recipe) -> FusedRows | ChunkedFused:
    """The fused graph, here or on a cluster."""
    if isinstance(graphs, ObservedGraphs):
        recipe.check_seen(graphs.mask)
    if isinstance(graphs, (StoredGraphs, MadeGraphs, ObservedGraphs)):
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


def _over_observed(fused: Any, shares: Sequence[float], seen: BoolArray) -> Any:
    """Weighted sums over the views that have a sample become means; where all have it they are already."""
    totals = np.where(seen.all(axis=0), 1.0, np.asarray(shares) @ seen).astype(fused.dtype)
    if is_sparse(fused):
        return sp.csr_array(
            (fused.data / np.repeat(totals, np.diff(fused.indptr)), fused.indices, fused.indptr), fused.shape
        )
    fused /= totals[:, None]
    return fused


def _check_shares(shares: Sequence[float], observed: BoolArray) -> None:
    """No sample may be in views of weight zero alone: there would be nothing to take the mean of."""
    lost = np.flatnonzero(~observed[np.asarray(shares) > 0].any(axis=0))
    if lost.size:
        raise InputError(
            f"Sample {lost[0]} is only in views whose weight is zero ({lost.size} such samples); "
            "give one of its views a weight > 0, or leave it out."
        )


def _fuse_sparse(graphs: Sequence[Graph], orders: Sequence[Order], recipe: Recipe, dtype: np.dtype[Any]) -> Any:
    parts: list[Any] = [
        permute_columns(Z.astype(dtype), order) * dtype.type(share)
        for Z, order, share in zip(graphs, orders, recipe.shares, strict=True)
    ]
    if recipe.how == "concat":
        return sp.csr_array(sp.hstack(parts, format="csr"))
    fused = parts[0]
    for part in parts[1:]:
        fused = fused + part
    return sp.csr_array(fused)


def _fuse_dense(graphs: Sequence[Graph], orders: Sequence[Order], recipe: Recipe, dtype: np.dtype[Any]) -> Any:
    concat = recipe.how == "concat"
    edges = np.cumsum([0, *map(n_columns, orders)])
    fused = np.zeros((graphs[0].shape[0], edges[-1] if concat else edges[1]), dtype=dtype)
    for view, (Z, order, share) in enumerate(zip(graphs, orders, recipe.shares, strict=True)):
        # Duplicate entries of a sparse row are added up here: not as small integers.
        block = Z.astype(dtype).toarray() if is_sparse(Z) else Z
        if order.ndim == 2:
            block = block.astype(dtype, copy=False)
        columns = slice(edges[view], edges[view + 1]) if concat else slice(None)
        moved = block @ order.astype(dtype) if recipe.how == "rotated" else permute_columns(block, order)
        fused[:, columns] += dtype.type(share) * moved
    return fused


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
