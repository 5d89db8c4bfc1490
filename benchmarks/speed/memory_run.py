"""One fit in a process of its own; prints its peak resident memory and more as JSON. Called by memory.py.

    python benchmarks/speed/memory_run.py '{"adapter": "lmvsc", "n": 1000000, "storage": "memory", ...}'

The data are planted: ten clusters that overlap, two views of 32 columns. They are made a block at a time, so that they
can be written to files larger than memory, and are the same in memory and in files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

N_CLUSTERS, N_VIEWS, N_COLUMNS, N_ANCHORS = 10, 2, 32, 20
# Distance of the cluster means from zero in every column; the noise in it is 1.
SPACING = 0.45
BLOCK = 2**16
MEGABYTE = 1e6

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Job:
    """What to fit. With a folder the views are files in it, opened as memmaps."""

    adapter: str
    n: int
    storage: str
    dtype: str = "float32"
    params: dict[str, Any] = field(default_factory=dict)
    threads: int = 1
    folder: str | None = None


def blocks(n: int, dtype: str) -> Iterator[tuple[slice, list[Array], Array]]:
    """Planted rows of both views and their clusters, a block at a time."""
    means = np.random.default_rng(0).standard_normal((N_VIEWS, N_CLUSTERS, N_COLUMNS), dtype=np.float32) * SPACING
    # Every cluster has parts, so that there are as many as anchors: k-means would wander about in a single blob.
    parts = np.random.default_rng(2).standard_normal((N_VIEWS, N_ANCHORS, N_COLUMNS), dtype=np.float32) * SPACING
    for start in range(0, n, BLOCK):
        rng = np.random.default_rng([1, start])
        rows = slice(start, min(start + BLOCK, n))
        size = rows.stop - rows.start
        part = rng.integers(N_ANCHORS, size=size)
        labels = part % N_CLUSTERS
        views = [
            (rng.standard_normal((size, N_COLUMNS), dtype=np.float32) + mean[labels] + apart[part]).astype(
                dtype, copy=False
            )
            for mean, apart in zip(means, parts, strict=True)
        ]
        yield rows, views, labels


def planted(n: int, dtype: str = "float32") -> tuple[list[Array], Array]:
    """Views in memory and the clusters of their samples."""
    views = [np.empty((n, N_COLUMNS), dtype) for _ in range(N_VIEWS)]
    labels = np.empty(n, dtype=np.int8)
    for rows, parts, part in blocks(n, dtype):
        labels[rows] = part
        for view, rows_of_view in zip(views, parts, strict=True):
            view[rows] = rows_of_view
    return views, labels


def write_planted(folder: Path, n: int, dtype: str = "float32") -> None:
    """The same in files, a block at a time."""
    shape = (n, N_COLUMNS)
    files = [np.lib.format.open_memmap(path, "w+", dtype, shape) for path in _paths(folder)]
    for rows, parts, _ in blocks(n, dtype):
        for file, part in zip(files, parts, strict=True):
            file[rows] = part
    for file in files:
        file.flush()


def _paths(folder: Path) -> list[Path]:
    return [folder / f"view_{view}.npy" for view in range(N_VIEWS)]


def measure(job: Job) -> dict[str, float]:
    """Fit, and look at the resident memory: megabytes at the peak, and without what was there and the stored graphs."""
    from threadpoolctl import threadpool_limits

    from anchor_align import AlignedClusterer
    from anchor_align.metrics import acc

    settings: dict[str, Any] = {"n_clusters": N_CLUSTERS, "n_anchors": N_ANCHORS, "random_state": 0}
    clusterer = AlignedClusterer(job.adapter, **settings, adapter_params=job.params, storage=job.storage)
    with threadpool_limits(job.threads):
        clusterer.fit(planted(1000, job.dtype)[0])  # what is imported on the way
        if job.folder is None:
            views, labels = planted(job.n, job.dtype)
        else:
            views = [np.load(path, mmap_mode="r") for path in _paths(Path(job.folder))]
            labels = np.empty(0)
        before = resident("VmRSS")
        with suppress(OSError):  # where it is not allowed, the peak is that of the whole process
            Path("/proc/self/clear_refs").write_text("5")
        clusterer.fit(views)
        peak = resident("VmHWM")
    kept = [*clusterer.anchor_graphs_.graphs, clusterer.fused_graph_] if job.storage == "memory" else []
    graphs = sum(graph.nbytes for graph in kept) / MEGABYTE
    if job.folder is not None:
        labels = np.concatenate([part for _, _, part in blocks(job.n, job.dtype)])
    return {"peak": peak, "beyond": peak - before - graphs, "accuracy": float(acc(labels, clusterer.labels_))}


def resident(what: str) -> float:
    """Megabytes of resident memory, now (VmRSS) or at most (VmHWM).

    Not those of getrusage: a process starts with the peak of the one that started it there.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(what))
    return int(kilobytes) * 1024 / MEGABYTE


if __name__ == "__main__":
    print(json.dumps(measure(Job(**json.loads(sys.argv[1])))))
