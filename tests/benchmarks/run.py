"""Run all benchmarks: prints tables and, with --json, writes the numbers.

    python tests/benchmarks/run.py [--quick] [--json FILE] [--only matching|grams|simplex|sfmc|study] [--max-anchors M]

Install the other solvers first: pip install -e ".[test,bench]". BLAS runs on one thread, so that ratios mean the same
on every machine. --quick takes scikit-learn's digits instead of the real data and ends within a minute; without it the
exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path

import bench_grams
import bench_matching
import bench_sfmc
import bench_simplex
import bench_study
import numpy as np
import scipy
from instances import data_available
from threadpoolctl import threadpool_limits

BENCHMARKS = {
    "matching": bench_matching.run,
    "grams": bench_grams.run,
    "simplex": bench_simplex.run,
    "sfmc": bench_sfmc.run,
    "study": bench_study.run,
}


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--only", choices=BENCHMARKS)
    parser.add_argument("--max-anchors", type=int, default=1000, metavar="M")
    arguments = parser.parse_args()
    quick = arguments.quick or not data_available()
    if quick and not arguments.quick:
        print("The real data are not on this machine: running as with --quick.", file=sys.stderr)
    results: dict[str, object] = {
        "environment": {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__},
        "quick": quick,
    }
    passed = True
    with threadpool_limits(1):
        for name, run in BENCHMARKS.items():
            if arguments.only in (None, name):
                result = run(quick, arguments.max_anchors, lambda line: print(line, flush=True))
                results[name] = result
                passed = passed and result["summary"]["passed"]
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, allow_nan=False))
    return 0 if passed or quick else 1


if __name__ == "__main__":
    raise SystemExit(main())
