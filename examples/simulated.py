"""Why anchors must be aligned: simulated data as in the paper's first experiment, two views, four anchors in each view.

Prints the clustering accuracy of unaligned and aligned fusion over twenty draws. Draws the one whose difference is
nearest the mean: the graphs of both views, their mean without and with alignment, and the permutation.

    python examples/simulated.py [PICTURE.png]

The picture, and a second one for dark pages (PICTURE_dark.png), need the extra ``report`` (matplotlib).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from anchor_align import AlignedClusterer
from anchor_align.data import MultiViewData, make_simulated
from anchor_align.metrics import acc

FUSIONS = ("unaligned", "aligned")
N_ANCHORS = N_CLUSTERS = 4
DRAWS = 20


def cluster(data: MultiViewData, fusion: str, seed: int) -> tuple[AlignedClusterer, float]:
    """Cluster one draw; every view draws its anchors with a different seed, and both fusions use the same anchors."""
    clusterer = AlignedClusterer("lmvsc", n_clusters=N_CLUSTERS, n_anchors=N_ANCHORS, fusion=fusion, random_state=seed)
    return clusterer, acc(data.labels, clusterer.fit_predict(data.views))


def draw_pictures(seed: int, path: Path) -> None:
    """One for light and one for dark pages; samples are sorted by cluster."""
    from anchor_align.report import figure_bytes, plot_fusion

    data = make_simulated(seed)
    fits = {fusion: cluster(data, fusion, seed) for fusion in FUSIONS}
    scores = {"": {fusion: score for fusion, (_, score) in fits.items()}}
    for name, theme in ((path.name, "light"), (f"{path.stem}_dark{path.suffix}", "dark")):
        figure = plot_fusion({"": fits["aligned"][0]}, data.labels, scores=scores, theme=theme)
        path.with_name(name).write_bytes(figure_bytes(figure, dpi=200))


def main() -> None:
    """Score all draws, and draw a typical one if a picture is asked for."""
    scores = np.array([[cluster(make_simulated(seed), fusion, seed)[1] for fusion in FUSIONS] for seed in range(DRAWS)])
    for name, column in zip(FUSIONS, scores.T, strict=True):
        print(f"{name:<10} mean ACC {100 * column.mean():5.1f} %   worst {100 * column.min():5.1f} %")
    if len(sys.argv) > 1:
        gains = scores[:, 1] - scores[:, 0]
        draw = int(np.abs(gains - gains.mean()).argmin())
        draw_pictures(draw, Path(sys.argv[1]))
        unaligned, aligned = 100 * scores[draw]
        print(f"{sys.argv[1]} shows draw {draw}: {unaligned:.1f} % unaligned, {aligned:.1f} % aligned")


if __name__ == "__main__":
    main()
