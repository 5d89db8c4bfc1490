"""Measure again what README and pages show, and store it in benchmarks/results.

    python benchmarks/run.py NAME ... [--data DIR]     measure these results
    python benchmarks/run.py all [--data DIR]          all of them; a stopped run continues where it was
    python benchmarks/run.py --list                    what each is, how long it takes, and which pages show it

DIR has the data sets (the page "Data" of the docs says where to get them). BLAS, and with it the package, runs on one
thread, unless a script says otherwise. Then render the pages: python benchmarks/render.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from pathlib import Path

import results
from threadpoolctl import threadpool_limits

FINISHED = results.WORK / "all.json"  # what an unfinished run of all has finished


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def measure(name: str, data: Path) -> None:
    """Run one script and store its result; the time counts from the last start."""
    bench = results.Bench(name, data, say)
    started = time.perf_counter()
    with threadpool_limits(1):
        found = results.script(name).run(bench)
    minutes = (time.perf_counter() - started) / 60
    bench.store(found, minutes)
    say(f"{name}: stored, {minutes:.1f} min")


def measure_all(data: Path) -> int:
    """All results that an earlier run has not finished; one that fails is named, and the others go on."""
    known = results.names()
    finished: list[str] = json.loads(FINISHED.read_text(encoding="utf-8")) if FINISHED.exists() else []
    failed = []
    for place, name in enumerate(known, start=1):
        if name in finished:
            continue
        say(f"{place} of {len(known)}: {name}, {results.duration(name)}")
        try:
            measure(name, data)
        except Exception:
            traceback.print_exc()
            failed.append(name)
            continue
        results.WORK.mkdir(parents=True, exist_ok=True)
        finished.append(name)
        FINISHED.write_text(json.dumps(finished), encoding="utf-8")
    if failed:
        say(f"Failed: {', '.join(failed)}. The same command measures these again.")
    else:
        FINISHED.unlink(missing_ok=True)
    return int(bool(failed))


def print_list() -> None:
    """Two lines for each result."""
    for name in results.names():
        print(f"{name:<18} {results.duration(name):>13}  {results.about(name)}")
        print(f"{'':<33} {', '.join(results.pages(name)) or 'no page'}")


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--data", type=Path, default=Path(), help="folder of the data sets [this one]")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in (*results.names(), "all")]
    if unknown:
        parser.error(f"there is no result {unknown[0]!r}; --list shows all")
    if arguments.list or not arguments.names:
        print_list()
        return 0
    try:
        if "all" in arguments.names:
            return measure_all(arguments.data)
        for name in arguments.names:
            measure(name, arguments.data)
    except KeyboardInterrupt:
        say("Stopped. The same command goes on where it was.")
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
