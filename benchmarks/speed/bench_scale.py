"""How the time grows with the number of samples, and with the number of anchors.

Times are processor times of one thread, so that other work on the machine counts little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from memory_run import N_ANCHORS, N_CLUSTERS, planted
from threadpoolctl import threadpool_limits

import anchor_align.kmeans
import anchor_align_adapters._kmeans_anchors
from anchor_align import AlignedClusterer
from anchor_align.graphs import _spectral

SAMPLES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
QUICK_SAMPLES = (2_000, 5_000, 10_000)
ANCHORS, QUICK_ANCHORS = (10, 20, 50, 100, 200), (10, 20)
# Up to here sizes are measured twice, the better time counts: what takes long averages over the noise itself.
MEASURED_TWICE = 30_000
LARGEST_SLOPE = 1.05
# fmvacc takes one run of k-means, as lmvsc does: ten would take the same passes, only wider ones.
ADAPTERS: dict[str, dict[str, Any]] = {"lmvsc": {}, "fmvacc": {"n_init": 1, "max_iter": 20, "tol": 0.0}}
KMEANS = ("full", "sample")
# The default adapter has its default number of anchors: more than the planted parts. Without its limit of rounds,
# k-means would take more rounds for more samples.
DEFAULT = "local"


@dataclass(frozen=True)
class Spent:
    """Seconds of the whole and of its k-means, and the rounds of k-means over all views."""

    whole: float
    kmeans: float
    final: float
    rounds: int
    accuracy: float


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Planted clusters that overlap, two views of 32 columns, float32."""
    sizes = QUICK_SAMPLES if quick else SAMPLES
    with threadpool_limits(1):
        fit("lmvsc", {}, QUICK_SAMPLES[0], N_ANCHORS)  # what is imported on the way
        found = _by_samples(sizes)
        slopes = _report_slopes(found, sizes, report)
        counts = [m for m in (QUICK_ANCHORS if quick else ANCHORS) if m <= max_anchors]
        by_anchors = _by_anchors(2_000 if quick else 10_000, counts, report)
    bars = {name: parts["whole"] for name, parts in slopes.items()}
    return {
        "spent": {name: {str(n): asdict(spent) for n, spent in by_n.items()} for name, by_n in found.items()},
        "slopes": slopes,
        "anchors": by_anchors,
        "summary": {"passed": all(slope <= LARGEST_SLOPE for slope in bars.values()), "slopes": bars},
    }


def fit(adapter: str, params: dict[str, Any], n: int, n_anchors: int | None) -> Spent:
    """Fit planted data once."""
    from anchor_align.metrics._scores import acc

    views, labels = planted(n)
    spent = {"anchors": 0.0, "final": 0.0}
    rounds = {"anchors": 0, "final": 0}
    fit_kmeans = anchor_align.kmeans.fit_kmeans

    def timed(which: str) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            start = time.process_time()
            result = fit_kmeans(*values, **named)
            spent[which] += time.process_time() - start
            rounds[which] += result.n_iter
            return result

        return call

    clusterer = AlignedClusterer(
        adapter, n_clusters=N_CLUSTERS, n_anchors=n_anchors, adapter_params=params, random_state=0
    )
    with (
        patch.object(anchor_align_adapters._kmeans_anchors, "fit_kmeans", timed("anchors")),
        patch.object(_spectral, "fit_kmeans", timed("final")),
    ):
        start = time.process_time()
        clusterer.fit(views)
        whole = time.process_time() - start
    return Spent(whole, spent["anchors"], spent["final"], rounds["anchors"], float(acc(labels, clusterer.labels_)))


def _by_samples(sizes: tuple[int, ...]) -> dict[str, dict[int, Spent]]:
    """Least time of every size, sizes taken in turns."""
    found: dict[str, dict[int, Spent]] = {}
    for turn in range(2):
        for n in sizes:
            if turn and n > MEASURED_TWICE:
                continue
            for adapter, params in {**ADAPTERS, DEFAULT: {}}.items():
                for kmeans in KMEANS:
                    n_anchors = None if adapter == DEFAULT else N_ANCHORS
                    spent = fit(adapter, {**params, "kmeans": kmeans}, n, n_anchors)
                    best = found.setdefault(f"{adapter}, {kmeans}", {})
                    best[n] = min(best.get(n, spent), spent, key=lambda each: each.whole)
    return found


def _report_slopes(
    found: dict[str, dict[int, Spent]], sizes: tuple[int, ...], report: Callable[[str], None]
) -> dict[str, dict[str, float]]:
    report("")
    report(f"Time against samples, n = {', '.join(f'{n:g}' for n in sizes)}; microseconds a sample, rounds of k-means")
    report(f"  log-log slopes by least squares   (bar: <= {LARGEST_SLOPE} for the whole)")
    slopes = {}
    for name, by_n in found.items():
        times = {
            "whole": [by_n[n].whole for n in sizes],
            "but anchors": [by_n[n].whole - by_n[n].kmeans for n in sizes],
            "at equal rounds": [
                by_n[n].whole - by_n[n].kmeans + by_n[n].kmeans * by_n[sizes[-1]].rounds / by_n[n].rounds for n in sizes
            ],
        }
        slopes[name] = {part: _slope(sizes, values) for part, values in times.items()}
        each = "  ".join(f"{1e6 * by_n[n].whole / n:.1f}" for n in sizes)
        rounds = "  ".join(str(by_n[n].rounds) for n in sizes)
        report(f"  {name:<16} {'   '.join(f'{part} {slope:.3f}' for part, slope in slopes[name].items())}")
        accuracy = min(spent.accuracy for spent in by_n.values())
        report(f"  {'':<16} us/sample: {each}   rounds: {rounds}   least ACC {accuracy:.3f}")
    return slopes


def _slope(sizes: tuple[int, ...], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _by_anchors(n: int, counts: list[int], report: Callable[[str], None]) -> dict[str, dict[str, float]]:
    """Time relative to that of the fewest anchors."""
    report(f"  against anchors, n = {n}: m = {', '.join(map(str, counts))}, time over that of the first")
    result = {}
    for adapter, params in ADAPTERS.items():
        spent = [fit(adapter, params, n, m) for m in counts]
        result[adapter] = {str(m): each.whole / spent[0].whole for m, each in zip(counts, spent, strict=True)}
        per_round = [(each.whole - each.kmeans) / (spent[0].whole - spent[0].kmeans) for each in spent]
        report(
            f"  {adapter:<16} {'  '.join(f'{ratio:.1f}' for ratio in result[adapter].values())}   without k-means of "
            f"anchors {'  '.join(f'{ratio:.1f}' for ratio in per_round)}   rounds {[each.rounds for each in spent]}"
        )
    return result
