"""What a fit by name, the order of its samples and the plan of a study cost beyond their computations."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from anchor_align import AlignedClusterer, get_adapter
from anchor_align.data import make_simulated
from anchor_align.plugins import _found_once
from anchor_align.study import _study, compare

NAME_BAR, PLAN_BAR = 0.2, 1.0  # a name against a scan of all distributions; seconds of 1000 runs
TURNS = 11
ORDER_BAR = 1.25  # a fit in content order against one of the samples as they stand
ORDERED: dict[str, tuple[int, int]] = {"lmvsc": (2000, 100), "local": (2000, 100), "local, 190 MB": (60_000, 200)}
STUDIES: dict[str, dict[str, Any]] = {
    "1000 repeats": {"repeats": 1000},
    "100 settings, 10 repeats": {"params": {"alpha": [float(a) for a in range(1, 101)]}, "repeats": 10},
    "1000 settings": {"params": {"alpha": [float(a) for a in range(1, 1001)]}, "repeats": 1},
}
DEPENDENCIES = "import time; t = time.process_time(); import numpy, scipy.linalg, scipy.sparse, sklearn.base"
START = (
    f"{DEPENDENCIES}; bare = time.process_time() - t; import os; from anchor_align.study import compare;"
    "from anchor_align import load_plugins; load_plugins(); print((time.process_time() - t) / bare)"
)


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Processor times: of an adapter by name, of a fit by name, of the start, and of plans."""
    report("")
    views = make_simulated(0).views
    get_adapter("sfmc")
    again = _median(lambda: get_adapter("sfmc"))
    anew = _median(_from_nothing)
    report(f"adapter by name: {again / anew:.2f} of the time with a new scan and new checks   (bar: <= {NAME_BAR:g})")
    named = _median(lambda: AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(views))
    made = _median(lambda: AlignedClusterer(get_adapter("lmvsc"), n_clusters=4, random_state=0).fit(views))
    report(f"fit by name / fit of an instance, 200 samples: {named / made:.2f}")
    orders = {
        name: _order_cost(name.partition(",")[0], *size) for name, size in list(ORDERED.items())[: 2 if quick else 3]
    }
    for name, ratio in orders.items():
        report(f"samples in content order / as they stand, {name}: {ratio:.2f}   (bar: <= {ORDER_BAR:g})")
    start = float(subprocess.run([sys.executable, "-c", START], capture_output=True, check=True, text=True).stdout)
    report(f"start of a study with all plug-ins / import of numpy, scipy and scikit-learn alone: {start:.2f}")
    plans = {name: _plan(settings) for name, settings in STUDIES.items()}
    for name, seconds in plans.items():
        report(f"plan of 1000 runs, {name}: {seconds:.2f} s   (bar: <= {PLAN_BAR:g} s)")
    passed = again <= NAME_BAR * anew and max(plans.values()) <= PLAN_BAR and max(orders.values()) <= ORDER_BAR
    return {
        "by_name": again / anew,
        "fit": named / made,
        "order": orders,
        "start": start,
        "plans": plans,
        "summary": {"passed": passed},
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
