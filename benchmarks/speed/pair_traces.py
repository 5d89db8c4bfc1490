"""Solvers of one pair with the objective that each has reached after a given processor time.

A trace is a list of (processor seconds, objective). The clock stands still while an iterate is rounded and valued. The
points of POT and graspologic are runs of their own, with more and more rounds.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from other_solvers import pot_fused_gw

from anchor_align.arrays import FloatArray
from anchor_align.matching import _ascent, _fixed_point
from anchor_align.matching._fixed_point import Projection, project_birkhoff
from anchor_align.matching._pair_problem import PairProblem, assign
from anchor_align.matching._pair_solvers import solve_pair

Trace = list[tuple[float, float]]
NO_PAIRS = np.empty((0, 2), dtype=np.intp)
NOTED = {1, 2, 3, 5, 8, 13, 21, 34}  # rounds after which an iterate is rounded and valued, beside the last
ROUNDS = 50  # of the fixed point, as released
PROJECTIONS = 30
FRANK_WOLFE_ROUNDS = 30  # the default of SciPy's FAQ and of graspologic
MOST_ROUNDS = (1, 5, 30)  # of POT and graspologic


class Clock:
    """Processor time since the start, without the time in which it stands still."""

    def __init__(self, problem: PairProblem) -> None:
        self.problem = problem
        self.trace: Trace = []
        self._start = time.process_time()

    def note(self, value: Callable[[], float]) -> None:
        """Add a point to the trace; the time that ``value`` takes does not count."""
        stopped = time.process_time()
        self.trace.append((stopped - self._start, value()))
        self._start += time.process_time() - stopped

    def note_matrix(self, R: FloatArray) -> None:
        """The same, for an iterate that is rounded by a linear assignment."""
        self.note(lambda: self.problem.value(assign(R)))

    def end(self, R: FloatArray) -> Trace:
        """Add the rounded last iterate, whose assignment counts, and return the trace."""
        p = assign(R)
        self.note(lambda: self.problem.value(p))
        return self.trace


def ours(problem: PairProblem, method: str) -> Trace:
    """The ascent (or, with a tabu search, ``effort="high"``): a point after every climb."""
    clock = Clock(problem)
    climb = _ascent._Search.climb

    def noted(search: _ascent._Search, p: np.ndarray) -> None:
        climb(search, p)
        clock.note(lambda: search.best.value)

    with patch.object(_ascent._Search, "climb", noted):
        match = solve_pair(problem, method, NO_PAIRS, n_restarts=4, seed=0)
    clock.note(lambda: match.value)
    return [point for point in clock.trace if np.isfinite(point[1])]


def exact_fixed_point(problem: PairProblem) -> Trace:
    """``method="pfp"``: the paper's fixed point with an exact projection."""
    clock = Clock(problem)
    R = np.full((problem.size, problem.size), 1.0 / problem.size)
    rounds = 0

    def noted(Y: FloatArray, start: Projection | None = None) -> Projection:
        nonlocal R, rounds
        found = project_birkhoff(Y, start)
        rounds += 1
        if rounds in NOTED:
            clock.note_matrix(R + _fixed_point.ALPHA * (found.matrix - R))
        R = R + _fixed_point.ALPHA * (found.matrix - R)
        return found

    with patch.object(_fixed_point, "project_birkhoff", noted):
        match = _fixed_point.fixed_point(problem)
    clock.note(lambda: match.value)
    return clock.trace


def released_fixed_point(problem: PairProblem) -> Trace:
    """The fixed point in the form that the paper's authors released, rounded to a permutation.

    The projection alternates thirty times between sums and signs, without Dykstra's correction, and every iterate is
    divided by its largest entry. It runs on the scale of the raw graphs, as released.
    """
    clock = Clock(problem)
    m = problem.size
    R = np.full((m, m), 1.0 / m**2)
    for number in range(1, ROUNDS + 1):
        Y = problem.unit * (problem.K + 2.0 * (problem.A @ R @ problem.B))
        for _ in range(PROJECTIONS):
            Y -= Y.mean(axis=1, keepdims=True) - (1.0 / m + Y.mean()) + Y.mean(axis=0)
            np.maximum(Y, 0.0, out=Y)
        before, R = R, (R + Y) / 2.0
        R /= R.max()
        if np.abs(R - before).max() < 1e-6:
            break
        if number in NOTED:
            clock.note_matrix(R)
    return clock.end(R)


def frank_wolfe(problem: PairProblem) -> Trace:
    """Frank-Wolfe as in SciPy's FAQ, with the linear term: gradient, assignment, exact line search."""
    clock = Clock(problem)
    m = problem.size
    rows = np.arange(m)
    R = np.full((m, m), 1.0 / m)
    product = problem.A @ R @ problem.B
    for number in range(1, FRANK_WOLFE_ROUNDS + 1):
        gradient = problem.K + 2.0 * product
        p = assign(gradient)
        D = -R
        D[rows, p] += 1.0
        change = problem.A @ problem.B[p] - product
        # f(R + t D) = f(R) + slope t + curvature t^2 for t in [0, 1].
        slope, curvature = float(np.vdot(gradient, D)), float(np.vdot(change, D))
        step = 1.0 if curvature >= 0 or slope >= -2.0 * curvature else -slope / (2.0 * curvature)
        R += step * D
        product += step * change
        if np.abs(step * D).max() < 1e-6:
            break
        if number in NOTED:
            clock.note_matrix(R)
    return clock.end(R)


def pot(problem: PairProblem) -> Trace:
    """POT's fused Gromov-Wasserstein."""
    trace = []
    for rounds in MOST_ROUNDS:
        clock = Clock(problem)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged
            p = pot_fused_gw(problem, max_iter=rounds)
        clock.note(partial(problem.value, p))
        trace += clock.trace
    return trace


GRASPOLOGIC = """
import sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from graspologic.match import graph_match
file = np.load(sys.argv[1])
found, seconds = [], []
for A, B, K in zip(file["A"], file["B"], file["K"]):
    graph_match(A, B, S=K, rng=0)
    for rounds in file["rounds"]:
        start = time.thread_time()
        found.append(graph_match(A, B, S=K, max_iter=int(rounds), rng=0).indices_B)
        seconds.append(time.thread_time() - start)
np.savez(sys.argv[2], found=found, seconds=seconds)
"""


def graspologic(problems: list[PairProblem], python: Path) -> list[Trace]:
    """Graph matching of graspologic, run by the interpreter of an environment of its own; one trace a problem."""
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "given.npz", Path(folder) / "result.npz"
        A, B, K = (np.array([getattr(each, name) for each in problems]) for name in ("A", "B", "K"))
        np.savez(given, A=A, B=B, K=K, rounds=np.array(MOST_ROUNDS))
        subprocess.run([python, "-c", GRASPOLOGIC, given, result], check=True, capture_output=True)
        with np.load(result) as file:
            points = list(zip(file["seconds"].tolist(), file["found"], strict=True))
    n = len(MOST_ROUNDS)
    return [
        [(t, problem.value(p)) for t, p in points[n * number : n * (number + 1)]]
        for number, problem in enumerate(problems)
    ]
