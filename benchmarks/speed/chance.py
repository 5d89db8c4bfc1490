"""Test of chance: how often a view counts as agreeing with the others better than by chance.

Related views are a few samples of real data. For unrelated ones the samples of every view are shuffled on their own.
The graphs are those of ``local`` with unit rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from results import Bench

from anchor_align import AnchorAligner, get_adapter, load_views

MINUTES = 5
DATA = ("MSRC-v1", "3-Sources", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "Scene-15", "Hdigit", "100Leaves")
SIZES = (30, 50, 100, 200, 500)
DRAWS = 5


def run(bench: Bench) -> dict[str, Any]:
    """Both rates for each number of samples."""
    return {"draws": DRAWS, "data": list(DATA), "rows": [bench.kept(f"{n} samples", _rates, bench, n) for n in SIZES]}


def _rates(bench: Bench, n: int) -> dict[str, Any]:
    related: list[bool] = []
    unrelated: list[bool] = []
    for name in DATA:
        data = load_views(bench.path(name))
        for seed in range(DRAWS):
            rng = np.random.default_rng([n, seed])
            rows = rng.choice(data.n_samples, min(n, data.n_samples), replace=False)
            views = [np.asarray(X)[rows].astype(float) for X in data.views]
            related += _above(views, seed)
            unrelated += _above([rng.permutation(X) for X in views], seed)
    return {"n": n, "views": len(related), "related": sum(related), "unrelated": sum(unrelated)}


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


def listed(values: list[int]) -> str:
    """Numbers in a sentence."""
    return ", ".join(map(str, values[:-1])) + f" and {values[-1]}"


def each(result: Any, what: str) -> list[int]:
    """A number of every row."""
    return [row[what] for row in result["rows"]]
