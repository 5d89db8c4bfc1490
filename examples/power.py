"""How often the test of a study finds a difference: false positives, and power for differences of several sizes.

    python examples/power.py [--studies N]

For every number of repeats: in how many of N simulated studies the verdict is that two arms differ. The differences are
normal; their mean is given in standard deviations, 0 if the arms do not differ. The last column is for tables of eight
rows in which no arms differ: in how many of them any row has such a verdict.
"""

from __future__ import annotations

import argparse

import numpy as np

from anchor_align.study import paired_difference

REPEATS = (5, 6, 8, 10, 20, 30)
EFFECTS = (0.0, 0.5, 1.0, 1.5, 2.0)
ROWS = 8
CERTAIN = ("better", "worse")


def found(rng: np.random.Generator, n: int, effect: float) -> bool:
    """Whether one study with n repeats finds a difference."""
    return paired_difference(rng.normal(effect, 1, n), np.zeros(n)).outcome in CERTAIN


def any_wrong(rng: np.random.Generator, n: int) -> bool:
    """Whether any row of a table is wrong in which no arms differ."""
    ps = [paired_difference(rng.normal(size=n), np.zeros(n)).p for _ in range(ROWS)]
    # Holm's first step: there is a verdict in some row if and only if the smallest p passes it.
    return ROWS * min(p for p in ps if p is not None) <= 0.05


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--studies", type=int, default=1000, metavar="N", help="simulated studies for each number [1000]"
    )
    studies = parser.parse_args().studies
    if studies < 1:
        parser.error("--studies must be 1 or more")
    print("| repeats | " + " | ".join(f"{effect:g} sd" for effect in EFFECTS) + f" | any of {ROWS} equal rows |")
    print("|---:" * (len(EFFECTS) + 2) + "|")
    for n in REPEATS:
        # A seed for each cell: it does not depend on the other cells.
        rates = [
            np.mean([found(rng, n, effect) for rng in [np.random.default_rng([n, at])] for _ in range(studies)])
            for at, effect in enumerate(EFFECTS)
        ]
        rng = np.random.default_rng([n, len(EFFECTS)])
        wrong = np.mean([any_wrong(rng, n) for _ in range(studies)])
        print(f"| {n} | " + " | ".join(f"{100 * rate:.1f} %" for rate in (*rates, wrong)) + " |")


if __name__ == "__main__":
    main()
