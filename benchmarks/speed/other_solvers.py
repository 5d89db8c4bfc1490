"""Other solvers of the same problem, each given the matrices it wants and rounded by a linear assignment."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable

import numpy as np

from anchor_align.arrays import IndexArray
from anchor_align.matching._pair_problem import PairProblem, assign

Solver = Callable[[PairProblem], IndexArray]
# The affinity matrix of pygmtools has m^4 entries: 50 MB at 50 anchors, 800 MB at 100.
AFFINITY_LIMIT = 50
# SciPy's 2-opt evaluates every exchange from scratch: minutes at 200 anchors.
TWO_OPT_LIMIT = 50


def frank_wolfe(problem: PairProblem, max_iter: int = 100) -> IndexArray:
    """FAQ with the linear term: Frank-Wolfe on the doubly stochastic matrices, from the uniform one."""
    m = problem.size
    R = np.full((m, m), 1.0 / m)
    for _ in range(max_iter):
        product = problem.A @ R @ problem.B
        p = assign(problem.K + 2.0 * product)
        D = -R
        D[np.arange(m), p] += 1.0
        # f(R + t D) = f(R) + slope t + curvature t^2 for t in [0, 1].
        slope = np.vdot(problem.K + 2.0 * product, D)
        curvature = np.vdot(problem.A @ D @ problem.B, D)
        step = 1.0 if curvature >= 0 or slope >= -2.0 * curvature else float(-slope / (2.0 * curvature))
        R = R + step * D
        if np.abs(step * D).max() < 1e-6:
            break
    return assign(R)


def scipy_faq(problem: PairProblem) -> IndexArray:
    """SciPy's quadratic_assignment, which knows no linear term: for the structure term only."""
    from scipy.optimize import quadratic_assignment

    result = quadratic_assignment(problem.A, problem.B, method="faq", options={"maximize": True, "rng": 0})
    return np.asarray(result.col_ind)


def scipy_2opt(problem: PairProblem) -> IndexArray:
    """SciPy's 2-opt, structure term only."""
    from scipy.optimize import quadratic_assignment

    result = quadratic_assignment(problem.A, problem.B, method="2opt", options={"maximize": True, "rng": 0})
    return np.asarray(result.col_ind)


def pot_fused_gw(problem: PairProblem, max_iter: int = 10_000) -> IndexArray:
    """POT's fused Gromov-Wasserstein with square loss, whose minimum over permutations is our maximum."""
    import ot

    m = problem.size
    weights = np.full(m, 1.0 / m)
    plan = ot.gromov.fused_gromov_wasserstein(
        -2.0 * m * problem.K, m * problem.A, m * problem.B, weights, weights, alpha=0.5, max_iter=max_iter
    )
    return assign(np.asarray(plan))


def _pygmtools(name: str) -> Solver:
    def solve(problem: PairProblem) -> IndexArray:
        import pygmtools

        pygmtools.set_backend("numpy")
        m = problem.size
        affinity = np.kron(problem.B, problem.A)
        affinity[np.diag_indices(m * m)] += problem.K.T.ravel()
        return assign(np.asarray(getattr(pygmtools, name)(affinity, m, m)))

    return solve


def missing() -> list[str]:
    """Packages that are not installed: their solvers are left out."""
    return [name for name in ("ot", "pygmtools") if not importlib.util.find_spec(name)]


def rivals(problem: PairProblem, structure_only: bool) -> dict[str, Solver]:
    """Solvers that are installed and fit the problem's size."""
    found: dict[str, Solver] = {"frank-wolfe": frank_wolfe}
    if structure_only:
        found["scipy faq"] = scipy_faq
        if problem.size <= TWO_OPT_LIMIT:
            found["scipy 2opt"] = scipy_2opt
    absent = missing()
    if "ot" not in absent:
        found["POT fgw"] = pot_fused_gw
    if "pygmtools" not in absent and problem.size <= AFFINITY_LIMIT:
        found["pygm ipfp"] = _pygmtools("ipfp")
        found["pygm rrwm"] = _pygmtools("rrwm")
    return found


def run_rival(solver: Solver, problem: PairProblem) -> IndexArray:
    """Run a solver without its warnings about its own convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return solver(problem)
