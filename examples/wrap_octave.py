"""Wrapping a third-party clusterer, 3 of 3: a MATLAB or Octave method that writes its graphs to a .mat file.

    python examples/wrap_octave.py [--data NAME] [--draws N]

Octave writes graphs.mat, ``anchor-align align`` writes aligned.mat, and Octave clusters the fused graph in it. The
three commands exchange only files. The code in examples/octave stands for an existing method.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.io import loadmat, savemat

from anchor_align import load_views
from anchor_align.metrics import acc

OCTAVE = ["octave-cli", "--norc", "--quiet", "--path", str(Path(__file__).with_name("octave")), "--eval"]
ALIGN = str(Path(sys.executable).with_name("anchor-align"))


def round_trip(folder: str, n_clusters: int, seed: int) -> None:
    """From views.mat in a folder to labels.mat."""
    for command in (
        [*OCTAVE, f"anchor_graphs('views.mat', 'graphs.mat', {2 * n_clusters}, {seed})"],
        [ALIGN, "align", "graphs.mat", "-o", "aligned.mat"],
        [*OCTAVE, f"cluster_graph('graphs.mat', 'aligned.mat', 'labels.mat', {n_clusters}, {seed})"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Graphs and clusters from Octave, alignment from here.")
    parser.add_argument("--data", default="digits", choices=["simulated", "digits", "breast-cancer"])
    parser.add_argument("--draws", type=int, default=5, choices=range(2, 11), metavar="N", help="draws of anchors [5]")
    arguments = parser.parse_args()
    if shutil.which(OCTAVE[0]) is None:
        parser.error("octave-cli was not found; on Debian and Ubuntu it is in the package octave")
    data, rows = load_views(arguments.data), []
    with tempfile.TemporaryDirectory() as folder:
        savemat(f"{folder}/views.mat", {"X": np.fromiter(data.views, dtype=object)})  # a cell of views
        for draw in range(arguments.draws):
            round_trip(folder, data.n_clusters or 1, draw)
            found = loadmat(f"{folder}/labels.mat", squeeze_me=True)
            rows.append([100 * acc(data.labels, found[arm].astype(int)) for arm in ("unaligned", "aligned")])
    mean, sd = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
    print(f"ACC in %, {len(rows)} draws: unaligned {mean[0]:.1f} ± {sd[0]:.1f}, aligned {mean[1]:.1f} ± {sd[1]:.1f}")
