"""Cluster your own data: load a file, check what the loader found, cluster, score.

    python examples/own_data.py [PATH] [--clusters K]

PATH is a .mat or .npz file, a folder with one file for each view, or the name of a bundled set; the default is six
views of scikit-learn's digits. If the loader cannot tell views from labels, it names the option of ``load_views`` that
decides.
"""

from __future__ import annotations

import argparse

from anchor_align import AlignedClusterer, load_views
from anchor_align.metrics import acc, nmi


def main() -> None:
    """Load, cluster and score."""
    parser = argparse.ArgumentParser(description="Cluster data of your own.")
    parser.add_argument("path", nargs="?", default="digits", help="file, folder or bundled set [digits]")
    parser.add_argument("--clusters", type=int, help="number of clusters; needed if the data have no labels")
    arguments = parser.parse_args()

    data = load_views(arguments.path)
    for note in data.notes:
        print(note)
    for name, X in zip(data.names, data.views, strict=True):
        print(f"{name}: {X.shape[0]} samples x {X.shape[1]} features")
    n_clusters = arguments.clusters or data.n_clusters
    if n_clusters is None:
        parser.error("the data have no labels: say how many clusters to look for (--clusters)")

    for fusion in ("unaligned", "aligned"):
        clusterer = AlignedClusterer("lmvsc", n_clusters=n_clusters, fusion=fusion, random_state=0).fit(data.views)
        sizes = sorted((int((clusterer.labels_ == k).sum()) for k in range(n_clusters)), reverse=True)
        print(f"{fusion}: clusters of {', '.join(map(str, sizes))} samples")
        if data.labels is not None:
            print(f"  ACC {acc(data.labels, clusterer.labels_):.3f}, NMI {nmi(data.labels, clusterer.labels_):.3f}")


if __name__ == "__main__":
    main()
