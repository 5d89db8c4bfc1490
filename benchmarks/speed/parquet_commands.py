"""Peak memory of ``anchor-align cluster`` and ``predict`` on parquet files that are larger than it may be."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from memory_run import MEGABYTE, N_CLUSTERS, N_COLUMNS, N_VIEWS, blocks
from results import Bench

from anchor_align.metrics import acc

MINUTES = 2
SAMPLES = 5_000_000
MEMORY = "400MB"


def run(bench: Bench) -> dict[str, Any]:
    """Write planted views to parquet, cluster them, save the model, and label the same rows with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labels = _write_parquet(folder)
        files = [f"view_{view}.parquet" for view in range(N_VIEWS)]
        settings = ["--clusters", str(N_CLUSTERS), "--set", "kmeans=sample", "--memory", MEMORY]
        cluster = _peak_of(folder, ["cluster", *files, *settings, "-o", "labels.parquet", "--save", "planted.model"])
        predict = _peak_of(folder, ["predict", "planted.model", *files, "-o", "again.parquet"])
        found, again = (_read_labels(folder / f"{each}.parquet") for each in ("labels", "again"))
        size = (folder / "planted.model").stat().st_size
    peaks = {"memory": MEMORY, "cluster": cluster, "predict": predict}
    return {**peaks, "model": size, "same": float(np.mean(found == again)), "accuracy": float(acc(labels, found))}


def _write_parquet(folder: Path) -> np.ndarray:
    """Planted views, a group of rows at a time, and their clusters."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"x{column}", pa.float32()) for column in range(N_COLUMNS)])
    writers = [pq.ParquetWriter(folder / f"view_{view}.parquet", schema) for view in range(N_VIEWS)]
    clusters = []
    for _, views, labels in blocks(SAMPLES, "float32"):
        clusters.append(labels)
        for writer, X in zip(writers, views, strict=True):
            writer.write_table(pa.Table.from_arrays([pa.array(column) for column in X.T], schema=schema))
    for writer in writers:
        writer.close()
    return np.concatenate(clusters)


def _peak_of(folder: Path, words: Sequence[str]) -> float:
    """Peak resident memory, in megabytes, of a command in a process of its own."""
    program = [sys.executable, "-c", "import sys\nfrom anchor_align.cli import main\nsys.exit(main())", *words]
    pid = os.posix_spawn(
        "/bin/sh", ["/bin/sh", "-c", 'cd "$0" && exec "$@" >/dev/null', str(folder), *program], os.environ
    )
    _, code, usage = os.wait4(pid, 0)
    if code:
        raise RuntimeError(f"anchor-align {' '.join(words)} failed with status {code}")
    return usage.ru_maxrss * 1024 / MEGABYTE


def _read_labels(path: Path) -> np.ndarray:
    """The column of clusters."""
    import pyarrow.parquet as pq

    return np.asarray(pq.read_table(path, columns=["cluster"])["cluster"])
