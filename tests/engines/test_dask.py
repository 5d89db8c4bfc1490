"""The pipeline on Dask arrays gives what it gives on arrays in memory, whatever the chunks; Dask's threads here."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from dask_arrays import chunked, computed
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from strategies import at_most, planted_graphs, random_graph, real_data

from anchor_align import (
    Adapter,
    AlignedClusterer,
    AnchorAligner,
    AnchorGraphs,
    GramMatrices,
    InputError,
    InputTypeError,
    align,
    fuse,
    get_adapter,
)
from anchor_align.arrays import is_sparse
from anchor_align.blocks import ScaledRows, row_order, view_rows
from anchor_align.clustering import _prediction
from anchor_align.data import load_bundled, make_simulated
from anchor_align.kmeans import _kmeans, fit_kmeans
from anchor_align.metrics import acc

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


def shaken(views: list[Any], seed: int = 0) -> list[np.ndarray]:
    """Views of whole numbers with noise: between equally near centres rounding decides, and chunks change it."""
    rng = np.random.default_rng(seed)
    return [X + 0.01 * X.std() * rng.standard_normal(X.shape) for X in views]


@given(
    n=st.integers(2, 60),
    m=st.integers(1, 8),
    rows=st.integers(1, 70),
    seed=st.integers(0, 99),
    dtype=st.sampled_from("fdi"),
)
@settings(max_examples=at_most(25))
def test_grams_and_fusion_do_not_depend_on_chunks(n: int, m: int, rows: int, seed: int, dtype: str) -> None:
    """Gram matrices, permutations and fused graph are those of the arrays in memory."""
    graphs: list[Any] = [random_graph(np.random.default_rng(seed + v), n, m) for v in range(2)]
    graphs = [(100 * Z).astype(int) if dtype == "i" else Z.astype(dtype) for Z in graphs]
    arrays = chunked(graphs, rows)
    grams = GramMatrices.from_graphs(arrays)
    np.testing.assert_allclose(grams.matrix, GramMatrices.from_graphs(graphs).matrix, rtol=1e-10, atol=1e-12)
    assert grams.n_samples == n
    P = align(graphs)
    fused = fuse(arrays, P)
    assert isinstance(fused, da.Array)
    assert fused.dtype == fuse(graphs, P).dtype
    np.testing.assert_array_equal(fused.compute(), fuse(graphs, P))


@pytest.mark.parametrize("sparse", [False, True])
def test_aligner_takes_dask_arrays(sparse: bool) -> None:
    """Permutations, and graphs in the common order, lazily."""
    graphs: list[Any] = planted_graphs(np.random.default_rng(0), 200, 6, n_views=3)[0]
    if sparse:
        graphs = [sp.csr_array(np.where(Z > 0.1, Z, 0.0)) for Z in graphs]
    arrays = chunked(graphs, 64)
    ours, here = AnchorAligner(reference="consensus"), AnchorAligner(reference="consensus")
    aligned, expected = ours.fit_transform(arrays), here.fit_transform(graphs)
    for got, wanted, p, q in zip(aligned, expected, ours.permutations_, here.permutations_, strict=True):
        np.testing.assert_array_equal(p, q)
        assert isinstance(got, da.Array)
        got = got.compute()
        assert sp.issparse(got) == sparse
        np.testing.assert_array_equal(got.toarray() if sparse else got, wanted.toarray() if sparse else wanted)
    fused = fuse(arrays, how="concat").compute()
    assert sp.issparse(fused) == sparse
    assert fused.shape == (200, 18)


def test_progress_is_reported_for_chunks() -> None:
    """A callback hears when all rows are done."""
    heard: list[tuple[int, int]] = []
    GramMatrices.from_graphs(chunked([np.eye(6)], 2), callback=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (6, 6)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1797, 500, (1, 900, 896)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kmeans_over_chunks_is_that_in_memory(rows: Any, dtype: type) -> None:
    """The same centres, labels and inertia: the algorithm and its random numbers are the same."""
    X: Any = shaken(load_bundled("digits").views[:1])[0].astype(dtype)
    here = fit_kmeans(view_rows(X), 10, n_init=4, random_state=3)
    there = fit_kmeans(view_rows(chunked([X], rows)[0]), 10, n_init=4, random_state=3)
    assert there.inertia == pytest.approx(here.inertia, rel=1e-5)
    np.testing.assert_allclose(there.centres, here.centres, atol=1e-4)
    labels: Any = there.labels
    assert np.count_nonzero(labels.compute() != here.labels) <= 2


@pytest.mark.slow
def test_kmeans_over_chunks_is_as_good_as_that_of_scikit_learn() -> None:
    """The objective is within two per cent on real data."""
    for X in real_data("UCI-Digit_3v")[0]:
        X = X / X.std()
        theirs = KMeans(20, n_init=10, random_state=0).fit(X).inertia_
        ours = fit_kmeans(view_rows(chunked([X], 700)[0]), 20, n_init=10, random_state=0).inertia
        assert ours <= 1.02 * theirs


def test_kmeans_over_chunks_with_few_distinct_rows() -> None:
    """Empty clusters get the farthest rows, and are left over if there are not enough distinct ones."""
    X = np.repeat(np.arange(5.0), 4)[:, None]
    source = view_rows(chunked([X], 3)[0])
    assert fit_kmeans(source, 5, n_init=1, random_state=0).inertia == pytest.approx(0.0, abs=1e-12)
    assert fit_kmeans(source, 7, n_init=2, random_state=0).n_found == 5


FITS: list[tuple[str, dict[str, Any]]] = [
    ("local", {}),
    ("local", {"scale": "unit"}),
    ("lmvsc", {}),
    ("lmvsc", {"kmeans": "sample", "scale": "standard"}),
    ("fmvacc", {"n_init": 2}),
    ("fmvacc", {"n_init": 1, "orthogonal": False, "max_iter": 5}),
    ("sfmc", {"max_iter": 2}),
    ("sfmc", {"anchors": "flexible", "max_iter": 2}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("adapter", "params"), FITS)
@pytest.mark.parametrize("rows", [200, *(pytest.param(rows, marks=pytest.mark.slow) for rows in (569, (100, 400, 69)))])
def test_fit_does_not_depend_on_chunks(adapter: str, params: dict[str, Any], rows: Any) -> None:
    """Labels, graph, permutations and anchors are those of the fit in memory."""
    views = shaken(load_bundled("breast-cancer").views)
    settings_: dict[str, Any] = {"n_clusters": 3, "n_anchors": 12, "adapter_params": params, "random_state": 1}
    here = AlignedClusterer(adapter, **settings_).fit(views)
    there = AlignedClusterer(adapter, **settings_).fit(chunked(views, rows))
    assert isinstance(there.labels_, da.Array)
    assert there.labels_.chunks[0] == chunked(views, rows)[0].chunks[0]
    np.testing.assert_array_equal(computed(there.labels_), here.labels_)
    assert len(here.anchors_ or ()) == len(views)
    for A, B in zip(there.anchors_ or (), here.anchors_ or (), strict=True):
        np.testing.assert_allclose(A, B, atol=1e-7)
    for p, q in zip(there.permutations_, here.permutations_, strict=True):
        np.testing.assert_array_equal(p, q)
    fused, expected = there.fused_graph_.compute(), here.fused_graph_
    assert abs(fused - expected).max() < 1e-7
    assert there.anchor_graphs_.graphs[0].shape == (569, 12)


@pytest.mark.parametrize("adapter", ["local", "lmvsc", "fmvacc", "sfmc", "precomputed"])
def test_adapters_make_graphs_of_chunks(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Called directly, they return Dask arrays; rows are made on the workers, once for all views."""
    views, called = make_simulated(0).views, []
    method = get_adapter(adapter, **({"n_init": 1, "max_iter": 3} if adapter == "fmvacc" else {}))
    make: dict[str, Any] = {"n_clusters": 4, "n_anchors": 8, "random_state": 1}
    here, there = method.anchor_graphs(views, **make), method.anchor_graphs(chunked(views, 90), **make)
    new_graphs = type(method).new_graphs

    def counted(self: Any, views: Any, learned: Any) -> Any:
        called.append(len(views[0]))
        return new_graphs(self, views, learned)

    monkeypatch.setattr(type(method), "new_graphs", counted)
    assert all(isinstance(Z, da.Array) and Z.chunks[0] == (90, 90, 20) for Z in there.graphs)
    for Z, expected in zip(dask.compute(*there.graphs), here.graphs, strict=True):
        assert is_sparse(Z) == is_sparse(expected)
        assert abs(Z - expected).max() < 1e-7
    assert sorted(called) == ([] if adapter == "precomputed" else [20, 90, 90])
    np.testing.assert_array_equal(align(there.graphs), align(here.graphs))
    if adapter == "lmvsc":
        with pytest.warns(UserWarning, match="View 1 has 1 chunks of up to 200 rows"):
            method.anchor_graphs([chunked(views, 90)[0], chunked(views, 200)[1]], **make)


@pytest.mark.parametrize("sparse", [False, True])
def test_graphs_that_exist_already(sparse: bool) -> None:
    """Graphs on a cluster are fused and clustered there; so are graphs in memory that are not to be fused whole."""
    graphs: list[Any] = planted_graphs(np.random.default_rng(0), 300, 5)[0]
    if sparse:
        kept = [np.where(Z > 0.1, Z, 0.0) for Z in graphs]
        graphs = [sp.csr_array(Z / Z.sum(axis=1, keepdims=True)) for Z in kept]
    here = AlignedClusterer("precomputed", n_clusters=3, random_state=0).fit(graphs)
    for storage in ("memory", "never"):
        there = AlignedClusterer("precomputed", n_clusters=3, storage=storage, random_state=0).fit(chunked(graphs, 90))
        np.testing.assert_array_equal(computed(there.labels_), here.labels_)
    again = AlignedClusterer("precomputed", n_clusters=3, storage="never", random_state=0).fit(graphs)
    np.testing.assert_array_equal(again.labels_, here.labels_)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["lmvsc", "local", pytest.param("fmvacc", marks=pytest.mark.slow)])
@pytest.mark.parametrize("fusion", ["aligned", "unaligned", "concat"])
def test_graphs_need_not_be_kept(adapter: str, fusion: str) -> None:
    """Without graphs on the cluster the labels are the same, for each way to fuse."""
    views = [X.astype(np.float32) for X in shaken(load_bundled("digits").views[:3])]
    settings_: dict[str, Any] = {"n_clusters": 10, "fusion": fusion, "adapter_params": {"n_init": 1}, "random_state": 0}
    here = AlignedClusterer(adapter, **settings_).fit(views)
    there = AlignedClusterer(adapter, storage="never", **settings_).fit(chunked(views, 600))
    assert there.fused_graph_ is None
    assert there.embedding_.dtype == np.float32
    assert acc(here.labels_, computed(there.labels_)) > 0.998


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["lmvsc", "sfmc"])
def test_predict_of_chunks(adapter: str) -> None:
    """New samples may be in memory or on Dask, whatever the fit was on, and get the labels of the fit."""
    views = make_simulated(0).views
    on_dask = chunked(views, 70)
    for fitted_on in (views, on_dask):
        clusterer = AlignedClusterer(adapter, n_clusters=4, n_anchors=20, random_state=0).fit(fitted_on)
        labels = np.asarray(clusterer.labels_)
        lazy = clusterer.predict(on_dask)
        assert isinstance(lazy, da.Array)
        np.testing.assert_array_equal(lazy.compute(), labels)
        np.testing.assert_array_equal(clusterer.predict(views), labels)


def test_labels_come_back_if_asked_for() -> None:
    """``gather=True`` gives plain labels; fit_predict gives what labels_ is."""
    views = chunked(make_simulated(0).views, 50)
    gathered = AlignedClusterer("lmvsc", n_clusters=4, gather=True, random_state=0).fit_predict(views)
    assert isinstance(gathered, np.ndarray)
    lazy = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit_predict(views)
    np.testing.assert_array_equal(lazy.compute(), gathered)


@pytest.mark.slow
def test_sparse_views_and_tables() -> None:
    """Sparse chunks, one table with groups of columns, DataFrames and dicts give what they give in memory."""
    X, Y = shaken(load_bundled("breast-cancer").views[:2])
    sparse = [sp.csr_array(np.where(np.median(V) < V, V, 0.0)) for V in (X, Y)]
    fit: Callable[..., Any] = lambda views, **more: np.asarray(  # noqa: E731
        AlignedClusterer("lmvsc", n_clusters=3, random_state=0, **more).fit(views).labels_
    )
    np.testing.assert_array_equal(fit(chunked(sparse, 100)), fit(sparse))
    groups = [X.shape[1], Y.shape[1]]
    table = np.hstack([X, Y])
    np.testing.assert_array_equal(fit(chunked([table], 100)[0], column_groups=groups), fit(table, column_groups=groups))
    np.testing.assert_array_equal(fit(dict(zip("ab", chunked([X, Y], 100), strict=True))), fit({"a": X, "b": Y}))


@pytest.mark.slow
def test_dataframes_and_files(tmp_path: Path) -> None:
    """Dask DataFrames read from parquet, and zarr arrays, are views."""
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    zarr = pytest.importorskip("zarr")
    views = shaken(load_bundled("breast-cancer").views[:2])
    expected = AlignedClusterer("lmvsc", n_clusters=2, random_state=0).fit_predict(views)
    frames, arrays = [], []
    for number, X in enumerate(views):
        frame = pandas.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
        folder = tmp_path / f"view{number}"
        folder.mkdir()
        for part in range(3):
            frame[200 * part : 200 * (part + 1)].to_parquet(folder / f"{part}.parquet")
        frames.append(dd.read_parquet(folder))
        stored = zarr.open_array(tmp_path / f"view{number}.zarr", mode="w", shape=X.shape, chunks=(200, 3), dtype="f8")
        stored[:] = X
        arrays.append(da.from_zarr(tmp_path / f"view{number}.zarr").rechunk((200, -1)))
    fitted = AlignedClusterer("lmvsc", n_clusters=2, random_state=0).fit(frames)
    np.testing.assert_array_equal(computed(fitted.labels_), expected)
    np.testing.assert_array_equal(fitted.predict(frames).compute(), expected)
    fitted = AlignedClusterer("lmvsc", n_clusters=2, random_state=0).fit(arrays)
    np.testing.assert_array_equal(computed(fitted.labels_), expected)
    nullable = [frame.astype("Float64") for frame in frames]
    np.testing.assert_array_equal(fitted.predict(nullable).compute(), expected)
    gap = dd.from_pandas(pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int64")}), npartitions=2)
    with pytest.raises(InputError, match=r"View 0 has NaN or infinity in 1 of 3 rows \(first: row 1, column 'a'\)"):
        AlignedClusterer("lmvsc", n_clusters=2).fit([gap])


@pytest.mark.parametrize(
    "adapter", ["lmvsc", *(pytest.param(name, marks=pytest.mark.slow) for name in ("fmvacc", "sfmc"))]
)
def test_nothing_as_long_as_the_data_reaches_the_client(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is brought back during a fit is smaller than a quarter of a number for each sample."""
    from anchor_align.engines.dask._chunks import Tasks

    sizes: list[int] = []
    compute = Tasks.compute

    def measured(self: Any, **options: Any) -> Any:
        result = compute(self, **options)
        sizes.append(len(pickle.dumps(result)))
        return result

    monkeypatch.setattr(Tasks, "compute", measured)
    # Rows that predict needs, and rows for first centres: numbers that do not grow.
    monkeypatch.setattr(_prediction, "MOST_KNOWN", 500)
    monkeypatch.setattr(_kmeans, "START_ROWS", 500)
    rng = np.random.default_rng(0)
    centres = 5 * rng.standard_normal((4, 3))
    views = [centres[np.arange(40_000) % 4] + rng.standard_normal((40_000, 3)) for _ in range(2)]
    params = {"anchors": "random", "max_iter": 1} if adapter == "sfmc" else {"n_init": 1}
    clusterer = AlignedClusterer(adapter, n_clusters=4, n_anchors=8, adapter_params=params, random_state=0)
    clusterer.fit(chunked(views, 8_000))
    assert len(sizes) > 5
    assert max(sizes) < 8 * 40_000 / 4


def test_inputs_that_do_not_fit_together_are_refused() -> None:
    """One sentence that names the view, what was got and what was expected."""
    Z = da.from_array(np.eye(6), chunks=(3, -1))
    with pytest.raises(InputTypeError, match=r"View 0 is a Dask array, view 1 is not \(ndarray\)"):
        align([Z, np.eye(6)])
    with pytest.raises(InputError, match="View 0 has 6 samples; view 1 has 4"):
        align([Z, Z[:4]])
    unknown = Z[Z[:, 0] >= 0]
    with pytest.raises(InputError, match=r"View 1 has chunks of unknown size.*compute_chunk_sizes\(\)"):
        align([Z, unknown])
    with pytest.raises(InputTypeError, match="View 0 is a Delayed of Dask; expected a Dask array or DataFrame"):
        align([dask.delayed(np.eye)(6)])
    with pytest.raises(InputTypeError, match="put it in a list"):
        align(Z)
    with pytest.raises(InputError, match="View 1 has masked arrays as chunks; fill them first"):
        align([Z, da.ma.masked_where(Z > 0, Z)])
    with pytest.raises(InputError, match=r"View 1 has 1 dimension\(s\)"):
        align([Z, Z[:, 0]])
    with pytest.raises(InputTypeError, match="View 0 has dtype complex128"):
        align([Z.astype(complex)])
    broken = da.from_array(np.where(np.arange(12).reshape(6, 2) == 8, np.nan, 1.0), chunks=(3, -1))
    with pytest.raises(InputError, match=r"View 1 has NaN or infinity in 1 of 6 rows \(first: row 4\)"):
        align([Z[:, :2], broken])
    with pytest.raises(InputError, match=r"View 0 has NaN or infinity in 1 of 6 rows \(first: row 4\); views"):
        AlignedClusterer("lmvsc", n_clusters=2).fit([broken])


def test_unequal_chunks_are_made_equal_with_a_warning() -> None:
    """Rechunking moves data, so it is said; empty chunks are nothing to speak of."""
    graphs = planted_graphs(np.random.default_rng(0), 60, 4)[0]
    expected = align(graphs)
    first, second = chunked(graphs, 20)
    for other, message in (
        (
            second.rechunk((25, -1)),
            "View 1 has 3 chunks of up to 25 rows, view 0 has 3 of up to 20",
        ),
        (second.rechunk((20, 2)), "View 1 is chunked by columns"),
    ):
        with pytest.warns(UserWarning, match=message):
            found = align([first, other])
        np.testing.assert_array_equal(found, expected)
    with_empty = da.concatenate([second[:20], second[20:20], second[20:]])
    np.testing.assert_array_equal(align([first, with_empty]), expected)


def test_what_has_no_meaning_on_a_cluster_is_refused() -> None:
    """Disk, memory and folder are for this machine, and adapters must say that they work on Dask."""
    views = chunked(make_simulated(0).views, 100)
    here: list[dict[str, Any]] = [{"storage": "disk"}, {"memory": "1GB"}, {"folder": "."}]
    for settings_ in here:
        with pytest.raises(InputError, match="for views on this machine"):
            AlignedClusterer("lmvsc", n_clusters=4, **settings_).fit(views)
    with pytest.raises(InputError, match="Adapter 'whole' does not work on Dask arrays"):
        AlignedClusterer(Whole(), n_clusters=4).fit(views)
    fitted = AlignedClusterer(Whole(), n_clusters=4).fit(make_simulated(0).views)
    with pytest.raises(InputError, match="Adapter 'whole' does not work on Dask arrays"):
        fitted.predict(views)
    with pytest.raises(InputError, match="gather must be True or False"):
        AlignedClusterer("lmvsc", n_clusters=4, gather="yes").fit(views)  # type: ignore[arg-type]  # on purpose


class Whole(Adapter):
    """Knows nothing of blocks."""

    name = "whole"

    def anchor_graphs(self, views: Any, *, n_clusters: int, n_anchors: int, random_state: int) -> AnchorGraphs:
        """Some graphs."""
        rng = np.random.default_rng(random_state)
        return AnchorGraphs([rng.dirichlet(np.ones(n_anchors), len(X)) for X in views])


class Means(Adapter):
    """A third party's method that works on Dask: anchors around the mean, the nearest one gets all."""

    name = "means"
    works_on_dask = True

    def learn_anchors(self, views: Any, *, n_clusters: int, n_anchors: int, random_state: int) -> AnchorGraphs:
        """Steps of one standard deviation along all features."""
        steps = np.linspace(-1.5, 1.5, n_anchors)[:, None]
        stats = [view_rows(X).parts().total(ScaledRows.stats) for X in views]
        return AnchorGraphs((), [each.mean + steps * np.sqrt(each.variance) for each in stats])

    def new_graphs(self, views: Any, learned: AnchorGraphs) -> list[np.ndarray]:
        """One for the nearest anchor."""
        anchors = learned.anchors or ()
        apart = [((X[:, None] - A) ** 2).sum(axis=2) for X, A in zip(views, anchors, strict=True)]
        return [np.eye(squares.shape[1])[squares.argmin(axis=1)] for squares in apart]


def test_adapters_of_third_parties_work_on_dask() -> None:
    """They reach the rows through public names, and their graphs are made chunk by chunk."""
    views = load_bundled("breast-cancer").views
    here = AlignedClusterer(Means(), n_clusters=2, n_anchors=4, random_state=0).fit(views)
    there = AlignedClusterer(Means(), n_clusters=2, n_anchors=4, random_state=0).fit(chunked(views, 100))
    np.testing.assert_array_equal(computed(there.labels_), here.labels_)


@pytest.mark.slow
def test_the_core_does_not_import_dask() -> None:
    """Only Dask arrays bring Dask in."""
    code = (
        "import sys, anchor_align, anchor_align.clustering, anchor_align.kmeans, anchor_align_adapters.sfmc\n"
        "from anchor_align import AlignedClusterer\n"
        "from anchor_align.data import make_simulated\n"
        "AlignedClusterer('lmvsc', n_clusters=4).fit(make_simulated(0).views)\n"
        "sys.exit('dask' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without dask.array the error says what to install."""
    from anchor_align import MissingExtraError

    for name in [name for name in sys.modules if name.startswith("anchor_align.engines")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(MissingExtraError, match=r'pip install "anchor-align\[dask\]"'):
        align([da.from_array(np.eye(4), chunks=2)] * 2)


@pytest.mark.parametrize("rows", [90, 110, 0])
def test_chunks_of_another_shape_than_declared_are_refused(rows: int) -> None:
    """Fewer rows, or more: the view is named, because its samples would be paired with the wrong ones."""
    rng = np.random.default_rng(0)
    right = da.from_array(rng.random((200, 5)), chunks=(100, 5))
    made = [dask.delayed(np.asarray)(rng.random((count, 4))) for count in (100, rows)]
    wrong = da.concatenate([da.from_delayed(each, (100, 4), float) for each in made])
    clusterer = AlignedClusterer("lmvsc", n_clusters=2, n_anchors=4, random_state=0)
    with pytest.raises(InputError, match=f"View b: chunk 1 of its Dask array is {rows} x 4; declared was 100 x 4"):
        clusterer.fit({"a": right, "b": wrong})
    with pytest.raises(InputError, match="View 0: chunk 1"):
        align([wrong, right[:, :4]])


@pytest.mark.parametrize("n_views", [1, 3])
def test_order_of_the_rows_is_that_in_memory(n_views: int) -> None:
    """For one view and for several, all of it and some places of it; views of other sizes count the same."""
    rng = np.random.default_rng(0)
    views = [10.0**view * (view + rng.standard_normal((500, 4))) for view in range(n_views)]
    here, there = ([ScaledRows(X) for X in each] for each in (views, chunked(views, 70)))
    expected = row_order(*here)
    np.testing.assert_array_equal(row_order(*there), expected)
    places = np.linspace(0, 499, 40).astype(int)
    np.testing.assert_array_equal(row_order(*there, places=places), expected[places])
    with_an_empty_chunk = [da.concatenate([X[:70], X[:0], X[70:]]) for X in chunked(views, 70)]
    np.testing.assert_array_equal(row_order(*map(ScaledRows, with_an_empty_chunk)), expected)
