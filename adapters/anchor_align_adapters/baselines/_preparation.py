"""Common steps of the baselines: views of equal weight, neighbours, the memory budget, k-means of an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from anchor_align import NotEnoughMemoryError
from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import (
    ScaledRows,
    available_memory,
    check_size,
    readable_size,
    run_rows,
    scaled_rows,
    square_norms,
    true_rows,
)
from anchor_align.kmeans import fit_kmeans

from .._scaling import scale_views


def balanced_views(views: Sequence[Any], scale: str | None) -> list[ScaledRows]:
    """Scaled views, each divided by the square root of its total variance; None leaves the views as they are."""
    scaled, _ = scale_views(views, scale)
    if scale is None:
        return scaled
    balanced = []
    for X in scaled:
        spread = float(np.sqrt(X.stats().variance.sum())) or 1.0
        divisor = np.full(X.shape[1], spread) if X.divisor is None else X.divisor * spread
        balanced.append(replace(X, divisor=divisor))
    return balanced


def unit_length(X: Any) -> Any:
    """Samples of length one; samples of zeros stay zero."""
    rows, _ = scaled_rows(ScaledRows(X, unit=True), slice(None))
    return rows / np.sqrt(X.shape[1])


def square_norms_of(X: ScaledRows) -> FloatArray:
    """Squared length of every scaled row."""
    norms = np.empty(X.shape[0])

    def write(rows: slice) -> None:
        block, shift = scaled_rows(X, rows)
        if is_sparse(block) and not shift.any():
            norms[rows] = np.asarray(block.multiply(block).sum(axis=1)).ravel()
        else:
            norms[rows] = square_norms(true_rows(X, rows))

    run_rows(write, X.shape[0], width=2 * X.shape[1])
    return norms


def nearest_samples(X: ScaledRows, n_neighbours: int) -> tuple[IndexArray, FloatArray]:
    """The nearest other samples of every sample, nearest first, and their squared distances.

    A sample is left out by its number, so that its duplicates are neighbours. Of equal distances the lower number is
    first.
    """
    n, d = X.shape
    X, _ = X.centred()
    norms = square_norms_of(X)
    everyone = true_rows(X, slice(None)) if not X.sparse else None
    near, distances = np.empty((n, n_neighbours), dtype=np.intp), np.empty((n, n_neighbours))

    def find(rows: slice) -> None:
        if everyone is not None:
            products = everyone[rows] @ everyone.T
        else:
            block, shift = scaled_rows(X, rows)
            whole, _ = scaled_rows(X, slice(None))
            assert not shift.any(), "sparse views are not centred"
            products = (block @ whole.T).toarray()
        squares = np.maximum(norms[rows, None] + norms - 2.0 * products, 0.0)
        each = np.arange(rows.stop - rows.start)
        squares[each, rows.start + each] = np.inf
        # Differences of rounding would decide between equal distances.
        unit = np.finfo(X.dtype).eps * 64.0 * (norms[rows, None] + norms.mean())
        squares = np.round(squares / np.where(unit > 0, unit, 1.0)) * np.where(unit > 0, unit, 1.0)
        last = n_neighbours - 1
        within = squares <= np.partition(squares, last, axis=1)[:, [last]]
        order = np.argsort(np.where(within, squares, np.inf), axis=1, kind="stable")[:, :n_neighbours]
        near[rows], distances[rows] = order, np.take_along_axis(squares, order, axis=1)

    run_rows(find, n, width=4 * n + d)
    return near, distances


def check_memory(name: str, needed: int, memory: object) -> None:
    """Refuse work that needs more memory than the user allows, or than is free."""
    allowed = check_size("memory", memory)
    limit = available_memory() if allowed is None else allowed
    if limit is not None and needed > limit:
        there = f"{readable_size(limit)} {'were given' if allowed is not None else 'are available'}"
        raise NotEnoughMemoryError(
            f"Baseline {name!r} needs {readable_size(needed)} of memory beyond the views; {there}. Use fewer samples."
        )


def cluster_rows(
    embedding: npt.NDArray[Any], n_clusters: int, random_state: int, *, n_init: int = 10
) -> npt.NDArray[np.intp]:
    """Labels of k-means on the rows of an embedding."""
    rows = ScaledRows(np.ascontiguousarray(embedding))
    found = fit_kmeans(rows, n_clusters, n_init=n_init, random_state=random_state % 2**32, tol=0.0)
    return found.labels.astype(np.intp)
