"""AlignedClusterer with numbers of anchors by view, weights of the views, and adapters of third parties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from masked_views import APART, DATA, KINDS, MASK, VIEWS, N, assert_same_fit, clusterer, dense, random_mask, spoiled
from sklearn.base import clone
from strategies import planted_graphs, real_data, sorted_columns

from anchor_align import (
    Adapter,
    AdapterError,
    AlignedClusterer,
    AnchorGraphs,
    align,
    fuse,
    get_adapter,
)
from anchor_align.metrics import acc

# Simulated data are small; what is warned of is tested with the aligner.
pytestmark = pytest.mark.filterwarnings("ignore:Too few shared samples", "ignore:sfmc found")


@pytest.mark.parametrize("kind", APART)
@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "masked"])
def test_numbers_of_anchors_by_view(kind: str, mask: Any) -> None:
    """Each view has its own; the fused graph has a column for each anchor of the largest view."""
    counts = [6, 10, 8]
    fitted = clusterer(kind, n_anchors=counts).fit(VIEWS, mask=mask)
    assert [Z.shape for Z in fitted.anchor_graphs_.graphs] == [(N, m) for m in counts]
    assert [len(A) for A in fitted.anchors_ or ()] == counts
    assert fitted.fused_graph_.shape == (N, 10)
    np.testing.assert_allclose(dense(fitted.fused_graph_).sum(axis=1), 1.0)
    for p, m in zip(fitted.permutations_, counts, strict=True):
        assert p.shape == (10,)
        assert sorted(p[p >= 0]) == list(range(m))
    # Sparse graphs on so few anchors lose more to the mask.
    assert acc(DATA.labels, fitted.labels_) > (0.7 if kind == "sfmc flexible" and mask is not None else 0.9)
    assert np.mean(fitted.predict(VIEWS, mask=mask) == fitted.labels_) >= 0.99
    concat = clusterer(kind, n_anchors=counts, fusion="concat").fit(VIEWS, mask=mask)
    assert concat.fused_graph_.shape == (N, 24)
    unaligned = clusterer(kind, n_anchors=counts, fusion="unaligned").fit(VIEWS, mask=mask)
    np.testing.assert_array_equal(unaligned.permutations_[0], [0, 1, 2, 3, 4, 5, -1, -1, -1, -1])


@pytest.mark.parametrize("many_to_one", [False, True])
def test_a_small_reference(many_to_one: bool) -> None:
    """Anchors without a partner have columns of their own, or join those of the reference: rows sum to one anyway."""
    fitted = clusterer(n_anchors=[6, 10, 8], reference=0, many_to_one=many_to_one).fit(VIEWS, mask=MASK)
    np.testing.assert_allclose(fitted.fused_graph_.sum(axis=1), 1.0)
    assert fitted.fused_graph_.shape[1] == 6 if many_to_one else fitted.fused_graph_.shape[1] >= 10
    assert (fitted.permutations_[1].ndim == 2) == many_to_one
    if many_to_one:
        assert fitted.permutations_[1].shape == (10, 6)
        np.testing.assert_array_equal(fitted.permutations_[1].sum(axis=1), 1)
    assert np.mean(fitted.predict(VIEWS, mask=MASK) == fitted.labels_) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("counts", [[10, 10, 10], (10, 10, 10), np.array([10, 10, 10])], ids=["list", "tuple", "array"])
def test_equal_numbers_are_one_number(kind: str, counts: Any) -> None:
    """To the last bit, also for adapters that take one number only."""
    assert_same_fit(clusterer(kind, n_anchors=counts).fit(VIEWS), clusterer(kind).fit(VIEWS))


@pytest.mark.parametrize("weights", [None, "auto"])
def test_the_order_of_the_views_does_not_matter(weights: str | None) -> None:
    """The same clusters, and the same fused graph but for the order of its columns."""
    graphs, _ = planted_graphs(np.random.default_rng(1), 150, 6, 4, noise=0.2)
    mask = random_mask(np.random.default_rng(2), 4, 150)
    named = dict(zip("abcd", graphs, strict=True))
    options: dict[str, Any] = {"n_clusters": 6, "random_state": 0, "weights": weights}
    expected = AlignedClusterer("precomputed", **options).fit(named, mask=mask)
    for order in ([3, 1, 0, 2], [1, 0, 3, 2]):
        views = {"abcd"[v]: graphs[v] for v in order}
        found = AlignedClusterer("precomputed", **options).fit(views, mask=mask[order])
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        np.testing.assert_allclose(sorted_columns(found.fused_graph_), sorted_columns(expected.fused_graph_))
        if weights is not None:
            np.testing.assert_allclose(np.asarray(found.weights_), np.asarray(expected.weights_)[order])
        np.testing.assert_array_equal(expected.predict(views, mask=mask[order]), expected.labels_)


@pytest.mark.slow
def test_weights_by_agreement_are_safe_from_a_view_of_noise() -> None:
    """UCI-Digit, five draws: a view of noise costs under two points with them; the plain mean is no better."""
    views, labels = real_data("UCI-Digit_3v")
    rng = np.random.default_rng(0)
    noisy = [*views, rng.normal(size=(len(labels), 50))]

    def score(data: list[Any], weights: str | None) -> float:
        found = [AlignedClusterer("lmvsc", n_clusters=10, weights=weights, random_state=s).fit(data) for s in range(5)]
        return 100 * float(np.mean([acc(labels, each.labels_) for each in found]))

    without, plain, auto = score(views, None), score(noisy, None), score(noisy, "auto")
    assert auto > without - 2
    assert auto > plain - 1


def test_weights_of_the_user() -> None:
    """They are those of the mean; of the views that have a sample, relative to each other."""
    given = clusterer(weights=[1, 2, 5]).fit(VIEWS, mask=MASK)
    np.testing.assert_allclose(np.asarray(given.weights_), [1 / 8, 2 / 8, 5 / 8])
    matrices = align(given.anchor_graphs_.graphs, reference="consensus", mask=MASK)
    expected = fuse(given.anchor_graphs_.graphs, matrices, weights=[1, 2, 5], mask=MASK)
    np.testing.assert_allclose(given.fused_graph_, expected)
    assert clusterer(weights=[1, 2, 5], fusion="concat").fit(VIEWS, mask=MASK).weights_ is None
    assert clusterer(weights="auto").fit(VIEWS[:2]).weights_ == pytest.approx([0.5, 0.5])


def test_weights_of_the_adapter_leave_no_sample_without_a_graph() -> None:
    """An adapter may find that a view weighs nothing; samples that no other view has keep their row."""

    class OneView(type(get_adapter("lmvsc"))):  # type: ignore[misc]  # a class that is only known at run time
        name = "one-view"

        def view_weights(self, graphs: Any, *, n_clusters: int, random_state: int) -> np.ndarray:
            return np.array([1.0, 0.0, 0.0])

    fitted = AlignedClusterer(OneView(), n_clusters=4, random_state=0).fit(VIEWS, mask=MASK)
    np.testing.assert_allclose(fitted.fused_graph_.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.asarray(fitted.weights_), [1, 0.001, 0.001], atol=0.003)
    whole = AlignedClusterer(OneView(), n_clusters=4, random_state=0).fit(VIEWS)
    np.testing.assert_array_equal(whole.weights_, [1, 0, 0])


class RandomRows(Adapter):
    """A third party's adapter: random samples of each view are its anchors."""

    name = "random-rows"
    views_apart = True

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: Any, random_state: int
    ) -> AnchorGraphs:
        """So many random rows of each view."""
        counts = [n_anchors] * len(views) if isinstance(n_anchors, int) else n_anchors
        rng = np.random.default_rng(random_state)
        drawn = [rng.choice(len(X), m, replace=False) for X, m in zip(views, counts, strict=True)]
        return AnchorGraphs((), [X[rows] for X, rows in zip(views, drawn, strict=True)])

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[Any]:
        """Gaussian similarities to the anchors."""
        graphs = []
        for X, A in zip(views, learned.anchors or (), strict=True):
            assert np.isfinite(X).all()  # whatever is in the rows that a view lacks
            Z = np.exp(-4 * ((X[:, None, :] - A) ** 2).sum(axis=2))
            graphs.append(Z / Z.sum(axis=1, keepdims=True))
        return graphs


@pytest.mark.parametrize("n_anchors", [12, [8, 12, 10]], ids=["one", "by view"])
@pytest.mark.parametrize("storage", ["memory", "never"])
def test_third_party_adapter(n_anchors: Any, storage: str) -> None:
    """One that says that its views are apart takes masks and numbers by view; it is handed nothing but samples."""
    made = AlignedClusterer(RandomRows(), n_clusters=4, n_anchors=n_anchors, storage=storage, random_state=0)
    fitted = made.fit(spoiled(VIEWS), mask=MASK)
    assert [len(A) for A in fitted.anchors_ or ()] == (n_anchors if isinstance(n_anchors, list) else [12] * 3)
    assert len(set(fitted.labels_)) == 4
    assert np.mean(fitted.predict(spoiled(VIEWS), mask=MASK) == fitted.labels_) >= 0.99
    assert clone(made).fit(VIEWS).labels_.shape == (N,)


def test_a_method_that_finds_the_number_of_anchors_may_find_another_in_every_view() -> None:
    """``chooses_n_anchors`` is all that its class says."""

    class Finds(Adapter):
        name = "finds"
        chooses_n_anchors = True

        def anchor_graphs(self, views: Sequence[Any], **_: Any) -> AnchorGraphs:
            return AnchorGraphs([np.eye(m)[np.arange(len(X)) % m] for m, X in zip((4, 6, 5), views, strict=True)])

    fitted = AlignedClusterer(Finds(), n_clusters=4, random_state=0).fit(VIEWS)
    assert [Z.shape[1] for Z in fitted.anchor_graphs_.graphs] == [4, 6, 5]


def test_third_party_adapter_with_the_wrong_numbers() -> None:
    """Graphs on other numbers of anchors than asked for are refused, naming the view."""

    class Deaf(RandomRows):
        name = "deaf"

        def learn_anchors(self, views: Sequence[Any], *, n_anchors: Any, **options: Any) -> AnchorGraphs:
            return super().learn_anchors(views, n_anchors=7, **options)

    with pytest.raises(AdapterError, match="'deaf' returned graphs on 7 anchors for view 1; expected 9"):
        AlignedClusterer(Deaf(), n_clusters=4, n_anchors=[7, 9, 8]).fit(VIEWS)
