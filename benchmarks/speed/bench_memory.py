"""Peak resident memory of fits, each in a process of its own: in memory, and on files larger than it may take."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memory_run import Job, Outcome, measure, write_planted

IN_MEMORY, ON_DISK, QUICK = 1_000_000, 5_000_000, 20_000
# Beyond what was there and the stored graphs: this share of views and graphs, or so many megabytes.
LARGEST_SHARE, LARGEST_BEYOND = 0.10, 300.0
# Megabytes of everything, the interpreter included, for views of 1.28 GB.
LARGEST_PEAK = 700.0
LEAST_ACCURACY = 0.85
THREADS = 2
# One run of k-means: ten share their passes over the samples, and their memory is bounded alike.
PARAMS: dict[str, dict[str, Any]] = {"lmvsc": {}, "fmvacc": {"n_init": 1, "max_iter": 20, "tol": 0.0}}
# Full k-means on five million samples takes many minutes; its memory is bounded alike.
PLACES = (("never", "sample"), ("disk", "sample"))
SCRIPT = Path(__file__).with_name("memory_run.py")


def run(quick: bool, _max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Both adapters, float32 and float64 in memory; then float32 in files, with graphs on disk and never stored."""
    report("")
    report(f"Resident memory in MB, {THREADS} threads; m = 20, two views x 32 columns")
    in_memory = _in_memory(QUICK if quick else IN_MEMORY, ("float32",) if quick else ("float32", "float64"), report)
    rates = {name.split(",")[0]: found["seconds"] for name, found in in_memory.items() if "float32" in name}
    with tempfile.TemporaryDirectory() as folder:
        on_disk = _on_disk(QUICK if quick else ON_DISK, Path(folder), rates, quick, report)
        equal = _equal_results(QUICK, Path(folder), report)
    passed = equal and all(found["passed"] for found in (*in_memory.values(), *on_disk.values()))
    return {
        "in_memory": in_memory,
        "on_disk": on_disk,
        "summary": {
            "passed": passed,
            "largest_beyond": max(found["beyond"] for found in in_memory.values()),
            "largest_peak_on_files": max(found["peak"] for found in on_disk.values()),
            "storages_agree": equal,
        },
    }


def _in_memory(n: int, dtypes: tuple[str, ...], report: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    report(f"  in memory, n = {n}: peak beyond interpreter, views and graphs")
    report(f"  (bar: <= {LARGEST_SHARE:.0%} of views and graphs or {LARGEST_BEYOND:g} MB, whichever is larger)")
    result = {}
    for adapter, params in PARAMS.items():
        for dtype in dtypes:
            found = _measure(Job(adapter, n, "memory", dtype, params, THREADS))
            most = max(LARGEST_BEYOND, LARGEST_SHARE * (found.views + found.graphs))
            result[f"{adapter}, {dtype}"] = {**asdict(found), "passed": found.beyond <= most}
            report(
                f"    {adapter:<8}{dtype:<9} beyond {found.beyond:>5.0f}   peak {found.peak:>6.0f}   views "
                f"{found.views:.0f}   graphs {found.graphs:.0f}   ACC {found.accuracy:.3f}"
                f"{'' if found.beyond <= most else '   MISSED'}"
            )
    return result


def _on_disk(
    n: int, folder: Path, rates: dict[str, float], quick: bool, report: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    write_planted(folder, n)
    report(f"  views in files, n = {n}   (bar: peak <= {LARGEST_PEAK:g} MB, everything included)")
    result = {}
    for adapter, params in PARAMS.items():
        for storage, kmeans in PLACES[: 1 if quick else None]:
            job = Job(adapter, n, storage, "float32", {**params, "kmeans": kmeans}, THREADS, str(folder))
            found = _measure(job)
            passed = found.peak <= LARGEST_PEAK and found.accuracy >= LEAST_ACCURACY
            rate = (found.seconds / n) / (rates[adapter] / (QUICK if quick else IN_MEMORY))
            result[f"{adapter}, {storage}, {kmeans}"] = {**asdict(found), "time_ratio": rate, "passed": passed}
            report(
                f"    {adapter:<8}{storage:<6} k-means {kmeans:<7} peak {found.peak:>5.0f}   ACC {found.accuracy:.3f}"
                f"   time per sample over that in memory (full k-means) {rate:.2f}{'' if passed else '   MISSED'}"
            )
    return result


def _equal_results(n: int, folder: Path, report: Callable[[str], None]) -> bool:
    """Whether labels are the same wherever views and graphs are."""
    write_planted(folder, n)
    equal = True
    for adapter, params in PARAMS.items():
        places = [(storage, None) for storage in ("memory", "disk", "never")] + [("never", str(folder))]
        labels = {measure(Job(adapter, n, storage, "float32", params, 1, place)).labels for storage, place in places}
        equal = equal and len(labels) == 1
    report(f"  labels from memory, disk and never stored, and from files, n = {n}: {'equal' if equal else 'DIFFERENT'}")
    return equal


def _measure(job: Job) -> Outcome:
    done = subprocess.run([sys.executable, str(SCRIPT), json.dumps(asdict(job))], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{job} failed:\n{done.stderr}")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))
