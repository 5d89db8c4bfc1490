"""Copies of the digits that are shuffled and lack samples give the labels of the ordered tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from anchor_align import AlignedClusterer, AnchorAligner, GramMatrices, align, fuse, load_views
from anchor_align.data import join_views, load_bundled
from anchor_align.errors import InputError

N = 300
ALL = load_bundled("digits")
VIEWS = {name: X[:N] for name, X in list(zip(ALL.names, ALL.views, strict=True))[:3]}
NAMES = np.array([f"digit{i}" for i in range(N)])
MASK = np.random.default_rng(0).random((3, N)) > 0.2
MASK[0, ~MASK.any(axis=0)] = True


def clusterer(**options: Any) -> AlignedClusterer:
    return AlignedClusterer("lmvsc", n_clusters=10, random_state=0, **options)


def frames(*, lacking: bool) -> dict[str, pd.DataFrame]:
    """The views as tables in different orders; with ``lacking``, without the samples that are missing."""
    rng = np.random.default_rng(1)
    rows = [rng.permutation(np.flatnonzero(seen) if lacking else N) for seen in MASK]
    return {
        name: pd.DataFrame(X[at], index=NAMES[at]).add_prefix(name)
        for (name, X), at in zip(VIEWS.items(), rows, strict=True)
    }


@pytest.fixture(scope="module")
def ordered() -> dict[bool, Any]:
    """Labels of the ordered arrays, without missing samples and with them."""
    return {False: clusterer().fit(VIEWS).labels_, True: clusterer().fit(VIEWS, mask=MASK).labels_}


def assert_same(fitted: AlignedClusterer, expected: Any) -> None:
    """The same labels by name, up to numbering."""
    assert fitted.samples_ is not None
    labels = pd.Series(fitted.labels_, index=list(fitted.samples_)).loc[NAMES].to_numpy()
    np.testing.assert_array_equal(pd.factorize(labels)[0], pd.factorize(expected)[0])


def _csv(tables: dict[str, pd.DataFrame], folder: Path) -> Any:
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv")
    return load_views([folder / f"{name}.csv" for name in tables], join="outer")


def _parquet(tables: dict[str, pd.DataFrame], folder: Path) -> Any:
    for name, table in tables.items():
        table.to_parquet(folder / f"{name}.parquet")
    return load_views([folder / f"{name}.parquet" for name in tables], join="outer", mmap=True)


def _anndata(tables: dict[str, pd.DataFrame], folder: Path) -> Any:
    anndata = pytest.importorskip("anndata")
    return {name: anndata.AnnData(table) for name, table in tables.items()}


def _mudata(tables: dict[str, pd.DataFrame], folder: Path) -> Any:
    mudata = pytest.importorskip("mudata")
    with mudata.set_options(pull_on_update=False):
        return mudata.MuData(_anndata(tables, folder))


COPIES: dict[str, Callable[[dict[str, pd.DataFrame], Path], Any]] = {
    "DataFrame": lambda tables, folder: tables,
    "CSV": _csv,
    "parquet": _parquet,
    "AnnData": _anndata,
    "MuData": _mudata,
}


@pytest.mark.parametrize("lacking", [False, True])
@pytest.mark.parametrize("copy", COPIES)
def test_copies_give_the_labels_of_the_ordered_tables(
    tmp_path: Path, ordered: dict[bool, Any], copy: str, lacking: bool
) -> None:
    """Whatever the form of the copy, its order, and the samples that it lacks; predict agrees."""
    views = COPIES[copy](frames(lacking=lacking), tmp_path)
    fitted = clusterer(join="outer" if lacking else None).fit(views)
    assert_same(fitted, ordered[lacking])
    assert (fitted.predict(views) == fitted.labels_).mean() > 0.99


def test_results_are_in_the_order_of_the_first_view() -> None:
    """Labels, embedding, graphs and mask belong to samples_, which are those of the first table, then the others."""
    tables = frames(lacking=True)
    first = next(iter(tables.values()))
    fitted = clusterer(join="outer").fit(tables)
    data = join_views(tables, join="outer")
    assert fitted.samples_ == data.samples
    assert list(data.samples or ())[: len(first)] == list(first.index)
    np.testing.assert_array_equal(fitted.mask_, data.mask)
    again = clusterer().fit(data)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    at = [int(str(name)[5:]) for name in fitted.samples_ or ()]
    alone = clusterer().fit(VIEWS, mask=MASK)
    np.testing.assert_allclose(np.abs(fitted.embedding_), np.abs(alone.embedding_[at]), atol=1e-8)
    np.testing.assert_allclose(fitted.fused_graph_, alone.fused_graph_[at], atol=1e-12)
    np.testing.assert_allclose(fitted.anchor_graphs_.graphs[1], alone.anchor_graphs_.graphs[1][at], atol=1e-12)
    assert any("join='outer' kept all 300 samples" in note for note in fitted.notes_)


def test_names_and_positions_in_fit() -> None:
    """One table keeps its names, also repeated ones; a mask beside reordered tables is refused."""
    one = pd.DataFrame(VIEWS["pixels"], index=["a"] * N)
    fitted = clusterer(column_groups=[32, 32]).fit(one)
    assert fitted.samples_ == ("a",) * N
    assert clusterer().fit(VIEWS).samples_ is None
    with pytest.raises(InputError, match="mask says by position where a sample is missing"):
        clusterer().fit(frames(lacking=False), mask=MASK)
    with pytest.raises(InputError, match="joins samples by name, and no view has names"):
        clusterer(join="inner").fit(VIEWS)


def test_align_and_fuse_join_graphs() -> None:
    """The permutations are those of the ordered graphs with a mask; rows of the fused graph are joined, too."""
    rng = np.random.default_rng(0)
    Z = rng.dirichlet(np.full(5, 0.2), size=60)
    graphs = [pd.DataFrame(Z, index=NAMES[:60]), pd.DataFrame(Z[:, [3, 0, 4, 1, 2]], index=NAMES[:60])]
    shuffled = [graphs[0], graphs[1].sample(frac=0.8, random_state=0)]
    mask = np.array([np.ones(60, dtype=bool), np.isin(NAMES[:60], shuffled[1].index)])
    expected = align(graphs, mask=mask)
    np.testing.assert_array_equal(align(shuffled, join="outer"), expected)
    np.testing.assert_array_equal(AnchorAligner().fit(shuffled, join="outer").matrices_, expected)
    np.testing.assert_array_equal(align(GramMatrices.from_graphs(shuffled, join="outer")), expected)
    np.testing.assert_allclose(fuse(shuffled, expected, join="outer"), fuse(graphs, expected, mask=mask))
    assert AnchorAligner().fit_transform(shuffled, join="inner")[0].shape == (48, 5)
    with pytest.raises(InputError, match="keeps the 48 samples"):
        align(shuffled)
    with pytest.raises(InputError, match="pass mask, missing and join to GramMatrices"):
        AnchorAligner().fit(GramMatrices.from_graphs(graphs), join="inner")


def test_grid_search_with_a_mask() -> None:
    """scikit-learn slices the first axis of a mask: there it has one row per sample."""
    X = np.hstack(list(VIEWS.values()))
    widths = [view.shape[1] for view in VIEWS.values()]
    expected = clusterer(column_groups=widths).fit(X, mask=MASK)
    routed = clusterer(column_groups=widths).fit(X, mask=MASK.T)
    np.testing.assert_array_equal(routed.labels_, expected.labels_)
    seen: list[int] = []

    def score(model: AlignedClusterer, X: Any, y: object = None) -> float:
        seen.append(int((~model.mask_).sum()) if model.mask_ is not None else 0)
        return float(len(model.labels_))

    folds = PredefinedSplit(np.arange(N) % 2)
    with config_context(enable_metadata_routing=True):
        model = clusterer(column_groups=widths).set_fit_request(mask=True)
        search = GridSearchCV(model, {"lam": [0.1, 1.0]}, cv=folds, scoring=score).fit(X, mask=MASK.T)
    assert search.best_estimator_.mask_.shape == (3, N)
    halves = [int((~MASK[:, np.arange(N) % 2 == part]).sum()) for part in (1, 0)]
    assert seen == halves * 2


def test_square_masks_have_one_row_per_view() -> None:
    """With as many views as samples, rows are views."""
    rng = np.random.default_rng(0)
    graphs = [rng.dirichlet(np.ones(2), size=3) for _ in range(3)]
    mask = np.array([[True, True, True], [True, True, True], [True, False, True]])
    fused = fuse(graphs, mask=mask)
    np.testing.assert_allclose(fused[1], (graphs[0][1] + graphs[1][1]) / 2)
