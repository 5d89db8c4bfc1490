"""Late fusion of partitions is anchor alignment with one anchor for each cluster.

    python examples/late_fusion.py [DATA] [--seeds N]

DATA is a file, a folder or a bundled set with labels (default: digits, six views). k-means clusters every view
separately. A partition is an anchor graph whose rows have a single 1, in the column of the sample's cluster. K = Z1' Z2
counts the samples that two clusters share. So the feature term alone (``lam=0``) numbers the clusters such that the
partitions agree as much as possible. The mean of the aligned graphs is then a vote of the partitions; without alignment
the vote has no meaning. Partitions with other numbers of clusters, or of only some samples (``mask``), can be used,
too.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.preprocessing import StandardScaler

from anchor_align import AnchorAligner, AnchorAlignError, fuse, load_views, view_seeds
from anchor_align.blocks import ScaledRows
from anchor_align.kmeans import fit_kmeans
from anchor_align.metrics import acc


def partitions(views: list[np.ndarray], n_clusters: int, seed: int) -> list[np.ndarray]:
    """Cluster every view by k-means; return the partitions as graphs of zeros and ones."""
    graphs = []
    for X, number in zip(views, view_seeds(seed, len(views)), strict=True):
        rows = ScaledRows(StandardScaler().fit_transform(X))
        graphs.append(np.eye(n_clusters)[fit_kmeans(rows, n_clusters, n_init=10, random_state=number).labels])
    return graphs


def main() -> None:
    """Accuracy of the partitions, and of their votes."""
    parser = argparse.ArgumentParser(description="Late fusion of partitions.")
    parser.add_argument("data", nargs="?", default="digits", help="file, folder or bundled set [digits]")
    parser.add_argument("--seeds", type=int, default=5, help="draws of partitions [5]")
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error("--seeds must be 1 or more")
    try:
        data = load_views(arguments.data)
    except AnchorAlignError as error:
        parser.error(str(error))
    if data.n_clusters is None:
        parser.error("the data have no labels: nothing says how many clusters there are")
    rows = []
    for seed in range(arguments.seeds):
        graphs = partitions(data.views, data.n_clusters, seed)
        aligner = AnchorAligner(lam=0, reference="consensus").fit(graphs)
        votes = [fuse(graphs), fuse(graphs, aligner.permutations_)]
        rows.append([100 * acc(data.labels, Z.argmax(axis=1)) for Z in (*graphs, *votes)])
        unanimous = np.mean(votes[1].max(axis=1) > 1 - 1e-9)
        print(f"draw {seed}: the views agree on {unanimous:.0%} of the samples once their clusters correspond")
    print(f"\nACC in %, mean ± sd of {arguments.seeds} draws")
    names = [*(f"partition of {name}" for name in data.names), "vote, clusters as they come", "vote, aligned"]
    spread = np.std(rows, axis=0, ddof=min(1, arguments.seeds - 1))
    for name, mean, sd in zip(names, np.mean(rows, axis=0), spread, strict=True):
        print(f"{name:<34}{mean:5.1f} ± {sd:.1f}")


if __name__ == "__main__":
    main()
