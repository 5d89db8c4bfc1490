"""Values that no function expects, for every argument of the functions that users call: one sentence of ours, or none.

``tests/soak`` draws such values at random for hours; here every value meets every argument once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

import anchor_align
from anchor_align import (
    AlignedClusterer,
    AnchorAlignError,
    GramMatrices,
    align,
    as_baseline,
    fuse,
    get_adapter,
    get_baseline,
    load_views,
    metrics,
)
from anchor_align.clustering import fit_quality
from anchor_align.data import make_simulated
from anchor_align.study import drop_mask, paired_difference

HOSTILE: list[Any] = [
    None, np.zeros((2, 3)), np.array(3), float("nan"), float("inf"), 2**70, 10**5000, -1, -3, b"x", object(), 1j,
    [1, "a", None], {"a": 1}, "text", "", "\ud800", "a\0b", np.array([]), [[1], [1, 2]], np.array(["a", "b"]), {1, 2},
    np.array([None, 1], dtype=object), pd.DataFrame({"a": ["x"]}), sp.csr_array(np.eye(2)), range(3), [], [[]], pd.NA,
    np.full((4, 4), np.nan), np.zeros((2, 2, 2)), iter(()), np.ma.masked,
]  # fmt: skip

DATA = make_simulated(0, n_per_cluster=10)
GRAPHS = [Z / Z.sum(axis=1, keepdims=True) for Z in np.random.default_rng(0).random((2, 30, 4))]
GRAMS = GramMatrices.from_graphs(GRAPHS)
LABELS = DATA.labels

# Functions with arguments that they take: each argument in turn is replaced.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{name: (getattr(metrics, name), {"0": LABELS, "1": LABELS}) for name in ("acc", "nmi", "purity", "ari")},
    "score_all": (metrics.score_all, {"0": LABELS, "1": LABELS}),
    "fuse": (fuse, {"0": GRAPHS, "1": align(GRAPHS), "weights": None, "how": "mean", "mask": None, "join": None}),
    "from_graphs": (GramMatrices.from_graphs, {"0": GRAPHS, "mask": None, "missing": "error", "join": None}),
    "from_blocks": (GramMatrices.from_blocks, {"0": [GRAPHS, GRAPHS], "masks": None, "missing": "error"}),
    "GramMatrices": (GramMatrices, {"0": GRAMS.matrix, "1": GRAMS.sizes, "2": GRAMS.n_samples, "sums": GRAMS.sums}),
    "cross": (GRAMS.cross, {"0": 0, "1": 1}),
    "structure": (GRAMS.structure, {"0": 0, "1": 1}),
    "column_sums": (GRAMS.column_sums, {"0": 0, "1": 1}),
    "get_adapter": (get_adapter, {"0": "lmvsc"}),
    "get_baseline": (get_baseline, {"0": "kmeans"}),
    "as_baseline": (as_baseline, {"0": KMeans(), "name": "x", "scaled": True}),
    "load_views": (load_views, {"0": "simulated", "decimal": ".", "sep": None, "max_bytes": None, "mmap": False}),
    "load": (anchor_align.load, {"0": "missing.model"}),
    "drop_mask": (drop_mask, {"0": 2, "1": 10, "2": 0.3, "3": 0}),
    "paired_difference": (paired_difference, {"0": [0.1, 0.2], "1": [0.3, 0.4]}),
    "make_simulated": (make_simulated, {"0": 0, "n_per_cluster": 2}),
}


def check(function: Callable[..., Any], given: dict[str, Any]) -> list[str]:
    """What was raised that is not ours, or is more than a line."""
    faults = []
    for name in given:
        for value in HOSTILE:
            arguments = {**given, name: value}
            places = [each for key, each in arguments.items() if key.isdigit()]
            named = {key: each for key, each in arguments.items() if not key.isdigit()}
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function(*places, **named)
            except AnchorAlignError as error:
                if "\n" in str(error):
                    faults.append(f"{name}: {error}")
            except Exception as error:
                faults.append(f"{name}, {type(value).__name__}: {type(error).__name__}: {error}")
    return faults


@pytest.mark.parametrize("name", CALLS)
def test_functions_raise_only_errors_of_ours(name: str) -> None:
    """Whatever an argument is, the error is an AnchorAlignError of one line."""
    assert check(*CALLS[name]) == []


def test_methods_of_a_fitted_clusterer_raise_only_errors_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for predictions and for files of models."""
    monkeypatch.chdir(tmp_path)
    clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(DATA.views)
    for method in ("predict", "transform", "assign", "score"):
        assert check(getattr(clusterer, method), {"0": DATA.views, "mask": None}) == []
    assert check(clusterer.save, {"0": "my.model"}) == []
    assert check(fit_quality, {"0": clusterer, "1": DATA.views, "draws": 0, "sample": 20}) == []
    assert check(anchor_align.cluster_number_curves, {"0": DATA.views, "1": [2], "draws": 1, "sample": 20}) == []
