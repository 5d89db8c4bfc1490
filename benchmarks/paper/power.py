"""How often the test of a study finds a difference: false positives, and power for differences of several sizes.

For every number of repeats: in how many of the simulated studies the verdict is that two arms differ. The differences
are normal; their mean is given in standard deviations, 0 if the arms do not differ. "any" is for tables of several rows
in which no arms differ: in how many of them any row has such a verdict.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from formats import fixed, table
from results import Bench

from anchor_align.study import paired_difference

REPEATS = (5, 6, 8, 10, 20, 30)
EFFECTS = (0.0, 0.5, 1.0, 1.5, 2.0)
ROWS = 8
STUDIES = 1000
CERTAIN = ("better", "worse")


def found(rng: np.random.Generator, n: int, effect: float) -> bool:
    """Whether one study with n repeats finds a difference."""
    return paired_difference(rng.normal(effect, 1, n), np.zeros(n)).outcome in CERTAIN


def any_wrong(rng: np.random.Generator, n: int) -> bool:
    """Whether any row of a table is wrong in which no arms differ."""
    ps = [paired_difference(rng.normal(size=n), np.zeros(n)).p for _ in range(ROWS)]
    # Holm's first step: there is a verdict in some row if and only if the smallest p passes it.
    return ROWS * min(p for p in ps if p is not None) <= 0.05


def rates(n: int) -> dict[str, Any]:
    """Rates in % for one number of repeats; a seed for each, so that none depends on the others."""
    seeds = [np.random.default_rng([n, at]) for at in range(len(EFFECTS) + 1)]
    hits = [[found(rng, n, effect) for _ in range(STUDIES)] for rng, effect in zip(seeds, EFFECTS, strict=False)]
    wrong = [any_wrong(seeds[-1], n) for _ in range(STUDIES)]
    return {"rates": [float(100 * np.mean(each)) for each in hits], "any": float(100 * np.mean(wrong))}


def run(bench: Bench) -> dict[str, Any]:
    """A row for each number of repeats."""
    rows = [{"repeats": n, **bench.kept(f"{n} repeats", rates, n)} for n in REPEATS]
    return {"studies": STUDIES, "effects": list(EFFECTS), "equal rows": ROWS, "rows": rows}


def main_table(result: Any) -> str:
    """A row for each number of repeats."""
    head = ["repeats", *(f"{effect:g} sd" for effect in result["effects"]), f"any of {result['equal rows']} equal rows"]
    rows = [[row["repeats"], *(f"{fixed(rate)} %" for rate in (*row["rates"], row["any"]))] for row in result["rows"]]
    return table(head, rows, names=0)
