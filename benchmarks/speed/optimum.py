"""Proven optima of small problems: how often the ascent and the consensus miss them, and by how much.

Graphs are unrelated (Dirichlet, one-hot or small whole numbers, 5 to 200 samples), which is harder than graphs of the
same data. The optimum of one pair is proven by branch and bound. The optimum of three views is the best over all orders
of the second view, each with the best order of the third.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from results import Bench

from anchor_align import GramMatrices
from anchor_align.matching._many_views import Matcher
from anchor_align.matching._pair_problem import PairProblem
from anchor_align.matching._pair_solvers import enumerate_all, solve_pair
from anchor_align.matching._scaled_grams import ScaledGrams, scale_grams

MINUTES = 15
LAMS = (0.1, 1.0, 10.0, np.inf)
MISSED = 1e-9  # relative distance from the optimum
NO_PAIRS = np.empty((0, 2), dtype=np.intp)
PAIRS = {7: 400, 8: 400, 9: 400, 10: 400}  # cases by number of anchors
THREE_VIEWS = {3: 200, 4: 200, 5: 200, 6: 200, 7: 50}  # the optimum of 7 anchors takes seconds
MISSING = (0.0, 0.3)  # share of the samples


def run(bench: Bench) -> dict[str, Any]:
    """Measure both; a row for each size."""
    pairs = [bench.kept(f"pairs, m {m}", _row, {"views": 2, "m": m}, _pair_loss, n, m) for m, n in PAIRS.items()]
    three = [
        bench.kept(
            f"three views, m {m}, {missing:.0%} missing",
            _row, {"views": 3, "m": m, "missing": missing}, _consensus_loss, n, m, missing,
        )
        for (m, n), missing in itertools.product(THREE_VIEWS.items(), MISSING)
    ]  # fmt: skip
    return {"pairs": pairs, "three_views": three}


def _row(what: dict[str, Any], loss: Callable[..., float], n: int, m: int, *settings: float) -> dict[str, Any]:
    losses = [loss(m, case, *settings) for case in range(n)]
    return {**what, "cases": n, "missed": sum(each > MISSED for each in losses), "worst": max(losses)}


def random_graphs(rng: np.random.Generator, m: int, n_views: int) -> list[npt.NDArray[np.float64]]:
    """Unrelated graphs of one kind and size."""
    n = int(rng.choice([5, 10, 20, 60, 200]))
    kind = rng.integers(3)
    if kind == 0:
        return [rng.dirichlet(np.full(m, rng.choice([0.1, 0.3, 1.0])), n) for _ in range(n_views)]
    if kind == 1:
        return [np.eye(m)[rng.integers(m, size=n)] for _ in range(n_views)]
    return [rng.integers(0, 4, size=(n, m)).astype(np.float64) for _ in range(n_views)]


def _pair_loss(m: int, case: int) -> float:
    rng = np.random.default_rng([m, case])
    scaled = scale_grams(GramMatrices.from_graphs(random_graphs(rng, m, 2)), LAMS[case % 4], "balanced")

    def best(method: str) -> float:
        problem: PairProblem = scaled.pair(0, 1).problem(scaled.lam)
        return solve_pair(problem, method, NO_PAIRS, n_restarts=4, seed=0).value

    optimum = best("exact")
    return (optimum - best("ascent")) / abs(optimum)


def _consensus_loss(m: int, case: int, missing: float) -> float:
    rng = np.random.default_rng([m, case, int(100 * missing)])
    graphs = random_graphs(rng, m, 3)
    mask = rng.random((3, len(graphs[0]))) >= missing
    mask[rng.integers(3, size=mask.shape[1]), np.arange(mask.shape[1])] = True
    mask[:, 0] = True  # every pair shares a sample
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grams = GramMatrices.from_graphs(graphs, mask=mask)
    scaled = scale_grams(grams, LAMS[case % 4], "balanced")
    seeds = np.empty((0, 3), dtype=np.intp)
    found = Matcher(scaled, seeds, "ascent", 4, 0, None, grams.sizes).solve("consensus")
    optimum = best_total(scaled)
    return (optimum - scaled.total(found.permutations)) / abs(optimum) if optimum else 0.0


def best_total(scaled: ScaledGrams) -> float:
    """The largest total of three views, by enumeration."""
    m, best = scaled.n_anchors, -np.inf
    first = np.arange(m)
    for order in itertools.permutations(range(m)):
        orders = [first, np.array(order), first]
        third = enumerate_all(scaled.against_others(2, orders).problem(scaled.lam)).permutation
        best = max(best, scaled.total([*orders[:2], third]))
    return best


def with_anchors(rows: list[Any], *sizes: int, **settings: Any) -> list[Any]:
    """Rows of these sizes, with other settings as given."""
    return [row for row in rows if row["m"] in sizes and all(row[key] == value for key, value in settings.items())]


def counts(rows: list[Any]) -> str:
    """Cases in which the optimum is missed, of all."""
    return f"{sum(row['missed'] for row in rows)} of {sum(row['cases'] for row in rows)}"


def worst(rows: list[Any]) -> float:
    """By how many % at most."""
    return 100 * max(float(row["worst"]) for row in rows)
