"""An order of the rows that depends on their content and not on their places.

Whatever is drawn from the rows (first centres of k-means, samples, random starts) is drawn along this order. The same
rows in another order, in a file or in chunks therefore give the same result.

The order is that of the products with a fixed vector. Rounding exchanges only rows whose products are equal to the last
digits. A hash of the content would not do: it is another one if the last digit of a row differs, as it does in an
embedding that was computed from the same rows in another order.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IndexArray
from ._map_blocks import run_rows
from ._scaled_rows import ScaledRows


def row_order(*sources: ScaledRows, mask: BoolArray | None = None) -> IndexArray:
    """Numbers of all rows, in an order that depends on their content only; equal rows are in the order of their places.

    Parameters
    ----------
    *sources : ScaledRows
        Views of the same samples; the order depends on all of them.
    mask : ndarray of bool of shape (n_views, n_rows), optional
        False where a sample is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align.blocks import ScaledRows, row_order
    >>> X = np.array([[3.0, 1.0], [0.0, 2.0], [5.0, 4.0]])
    >>> again = X[[2, 0, 1]]
    >>> bool((X[row_order(ScaledRows(X))] == again[row_order(ScaledRows(again))]).all())
    True
    """
    total = np.zeros(sources[0].shape[0])
    for view, source in enumerate(sources):
        values = np.concatenate(source.parts().total(_along_direction))
        present = values if mask is None else values[mask[view]]
        with np.errstate(all="ignore"):  # rows that are not finite are reported where they are used
            values = values / (float(present.std()) or 1.0) if len(sources) > 1 and len(present) else values
        total += values if mask is None else np.where(mask[view], values, 0.0)
    return np.argsort(total, kind="stable")


def spread_rows(order: IndexArray, size: int, rng: np.random.Generator) -> IndexArray:
    """A random sample of rows, spread evenly over an order of them: one from each of ``size`` parts."""
    edges = np.arange(size + 1) * len(order) // size
    return order[edges[:-1] + (rng.random(size) * np.diff(edges)).astype(np.intp)]


def sorting_direction(width: int) -> FloatArray:
    """The vector whose products with rows, or with centres, order them."""
    return np.random.default_rng(width).standard_normal(width)


def _along_direction(rows: ScaledRows) -> list[FloatArray]:
    """Products of all rows of a part; a list, so that sums over parts join them."""
    n, d = rows.shape
    vector = sorting_direction(d) * rows.factor
    values = np.empty(n)

    def multiply(part: slice) -> None:
        with np.errstate(all="ignore"):
            values[part] = rows.block(part) @ vector

    run_rows(multiply, n, width=2 * d)
    return [values]
