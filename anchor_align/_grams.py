"""Gram matrices of anchor graphs: all that alignment needs to know of the samples.

K_uv = Z_u' Z_v says how much the anchors of two views share samples, S_v = Z_v' Z_v how much those of one view do.
Both are sums over samples, so they can be computed block by block, anywhere, and added up.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ._graph_rows import GraphSet, LocalGraphSet, graph_set
from ._mapping import block_rows, map_rows
from ._parts import Here
from ._types import FloatArray, Graph, GraphLike, is_sparse
from ._validation import check_finite, check_graphs
from .checks import check_whole_number
from .errors import InputError, InputTypeError

# Products of smaller graphs lose digits to underflow.
SMALLEST_NORM = 1e-140


@dataclass(frozen=True, eq=False)
class GramMatrices:
    """Gram matrices of the anchor graphs of several views.

    Enough for :func:`align` and :class:`AnchorAligner`, which take it in place of the graphs: nothing in it grows with
    the number of samples. The sum of two objects describes the samples of both.

    Parameters
    ----------
    matrix : ndarray of shape (total anchors, total anchors)
        ``Z' Z`` for ``Z = [Z_0, Z_1, ...]``, the graphs side by side.
    sizes : tuple of int
        Number of anchors of each view.
    n_samples : int
        Number of samples that were summed up.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import GramMatrices, align
    >>> rng = np.random.default_rng(0)
    >>> Z0 = rng.dirichlet(np.full(5, 0.2), size=100)
    >>> Z1 = Z0[:, [3, 0, 4, 1, 2]]
    >>> first, rest = ([Z[:40] for Z in (Z0, Z1)], [Z[40:] for Z in (Z0, Z1)])
    >>> grams = GramMatrices.from_graphs(first) + GramMatrices.from_graphs(rest)
    >>> grams.n_samples
    100
    >>> P = align(grams)
    >>> bool(np.allclose(Z0 @ P[0], Z1 @ P[1]))
    True
    """

    matrix: FloatArray
    sizes: tuple[int, ...]
    n_samples: int

    def __post_init__(self) -> None:
        """Check what was given; keep a read-only copy of the matrix."""
        if isinstance(self.sizes, str) or not isinstance(self.sizes, Iterable):
            raise InputTypeError(f"sizes must list each view's number of anchors, got {self.sizes!r}.")
        sizes = tuple(check_whole_number("sizes", size) for size in self.sizes)
        if not sizes or min(sizes) < 1:
            raise InputError(f"Each view needs one anchor or more, got sizes {sizes}.")
        matrix = _check_gram_matrix(self.matrix, sizes)
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "n_samples", check_whole_number("n_samples", self.n_samples))

    def __reduce__(self) -> tuple[type[GramMatrices], tuple[FloatArray, tuple[int, ...], int]]:
        """Pickle through the constructor: what is loaded is read-only again."""
        return GramMatrices, (self.matrix, self.sizes, self.n_samples)

    @classmethod
    def from_graphs(
        cls, graphs: Iterable[GraphLike], *, callback: Callable[[int, int], object] | None = None
    ) -> GramMatrices:
        """Compute the Gram matrices in one pass over the rows.

        Parameters
        ----------
        graphs : list of array-like, sparse or Dask array of shape (n_samples, n_anchors)
            One graph per view. The numbers of anchors may differ here. Products of the chunks of Dask arrays are
            computed and added up where they are.
        callback : callable, optional
            Called as ``callback(rows_done, n_samples)`` after each block.

        Raises
        ------
        InputError
            If the graphs are not 2-D, real and finite with the same samples.
        """
        checked = check_graphs(graphs, same_anchors=False)
        return cls.of_set(graph_set(checked), callback)

    @classmethod
    def of_set(cls, graphs: GraphSet, callback: Callable[[int, int], object] | None = None) -> GramMatrices:
        """Gram matrices of checked graphs, stored or not."""
        parts = graphs.parts()
        if isinstance(parts, Here):
            matrix = parts.total(_sum_products, callback)
        else:
            matrix = parts.total(_sum_products)
            if callback is not None:
                callback(graphs.n_samples, graphs.n_samples)
        # Infinity, NaN and overflow are looked for in the result, once, instead of in all the data.
        if not np.isfinite(matrix).all():
            check_finite(getattr(graphs, "graphs", ()))
            edges = np.cumsum(graphs.sizes)
            view = int(np.searchsorted(edges, np.argmin(np.isfinite(matrix.diagonal())), side="right"))
            raise InputError(
                f"View {view}'s values are too large: their products overflow. Divide the graphs by a constant."
            )
        grams = cls(matrix, graphs.sizes, graphs.n_samples)
        for view in np.flatnonzero(grams.norms == 0).tolist():
            if parts.total(_count_entries, view):
                raise _too_small(view)
        return grams

    @classmethod
    def from_blocks(cls, blocks: Iterable[Sequence[GraphLike]]) -> GramMatrices:
        """Add up row blocks: each item holds, for every view, the graph of the same few samples."""
        total: GramMatrices | None = None
        for block in blocks:
            part = cls.from_graphs(block)
            total = part if total is None else total + part
        if total is None:
            raise InputError("Got no block of rows.")
        return total

    def __add__(self, other: object) -> GramMatrices:
        """Gram matrices of the samples of both."""
        if isinstance(other, int) and other == 0:  # so that sum() works
            return self
        if not isinstance(other, GramMatrices):
            raise InputTypeError(f"GramMatrices can only be added to GramMatrices, got {type(other).__name__}.")
        if self.sizes != other.sizes:
            raise InputError(f"Cannot add Gram matrices of views with {self.sizes} and {other.sizes} anchors.")
        with np.errstate(over="ignore"):
            matrix = self.matrix + other.matrix
        return GramMatrices(matrix, self.sizes, self.n_samples + other.n_samples)

    __radd__ = __add__

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.sizes)

    @property
    def norms(self) -> FloatArray:
        """Frobenius norm of every view's graph."""
        return np.sqrt([max(float(np.trace(self.structure(view))), 0.0) for view in range(self.n_views)])

    def check_digits(self) -> None:
        """Refuse graphs so small that their products have lost digits to underflow."""
        for view in np.flatnonzero((self.norms > 0) & (self.norms < SMALLEST_NORM)).tolist():
            raise _too_small(view)

    def cross(self, u: int, v: int) -> FloatArray:
        """K_uv = Z_u' Z_v, shape (anchors of u, anchors of v)."""
        return self.matrix[self._columns(u), self._columns(v)]

    def structure(self, view: int) -> FloatArray:
        """S_v = Z_v' Z_v, shape (anchors, anchors)."""
        return self.cross(view, view)

    def _columns(self, view: int) -> slice:
        start = sum(self.sizes[:view])
        return slice(start, start + self.sizes[view])


def _sum_products(graphs: LocalGraphSet, callback: Callable[[int, int], object] | None = None) -> FloatArray:
    """Products of all graphs with each other, over all rows."""
    n, total = graphs.n_samples, sum(graphs.sizes)
    matrix = np.zeros((total, total))
    width = max(graphs.width, total // 4)
    done = 0
    for part in map_rows(lambda rows: block_products(graphs.blocks(rows)), n, width=width):
        with np.errstate(over="ignore", invalid="ignore"):
            matrix += part
        done = min(done + block_rows(width), n)
        if callback is not None:
            callback(done, n)
    return matrix


def _count_entries(graphs: LocalGraphSet, view: int) -> int:
    """Entries of one graph that are not zero."""

    def count(rows: slice) -> int:
        Z = graphs.blocks(rows)[view]
        return int(np.count_nonzero(Z.data if is_sparse(Z) else Z))

    return sum(map_rows(count, graphs.n_samples, width=graphs.width))


def _too_small(view: int) -> InputError:
    return InputError(
        f"View {view}'s values are too small: their products underflow. Multiply the graphs by a constant."
    )


def _check_gram_matrix(matrix: object, sizes: tuple[int, ...]) -> FloatArray:
    """Copy of a matrix that can be the Gram matrix of views with these numbers of anchors."""
    try:
        values = np.array(matrix)
    except ValueError as error:
        raise InputError(f"The Gram matrix is not a rectangular array: {error}.") from error
    if values.dtype.kind not in "fiub":
        raise InputTypeError(f"The Gram matrix must be an array of real numbers, got {type(matrix).__name__}.")
    values = values.astype(np.float64, copy=False)
    total = sum(sizes)
    if values.shape != (total, total):
        raise InputError(f"The Gram matrix of views with {sizes} anchors is {total} x {total}, got {values.shape}.")
    if not np.isfinite(values).all():
        raise InputError("The Gram matrix has NaN or infinity.")
    largest = np.abs(values).max()
    if not np.allclose(values, values.T, rtol=1e-8, atol=1e-8 * largest):
        raise InputError("The Gram matrix is not symmetric.")
    norms = np.sqrt(np.maximum(values.diagonal(), 0.0))
    if (np.abs(values) > np.outer(norms, norms) + 1e-8 * largest).any():
        raise InputError("The matrix is no Gram matrix: an entry exceeds the norms of its two columns.")
    return values


def block_products(blocks: list[Graph]) -> FloatArray:
    """Products of all graphs' rows with each other, in double precision: float32 would lose digits in long sums."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not any(map(is_sparse, blocks)):
            rows = np.concatenate(blocks, axis=1, dtype=np.float64)
            return rows.T @ rows
        return _sparse_products([Z.astype(np.float64, copy=False) for Z in blocks])


def _sparse_products(blocks: list[Graph]) -> FloatArray:
    """Products pair by pair, where some blocks are sparse."""
    edges = np.cumsum([0, *(Z.shape[1] for Z in blocks)])
    products = np.empty((edges[-1], edges[-1]))
    for u, v in itertools.combinations_with_replacement(range(len(blocks)), 2):
        product = blocks[u].T @ blocks[v]
        product = product.toarray() if is_sparse(product) else product
        products[edges[u] : edges[u + 1], edges[v] : edges[v + 1]] = product
        products[edges[v] : edges[v + 1], edges[u] : edges[u + 1]] = product.T
    return products
