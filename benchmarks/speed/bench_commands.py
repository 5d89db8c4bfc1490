"""Peak resident memory of ``anchor-align cluster`` and ``predict`` on parquet files larger than it may take."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from memory_run import N_CLUSTERS, N_COLUMNS, N_VIEWS, blocks

from anchor_align.metrics import acc

SAMPLES, QUICK = 5_000_000, 50_000
LARGEST_PEAK = 1000.0  # megabytes of everything, the interpreter included, for views of 1.28 GB
LEAST_ACCURACY = 0.8
MEMORY = "400MB"


@dataclass(frozen=True)
class Run:
    """One command in a process of its own: peak resident memory in megabytes, and seconds."""

    peak: float
    seconds: float


def run(quick: bool, _max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Write planted views to parquet, cluster them, save the model, and label the same rows with it."""
    n = QUICK if quick else SAMPLES
    report("")
    report(f"Commands on parquet files: n = {n}, {N_VIEWS} views x {N_COLUMNS} float32 columns, --memory {MEMORY}")
    report(f"  (bar: peak <= {LARGEST_PEAK:g} MB, everything included; the same labels from cluster and predict)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labels = write_parquet(folder, n)
        files = [f"view_{view}.parquet" for view in range(N_VIEWS)]
        settings = ["--clusters", str(N_CLUSTERS), "--set", "kmeans=sample", "--memory", MEMORY]
        cluster = command(folder, ["cluster", *files, *settings, "-o", "labels.parquet", "--save", "planted.model"])
        predict = command(folder, ["predict", "planted.model", *files, "-o", "again.parquet"])
        found, again = (read_labels(folder / f"{each}.parquet") for each in ("labels", "again"))
        size = (folder / "planted.model").stat().st_size
    accuracy, same = acc(labels, found), float(np.mean(found == again))
    passed = max(cluster.peak, predict.peak) <= LARGEST_PEAK and same > 0.9999 and accuracy >= LEAST_ACCURACY
    for what, each in (("cluster", cluster), ("predict", predict)):
        report(f"    {what:<8} peak {each.peak:>5.0f} MB   {each.seconds / cluster.seconds:.2f} of the time of cluster")
    report(
        f"    ACC {accuracy:.3f}   same labels {same:.6f}   model {size / 1e3:.0f} KB{'' if passed else '   MISSED'}"
    )
    summary = {"passed": passed, "largest_peak": max(cluster.peak, predict.peak)}
    runs = {"cluster": asdict(cluster), "predict": asdict(predict), "model": size, "accuracy": accuracy}
    return {**runs, "summary": summary}


def write_parquet(folder: Path, n: int) -> np.ndarray:
    """Planted views, a group of rows at a time, and their clusters."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"x{column}", pa.float32()) for column in range(N_COLUMNS)])
    writers = [pq.ParquetWriter(folder / f"view_{view}.parquet", schema) for view in range(N_VIEWS)]
    clusters = []
    for _, views, labels in blocks(n, "float32"):
        clusters.append(labels)
        for writer, X in zip(writers, views, strict=True):
            writer.write_table(pa.Table.from_arrays([pa.array(column) for column in X.T], schema=schema))
    for writer in writers:
        writer.close()
    return np.concatenate(clusters)


def command(folder: Path, words: Sequence[str]) -> Run:
    """Run a command in a process of its own."""
    program = [sys.executable, "-c", "import sys\nfrom anchor_align.cli import main\nsys.exit(main())", *words]
    started = time.perf_counter()
    pid = os.posix_spawn("/bin/sh", ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(folder), *program], os.environ)
    _, code, usage = os.wait4(pid, 0)
    if code:
        raise RuntimeError(f"anchor-align {' '.join(words)} failed with status {code}")
    return Run(usage.ru_maxrss * 1024 / 1e6, time.perf_counter() - started)


def read_labels(path: Path) -> np.ndarray:
    """The column of clusters."""
    import pyarrow.parquet as pq

    return np.asarray(pq.read_table(path, columns=["cluster"])["cluster"])


if __name__ == "__main__":
    run("--quick" in sys.argv, 0, print)
