"""AnnData and MuData: objects, backed objects and files; modalities, layers and obsm by name; results written back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from anchor_align import AlignedClusterer, load_views
from anchor_align.data import annotate, join_views, make_simulated
from anchor_align.errors import FileError, InputError, InputTypeError

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
h5py = pytest.importorskip("h5py")

DATA = make_simulated(0)
CELLS = np.array([f"cell{i}" for i in range(200)])
RNG = np.random.default_rng(0)
# Cells of each modality, in an order of its own.
ROWS = [RNG.permutation(200)[:180], np.sort(RNG.permutation(200)[:170])]


@pytest.fixture(scope="module", autouse=True)
def new_behaviour() -> Any:
    """As from version 0.4 of mudata on; the older behaviour warns."""
    with mudata.set_options(pull_on_update=False):
        yield


def modality(view: int) -> Any:
    """One AnnData with a layer, an array in obsm and a column of text."""
    X, rows = DATA.views[view], ROWS[view]
    adata = anndata.AnnData(X[rows].copy(), obs=pd.DataFrame(index=CELLS[rows]))
    adata.var_names = [f"gene{view}_{j}" for j in range(X.shape[1])]
    adata.layers["counts"] = sp.csr_matrix(np.where(X[rows] > 0, 1.0, 0.0))
    adata.obsm["X_pca"] = X[rows][:, :1].copy()
    adata.obs["batch"] = pd.Categorical(["u", "v"] * (len(rows) // 2))
    return adata


def both() -> Any:
    """MuData of two modalities that share most cells; some cells are in neither."""
    mdata = mudata.MuData({"rna": modality(0), "atac": modality(1)})
    assert DATA.labels is not None
    mdata.obs["label"] = DATA.labels[[int(name[4:]) for name in mdata.obs_names]]
    return mdata


def assert_right(data: Any, mdata: Any) -> None:
    """All cells of the object in its order, with the right rows and mask."""
    assert data.samples == tuple(mdata.obs_names)
    at = np.array([int(name[4:]) for name in data.samples])
    for X, view, present, rows in zip(data.views, DATA.views, data.mask, ROWS, strict=True):
        np.testing.assert_array_equal(present, np.isin(at, rows))
        np.testing.assert_array_equal(X[present], view[at][present])


def test_mudata_in_memory_in_a_file_and_backed(tmp_path: Path) -> None:
    """Cells that a modality lacks are missing; the order is that of obs_names."""
    mdata = both()
    mdata.write(tmp_path / "m.h5mu")
    sources = [mdata, tmp_path / "m.h5mu", mudata.read_h5mu(tmp_path / "m.h5mu", backed=True)]
    for source in sources:
        data = load_views(source)
        assert data.names == ["rna", "atac"]
        assert_right(data, mdata)
        assert data.labels is not None
        np.testing.assert_array_equal(data.labels, mdata.obs["label"])
    shared = np.intersect1d(ROWS[0], ROWS[1])
    inner = load_views(tmp_path / "m.h5mu", join="inner")
    assert (inner.mask, inner.n_samples) == (None, len(shared))
    assert isinstance(load_views(tmp_path / "m.h5mu", mmap=True).views[0], np.memmap)
    sources[-1].file.close()


def test_matrices_by_name(tmp_path: Path) -> None:
    """A modality is its X; layers and obsm have names behind a colon; without modalities, names of their own."""
    mdata = both()
    mdata.write(tmp_path / "m.h5mu")
    mdata["rna"].write(tmp_path / "rna.h5ad")
    for source in (mdata, tmp_path / "m.h5mu"):
        data = load_views(source, views=["rna:X_pca", "atac:counts"], labels=False)
        assert [X.shape[1] for X in data.views] == [1, DATA.views[1].shape[1]]
        assert sp.issparse(data.views[1])
    for source in (mdata["rna"], tmp_path / "rna.h5ad"):
        data = load_views(source, views=["X", "X_pca", "counts"], labels="obs:batch")
        assert (data.n_samples, data.n_clusters, data.mask) == (180, 2, None)
        assert load_views(source).names == ["X"]
        with pytest.raises(InputError, match=r"Unknown key .* 'X_umap'; known: 'X', 'counts', 'X_pca'"):
            load_views(source, views="X_umap")


def test_several_anndata(tmp_path: Path) -> None:
    """Objects and files are joined by obs_names like tables."""
    parts = {"rna": modality(0), "atac": modality(1)}
    for name, part in parts.items():
        part.write(tmp_path / f"{name}.h5ad")
    files = load_views([tmp_path / f"{name}.h5ad" for name in parts], join="outer")
    objects = join_views(parts, join="outer")
    assert files.samples == objects.samples
    assert (files.names, objects.names) == (["rna", "atac"], ["rna", "atac"])
    for X, Y in zip(files.views, objects.views, strict=True):
        np.testing.assert_array_equal(X, Y)
    with pytest.raises(InputError, match=r"have different samples: .* join='inner'"):
        AlignedClusterer("lmvsc", n_clusters=4).fit(list(parts.values()))


def test_fit_and_annotate(tmp_path: Path) -> None:
    """Clusters, embedding and settings come back by name, and the object can be written."""
    mdata = both()
    clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(mdata)
    assert clusterer.samples_ == tuple(mdata.obs_names)
    annotate(mdata, clusterer)
    assert (mdata.obs["anchor_align"].astype(int) == clusterer.labels_).all()
    np.testing.assert_array_equal(mdata.obsm["X_anchor_align"], clusterer.embedding_)
    assert mdata.uns["anchor_align"]["params"]["adapter"] == "lmvsc"
    mdata.write(tmp_path / "m.h5mu")
    rna = anndata.AnnData(np.ones((3, 1)), obs=pd.DataFrame(index=["new", CELLS[ROWS[0][0]], CELLS[ROWS[0][1]]]))
    annotate(rna, clusterer, key="clusters")
    assert rna.obs["clusters"].isna().tolist() == [True, False, False]
    assert np.isnan(rna.obsm["X_clusters"]).all(axis=1).tolist() == [True, False, False]
    with pytest.raises(InputError, match="No sample of the fit is in the data: the fit has 'cell"):
        annotate(anndata.AnnData(np.ones((2, 1))), clusterer)
    with pytest.raises(InputError, match="not fitted on samples with names"):
        annotate(rna, AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(DATA.views))
    with pytest.raises(InputTypeError, match="AnnData or MuData object, got list"):
        annotate([], clusterer)
    with pytest.raises(InputTypeError, match="give it alone"):
        AlignedClusterer().fit([mdata, mdata])


def test_maps_that_are_out_of_date() -> None:
    """A modality whose cells were changed behind the back of the object is refused."""
    mdata = both()
    mdata.mod["rna"].obs_names = mdata.mod["rna"].obs_names[::-1]
    with pytest.raises(InputError, match=r"modality 'rna' \(obsmap\) is out of date; call mdata.update"):
        load_views(mdata)


def test_damaged_files(tmp_path: Path) -> None:
    """Files that are cut off, lack a part, or link to other files give one sentence; nothing outside is read."""
    mdata = both()
    path = tmp_path / "m.h5mu"
    mdata.write(path)
    content = path.read_bytes()
    for size in (600, len(content) // 2, len(content) - 100):
        path.write_bytes(content[:size])
        with pytest.raises(FileError, match=r"m\.h5mu"):
            load_views(path)
    for change in (
        lambda file: file.pop("obsmap"),
        lambda file: file["mod/rna"].pop("obs"),
        lambda file: file["mod/atac/obs"].pop("_index"),
        lambda file: (file["mod"].pop("rna"), file["mod"].__setitem__("rna", h5py.ExternalLink("other.h5", "/x"))),
        lambda file: (file["obsmap"].pop("rna"), file["obsmap"].__setitem__("rna", h5py.SoftLink("/obs"))),
        lambda file: file["obsmap/rna"].__setitem__(0, 10**6),
    ):
        path.write_bytes(content)
        with h5py.File(path, "r+") as file:
            change(file)
        with pytest.raises((FileError, InputError), match=r"m\.h5mu"):
            load_views(path)
    path.write_bytes(content)
    at = content.index(b"GCOL") + 16  # the first object of a heap of texts becomes free space without a size
    path.write_bytes(content[:at] + bytes(16) + content[at + 16 :])
    with pytest.raises(FileError, match=r"m\.h5mu.*a heap of texts whose parts do not fit"):
        load_views(path)
    path.write_bytes(content)
    with h5py.File(path, "r+") as file:
        file["mod/rna/layers/counts/indices"][0] = 10**6
    with pytest.raises(FileError, match=r"m\.h5mu"):
        load_views(path, views=["rna:counts"])
