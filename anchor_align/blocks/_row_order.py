"""An order of the rows that depends on their content and not on their places.

Whatever is drawn from the rows (first centres of k-means, samples, random starts) is drawn along this order. The same
rows in another order, in a file or in chunks therefore give the same result.

The order is that of the products with a fixed vector. Rounding exchanges only rows whose products are equal to the last
digits. A hash of the content would not do: it is another one if the last digit of a row differs, as it does in an
embedding that was computed from the same rows in another order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from ..arrays import BoolArray, FloatArray, IndexArray
from ._column_stats import ColumnStats, block_stats
from ._map_blocks import map_rows, run_rows
from ._scaled_rows import ScaledRows

BLOCK = 2**18  # rows whose places are found at once
# Products that differ by less, relative to their mean, are those of a constant view: they differ by rounding.
ROUNDING = 1e-12


def row_order(*sources: ScaledRows, mask: BoolArray | None = None, places: IndexArray | None = None) -> IndexArray:
    """Numbers of the rows, in an order that depends on their content only; equal rows are in the order of their places.

    Parameters
    ----------
    *sources : ScaledRows
        Views of the same samples; the order depends on all of them.
    mask : ndarray of bool of shape (n_views, n_rows), optional
        False where a sample is missing.
    places : ndarray of int, optional
        Return only the rows at these places of the order. The whole order of rows on a cluster stays there.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align.blocks import ScaledRows, row_order
    >>> X = np.array([[3.0, 1.0], [0.0, 2.0], [5.0, 4.0]])
    >>> again = X[[2, 0, 1]]
    >>> bool((X[row_order(ScaledRows(X))] == again[row_order(ScaledRows(again))]).all())
    True
    """
    if not sources[0].engine.distributed:
        # One view at a time: the products of all views together may need more memory than the views.
        views = (_along_directions((source,), view)[0][0] for view, source in enumerate(sources))
        values = next(views) if len(sources) == 1 and mask is None else _balanced_sum(views, mask)
        return _rows_of([values], places)
    # Nothing is missing on a cluster. One number for each row goes to one worker, whatever the number of views.
    first, *others = (source.parts() for source in sources)
    parts = first.zip(*others)
    sizes = _spreads(parts.total(_moments)) if others else np.ones(1)
    order: IndexArray = parts.total(_balanced, sizes, then=partial(_rows_of, places=places))
    return order


def content_order(matrices: Sequence[Any], mask: BoolArray | None = None) -> IndexArray:
    """Numbers of the samples of several views, in an order that depends on their content only.

    The range of every feature counts as one. Otherwise a feature with large numbers, such as a time in nanoseconds,
    would leave nothing of the others but rounding.
    """
    present = [None] * len(matrices) if mask is None else mask
    return row_order(*map(_with_equal_ranges, matrices, present), mask=mask)


def _with_equal_ranges(X: Any, present: BoolArray | None) -> ScaledRows:
    if present is not None and not present.any():
        return ScaledRows(X)
    stats = ScaledRows(X).stats() if present is None else _stats_of_present(ScaledRows(X), present)
    with np.errstate(over="ignore"):
        width = stats.high - stats.low
    return ScaledRows(X, centre=stats.low, divisor=np.where(width > 0, width, np.inf), known=stats)


def _stats_of_present(rows: ScaledRows, present: BoolArray) -> ColumnStats:
    """Statistics of the samples that a view has: the others may have anything."""
    at = np.flatnonzero(present)
    found = map_rows(lambda part: block_stats(rows.block(at[part])), len(at), width=2 * rows.width)
    return reduce(add, found)


def spread_places(n_rows: int, size: int, rng: np.random.Generator) -> IndexArray:
    """A random sample of places, spread evenly: one from each of ``size`` parts."""
    edges = np.arange(size + 1) * n_rows // size
    return np.asarray(edges[:-1] + (rng.random(size) * np.diff(edges)).astype(np.intp))


def sorting_direction(width: int, view: int = 0) -> FloatArray:
    """The vector whose products with rows, or with centres, order them.

    Views of equal width have different vectors: otherwise products of different samples could cancel or be equal.
    """
    return np.random.default_rng([width, view] if view else width).standard_normal(width)


def _along_directions(sources: tuple[ScaledRows, ...], first_view: int = 0) -> list[FloatArray]:
    """Products of all rows of a part, views x rows; a list, so that sums over parts join them."""
    n = sources[0].shape[0]
    vectors = [sorting_direction(rows.shape[1], view) * rows.factor for view, rows in enumerate(sources, first_view)]
    values = np.empty((len(sources), n))

    def multiply(part: slice) -> None:
        with np.errstate(all="ignore"):  # rows that are not finite are reported where they are used
            values[:, part] = [rows.block(part) @ vector for rows, vector in zip(sources, vectors, strict=True)]

    run_rows(multiply, n, width=2 * sum(rows.shape[1] for rows in sources))
    return [values]


def _moments(sources: tuple[ScaledRows, ...]) -> list[FloatArray]:
    """Number, mean and sum of squared deviations of the products of a part, for every view."""
    (values,) = _along_directions(sources)
    numbers = np.full(len(values), values.shape[1])
    with np.errstate(all="ignore"):
        mean = values.sum(axis=1) / np.maximum(numbers, 1)
        return [np.array([numbers, mean, ((values - mean[:, None]) ** 2).sum(axis=1)])]


def _spreads(moments: list[FloatArray]) -> FloatArray:
    """Standard deviation of each view's products over all parts, over its weight; infinite for a constant view."""
    numbers, means, squares = np.stack(moments, axis=1)
    with np.errstate(all="ignore"):
        mean = (numbers * means).sum(axis=0) / numbers.sum(axis=0)
        spread = np.sqrt((squares + numbers * (means - mean) ** 2).sum(axis=0) / numbers.sum(axis=0))
        weights = np.array([_view_weight(view) for view in range(len(spread))])
        return np.where(spread > ROUNDING * np.abs(mean), spread / weights, np.inf)


def _view_weight(view: int) -> float:
    """Weight of a view's products in the order. With equal weights, sums over views of a single feature often tie."""
    return float(np.random.default_rng(view).uniform(0.5, 1.0))


def _balanced(sources: tuple[ScaledRows, ...], sizes: FloatArray) -> list[FloatArray]:
    """Sum of the views' products of a part, each over its size; a list, so that sums over parts join them."""
    (values,) = _along_directions(sources)
    with np.errstate(all="ignore"):
        values /= sizes[:, None]
    return [np.asarray(sum(values[1:], start=values[0]))]


def _balanced_sum(views: Iterable[FloatArray], mask: BoolArray | None) -> FloatArray:
    """Weighted sum of the views' products, each over its standard deviation, in their place.

    Missing samples and constant views count as zero.
    """
    total: FloatArray | None = None
    for view, own in enumerate(views):
        with np.errstate(all="ignore"):
            present = own if mask is None else own[mask[view]]
            clear = len(present) > 0 and present.std() > ROUNDING * abs(present.mean())
            own /= present.std() / _view_weight(view) if clear else np.inf
            if mask is not None:
                own[~mask[view]] = 0.0
            total = own if total is None else np.add(total, own, out=total)
    assert total is not None
    return total


def _rows_of(values: list[FloatArray], places: IndexArray | None) -> IndexArray:
    """Rows by their values, which are in parts: all of them, or those at some places of the order."""
    return np.argsort(np.concatenate(values), kind="stable") if places is None else _rows_at(values, places)


def _rows_at(parts: list[FloatArray], places: IndexArray) -> IndexArray:
    """What a stable argsort of all parts has at some places, with one copy of the values and no other long array."""
    if not len(places):
        return np.empty(0, dtype=np.intp)
    blocks = [part[first : first + BLOCK] for part in parts for first in range(0, len(part), BLOCK)]
    values = np.concatenate(parts)
    wanted, inverse = np.unique(places, return_inverse=True)
    values.sort()  # in its place; a partition at thousands of places takes longer
    found, number = np.unique(values[wanted], return_inverse=True)
    del values
    counts = np.zeros(len(found) + 1, dtype=np.intp)
    rows, numbers, first = [], [], 0
    for block in blocks:
        reached = np.searchsorted(found, block, side="right")
        counts += np.bincount(reached, minlength=len(counts))
        nearest = found[reached - 1]
        equal = np.flatnonzero((nearest == block) | (np.isnan(nearest) & np.isnan(block)))
        rows.append(first + equal)
        numbers.append(reached[equal] - 1)
        first += len(block)
    # Equal rows are in the order of their places, after all rows that are less.
    at = np.concatenate(numbers)
    groups = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[groups], np.arange(len(found)))
    chosen = groups[starts[number] + wanted - np.cumsum(counts)[number]]
    return np.asarray(np.concatenate(rows)[chosen][inverse])
