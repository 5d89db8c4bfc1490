"""K-means anchors of one view, from all its samples or from a part of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from anchor_align import InputError, view_seeds
from anchor_align.arrays import FloatArray
from anchor_align.blocks import (
    ScaledRows,
    remember,
    row_order,
    scaled_rows,
    sorting_direction,
    spread_places,
    true_rows,
)
from anchor_align.checks import check_choice, check_whole_number, is_iterable
from anchor_align.errors import view_name
from anchor_align.kmeans import fit_kmeans

from ._scaling import scales_of_views

KINDS = ("full", "minibatch", "sample")
# Samples for each anchor, and least number; benchmarks/speed/anchors.py measures the loss against all samples.
SAMPLES_PER_ANCHOR, LEAST_SAMPLES = 500, 20_000
BATCHES = 100
MOST_ROUNDS = 300


def anchors_of_views(
    views: Sequence[ScaledRows],
    n_anchors: Sequence[int],
    *,
    scale: Any,
    n_init: int,
    random_state: int,
    kind: str,
    max_iter: int = MOST_ROUNDS,
) -> list[FloatArray]:
    """K-means anchors of every view, each with its own seed and number of anchors.

    A study that varies other settings of a method computes them once for every ``scale`` of the views.
    """
    n_init = check_whole_number("n_init", n_init, least=1)
    max_iter = check_whole_number("max_iter", max_iter, least=1)
    seeds, scales = view_seeds(random_state, len(views)), scales_of_views(scale, len(views))
    found = []
    for view, (X, m, seed, own) in enumerate(zip(views, n_anchors, seeds, scales, strict=True)):
        find = partial(
            kmeans_anchors,
            X,
            m,
            n_init=n_init,
            random_state=seed,
            view=view,
            kind=kind,
            max_iter=max_iter,
            unit=own == "unit",
        )
        found.append(remember(("k-means anchors", own, m, n_init, kind, max_iter, view, seed), find))
    return found


def kmeans_anchors(
    source: ScaledRows,
    n_anchors: int,
    *,
    n_init: int,
    random_state: int,
    view: int,
    kind: str = "full",
    max_iter: int = MOST_ROUNDS,
    unit: bool = False,
) -> FloatArray:
    """Centres of k-means on the rows of a view, with a warning if it has fewer distinct samples.

    The warning names the scale if samples have ``unit`` length: those that differ by length only became equal.
    Their order depends only on the clusters and the seed. Rounding decides between equally good runs, which have
    different orders.
    """
    check_choice("kmeans", kind, KINDS)
    # Views may resemble each other; the orders of their anchors must not.
    shuffled = np.random.default_rng(random_state).permutation(n_anchors)
    if kind == "minibatch":
        centres = _minibatch_centres(source, n_anchors, random_state)
        distinct = len(np.unique(centres, axis=0))
    else:
        rows = source if kind == "full" else _sample(source, n_anchors, random_state)
        found = fit_kmeans(rows, n_anchors, n_init=n_init, random_state=random_state, max_iter=max_iter)
        centres, distinct = found.centres, found.n_found
    if distinct < n_anchors:
        warnings.warn(
            f"View {view_name(view)} has only {distinct} distinct samples for {n_anchors} anchors: "
            "some anchors coincide."
            + " Under scale='unit', samples that differ by length only are equal; scale='standard' keeps them apart."
            * unit,
            stacklevel=2,
        )
    in_order = centres[np.argsort(centres @ sorting_direction(centres.shape[1]), kind="stable")]
    return np.asarray(in_order[shuffled])


def _sample(source: ScaledRows, n_anchors: int, random_state: int) -> ScaledRows:
    n = source.shape[0]
    size = max(LEAST_SAMPLES, SAMPLES_PER_ANCHOR * n_anchors)
    if n <= size:
        return source
    places = spread_places(n, size, np.random.default_rng(random_state))
    scaled, shift = scaled_rows(source, row_order(source, places=places))
    return ScaledRows(scaled, centre=shift if shift.any() else None)


def _minibatch_centres(source: ScaledRows, n_anchors: int, random_state: int) -> FloatArray:
    from sklearn.cluster import MiniBatchKMeans  # takes longer to import than a small fit

    n = source.shape[0]
    size = min(n, max(LEAST_SAMPLES, SAMPLES_PER_ANCHOR * n_anchors) // 10)
    rng = np.random.default_rng(random_state)
    batches = row_order(source, places=np.concatenate([spread_places(n, size, rng) for _ in range(BATCHES)]))
    kmeans = MiniBatchKMeans(n_anchors, batch_size=size, random_state=random_state % 2**32, n_init=1)
    for rows in batches.reshape(BATCHES, size):
        kmeans.partial_fit(true_rows(source, rows).astype(source.dtype))
    return np.asarray(kmeans.cluster_centers_, dtype=np.float64)


def check_n_anchors(n_anchors: int | Sequence[int], views: Sequence[Any]) -> list[int]:
    """Number of anchors of every view, at most the number of samples."""
    alike = not is_iterable(n_anchors)
    counts: list[Any] = [n_anchors] * len(views) if alike else list(n_anchors)  # type: ignore[arg-type]
    if len(counts) != len(views):
        raise InputError(f"n_anchors has {len(counts)} numbers for {len(views)} views; expected one for each.")
    counts = [check_whole_number("n_anchors", m) for m in counts]
    for view, (m, X) in enumerate(zip(counts, views, strict=True)):
        n = X.shape[0]
        if not 1 <= m <= n:
            of_view = "" if len({X.shape[0] for X in views}) == 1 else f" of view {view_name(view)}"
            raise InputError(f"n_anchors must be between 1 and the number of samples{of_view}, {n}; got {m}.")
    return counts
