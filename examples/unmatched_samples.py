"""Samples whose partners in the other view are unknown: alignment finds the partners.

    python examples/unmatched_samples.py [--samples N] [--known SHARE] [--draws N]

There are two views of the same digits. For a share of the samples we know which row of view 1 belongs to which row of
view 0; the other rows of view 1 are shuffled. The known samples are the rows of two graphs, and the unknown samples are
the columns, in the place of anchors: entry (i, j) is the similarity of unknown sample j to known sample i in this view.
The feature term K = Z1' Z2 compares samples by their similarities to the known samples, the structure term by their
similarities to each other. "seeds": the known samples are columns, too, and their partners are given. Then the views
are clustered: with view 1 shuffled, without its unknown samples (a mask), with the partners found, and with the true
ones.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from anchor_align import AlignedClusterer, align, load_views
from anchor_align.metrics import acc

LAMS = (0, 0.1, 1, np.inf)
# Width of the similarities, in units of the median squared distance.
WIDTH = 0.3


def similarities(X: np.ndarray, n_known: int) -> np.ndarray:
    """Similarity of all samples to the known ones, which come first; columns sum to one."""
    squares = euclidean_distances(X[:n_known], X, squared=True)
    Z = np.exp(-squares / (WIDTH * np.median(squares)))
    return np.asarray(Z / Z.sum(axis=0))


def find_partners(views: list[np.ndarray], n_known: int, lam: float, *, seeds: bool) -> np.ndarray:
    """The row of view 1 for every row of view 0; the first ``n_known`` are known."""
    graphs = [similarities(X, n_known) for X in views]
    if seeds:
        known = np.arange(n_known)
        P = align(graphs, lam, reference=0, seeds=np.column_stack([known, known]))[1]
        return np.asarray(P.argmax(axis=0))
    P = align([Z[:, n_known:] for Z in graphs], lam, reference=0)[1]
    return np.append(np.arange(n_known), n_known + P.argmax(axis=0))


def cluster(views: list[np.ndarray], labels: np.ndarray, mask: np.ndarray | None = None) -> float:
    """ACC, mean over five draws of anchors."""
    found = [AlignedClusterer("lmvsc", n_clusters=10, random_state=seed).fit(views, mask=mask) for seed in range(5)]
    return float(np.mean([acc(labels, each.labels_) for each in found]))


def main() -> None:
    """Print how many samples get their own partner, and the accuracy of the clusters."""
    parser = argparse.ArgumentParser(description="Find the partners of samples in another view.")
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--known", type=float, default=0.3, help="share of the samples whose partners are known [0.3]")
    parser.add_argument("--draws", type=int, default=3, help="draws of samples [3]")
    arguments = parser.parse_args()
    n, n_known = arguments.samples, round(arguments.known * arguments.samples)
    data = load_views("digits", views=["fourier", "gradients"])
    labels = np.asarray(data.labels)
    if not 100 <= n <= len(labels):
        parser.error(f"--samples must be from 100 to {len(labels)}")
    if not 20 <= n_known < n:
        parser.error(f"--known must be less than 1, and 20 samples or more: {20 / n:.2g} of {n}")
    if arguments.draws < 1:
        parser.error("--draws must be 1 or more")
    matched: dict[str, list[tuple[float, float]]] = {}
    clustered: dict[str, list[float]] = {}
    for draw in range(arguments.draws):
        rng = np.random.default_rng(draw)
        rows = rng.choice(len(labels), n, replace=False)
        shuffled = np.append(np.arange(n_known), n_known + rng.permutation(n - n_known))
        first, second = (StandardScaler().fit_transform(X)[rows] for X in data.views)
        y, views = labels[rows], [first, second[shuffled]]

        def shares(partners: np.ndarray, who: np.ndarray = shuffled, y: np.ndarray = y) -> tuple[float, float]:
            own, unknown = who[partners], np.arange(n_known, n)
            return float(np.mean(own[unknown] == unknown)), float(np.mean(y[own[unknown]] == y[unknown]))

        matched.setdefault("as they come", []).append(shares(np.arange(n)))
        for lam in LAMS:
            for seeds in (False, True):
                partners = find_partners(views, n_known, lam, seeds=seeds)
                matched.setdefault(f"lam {lam:g}{', seeds' * seeds}", []).append(shares(partners))
        found = [views[0], views[1][find_partners(views, n_known, 0.1, seeds=False)]]
        known = np.array([[True] * n, [True] * n_known + [False] * (n - n_known)])
        clustered.setdefault("as they come", []).append(cluster(views, y))
        clustered.setdefault("view 1 where it is known", []).append(cluster(views, y, known))
        clustered.setdefault("partners found, lam 0.1", []).append(cluster(found, y))
        clustered.setdefault("true partners", []).append(cluster([first, second], y))
    print(f"{n} digits, {n_known} known in both views, mean of {arguments.draws} draws; chance: 1 of {n - n_known}\n")
    print(f"{'partner of an unknown sample':<30}{'itself':>8}{'its class':>12}")
    for name, pairs in matched.items():
        print(f"{name:<30}{np.mean(pairs, axis=0)[0]:>8.1%}{np.mean(pairs, axis=0)[1]:>12.1%}")
    print(f"\n{'clustering of both views':<30}{'ACC':>8}")
    for name, accuracies in clustered.items():
        print(f"{name:<30}{np.mean(accuracies):>8.1%}")


if __name__ == "__main__":
    main()
