"""The pair problem: its value, its reduced form, swaps, fixing and bounds."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import pair_problems, pair_terms, planted_graphs, related_graphs

from anchor_align.matching._pair_problem import PairProblem, assign, gilmore_lawler, upper_bound


def best_by_enumeration(problem: PairProblem) -> float:
    return max(problem.value(np.array(p)) for p in itertools.permutations(range(problem.size)))


def test_value_is_the_papers_objective() -> None:
    """f(P) = Tr(K P) + lam Tr(S_1' P' S_2 P) with P as a matrix."""
    rng = np.random.default_rng(0)
    terms = pair_terms(*related_graphs(rng, 50, 7))
    p = rng.permutation(7)
    P = np.zeros((7, 7))
    P[p, np.arange(7)] = 1
    expected = np.trace(terms.K @ P) + 0.7 * np.trace(terms.S1.T @ P.T @ terms.S2 @ P)
    assert terms.problem(0.7).value(p) == pytest.approx(expected, rel=1e-12)


@given(pair_problems(), st.randoms(use_true_random=False))
def test_reduction_changes_no_value(problem: PairProblem, random: random.Random) -> None:
    """The reduced problem gives every permutation the value of the original."""
    p = np.array(random.sample(range(problem.size), problem.size))
    assert problem.reduced.value(p) == pytest.approx(problem.value(p), rel=1e-9, abs=1e-12)


@given(pair_problems())
def test_reduced_quadratic_term_has_nothing_linear_left(problem: PairProblem) -> None:
    """Diagonals and row sums of the reduced matrices are zero."""
    for S in (problem.reduced.A, problem.reduced.B):
        assert np.abs(S.diagonal()).max() == 0
        np.testing.assert_allclose(S.sum(axis=1), 0, atol=1e-9)


@given(pair_problems(), st.randoms(use_true_random=False))
def test_swap_gains_are_differences_of_values(problem: PairProblem, random: random.Random) -> None:
    """The gain of a swap is what evaluating the objective twice gives."""
    m = problem.size
    p = np.array(random.sample(range(m), m))
    reduced = problem.reduced
    gains = reduced.swap_gains(p, reduced.product(p))
    for a, b in itertools.combinations(range(m), 2):
        q = p.copy()
        q[a], q[b] = p[b], p[a]
        gain = problem.value(q) - problem.value(p)
        assert gains[a, b] == pytest.approx(gain, abs=1e-10 * max(problem.scale, 1))


@given(pair_problems(max_anchors=6))
def test_bound_is_never_below_the_optimum(problem: PairProblem) -> None:
    """The upper bound holds for the best permutation, and so for all."""
    assert upper_bound(problem) >= best_by_enumeration(problem)


@given(pair_problems(max_anchors=6))
def test_bound_is_no_worse_than_the_eigenvalue_bound(problem: PairProblem) -> None:
    """LAP(K) + sum of products of sorted eigenvalues is an upper limit for the reported bound."""
    spectral = problem.K[np.arange(problem.size), assign(problem.K)].sum() + np.dot(
        np.linalg.eigvalsh(problem.A), np.linalg.eigvalsh(problem.B)
    )
    assert upper_bound(problem) <= spectral + 1e-9 * max(problem.scale, 1)


def test_bound_is_tight_for_a_planted_match() -> None:
    """Two shuffled copies of one graph: the bound is attained, which proves the match."""
    (Z1, Z2), (p1, p2) = planted_graphs(np.random.default_rng(1), 200, 12, noise=0.0)
    problem = pair_terms(Z1[:, p1], Z2).problem(0.5)
    assert problem.value(p2) == pytest.approx(1.5)
    assert upper_bound(problem) == pytest.approx(1.5, rel=1e-9)
    np.testing.assert_array_equal(gilmore_lawler(problem.reduced)[1], p2)


@given(pair_problems(max_anchors=6), st.data())
def test_fixing_pairs_leaves_an_equivalent_problem(problem: PairProblem, data: st.DataObject) -> None:
    """Any completion of the fixed pairs has the same value in the whole and in the rest."""
    m = problem.size
    k = data.draw(st.integers(0, m))
    p = np.array(data.draw(st.permutations(range(m))), dtype=np.intp)
    rows = np.array(data.draw(st.permutations(range(m)))[:k], dtype=np.intp)
    rest = problem.fix(rows, p[rows])
    free_rows = np.setdiff1d(np.arange(m), rows)
    free_columns = np.setdiff1d(np.arange(m), p[rows])
    q = np.searchsorted(free_columns, p[free_rows])
    assert rest.value(q) == pytest.approx(problem.value(p), rel=1e-9, abs=1e-12)
