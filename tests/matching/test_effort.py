"""A longer search: never below the default, the same for the same seed, better on hard problems."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import pair_terms, random_graph, related_graphs, total_objective

from anchor_align import InputError, align
from anchor_align.matching._pair_solvers import SEARCH, solve_pair

NO_PAIRS = np.empty((0, 2), dtype=np.intp)


def test_hard_pairs_are_never_below_the_default_and_sometimes_better() -> None:
    """Unrelated graphs, structure term alone."""
    gains = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        problem = pair_terms(*(random_graph(rng, 40, 24, 1.0) for _ in range(2))).problem(np.inf)
        found = [solve_pair(problem, method, NO_PAIRS, n_restarts=4, seed=0) for method in ("ascent", SEARCH, SEARCH)]
        assert found[1].value == pytest.approx(problem.value(found[1].permutation), rel=1e-9)
        np.testing.assert_array_equal(found[1].permutation, found[2].permutation)
        gains.append(found[1].value - found[0].value)
    assert min(gains) >= 0
    assert max(gains) > 0


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("m", [10, 36])
def test_consensus_is_never_below_the_default(m: int, missing: float) -> None:
    """Few and many anchors, with and without missing samples; the result is a permutation."""
    rng = np.random.default_rng(m)
    graphs = related_graphs(rng, 400, m, 4)
    mask = rng.random((4, 400)) >= missing
    mask[0] = True
    low, high = (align(graphs, 1.0, reference="consensus", mask=mask, effort=e) for e in ("normal", "high"))
    for P in high:
        np.testing.assert_array_equal(P.sum(axis=0), 1)
    if not missing:
        assert total_objective(graphs, high, 1.0) >= total_objective(graphs, low, 1.0) - 1e-9


def test_unknown_effort_is_refused() -> None:
    """The sentence names both choices."""
    with pytest.raises(InputError, match=r"'normal'.*'high'"):
        align([np.eye(3), np.eye(3)], effort="highest")
