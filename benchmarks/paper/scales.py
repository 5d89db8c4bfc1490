"""Unit rows in the methods of the papers, against the scales that are their defaults.

Accuracy in %, mean and deviation over draws of anchors.
"""

from __future__ import annotations

from typing import Any

from formats import data_name, fixed, table
from results import Bench

from anchor_align.study import ARMS, StudyResult, compare

MINUTES = 1
DATA = ("3-Sources", "MSRC-v1", "BBCSport", "UCI-Digit_3v", "BDGP_3v")
DRAWS = 3
# The default comes last.
SCALES = {"lmvsc": ("unit", "spread"), "fmvacc": ("unit", "standard")}


def rows_of(study: StudyResult) -> list[dict[str, Any]]:
    """A row for each setting of a study, with mean and deviation of every arm in %."""
    return [
        {"data": row.dataset, "method": row.adapter, "anchors": row.setting.n_anchors, "lam": row.setting.lam}
        | {"settings": dict(row.setting.params)}
        | {"mean": {name: 100 * arm.mean["acc"] for name, arm in row.arms.items()}}
        | {"sd": {name: 100 * arm.sd["acc"] for name, arm in row.arms.items()}}
        for row in study.summaries
        if row.setting is not None
    ]


def run(bench: Bench) -> dict[str, Any]:
    """Compare on all data sets."""
    study = compare(
        list(SCALES),
        {name: bench.path(name) for name in DATA},
        params={f"{method}.scale": list(scales) for method, scales in SCALES.items()},
        repeats=DRAWS,
        cache=bench.cache,
    )
    return {"draws": DRAWS, "rows": rows_of(study)}


def main_table(result: Any) -> str:
    """Both scales of every method below each other."""
    rows, above = [], ""
    for row in result["rows"]:
        scales, scale = SCALES[row["method"]], row["settings"]["scale"]
        names = [data_name(row["data"]) if row["data"] != above else "", row["method"] if scale == scales[0] else ""]
        arms = [f"{fixed(row['mean'][arm])} ± {fixed(row['sd'][arm])}" for arm in ARMS]
        rows.append([*names, f'`"{scale}"`{" (default)" * (scale == scales[-1])}', *arms])
        above = row["data"]
    return table(["data", "method", "scale", *ARMS], rows, names=3)


def aligned(result: Any, data: str, method: str, scale: str) -> float:
    """Mean accuracy of one cell."""
    (row,) = (
        row for row in result["rows"] if (row["data"], row["method"], row["settings"]["scale"]) == (data, method, scale)
    )
    return float(row["mean"]["aligned"])


def gain(result: Any, data: str, method: str) -> float:
    """What unit rows gain."""
    unit, default = (aligned(result, data, method, scale) for scale in SCALES[method])
    return unit - default
