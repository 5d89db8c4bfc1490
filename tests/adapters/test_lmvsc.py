"""LMVSC: k-means anchors and exact graph rows."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from strategies import SHARED_DATA

from anchor_align import AlignedClusterer, InputError, get_adapter
from anchor_align.data import make_simulated
from anchor_align.metrics import acc


def test_rows_are_exact() -> None:
    """A gradient step on the simplex does not move them: unscaled data, every alpha of the paper's grid."""
    rng = np.random.default_rng(0)
    X = 50.0 * rng.standard_normal((5, 7))[rng.integers(5, size=80)] + rng.standard_normal((80, 7))
    for alpha in (0.01, 1.0, 100.0):
        made = get_adapter("lmvsc", alpha=alpha, scale=None).anchor_graphs(
            [X], n_clusters=5, n_anchors=6, random_state=0
        )
        (Z,), (A,) = made.graphs, made.anchors or ()
        gradient = Z @ (A @ A.T) + alpha * Z - X @ A.T
        gap = (Z * gradient).sum(axis=1) - gradient.min(axis=1)
        assert gap.max() <= 1e-8 * np.abs(X @ A.T).max()


@pytest.mark.parametrize("scale", ["spread", "standard", "unit", "max", None])
def test_sparse_views_give_the_same_graphs(scale: str | None) -> None:
    """In every scale."""
    rng = np.random.default_rng(1)
    X = rng.exponential(size=(60, 30)) * (rng.random((60, 30)) < 0.4)
    adapter = get_adapter("lmvsc", scale=scale)
    dense, sparse = (
        adapter.anchor_graphs([view], n_clusters=2, n_anchors=5, random_state=0) for view in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(sparse.graphs[0], dense.graphs[0], atol=1e-8)
    np.testing.assert_allclose((sparse.anchors or [])[0], (dense.anchors or [])[0], atol=1e-8)


def test_alpha_means_the_same_on_every_scale() -> None:
    """A view multiplied by a constant gives the same graph, except with scale=None."""
    X = make_simulated(0).views[0]
    for scale, same in (("spread", True), ("standard", True), ("unit", True), ("max", True), (None, False)):
        adapter = get_adapter("lmvsc", scale=scale)
        Z, scaled = (
            adapter.anchor_graphs([view], n_clusters=4, n_anchors=4, random_state=0).graphs[0] for view in (X, 1e13 * X)
        )
        assert np.allclose(Z, scaled, atol=1e-9) == same


def test_few_distinct_samples_are_named() -> None:
    """More anchors than distinct samples: a warning that names the view, and a graph all the same."""
    X = np.repeat(np.eye(3), 10, axis=0)
    with pytest.warns(UserWarning, match="View 1 has only 3 distinct samples for 5 anchors"):
        clusterer = AlignedClusterer("lmvsc", n_clusters=3, n_anchors=5, random_state=0).fit(
            [np.random.default_rng(0).standard_normal((30, 4)), X]
        )
    np.testing.assert_allclose(clusterer.fused_graph_.sum(axis=1), 1)


def test_concatenation_cannot_be_changed_by_permutations() -> None:
    """Any order of the anchors gives the same labels with fusion="concat"."""
    views = make_simulated(3).views
    clusterer = AlignedClusterer("lmvsc", n_clusters=4, n_anchors=8, fusion="concat", random_state=0).fit(views)
    shuffled = [np.asarray(Z)[:, ::-1] for Z in clusterer.anchor_graphs_.graphs]
    again = AlignedClusterer("precomputed", n_clusters=4, fusion="concat", random_state=0).fit(shuffled)
    assert np.array_equal(clusterer.labels_, again.labels_)


@pytest.mark.slow
def test_published_accuracy_is_reached() -> None:
    """Concatenation as in the paper, unscaled views: 91.65 on the handwritten numerals, within three points."""
    path = SHARED_DATA / "wild" / "handwritten_numerals_v73.mat"
    if not path.exists():
        pytest.skip(f"real data {path} are not on this machine")
    with h5py.File(path) as file:
        views = [np.asarray(file[reference]).T for reference in np.ravel(file["data"])]
        labels = np.asarray(file["labels"], dtype=int).ravel()
    made = AlignedClusterer(
        "lmvsc",
        n_clusters=10,
        n_anchors=10,
        fusion="concat",
        adapter_params={"alpha": 0.01, "scale": None},
        random_state=0,
    )
    assert 100 * acc(labels, made.fit_predict(views)) >= 88.65


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": -1.0}, "alpha must be a finite number >= 0, got -1.0"),
        ({"alpha": "x"}, "alpha must be a finite number >= 0, got 'x'"),
        ({"scale": "unti"}, "Unknown scale 'unti'; known: .* Did you mean 'unit'"),
        ({"n_init": 0}, "n_init must be a whole number >= 1, got 0"),
    ],
)
def test_bad_settings(params: dict[str, object], message: str) -> None:
    """Refused when they are used, not when the adapter is made."""
    adapter = get_adapter("lmvsc", **params)
    with pytest.raises(InputError, match=message):
        AlignedClusterer(adapter, n_clusters=2).fit(make_simulated(0).views)
