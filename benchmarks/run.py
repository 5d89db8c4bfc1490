"""Measure again what README and pages show, and store it in benchmarks/results.

    python benchmarks/run.py NAME ... [--data DIR]     measure these results
    python benchmarks/run.py all [--data DIR]          all of them; a stopped run continues where it was
    python benchmarks/run.py --list                    what each is, how long it took, and which pages show it

DIR has the data sets (the page "Data" of the docs says where to get them). BLAS, and with it the package, runs on one
thread, unless a script says otherwise. Then render the pages: python benchmarks/render.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import results
from threadpoolctl import threadpool_limits

FINISHED = results.WORK / "all.json"  # what an unfinished run of all has finished


def measure(name: str, data: Path) -> None:
    """Run one script and store its result; the time counts from the last start."""
    bench = results.Bench(name, data, lambda line: print(line, file=sys.stderr, flush=True))
    started = time.perf_counter()
    with threadpool_limits(1):
        found = results.script(name).run(bench)
    bench.store(found, (time.perf_counter() - started) / 60)


def print_list() -> None:
    """A line for each result."""
    for name in results.names():
        made = results.read(name) if results.stored(name).exists() else {}
        minutes = f"{made['minutes']:.0f} min" if made.get("minutes") else "not measured"
        print(f"{name:<20} {minutes:>12}  {results.about(name)}\n{'':34} {', '.join(results.pages(name)) or 'no page'}")


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--data", type=Path, default=Path(), help="folder of the data sets [this one]")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    known = results.names()
    unknown = [name for name in arguments.names if name not in (*known, "all")]
    if unknown:
        parser.error(f"there is no result {unknown[0]!r}; --list shows all")
    if arguments.list or not arguments.names:
        print_list()
        return 0
    every = arguments.names == ["all"]
    finished: list[str] = json.loads(FINISHED.read_text()) if every and FINISHED.exists() else []
    wanted = [name for name in known if name not in finished] if every else arguments.names
    for place, name in enumerate(wanted, start=1):
        print(f"{place} of {len(wanted)}: {name}", file=sys.stderr, flush=True)
        measure(name, arguments.data)
        if every:
            results.WORK.mkdir(parents=True, exist_ok=True)
            FINISHED.write_text(json.dumps([*finished, *wanted[:place]]))
    if every:
        FINISHED.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
