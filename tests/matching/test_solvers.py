"""Ascent, exact search and the fixed point on one pair."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import at_most, pair_problems, pair_terms, random_graph, real_graphs, related_graphs

from anchor_align.errors import InputError
from anchor_align.matching import _pair_solvers
from anchor_align.matching._ascent import ascend
from anchor_align.matching._fixed_point import fixed_point
from anchor_align.matching._pair_problem import Match, PairProblem, assign, gilmore_lawler, upper_bound
from anchor_align.matching._pair_solvers import solve_pair

NO_PAIRS = np.empty((0, 2), dtype=np.intp)


def solve(problem: PairProblem, method: str = "ascent", seed: int = 0) -> Match:
    return solve_pair(problem, method, NO_PAIRS, n_restarts=4, seed=seed)


def stacked_problem(rng: np.random.Generator, m: int, n_terms: int) -> PairProblem:
    """A problem with several structure terms, as missing samples make it."""
    terms = [pair_terms(*(random_graph(rng, 30, m) for _ in range(2))) for _ in range(n_terms)]
    return PairProblem(terms[0].K, np.stack([t.S1 for t in terms]), np.stack([t.S2 for t in terms]))


@pytest.mark.parametrize("m", [1, 2, 5, 7])
def test_several_structure_terms_are_added(m: int) -> None:
    """Value, reduced form, swaps, bound, fixed anchors and all solvers agree with the sum over the terms."""
    rng = np.random.default_rng(m)
    problem = stacked_problem(rng, m, 3)
    single = [PairProblem(np.zeros((m, m)), A, B) for A, B in problem.terms()]
    p = rng.permutation(m)
    value = problem.K[np.arange(m), p].sum() + sum(each.value(p) for each in single)
    assert problem.value(p) == pytest.approx(value)
    assert problem.reduced.value(p) == pytest.approx(value)
    gains = problem.reduced.swap_gains(p, problem.reduced.product(p))
    for a, b in itertools.combinations(range(m), 2):
        q = p.copy()
        q[[a, b]] = q[[b, a]]
        assert gains[a, b] == pytest.approx(problem.value(q) - value, abs=1e-12)
    rest = problem.fix(np.arange(1), p[:1])
    free = np.setdiff1d(np.arange(m), p[:1])
    assert rest.value(np.searchsorted(free, p[1:])) == pytest.approx(value)
    best = max(problem.value(np.array(q)) for q in itertools.permutations(range(m)))
    assert upper_bound(problem) >= best
    assert solve(problem).value == pytest.approx(best, rel=1e-9)
    assert ascend(problem, n_restarts=4, rng=rng).value == pytest.approx(best, rel=1e-9)
    assert problem.value(solve(problem, "pfp").permutation) <= best + 1e-12


@given(pair_problems(max_anchors=6))
@settings(max_examples=at_most(60))
def test_exact_equals_enumeration(problem: PairProblem) -> None:
    """The value of the best of all permutations, evaluated one by one."""
    best = max(problem.value(np.array(p)) for p in itertools.permutations(range(problem.size)))
    assert solve(problem, "exact").value == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0, np.inf])
def test_branch_and_bound_equals_enumeration(lam: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven anchors, started from a bad permutation and branching down to the last two: all 5040 are no better."""
    bad = Match(np.arange(7), -np.inf, 0, ())
    monkeypatch.setattr(_pair_solvers, "ascend", lambda problem, **options: bad)
    monkeypatch.setattr(_pair_solvers, "LEAF", 2)
    monkeypatch.setattr(_pair_solvers, "MAX_ENUMERATED", 2)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        problem = pair_terms(*(random_graph(rng, 50, 7) for _ in range(2))).problem(lam)
        match = _pair_solvers.solve_exactly(problem, rng)
        assert match.value == pytest.approx(_pair_solvers.enumerate_all(problem).value, rel=1e-9)
        assert match.value == pytest.approx(problem.value(match.permutation), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("m", [7, 8, 9])
def test_few_anchors_rarely_miss_the_optimum(m: int) -> None:
    """Unrelated graphs of few samples, structure term alone: the hardest that were found."""
    missed = 0
    for seed in range(30):
        rng = np.random.default_rng([m, seed])
        problem = pair_terms(*(random_graph(rng, 10, m, 1.0) for _ in range(2))).problem(np.inf)
        missed += solve(problem).value < solve(problem, "exact").value * (1 - 1e-9)
    assert missed <= (0 if m <= 8 else 1)


def test_exact_says_how_many_anchors_it_takes() -> None:
    """Eleven anchors are refused with the limit and the alternative."""
    problem = pair_terms(*related_graphs(np.random.default_rng(0), 50, 11)).problem(1.0)
    with pytest.raises(InputError, match=r"at most 10 anchors.*got 11.*'ascent'"):
        solve(problem, "exact")


@pytest.mark.slow
@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0, np.inf])
@pytest.mark.parametrize("kind", ["related", "unrelated", "nearly uniform"])
def test_ascent_equals_exact(lam: float, kind: Any) -> None:
    """On 200 instances with up to 8 anchors the ascent is optimal for at least 95 %, and never below 0.99."""
    rng = np.random.default_rng(2)
    ratios = []
    for _ in range(200):
        m = int(rng.integers(3, 9))
        if kind == "related":
            Z1, Z2 = related_graphs(rng, 60, m)
        else:
            concentration = 0.3 if kind == "unrelated" else 30.0
            Z1, Z2 = (random_graph(rng, 60, m, concentration) for _ in range(2))
        problem = pair_terms(Z1, Z2).problem(lam)
        # The ascent itself: few anchors would be enumerated otherwise.
        found = ascend(problem, n_restarts=4, rng=np.random.default_rng(0)).value
        ratios.append(found / solve(problem, "exact").value)
    assert np.mean(np.array(ratios) > 1 - 1e-9) >= 0.95
    assert min(ratios) >= 0.99


@given(pair_problems(max_anchors=12))
def test_ascent_is_never_below_its_starts_the_identity_or_the_fixed_point(problem: PairProblem) -> None:
    """The result is at least as good as everything it could have been started from."""
    value = solve(problem).value
    slack = 1e-9 * max(problem.scale, 1)
    rivals = [np.arange(problem.size), solve(problem, "pfp").permutation, assign(problem.K)]
    if problem.size > 1:
        rivals += [assign(problem.reduced.L), gilmore_lawler(problem.reduced)[1]]
    for rival in rivals:
        assert value >= problem.value(rival) - slack


@pytest.mark.slow
@pytest.mark.parametrize("m", [20, 50, 120])
@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0, np.inf])
def test_ascent_is_not_below_the_fixed_point_on_larger_problems(m: int, lam: float) -> None:
    """Also where neither is optimal."""
    rng = np.random.default_rng(m)
    problem = pair_terms(*related_graphs(rng, 10 * m, m)).problem(lam)
    assert solve(problem).value >= solve(problem, "pfp").value - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["UCI-Digit_3v", "BDGP_3v", "3-Sources", "MSRC-v1"])
@pytest.mark.parametrize("beta", [1.0, 100.0])
def test_ascent_is_not_below_the_fixed_point_on_real_graphs(name: str, beta: float) -> None:
    """FMVACC graphs of real data, all pairs of views, three weights of the structure term."""
    graphs = real_graphs(name, 20, beta)
    for Z1, Z2 in itertools.combinations(graphs, 2):
        for lam in (0.1, 1.0, 10.0):
            problem = pair_terms(Z1, Z2).problem(lam)
            assert solve(problem).value >= solve(problem, "pfp").value * (1 - 1e-6)


@given(pair_problems(max_anchors=12))
def test_objective_never_decreases_along_the_ascent(problem: PairProblem) -> None:
    """The history is monotone and ends at the result's value."""
    match = solve(problem)
    assert (np.diff(match.history) >= 0).all()
    assert match.history[-1] == pytest.approx(problem.value(match.permutation), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("m", [60, 120])
def test_ascent_improves_on_repeated_assignment(m: int) -> None:
    """Swaps and the reduced form beat repeated assignment on the convex objective, from the same start."""
    problem = pair_terms(*related_graphs(np.random.default_rng(3), 10 * m, m)).problem(1.0)
    p = assign(problem.K + 2 / m * np.outer(problem.A.sum(axis=1), problem.B.sum(axis=1)))
    value = -np.inf
    while problem.value(p) > value:
        value = problem.value(p)
        p = assign(problem.K + 2 * problem.A @ problem.B[p])
    assert ascend(problem, n_restarts=0, rng=np.random.default_rng(0)).value > value


def test_more_restarts_never_hurt() -> None:
    """On hard instances (unrelated graphs, structure only) more restarts never lower the value and mostly raise it."""
    risen = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        problem = pair_terms(*(random_graph(rng, 60, 60) for _ in range(2))).problem(np.inf)
        values = [ascend(problem, n_restarts=n, rng=np.random.default_rng(0)).value for n in (0, 4, 16)]
        assert values[0] <= values[1] <= values[2]
        risen += values[2] > values[0]
    assert risen >= 3


@given(pair_problems(max_anchors=8))
def test_feature_term_alone_is_solved_exactly(problem: PairProblem) -> None:
    """Without a structure term every method returns the linear assignment's value."""
    linear = PairProblem(problem.K, np.zeros_like(problem.A), problem.B)
    best = problem.K[np.arange(problem.size), assign(problem.K)].sum()
    for method in ("ascent", "exact", "pfp"):
        assert solve(linear, method).value == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_fixed_point_recovers_a_planted_permutation() -> None:
    """The paper's method works where the match is clear."""
    rng = np.random.default_rng(5)
    Z = random_graph(rng, 300, 15)
    p = rng.permutation(15)
    match = fixed_point(pair_terms(Z, Z[:, p]).problem(0.1))
    np.testing.assert_array_equal(match.permutation, np.argsort(p))
    assert 1 <= match.n_iter <= 50
