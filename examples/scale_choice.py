"""What a scale for each view, chosen without labels, gains over one scale for all views.

    python examples/scale_choice.py [DATA ...] [--draws N]

DATA are files, folders or bundled sets with labels (default: one bundled set). Accuracy in % of the adapter ``local``,
aligned, mean over draws of anchors: with unit rows, with standard features, and with ``scale="auto"``, the default.
The last column has the chosen scales of the first draw, u for unit rows and s for standard features.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer, MultiViewData, load_views
from anchor_align.metrics import acc

SCALES = ("unit", "standard", "auto")


def fitted(data: MultiViewData, k: int, scale: str, seed: int) -> Any:
    """The default method with one scale."""
    clusterer = AlignedClusterer("local", n_clusters=k, adapter_params={"scale": scale}, random_state=seed)
    return clusterer.fit(data.views)


def main() -> None:
    """Print a row for each data set, and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=["simulated"])
    parser.add_argument("--draws", type=int, default=3, help="draws of anchors [3]")
    arguments = parser.parse_args()
    print("| | unit | standard | auto | chosen |\n|---|---:|---:|---:|---|")
    rows = []
    for path in arguments.data:
        data = load_views(path)
        if data.labels is None or data.n_clusters is None:
            raise SystemExit(f"{path} has no labels, which the accuracy needs.")
        with threadpool_limits(1):
            fits = [[fitted(data, data.n_clusters, scale, seed) for seed in range(arguments.draws)] for scale in SCALES]
        rows.append([100 * float(np.mean([acc(data.labels, each.labels_) for each in draws])) for draws in fits])
        chosen = " ".join(scale[0] for scale in fits[-1][0].chosen_["scale"])
        print(
            f"| {Path(path).stem} | " + " | ".join(f"{score:.1f}" for score in rows[-1]) + f" | {chosen} |", flush=True
        )
    print("| mean | " + " | ".join(f"{score:.1f}" for score in np.mean(rows, axis=0)) + " | |")


if __name__ == "__main__":
    main()
