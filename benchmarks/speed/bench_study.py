"""What a study costs beyond its computations: the same runs bare, and as a study that keeps and reports them."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from anchor_align import get_adapter, get_fusion
from anchor_align.clustering import Pipeline, check_views, count_anchors
from anchor_align.data import load_views
from anchor_align.metrics import score_all
from anchor_align.study import ARMS, DEFAULT_DATA, compare

ADAPTERS = ("lmvsc", "fmvacc", "sfmc")
# A study may take this fraction of the bare time on top of it.
BAR = 0.10


def run(quick: bool, max_anchors: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Bare runs and the study on one process in turns, then the command on two."""
    data, repeats = (DEFAULT_DATA[:1], 1) if quick else (DEFAULT_DATA, 10)
    bare = study = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, adapter in itertools.product(data, ADAPTERS):
            started = time.perf_counter()
            result = compare(adapter, name, repeats=repeats, cache=folder)
            middle = time.perf_counter()
            _bare(name, adapter, [record.seed for record in result.records if record.arm == "concat"])
            study += middle - started
            bare += time.perf_counter() - middle
    words = ["compare", *ADAPTERS, "--data", *data, "--repeats", str(repeats), "-j", "2", "--no-cache"]
    script = "import sys; from anchor_align.cli import main; sys.exit(main())"
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", script, *words], check=True, stdout=subprocess.DEVNULL)
    command = time.perf_counter() - started
    overhead = study / bare - 1
    say(f"{len(ADAPTERS)} adapters x {len(data)} data sets x {repeats} repeats x {len(ARMS)} arms")
    say(f"study on one process: {100 * overhead:+.1f} % of the bare computations (bar {100 * BAR:.0f} %)")
    say(f"the command with -j 2, start included: {bare / command:.2f} times as fast as the bare computations")
    return {
        "overhead": overhead,
        "speed_up_of_two": bare / command,
        "bare_seconds": bare,
        "summary": {"passed": overhead <= BAR},
    }


def _bare(name: str, adapter_name: str, seeds: list[int]) -> None:
    """The same runs without plan, cache or records."""
    loaded = load_views(name)
    views = check_views(loaded.views)
    n_clusters = loaded.n_clusters or 1
    adapter = get_adapter(adapter_name)
    n_anchors = count_anchors(adapter, None, views.n_samples, n_clusters)
    with threadpool_limits(1):
        for seed in seeds:
            pipeline = Pipeline(adapter, n_clusters, n_anchors, seed)
            graphs = pipeline.build(views)
            # Where anchors correspond by construction a study computes two of the arms as one.
            for arm in ("unaligned", "concat") if graphs.learned.aligned else ARMS:
                score_all(loaded.labels, pipeline.cluster(pipeline.fuse(graphs, get_fusion(arm), 0.1)).labels)
