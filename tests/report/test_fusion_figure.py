"""The figure of graphs before and after alignment."""

from __future__ import annotations

import numpy as np
import pytest

from anchor_align import AlignedClusterer
from anchor_align.data import make_simulated
from anchor_align.errors import InputError
from anchor_align.report import figure_bytes, plot_fusion


@pytest.fixture(scope="module")
def fitted() -> AlignedClusterer:
    options = {"n_clusters": 4, "n_anchors": 4, "random_state": 0}
    return AlignedClusterer("lmvsc", **options).fit(make_simulated(0).views)  # type: ignore[arg-type]


def test_plot_fusion_has_graphs_means_and_permutations(fitted: AlignedClusterer) -> None:
    """A row has all views, both means with their accuracies, and the permutation of the view that was moved."""
    labels, scores = make_simulated(0).labels, {"mine": {"unaligned": 0.5, "aligned": 1.0}}
    figure = plot_fusion({"mine": fitted}, labels, scores=scores)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["view 0", "view 1", "unaligned", "aligned", "P of view 1"]
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "ACC 50.0 %" in notes
    assert "ACC 100.0 %" in notes
    images = [axes.images[0].get_array() for axes in figure.axes if axes.images and axes.get_title()]
    assert all(image is not None and image.shape == (200, 4) for image in images)
    np.testing.assert_allclose(np.sort(np.asarray(images[3]), axis=None), np.sort(fitted.fused_graph_, axis=None))
    again = plot_fusion({"mine": fitted}, labels, scores=scores)
    assert figure_bytes(figure, dpi=50) == figure_bytes(again, dpi=50)


def test_plot_fusion_of_many_views_and_shared_anchors() -> None:
    """Four views at most are drawn, which is said; anchors that correspond by construction are named as such."""
    views = [X + v for v in range(3) for X in make_simulated(0).views]
    many = AlignedClusterer("sfmc", n_clusters=4, n_anchors=8).fit(views)
    figure = plot_fusion(many, theme="dark")
    assert [axes.get_title() for axes in figure.axes if axes.images and axes.get_title()][-3:] == [
        "view 3",
        "unaligned",
        "aligned",
    ]
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert notes.count("by construction") == 3
    assert "the first 4 of 6 views" in figure.get_supxlabel()


def test_plot_fusion_refuses_what_cannot_be_drawn(fitted: AlignedClusterer) -> None:
    """No clusterer, or clusterers of different samples."""
    with pytest.raises(InputError, match="no clusterer"):
        plot_fusion({})
    other = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(make_simulated(0, n_per_cluster=20).views)
    with pytest.raises(InputError, match=r"'other' has 80 samples; the first has 200"):
        plot_fusion({"mine": fitted, "other": other})
