"""The weight of the structure term in the alignment of the adapter ``local``.

Accuracy in %, mean and deviation over draws of anchors.
"""

from __future__ import annotations

from typing import Any

from results import Bench
from scales import rows_of

from anchor_align.study import compare

MINUTES = 9
DATA = (
    "3-Sources", "MSRC-v1", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "Scene-15", "100Leaves", "Hdigit", "mfeat",
)  # fmt: skip
LAMS = (0.0, 0.1, 1.0)
DEFAULT = 0.1
DRAWS = 20


def run(bench: Bench) -> dict[str, Any]:
    """Compare on all data sets."""
    data = {name: bench.path(name) for name in DATA}
    return {"draws": DRAWS, "rows": rows_of(compare("local", data, lam=LAMS, repeats=DRAWS, cache=bench.cache))}


def arm(result: Any, name: str, lam: float = DEFAULT) -> dict[str, float]:
    """Mean accuracies of an arm, as shown, by data set."""
    return {row["data"]: round(row["mean"][name], 1) for row in result["rows"] if row["lam"] == lam}


def concat_gains(result: Any) -> dict[str, float]:
    """Concat - aligned at the default, by data set."""
    aligned, concat = arm(result, "aligned"), arm(result, "concat")
    return {name: round(concat[name] - aligned[name], 1) for name in aligned}


def most_between_lams(result: Any) -> float:
    """The largest difference that the weight makes on a data set."""
    columns = [arm(result, "aligned", lam) for lam in LAMS]
    values = [[column[name] for column in columns] for name in columns[0]]
    return max(max(each) - min(each) for each in values)
