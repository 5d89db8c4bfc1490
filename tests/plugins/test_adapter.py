"""The adapter contract: methods wrapped in three ways, and what they must not do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from distributions import adapter as plugin_code
from distributions import install, temporary_site

from anchor_align import (
    Adapter,
    AdapterError,
    AlignedClusterer,
    AnchorGraphs,
    FunctionAdapter,
    InputError,
    get_adapter,
    view_seeds,
)
from anchor_align.data import make_simulated
from anchor_align.metrics import acc

site = pytest.fixture(temporary_site)

DATA = make_simulated(2)
VIEWS = DATA.views


def good_graphs(views: Sequence[Any], **options: Any) -> list[Any]:
    return list(get_adapter("lmvsc").anchor_graphs(views, **options).graphs)


def fit(adapter: Adapter, n_anchors: int = 4, **options: Any) -> AlignedClusterer:
    return AlignedClusterer(adapter, n_clusters=4, n_anchors=n_anchors, random_state=0, **options).fit(VIEWS)


def test_two_functions_make_an_adapter() -> None:
    """Graphs from one, labels from the other; without a second one the graph is clustered as by default."""

    def strongest(graph: Any, *, n_clusters: int, random_state: int) -> Any:
        return np.asarray(graph).argmax(axis=1)

    for cluster in (strongest, None):
        assert acc(DATA.labels, fit(FunctionAdapter("mine", good_graphs, cluster)).labels_) == 1.0


def test_functions_for_new_samples() -> None:
    """Prediction needs a third function, and says so."""

    def shares(views: Any) -> list[Any]:
        return [abs(X) / abs(X).sum(axis=1, keepdims=True) for X in views]

    adapter = FunctionAdapter("mine", lambda views, **_: AnchorGraphs(shares(views), state=3))
    with pytest.raises(InputError, match="Adapter 'mine' cannot make graphs of new samples"):
        fit(adapter, 2).predict(VIEWS)
    seen = []

    def new_graphs(views: Any, learned: AnchorGraphs) -> Any:
        seen.append(learned.state)
        return shares(views)

    fitted = fit(adapter.set_params(new_graphs_function=new_graphs), 2)
    assert np.array_equal(fitted.predict(VIEWS), fitted.labels_)
    assert seen == [3]


def test_graphs_made_elsewhere(tmp_path: Path) -> None:
    """Graphs from a .mat file, as MATLAB would write them: only fusion and clustering run here."""
    graphs = good_graphs(VIEWS, n_clusters=4, n_anchors=4, random_state=1)
    cell = np.empty(2, dtype=object)
    cell[:] = graphs
    scipy.io.savemat(tmp_path / "graphs.mat", {"Z": cell})
    loaded = scipy.io.loadmat(tmp_path / "graphs.mat")["Z"]
    fitted = AlignedClusterer("precomputed", n_clusters=4, random_state=0).fit(loaded)
    assert acc(DATA.labels, fitted.labels_) == 1.0
    assert fitted.aligner_ is not None
    assert np.array_equal(fitted.predict(graphs), fitted.labels_)
    as_they_are = AlignedClusterer("precomputed", n_clusters=4, adapter_params={"aligned": True}).fit(graphs)
    assert as_they_are.aligner_ is None
    np.testing.assert_allclose(as_they_are.fused_graph_, (graphs[0] + graphs[1]) / 2)


def test_third_party_adapter_by_name(site: Path) -> None:
    """An installed distribution's adapter is used like ours; one that returns something else is named."""
    body = "def anchor_graphs(self, views, **options): return get_adapter('lmvsc').anchor_graphs(views, **options)"
    install(site, "third-party", "from anchor_align import get_adapter\n" + plugin_code("theirs", body))
    install(site, "wrong", plugin_code("wrong", "def anchor_graphs(self, views, **_): return views[0]"))
    found = AlignedClusterer("theirs", n_clusters=4, n_anchors=4, random_state=0).fit_predict(VIEWS)
    assert acc(DATA.labels, found) == 1.0
    with pytest.raises(AdapterError, match="Adapter 'wrong' returned ndarray from anchor_graphs"):
        AlignedClusterer("wrong", n_clusters=4).fit(VIEWS)


def test_view_weights_are_used() -> None:
    """A weight of one for the first view: the fused graph is its graph."""

    class Weighted(FunctionAdapter):
        def view_weights(self, graphs: Sequence[Any], *, n_clusters: int, random_state: int) -> Any:
            return np.array([1.0, 0.0])

    fitted = fit(Weighted("weighted", good_graphs), reference=0)
    np.testing.assert_allclose(fitted.fused_graph_, fitted.anchor_graphs_.graphs[0])
    assert fitted.weights_ is not None
    assert fitted.weights_.tolist() == [1.0, 0.0]


def test_columns_that_correspond_are_left_in_order() -> None:
    """AnchorGraphs(aligned=True) is not aligned again."""

    def shuffled(views: Sequence[Any], **options: Any) -> AnchorGraphs:
        return AnchorGraphs([Z[:, ::-1] for Z in good_graphs(views, **options)], aligned=True)

    fitted = fit(FunctionAdapter("mine", shuffled))
    assert fitted.aligner_ is None
    assert [p.tolist() for p in fitted.permutations_] == [[0, 1, 2, 3]] * 2


BAD_GRAPHS = {
    "flag": (lambda Z: AnchorGraphs(Z, aligned="no"), "aligned must be True or False, got 'no'"),  # type: ignore[arg-type]
    "generator of anchors": (lambda Z: AnchorGraphs(Z, anchors=(A for A in Z)), "anchors must be a list"),  # type: ignore[arg-type]
    "none": (None, "returned graphs that cannot be used: Expected a list"),
    "other anchors": (lambda Z: [each @ np.eye(4, 6) for each in Z], "returned graphs on 6 anchors; expected 4"),
    "one graph": (lambda Z: Z[:1], "returned 1 graphs for 2 views"),
    "too few rows": (lambda Z: [each[:50] for each in Z], "returned graphs of 50 samples; expected 200"),
    "nan": (lambda Z: [Z[0], Z[1] * np.nan], "View 1 has NaN or infinity in 200 of 200 rows"),
    "sparse nan": (lambda Z: [sp.csr_array(each * np.nan) for each in Z], "View 0 has NaN or infinity"),
    "unequal": (lambda Z: [Z[0], Z[1][:, :3]], "View 0 has 4 anchors; view 1 has 3"),
    "text": (lambda Z: "graphs", "Expected a list of anchor graphs"),
    "anchors": (lambda Z: AnchorGraphs(Z, anchors=[1]), "anchors must be a list with one entry for each of 2 views"),
}


@pytest.mark.parametrize("name", BAD_GRAPHS)
def test_bad_graphs_are_refused(name: str) -> None:
    """The error names the adapter and what is wrong."""
    spoil, message = BAD_GRAPHS[name]

    def graphs(views: Sequence[Any], **options: Any) -> Any:
        return spoil(good_graphs(views, **options)) if callable(spoil) else spoil

    with pytest.raises(AdapterError, match=f"Adapter 'bad' .*{message}"):
        fit(FunctionAdapter("bad", graphs))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(50, dtype=int), r"labels of shape \(50,\) and dtype int64; expected 200 whole numbers"),
        (np.zeros((200, 1), dtype=int), r"labels of shape \(200, 1\)"),
        (np.full(200, 0.5), "dtype float64"),
        (None, "dtype object"),
        ([[1], [1, 2]], "dtype object"),
        (np.arange(200), "returned 200 clusters; expected at most 4"),
    ],
)
def test_bad_labels_are_refused(labels: Any, message: str) -> None:
    """Nobody can score with more clusters than asked for."""
    with pytest.raises(AdapterError, match=f"Adapter 'bad' .*{message}"):
        fit(FunctionAdapter("bad", good_graphs, lambda graph, **_: labels))


@pytest.mark.parametrize("weights", [[1.0], [-1.0, 2.0], [np.nan, 1.0], "x", np.array(1.0)])
def test_bad_weights_are_refused(weights: Any) -> None:
    """One weight >= 0 per view."""

    class Weighted(FunctionAdapter):
        def view_weights(self, graphs: Sequence[Any], *, n_clusters: int, random_state: int) -> Any:
            return weights

    with pytest.raises(AdapterError, match="Adapter 'bad' returned weights that cannot be used"):
        fit(Weighted("bad", good_graphs))


@pytest.mark.parametrize("sparse", [False, True])
def test_adapters_cannot_write_to_what_they_get(sparse: bool) -> None:
    """Neither views nor graphs: an adapter that tries gets an error, and the data stay."""

    def spoil(matrix: Any) -> None:
        (matrix.data if sparse else matrix)[:] = 0

    def graphs(views: Sequence[Any], **options: Any) -> Any:
        spoil(views[0])

    def cluster(graph: Any, **options: Any) -> Any:
        spoil(graph)

    views = [sp.csr_array(X) for X in VIEWS] if sparse else VIEWS
    before = [X.copy() for X in views]
    kept = [sp.csr_array(Z) if sparse else Z for Z in good_graphs(VIEWS, n_clusters=4, n_anchors=4, random_state=0)]
    for adapter in (FunctionAdapter("bad", graphs), FunctionAdapter("bad", lambda views, **_: kept, cluster)):
        with pytest.raises(ValueError, match="read-only"):
            AlignedClusterer(adapter, n_clusters=4, n_anchors=4).fit(views)
    assert all(abs(X - Y).max() == 0 for X, Y in zip(views, before, strict=True))


def test_adapters_cannot_take_samples_away() -> None:
    """What they do to the lists they are handed stays with them."""

    def graphs(views: Any, **options: Any) -> Any:
        views[:] = [X[:5] for X in views]
        return [np.eye(4)[np.arange(5) % 4] for _ in views]

    with pytest.raises(AdapterError, match="returned graphs of 5 samples; expected 200"):
        fit(FunctionAdapter("bad", graphs))

    class Swapping(FunctionAdapter):
        def view_weights(self, graphs: Any, *, n_clusters: int, random_state: int) -> Any:
            graphs[0] = graphs[1]

    honest, swapping = (fit(kind("mine", good_graphs)) for kind in (FunctionAdapter, Swapping))
    assert np.array_equal(honest.fused_graph_, swapping.fused_graph_)


def test_graphs_without_entries_are_clustered() -> None:
    """All-zero graphs say nothing: one cluster, and warnings."""
    zeros = [np.zeros((20, 3))] * 2
    found, shares = "Found 1 clusters instead of 2", "rows that do not sum to one in view 0, view 1"
    with pytest.warns(UserWarning, match=found), pytest.warns(UserWarning, match=shares):
        labels = AlignedClusterer("precomputed", n_clusters=2).fit_predict(zeros)
    assert set(labels) == {0}


def test_number_of_anchors_of_the_adapter_is_checked() -> None:
    """Whole and at least one."""

    class Half(FunctionAdapter):
        def default_n_anchors(self, n_samples: int, n_clusters: int) -> Any:
            return 0.5

    with pytest.raises(AdapterError, match="Adapter 'half' returned default_n_anchors that cannot be used"):
        AlignedClusterer(Half("half", good_graphs), n_clusters=4).fit(VIEWS)


def test_the_users_adapter_is_not_touched() -> None:
    """A copy is fitted."""
    adapter = get_adapter("lmvsc")
    fitted = fit(adapter)
    assert fitted.adapter_ is not adapter
    with pytest.raises(InputError, match="adapter_params is for an adapter given by name"):
        fit(adapter, adapter_params={"alpha": 2.0})


def test_base_class_says_what_is_missing() -> None:
    """Without anchor_graphs there is nothing to call."""

    class Empty(Adapter):
        name = "empty"

    with pytest.raises(AdapterError, match="Adapter 'empty' does not define anchor_graphs"):
        fit(Empty())


def test_view_seeds_differ() -> None:
    """Between views and between seeds."""
    assert len({seed for state in range(50) for seed in view_seeds(state, 10)}) == 500


@pytest.mark.parametrize(("state", "n_views"), [(None, 2), (-1, 2), ("x", 2), (0, None), (0, [3])])
def test_view_seeds_are_made_from_whole_numbers(state: Any, n_views: Any) -> None:
    with pytest.raises(InputError, match="must be a whole number"):
        view_seeds(state, n_views)
