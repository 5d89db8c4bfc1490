"""Where the time of a default fit goes, from views to labels: the page PROFILE.md."""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
from bench_fmvacc import MNIST, N_CLUSTERS, read_raw
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer

# Where the profile looks: what is patched, and what its time counts as. Steps within steps count for the inner one.
STAGES = (
    ("anchor_align.clustering._estimator", "check_views", "checks of the views"),
    ("anchor_align_adapters.local", "choose_scales", "choice of scales"),
    ("anchor_align_adapters.local", "scale_views", "scaling statistics"),
    ("anchor_align_adapters._kmeans_anchors", "fit_kmeans", "k-means of the anchors"),
    ("anchor_align.plugins._adapter_calls._CheckedMaker", "_make", "graphs"),
    ("anchor_align.graphs._grams", "sum_products", "Gram matrices"),
    ("anchor_align.clustering._pipeline", "cluster_profiles", "first clusters"),
    ("anchor_align.matching.AnchorAligner", "fit", "alignment"),
    ("anchor_align.fusion._fused_rows.FusedRows", "block", "fusion"),
    ("anchor_align.clustering._pipeline", "spectral_embedding", "embedding"),
    ("anchor_align.graphs._spectral", "fit_kmeans", "final k-means"),
)
STEPS = (
    ("anchor_align.kmeans._kmeans", "find_starts", "k-means++, rest"),
    ("anchor_align.kmeans._kmeans", "run_lloyd", "Lloyd, rest"),
    ("anchor_align.kmeans._lloyd", "_nearest", "Lloyd, nearest centres"),
    ("anchor_align.kmeans._lloyd", "_changes", "Lloyd, sums of clusters"),
    ("anchor_align.kmeans._lloyd.Bounds", "update", "Lloyd, bounds"),
    ("anchor_align.kmeans._lloyd.Bounds", "undecided", "Lloyd, bounds"),
    ("anchor_align.blocks._scaled_rows.Products", "of", "products"),
    ("anchor_align.blocks._scaled_rows.ScaledRows", "block", "rows read and divided by their lengths"),
)


class Steps:
    """Own time of nested steps, by stage and step."""

    def __init__(self) -> None:
        self.spent: dict[tuple[str, str], float] = {}
        self.multiplied: dict[str, float] = {}
        self._open: list[tuple[str, str]] = [("the rest", "")]
        self._since = time.process_time()

    def switch(self) -> None:
        """Count the time since the last switch for the innermost open step."""
        now = time.process_time()
        self.spent[self._open[-1]] = self.spent.get(self._open[-1], 0.0) + now - self._since
        self._since = now

    def watch(self, function: Callable[..., Any], name: str, is_stage: bool) -> Callable[..., Any]:
        """The same function, its time counted."""

        def watched(*values: Any, **named: Any) -> Any:
            self.switch()
            stage, step = self._open[-1]
            inner = " in k-means++" if name[:4] in ("prod", "rows") and step.startswith("k-means++") else ""
            self._open.append((name, "") if is_stage else (stage, name + inner))
            try:
                result = function(*values, **named)
            finally:
                self.switch()
                self._open.pop()
            if name == "products":
                self._count(values)
            return result

        return watched

    def _count(self, values: tuple[Any, ...]) -> None:
        """Multiplications and additions of a product, by number type."""
        size = 2.0 * len(values[0]._vectors) * values[1].shape[0] * values[1].shape[1]
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
        _fit([X[:300] for X in views])  # what is imported on the way
        steps = Steps()
        for is_stage, places in ((True, STAGES), (False, STEPS)):
            for place, attribute, label in places:
                owner = pkgutil.resolve_name(place)
                watched = steps.watch(getattr(owner, attribute), label, is_stage)
                stack.enter_context(patch.object(owner, attribute, watched))
        fitted = _fit(views)
        steps.switch()
        return _page(name, len(fitted.anchors_[0]), steps, steps.bound())


def _fit(views: list[Any]) -> Any:
    return AlignedClusterer("local", n_clusters=N_CLUSTERS, random_state=0).fit(views)


def _page(name: str, n_anchors: int, steps: Steps, bound: float) -> str:
    whole = sum(steps.spent.values())
    products = sum(spent for (_, step), spent in steps.spent.items() if step.startswith("products"))
    anchors = sum(spent for (stage, _), spent in steps.spent.items() if stage == "k-means of the anchors")
    lines = [
        "# Where the time goes",
        "",
        f"The default adapter, `local`, from views to labels on {name}: {n_anchors} anchors a view, one run",
        "of k-means for them, one thread. Written by `python tests/benchmarks/run.py --profile`. Shares are of the",
        "processor time; the time of a step inside another step counts for the inner one.",
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
        f"The fit takes {whole / anchors:.2f} times its k-means of the anchors.",
        "",
        f"**Lower bound.** Matrix products take {products / whole:.0%} of the time. The same multiplications in square",
        f"products of 1024 x 1024, the best that this BLAS does, would take {bound / whole:.0%}: the whole run takes",
        f"{whole / bound:.2f} times its lower bound, and the products take {products / bound:.2f} times theirs.",
        "",
        *REMARKS,
        "",
    ]
    return "\n".join(lines)


REMARKS = (
    "**What is left.** Almost all of the time is k-means: one run from k-means++ starts to the usual tolerance.",
    "Bounds (Hamerly) skip rows that cannot change their cluster. The starts are one pass over the rows for every",
    "anchor, with products of six candidates, which are narrow: reading and dividing the rows takes longer than the",
    "product. The lengths of the rows are computed once; the rows are divided anew in every pass, and integers are",
    "converted anew, so that a view of bytes needs no more memory than its file. Two ideas were not tried: products",
    "of undivided rows, with the lengths applied to the products, and a bound for each centre (Elkan). Graphs, Gram",
    "matrices, alignment, fusion, embedding and the final k-means take little time together.",
)
