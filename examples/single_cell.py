"""Cells of two modalities: cluster a MuData object whose modalities share only part of the cells.

    python examples/single_cell.py [--cells N] [--folder DIR]

Makes N cells of six types (default: 50,000). RNA cannot tell types 0 and 1 apart, ATAC cannot tell types 2 and 3 apart.
70 % of the cells are in both modalities, the others in one of them, each modality in an order of its own. The object is
written to an .h5mu file, read back without loading its matrices, clustered on ``X_pca`` and ``X_lsi``, and gets its
clusters by the names of the cells. The score is that of all cells, and of the cells that both modalities have.
Needs the extra ``anndata``.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anchor_align import AlignedClusterer, load_views
from anchor_align.data import annotate
from anchor_align.metrics import acc

TYPES = 6
# Types that a modality cannot tell apart have the same mean.
SAME = {"rna": (0, 1), "atac": (2, 3)}
WIDTHS = {"rna": 30, "atac": 20}


def modality(name: str, types: np.ndarray, cells: np.ndarray, rng: np.random.Generator) -> Any:
    """One AnnData: counts of a few genes or peaks, and coordinates as a reduction would give them."""
    import anndata

    one, other = SAME[name]
    means = rng.normal(scale=2.0, size=(TYPES, WIDTHS[name]))
    means[other] = means[one]
    reduced = (means[types] + rng.normal(size=(len(types), WIDTHS[name]))).astype(np.float32)
    counts = rng.poisson(np.exp(0.3 * reduced[:, :10])).astype(np.float32)
    adata = anndata.AnnData(counts, obs=pd.DataFrame(index=cells))
    adata.var_names = [f"{name}_{j}" for j in range(counts.shape[1])]
    adata.obsm["X_pca" if name == "rna" else "X_lsi"] = reduced
    return adata


def make_cells(n: int, seed: int = 0) -> tuple[Any, pd.Series]:
    """MuData of two modalities, and the types of all cells by name."""
    import mudata

    mudata.set_options(pull_on_update=False)  # as from version 0.4 on
    rng = np.random.default_rng(seed)
    cells = np.array([f"cell{i:06d}" for i in range(n)])
    types = rng.integers(TYPES, size=n)
    lot = rng.random(n)
    parts = {}
    for name, has in {"rna": lot < 0.85, "atac": lot >= 0.15}.items():
        rows = rng.permutation(np.flatnonzero(has))
        parts[name] = modality(name, types[rows], cells[rows], rng)
    return mudata.MuData(parts), pd.Series(types, index=cells)


def main() -> None:
    """Make cells, cluster them from a file, and write the clusters into the object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cells", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, help="where to keep cells.h5mu [a temporary folder]")
    arguments = parser.parse_args()
    mdata, types = make_cells(arguments.cells)
    with tempfile.TemporaryDirectory() as temporary:
        path = (arguments.folder or Path(temporary)) / "cells.h5mu"
        mdata.write(path)
        data = load_views(path, views=["rna:X_pca", "atac:X_lsi"], mmap=True)
        clusterer = AlignedClusterer(n_clusters=TYPES, random_state=0).fit(data)
        annotate(mdata, clusterer)
        if arguments.folder:
            mdata.write(path)
    mask = data.mask
    assert mask is not None
    both = mask.all(axis=0)
    n_rna, n_atac = mask.sum(axis=1)
    print(f"{data.n_samples} cells: {both.sum()} in both modalities, {n_rna} in rna, {n_atac} in atac")
    found = mdata.obs["anchor_align"].astype(int).to_numpy()
    true = types.loc[mdata.obs_names].to_numpy()
    scores = 100 * acc(true, found), 100 * acc(true[both], found[both])
    print(f"accuracy of all cells {scores[0]:.1f} %, of cells in both modalities {scores[1]:.1f} %")
    for name, key in (("rna", "rna:X_pca"), ("atac", "atac:X_lsi")):
        alone = load_views(mdata, views=[key])
        labels = AlignedClusterer(n_clusters=TYPES, random_state=0).fit_predict(alone)
        score = 100 * acc(types.loc[list(alone.samples or ())].to_numpy(), labels)
        print(f"accuracy of the cells in {name}, from {name} alone: {score:.1f} %")
    print("written: obs['anchor_align'], obsm['X_anchor_align'], uns['anchor_align']")


if __name__ == "__main__":
    main()
