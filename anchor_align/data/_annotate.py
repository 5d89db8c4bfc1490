"""``annotate``: write the result of a fit into an AnnData or MuData object."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError, InputTypeError, shown
from ._annotated_entries import annotated_class

_PLAIN = (bool, int, float, str)


def annotate(data: Any, clusterer: Any, *, key: str = "anchor_align") -> None:
    """Write clusters, embedding and settings into an AnnData or MuData object, by the names of the samples.

    Parameters
    ----------
    data : AnnData or MuData
        Is changed: ``data.obs[key]`` gets the clusters, as categories ``"0"``, ``"1"`` and so on,
        ``data.obsm["X_" + key]`` the embedding, ``data.uns[key]`` the settings. Samples that were not in the fit have
        no cluster, and NaN in the embedding.
    clusterer : AlignedClusterer
        Fitted on samples with names: on this object, on others with some of its samples, or on tables.
    key : str, default="anchor_align"

    Raises
    ------
    InputError
        If the fit had no names of samples, or none of them is in ``data``.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import annotate, make_simulated
    >>> cells = [f"cell{i}" for i in range(200)]
    >>> rna, atac = (anndata.AnnData(X, obs={"cell": cells}) for X in make_simulated(0).views)
    >>> rna.obs_names = atac.obs_names = cells
    >>> clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit({"rna": rna, "atac": atac[::-1]})
    >>> annotate(rna, clusterer)
    >>> rna.obs["anchor_align"].cat.categories.tolist(), rna.obsm["X_anchor_align"].shape
    (['0', '1', '2', '3'], (200, 4))
    """
    if not annotated_class(data):
        raise InputTypeError(f"data must be an AnnData or MuData object, got {type(data).__name__}.")
    if not isinstance(key, str) or not key:
        raise InputTypeError(f"key must be a name, got {shown(key)}.")
    samples = getattr(clusterer, "samples_", None)
    if samples is None:
        raise InputError(
            "The clusterer was not fitted on samples with names; fit it on AnnData, MuData or DataFrames with an index."
        )
    import pandas as pd

    place = {name: row for row, name in enumerate(samples)}
    rows = np.array([place.get(name, -1) for name in data.obs_names], dtype=np.intp)
    known = rows >= 0
    if not known.any():
        own = shown(data.obs_names[0])
        raise InputError(f"No sample of the fit is in the data: the fit has {shown(samples[0])}, the data {own}.")
    labels = np.asarray(clusterer.labels_)
    names = [str(each) for each in range(int(labels.max()) + 1)]
    embedding = np.full((len(rows), clusterer.embedding_.shape[1]), np.nan)
    embedding[known] = np.asarray(clusterer.embedding_)[rows[known]]
    data.obs[key] = pd.Categorical.from_codes(np.where(known, labels[rows], -1), pd.Index(names))
    data.obsm[f"X_{key}"] = embedding
    settings = {name: _plain(value) for name, value in clusterer.get_params(deep=False).items() if value is not None}
    data.uns[key] = {"params": settings, "version": __version__}


def _plain(value: Any) -> Any:
    """A value that every version of anndata can write."""
    return value if isinstance(value, _PLAIN) else shown(value)
