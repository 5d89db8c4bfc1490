"""Why anchors must be aligned: simulated data as in the paper's first experiment, two views, four anchors in each view.

Prints the clustering accuracy of unaligned and aligned fusion over twenty draws and writes a picture of one of them.

    python examples/simulated.py [PICTURE.png]

Needs the extra ``report`` (matplotlib) for the picture.
"""

from __future__ import annotations

import sys

import numpy as np

from anchor_align import AlignedClusterer
from anchor_align.data import MultiViewData, make_simulated
from anchor_align.metrics import acc

FUSIONS = ("unaligned", "aligned")
N_ANCHORS = N_CLUSTERS = 4
DRAWS = 20


def cluster(data: MultiViewData, fusion: str, seed: int) -> tuple[AlignedClusterer, float]:
    """Cluster one draw; every view draws its anchors with a different seed, and both fusions use the same anchors."""
    clusterer = AlignedClusterer(
        "lmvsc",
        n_clusters=N_CLUSTERS,
        n_anchors=N_ANCHORS,
        fusion=fusion,
        reference=0,
        random_state=seed,
    )
    return clusterer, acc(data.labels, clusterer.fit_predict(data.views))


def draw_picture(seed: int, path: str) -> None:
    """The two graphs, and the fused graph without and with alignment; samples sorted by cluster."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    data = make_simulated(seed)
    (unaligned, before), (aligned, after) = (cluster(data, fusion, seed) for fusion in FUSIONS)
    graphs = aligned.anchor_graphs_.graphs
    panels = [
        ("view 1", graphs[0], None),
        ("view 2", graphs[1], None),
        ("fused as they come", unaligned.fused_graph_, before),
        ("aligned, then fused", aligned.fused_graph_, after),
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
    """Score all draws; plot the draw in which unaligned fusion is worst."""
    scores = [[cluster(make_simulated(seed), fusion, seed)[1] for fusion in FUSIONS] for seed in range(DRAWS)]
    for name, column in zip(FUSIONS, np.array(scores).T, strict=True):
        print(f"{name:<10} mean ACC {100 * column.mean():5.1f} %   worst {100 * column.min():5.1f} %")
    if len(sys.argv) > 1:
        draw_picture(int(np.argmin(np.array(scores)[:, 0])), sys.argv[1])


if __name__ == "__main__":
    main()
