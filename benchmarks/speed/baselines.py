"""The baseline rmkm against scikit-learn's KMeans on the views side by side, with as many starts; MNIST, four views."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from instances import raw_views
from results import Bench
from sklearn.cluster import KMeans

from anchor_align import get_baseline

MINUTES = 5
DATA = "MNIST-60k_4v_constructed"
STARTS, CLUSTERS = 10, 10
SAMPLES = (15_000, 60_000)


def run(bench: Bench) -> dict[str, Any]:
    """Ratio of the processor times for each number of samples."""
    views = raw_views(bench, DATA)
    some = get_baseline("rmkm", n_init=1)
    some.fit_predict([X[:300] for X in views], n_clusters=CLUSTERS, random_state=0)  # what is imported on the way
    return {"starts": STARTS, "rows": [bench.kept(f"{n} samples", _row, [X[:n] for X in views]) for n in SAMPLES]}


def _row(views: list[Any]) -> dict[str, Any]:
    spreads = [np.sqrt(X.var(axis=0, dtype=np.float64).sum()) for X in views]
    together = np.hstack([X / spread for X, spread in zip(views, spreads, strict=True)])
    baseline = get_baseline("rmkm", n_init=STARTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = _seconds(partial(KMeans(CLUSTERS, n_init=STARTS, random_state=0).fit, together))
        ours = _seconds(partial(baseline.fit_predict, views, n_clusters=CLUSTERS, random_state=0))
    return {"n": len(together), "time": ours / theirs}


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
