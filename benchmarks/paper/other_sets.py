"""Ways of fusing and scales on thirteen public data sets that no default of anchor-align was settled on.

First make their files in the folder of ``--data`` with ``examples/other_sets.py``. The rest is as in worth.py and
scale_choice.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scale_choice
import worth
from formats import bold_highest, fixed, table
from results import Bench

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 10
DATA = (
    "satimage", "texture", "movement_libras", "penbased", "segment", "letter", "leaf", "speech", "cells", "mice",
    "motions", "vowels", "mnist-5k",
)  # fmt: skip
DRAWS = 5
PICTURES = ("other_sets.png", "other_sets_dark.png")


def run(bench: Bench) -> dict[str, Any]:
    """Score all draws, then all scales."""
    return {
        **{"draws": DRAWS, "ways": list(worth.WAYS)},
        **{"rows": worth.rows_of(bench, DATA, DRAWS), "scales": scale_choice.rows_of(bench, DATA, DRAWS)},
    }


def fusion_table(result: Any, shown: str = "local") -> str:
    """The rows of one method, then the means of all methods."""
    rows = []
    for row in result["rows"]:
        if row["method"] == shown:
            cells = [f"{fixed(mean)} ± {fixed(sd)}" for mean, sd in zip(row["mean"], row["sd"], strict=True)]
            rows.append([row["data"], shown, *bold_highest(cells, row["mean"])])
    for method in worth.METHODS:
        means = worth.means_of(result, method).mean(axis=0).tolist()
        rows.append(["**mean**", method, *bold_highest([fixed(x) for x in means], means)])
    return table(["data", "method", *result["ways"]], rows, names=2)


def gain(result: Any, data: str | None, method: str, better: str = "consensus", worse: str = "unaligned") -> float:
    """Difference of two ways on a data set, or on the mean."""
    if data is None:
        return worth.mean(result, method, better) - worth.mean(result, method, worse)
    return worth.at(result, data, method, better) - worth.at(result, data, method, worse)


def gain_without(result: Any, data: str, method: str) -> float:
    """Mean gain of alignment over all data sets but one."""
    return float(np.mean([gain(result, name, method) for name in DATA if name != data]))


def best_method(result: Any, method: str = "local", way: str = "consensus") -> int:
    """Number of data sets on which a method is the most accurate."""
    scores = {each: worth.means_of(result, each)[:, result["ways"].index(way)] for each in worth.METHODS}
    others = [scores[each] for each in worth.METHODS if each != method]
    return int(sum(all(mine > other) for mine, *other in zip(scores[method], *others, strict=True)))


def draw(result: Any) -> dict[str, Figure]:
    """The picture of worth.py, of these sets."""
    return dict(zip(PICTURES, worth.draw(result).values(), strict=True))
