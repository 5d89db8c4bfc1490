"""Peak memory of fits, each in a process of its own: with views in memory, and in files of 1.28 GB."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memory_run import Job, write_planted
from results import Bench

MINUTES = 6
IN_MEMORY, ON_DISK = 1_000_000, 5_000_000
THREADS = 2
# One run of k-means: ten share their passes over the samples, and their memory is bounded alike.
PARAMS: dict[str, dict[str, Any]] = {"lmvsc": {}, "fmvacc": {"n_init": 1, "max_iter": 20, "tol": 0.0}}


def run(bench: Bench) -> dict[str, Any]:
    """Megabytes beyond what was there and the stored graphs; for files, of the whole process."""
    rows = [
        {"adapter": adapter, "dtype": dtype, **bench.kept(f"{adapter} {dtype}", _fit, job)}
        for adapter, dtype in itertools.product(PARAMS, ("float32", "float64"))
        for job in [Job(adapter, IN_MEMORY, "memory", dtype, PARAMS[adapter], THREADS)]
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_planted(Path(folder), ON_DISK)
        files = [
            {"adapter": adapter, "storage": storage, **bench.kept(f"{adapter} files {storage}", _fit, job)}
            for adapter, storage in itertools.product(PARAMS, ("never", "disk"))
            # K-means of all samples takes many minutes; its memory is bounded alike.
            for params in [{**PARAMS[adapter], "kmeans": "sample"}]
            for job in [Job(adapter, ON_DISK, storage, "float32", params, THREADS, folder)]
        ]
    return {"threads": THREADS, "in_memory": {"n": IN_MEMORY, "rows": rows}, "files": {"n": ON_DISK, "rows": files}}


def _fit(job: Job) -> dict[str, float]:
    words = [sys.executable, str(Path(__file__).with_name("memory_run.py")), json.dumps(asdict(job))]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def megabytes(part: Any, adapter: str, what: str) -> float:
    """Peak of one fit: beyond what was there, for a type of numbers, or of the process, for a kind of storage."""
    (row,) = (row for row in part["rows"] if row["adapter"] == adapter and what in row.values())
    return float(row["beyond" if "dtype" in row else "peak"])
