"""Runs cases of one area in a process of its own, as :mod:`soak` asks: a seed on each line of stdin, JSON on stdout."""

from __future__ import annotations

import faulthandler
import json
import os
import re
import resource
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import alignment_areas
import clustering_areas
import fault_areas
import file_areas
import study_areas
from case_checks import Area, BrokenPromise, run_case

AREAS: dict[str, Area] = {
    "align": alignment_areas.align_call,
    "aligner": alignment_areas.aligner_call,
    "grams": alignment_areas.gram_call,
    "fuse": alignment_areas.fuse_call,
    "fit": clustering_areas.fit_call,
    "settings": clustering_areas.setting_call,
    "simplex": clustering_areas.simplex_call,
    "kmeans": clustering_areas.kmeans_call,
    "blocks": clustering_areas.block_call,
    "metrics": clustering_areas.metric_call,
    "load": file_areas.load_call,
    "align-files": file_areas.command_call,
    "models": file_areas.model_call,
    "compare": study_areas.study_call,
    "report": study_areas.report_call,
    "figures": study_areas.figure_call,
    "plugin-files": study_areas.plugin_call,
    "words": study_areas.words_call,
    "killed-study": fault_areas.killed_study_call,
    "killed-dask": fault_areas.dask_call,
    "plugin-faults": fault_areas.plugin_fault_call,
}
MOST_MEMORY = 6 * 2**30  # bytes of address space: beyond this the machine would swap
MOST_GROWTH = 400 * 2**20  # bytes that a single case may need: all inputs are small
# The content of a small file may take 2**28 bytes; a few copies are made on the way.
MOST_FOR_FILES = 5 * 2**28


def _growth(action: Callable[[], str]) -> tuple[str, int]:
    """Run a case; returns its outcome and the bytes by which the peak of memory rose, where the system tells."""
    before = _memory("VmRSS")
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
    except OSError:
        return action(), 0
    outcome = action()
    return outcome, _memory("VmHWM") - before


def _memory(what: str) -> int:
    return 1024 * int(Path("/proc/self/status").read_text().split(f"{what}:")[1].split()[0])


def _one_case(area: str, seed: int, folder: Path, limit: float) -> dict[str, Any]:
    # A case that takes too long says where it is, before this process is killed.
    faulthandler.dump_traceback_later(limit, file=sys.stderr)
    try:
        outcome, growth = _growth(lambda: run_case(AREAS[area], seed, folder))
        if growth > (MOST_FOR_FILES if area in ("load", "align-files") else MOST_GROWTH):
            return {"failure": f"memory grew by {growth >> 20} MB", "where": "memory"}
        return {"outcome": outcome}
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: no function may raise them
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/anchor_align" in frame.filename] or frames
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        if isinstance(error, BrokenPromise):
            where = re.sub(r"[0-9]+([.]?[0-9]+)?(e[+-]?[0-9]+)?", "#", str(error))[:60]
        text = "".join(traceback.format_exception(error))[-6000:]
        return {"failure": f"{type(error).__name__}: {str(error)[:300]}", "where": where, "traceback": text}
    finally:
        faulthandler.cancel_dump_traceback_later()


def main() -> None:
    """Answer seeds until stdin ends."""
    area, limit = sys.argv[1], float(sys.argv[2])
    faulthandler.enable()
    # Whatever the library prints goes to stderr: stdout is for answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if area not in ("killed-dask", "killed-study", "plugin-faults"):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for line in sys.stdin:
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            answer = _one_case(area, int(line), Path(folder), limit)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
