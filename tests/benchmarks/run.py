"""Run all benchmarks: prints tables and, with --json, writes the numbers.

    python tests/benchmarks/run.py [--quick] [--json FILE] [--store] [--only NAME ...] [--max-anchors M]
    python tests/benchmarks/run.py --profile   # writes PROFILE.md: where the time of a default fit goes

Install the other solvers first: pip install -e ".[test,bench]". BLAS, and with it the package, runs on one thread, so
that ratios mean the same on every machine; memory and Dask are measured with two. --quick takes scikit-learn's digits
and small planted data instead of the real data and ends within a few minutes; without it the exit code is 1 if a bar is
missed. --store writes results/NAME.json for each benchmark: tests/project/test_benchmark_numbers.py compares the pages
with it.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bench_anchors
import bench_baselines
import bench_chance
import bench_commands
import bench_consensus
import bench_dask
import bench_embedding
import bench_fmvacc
import bench_grams
import bench_kmeans
import bench_local
import bench_matching
import bench_memory
import bench_near_ties
import bench_optimum
import bench_overheads
import bench_pair_curves
import bench_projection
import bench_rivals
import bench_scale
import bench_sfmc
import bench_simplex
import bench_sparse
import bench_study
import numpy as np
import profile_fit
import scipy
from instances import data_available
from threadpoolctl import threadpool_limits

BENCHMARKS = {
    "matching": bench_matching.run,
    "optimum": bench_optimum.run,
    "pair-curves": bench_pair_curves.run,
    "chance": bench_chance.run,
    "near-ties": bench_near_ties.run,
    "consensus": bench_consensus.run,
    "grams": bench_grams.run,
    "simplex": bench_simplex.run,
    "projection": bench_projection.run,
    "embedding": bench_embedding.run,
    "local": bench_local.run,
    "sparse": bench_sparse.run,
    "sfmc": bench_sfmc.run,
    "fmvacc": bench_fmvacc.run,
    "anchors": bench_anchors.run,
    "kmeans": bench_kmeans.run,
    "baselines": bench_baselines.run,
    "scale": bench_scale.run,
    "memory": bench_memory.run,
    "commands": bench_commands.run,
    "dask": bench_dask.run,
    "rivals": bench_rivals.run,
    "study": bench_study.run,
    "overheads": bench_overheads.run,
}
PROFILE = Path(__file__).with_name("PROFILE.md")
RESULTS = Path(__file__).with_name("results")
MOST_RECORDS = 60  # longer lists of records are not stored: what a page says of them is in the summary


def store(name: str, result: Mapping[str, Any]) -> None:
    """Write what a benchmark has found, to four digits, for the test that compares the pages with it."""
    kept = {key: each for key, each in result.items() if not isinstance(each, list) or len(each) <= MOST_RECORDS}
    environment = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(rounded({"environment": environment, **kept}), indent=1, allow_nan=False)
    (RESULTS / f"{name}.json").write_text(f"{text}\n")


def rounded(value: Any) -> Any:
    """The same value with all floats to four digits."""
    if isinstance(value, Mapping):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--store", action="store_true", help=f"write {RESULTS.name}/NAME.json, not with --quick")
    parser.add_argument("--only", choices=BENCHMARKS, nargs="+", default=list(BENCHMARKS), metavar="NAME")
    parser.add_argument("--max-anchors", type=int, default=1000, metavar="M")
    parser.add_argument("--profile", action="store_true", help=f"write {PROFILE.name} and nothing else")
    arguments = parser.parse_args()
    quick = arguments.quick or not data_available()
    if quick and not arguments.quick:
        print("The real data are not on this machine: running as with --quick.", file=sys.stderr)
    if arguments.profile:
        text = profile_fit.profile(quick)
        print(text)
        if not quick:
            PROFILE.write_text(text)
        return 0
    results: dict[str, object] = {
        "environment": {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__},
        "quick": quick,
    }
    passed = True
    with threadpool_limits(1):
        for name, run in BENCHMARKS.items():
            if name in arguments.only:
                result = run(quick, arguments.max_anchors, lambda line: print(line, flush=True))
                results[name] = result
                if arguments.store and not quick:
                    store(name, result)
                passed = passed and result["summary"]["passed"]
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, allow_nan=False))
    return 0 if passed or quick else 1


if __name__ == "__main__":
    raise SystemExit(main())
