"""K-means over chunks: the algorithm and the random numbers of :mod:`anchor_align.kmeans`, as rounds of map and reduce.

Only centres, candidates and sums over clusters are sent. Rounds of Lloyd's algorithm keep nothing of a row, so a lost
worker costs only its part of a round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import FloatArray, IndexArray
from ...blocks import Parts, ScaledRows, first_places, true_rows, weighted_rows
from ...kmeans import (
    SAME_INERTIA,
    FarRow,
    KMeansResult,
    LloydRun,
    Nearness,
    assign_rows,
    draw,
    farthest_rows,
    first_farthest,
    first_least,
    move_centres,
    n_trials_for,
)
from ._chunks import Chunked

State = tuple[npt.NDArray[Any], npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ChunkedKMeansResult(KMeansResult):
    """As :class:`~anchor_align.kmeans.KMeansResult`; ``labels`` is a Dask array."""

    first: IndexArray

    def first_rows(self) -> IndexArray:
        return self.first


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Sums of the scaled rows, sizes, and first rows of the clusters of every run; ``+`` joins parts."""

    sums: FloatArray
    counts: FloatArray
    first: IndexArray

    def __add__(self, other: ClusterSums) -> ClusterSums:
        return ClusterSums(self.sums + other.sums, self.counts + other.counts, np.minimum(self.first, other.first))


def fit_kmeans(
    source: ScaledRows, n_clusters: int, *, n_init: int, random_state: int, tol: float, max_iter: int
) -> ChunkedKMeansResult:
    variance = source.stats().variance
    rows, shift = source.centred()
    parts = rows.parts()
    n, d = rows.shape
    total = rows.stats().square_norm
    draws = draw(random_state, n_init, n_clusters)
    # The data of a row in all runs together take no more memory than the row.
    at_once = max(1, min(n_init, d))
    best: tuple[LloydRun, ClusterSums, int] | None = None
    least = np.inf
    for start in range(0, n_init, at_once):
        starts = _find_starts(rows, draws[start : start + at_once], n_clusters)
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
    return ChunkedKMeansResult(
        run.centres + shift, labels, max(least, 0.0), run.n_iter, n_found, np.minimum(found.first[number], n)
    )


def _find_starts(source: ScaledRows, draws: FloatArray, n_clusters: int) -> FloatArray:
    n, d = source.shape
    n_runs, n_trials = len(draws), n_trials_for(n_clusters)
    parts = source.parts()
    centres = np.empty((n_runs, n_clusters, d))
    centres[:, 0] = true_rows(source, np.minimum((draws[:, 0] * n).astype(np.intp), n - 1))
    states = parts.map(_nearness_of_first, centres[:, 0]).keep()
    sums = np.array(states.total(_sums))
    for cluster in range(1, n_clusters):
        at = 1 + (cluster - 1) * n_trials
        both = parts.zip(states)
        candidates = _find(both, sums, draws[:, at : at + n_trials]).reshape(n_runs, n_trials, d)
        potentials = np.array(both.total(_potentials, candidates))
        best = first_least(potentials.sum(axis=0), source.dtype)
        sums = potentials[:, np.arange(n_runs), best]
        centres[:, cluster] = candidates[np.arange(n_runs), best]
        states = both.map(_nearness_of_next, centres[:, cluster]).keep()
    return centres


def _find(both: Parts, sums: FloatArray, fractions: FloatArray) -> FloatArray:
    """Rows at which the running sum of each run's distances reaches fractions of its total: chunk, then row.

    ``sums`` are sums of the distances, chunks x runs.
    """
    assert isinstance(both, Chunked)
    totals = np.cumsum(sums, axis=0)
    wanted = fractions * totals[-1][:, None]
    found_in = [np.searchsorted(totals[:, run], wanted[run]) for run in range(len(fractions))]
    chunks = np.minimum(np.array(found_in), len(totals) - 1)
    runs = np.broadcast_to(np.arange(len(fractions))[:, None], fractions.shape)
    rests = wanted - np.where(chunks > 0, totals[chunks - 1, runs], 0.0)
    touched = np.unique(chunks)
    picked = both.some(touched.tolist())
    numbers = Chunked([np.flatnonzero(chunks.ravel() == chunk).tolist() for chunk in touched], picked.sizes)
    found = picked.zip(numbers).total(_find_in_chunk, runs.ravel(), rests.ravel())
    order = np.argsort(np.concatenate([positions for positions, _ in found]))
    return np.asarray(np.concatenate([rows for _, rows in found])[order])


def _sums(state: State) -> list[FloatArray]:
    return [np.asarray(state[1].sum(axis=1, dtype=np.float64))]


def _find_in_chunk(
    item: tuple[tuple[ScaledRows, State], list[int]], runs: IndexArray, rests: FloatArray
) -> list[tuple[IndexArray, FloatArray]]:
    """Rows of one chunk; ``runs`` and ``rests`` belong to all candidates, some of which are in this chunk."""
    (rows, (_, closest)), numbers = item
    at = np.empty(len(numbers), dtype=np.intp)
    for place, number in enumerate(numbers):
        inside = np.cumsum(closest[runs[number]], dtype=np.float64)
        at[place] = min(int(np.searchsorted(inside, rests[number])), len(inside) - 1)
    return [(np.asarray(numbers), true_rows(rows, at))]


def _nearness_of_first(rows: ScaledRows, centres: FloatArray) -> State:
    nearness = Nearness(rows, len(centres), 0)
    nearness.add(centres)
    return nearness.norms, nearness.closest


def _nearness_of_next(item: tuple[ScaledRows, State], centres: FloatArray) -> State:
    rows, (norms, closest) = item
    nearness = Nearness(rows, len(centres), 0, norms, closest.copy())
    nearness.add(centres)
    return norms, nearness.closest


def _potentials(item: tuple[ScaledRows, State], candidates: FloatArray) -> list[FloatArray]:
    rows, (norms, closest) = item
    n_runs, n_trials, _ = candidates.shape
    return [Nearness(rows, n_runs, n_trials, norms, closest).potentials(candidates)]


def _run_lloyd(parts: Parts, starts: FloatArray, tol: float, max_iter: int) -> tuple[list[LloydRun], ClusterSums]:
    """Lloyd's algorithm for several runs, side by side; also returns the clusters of the last centres."""
    runs = [LloydRun.start(centres, 0) for centres in starts]
    found = ClusterSums(np.zeros(starts.shape), np.zeros(starts.shape[:2]), np.zeros(starts.shape[:2], dtype=np.intp))
    at_work = list(range(len(runs)))
    while at_work:  # a run ends after max_iter moves
        now = parts.total(_assign, np.array([runs[number].centres for number in at_work]))
        for place, number in enumerate(at_work):
            run = runs[number]
            sums, counts = now.sums[place], now.counts[place]
            same = run.n_iter > 0 and np.array_equal(counts, found.counts[number])
            same = same and np.array_equal(sums, found.sums[number])
            found.sums[number], found.counts[number], found.first[number] = sums, counts, now.first[place]
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
    first = np.array([first_places(run.labels, len(run.centres)) for run in runs])
    nowhere = np.iinfo(np.intp).max
    first = np.where(first < rows.shape[0], first + rows.first, nowhere)
    return ClusterSums(sums, np.array([run.counts for run in runs]), first)


def _farthest(rows: ScaledRows, centres: FloatArray, count: int) -> list[FarRow]:
    (run,) = assign_rows(rows, centres[None])
    return farthest_rows(rows, run, count)


def _labels(rows: ScaledRows, centres: FloatArray) -> npt.NDArray[Any]:
    (run,) = assign_rows(rows, centres[None])
    return run.labels
