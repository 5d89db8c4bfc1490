"""Consensus and rotation of many views with many anchors: time, growth with views and anchors, and quality.

Quality of the consensus is its total over all pairs of views, relative to that of the best reference and, where its
affinity fits in memory, of pygmtools' ``gamgm``, which maximises the same kind of total from the K of all pairs
(feature term only, so lam = 0 there). Graphs are those of ``local`` with unit rows; twelve views are the six of the
bundled digits and noisy copies of them. Processor time of one thread.

With ``ANCHOR_ALIGN_BEFORE``, the path of another checkout of this project, its consensus and rotation are timed in the
same run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rivals import missing

from anchor_align import GramMatrices, align, get_adapter, get_fusion
from anchor_align.data import load_bundled
from anchor_align.matching._scaled_grams import scale_grams

NO_PAIRS = np.empty((0, 2), dtype=np.intp)

Array = npt.NDArray[np.float64]
SIZES = ((3, 60), (3, 120), (3, 231), (6, 120), (6, 231), (12, 60), (12, 120), (12, 231), (3, 533))
QUICK = ((3, 60), (6, 60))
GAMGM_LIMIT = 40  # anchors
LAM = 0.1


def run(quick: bool, max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """One record for each number of views and anchors."""
    before = os.environ.get("ANCHOR_ALIGN_BEFORE")
    records = []
    report("")
    report(f"{'views':>6}{'anchors':>9}{'consensus s':>13}{'rotation s':>12}{'/ best star':>13}  before / now")
    for n_views, m in QUICK if quick else SIZES:
        if m > max_anchors:
            continue
        grams = GramMatrices.from_graphs(_graphs(n_views, m))
        record: dict[str, Any] = {"views": n_views, "anchors": m, **measure(grams)}
        star = scale_grams(grams, LAM, "balanced").total(_indices(align(grams, LAM, reference="auto")))
        record["star"] = record["total"] / star
        text = ""
        if before:
            old = _before(before, grams)
            names = ("consensus", "total", "rotation", "agreement")
            record["before"] = {name: old[name] / record[name] for name in names}
            text = "  ".join(f"{record['before'][name]:.4g}" for name in names)
        records.append(record)
        report(
            f"{n_views:>6}{m:>9}{record['consensus']:>13.2f}{record['rotation']:>12.2f}{record['star']:>13.4f}  {text}"
        )
    rival = None if "pygmtools" in missing() else _against_gamgm(report)
    effort = _effort(report)
    passed = all(record["star"] >= 1.0 - 1e-9 for record in records)
    return {"records": records, "gamgm": rival, "effort": effort, "summary": {"passed": passed}}


def measure(grams: GramMatrices) -> dict[str, float]:
    """Time and value of the consensus and of the rotation that starts from it."""
    start = time.process_time()
    matrices = align(grams, LAM, reference="consensus")
    middle = time.process_time()
    orders = _indices(matrices)
    rotations = [np.asarray(R) for R in get_fusion("rotated").maps(orders, grams)]
    end = time.process_time()
    sizes = grams.norms
    agreement = sum(
        float(np.vdot(rotations[u], grams.cross(u, v) @ rotations[v])) / (sizes[u] * sizes[v])
        for u in range(grams.n_views)
        for v in range(u)
    )
    total = scale_grams(grams, LAM, "balanced").total(orders)
    return {"consensus": middle - start, "total": total, "rotation": end - middle, "agreement": float(agreement)}


def _indices(matrices: list[Array]) -> list[npt.NDArray[np.intp]]:
    return [P.argmax(axis=0) for P in matrices]


def _graphs(n_views: int, m: int) -> list[Any]:
    digits = load_bundled("mfeat").views
    rng = np.random.default_rng(0)
    copies = [X + 0.3 * X.std(axis=0) * rng.normal(size=X.shape) for X in digits]
    adapter, views = get_adapter("local", scale="unit"), [*digits, *copies][:n_views]
    made = adapter.anchor_graphs(views, n_clusters=10, n_anchors=m, random_state=0)
    return list(made.graphs)


def _before(checkout: str, grams: GramMatrices) -> dict[str, float]:
    """The same measurement with the code of another checkout, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "grams.npz"
        np.savez(file, matrix=grams.matrix, sizes=grams.sizes, n_samples=grams.n_samples)
        environment = {**os.environ, "PYTHONPATH": checkout, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        words = [sys.executable, __file__, str(file)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def _effort(report: Callable[[str], None]) -> list[dict[str, float]]:
    """How often ``effort="high"`` finds a better match of a pair than the default, by how much, in how much time."""
    from anchor_align.matching._pair_solvers import SEARCH, solve_pair  # another checkout may not have it

    found = []
    for m in (54, 100):
        grams = GramMatrices.from_graphs(_graphs(3, m))
        for lam in (0.1, 1.0, 10.0):
            gains, seconds = [], np.zeros(2)
            for u, v in ((0, 1), (0, 2), (1, 2)):
                values = []
                for number, method in enumerate(("ascent", SEARCH)):
                    problem = scale_grams(grams, lam, "balanced").pair(u, v).problem(lam)
                    start = time.process_time()
                    values.append(solve_pair(problem, method, NO_PAIRS, n_restarts=4, seed=0).value)
                    seconds[number] += time.process_time() - start
                gains.append(values[1] / values[0] - 1.0)
            better = sum(gain > 1e-9 for gain in gains)
            ratio = float(seconds[1] / seconds[0])
            found.append({"anchors": m, "lam": lam, "better": better, "largest_gain": max(gains), "time": ratio})
            report(
                f"  effort='high', {m} anchors, lam {lam:g}: better in {better} of {len(gains)} pairs, "
                f"by at most {100 * max(gains):.2f} %, {ratio:.0f} times the time"
            )
    return found


def _against_gamgm(report: Callable[[str], None]) -> list[dict[str, float]]:
    """Feature term of all pairs, three to twelve views: ours over that of gamgm, and the time of gamgm over ours."""
    import pygmtools

    pygmtools.set_backend("numpy")
    found = []
    for n_views, m in ((3, 10), (6, 20), (12, 20), (6, GAMGM_LIMIT)):
        grams = GramMatrices.from_graphs(_graphs(n_views, m))
        scaled = scale_grams(grams, 0.0, "balanced")
        start = time.process_time()
        ours = scaled.total(_indices(align(grams, 0.0, reference="consensus")))
        middle = time.process_time()
        K = np.array([[scaled.cross(u, v) if u != v else np.eye(m) for v in range(n_views)] for u in range(n_views)])
        structures = np.array([np.zeros((m, m)) for _ in range(n_views)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pairs = pygmtools.gamgm(structures, K * m, sk_init_tau=0.5, sk_min_tau=0.01)
        orders = [np.asarray(pairs[0, v]).argmax(axis=1) for v in range(n_views)]
        end = time.process_time()
        record: dict[str, Any] = {"views": n_views, "anchors": m, "total": ours / scaled.total(orders)}
        record["time"] = (end - middle) / max(middle - start, 1e-9)
        found.append(record)
        report(
            f"  gamgm, {n_views} views x {m}: our total over its {record['total']:.4f}, "
            f"its time over ours {record['time']:.1f}"
        )
    return found


if __name__ == "__main__":
    with np.load(sys.argv[1]) as stored:
        print(
            json.dumps(
                measure(GramMatrices(stored["matrix"], tuple(stored["sizes"].tolist()), int(stored["n_samples"])))
            )
        )
