"""Gram matrices of anchor graphs: all that alignment needs to know of the samples.

K_uv = Z_u' Z_v says how much the anchors of two views share samples, S_v = Z_v' Z_v how much those of one view do.
Both are sums over samples, so they can be computed block by block, anywhere, and added up. Where views do not have all
samples, each pair of views has sums of its own, over the samples that both have: see :class:`PairSums`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._gram_sums import count_entries, sum_products
from ._graph_rows import GraphSet
from ._observed import (
    ObservedGraphs,
    PairSums,
    check_missing,
    columns_of,
    observed_set,
)
from ._parts import Here
from ._types import FloatArray, GraphLike
from ._validation import check_finite, check_graphs
from .checks import check_whole_number
from .errors import InputError, InputTypeError

# Products of smaller graphs lose digits to underflow.
SMALLEST_NORM = 1e-140
_NOTHING = object()


@dataclass(frozen=True, eq=False)
class GramMatrices:
    """Gram matrices of the anchor graphs of several views.

    Enough for :func:`align` and :class:`AnchorAligner`, which take it in place of the graphs: nothing in it grows with
    the number of samples. The sum of two objects describes the samples of both. The size is (v m)^2 numbers for v views
    of m anchors each; where views lack samples, v^2 m^2 more: each pair of views then has both S of its own.

    Parameters
    ----------
    matrix : ndarray of shape (total anchors, total anchors)
        ``Z' Z`` for ``Z = [Z_0, Z_1, ...]``, the graphs side by side.
    sizes : tuple of int
        Number of anchors of each view.
    n_samples : int
        Number of samples that were summed up.
    sums : ndarray of shape (total anchors,), optional
        Sums of the columns of ``Z``, each over the samples that the view has. Only the weights of views need them.
    pairs : PairSums, optional
        Sums over the samples that both views of each pair have; None if every view has every sample.

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

    View 1 lacks the first thirty samples; nothing in these rows is looked at:

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
        object.__setattr__(self, "sums", _check_sums(self.sums, sum(sizes)))
        object.__setattr__(self, "pairs", _check_pairs(self.pairs, sizes))
        object.__setattr__(self, "n_samples", check_whole_number("n_samples", self.n_samples))

    def __reduce__(self) -> tuple[type[GramMatrices], tuple[Any, ...]]:
        """Pickle through the constructor: what is loaded is read-only again."""
        return GramMatrices, (self.matrix, self.sizes, self.n_samples, self.sums, self.pairs)

    @classmethod
    def from_graphs(
        cls,
        graphs: Iterable[GraphLike],
        *,
        mask: npt.ArrayLike | None = None,
        missing: str = "error",
        callback: Callable[[int, int], object] | None = None,
    ) -> GramMatrices:
        """Compute the Gram matrices in one pass over the rows.

        Parameters
        ----------
        graphs : list of array-like, sparse or Dask array of shape (n_samples, n_anchors)
            One graph per view. The numbers of anchors may differ here. Products of the chunks of Dask arrays are
            computed and added up where they are.
        mask : array-like of bool of shape (n_views, n_samples), optional
            True where a view has a sample; other rows of its graph are not looked at. Every sample must be in some
            view. Not for Dask arrays.
        missing : {"error", "nan"}, default="error"
            "nan": rows that are NaN throughout are samples that the view does not have.
        callback : callable, optional
            Called as ``callback(rows_done, n_samples)`` after each block.

        Raises
        ------
        InputError
            If the graphs are not 2-D, real and finite with the same samples, or a sample is in no view.
        """
        checked = check_graphs(graphs, same_anchors=False)
        return cls.of_set(observed_set(checked, check_missing(checked, mask, missing)), callback)

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
        # Infinity, NaN and overflow are looked for in the result, once, instead of in all the data.
        if not np.isfinite(products.matrix).all():
            _check_finite(graphs)
            edges = np.cumsum(graphs.sizes)
            view = int(np.searchsorted(edges, np.argmin(np.isfinite(products.matrix.diagonal())), side="right"))
            raise InputError(
                f"View {view}'s values are too large: their products overflow. Divide the graphs by a constant."
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
        """Add up row blocks: each item holds, for every view, the graph of the same few samples.

        Parameters
        ----------
        blocks : iterable of lists of graphs
        masks : iterable, optional
            For every block a mask as in :meth:`from_graphs`, or None if all views have all of its samples.
        missing : {"error", "nan"}, default="error"
            As in :meth:`from_graphs`.
        """
        total: GramMatrices | None = None
        each = ((block, None) for block in blocks) if masks is None else _zip_masks(blocks, masks)
        for block, mask in each:
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
        """Numbers of samples that two views share; of those that a view has, on the diagonal."""
        if self.pairs is None:
            return np.full((self.n_views, self.n_views), self.n_samples, dtype=np.intp)
        return self.pairs.shared

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

    def structure(self, view: int, other: int | None = None) -> FloatArray:
        """S_v = Z_v' Z_v, shape (anchors, anchors); perhaps only over the samples that it shares with another view."""
        if self.pairs is None or other is None:
            return self.cross(view, view)
        return self.pairs.structure(view, other, self.sizes)

    def column_sums(self, view: int, other: int | None = None) -> FloatArray:
        """Sums of the columns of a view's graph, perhaps only over the samples that it shares with another view."""
        if self.pairs is not None:
            return self.pairs.masses[view if other is None else other, self._columns(view)]
        if self.sums is not None:
            return self.sums[self._columns(view)]
        # Of products made elsewhere: S 1 is what is asked for if the rows of the graph sum to one, as 1' S 1 = n tells.
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
        return columns_of(view, self.sizes)


def _check_finite(graphs: GraphSet) -> None:
    """Name the view and the row of what is not finite, where the graphs are stored."""
    mask = graphs.mask if isinstance(graphs, ObservedGraphs) else None
    stored = getattr(graphs.source if isinstance(graphs, ObservedGraphs) else graphs, "graphs", ())
    check_finite(stored, observed=mask if len(stored) else None)


def _zip_masks(
    blocks: Iterable[Sequence[GraphLike]], masks: Iterable[npt.ArrayLike | None]
) -> Iterator[tuple[Sequence[GraphLike], npt.ArrayLike | None]]:
    for block, mask in itertools.zip_longest(blocks, masks, fillvalue=_NOTHING):
        if block is _NOTHING or mask is _NOTHING:
            raise InputError("There must be as many masks as blocks; None for a block that needs no mask.")
        yield block, mask  # type: ignore[misc]  # neither is the fill value


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


def _check_sums(sums: FloatArray | None, total: int) -> FloatArray | None:
    if sums is None:
        return None
    values = np.array(sums, dtype=np.float64)
    if values.shape != (total,) or not np.isfinite(values).all():
        raise InputError(f"sums must be {total} finite numbers, one for each column, got shape {values.shape}.")
    values.flags.writeable = False
    return values


def _check_pairs(pairs: PairSums | None, sizes: tuple[int, ...]) -> PairSums | None:
    """Read-only copy of sums over pairs that fit the views."""
    if pairs is None:
        return None
    if not isinstance(pairs, PairSums):
        raise InputTypeError(f"pairs must be PairSums, got {type(pairs).__name__}.")
    v, total = len(sizes), sum(sizes)
    copies = []
    for what, shape in (("shared", (v, v)), ("structures", (v, total, max(sizes))), ("masses", (v, total))):
        values = np.array(getattr(pairs, what))
        if values.shape != shape or not np.isfinite(values).all():
            raise InputError(f"The {what} of pairs must be finite and have shape {shape}, got {values.shape}.")
        values.flags.writeable = False
        copies.append(values)
    return PairSums(*copies)
