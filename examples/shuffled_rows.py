"""Compare the clusters of the same samples, as they are stored and shuffled.

    python examples/shuffled_rows.py [DATA ...] [--adapters NAME ...] [--draws N] [--as-they-stand]

DATA are files or bundled sets with known classes (default: two bundled sets). Each draw fits the samples as they are
stored and shuffled, with the same seed. The table shows, for each data set and adapter, the lowest adjusted Rand index
between the two fits: 1 means that every sample is in the same cluster. With ``--as-they-stand`` the adapters get the
samples in the order of the data, and not in one that depends on their content (see ``in_content_order`` of Adapter).
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from anchor_align import Adapter, AlignedClusterer, MultiViewData, get_adapter, load_views
from anchor_align.metrics import ari

ADAPTERS = ("local", "lmvsc", "fmvacc", "sfmc", "msgl", "fmcnof")


def make_adapter(name: str, as_they_stand: bool) -> Adapter:
    """An adapter of this package, or one that gets the samples as they stand."""
    adapter = get_adapter(name)
    kind = type(adapter)
    return type(kind.__name__, (kind,), {"in_content_order": False})() if as_they_stand else adapter


def lowest_ari(data: MultiViewData, adapter: Adapter, draws: int) -> float:
    """Between the fits of the samples as they are stored and shuffled."""
    found = []
    for seed in range(draws):
        clusterer = AlignedClusterer(adapter, n_clusters=data.n_clusters or 2, random_state=seed)
        order = np.random.default_rng([seed, 1]).permutation(data.n_samples)
        stored = clusterer.fit_predict(data.views)
        found.append(ari(stored[order], clusterer.fit_predict([X[order] for X in data.views])))
    return min(found)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Clusters of the same samples, stored and shuffled.")
    parser.add_argument("data", nargs="*", default=["simulated", "breast-cancer"])
    parser.add_argument("--adapters", nargs="+", default=ADAPTERS, metavar="NAME")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--as-they-stand", action="store_true")
    arguments = parser.parse_args(argv)
    print("| data | " + " | ".join(f"`{name}`" for name in arguments.adapters) + " |")
    print("|---" * (len(arguments.adapters) + 1) + "|")
    for path in arguments.data:
        data = load_views(path)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that views agree by chance, or that clusters are fewer
            values = [
                lowest_ari(data, make_adapter(name, arguments.as_they_stand), arguments.draws)
                for name in arguments.adapters
            ]
        print(f"| {Path(path).stem} | " + " | ".join(f"{value:.3f}" for value in values) + " |", flush=True)


if __name__ == "__main__":
    main()
