"""Columns that the released rounding fills: every anchor goes to the reference anchor with its largest entry."""

from __future__ import annotations

from typing import Any

import numpy as np
from results import Bench

from anchor_align import GramMatrices, align, get_adapter, load_views

DATA, METHOD, ANCHORS, DRAWS, LAM = "digits", "fmvacc", 50, 3, 0.1


def run(bench: Bench) -> dict[str, Any]:
    """Columns of every view but the reference that are not empty, for each draw of anchors."""
    data = load_views(DATA)
    assert data.n_clusters is not None
    adapter = get_adapter(METHOD)
    rows = []
    for seed in range(DRAWS):
        made = adapter.anchor_graphs(data.views, n_clusters=data.n_clusters, n_anchors=ANCHORS, random_state=seed)
        maps = align(GramMatrices.from_graphs(made.graphs), LAM, reference=0, method="pfp-many-to-one")
        rows += [
            {"draw": seed, "view": view, "filled": int(np.count_nonzero(P.sum(axis=0)))}
            for view, P in enumerate(maps)
            if view
        ]
    return {"data": DATA, "method": METHOD, "anchors": ANCHORS, "draws": DRAWS, "lam": LAM, "rows": rows}


def filled(result: Any) -> list[int]:
    """Columns that are not empty."""
    return [row["filled"] for row in result["rows"]]
