"""Views with different numbers of anchors, and a view of noise with and without automatic weights.

    python examples/uneven.py [DATA ...] [--draws N]

DATA are files, folders or bundled sets of three views with labels (default: uci-digit). Two tables of accuracies in %,
mean ± sd over the draws of anchors, default settings. The first has some numbers of anchors, aligned and unaligned. In
the second, a view of normal noise, with as many features as the first view, is added to the others.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from anchor_align import AlignedClusterer, AnchorAlignError, MultiViewData, load_views
from anchor_align.metrics import acc

ADAPTERS = ("lmvsc", "fmvacc")
# For each cluster.
ANCHORS = ((2, 2, 2), (2, 2, 1), (1, 2, 3), (3, 2, 1))


def score(adapter: str, data: MultiViewData, draws: int, **settings: Any) -> str:
    """ACC over all draws, as in the tables."""
    settings["n_clusters"] = data.n_clusters
    found = []
    for seed in range(draws):
        clusterer = AlignedClusterer(adapter, random_state=seed, **settings)
        found.append(100 * acc(data.labels, clusterer.fit_predict(data.views)))
    return f"{np.mean(found):.1f} ± {np.std(found, ddof=1):.1f}"


def print_numbers_of_anchors(data: MultiViewData, name: str, draws: int) -> None:
    """A row for every choice of numbers, aligned and unaligned."""
    print(f"| {name}, anchors | " + " | ".join(f"{a} | {a}, unaligned" for a in ADAPTERS) + " |")
    print("|---" * (1 + 2 * len(ADAPTERS)) + "|")
    for each in ANCHORS:
        counts = [n * (data.n_clusters or 0) for n in each]
        cells = [
            score(adapter, data, draws, n_anchors=counts, fusion=fusion)
            for adapter in ADAPTERS
            for fusion in ("aligned", "unaligned")
        ]
        print(f"| {', '.join(map(str, counts))} | " + " | ".join(cells) + " |", flush=True)


def print_noise(data: MultiViewData, name: str, draws: int) -> None:
    """A row for every adapter: the views, a view of noise added, and the same with automatic weights."""
    noise = np.random.default_rng(0).standard_normal(data.views[0].shape)
    noisy = MultiViewData([*data.views, noise], data.labels, [*data.names, "noise"])
    for adapter in ADAPTERS:
        cells = [
            score(adapter, data, draws),
            score(adapter, noisy, draws),
            score(adapter, noisy, draws, weights="auto"),
        ]
        print(f"| {name}, {adapter} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Read the command line, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=["uci-digit"])
    parser.add_argument("--draws", type=int, default=5, help="draws of anchors, 2 or more [5]")
    arguments = parser.parse_args()
    if arguments.draws < 2:
        parser.error("--draws must be 2 or more: there is no spread of one")
    try:
        sets = {Path(path).stem.replace("_", " "): load_views(path) for path in arguments.data}
    except (AnchorAlignError, OSError) as error:
        parser.error(str(error))
    for name, data in sets.items():
        if data.labels is None or len(data.views) != len(ANCHORS[0]):
            sys.exit(f"{name} needs labels and {len(ANCHORS[0])} views.")
    for name, data in sets.items():
        print_numbers_of_anchors(data, name, arguments.draws)
        print()
    print('| data, adapter | original views | and noise | and noise, `"auto"` |\n|---|---|---|---|')
    for name, data in sets.items():
        print_noise(data, name, arguments.draws)


if __name__ == "__main__":
    main()
