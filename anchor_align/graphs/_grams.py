"""Gram matrices of anchor graphs, the only input of alignment.

K_uv = Z_u' Z_v compares the anchors of two views, S_v = Z_v' Z_v the anchors of one view. Both are sums over samples,
so they can be computed block by block, on any machine, and added. If samples are missing, each pair of views has its
own sums, over the samples of both: see :class:`PairSums`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, GraphLike
from ..blocks import Here, check_finite
from ..checks import check_callback, check_whole_number, is_iterable
from ..errors import InputError, InputTypeError, shown, view_name
from ._gram_products import count_entries, sum_products
from ._graph_sets import GraphSet, StoredGraphs
from ._missing import PairSums, columns_of

SMALLEST_NORM = 1e-140  # products of graphs with a smaller norm lose digits to underflow
CHECKED = 64  # rows of a Gram matrix that are compared at once
_NOTHING: Any = object()


@dataclass(frozen=True, eq=False)
class GramMatrices:
    """Gram matrices of the anchor graphs of several views.

    :func:`align` and :class:`AnchorAligner` accept it in place of the graphs. Its size does not depend on the number of
    samples: (v m)^2 numbers for v views of m anchors each, and v^2 m^2 more if samples are missing, because each pair
    of views then has its own S. The sum of two objects describes the samples of both.

    Parameters
    ----------
    matrix : ndarray of shape (total anchors, total anchors)
        ``Z' Z`` for ``Z = [Z_0, Z_1, ...]``, the graphs side by side.
    sizes : tuple of int
        Number of anchors of each view.
    n_samples : int
        Number of samples in the sums.
    sums : ndarray of shape (total anchors,), optional
        Column sums of ``Z``, each over the samples of its view. Only the weights of views need them.
    pairs : PairSums, optional
        Sums over the samples that both views of each pair have; None if no sample is missing.

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

    The first thirty samples are missing in view 1; these rows are not read:

    >>> mask = np.ones((2, 100), dtype=bool)
    >>> mask[1, :30] = False
    >>> GramMatrices.from_graphs([Z0, Z1], mask=mask).shared
    array([[100,  70],
           [ 70,  70]])
    """

    matrix: FloatArray
    sizes: tuple[int, ...]
    n_samples: int
    sums: FloatArray | None = None
    pairs: PairSums | None = None

    def __post_init__(self) -> None:
        """Check the input; keep a read-only copy of the matrix."""
        if isinstance(self.sizes, str) or not is_iterable(self.sizes):
            raise InputTypeError(f"sizes must list each view's number of anchors, got {shown(self.sizes)}.")
        sizes = tuple(check_whole_number("sizes", size) for size in self.sizes)
        if not sizes or min(sizes) < 1:
            raise InputError(f"Each view needs one anchor or more, got sizes {shown(sizes)}.")
        matrix = _check_gram_matrix(self.matrix, sizes)
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "sums", _check_sums(self.sums, sum(sizes)))
        object.__setattr__(self, "pairs", _check_pairs(self.pairs, sizes))
        object.__setattr__(self, "n_samples", check_whole_number("n_samples", self.n_samples))

    def __reduce__(self) -> tuple[type[GramMatrices], tuple[Any, ...]]:
        """Pickle through the constructor, so that loaded objects are read-only again."""
        return GramMatrices, (self.matrix, self.sizes, self.n_samples, self.sums, self.pairs)

    @classmethod
    def from_graphs(
        cls,
        graphs: Iterable[GraphLike],
        *,
        mask: npt.ArrayLike | None = None,
        missing: str = "error",
        callback: Callable[[int, int], object] | None = None,
        join: str | None = None,
    ) -> GramMatrices:
        """Compute the Gram matrices in one pass over the rows.

        Parameters
        ----------
        graphs : list of array-like, sparse or Dask array of shape (n_samples, n_anchors)
            One graph per view. The numbers of anchors may differ. Products of Dask arrays are computed and added where
            their chunks are.
        mask : array-like of bool of shape (n_views, n_samples) or (n_samples, n_views), optional
            False where a sample is missing in a view; these rows are not read. Every sample must be present in some
            view. Not for Dask arrays.
        missing : {"error", "nan"}, default="error"
            "nan": a row with only NaN is a missing sample.
        callback : callable, optional
            Called as ``callback(rows_done, n_samples)`` after each block.
        join : {"inner", "outer"}, optional
            Which samples to keep if DataFrames name different ones, see :func:`align`.

        Raises
        ------
        InputError
            If the graphs are not 2-D, real and finite with the same samples, or a sample is in no view.
        """
        check_callback(callback)
        return cls.of_set(StoredGraphs.from_user(graphs, mask, missing, join), callback)

    @classmethod
    def of_set(cls, graphs: GraphSet, callback: Callable[[int, int], object] | None = None) -> GramMatrices:
        """Gram matrices of checked graphs, stored or not."""
        parts = graphs.parts()
        if isinstance(parts, Here):
            products = parts.total(sum_products, callback)
        else:
            products = parts.total(sum_products)
            if callback is not None:
                callback(graphs.n_samples, graphs.n_samples)
        # One check of the result for infinity, NaN and overflow replaces a check of all data.
        if not np.isfinite(products.matrix).all():
            if isinstance(graphs, StoredGraphs):
                check_finite(graphs.graphs, mask=graphs.mask)
            edges = np.cumsum(graphs.sizes)
            view = int(np.searchsorted(edges, np.argmin(np.isfinite(products.matrix.diagonal())), side="right"))
            raise InputError(
                f"View {view_name(view)}'s values are too large: their products overflow. "
                "Divide the graphs by a constant."
            )
        grams = cls(products.matrix, graphs.sizes, graphs.n_samples, products.sums, products.pairs)
        for view in np.flatnonzero(grams.norms == 0).tolist():
            if parts.total(count_entries, view):
                raise _too_small(view)
        return grams

    @classmethod
    def from_blocks(
        cls,
        blocks: Iterable[Sequence[GraphLike]],
        *,
        masks: Iterable[npt.ArrayLike | None] | None = None,
        missing: str = "error",
    ) -> GramMatrices:
        """Compute the sum over blocks. Each block has, for every view, the graph of the same few samples.

        Parameters
        ----------
        blocks : iterable of lists of graphs
        masks : iterable, optional
            For every block a mask as in :meth:`from_graphs`, or None if no sample is missing.
        missing : {"error", "nan"}, default="error"
            As in :meth:`from_graphs`.
        """
        for what, got in (("blocks", blocks), ("masks", () if masks is None else masks)):
            if isinstance(got, (str, Mapping)) or not is_iterable(got):
                raise InputTypeError(f"{what} must have one entry for each block of rows, got {type(got).__name__}.")
        total: GramMatrices | None = None
        pairs: Iterable[tuple[Any, Any]] = ((block, None) for block in blocks)
        if masks is not None:
            pairs = itertools.zip_longest(blocks, masks, fillvalue=_NOTHING)
        for block, mask in pairs:
            if block is _NOTHING or mask is _NOTHING:
                raise InputError(
                    "The numbers of masks and blocks differ; use None for a block without missing samples."
                )
            part = cls.from_graphs(block, mask=mask, missing=missing)
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
        sums = None if self.sums is None or other.sums is None else self.sums + other.sums
        pairs = None if self.pairs is None and other.pairs is None else self._in_pairs() + other._in_pairs()
        return GramMatrices(matrix, self.sizes, self.n_samples + other.n_samples, sums, pairs)

    __radd__ = __add__

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.sizes)

    @property
    def shared(self) -> npt.NDArray[np.intp]:
        """Number of samples that two views share; on the diagonal, the number of samples of a view."""
        if self.pairs is None:
            return np.full((self.n_views, self.n_views), self.n_samples, dtype=np.intp)
        return self.pairs.shared

    @property
    def norms(self) -> FloatArray:
        """Frobenius norm of every view's graph."""
        return np.sqrt([max(float(np.trace(self.structure(view))), 0.0) for view in range(self.n_views)])

    def check_digits(self) -> None:
        """Raise an error for graphs so small that their products have lost digits to underflow."""
        for view in np.flatnonzero((self.norms > 0) & (self.norms < SMALLEST_NORM)).tolist():
            raise _too_small(view)

    def cross(self, u: int, v: int) -> FloatArray:
        """K_uv = Z_u' Z_v, shape (anchors of u, anchors of v)."""
        return self.matrix[self._columns(u), self._columns(v)]

    def structure(self, view: int, other: int | None = None) -> FloatArray:
        """S_v = Z_v' Z_v, shape (anchors, anchors); over the samples shared with view ``other``, if it is given."""
        shared = None if other is None else self._view(other)
        if self.pairs is None or shared is None:
            return self.cross(view, view)
        return self.pairs.structure(self._view(view), shared, self.sizes)

    def column_sums(self, view: int, other: int | None = None) -> FloatArray:
        """Column sums of the graph of a view; over the samples shared with view ``other``, if it is given."""
        shared = self._view(view if other is None else other)
        if self.pairs is not None:
            return self.pairs.masses[shared, self._columns(view)]
        if self.sums is not None:
            return self.sums[self._columns(view)]
        # If the rows of the graph sum to one, which 1' S 1 = n shows, the column sums are S 1.
        sums = self.structure(view).sum(axis=1)
        if not np.isclose(sums.sum(), self.n_samples, rtol=1e-6):
            raise InputError(
                f"The sums of the columns of view {view}'s graph are not known: give them to GramMatrices as sums."
            )
        return np.asarray(sums)

    def _in_pairs(self) -> PairSums:
        if self.pairs is not None:
            return self.pairs
        sums = np.concatenate([self.column_sums(view) for view in range(self.n_views)])
        return PairSums.of_all(self.matrix, sums, self.sizes, self.n_samples)

    def _columns(self, view: int) -> slice:
        return columns_of(self._view(view), self.sizes)

    def _view(self, view: object) -> int:
        """The number of a view; counted from the end if it is negative, as in lists."""
        if isinstance(view, (int, np.integer)) and -self.n_views <= view < self.n_views:
            return int(view) % self.n_views
        error = InputError if isinstance(view, (int, np.integer)) else InputTypeError
        raise error(f"A view must be a whole number from 0 to {self.n_views - 1}, got {shown(view)}.")


def _too_small(view: int) -> InputError:
    return InputError(
        f"View {view_name(view)}'s values are too small: their products underflow. Multiply the graphs by a constant."
    )


def _check_gram_matrix(matrix: object, sizes: tuple[int, ...]) -> FloatArray:
    """Copy of a matrix that can be the Gram matrix of views with these numbers of anchors."""
    values = _real_numbers("The Gram matrix", matrix)
    total = sum(sizes)
    if values.shape != (total, total):
        raise InputError(f"The Gram matrix of views with {sizes} anchors is {total} x {total}, got {values.shape}.")
    if not np.isfinite(values).all():
        raise InputError("The Gram matrix has NaN or infinity.")
    rounding = 1e-8 * np.abs(values).max()
    norms = np.sqrt(np.maximum(values.diagonal(), 0.0))
    # Blocks stay in the cache. A comparison with the whole transpose takes longer than the matrix of sparse graphs.
    for first in range(0, total, CHECKED):
        own = slice(first, first + CHECKED)
        block, turned = values[own, first:], values[first:, own].T
        with np.errstate(over="ignore"):
            if (np.abs(block - turned) > rounding + 1e-8 * np.abs(turned)).any():
                raise InputError("The Gram matrix is not symmetric.")
            if (np.abs(block) > np.outer(norms[own], norms[first:]) + rounding).any():
                raise InputError("The matrix is no Gram matrix: an entry exceeds the norms of its two columns.")
    return values


def _real_numbers(what: str, got: object) -> FloatArray:
    """A copy as float64."""
    try:
        values = np.array(got)
    except ValueError as error:
        raise InputError(f"{what} must be a rectangular array: {error}.") from error
    if values.dtype.kind not in "fiub":
        raise InputTypeError(f"{what} must be an array of real numbers, got {type(got).__name__}.")
    return values.astype(np.float64, copy=False)


def _check_sums(sums: FloatArray | None, total: int) -> FloatArray | None:
    if sums is None:
        return None
    values = _real_numbers("sums", sums)
    if values.shape != (total,) or not np.isfinite(values).all():
        raise InputError(f"sums must be {total} finite numbers, one for each column, got shape {values.shape}.")
    values.flags.writeable = False
    return values


def _check_pairs(pairs: PairSums | None, sizes: tuple[int, ...]) -> PairSums | None:
    if pairs is None:
        return None
    if not isinstance(pairs, PairSums):
        raise InputTypeError(f"pairs must be PairSums, got {type(pairs).__name__}.")
    v, total = len(sizes), sum(sizes)
    copies = []
    for what, shape in (("shared", (v, v)), ("structures", (v, total, max(sizes))), ("masses", (v, total))):
        values = _real_numbers(f"The {what} of pairs", getattr(pairs, what))
        if values.shape != shape or not np.isfinite(values).all():
            raise InputError(f"The {what} of pairs must be finite and have shape {shape}, got {values.shape}.")
        values.flags.writeable = False
        copies.append(values)
    shared = copies[0].astype(np.intp)
    shared.flags.writeable = False
    return PairSums(shared, *copies[1:])
