"""Where the time of fmvacc goes, from views to labels: the page PROFILE.md."""

from __future__ import annotations

import cProfile
import pkgutil
import pstats
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from bench_fmvacc import MNIST, N_ANCHORS, N_INIT, ROUNDS, clusterer, read_raw
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer

# Where the profile looks: what is patched, and what its time counts as. Steps within steps count for the inner one.
STAGES = (
    ("anchor_align.estimator", "check_views", "checks of the views"),
    ("anchor_align_adapters.fmvacc", "scale_views", "scaling statistics"),
    ("anchor_align_adapters._kmeans_anchors", "fit_kmeans", "k-means of the anchors"),
    ("anchor_align_adapters.fmvacc", "alternate", "alternation"),
    ("anchor_align_adapters.fmvacc", "best_graph", "graphs"),
    ("anchor_align.estimator", "fuse_graphs", "alignment and fusion"),
    ("anchor_align.graphs._gram_products", "block_products", "Gram matrices"),
    ("anchor_align.clustering._pipeline", "embed", "embedding"),
    ("anchor_align.graphs._spectral", "fit_kmeans", "final k-means"),
)
STEPS = (
    ("anchor_align.kmeans._kmeans", "find_starts", "k-means++, rest"),
    ("anchor_align.kmeans._kmeans", "run_lloyd", "Lloyd, rest"),
    ("anchor_align.kmeans._lloyd", "_nearest", "Lloyd, nearest centres"),
    ("anchor_align.kmeans._lloyd", "_changes", "Lloyd, sums of clusters"),
    ("anchor_align.blocks._scaled_rows.Products", "of", "products"),
    ("anchor_align_adapters._alternation", "weighted_sums", "products"),
    ("anchor_align.blocks._scaled_rows.ScaledRows", "block", "rows read, whole numbers made floats"),
    ("anchor_align_adapters._alternation", "project_columns", "projection on the simplex"),
)


class Steps:
    """Own time of nested steps, by stage and step."""

    def __init__(self) -> None:
        self.spent: dict[tuple[str, str], float] = {}
        self.multiplied: dict[str, float] = {}
        self._open: list[tuple[str, str]] = [("the rest", "")]
        self._since = time.process_time()

    def _switch(self) -> None:
        now = time.process_time()
        self.spent[self._open[-1]] = self.spent.get(self._open[-1], 0.0) + now - self._since
        self._since = now

    def watch(self, function: Callable[..., Any], name: str, is_stage: bool) -> Callable[..., Any]:
        """The same function, its time counted."""

        def watched(*values: Any, **named: Any) -> Any:
            self._switch()
            stage = self._open[-1][0]
            inner = " in k-means++" if name == "products" and self._open[-1][1].startswith("k-means++") else ""
            self._open.append((name, "") if is_stage else (stage, name + inner))
            try:
                result = function(*values, **named)
            finally:
                self._switch()
                self._open.pop()
            if name == "products":
                self._count(values)
            return result

        return watched

    def _count(self, values: tuple[Any, ...]) -> None:
        """Multiplications and additions of a product, by number type."""
        vectors = values[0]._vectors if hasattr(values[0], "_vectors") else values[0]
        size = 2.0 * len(vectors) * values[1].shape[0] * values[1].shape[1]
        kind = str(values[1].dtype)
        self.multiplied[kind] = self.multiplied.get(kind, 0.0) + size

    def bound(self) -> float:
        """Time of the same multiplications in large square products."""
        total = 0.0
        for kind, size in self.multiplied.items():
            X = np.random.default_rng(0).standard_normal((1024, 1024)).astype(kind)
            spent = []
            for _ in range(5):
                start = time.process_time()
                X @ X
                spent.append(time.process_time() - start)
            total += size / (2.0 * 1024**3) * min(spent)
        return total


def profile(quick: bool) -> str:
    """Where the time of the whole run goes, as a page."""
    name = "digits" if quick else MNIST
    views = read_raw(name)
    with threadpool_limits(1), ExitStack() as stack:
        AlignedClusterer("fmvacc", n_clusters=2, random_state=0).fit([X[:100] for X in read_raw("digits")])
        steps = Steps()
        for is_stage, places in ((True, STAGES), (False, STEPS)):
            for place, attribute, label in places:
                owner = pkgutil.resolve_name(place)
                watched = steps.watch(getattr(owner, attribute), label, is_stage)
                stack.enter_context(patch.object(owner, attribute, watched))
        functions = cProfile.Profile(time.process_time)
        functions.enable()
        clusterer().fit(views)
        functions.disable()
        steps._switch()
        return _page(name, steps, steps.bound(), pstats.Stats(functions))


def _page(name: str, steps: Steps, bound: float, functions: pstats.Stats) -> str:
    whole = sum(steps.spent.values())
    products = sum(spent for (_, step), spent in steps.spent.items() if step.startswith("products"))
    lines = [
        "# Where the time goes",
        "",
        f"fmvacc from views to labels on {name}, m = {N_ANCHORS}, {ROUNDS} rounds, k-means with n_init = {N_INIT}, one",
        "thread. Written by `python tests/benchmarks/run.py --profile`; shares of the processor time, steps within",
        "steps counted for the inner one.",
        "",
        "| stage | share | of which | share |",
        "|---|---:|---|---:|",
    ]
    stages: dict[str, list[tuple[str, float]]] = {}
    for (stage, step), spent in steps.spent.items():
        stages.setdefault(stage, []).append((step, spent))
    for stage, parts in sorted(stages.items(), key=lambda each: -sum(part[1] for part in each[1])):
        share = sum(spent for _, spent in parts) / whole
        if share < 0.0005:
            continue
        first = f"| {stage} | {share:.1%} "
        for step, spent in sorted(parts, key=lambda part: -part[1]):
            if len(parts) == 1 or spent / whole >= 0.0005:
                detail = "| | |" if len(parts) == 1 else f"| {step or 'the rest'} | {spent / whole:.1%} |"
                lines.append(first + detail)
                first = "| | "
    lines += [
        "",
        f"**Lower bound.** Matrix products take {products / whole:.0%} of the time. The same multiplications in square",
        f"products of 1024 x 1024, the best that this BLAS does, would take {bound / whole:.0%}: the whole run takes",
        f"{whole / bound:.2f} times its lower bound, and the products as they are {products / bound:.2f} times theirs.",
        "",
        "Functions by their own time, from the same run:",
        "",
        "| function | calls | share |",
        "|---|---:|---:|",
    ]
    rows: dict[Any, Any] = vars(functions)["stats"]
    total = sum(row[2] for row in rows.values())
    inner = {key: row for key, row in rows.items() if key[2] != "watched"}
    for (path, _, function), (_, calls, own, _, _) in sorted(inner.items(), key=lambda item: -item[1][2])[:10]:
        where = f"{Path(path).name}: " if path.endswith(".py") else ""
        lines.append(f"| `{where}{function.strip('<>')}` | {calls} | {own / total:.1%} |")
    return "\n".join([*lines, "", *REMARKS, ""])


REMARKS = (
    "**What is left.** The run is its k-means: ten runs from k-means++ starts to the usual tolerance, in passes",
    "that they share. Bounds (Hamerly) that spare rows which cannot change their cluster are not kept: in shared",
    "passes they saved a tenth or cost as much. Products of the alternation, with 20 anchors, are",
    "narrow throughout, whoever calls them. Whole numbers are made float64 anew in every pass, so that a view of",
    "bytes takes no more memory than its file. Not tried: a bound for each centre (Elkan), and ending runs that are",
    "clearly behind, which would no longer give scikit-learn's result. Graphs, alignment, fusion, embedding and the",
    "final k-means together take little.",
)
