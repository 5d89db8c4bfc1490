"""Random and hostile input for every public function, for any number of minutes.

::

    .venv/bin/python tests/soak/soak.py --minutes 30             # all areas in turn
    .venv/bin/python tests/soak/soak.py --minutes 5 --only fit   # one area
    .venv/bin/python tests/soak/soak.py --area fit --case-seed 7 # one case again, with its traceback

A case fails if it raises anything but an AnchorAlignError of one line, changes its input, breaks a promise of the
documentation, gives another result on other threads, ends its process, needs much memory, or does not end. Cases run
in other processes, which may die. The last line says how many cases were run and how many failed; with failures the
exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
# Areas by seconds for one case. Those of the second kind start processes or draw figures.
QUICK = (
    "align", "aligner", "grams", "fuse", "fit", "settings", "simplex", "kmeans", "blocks", "metrics", "load",
    "align-files", "models", "compare", "figures", "plugin-files", "words",
)  # fmt: skip
SLOW = ("report", "killed-study", "killed-dask", "plugin-faults")
LIMITS = dict.fromkeys(QUICK, 60.0) | dict.fromkeys(SLOW, 300.0)
START = 60.0  # seconds until a worker has imported everything
FRESH = 400  # cases for one worker: a new one shows what depends on earlier cases


class Worker:
    """A process that runs cases of one area."""

    def __init__(self, area: str) -> None:
        self.area = area
        self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  # closed with the worker
        path = os.pathsep.join([str(HERE), str(HERE.parent)])
        # Several BLAS threads must be possible: a case runs on one and on several.
        environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "soak_worker.py"), area, str(LIMITS[area] - 5.0)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, env=environment,
            start_new_session=True,
        )  # fmt: skip
        self.n_cases = 0
        self._answers: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def run(self, seed: int) -> dict[str, Any]:
        """Run one case; a worker that dies or hangs is the failure of the case."""
        assert self.process.stdin is not None
        limit = LIMITS[self.area] + (START if self.n_cases == 0 else 0.0)
        self.n_cases += 1
        try:
            self.process.stdin.write(f"{seed}\n")
            self.process.stdin.flush()
            answer = self._answers.get(timeout=limit)
        except queue.Empty:
            return self._lost(f"did not end in {limit:g} seconds", "hang")
        except BrokenPipeError:
            answer = ""
        if answer:
            return dict(json.loads(answer))
        code = self.process.wait()
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return self._lost(f"the process died: {cause}", f"died {cause}")

    def _lost(self, what: str, where: str) -> dict[str, Any]:
        self._log.seek(0)
        log = self._log.read().split("Extension modules:")[0][-6000:]
        self.close()
        return {"failure": what, "where": where, "traceback": log, "lost": True}

    def close(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._log.close()


class Tally:
    """Cases and failures of all areas; prints each failure when it happens."""

    def __init__(self) -> None:
        self.cases: Counter[tuple[str, str]] = Counter()
        self.failures: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def add(self, area: str, seed: int, result: dict[str, Any]) -> None:
        """Count a case."""
        with self._lock:
            self.cases[area, result.get("outcome", "failed")] += 1
            if "failure" not in result:
                return
            kind = area, result["where"]
            self.failures[kind] += 1
            print(f"FAILED --area {area} --case-seed {seed}: {result['failure']} [{result['where']}]", flush=True)
            if self.failures[kind] == 1 and result.get("traceback"):
                print("    " + result["traceback"].rstrip().replace("\n", "\n    "), flush=True)

    def report(self) -> int:
        """Print what was run; returns the exit code."""
        print(f"\n{'area':15}{'returned':>10}{'refused':>10}{'failed':>10}")
        for area in sorted({area for area, _ in self.cases}):
            counts = [self.cases[area, outcome] for outcome in ("returned", "refused", "failed")]
            print(f"{area:15}" + "".join(f"{count:>10}" for count in counts))
        for (area, where), count in self.failures.most_common():
            print(f"{count} failures of {area} at {where}")
        n_failures = sum(self.failures.values())
        print(f"{sum(self.cases.values())} cases, {n_failures} failures")
        return int(n_failures > 0)


def seeds_of(area: str, seed: int) -> Iterator[int]:
    """Seeds of the cases of an area, from the seed of the soak."""
    number = zlib.crc32(f"{seed} {area}".encode())
    while True:  # endless on purpose: the caller stops when its time is over
        yield number
        number = (number + 1) % 2**32


def soak(areas: list[str], minutes: float, seed: int, jobs: int, most: int | None) -> Tally:
    """Run all areas in turn, a slice of time each, until the time is over."""
    tally, seeds = Tally(), {area: seeds_of(area, seed) for area in areas}
    end = time.monotonic() + 60.0 * minutes
    length = min(60.0, 60.0 * minutes * jobs / len(areas))
    turns: queue.Queue[str] = queue.Queue()
    for area in areas:
        turns.put(area)

    def work() -> None:
        while time.monotonic() < end:
            area = turns.get()
            until, worker = min(end, time.monotonic() + length), Worker(area)
            while worker.n_cases == 0 or (time.monotonic() < until and worker.n_cases < (most or FRESH)):
                number = next(seeds[area])
                result = worker.run(number)
                tally.add(area, number, result)
                if "lost" in result:
                    break
            else:
                worker.close()
            # Another thread must not run the same area at the same time: its seeds are in order.
            turns.put(area)
            if most is not None and all(any(each == area for each, _ in tally.cases) for area in areas):
                return

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = (*QUICK, *SLOW)
    parser.add_argument("--minutes", type=float, default=30.0, help="how long [30]")
    parser.add_argument("--seed", type=int, help="seed of all cases [a new one]")
    parser.add_argument(
        "--only", nargs="+", choices=known, metavar="AREA", help=f"areas to run: {', '.join(known)} [all]"
    )
    parser.add_argument("--jobs", "-j", type=int, default=1, help="areas that run at the same time [1]")
    parser.add_argument(
        "--cases", type=int, help="most cases in a turn of an area; the soak then ends after one turn each"
    )
    parser.add_argument("--area", choices=known, metavar="AREA", help="run one case of this area, see --case-seed")
    parser.add_argument("--case-seed", type=int, help="seed of the one case")
    options = parser.parse_args()
    if (options.area is None) != (options.case_seed is None):
        parser.error("--area and --case-seed belong together")
    if options.area is not None:
        tally, worker = Tally(), Worker(options.area)
        result = worker.run(options.case_seed)
        tally.add(options.area, options.case_seed, result)
        if "lost" not in result:
            worker.close()
        return tally.report()
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    areas = list(options.only or known)
    print(f"seed {seed}, {options.minutes:g} minutes, {len(areas)} areas", flush=True)
    return soak(areas, options.minutes, seed, max(1, min(options.jobs, len(areas))), options.cases).report()


if __name__ == "__main__":
    sys.exit(main())
