"""The order of the samples does not change the clusters of any method, on real data without names."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from distributions import OUR_BASELINES

import anchor_align.clustering._sample_order as sample_order
from anchor_align import (
    Adapter,
    AlignedClusterer,
    AnchorAligner,
    AnchorGraphs,
    choose,
    cluster_number_curves,
    get_adapter,
    get_baseline,
    load_views,
)
from anchor_align.clustering import Views
from anchor_align.data import MultiViewData
from anchor_align.errors import AdapterError, InputError
from anchor_align.metrics import ari
from anchor_align.plugins import made_graphs
from anchor_align.study import compare

ADAPTERS: list[tuple[str, dict[str, Any]]] = [
    ("local", {}),
    ("local", {"kmeans": "sample"}),
    ("local", {"kmeans": "minibatch"}),
    ("lmvsc", {}),
    ("fmvacc", {}),
    ("sfmc", {}),
    ("sfmc", {"anchors": "random"}),
    ("sfmc", {"anchors": "kmeans"}),
    ("sfmc", {"anchors": "flexible"}),
    ("msgl", {}),
    ("fmcnof", {}),
]


def digits(n: int = 400) -> MultiViewData:
    """Every few digits, sorted by class as in the file."""
    data = load_views("uci-digit")
    rows = np.linspace(0, data.n_samples - 1, n).astype(int)
    assert data.labels is not None
    return MultiViewData([np.asarray(X[rows]) for X in data.views], np.asarray(data.labels)[rows], data.names)


def shuffled(data: MultiViewData, seed: int) -> tuple[MultiViewData, Any]:
    order = np.random.default_rng(seed).permutation(data.n_samples)
    assert data.labels is not None
    return MultiViewData([X[order] for X in data.views], np.asarray(data.labels)[order], data.names), order


@pytest.mark.parametrize("fusion", ["aligned", "unaligned"])
@pytest.mark.parametrize(("adapter", "params"), ADAPTERS)
@pytest.mark.filterwarnings("ignore:sfmc found", "ignore:View")
def test_shuffled_samples_have_the_same_clusters(adapter: str, params: dict[str, Any], fusion: str) -> None:
    """Sorted by class and in two random orders: to the last label, whether or not the clusters are clear."""
    data = digits()
    clusterer = AlignedClusterer(adapter, n_clusters=10, fusion=fusion, adapter_params=params, random_state=3)
    expected = clusterer.fit_predict(data.views)
    for seed in range(2):
        other, order = shuffled(data, seed)
        assert ari(expected[order], clusterer.fit_predict(other.views)) == 1.0


CHAOTIC: list[tuple[str, str, dict[str, Any]]] = [
    ("simulated", "fmcnof", {}),  # clusters lose all samples
    ("digits", "fmvacc", {"n_anchors": 50}),  # more anchors than features
    ("digits", "sfmc", {"n_anchors": 150}),  # whole numbers, and scores at the top of the map
]


@pytest.mark.parametrize(("name", "adapter", "settings"), CHAOTIC)
@pytest.mark.filterwarnings("ignore:sfmc found", "ignore:fmcnof", "ignore:View")
def test_methods_that_enlarge_rounding_have_the_same_embedding(name: str, adapter: str, settings: Any) -> None:
    """Not only the same clusters: a fit gets the same input, so that every digit is the same."""
    data = load_views(name)
    clusterer = AlignedClusterer(adapter, n_clusters=data.n_clusters or 2, random_state=1, **settings)
    labels, embedding = clusterer.fit_predict(data.views), clusterer.embedding_
    other, order = shuffled(data, 5)
    assert ari(labels[order], clusterer.fit_predict(other.views)) == 1.0
    np.testing.assert_array_equal(embedding[order], clusterer.embedding_)


@pytest.mark.parametrize("storage", ["memory", "disk"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_results_are_in_the_order_of_the_data(storage: str, kind: Any) -> None:
    """Graphs, embedding and labels of sample i are in row i; clusters are numbered as they first appear."""
    data = digits()
    views = [kind(X) for X in data.views]
    clusterer = AlignedClusterer("lmvsc", n_clusters=10, storage=storage, random_state=0).fit(views)
    labels = clusterer.labels_
    assert list(dict.fromkeys(labels.tolist())) == list(range(10))
    np.testing.assert_array_equal(clusterer.predict(views), labels)
    np.testing.assert_allclose(clusterer.transform(views), clusterer.embedding_, atol=1e-9)
    for rows in (slice(0, 50), slice(300, 400)):
        again = clusterer.transform([X[rows] for X in views])
        np.testing.assert_allclose(again, clusterer.embedding_[rows], atol=1e-9)
    fused = np.mean(
        [np.asarray(Z)[:, p] for Z, p in zip(clusterer.anchor_graphs_.graphs, clusterer.permutations_, strict=True)],
        axis=0,
    )
    np.testing.assert_allclose(np.asarray(clusterer.fused_graph_), fused, atol=1e-9)
    for result in (clusterer.fused_graph_, *clusterer.anchor_graphs_.graphs):
        assert not result.flags.writeable


class AsTheyCome(Adapter):
    """Says which first rows it got; the graphs are those of two anchors."""

    name = "as-they-come"
    got: list[float] = []  # noqa: RUF012  # one list for all instances

    def anchor_graphs(self, views: Any, *, n_clusters: int, n_anchors: int, random_state: int) -> AnchorGraphs:
        """Halves of the samples, by their first number."""
        self.got.append(float(views[0][0, 0]))
        Z = np.eye(n_anchors)[(np.argsort(np.argsort(views[0][:, 0])) * n_anchors) // len(views[0])]
        return AnchorGraphs([Z for _ in views])


class ByContent(AsTheyCome):
    """The same, in an order of its own."""

    name = "by-content"
    in_content_order = True


class Spoiled(Adapter):
    """Cannot tell one sample."""

    name = "spoiled"
    in_content_order = True

    def learn_anchors(self, views: Any, *, n_clusters: int, n_anchors: int, random_state: int) -> AnchorGraphs:
        """The first samples."""
        return AnchorGraphs((), [X[:n_anchors] for X in views])

    def new_graphs(self, views: Any, learned: AnchorGraphs) -> list[Any]:
        """NaN for the samples that begin with -1."""
        m = len((learned.anchors or ())[0])
        Z = np.where(views[0][:, :1] == -1, np.nan, np.eye(m)[np.arange(len(views[0])) % m])
        return [Z for _ in views]


def test_other_adapters_get_the_samples_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless they say that any order will do, and the data are small enough to be copied."""
    X = np.random.default_rng(0).random((60, 3))
    first = []
    for adapter, most in ((AsTheyCome(), 100), (ByContent(), 100), (ByContent(), 59)):
        monkeypatch.setattr(sample_order, "MOST_SAMPLES", most)
        for rows in (X, X[::-1]):
            AlignedClusterer(adapter, n_clusters=2, n_anchors=2, random_state=0).fit([rows, rows])
        first.append(AsTheyCome.got[-2:])
    as_they_come, by_content, too_many = first
    assert as_they_come == too_many == [X[0, 0], X[-1, 0]]
    assert by_content[0] == by_content[1]


def test_an_error_names_the_sample_of_the_data() -> None:
    """Not the place that it has in the fit."""
    data = digits(100)
    mask = np.ones((3, 100), dtype=bool)
    mask[0, 41] = mask[1, 41] = False
    clusterer = AlignedClusterer("lmvsc", n_clusters=3, weights=[1.0, 1.0, 0.0], random_state=0)
    with pytest.raises(InputError, match=r"^Sample 41 is only in views whose weight is zero"):
        clusterer.fit(data.views, mask=mask)


@pytest.mark.parametrize("storage", ["memory", "never"])
def test_an_error_of_an_adapter_names_the_row_of_the_data(storage: str) -> None:
    """Graphs that are made at once, and rows of graphs that are made when they are needed."""
    X = np.random.default_rng(0).random((60, 3))
    X[17, 0] = -1
    clusterer = AlignedClusterer(Spoiled(), n_clusters=2, n_anchors=3, storage=storage)
    with pytest.raises(AdapterError, match=r"1 of 60 rows \(first: row 17\)"):
        clusterer.fit([X, X])


def test_an_error_names_the_row_also_of_scattered_samples() -> None:
    """A sample of the rows, which is read before all others."""
    X = np.random.default_rng(0).random((60, 3))
    X[17, 0] = -1
    order = np.random.default_rng(1).permutation(60)
    views = [X[order], X[order]]
    made = made_graphs(Spoiled(), views, AnchorGraphs((), [X[:3], X[:3]]), None, order)
    place = int(np.flatnonzero(order == 17)[0])
    with pytest.raises(AdapterError, match=r"1 of 3 rows \(first: row 17\)"):
        made.block(np.array([59, 58, place]))


@pytest.mark.filterwarnings("ignore:View", "ignore:fmcnof")
def test_named_samples_have_the_same_clusters() -> None:
    """Whether names are sorted, joined, exchanged or left out: names say what belongs together, and nothing else."""
    pd = pytest.importorskip("pandas")
    data = load_views("simulated")
    n = data.n_samples
    tables = [pd.DataFrame(X, index=[f"s{row:03}" for row in range(n)]) for X in data.views]
    other = np.random.default_rng(0).permutation(n)
    clusterer = AlignedClusterer("fmcnof", n_clusters=4, random_state=1)
    expected = clusterer.fit_predict(data.views)
    renamed = [table.set_axis([f"x{number:03}" for number in other]) for table in tables]
    for views in (tables, [tables[0], tables[1].iloc[other]], renamed):
        assert ari(clusterer.fit_predict(views), expected) == 1.0
    both = [table.iloc[other] for table in tables]
    assert ari(clusterer.fit_predict(both), expected[other]) == 1.0


def test_a_study_does_not_mix_orders() -> None:
    """Anchors that were found for samples in one order are not those of an adapter that gets them in another one."""
    fmvacc = type(get_adapter("fmvacc"))
    stays = type("Stays", (fmvacc,), {"name": "stays", "in_content_order": False})
    data = digits(200)

    def objectives(*adapters: Any) -> dict[str, float | None]:
        found = compare(list(adapters), {"digits": data}, n_anchors=80, repeats=1)
        return {each.setting.adapter: each.objective for each in found.records if each.arm == "aligned"}

    assert objectives(fmvacc(), stays()) == objectives(fmvacc()) | objectives(stays())


@pytest.mark.parametrize("storage", ["memory", "auto"])
def test_views_in_files_need_no_other_files(storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If graphs are in memory, so is the copy in the order of the fit."""
    data = digits(200)
    views = []
    for view, X in enumerate(data.views):
        np.save(tmp_path / f"{view}.npy", X)
        views.append(np.load(tmp_path / f"{view}.npy", mmap_mode="r"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    clusterer = AlignedClusterer("lmvsc", n_clusters=10, storage=storage, random_state=0)
    expected = clusterer.fit_predict(data.views)
    np.testing.assert_array_equal(clusterer.fit_predict(views), expected)


@pytest.mark.parametrize("storage", ["disk", "never", "auto"])
def test_a_fit_without_room_for_the_copy_takes_the_samples_as_they_stand(storage: str) -> None:
    """The copy of sparse views would be in memory."""
    views = [sp.random_array((4000, 800), density=0.1, format="csr", rng=seed) for seed in range(2)]
    clusterer = AlignedClusterer("local", n_clusters=2, n_anchors=4, storage=storage, random_state=0)
    expected = clusterer.fit_predict(views)
    with patch.object(Views, "content_order", side_effect=AssertionError("copied")):
        found = clusterer.set_params(memory="10MB").fit_predict(views)
    assert ari(found, expected) == 1.0


@pytest.mark.parametrize("name", OUR_BASELINES)
def test_baselines_have_the_same_clusters(name: str) -> None:
    """As for adapters."""
    data = digits(200)
    other, order = shuffled(data, 0)
    expected, found = (
        get_baseline(name).fit_predict(each.views, n_clusters=10, random_state=1) for each in (data, other)
    )
    assert ari(expected[order], found) == 1.0


@pytest.mark.filterwarnings("ignore:Too few shared")
def test_missing_samples() -> None:
    """Samples that are missing at random are missing wherever they stand."""
    data = digits()
    mask = np.random.default_rng(0).random((3, data.n_samples)) > 0.3
    mask[0] |= ~mask.any(axis=0)
    other, order = shuffled(data, 1)
    clusterer = AlignedClusterer(n_clusters=10, random_state=0)
    expected = clusterer.fit_predict(data.views, mask=mask)
    assert ari(expected[order], clusterer.fit_predict(other.views, mask=mask[:, order])) == 1.0


def test_chance_level_choice_and_curves_do_not_depend_on_it() -> None:
    """Whatever is computed on a sample of the data."""
    data = digits()
    other, _ = shuffled(data, 2)
    graphs = [AlignedClusterer("lmvsc", n_clusters=10, random_state=0).fit(each.views) for each in (data, other)]
    chances = [np.asarray(AnchorAligner(random_state=0).fit(each.anchor_graphs_.graphs).chance_) for each in graphs]
    np.testing.assert_allclose(chances[0], chances[1], rtol=1e-6)
    tables = [choose(each.views, 10, sample=200, draws=2, random_state=0) for each in (data, other)]
    scores = [[result.score for result in each.results] for each in tables]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-6)
    curves = [cluster_number_curves(each.views, [8, 10], sample=200, draws=1, random_state=0) for each in (data, other)]
    for one, two in zip(curves[0].curves, curves[1].curves, strict=True):
        np.testing.assert_allclose(one.values, two.values, rtol=1e-6, err_msg=one.name)


def test_a_study_has_the_same_scores() -> None:
    """Its seeds depend on the content of the data, not on the order of the samples."""
    scores = []
    for each in (digits(), shuffled(digits(), 3)[0]):
        records = compare(["lmvsc"], {"digits": each}, repeats=2).records
        scores.append([(record.arm, record.scores) for record in records])
    assert scores[0] == scores[1]
