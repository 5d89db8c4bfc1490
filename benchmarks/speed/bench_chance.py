"""How often a view counts as agreeing with the others better than by chance, for related and unrelated views.

Related views are a few samples of real data. For unrelated ones the samples of every view are shuffled on their own.
The graphs are those of ``local`` with unit rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from instances import DATA, data_available

from anchor_align import AnchorAligner, get_adapter, load_views

SETS = ("MSRC-v1", "3-Sources", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "Scene-15", "Hdigit", "100Leaves")
SIZES = (30, 50, 100, 200, 500)


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Measure both rates for each number of samples."""
    names = [str(DATA / f"{name}.npz") for name in SETS] if data_available() else ["digits", "breast-cancer"]
    sets = [load_views(name) for name in (names[:2] if quick else names)]
    draws = 1 if quick else 5
    report(f"{'samples':>8}{'related views above chance':>29}{'unrelated views above chance':>31}")
    records = []
    for n in SIZES:
        related: list[bool] = []
        unrelated: list[bool] = []
        for data in sets:
            for seed in range(draws):
                rng = np.random.default_rng([n, seed])
                rows = rng.choice(len(data.views[0]), min(n, len(data.views[0])), replace=False)
                views = [np.asarray(X)[rows].astype(float) for X in data.views]
                related += _above(views, seed)
                unrelated += _above([rng.permutation(X) for X in views], seed)
        rates = {"related": float(np.mean(related)), "unrelated": float(np.mean(unrelated))}
        records.append({"n": n, "views": len(related), **rates})
        counts = f"{sum(related)} of {len(related)}", f"{sum(unrelated)} of {len(unrelated)}"
        report(f"{n:>8}{counts[0]:>29}{counts[1]:>31}")
    worst = max(each["unrelated"] for each in records)
    return {"records": records, "summary": {"most_unrelated": worst, "passed": worst <= 0.02}}


def _above(views: list[Any], seed: int) -> list[bool]:
    n = len(views[0])
    n_clusters = min(10, n // 8)
    n_anchors = max(n_clusters, min(10 * n_clusters, n // 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few samples of some views are distinct
        adapter = get_adapter("local", scale="unit")
        graphs = adapter.anchor_graphs(views, n_clusters=n_clusters, n_anchors=n_anchors, random_state=seed).graphs
    aligner = AnchorAligner(reference="consensus").fit(graphs)
    assert aligner.above_chance_ is not None
    return [bool(above) for above in aligner.above_chance_]
