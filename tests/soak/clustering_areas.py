"""Areas on views: ``AlignedClusterer`` with every adapter, fusion and storage, and the functions that adapters use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from case_checks import Call, promise
from random_data import graph, mask_for, numbers, pick, stored, views, whole_numbers

from anchor_align import (
    AlignedClusterer,
    get_adapter,
    list_adapters,
    list_fusions,
    metrics,
    project_rows_on_simplex,
    simplex_least_squares,
)
from anchor_align.arrays import is_sparse
from anchor_align.blocks import ScaledRows, map_rows, project_columns, true_rows, working
from anchor_align.kmeans import fit_kmeans

Rng = np.random.Generator

# Values to try for the settings of adapters; settings that are not listed keep their default.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "alpha": (0.0, 1e-3, 1.0, 100.0),
    "beta": (0.0, 1.0, 100.0),
    "orthogonal": (True, False),
    "aligned": (True, False),
    "anchors": ("alternate", "random", "kmeans", "flexible"),
    "n_neighbors": (1, 2, 5, 10),
    "kmeans": ("full", "sample", "minibatch"),
    "scale": ("max", "standard", "spread", "unit", None),
    "n_init": (1, 2),
    "max_iter": (1, 3, 10),
}


# Loading the plug-ins takes longer than most fits.
ADAPTERS = {record.name: type(get_adapter(record.name)) for record in list_adapters()}
FUSIONS = tuple(record.name for record in list_fusions())


def _adapter_settings(rng: Rng, name: str) -> dict[str, Any]:
    known = ADAPTERS[name]().get_params()
    drawn = {key: pick(rng, *SETTINGS[key]) for key in known if key in SETTINGS and rng.random() < 0.5}
    return drawn | ({"max_iter": 3} if "max_iter" in known and "max_iter" not in drawn else {})


def fit_call(rng: Rng, folder: Path) -> Call:
    """A fit and the labels of the same samples: clusters are numbered as they appear, from 0, and none is empty."""
    name = pick(rng, *ADAPTERS)
    X = views(rng)
    n, n_views = X[0].shape[0], len(X)
    if name == "precomputed":
        X = [stored(rng, graph(rng, n, int(rng.integers(1, 8)))) for _ in X]
    missing = rng.random() < 0.3
    mask = mask_for(rng, n_views, n) if missing else None
    n_clusters = int(rng.integers(1, 6))
    arguments: dict[str, Any] = {
        "adapter": name,
        "adapter_params": _adapter_settings(rng, name),
        "views": pick(rng, X, X, X, {f"view {v}": each for v, each in enumerate(X)}),
        "mask": mask,
        "n_clusters": n_clusters,
        "n_anchors": pick(rng, None, int(rng.integers(1, 9)), rng.integers(1, 9, size=n_views).tolist()),
        "lam": pick(rng, 0.0, 0.1, 10.0, np.inf),
        "reference": pick(rng, "auto", "consensus", int(rng.integers(n_views))),
        "fusion": pick(rng, *FUSIONS),
        "weights": pick(rng, None, None, "auto", (rng.random(n_views) + 0.01).tolist()),
        "missing": "error",
        "many_to_one": bool(rng.random() < 0.2),
        "column_groups": None,
        "storage": pick(rng, "memory", "memory", "disk", "never"),
        "memory": pick(rng, None, None, "50MB"),
        "folder": None,
        "gather": False,
        "random_state": int(rng.integers(100)),
    }

    def check(result: dict[str, Any]) -> None:
        labels, again, weights = result["labels_"], result["predicted"], result["weights_"]
        promise(labels.shape == (n,) and labels.dtype.kind == "i", "labels_ has a wrong shape or type")
        first = [int(np.argmax(labels == each)) for each in range(labels.max() + 1)]
        promise(set(labels.tolist()) == set(range(len(first))), f"labels_ are not numbered 0 to k - 1: {set(labels)}")
        promise(first == sorted(first), "clusters are not numbered in the order in which they appear")
        promise(len(first) <= n_clusters, f"{len(first)} clusters instead of {n_clusters}")
        promise(again.shape == (n,) and set(again.tolist()) <= set(labels.tolist()), "predict has unknown clusters")
        promise(weights is None or (weights >= 0.0).all(), "a weight is negative")
        promise(weights is None or abs(weights.sum() - 1.0) < 1e-9, "the weights do not sum to one")
        promise(np.isfinite(result["embedding_"]).all(), "the embedding is not finite")

    if rng.random() < 0.8:
        arguments |= {"adapter": ADAPTERS[name](**arguments["adapter_params"]), "adapter_params": None}
    return Call(_fit, arguments, check, costly=("memory", "adapter_params"))


def _fit(views: Any, mask: Any, **settings: Any) -> dict[str, Any]:
    clusterer = AlignedClusterer(**settings).fit(views, mask=mask)
    names = ("labels_", "fused_graph_", "embedding_", "permutations_", "rotations_", "mask_", "weights_")
    fitted = {name: getattr(clusterer, name) for name in names}
    return fitted | {"predicted": clusterer.predict(views, mask=mask)}


def setting_call(rng: Rng, folder: Path) -> Call:
    """A fit with wrong settings of the adapter."""
    name = pick(rng, *ADAPTERS)
    X = [whole_numbers(rng, 12, 3) for _ in range(2)]

    def fit(**params: Any) -> Any:
        return AlignedClusterer(ADAPTERS[name](**params), n_clusters=2, n_anchors=3, random_state=0).fit(X).labels_

    params = ADAPTERS[name]().get_params()
    return Call(fit, params, costly=("max_iter", "n_init"), spoiled=0.9)


def simplex_call(rng: Rng, folder: Path) -> Call:
    """Weights and projections are on the simplex, and no vertex of the simplex is better."""
    n, d, m = int(rng.integers(1, 60)), int(rng.integers(1, 6)), int(rng.integers(1, 30))
    if rng.random() < 0.5:
        Y = numbers(rng, n, m)

        def check_projection(Z: np.ndarray) -> None:
            promise((Z >= 0.0).all() and np.allclose(Z.sum(axis=1), 1.0), "rows are not on the simplex")
            nearest = ((Y - Z) ** 2).sum(axis=1)
            vertices = ((Y[:, None] - np.eye(m)) ** 2).sum(axis=2).min(axis=1)
            promise((nearest <= vertices * (1.0 + 1e-9) + 1e-9).all(), "a vertex is nearer than the projection")

        return Call(project_rows_on_simplex, {"Y": Y}, check_projection)
    X, A, alpha = numbers(rng, n, d), numbers(rng, m, d), pick(rng, 0.0, 1e-6, 1.0)
    arguments = {"X": stored(rng, X), "A": A, "alpha": alpha, "block_rows": pick(rng, None, 1, 7)}

    def check(Z: np.ndarray) -> None:
        promise((Z >= 0.0).all() and np.allclose(Z.sum(axis=1), 1.0, atol=1e-5), "rows are not on the simplex")
        given = arguments["X"]
        rows = np.asarray(given.toarray() if is_sparse(given) else given, dtype=np.float64)
        found = ((rows - Z @ A) ** 2).sum(axis=1) + alpha * (Z**2).sum(axis=1)
        single = ((rows[:, None] - A) ** 2).sum(axis=2).min(axis=1) + alpha
        size = ((rows**2).sum(axis=1).max() + (A**2).sum(axis=1).max() + alpha) * 1e-6
        promise((found <= single + size).all(), "a single anchor is better than the solution")

    return Call(simplex_least_squares, arguments, check, costly=("block_rows",))


def kmeans_call(rng: Rng, folder: Path) -> Call:
    """K-means over blocks: every row is at its nearest centre, and the inertia is the sum of these distances."""
    n, d = int(pick(rng, 1, 5, 30, 200, 3000)), int(rng.integers(1, 6))
    k = int(rng.integers(1, min(n, 10) + 1))
    X = stored(rng, numbers(rng, n, d))
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    single = X.dtype == np.float32
    settings = {"n_clusters": k, "n_init": int(rng.integers(1, 4)), "random_state": int(rng.integers(99))}
    settings |= {"tol": pick(rng, 0.0, 1e-4), "max_iter": pick(rng, 1, 5, 300)}

    def check(result: Any) -> None:
        rows = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
        distances = ((rows[:, None] - result.centres) ** 2).sum(axis=2)
        at = distances[np.arange(n), result.labels]
        slack = (1e-2 if single else 1e-5) * (np.abs(rows).max() ** 2 * d + 1e-300)
        promise((at <= distances.min(axis=1) + slack).all(), "a row is not at its nearest centre")
        promise(result.n_found == len(np.unique(result.labels)), "n_found is not the number of clusters")
        distinct = len(np.unique(rows, axis=0))
        promise(result.n_found <= min(k, distinct), "more clusters than distinct rows")
        promise(result.inertia >= 0.0, "the inertia is negative")

    def fit(X: Any, **settings: Any) -> Any:
        with working():
            return fit_kmeans(ScaledRows(X), **settings)

    return Call(fit, {"X": X, **settings}, check, spoiled=0.0)


def block_call(rng: Rng, folder: Path) -> Call:
    """Passes over rows visit each row once, in order; projections of columns are those of rows."""
    X = numbers(rng, int(rng.integers(1, 300)), int(rng.integers(1, 8)))
    memory, width = int(pick(rng, 1, 1000, 10**6)), int(pick(rng, 1, 100, 10**7))

    def visit(X: np.ndarray) -> Any:
        with working(memory=memory):
            rows = [np.arange(len(X))[rows] for rows in map_rows(lambda rows: rows, len(X), width=width)]
            scaled = ScaledRows(X, centre=X.mean(axis=0), divisor=np.full(X.shape[1], 2.0))
            return np.concatenate(rows), true_rows(scaled, slice(0, len(X))), project_columns(X.T.copy())

    def check(result: Any) -> None:
        rows, scaled, projected = result
        promise(np.array_equal(rows, np.arange(len(X))), "rows are left out or visited twice")
        promise(np.allclose(scaled, (X - X.mean(axis=0)) / 2.0, rtol=1e-6, atol=1e-9 * np.abs(X).max()), "wrong rows")
        promise(np.allclose(projected.T, project_rows_on_simplex(X), atol=1e-9), "columns and rows differ")

    return Call(visit, {"X": X}, check, spoiled=0.0)


def metric_call(rng: Rng, folder: Path) -> Call:
    """Scores are in their range, symmetric where they say so, and one for equal groups."""
    n = int(pick(rng, 1, 2, 7, 50, 500))
    true, found = rng.integers(0, rng.integers(1, 9), size=n), rng.integers(0, rng.integers(1, 9), size=n)
    words = np.array(["a", "b", "\u202ec", "", " ", "nan", "0", "1e999", "x"])
    arguments = {"true": pick(rng, true, words[true], true.astype(float), true.tolist()), "found": found}
    name = pick(rng, *(each for each in metrics.__all__ if each != "Scores"))

    def check(result: Any) -> None:
        values = list(vars(result).values()) if name == "score_all" else [result]
        promise(all(-0.5 <= value <= 1.0 for value in values), f"a score is out of range: {values}")
        same = metrics.score_all(arguments["true"], arguments["true"])
        promise((same.acc, same.nmi, same.ari, same.entropy) == (1.0, 1.0, 1.0, 0.0), "equal groups do not score one")

    return Call(getattr(metrics, name), arguments, check)
