"""Areas of faults from outside: processes that are killed, and plug-ins that do their worst. Each takes seconds."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from case_checks import Call, promise
from random_data import pick

Rng = np.random.Generator
COMMAND = [sys.executable, "-c", "from anchor_align.cli import main; raise SystemExit(main())"]
LIMIT = 100.0  # seconds for a command


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command; what it started is ended with it."""
    with subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            promise(False, f"the command did not end in {LIMIT:g} seconds")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def killed_study_call(rng: Rng, folder: Path) -> Call:
    """A study that is killed at a random moment, now and then twice, continues to the same bytes."""
    adapter, jobs = pick(rng, "lmvsc", "fmvacc"), str(pick(rng, 1, 2))
    words = [
        "compare",
        adapter,
        "--data",
        "simulated",
        "--repeats",
        "6",
        "--anchors",
        "4",
        "6",
        "--format",
        "csv",
        "-q",
    ]
    delays = rng.uniform(1.0, 5.0, size=int(rng.integers(1, 3))).tolist()

    def study() -> None:
        kept = ["--cache", str(folder / "cache"), "-j", jobs]
        for delay in delays:
            with subprocess.Popen(
                [*COMMAND, *words, *kept], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as process:
                try:
                    process.wait(delay)
                except subprocess.TimeoutExpired:
                    process.kill()
        resumed, whole = _run([*words, *kept]), _run([*words, "--no-cache"])
        promise(
            resumed.returncode == whole.returncode == 0, f"exit codes: {resumed.stderr[-500:]}{whole.stderr[-500:]}"
        )
        promise(resumed.stdout == whole.stdout, "a study that was killed continues to another result")

    return Call(study, {}, same_again=False, spoiled=0.0)


def dask_call(rng: Rng, folder: Path) -> Call:
    """A Dask worker that is killed during a fit: the labels are the same."""
    rows, delay, seed = int(rng.integers(100, 500)), float(rng.uniform(0.0, 2.0)), int(rng.integers(100))
    adapter = pick(rng, "lmvsc", "fmvacc")

    def fit() -> None:
        import dask.array as da
        import distributed

        from anchor_align import AlignedClusterer

        draw = np.random.default_rng(seed)
        groups = draw.integers(4, size=2_000)
        views = [6.0 * draw.standard_normal((4, 5))[groups] + draw.standard_normal((2_000, 5)) for _ in range(2)]
        chunks = [da.from_array(X, chunks=(rows, -1)) for X in views]
        params = {"n_init": 1} if adapter == "fmvacc" else {}
        clusterer = AlignedClusterer(adapter, n_clusters=4, n_anchors=6, adapter_params=params, random_state=0)
        settings: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
        with distributed.LocalCluster(n_workers=2, **settings) as cluster, distributed.Client(cluster) as client:
            expected = np.asarray(clusterer.fit(chunks).labels_)
            victim = next(iter(client.run(os.getpid).values()))
            timer = threading.Timer(delay, os.kill, (victim, signal.SIGKILL))
            timer.start()
            found = np.asarray(clusterer.fit(chunks).labels_)
            timer.join()
        promise(np.array_equal(found, expected), "a killed worker changed the labels")

    return Call(fit, {}, same_again=False, spoiled=0.0)


# What a plug-in does when its graphs are asked for. The first of each pair is the name of the fault.
FAULTS = {
    "exit": "import os; os._exit(0)",
    "exit 3": "import os; os._exit(3)",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "abort": "import os; os.abort()",
    "kill": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "interrupt": "raise KeyboardInterrupt",
    "system exit": "raise SystemExit(0)",
    "generator exit": "raise GeneratorExit",
    "fork": "import os; os.fork()",
    "thread": "import threading, time; threading.Thread(target=time.sleep, args=(2,)).start()",
    "stdout": "import os; os.close(1)",
    "recursion": "def again(): return again()\nagain()",
    "patch": "import numpy; numpy.zeros = None",
    "patch library": "import anchor_align.matching as each; each.align = None",
    "signal": "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "write": "views[0][:] = 0",
    "nothing": "return None",
    "text": "return 'graphs'",
    "no graphs": "return AnchorGraphs([])",
    "nan": "return AnchorGraphs([numpy.full((len(X), n_anchors), numpy.nan) for X in views])",
    "few rows": "return AnchorGraphs([numpy.ones((2, n_anchors)) for X in views])",
    "wide": "return AnchorGraphs([numpy.ones((len(X), n_anchors + 1)) for X in views])",
    "endless": "while True: pass",
    "sleep": "import time; time.sleep(1e6)",
}
PLUGIN = """
import numpy
from anchor_align import Adapter, AnchorGraphs, hookimpl
class Worst(Adapter):
    name = "worst"
    def anchor_graphs(self, views, *, n_clusters, n_anchors, random_state):
        if random_state % {every} == 0:
{fault}
        rng = numpy.random.default_rng(random_state)
        return AnchorGraphs([rng.dirichlet(numpy.ones(n_anchors), len(X)) for X in views])
@hookimpl
def anchor_align_adapters():
    return [Worst]
"""


@functools.cache
def _has_time_limit() -> bool:
    return "--timeout" in _run(["compare", "--help"]).stdout


def plugin_fault_call(rng: Rng, folder: Path) -> Call:
    """A plug-in that does its worst in a study: its runs are rows, ours are done, and no process is left."""
    name = str(pick(rng, *FAULTS))
    endless = name in ("endless", "sleep")
    jobs, every = str(pick(rng, 1, 2)), int(pick(rng, 1, 2))
    path = folder / "worst.py"
    fault = "\n".join(f"            {line}" for line in FAULTS[name].splitlines())
    path.write_text(PLUGIN.format(fault=fault, every=every))
    words = ["compare", "worst", "lmvsc", "--data", "simulated", "--repeats", "2", "--anchors", "4", "--format", "json"]
    words += ["-q", "--no-cache", "--plugin", str(path), "-j", jobs]

    def study() -> None:
        if endless and not _has_time_limit():
            return
        done = _run([*words, *(["--timeout", "5"] if endless else [])])
        what = f"plug-in fault {name!r}, -j {jobs}, every {every}"
        promise(done.returncode in (0, 1), f"{what}: exit code {done.returncode}, {done.stderr[-500:]}")
        promise("Traceback" not in done.stderr, f"{what}: {done.stderr[-500:]}")
        promise(done.stdout.strip(), f"{what}: no output, exit code {done.returncode}")
        records = json.loads(done.stdout)["records"]
        ours = [record for record in records if record["adapter"] == "lmvsc"]
        theirs = [record for record in records if record["adapter"] == "worst"]
        promise(len(ours) == len(theirs) == 6, f"{what}: {len(ours)} and {len(theirs)} records")
        promise({record["status"] for record in ours} == {"done"}, f"{what}: our own runs failed")
        promise(all(record["reason"] for record in theirs if record["status"] != "done"), f"{what}: no reason")
        failed = any(record["status"] != "done" for record in theirs)
        promise(done.returncode == int(failed), f"{what}: exit code {done.returncode}")
        time.sleep(0.2)
        promise(not _processes_with(str(path)), f"{what}: a process is left")

    return Call(study, {}, same_again=False, spoiled=0.0)


def _processes_with(text: str) -> list[int]:
    """Processes that have this text among their words."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (place / "cmdline").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue  # it ended meanwhile
    return found
