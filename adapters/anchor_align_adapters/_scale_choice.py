"""A scale for each view, chosen without labels: unit rows, unless standard features agree clearly better.

A data set often mixes counts and measurements. Every view starts with unit rows. The view whose agreement with the
others (linear CKA of the graphs) gains most from another scale is changed, and again, as long as a gain is clear. All
views together may change, too. A scale that leaves many anchors without samples is not taken: on sparse views, standard
features make one giant cluster and a few outliers, which agree almost perfectly. Compared are graphs of a bounded
sample of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align import GramMatrices, evenness, pair_agreement, view_seeds
from anchor_align.arrays import BoolArray, FloatArray, IndexArray
from anchor_align.blocks import ScaledRows, row_order, scaled_rows
from anchor_align.kmeans import fit_kmeans

from ._nearest_anchors import distinct_anchors, graph_on_distinct
from ._scaling import learn_scaler

MOST_ROWS = 1000
ROWS_PER_ANCHOR, ROUNDS = 3, 30
CLEARLY = (
    1.05  # least gain of a view's agreement for another scale; benchmarks/paper/scale_choice.py has the measurements
)
NO_AGREEMENT = 1e-9
LEAST_IN_USE = 0.5  # least evenness of the anchors' column sums, as a part of that of the first scale


def choose_scales(
    views: Sequence[Any],
    scales: Sequence[str],
    n_anchors: Sequence[int],
    n_neighbours: int,
    random_state: int,
    mask: BoolArray | None = None,
) -> tuple[list[str], dict[str, list[float]]]:
    """The scale of each view, and each view's agreement with the others in every scale, those at their chosen scales.

    The first scale is the default.
    """
    n, n_views = views[0].shape[0], len(views)
    if n_views == 1:
        return [scales[0]], {}
    places = np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(np.intp)
    rows = row_order(*map(ScaledRows, views), mask=mask, places=places)
    present = np.ones((n_views, len(rows)), dtype=bool) if mask is None else mask[:, rows]
    graphs: list[list[sp.csr_array]] = [[] for _ in scales]
    seeds = view_seeds(random_state, n_views)
    for view, (X, m, seed, kept) in enumerate(zip(views, n_anchors, seeds, present, strict=True)):
        sample = scaled_rows(ScaledRows(X), rows[kept])[0]
        for of_scale, scale in zip(graphs, scales, strict=True):
            Z = sp.csr_array((0, 1))  # of a view that has none of these samples
            if kept.any():
                Z = _graph(learn_scaler(sample, scale, view)(sample), m, n_neighbours, seed)
            # Samples that the view lacks have rows of zeros.
            lengths = np.zeros(len(rows), dtype=np.intp)
            lengths[kept] = np.diff(Z.indptr)
            indptr = np.concatenate([[0], np.cumsum(lengths)])
            of_scale.append(sp.csr_array((Z.data, Z.indices, indptr), shape=(len(rows), Z.shape[1])))
    in_use = np.array([[evenness(Z.sum(axis=0)) for Z in of_scale] for of_scale in graphs])
    grams = GramMatrices.from_graphs(
        [Z for of_scale in graphs for Z in of_scale], mask=None if mask is None else np.tile(present, (len(scales), 1))
    )
    return scales_by_agreement(scales, pair_agreement(grams), in_use)


def _graph(source: ScaledRows, n_anchors: int, n_neighbours: int, seed: int) -> sp.csr_array:
    """Graph of a sample on anchors of its own."""
    m = min(n_anchors, max(source.shape[0] // ROWS_PER_ANCHOR, 1))
    A = fit_kmeans(source, m, n_init=1, random_state=seed, max_iter=ROUNDS).centres
    block, shift = scaled_rows(source, slice(None))
    return graph_on_distinct(block, A + shift, distinct_anchors(A), n_neighbours, np.float64)


def scales_by_agreement(
    names: Sequence[str], pairs: FloatArray, in_use: FloatArray
) -> tuple[list[str], dict[str, list[float]]]:
    """Scales and agreements; ``pairs`` has all views in the first scale, then all in the second, and so on.

    Views without a common sample, for which it has NaN, do not agree.
    """
    pairs = np.nan_to_num(pairs)
    n_views = in_use.shape[1]
    allowed = in_use >= LEAST_IN_USE * in_use[0]

    def agreements(scales: IndexArray) -> FloatArray:
        """Scales x views: of a view in a scale with the other views in theirs."""
        with_all = pairs.reshape(len(names), n_views, len(names), n_views)[:, :, scales, np.arange(n_views)]
        with_all[:, np.arange(n_views), np.arange(n_views)] = 0.0
        return np.asarray(with_all.sum(axis=2) / (n_views - 1))

    def climbed(scales: IndexArray) -> IndexArray:
        """One view after the other changes its scale. It ends: every change raises the sum of the agreements."""
        while True:
            found = agreements(scales)
            own = found[scales, np.arange(n_views)]
            # From no agreement at all to some is the largest gain.
            gains = np.where(allowed & (found > own), found / np.maximum(own, NO_AGREEMENT), 0.0)
            scale, view = np.unravel_index(np.argmax(gains), gains.shape)
            if gains[scale, view] < CLEARLY:
                return scales
            scales = np.where(np.arange(n_views) == view, scale, scales)

    chosen = climbed(np.zeros(n_views, dtype=np.intp))
    # Views may gain only together: if all differ by length, one view of directions agrees with no view of lengths.
    for start in np.flatnonzero(allowed.all(axis=1))[1:]:
        other = climbed(np.full(n_views, start))
        before, after = (agreements(each)[each, np.arange(n_views)].mean() for each in (chosen, other))
        chosen = other if after > CLEARLY * before else chosen
    scores = {f"agreement in {name!r}": each.tolist() for name, each in zip(names, agreements(chosen), strict=True)}
    return [names[scale] for scale in chosen], scores
