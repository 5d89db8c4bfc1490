"""Sparse graphs from Gram matrices to labels: time against the bare sparse products, memory against the graphs.

The graphs are planted: ten clusters, every sample on ten anchors, most of them of its cluster. Every view has its own
order of anchors.

    python benchmarks/speed/sparse_graphs.py 1000000 2 memory     # one fit in a process of its own, as JSON
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from memory_run import MEGABYTE, resident

if TYPE_CHECKING:
    from results import Bench

MINUTES = 3
SAMPLES = 1_000_000
N_ANCHORS, N_CLUSTERS, NEIGHBOURS = 200, 10, 10
PARAMS = {"column_scaling": 1.0, "directions": 1.5}  # as in the default adapter
CASES = ((2, "memory"), (3, "memory"), (3, "never"))  # views, storage
BLOCK = 2**16


def run(bench: Bench) -> dict[str, Any]:
    """Every case in a process of its own."""
    return {"n": SAMPLES, "rows": [bench.kept(f"{v} views, {storage}", _case, v, storage) for v, storage in CASES]}


def _case(n_views: int, storage: str) -> dict[str, Any]:
    words = [sys.executable, __file__, str(SAMPLES), str(n_views), storage]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return {"views": n_views, "storage": storage, **json.loads(done.stdout)}


def planted_graphs(n: int, n_views: int) -> tuple[list[sp.csr_array], np.ndarray]:
    """Graphs with ten entries a row that sum to one, and the clusters of the samples."""
    labels = np.random.default_rng(0).integers(N_CLUSTERS, size=n)
    own = N_ANCHORS // N_CLUSTERS
    graphs = []
    for view in range(n_views):
        rng = np.random.default_rng([1, view])
        order = rng.permutation(N_ANCHORS)
        columns, weights = np.empty((n, NEIGHBOURS), dtype=np.int32), np.empty((n, NEIGHBOURS))
        for start in range(0, n, BLOCK):
            rows = slice(start, min(start + BLOCK, n))
            size = rows.stop - start
            # Of the anchors of the cluster and half of those of the next.
            near = np.argpartition(rng.random((size, own * 3 // 2)), NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
            columns[rows] = np.sort(order[(labels[rows, None] * own + near) % N_ANCHORS], axis=1)
            drawn = rng.random((size, NEIGHBOURS))
            weights[rows] = drawn / drawn.sum(axis=1, keepdims=True)
        edges = np.arange(0, n * NEIGHBOURS + 1, NEIGHBOURS, dtype=np.int32)
        graphs.append(sp.csr_array((weights.ravel(), columns.ravel(), edges), shape=(n, N_ANCHORS)))
    return graphs, labels


def _bare(graphs: list[sp.csr_array], n_directions: int) -> np.ndarray:
    """The products that a fit needs, as SciPy computes them: all pairs of views, the mean, and its embedding."""
    for u, v in itertools.combinations_with_replacement(range(len(graphs)), 2):
        graphs[u].T @ graphs[v]
    mean = graphs[0] / len(graphs)
    for Z in graphs[1:]:
        mean = mean + Z / len(graphs)
    return np.asarray(mean @ np.ones((N_ANCHORS, n_directions)))


def measure(n: int, n_views: int, storage: str) -> dict[str, float]:
    """One fit. The memory is the peak beyond the start of the process, graphs included, over the graphs themselves."""
    from threadpoolctl import threadpool_limits

    from anchor_align import AlignedClusterer
    from anchor_align.metrics import acc

    clusterer = AlignedClusterer(
        "precomputed", n_clusters=N_CLUSTERS, random_state=0, adapter_params=PARAMS, storage=storage
    )
    n_directions = int(PARAMS["directions"] * N_CLUSTERS)
    with threadpool_limits(1):
        clusterer.fit(planted_graphs(2000, n_views)[0])  # what is imported on the way
        imports = resident("VmRSS")
        graphs, labels = planted_graphs(n, n_views)
        with suppress(OSError):  # where it is not allowed, the peak is that of the whole process
            Path("/proc/self/clear_refs").write_text("5")
        start = time.process_time()
        clusterer.fit(graphs)
        ours = time.process_time() - start
        peak = resident("VmHWM") - imports
        start = time.process_time()
        _bare(graphs, n_directions)
        bare = time.process_time() - start
    kept = [*graphs, clusterer.fused_graph_] if storage == "memory" else graphs
    size = sum(Z.data.nbytes + Z.indices.nbytes + Z.indptr.nbytes for Z in kept) / MEGABYTE
    return {"time": ours / bare, "memory": peak / size, "accuracy": float(acc(labels, clusterer.labels_))}


def listed(result: Any, what: str) -> list[float]:
    """A number of every case."""
    return [row[what] for row in result["rows"]]


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
