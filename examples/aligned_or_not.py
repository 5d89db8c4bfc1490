"""What alignment is worth: unaligned, aligned and concatenated fusion of the same anchor graphs.

    python examples/aligned_or_not.py [FOLDER] [--seeds N] [--only NAME ...]

FOLDER holds data sets as .npz files with ``view_0``, ``view_1``, ... and ``labels``; without it, the simulated data
and four views of scikit-learn's digits are used. All settings are the defaults, nothing is picked by label. The three
ways of fusing see the same graphs, drawn anew for every seed; "above" counts the seeds in which aligned is better.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from anchor_align import AlignedClusterer
from anchor_align.data import MultiViewData, make_simulated
from anchor_align.metrics import acc

ADAPTERS = ("lmvsc", "fmvacc")
FUSIONS = ("unaligned", "aligned", "concat")


def bundled() -> Iterator[tuple[str, MultiViewData]]:
    """Data that need no files: simulated, and digits as pixels, row and column sums, edges and frequencies."""
    yield "simulated", make_simulated(0)
    digits = load_digits()
    images = digits.images
    sums = np.hstack([images.sum(axis=1), images.sum(axis=2)])
    edges = np.hstack([np.abs(np.diff(images, axis=axis)).reshape(len(images), -1) for axis in (1, 2)])
    views = [images.reshape(len(images), -1), sums, edges, np.abs(np.fft.rfft2(images)).reshape(len(images), -1)]
    yield "digits", MultiViewData(views, digits.target, ["pixels", "sums", "edges", "frequencies"])


def files(folder: Path) -> Iterator[tuple[str, MultiViewData]]:
    """All .npz files of a folder that have views and labels."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            names = sorted(key for key in file.files if key.startswith("view"))
            if names and "labels" in file.files:
                yield path.stem, MultiViewData([file[name] for name in names], file["labels"], names)


def scores(adapter: str, data: MultiViewData, seed: int) -> list[float]:
    """Accuracy of the three ways of fusing the graphs of one draw of anchors, in percent."""
    n_clusters = len(np.unique(np.asarray(data.labels)))
    options: dict[str, Any] = {"n_clusters": n_clusters, "random_state": seed}
    aligned = AlignedClusterer(adapter, **options).fit(data.views)
    graphs = aligned.anchor_graphs_.graphs
    controls = [AlignedClusterer("precomputed", fusion=f, **options).fit(graphs) for f in ("unaligned", "concat")]
    labels = {"unaligned": controls[0].labels_, "aligned": aligned.labels_, "concat": controls[1].labels_}
    return [100 * acc(data.labels, labels[fusion]) for fusion in FUSIONS]


def main() -> None:
    """Print one line for each adapter and data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--seeds", type=int, default=10, metavar="N")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    arguments = parser.parse_args()
    sources = bundled() if arguments.folder is None else files(arguments.folder)
    print(f"ACC in %, mean ± sd over {arguments.seeds} seeds")
    print(f"{'adapter':<9}{'data':<16}" + "".join(f"{fusion:<14}" for fusion in FUSIONS) + "above")
    for name, data in sources:
        if arguments.only and name not in arguments.only:
            continue
        for adapter in ADAPTERS:
            table = np.array([scores(adapter, data, seed) for seed in range(arguments.seeds)])
            cells = [f"{mean:.1f} ± {sd:.1f}" for mean, sd in zip(table.mean(axis=0), table.std(axis=0), strict=True)]
            above = f"{int((table[:, 1] > table[:, 0]).sum())} of {len(table)}"
            print(f"{adapter:<9}{name:<16}" + "".join(f"{cell:<14}" for cell in cells) + above, flush=True)


if __name__ == "__main__":
    main()
