"""Clusters of the same samples as they are stored and shuffled, with the same seed.

A row has the lowest adjusted Rand index over the draws between the two fits: 1 means that every sample is in the same
cluster. "as they stand": the adapters get the samples in the order of the data, and not in one that depends on their
content (see ``in_content_order`` of Adapter).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from formats import data_name, fixed, table
from results import Bench

from anchor_align import Adapter, AlignedClusterer, get_adapter, load_views
from anchor_align.metrics import ari

MINUTES = 25
DATA = (
    "FMVACC_synthetic", "3-Sources", "MSRC-v1", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "100Leaves", "Scene-15",
    "digits",
)  # fmt: skip
METHODS = ("local", "lmvsc", "fmvacc", "sfmc", "msgl", "fmcnof")
LARGE = ("Hdigit", "MNIST-60k_4v_constructed")
METHODS_OF_LARGE = ("local", "lmvsc", "fmvacc")
DRAWS, DRAWS_OF_LARGE = 3, 2


def make_adapter(name: str, as_they_stand: bool) -> Adapter:
    """An adapter of this package, or one that gets the samples as they stand."""
    adapter = get_adapter(name)
    kind = type(adapter)
    return type(kind.__name__, (kind,), {"in_content_order": False})() if as_they_stand else adapter


def lowest_ari(path: str, method: str, draws: int, as_they_stand: bool) -> float:
    """Between the fits of the samples as they are stored and shuffled."""
    data, adapter = load_views(path), make_adapter(method, as_they_stand)
    found = []
    for seed in range(draws):
        clusterer = AlignedClusterer(adapter, n_clusters=data.n_clusters or 2, random_state=seed)
        order = np.random.default_rng([seed, 1]).permutation(data.n_samples)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that views agree by chance, or that clusters are fewer
            stored = clusterer.fit_predict(data.views)
            found.append(ari(stored[order], clusterer.fit_predict([X[order] for X in data.views])))
    return float(min(found))


def rows_of(
    bench: Bench, names: Sequence[str], methods: Sequence[str], draws: int, as_they_stand: bool
) -> list[dict[str, Any]]:
    """A row for each data set."""
    rows = []
    for name in names:
        row: dict[str, Any] = {"data": name, "draws": draws}
        for method in methods:
            key = f"{name} {method}{' as they stand' * as_they_stand}"
            row[method] = bench.kept(key, lowest_ari, bench.path(name), method, draws, as_they_stand)
        rows.append(row)
    return rows


def run(bench: Bench) -> dict[str, Any]:
    """Fit all data sets in both ways, and the largest ones in the usual way."""
    return {
        "usual": rows_of(bench, DATA, METHODS, DRAWS, False),
        "as they stand": rows_of(bench, DATA, METHODS, DRAWS, True),
        "large": rows_of(bench, LARGE, METHODS_OF_LARGE, DRAWS_OF_LARGE, False),
    }


def main_table(rows: Sequence[Any]) -> str:
    """A row for each data set."""
    methods = [name for name in METHODS if name in rows[0]]
    body = [[data_name(row["data"]), *(fixed(row[name], 3) for name in methods)] for row in rows]
    return table(["data", *(f"`{name}`" for name in methods)], body, names=1)
