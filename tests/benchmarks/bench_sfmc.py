"""SFMC's fit against the eigen-decompositions it performs, in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import scipy.linalg
from instances import read_views

from anchor_align import AlignedClusterer

# Data set, clusters, share of the samples that are anchors. The bar holds where the matrices are large enough for their
# decomposition, and not for the calls around it, to count.
CASES = (("MSRC-v1", 7, 0.2), ("MSRC-v1", 7, 0.5), ("MSRC-v1", 7, 0.7), ("UCI-Digit_3v", 10, 0.5))
BAR, LEAST_ANCHORS = 5.0, 100


def run(quick: bool, _max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Time of the whole fit over the time spent in scipy.linalg.eigh."""
    report("")
    report(f"sfmc: time / its eigen-decompositions   (bar: <= {BAR:g} from {LEAST_ANCHORS} anchors on)")
    rows: list[dict[str, Any]] = []
    for name, k, rate in (("digits", 10, 0.1),) if quick else CASES:
        views = read_views(name)
        n_anchors = int(rate * len(views[0]))
        total, decompositions, count = _times(views, k, n_anchors)
        rows.append({"data": name, "n_anchors": n_anchors, "ratio": total / decompositions, "count": count})
        report(f"  {name:<14} m = {n_anchors:<5} {count:>4} decompositions, ratio {total / decompositions:.2f}")
    passed = all(row["ratio"] <= BAR for row in rows if row["n_anchors"] >= LEAST_ANCHORS)
    return {"rows": rows, "summary": {"passed": passed}}


def _times(views: list[Any], n_clusters: int, n_anchors: int) -> tuple[float, float, int]:
    spent: list[float] = []
    eigh = scipy.linalg.eigh

    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        result = eigh(*arguments, **options)
        spent.append(time.perf_counter() - start)
        return result

    with mock.patch.object(scipy.linalg, "eigh", timed):
        start = time.perf_counter()
        AlignedClusterer("sfmc", n_clusters=n_clusters, n_anchors=n_anchors, random_state=0).fit(views)
        total = time.perf_counter() - start
    return total, sum(spent), len(spent)
