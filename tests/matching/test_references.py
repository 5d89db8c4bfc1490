"""References, consensus and known correspondences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    REFERENCES,
    at_most,
    pair_terms,
    planted_graphs,
    random_graph,
    related_graphs,
    seeds,
    total_objective,
)

from anchor_align import AnchorAligner, Progress, align

PairValues = dict[tuple[int, int], dict[tuple[int, ...], float]]


def test_auto_gives_what_its_reference_gives() -> None:
    """Naming the view that "auto" chose changes nothing; scores count at any size of the graphs."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        graphs = [rng.random((20, 6)) for _ in range(3)]
        auto = AnchorAligner(np.inf, reference="auto").fit(graphs)
        named = AnchorAligner(np.inf, reference=int(auto.reference_ or 0)).fit(graphs)
        np.testing.assert_array_equal(auto.objective_, named.objective_)
    base = random_graph(rng, 60, 6)
    for factor in (1.0, 1e-7):
        views = [factor * Z for Z in (0.1 * base, base, base)]
        assert AnchorAligner(0, lam_scale="paper", reference="auto").fit(views).reference_ == 1


def test_auto_takes_the_view_that_all_others_match_best() -> None:
    """A useless first view is not chosen, and aligning to it would be worse."""
    rng = np.random.default_rng(11)
    graphs, _ = planted_graphs(rng, 120, 6, 3, noise=0.3)
    graphs.insert(0, random_graph(rng, 120, 6))
    aligner = AnchorAligner(reference="auto").fit(graphs)
    assert aligner.reference_ not in (0, None)
    by_view = [AnchorAligner(reference=v).fit(graphs) for v in range(4)]
    totals = [a.objective_.sum() for a in by_view]
    assert totals[aligner.reference_] == pytest.approx(max(totals))


@pytest.mark.parametrize(("m", "seed", "lam"), [(3, 385, 0.1), (4, 30, 1.0)])
def test_consensus_of_few_anchors_is_the_best_of_all(m: int, seed: int, lam: float) -> None:
    """On graphs that have nothing in common, no joint order of the views has a larger total."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([5, 10, 20]))
    graphs = [rng.integers(0, 4, size=(n, m)).astype(np.float64) + 1e-9 for _ in range(3)]
    orders = [np.eye(m)[:, list(order)] for order in itertools.permutations(range(m))]
    best = max(total_objective(graphs, [np.eye(m), P, Q], lam) for P in orders for Q in orders)
    assert total_objective(graphs, align(graphs, lam), lam) == pytest.approx(best, rel=1e-12)


@given(seeds, st.integers(2, 8), st.integers(2, 6), st.sampled_from([0.0, 0.1, 1.0, np.inf]))
@settings(max_examples=at_most(40))
def test_consensus_is_never_below_the_best_star(seed: int, m: int, n_views: int, lam: float) -> None:
    """Total objective over all pairs of views, against every choice of a reference."""
    graphs = related_graphs(np.random.default_rng(seed), 60, m, n_views)
    consensus = total_objective(graphs, align(graphs, lam, reference="consensus"), lam)
    for reference in range(n_views):
        assert consensus >= total_objective(graphs, align(graphs, lam, reference=reference), lam) - 1e-9


@pytest.mark.parametrize("factor", [1.0, 1e3, 1e6])
def test_consensus_ends_when_nothing_changes(factor: float) -> None:
    """Also where one anchor outweighs the others: rounding is no improvement."""
    for seed in range(6):
        graphs = [np.random.default_rng([seed, view]).random((60, 10)) for view in range(3)]
        for Z in graphs:
            Z[:, 0] *= factor
        calls: list[Progress] = []
        align(graphs, reference="consensus", callback=calls.append)
        assert sum(c.stage == "consensus" for c in calls) <= 10


def test_consensus_is_never_below_the_order_as_it_comes() -> None:
    """Views handed over in the joint optimum stay there, where no reference leads to it."""
    permutations = list(itertools.permutations(range(3)))
    for seed in range(40):
        graphs = related_graphs(np.random.default_rng(seed), 40, 3, 4)
        # The objective of two views depends on the partners alone: six values for each pair of views.
        values: PairValues = {
            (u, v): {p: problem.value(np.array(p)) for p in permutations}
            for (u, Z), (v, Y) in itertools.combinations(enumerate(graphs), 2)
            for problem in [pair_terms(Z, Y).problem(1.0)]
        }

        def total_of(orders: tuple[tuple[int, ...], ...], values: PairValues = values) -> float:
            return sum(
                of_pair[tuple(orders[v][orders[u].index(anchor)] for anchor in range(3))]
                for (u, v), of_pair in values.items()
            )

        first = permutations[0]
        orders = max(((first, *rest) for rest in itertools.product(permutations, repeat=3)), key=total_of)
        best = [Z[:, list(order)] for Z, order in zip(graphs, orders, strict=True)]
        best_total = total_objective(best, [np.eye(3)] * 4, 1.0)
        assert best_total == pytest.approx(total_of(orders))
        found = align(best, 1.0, reference="consensus")
        assert total_objective(best, found, 1.0) >= best_total - 1e-9


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("method", ["ascent", "pfp", "exact"])
def test_seeds_are_kept(reference: int | str, method: str) -> None:
    """Anchors of one row end in the same column, against the data if need be; unknown ones are matched."""
    rng = np.random.default_rng(12)
    graphs, _ = planted_graphs(rng, 100, 6, 3)
    table = np.array([[0, 3, 5], [4, 0, -1], [1, 1, 1]])
    aligner = AnchorAligner(0.5, reference=reference, method=method, seeds=table).fit(graphs)
    positions = [np.argsort(p) for p in aligner.permutations_]
    for row in table:
        columns = {int(positions[view][anchor]) for view, anchor in enumerate(row) if anchor >= 0}
        assert len(columns) == 1
    assert (aligner.upper_bound_ >= aligner.objective_).all()
    fixed = np.isinf(aligner.margins_)
    assert fixed.sum(axis=1).tolist() == [3, 3, 2]


def test_true_seeds_recover_the_rest_from_structure_alone() -> None:
    """The paper's link to partially aligned samples: structure term only, some correspondences known."""
    graphs, (p0, p1) = planted_graphs(np.random.default_rng(13), 300, 40, noise=0.05)
    pairs = np.column_stack([p0, p1])[:10]
    found = align(graphs, np.inf, reference=0, seeds=pairs)[1].argmax(axis=0)
    np.testing.assert_array_equal(found, p1[np.argsort(p0)])


def test_exact_with_seeds_needs_only_the_pairs_of_the_reference() -> None:
    """Twelve anchors, two or three of them known: view 0 is the only possible reference, nine or ten are free."""
    graphs, _ = planted_graphs(np.random.default_rng(15), 100, 12, 3)
    table = [[0, 0, 0], [1, -1, 1], [2, 2, -1]]
    for reference in REFERENCES:
        aligner = AnchorAligner(reference=reference, method="exact", seeds=table).fit(graphs)
        assert aligner.reference_ in (0, None)


def test_seeds_may_fix_everything() -> None:
    """Then nothing is left to search, and the bound is the objective."""
    graphs = related_graphs(np.random.default_rng(14), 50, 5)
    pairs = [(0, 2), (1, 0), (2, 1), (3, 4), (4, 3)]
    aligner = AnchorAligner(1.0, reference=0, seeds=pairs).fit(graphs)
    np.testing.assert_array_equal(aligner.permutations_[1], [2, 0, 1, 4, 3])
    assert aligner.gap_[1] == 0
    assert np.isinf(aligner.margins_).all()
