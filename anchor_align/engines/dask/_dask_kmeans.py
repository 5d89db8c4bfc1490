"""K-means over chunks: the algorithm and the random numbers of :mod:`anchor_align.kmeans`, as rounds of map and reduce.

One number for every row is sent, for the order of the rows, and a sample of the rows, for the first centres. Then only
centres and sums over clusters are sent. Rounds of Lloyd's algorithm keep nothing of a row, so a lost worker costs only
its part of a round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import FloatArray
from ...blocks import Parts, ScaledRows, weighted_rows
from ...kmeans import (
    SAME_INERTIA,
    FarRow,
    KMeansResult,
    LloydRun,
    assign_rows,
    draw,
    farthest_rows,
    find_starts,
    first_farthest,
    move_centres,
    start_rows,
)


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Sums of the scaled rows and sizes of the clusters of every run; ``+`` joins parts."""

    sums: FloatArray
    counts: FloatArray

    def __add__(self, other: ClusterSums) -> ClusterSums:
        return ClusterSums(self.sums + other.sums, self.counts + other.counts)


def fit_kmeans(
    source: ScaledRows, n_clusters: int, *, n_init: int, random_state: int, tol: float, max_iter: int
) -> KMeansResult:
    """As :func:`anchor_align.kmeans.fit_kmeans`; ``labels`` is a Dask array."""
    variance = source.stats().variance
    rows, shift = source.centred()
    parts = rows.parts()
    total = rows.stats().square_norm
    candidates = start_rows(rows, n_clusters, random_state)
    draws = draw(random_state, n_init, n_clusters)
    # The data of a row in all runs together take no more memory than the row.
    at_once = max(1, min(n_init, rows.shape[1]))
    best: tuple[LloydRun, ClusterSums, int] | None = None
    least = np.inf
    for start in range(0, n_init, at_once):
        starts = find_starts(*candidates, draws[start : start + at_once], n_clusters)
        runs, found = _run_lloyd(parts, starts, tol * float(variance.mean()), max_iter)
        for number, run in enumerate(runs):
            inertia = run.inertia(found.sums[number], total)
            if best is None or inertia < (1.0 - SAME_INERTIA) * least:
                best, least = (run, found, number), inertia
    assert best is not None
    run, found, number = best
    meta = np.empty(0, np.min_scalar_type(n_clusters - 1))
    labels = parts.map(_labels, run.centres).joined(meta)
    n_found = int(np.count_nonzero(found.counts[number]))
    return KMeansResult(run.centres + shift, labels, max(least, 0.0), run.n_iter, n_found)


def _run_lloyd(parts: Parts, starts: FloatArray, tol: float, max_iter: int) -> tuple[list[LloydRun], ClusterSums]:
    """Lloyd's algorithm for several runs, side by side; also returns the clusters of the last centres."""
    runs = [LloydRun.start(centres, 0) for centres in starts]
    found = ClusterSums(np.zeros(starts.shape), np.zeros(starts.shape[:2]))
    at_work = list(range(len(runs)))
    while at_work:  # a run ends after max_iter moves
        now = parts.total(_assign, np.array([runs[number].centres for number in at_work]))
        for place, number in enumerate(at_work):
            run = runs[number]
            sums, counts = now.sums[place], now.counts[place]
            same = run.n_iter > 0 and np.array_equal(counts, found.counts[number])
            same = same and np.array_equal(sums, found.sums[number])
            found.sums[number], found.counts[number] = sums, counts
            run.counts = counts
            run.ended = run.ending or same
            if not run.ended:
                far = parts.total(_farthest, run.centres, run.n_empty) if run.n_empty else []
                move_centres(run, sums, first_farthest(far, run.n_empty), tol, max_iter)
        at_work = [number for number in at_work if not runs[number].ended]
    return runs, found


def _assign(rows: ScaledRows, centres: FloatArray) -> ClusterSums:
    runs = assign_rows(rows, centres)
    sums = np.array([weighted_rows(rows, run.sums, run.counts) for run in runs])
    return ClusterSums(sums, np.array([run.counts for run in runs]))


def _farthest(rows: ScaledRows, centres: FloatArray, count: int) -> list[FarRow]:
    (run,) = assign_rows(rows, centres[None])
    return farthest_rows(rows, run, count)


def _labels(rows: ScaledRows, centres: FloatArray) -> npt.NDArray[Any]:
    (run,) = assign_rows(rows, centres[None])
    return run.labels
