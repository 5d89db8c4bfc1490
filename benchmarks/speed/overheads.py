"""Overheads: what an adapter by name, the order of the samples and the plan of a study cost beyond their work."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from results import Bench

from anchor_align import AlignedClusterer, get_adapter
from anchor_align.plugins import _found_once
from anchor_align.study import _study, compare

MINUTES = 1
TURNS = 11
ORDERED = (("lmvsc", 2000, 100), ("local", 2000, 100), ("local", 60_000, 200))  # adapter, samples, features
STUDIES: dict[str, dict[str, Any]] = {
    "1000 repeats": {"repeats": 1000},
    "1000 settings": {"params": {"alpha": [float(a) for a in range(1, 1001)]}, "repeats": 1},
}
DEPENDENCIES = "import time; t = time.process_time(); import numpy, scipy.linalg, scipy.sparse, sklearn.base"
START = (
    f"{DEPENDENCIES}; bare = time.process_time() - t; import os; from anchor_align.study import compare;"
    "from anchor_align import load_plugins; load_plugins(); print((time.process_time() - t) / bare)"
)


def run(bench: Bench) -> dict[str, Any]:
    """Processor times: of an adapter by name, of the order of the samples, of the start, and of plans."""
    get_adapter("sfmc")
    again = _median(lambda: get_adapter("sfmc"))
    anew = _median(_from_nothing)
    start = subprocess.run([sys.executable, "-c", START], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {
        "by_name": again / anew,
        "order": [{"adapter": name, "n": n, "time": _order_cost(name, n, width)} for name, n, width in ORDERED],
        "start": float(start),
        "plans": {name: _plan(settings) for name, settings in STUDIES.items()},
    }


def _order_cost(name: str, n_samples: int, n_features: int) -> float:
    """Fit of shuffled planted samples, relative to one that takes them as they stand."""
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=n_samples)
    views = [
        rng.standard_normal((10, n_features))[labels] + rng.standard_normal((n_samples, n_features)) for _ in range(2)
    ]
    kind = type(get_adapter(name))
    stay = type(kind.__name__, (kind,), {"in_content_order": False})
    ordered, as_they_stand = (
        _median(partial(AlignedClusterer(adapter(), n_clusters=10, random_state=0).fit, views), turns=5)
        for adapter in (kind, stay)
    )
    return ordered / as_they_stand


def _median(call: Callable[[], object], turns: int = TURNS) -> float:
    times = []
    for _ in range(turns):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return float(np.median(times))


def _from_nothing() -> None:
    _found_once._read.cache_clear()
    _found_once._kept.clear()
    get_adapter("sfmc")


def _plan(settings: dict[str, Any]) -> float:
    """Time until the first run of a study would start."""
    counted: list[int] = []

    def stop(runs: list[Any], *_: Any) -> None:
        counted.append(len(runs))
        raise StopIteration

    with mock.patch.object(_study, "outcomes_of", stop):
        start = time.process_time()
        try:
            compare("lmvsc", "simulated", **settings)
        except StopIteration:
            seconds = time.process_time() - start
    assert counted == [1000]
    return seconds
