"""Spectral clustering of a fused graph: leading left singular vectors, unit rows, k-means.

The left singular vectors of the graph Z (n x m) are the leading eigenvectors of Z Z', the affinity of the samples that
the anchors imply. They follow from the m x m matrix Z' Z: with its eigenvectors V and eigenvalues s^2, U = Z V / s. The
map V / s also places new samples. Rows of Z are visited a block at a time: nothing here but the embedding grows with n.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.linalg

from ._gram_sums import block_products
from ._grams import SMALLEST_NORM
from ._mapped import write_rows
from ._mapping import COPIES, block_rows, empty, map_rows, run_rows
from ._parts import Here, Parts, joined
from ._rows import ScaledRows, view_rows
from ._types import FloatArray, Graph, IndexArray, is_dask, is_sparse
from .errors import InputError
from .kmeans import fit_kmeans

T = TypeVar("T")

# The Gram matrix squares the singular values: below this share of the largest they have lost half of their digits.
TRUSTED_SHARE = 1e-4
# Real graphs fall by a factor of two at most from one singular value to the next; where the rank ends, by ten or more.
LARGEST_DROP = 0.1
# Largest angle between the directions that iteration finds and the true ones.
ANGLE = 1e-6
# Random columns beyond those wanted, at least. More make for fewer steps that cost as much more; BLAS likes eights.
SPARE = 6
# A Gram matrix so many times as wide as iteration's columns takes longer to decompose, although real graphs need 8 to
# 24 steps; more steps than MOST_STEPS take too long in turn.
GRAM_WIDTH = 64
MOST_STEPS = 24
# A step of iteration on c columns over the rows themselves takes as long as 110 + 4.5 c columns of the Gram matrix. It
# is tried if 12 steps take at most 0.6 times as long as the Gram matrix; most real graphs need more than that.
STEP_COST = (110.0, 4.5)
ROW_STEPS = 12
ROW_SHARE = 0.6


class GraphRows(Protocol):
    """Rows of a graph: stored, or made on the spot, here or on a cluster."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of anchors."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""

    def parts(self) -> Parts:
        """The same rows in parts, each LocalGraphRows."""


class LocalGraphRows(GraphRows, Protocol):
    """Rows of a graph that can be had here, a block at a time."""

    @property
    def width(self) -> int:
        """Numbers at work for every row while it is made."""

    def block(self, rows: slice, /) -> Any:
        """Some rows, dense or CSR; called from several threads, and not written to."""


@dataclass(frozen=True, eq=False)
class SpectralEmbedding:
    """Map from graph rows to the embedding.

    Attributes
    ----------
    projection : ndarray of shape (n_anchors, n_components)
        Right singular vectors divided by their singular values.
    singular_values : ndarray of shape (n_components,)
        Largest first.
    """

    projection: FloatArray
    singular_values: FloatArray

    def vectors(self, graph: GraphRows | Graph) -> Any:
        """Coordinates of the rows: for the graph that was learned from, its left singular vectors."""
        return self._embed(graph, unit=False)

    def unit_rows(self, graph: GraphRows | Graph) -> Any:
        """Coordinates of the rows, scaled to unit length; rows without direction stay zero."""
        return self._embed(graph, unit=True)

    def _embed(self, graph: GraphRows | Graph, *, unit: bool) -> Any:
        rows = _as_rows(graph)
        meta = np.empty((0, self.projection.shape[1]), rows.dtype)
        return joined(rows.parts().map(_embedded, self.projection, unit).keep(), meta)


def _embedded(rows: LocalGraphRows, projection: FloatArray, unit: bool) -> npt.NDArray[Any]:
    """Coordinates of all rows, where large results are."""
    n, k = rows.shape[0], projection.shape[1]
    embedding = empty((n, k), rows.dtype)

    def embed(part: slice) -> None:
        coordinates = np.asarray(rows.block(part) @ projection)
        if unit:
            lengths = np.linalg.norm(coordinates, axis=1, keepdims=True)
            coordinates = coordinates / np.where(lengths > 0, lengths, 1.0)
        write_rows(embedding, part, coordinates)

    run_rows(embed, n, width=rows.width + k)
    return embedding


def spectral_embedding(
    graph: GraphRows | Graph, n_components: int, *, gram: FloatArray | None = None
) -> SpectralEmbedding:
    """Leading singular directions of a graph: ``n_components`` of them, fewer if the graph's rank is lower.

    Graphs on more anchors than a view has features, for one, have a rank of about that number of features. What comes
    after a sudden drop of the singular values is noise, which scaled to unit length would count as much as the rest.

    Parameters
    ----------
    graph : GraphRows, ndarray, memmap or csr_array of shape (n_samples, n_anchors)
    n_components : int
    gram : ndarray of shape (n_anchors, n_anchors), optional
        Z' Z, if it is known already: saves a pass over the rows.

    Raises
    ------
    InputError
        If the graph has NaN or infinity, or numbers near the largest that there are.
    """
    rows = _as_rows(graph)
    n, m = rows.shape
    k = min(n_components, n, m)
    found = _iterate_on_rows(rows, k) if gram is None else None
    if found is None:
        found = _from_gram(rows.parts().total(_gram) if gram is None else gram, k)
    if found is None or found[0][-1] < TRUSTED_SHARE * found[0][0]:
        found = _accurate_directions(rows, k)
    values, V = found
    rank = _numerical_rank(values, max(n, m) * np.finfo(float).eps)
    values, V = values[:rank], V[:, :rank]
    # The sign of a singular vector is arbitrary: its largest entry is made positive, so that results can be compared.
    V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
    return SpectralEmbedding(np.ascontiguousarray(V / np.where(values > 0, values, 1.0)), values)


def _numerical_rank(values: FloatArray, rounding: float) -> int:
    """Number of singular values before the first that rounding, or a drop after the second, sets apart."""
    noise = values <= rounding * values[0]
    noise[2:] |= values[2:] < LARGEST_DROP * values[1:-1]
    noise[0] = False
    return int(np.argmax(noise)) if noise.any() else len(values)


def _as_rows(graph: GraphRows | Graph) -> GraphRows:
    array: Any = graph
    if is_sparse(array):
        return ScaledRows(array.tocsr())
    return view_rows(array) if isinstance(array, np.ndarray) or is_dask(array) else graph


def _map_tall(function: Callable[[slice], T], rows: LocalGraphRows, height: int, width: int) -> Iterator[T]:
    """:func:`map_rows` with blocks of at least ``height`` rows, for functions that return m x m matrices."""
    n, m = rows.shape
    height = min(n, max(height, block_rows(width)))
    numbers = (2 * height * width + m * m) // COPIES

    def work(parts: slice) -> T:
        return function(slice(parts.start * height, min(parts.stop * height, n)))

    return map_rows(work, -(-n // height), width=numbers)


def _gram(rows: LocalGraphRows) -> FloatArray:
    """Z' Z from blocks that hold no fewer numbers than it does: adding up then takes little of the time."""
    m = rows.shape[1]

    def product(part: slice) -> FloatArray:
        return block_products([rows.block(part)])

    gram = np.zeros((m, m))
    # Overflow shows in the result.
    with np.errstate(over="ignore", invalid="ignore"):
        for part in _map_tall(product, rows, m * m // rows.width, rows.width):
            gram += part
    return gram


def _from_gram(gram: FloatArray, k: int) -> tuple[FloatArray, FloatArray] | None:
    """Largest singular values and their right singular vectors; None if squares have overflowed or vanished."""
    m = len(gram)
    size = np.sqrt(np.trace(gram))
    if not SMALLEST_NORM < size < np.inf:
        return None
    found = _iterate(gram.__matmul__, m, k, MOST_STEPS, every=3) if m >= GRAM_WIDTH * _columns(k) else None
    if found is not None:
        return found
    squares, V = scipy.linalg.eigh(gram, subset_by_index=(m - k, m - 1))
    return np.sqrt(np.maximum(squares[::-1], 0.0)), V[:, ::-1]


def _accurate_directions(rows: GraphRows, k: int) -> tuple[FloatArray, FloatArray]:
    """Singular values and right singular vectors with all their digits, from a triangular factor of the graph."""
    whole = rows.parts().total(_triangle).factor
    if not np.isfinite(whole).all():
        raise InputError("The graph to embed has NaN, infinity or numbers too large to be added up.")
    _, values, right = scipy.linalg.svd(whole, full_matrices=False)
    return values[:k], right[:k].T


@dataclass(frozen=True, eq=False)
class _Triangle:
    """Triangular factor R of some rows Q R; the sum of two is that of the rows of both."""

    factor: FloatArray

    def __add__(self, other: _Triangle) -> _Triangle:
        return _Triangle(np.asarray(np.linalg.qr(np.concatenate([self.factor, other.factor]), mode="r")))


def _triangle(rows: LocalGraphRows) -> _Triangle:
    m = rows.shape[1]

    def factor(part: slice) -> _Triangle:
        block = rows.block(part)
        dense = np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)
        return _Triangle(np.asarray(np.linalg.qr(dense, mode="r")))

    return reduce(add, _map_tall(factor, rows, 2 * m, m))


def _columns(k: int) -> int:
    """Columns that iteration works on."""
    return -(-(k + SPARE) // 8) * 8


def _iterate_on_rows(rows: GraphRows, k: int) -> tuple[FloatArray, FloatArray] | None:
    """Leading directions without the Gram matrix, where that may be faster; None if it is not."""
    n, m = rows.shape
    steps = int(ROW_SHARE * m / (STEP_COST[0] + STEP_COST[1] * _columns(k)))
    parts = rows.parts()
    # Products of sparse rows are fast, so that their Gram matrix always is. Chunks are visited as rarely as possible.
    if steps < ROW_STEPS or not isinstance(parts, Here) or is_sparse(parts.item.block(slice(0, 1))):
        return None
    local: LocalGraphRows = parts.item

    def apply(V: FloatArray) -> FloatArray:
        def product(part: slice) -> FloatArray:
            block = np.asarray(local.block(part), dtype=np.float64)
            # In this order both products run along the rows of the block, which is the fastest.
            return np.asarray((V.T @ block.T) @ block)

        return np.asarray(sum(map_rows(product, n, width=m))).T

    return _iterate(apply, m, k, min(steps, MOST_STEPS), every=1)


def _iterate(
    apply: Callable[[FloatArray], FloatArray], m: int, k: int, most_steps: int, every: int
) -> tuple[FloatArray, FloatArray] | None:
    """Leading singular values and directions by a block Krylov method on Z' Z (Musco and Musco, 2015).

    None if the angle to the true directions is not sure to become small within ``most_steps``: when the values next to
    the last wanted one are nearly as large, for one, and when the rank is lower than ``k``. ``every`` so many steps the
    angle is looked at.
    """
    c = _columns(k)
    most_steps = min(most_steps, m // (2 * c))
    basis, images = np.empty((m, c * most_steps)), np.empty((m, c * most_steps))
    inner = np.zeros((c * most_steps, c * most_steps))
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((m, c)))[0]
    bound = np.inf
    for step in range(1, most_steps + 1):
        new, so_far = slice(c * (step - 1), c * step), slice(0, c * step)
        basis[:, new], images[:, new] = V, apply(V)
        inner[so_far, new] = basis[:, so_far].T @ images[:, new]
        inner[new, so_far] = inner[so_far, new].T
        if step % every == 0:
            top = (c * step - k - 1, c * step - 1)
            squares, Y = (part[..., ::-1] for part in scipy.linalg.eigh(inner[so_far, so_far], subset_by_index=top))
            directions = basis[:, so_far] @ Y
            before, bound = bound, _angle(squares, images[:, so_far] @ Y - directions * squares)
            if bound < ANGLE:
                return np.sqrt(squares[:k]), directions[:, :k]
            if 2 * step >= most_steps and not _in_time((most_steps - step) // every, before, bound):
                return None
        V = images[:, new]
        # Once is not enough where little is left, which is then mostly rounding.
        for _ in range(2):
            V = np.linalg.qr(V - basis[:, so_far] @ (basis[:, so_far].T @ V))[0]
    return None


def _angle(squares: FloatArray, residuals: FloatArray) -> float:
    """Bound on the angle between all approximate directions but the last and the true ones (Davis and Kahan, 1970)."""
    lengths = np.linalg.norm(residuals, axis=0)
    gaps = squares[:-1] - squares[-1] - lengths[-1]
    return float(np.linalg.norm(lengths[:-1] / gaps)) if gaps[-1] > 0 else np.inf


def _in_time(turns: int, before: float, bound: float) -> bool:
    """Whether the angle becomes small in so many turns if it goes on as in the last."""
    return bound < before < np.inf and np.log(bound / ANGLE) <= turns * np.log(before / bound)


def kmeans_labels(
    embedding: FloatArray, n_clusters: int, random_state: int, *, n_init: int = 10
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Labels of k-means run until no sample moves, in as few bytes as they need."""
    result = fit_kmeans(view_rows(embedding), n_clusters, n_init=n_init, random_state=random_state, tol=0.0)
    if result.n_found < n_clusters:
        warnings.warn(
            f"Found {result.n_found} clusters instead of {n_clusters}: the fused graph has too few distinct rows.",
            stacklevel=2,
        )
    return result.labels


def spectral_labels(graph: GraphRows | Graph, n_clusters: int, random_state: int) -> IndexArray:
    """Cluster the rows of a graph."""
    vectors = spectral_embedding(graph, n_clusters).unit_rows(graph)
    return kmeans_labels(vectors, n_clusters, random_state).astype(np.intp)
