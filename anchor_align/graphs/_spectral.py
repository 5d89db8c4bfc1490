"""Spectral clustering of a fused graph: leading left singular vectors, unit rows, k-means.

The left singular vectors of the graph Z (n x m) are the leading eigenvectors of Z Z', the affinity of the samples. They
follow from the m x m matrix Z' Z: with its eigenvectors V and eigenvalues s^2, U = Z V / s. The map V / s also embeds
new samples. Rows of Z are visited one block at a time: only the embedding grows with n.

With ``column_scaling`` tau, column j of Z is first divided by sqrt(c_j + tau c), where c_j is the sum of its absolute
entries and c their mean. For tau = 0 this is the normalised cut of the graph between samples and anchors, in which an
anchor with few samples gets a direction of its own; tau > 0 prevents that. The map V / s then contains the divisors, so
that new samples need no other step.

With more ``directions`` than clusters, each is multiplied by its singular value relative to the second; the first,
which is almost the same for all samples, counts as much as the second. If the last of k directions is arbitrary,
because the next singular value is almost as large, both then count almost equally.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.linalg

from ..arrays import FloatArray, Graph, IndexArray, is_sparse
from ..blocks import COPIES, Here, Rows, ScaledRows, block_rows, empty, map_rows, run_rows, write_rows
from ..checks import check_number
from ..errors import InputError
from ..kmeans import fit_kmeans
from ._gram_products import block_products
from ._grams import SMALLEST_NORM

T = TypeVar("T")

# The Gram matrix squares the singular values: below this fraction of the largest, half of their digits are lost.
TRUSTED_FRACTION = 1e-4
# Singular values of real graphs fall by at most a factor of two from one to the next; at the rank, by ten or more.
LARGEST_DROP = 0.1
ANGLE = 1e-6  # largest angle between the directions that iteration finds and the true ones
# Least number of additional random columns. More columns give fewer but slower steps; BLAS prefers multiples of eight.
SPARE = 6
# Iteration takes 8 to 24 steps on real graphs. It is faster than a decomposition of a Gram matrix that is GRAM_WIDTH
# times wider than its columns, unless it needs more than MOST_STEPS.
GRAM_WIDTH, MOST_STEPS = 64, 24
# One step on c columns over the rows takes as long as 110 + 4.5 c columns of the Gram matrix. It is tried if 12 steps
# take at most 0.6 of the time of the Gram matrix; most real graphs need more than that.
STEP_COST = (110.0, 4.5)
ROW_STEPS, ROW_FRACTION = 12, 0.6


@dataclass(frozen=True, eq=False)
class SpectralEmbedding:
    """Map from graph rows to the embedding."""

    projection: (
        FloatArray  # right singular vectors over their singular values, scaled and weighted: anchors x directions
    )
    singular_values: FloatArray  # largest first

    def vectors(self, graph: Rows | Graph) -> Any:
        """Coordinates of the rows. For the graph of the fit, unscaled and unweighted, the left singular vectors."""
        return self._embed(graph, unit=False)

    def unit_rows(self, graph: Rows | Graph) -> Any:
        """Coordinates of the rows, scaled to unit length; zero rows stay zero."""
        return self._embed(graph, unit=True)

    def _embed(self, graph: Rows | Graph, *, unit: bool) -> Any:
        rows = _as_rows(graph)
        meta = np.empty((0, self.projection.shape[1]), rows.dtype)
        return rows.parts().map(_embedded, self.projection, unit).keep().joined(meta)


def _embedded(rows: Rows, projection: FloatArray, unit: bool) -> npt.NDArray[Any]:
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
    graph: Rows | Graph,
    n_clusters: int,
    *,
    column_scaling: float | None = None,
    directions: float = 1.0,
    gram: FloatArray | None = None,
) -> SpectralEmbedding:
    """Leading singular directions of a graph: one for each cluster, fewer if the rank of the graph is lower.

    For example, a graph with more anchors than features has a rank of about the number of features. Directions after a
    sudden drop of the singular values are noise, but would count as much as the others once scaled to unit length.
    ``gram`` is Z' Z if it is known; it saves a pass. ``column_scaling``, None for no scaling, costs a pass. More than
    one of the ``directions`` for each cluster are weighted by their singular values. Raises an InputError if the graph
    is not finite.
    """
    rows = _as_rows(graph)
    n, m = rows.shape
    k = count_directions(n_clusters, directions, min(n, m))
    factors = np.ones(m)
    if column_scaling is not None:
        factors = _column_factors(rows.parts().total(_absolute_sums), check_number("column_scaling", column_scaling))
    found = _iterate_on_rows(rows, k, factors) if gram is None else None
    if found is None:
        gram = rows.parts().total(_gram) if gram is None else gram
        found = _from_gram(gram if column_scaling is None else gram * np.outer(factors, factors), k)
    if found is None or found[0][-1] < TRUSTED_FRACTION * found[0][0]:
        found = _accurate_directions(rows, k, factors)
    values, V = found
    # The rank ends before the first singular value that is rounding, or that follows a sudden drop after the second.
    noise = values <= max(n, m) * np.finfo(float).eps * values[0]
    noise[2:] |= values[2:] < LARGEST_DROP * values[1:-1]
    noise[0] = False
    rank = int(np.argmax(noise)) if noise.any() else len(values)
    values, V = values[:rank], V[:, :rank]
    # The sign of a singular vector is arbitrary: its largest entry is made positive, to make results comparable.
    V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
    V = factors[:, None] * V / np.where(values > 0, values, 1.0)
    if directions > 1 and len(values) > 1:
        V = V * np.minimum(values / values[1], 1.0)
    return SpectralEmbedding(np.ascontiguousarray(V), values)


def count_directions(n_clusters: int, directions: float, most: int) -> int:
    """Number of directions of the embedding: ``directions`` for each cluster, rounded down, and not above ``most``."""
    return int(min(check_number("directions", directions, least=1.0) * n_clusters, most))


def _absolute_sums(rows: Rows) -> FloatArray:
    def add_up(part: slice) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity are reported by the decomposition
            return np.asarray(abs(rows.block(part)).sum(axis=0, dtype=np.float64)).ravel()

    return np.asarray(sum(map_rows(add_up, rows.shape[0], width=2 * rows.width)))


def _column_factors(sums: FloatArray, column_scaling: float) -> FloatArray:
    """Factors of the columns, relative to that of the largest sum: only ratios matter. Empty columns need none."""
    size = float(sums.max())
    if not 0 < size < np.inf:
        return np.ones(len(sums))
    sums = sums / size
    divisors = np.sqrt(sums + column_scaling * sums.mean())
    factors = np.divide(
        np.sqrt(1.0 + column_scaling * sums.mean()), divisors, where=divisors > 0, out=np.ones(len(sums))
    )
    return np.asarray(factors)


def _as_rows(graph: Rows | Graph) -> Rows:
    rows: Any = graph
    return rows if hasattr(rows, "parts") else ScaledRows(rows.tocsr() if is_sparse(rows) else rows)


def _map_tall(function: Callable[[slice], T], rows: Rows, height: int, width: int) -> Iterator[T]:
    """:func:`map_rows` with blocks of at least ``height`` rows, for functions that return m x m matrices."""
    n, m = rows.shape
    height = min(n, max(height, block_rows(width)))
    numbers = (2 * height * width + m * m) // COPIES

    def work(parts: slice) -> T:
        return function(slice(parts.start * height, min(parts.stop * height, n)))

    return map_rows(work, -(-n // height), width=numbers)


def _gram(rows: Rows) -> FloatArray:
    """Z' Z from blocks that have at least as many numbers as it has: then the additions take little time."""
    m = rows.shape[1]
    gram = np.zeros((m, m))
    # Overflow is detected in the result.
    with np.errstate(over="ignore", invalid="ignore"):
        tall = _map_tall(lambda part: block_products([rows.block(part)]), rows, m * m // rows.width, rows.width)
        for product in tall:
            gram += product
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


def _accurate_directions(rows: Rows, k: int, factors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Singular values and right singular vectors with all digits, from a triangular factor of the graph."""
    whole = rows.parts().total(_triangle).factor * factors
    if not np.isfinite(whole).all():
        raise InputError("The graph to embed has NaN, infinity or numbers too large to be added.")
    _, values, right = scipy.linalg.svd(whole, full_matrices=False)
    return values[:k], right[:k].T


@dataclass(frozen=True, eq=False)
class _Triangle:
    """Triangular factor R of some rows Q R; the sum of two objects is the factor of the rows of both."""

    factor: FloatArray

    def __add__(self, other: _Triangle) -> _Triangle:
        return _Triangle(np.asarray(np.linalg.qr(np.concatenate([self.factor, other.factor]), mode="r")))


def _triangle(rows: Rows) -> _Triangle:
    m = rows.shape[1]

    def factor(part: slice) -> _Triangle:
        block = rows.block(part)
        dense = np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)
        return _Triangle(np.asarray(np.linalg.qr(dense, mode="r")))

    return reduce(add, _map_tall(factor, rows, 2 * m, m))


def _columns(k: int) -> int:
    return -(-(k + SPARE) // 8) * 8


def _iterate_on_rows(rows: Rows, k: int, factors: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Leading directions without the Gram matrix if that may be faster, else None."""
    n, m = rows.shape
    steps = int(ROW_FRACTION * m / (STEP_COST[0] + STEP_COST[1] * _columns(k)))
    parts = rows.parts()
    # The Gram matrix of sparse rows is always fast. Chunks are visited as rarely as possible.
    if steps < ROW_STEPS or not isinstance(parts, Here) or is_sparse(parts.item.block(slice(0, 1))):
        return None
    local: Rows = parts.item

    def apply(V: FloatArray) -> FloatArray:
        V = factors[:, None] * V

        def product(part: slice) -> FloatArray:
            block = np.asarray(local.block(part), dtype=np.float64)
            # In this order both products run along the rows of the block, which is fastest.
            return np.asarray((V.T @ block.T) @ block)

        return np.asarray(factors[:, None] * np.asarray(sum(map_rows(product, n, width=m))).T)

    return _iterate(apply, m, k, min(steps, MOST_STEPS), every=1)


def _iterate(
    apply: Callable[[FloatArray], FloatArray], m: int, k: int, most_steps: int, every: int
) -> tuple[FloatArray, FloatArray] | None:
    """Leading singular values and directions by a block Krylov method on Z' Z (Musco and Musco, 2015).

    None if the angle to the true directions may stay large for ``most_steps``, for example because the next singular
    values are nearly as large, or the rank is lower than ``k``. The angle is computed ``every`` few steps.
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
            # Stop if the angle would not become small in time, at the rate of the last turn.
            turns, falls = (most_steps - step) // every, bound < before < np.inf
            in_time = falls and np.log(bound / ANGLE) <= turns * np.log(before / bound)
            if 2 * step >= most_steps and not in_time:
                return None
        V = images[:, new]
        # Twice, because a small remainder is mostly rounding after the first time.
        for _ in range(2):
            V = np.linalg.qr(V - basis[:, so_far] @ (basis[:, so_far].T @ V))[0]
    return None


def _angle(squares: FloatArray, residuals: FloatArray) -> float:
    """Bound on the angle between all approximate directions but the last and the true ones (Davis and Kahan, 1970)."""
    lengths = np.linalg.norm(residuals, axis=0)
    gaps = squares[:-1] - squares[-1] - lengths[-1]
    return float(np.linalg.norm(lengths[:-1] / gaps)) if gaps[-1] > 0 else np.inf


def kmeans_labels(
    embedding: FloatArray, n_clusters: int, random_state: int, *, n_init: int = 10
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Labels of k-means that runs until no sample moves, in the smallest integer type."""
    result = fit_kmeans(ScaledRows(embedding), n_clusters, n_init=n_init, random_state=random_state, tol=0.0)
    if result.n_found < n_clusters:
        warnings.warn(
            f"Found {result.n_found} clusters instead of {n_clusters}: the fused graph has too few distinct rows.",
            stacklevel=2,
        )
    return result.labels


def spectral_labels(
    graph: Rows | Graph,
    n_clusters: int,
    random_state: int,
    *,
    column_scaling: float | None = None,
    directions: float = 1.0,
) -> IndexArray:
    embedding = spectral_embedding(graph, n_clusters, column_scaling=column_scaling, directions=directions)
    vectors = embedding.unit_rows(graph)
    return kmeans_labels(vectors, n_clusters, random_state).astype(np.intp)
