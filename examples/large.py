"""Cluster views in files with little memory: graphs on disk or never stored, anchors learned from a sample.

    python examples/large.py [NUMBER OF SAMPLES]

The script writes two views of planted clusters to .npy files, block by block, and opens them as memory maps. The fit
reads one block at a time. With 5,000,000 samples (1.3 GB of files) its memory stays far below the size of the files.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from anchor_align import AlignedClusterer, NotEnoughMemoryError, load_views
from anchor_align.metrics import acc

N_CLUSTERS, N_FEATURES, BLOCK = 10, 32, 50_000


def write_views(folder: Path, n_samples: int) -> None:
    """Two views and the labels, a block of samples at a time."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((2, N_CLUSTERS, N_FEATURES))
    shape = (n_samples, N_FEATURES)
    views = [np.lib.format.open_memmap(folder / f"view_{v}.npy", "w+", np.float32, shape) for v in range(2)]
    labels = np.lib.format.open_memmap(folder / "labels.npy", "w+", np.uint8, (n_samples,))
    for start in range(0, n_samples, BLOCK):
        rows = slice(start, min(start + BLOCK, n_samples))
        labels[rows] = rng.integers(N_CLUSTERS, size=rows.stop - start)
        for view, each in zip(views, centres, strict=True):
            view[rows] = each[labels[rows]] + rng.standard_normal((rows.stop - start, N_FEATURES))


def main() -> None:
    """Fit within a memory limit, with graphs never stored and on disk; then with a limit that is too small."""
    n_samples = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        write_views(Path(folder), n_samples)
        data = load_views(folder, mmap=True)
        print(f"{n_samples} samples, {sum(view.nbytes for view in data.views) / 1e6:.0f} MB of views in files")
        settings: dict[str, Any] = {
            "n_clusters": N_CLUSTERS,
            "n_anchors": 20,
            "adapter_params": {"kmeans": "sample"},
            "random_state": 0,
        }
        budget = 150 * n_samples + 50_000_000
        labels = {}
        for storage in ("never", "disk"):
            clusterer = AlignedClusterer("lmvsc", storage=storage, memory=budget, **settings)
            labels[storage] = clusterer.fit_predict(data.views)
            print(f"storage={storage!r}: ACC {acc(data.labels, labels[storage]):.3f}")
        print("the same labels:", np.array_equal(labels["never"], labels["disk"]))
        print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")
        try:
            AlignedClusterer("lmvsc", memory="9MB", **settings).fit(data.views)
        except NotEnoughMemoryError as error:
            print(f"with 9 MB: {error}")


if __name__ == "__main__":
    main()
