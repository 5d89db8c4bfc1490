"""Why anchors must be aligned: simulated data as in the paper's first experiment, two views, four anchors a view.

Prints the clustering accuracy of unaligned and aligned fusion over twenty draws and writes a picture of one of them.

    python examples/simulated.py [PICTURE.png]

Needs the extra ``report`` (matplotlib) for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import confusion_matrix

from anchor_align import AnchorAligner, fuse
from anchor_align.data import MultiViewData, make_simulated
from anchor_align_adapters.fmvacc import fmvacc_graph

N_ANCHORS = N_CLUSTERS = 4
DRAWS = 20


def graphs_of(data: MultiViewData, seed: int) -> list[np.ndarray]:
    """Anchor graphs, each view's anchors drawn with a seed of its own."""
    return [fmvacc_graph(X, N_ANCHORS, beta=0.1, random_state=1000 * seed + v)[0] for v, X in enumerate(data.views)]


def accuracy(graph: np.ndarray, data: MultiViewData, seed: int) -> float:
    """Cluster a fused graph (singular vectors, unit rows, k-means) and score it against the true labels."""
    embedding = np.linalg.svd(graph, full_matrices=False)[0][:, :N_CLUSTERS]
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    found = KMeans(N_CLUSTERS, n_init=10, random_state=seed).fit_predict(embedding)
    counts = confusion_matrix(data.labels, found)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / counts.sum())


def draw_picture(seed: int, path: str) -> None:
    """The two graphs, and the fused graph without and with alignment; samples sorted by cluster."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    data = make_simulated(seed)
    graphs = graphs_of(data, seed)
    aligner = AnchorAligner(reference=0).fit(graphs)
    unaligned, aligned = fuse(graphs), fuse(graphs, aligner.matrices_)
    panels = [
        ("view 1", graphs[0], None),
        ("view 2", graphs[1], None),
        ("fused as they come", unaligned, accuracy(unaligned, data, seed)),
        ("aligned, then fused", aligned, accuracy(aligned, data, seed)),
    ]
    top = max(graph.max() for graph in graphs)
    labels = np.asarray(data.labels)
    order = np.argsort(labels, kind="stable")
    figure, axes = plt.subplots(1, 4, figsize=(9, 3.6), sharey=True, layout="constrained")
    for axis, (title, graph, score) in zip(axes, panels, strict=True):
        image = axis.imshow(graph[order], aspect="auto", cmap="Blues", vmin=0, vmax=top, interpolation="nearest")
        for edge in np.cumsum(np.bincount(labels))[:-1]:
            axis.axhline(edge - 0.5, color="0.4", linewidth=0.8)
        axis.set_xticks(range(N_ANCHORS), [str(j + 1) for j in range(N_ANCHORS)])
        axis.set_xlabel("anchor")
        axis.set_title(title if score is None else f"{title}\naccuracy {100 * score:.0f} %", fontsize=10)
    axes[0].set_ylabel("samples, sorted by true cluster")
    axes[0].set_yticks([])
    figure.colorbar(image, ax=axes, label="weight of the anchor", pad=0.02)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Score all draws; draw the first in which alignment matters most."""
    scores = []
    for seed in range(DRAWS):
        data = make_simulated(seed)
        graphs = graphs_of(data, seed)
        aligner = AnchorAligner(reference=0).fit(graphs)
        fused = (fuse(graphs), fuse(graphs, aligner.matrices_))
        scores.append([accuracy(graph, data, seed) for graph in fused])
    for name, column in zip(("unaligned", "aligned"), np.array(scores).T, strict=True):
        print(f"{name:<10} mean ACC {100 * column.mean():5.1f} %   worst {100 * column.min():5.1f} %")
    if len(sys.argv) > 1:
        draw_picture(int(np.argmin(np.array(scores)[:, 0])), sys.argv[1])


if __name__ == "__main__":
    main()
