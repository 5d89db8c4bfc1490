"""Near-ties of a match: how many matches of real data change if the samples' largest anchors decide.

The same graphs are aligned in both ways, fused by their mean and clustered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from results import Bench

from anchor_align import AnchorAligner, fuse, get_adapter, load_views
from anchor_align.metrics import acc

MINUTES = 5
DATA = ("3-Sources", "MSRC-v1", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "Scene-15")
# Anchors for each cluster.
ADAPTERS = (("local", 10), ("lmvsc", 1), ("lmvsc", 2), ("fmvacc", 1))
DRAWS = 5


def run(bench: Bench) -> dict[str, Any]:
    """Compare both ways on every data set; a row for each adapter and number of anchors."""
    rows = []
    for adapter, multiple in ADAPTERS:
        found = [
            bench.kept(f"{name} {adapter} {multiple}k {seed}", _both, bench.path(name), adapter, multiple, seed)
            for name in DATA
            for seed in range(DRAWS)
        ]
        objective, largest = (100 * np.mean([each[way] for each in found], axis=0) for way in (0, 1))
        changed = sum(each[2] for each in found)
        row = {"adapter": adapter, "anchors": f"{multiple}k", "matches": len(found), "changed": changed}
        rows.append({**row, "objective": float(objective), "largest": float(largest)})
    return {"draws": DRAWS, "data": list(DATA), "rows": rows}


def _both(path: str, name: str, multiple: int, seed: int) -> tuple[float, float, bool]:
    """ACC by the objective and by the largest anchors, and whether the matches differ."""
    data = load_views(path)
    assert data.labels is not None
    assert data.n_clusters is not None
    k = data.n_clusters
    adapter = get_adapter(name, **({"scale": "unit"} if name == "local" else {}))
    views = [np.asarray(X, dtype=float) for X in data.views]
    n_anchors = min(multiple * k, max(k, len(views[0]) // 3))
    graphs = adapter.anchor_graphs(views, n_clusters=k, n_anchors=n_anchors, random_state=seed).graphs
    plain, decided = (
        AnchorAligner(reference="consensus", near_ties=how).fit(graphs) for how in ("objective", "largest")
    )
    changed = any((p != q).any() for p, q in zip(plain.permutations_, decided.permutations_, strict=True))
    scores = [
        acc(data.labels, adapter.cluster(fuse(graphs, each.matrices_), n_clusters=k, random_state=seed))
        for each in ((plain, decided) if changed else (plain,))
    ]
    return scores[0], scores[-1], changed


def total(result: Any, what: str) -> int:
    """Sum over the rows."""
    return sum(row[what] for row in result["rows"])
