"""Figures of fitted clusterers and of studies, and their files."""

from __future__ import annotations

import functools
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import scipy.sparse as sp
import study_results
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from anchor_align import AlignedClusterer, AnchorGraphs, FunctionAdapter, InputError, MissingExtraError, fuse
from anchor_align.data import make_simulated
from anchor_align.errors import UnknownNameError
from anchor_align.report import (
    figure_bytes,
    plot_differences,
    plot_graphs,
    plot_objective,
    plot_permutations,
    plot_sensitivity,
    write_figures,
)
from anchor_align.report._figure_style import THEMES
from anchor_align.report._graph_figure import sample_bands
from anchor_align.report._sweep_figure import spread_apart
from anchor_align.study import Setting, Showcase, StudyResult


@functools.cache
def fitted(fusion: str = "aligned", lam: float = 0.1, n_anchors: int = 8, reference: Any = "consensus") -> Any:
    clusterer = AlignedClusterer(
        "lmvsc", n_clusters=4, n_anchors=n_anchors, lam=lam, fusion=fusion, reference=reference, random_state=0
    )
    return clusterer.fit(make_simulated(0).views)


def with_graphs(graphs: list[Any], *, aligned: bool = False, k: int = 3, names: list[str] | None = None) -> Any:
    """A clusterer fitted on given graphs."""
    n, m = graphs[0].shape
    adapter = FunctionAdapter(
        "given",
        lambda views, **_: AnchorGraphs(graphs, aligned=aligned),
        lambda graph, **_: np.arange(n) % k,
    )
    views = {name: np.zeros((n, 1)) for name in names or [f"{v}" for v in range(len(graphs))]}
    return AlignedClusterer(adapter, n_clusters=k, n_anchors=m, random_state=0).fit(views)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]


def images(figure: Figure) -> dict[str, Any]:
    """The graphs of a figure by their titles."""
    return {axes.get_title(): np.asarray(axes.images[0].get_array()) for axes in figure.axes[:2]}


def drawn(figure: Figure) -> bytes:
    return figure_bytes(figure, "png", dpi=60)


def test_graphs_show_the_fused_graphs_sorted_by_cluster() -> None:
    """The aligned image is the fused graph with rows by cluster and columns by the cluster they weigh most in."""
    data, clusterer = make_simulated(0), fitted()
    assert data.labels is not None
    shown = images(plot_graphs(clusterer, data.labels))
    rows = np.argsort(data.labels, kind="stable")
    for arm, graph in (("aligned", clusterer.fused_graph_), ("unaligned", fuse(clusterer.anchor_graphs_.graphs))):
        image = shown[arm]
        np.testing.assert_allclose(np.sort(image, axis=1), np.sort(graph[rows], axis=1))
        means = np.array([image[np.sort(data.labels) == cluster].mean(axis=0) for cluster in range(4)])
        assert (np.diff(means.argmax(axis=0)) >= 0).all()


def test_graphs_have_one_colour_scale_and_name_the_scores() -> None:
    """Colours mean the same in both panels; the scores given are written above them."""
    figure = plot_graphs(fitted(), make_simulated(0).labels, scores={"unaligned": 0.912, "aligned": 1.0})
    assert len({axes.images[0].get_clim() for axes in figure.axes[:2]}) == 1
    assert any("ACC 91.2 %" in text for text in texts(figure))
    assert any("ACC 100.0 %" in text for text in texts(figure))


def test_graphs_of_many_samples_become_few_rows() -> None:
    """Rows are averaged within clusters, every cluster keeps a row, and a sparse graph is never filled."""
    n, m, rng = 200_000, 500, np.random.default_rng(0)
    labels = np.where(np.arange(n) < 3, 7, rng.integers(0, 5, n))
    columns = rng.integers(0, m, n)
    graphs = [sp.csr_array((np.ones(n), (np.arange(n), columns)), shape=(n, m)) for _ in range(2)]
    clusterer = AlignedClusterer("lmvsc")
    clusterer.anchor_graphs_ = AnchorGraphs(graphs)
    clusterer.permutations_ = [np.arange(m), rng.permutation(m)]
    clusterer.weights_, clusterer.aligner_, clusterer.mask_, clusterer.labels_ = None, None, None, labels
    tracemalloc.start()
    image = images(plot_graphs(clusterer, labels))["aligned"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * m * 8 / 4
    assert len(image) <= 600 + 6
    assert (sample_bands(labels).rows >= 1).all()
    np.testing.assert_allclose(image.sum(axis=1), 1.0)


def test_binned_rows_are_means_of_all_samples() -> None:
    """Weighted by the numbers of samples, the image has the column sums of the fused graph."""
    rng = np.random.default_rng(0)
    clusterer = with_graphs([rng.dirichlet(np.ones(5), 3000) for _ in range(2)])
    labels = rng.integers(0, 4, 3000)
    image, bands = images(plot_graphs(clusterer, labels))["aligned"], sample_bands(labels)
    samples = np.repeat(bands.sizes / bands.rows, bands.rows)
    # Rows of a cluster may differ by one sample.
    np.testing.assert_allclose(np.sort(samples @ image), np.sort(clusterer.fused_graph_.sum(axis=0)), rtol=1e-2)


def test_weights_of_views_count() -> None:
    """The aligned graph has the weights of the fit, the unaligned one those that the adapter gives it as it comes."""
    rng = np.random.default_rng(0)
    graphs = [rng.dirichlet(np.ones(5), 30) for _ in range(2)]
    clusterer = with_graphs(graphs)
    clusterer.weights_ = np.array([0.9, 0.1])
    clusterer.adapter_.view_weights = lambda graphs, **options: np.array([0.2, 0.8])
    shown = images(plot_graphs(clusterer, np.zeros(30, dtype=int)))
    Z0, Z1 = (Z[:, p] for Z, p in zip(graphs, clusterer.permutations_, strict=True))
    for name, fused in (("unaligned", 0.2 * graphs[0] + 0.8 * graphs[1]), ("aligned", 0.9 * Z0 + 0.1 * Z1)):
        np.testing.assert_allclose(np.sort(shown[name], axis=1), np.sort(fused, axis=1))


def test_dark_figures_are_dark_all_over() -> None:
    """Marks that are made when the figure is saved have the theme's colours too."""
    figure = plot_objective(fitted(), theme="dark")
    drawn(figure)
    labels = [label for axes in figure.axes for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    assert {label.get_color() for label in labels} == {THEMES["dark"].muted}
    assert figure.get_facecolor() == to_rgba(THEMES["dark"].background)


def test_labels_of_other_samples_are_refused() -> None:
    """The message gives both numbers."""
    with pytest.raises(InputError, match=r"shape \(3,\); expected one for each of 200"):
        plot_graphs(fitted(), [0, 1, 2])


def test_blocks_of_a_perfect_graph_hold_all_weight() -> None:
    """100 % where each cluster has its anchors to itself, less where it has not."""
    labels = np.repeat([0, 1, 2], [10, 40, 5])
    perfect = np.eye(3)[labels]
    flat = np.full_like(perfect, 1 / 3)
    for graphs, blocks in (([perfect, perfect], "blocks 100 %"), ([perfect, flat], "blocks 67 %")):
        assert texts(plot_graphs(with_graphs(graphs), labels)).count(blocks) == 2


def test_permutations_are_drawn_as_found() -> None:
    """One dot in each row and column, at the place that the permutation says."""
    clusterer = fitted()
    for view, axes in enumerate(plot_permutations(clusterer).axes):
        dots = np.concatenate([np.asarray(each.get_offsets()) for each in axes.collections])
        order = dots[np.argsort(dots[:, 0])]
        np.testing.assert_array_equal(order[:, 1], clusterer.permutations_[view])


def test_permutations_of_many_views_and_anchors() -> None:
    """In two rows of matrices only the lower ones have numbers, which do not touch those of their neighbours."""
    rng = np.random.default_rng(0)
    graphs = [rng.dirichlet(np.full(20, 0.2), 100) for _ in range(6)]
    figure = plot_permutations(with_graphs(graphs), width=3.5)
    aligned = [[each.get_horizontalalignment() for each in axes.get_xticklabels()] for axes in figure.axes]
    assert aligned == [[], [], [], *[["left", "center", "right"]] * 3]


def test_ambiguous_anchors_are_hollow() -> None:
    """Two anchors that are alike can be exchanged, the others cannot."""
    rng = np.random.default_rng(0)
    Z = rng.dirichlet(np.full(4, 0.2), 200)
    Z[:, 2] = Z[:, 3] = (Z[:, 2] + Z[:, 3]) / 2
    figure = plot_permutations(with_graphs([Z, Z]))
    filled, hollow = figure.axes[1].collections
    assert sorted(np.asarray(hollow.get_offsets())[:, 0]) == [2, 3]
    assert len(np.asarray(filled.get_offsets())) == 2
    assert any("ambiguous (4 of 8)" in text for text in texts(figure))


def test_reference_is_named() -> None:
    """By its name in the note, and marked in the title of its matrix."""
    shown = texts(plot_permutations(fitted(reference=1)))
    assert "view 1 (ref.)" in shown
    assert any(text.startswith("reference: view 1") for text in shown)


@pytest.mark.parametrize("lam", [0.0, 0.5, float("inf")])
def test_objective_is_the_sum_of_its_terms(lam: float) -> None:
    """Stacked bars end at the objective; the bound is a mark at or beyond it."""
    clusterer = fitted(lam=lam)
    axes = plot_objective(clusterer).axes[0]
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    ends = {round(bar.get_y(), 3): bar.get_x() + bar.get_width() for bar in bars}
    np.testing.assert_allclose(list(ends.values()), clusterer.aligner_.objective_)
    marks = [np.asarray(path.vertices)[0, 0] for path in axes.collections[0].get_paths()]
    np.testing.assert_allclose(marks, clusterer.aligner_.upper_bound_)


@pytest.mark.parametrize("fusion", ["unaligned", "concat"])
def test_where_nothing_was_aligned_figures_say_so(fusion: str) -> None:
    """Controls have no match to show; the permutation is the identity."""
    clusterer = fitted(fusion)
    assert any("nothing was aligned" in text for text in texts(plot_objective(clusterer)))
    assert any("nothing was aligned" in text for text in texts(plot_permutations(clusterer)))
    assert drawn(plot_graphs(clusterer))


def test_anchors_that_correspond_by_construction() -> None:
    """The same for adapters that need no alignment."""
    Z = np.random.default_rng(0).dirichlet(np.ones(3), 30)
    clusterer = with_graphs([Z, Z], aligned=True)
    assert any("by construction" in text for text in texts(plot_objective(clusterer)))
    assert drawn(plot_permutations(clusterer))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_views", "m", "k", "theme"),
    [(1, 1, 1, "light"), (12, 6, 3, "dark"), (2, 200, 100, "light"), (30, 3, 2, "light")],
)
def test_all_sizes_can_be_drawn(n_views: int, m: int, k: int, theme: str) -> None:
    """One view, many views, one anchor, hundreds: without a warning."""
    rng = np.random.default_rng(0)
    clusterer = with_graphs([rng.dirichlet(np.ones(m), 300) for _ in range(n_views)], k=k)
    for plot in (plot_graphs, plot_permutations, plot_objective):
        assert drawn(plot(clusterer, theme=theme))


def test_names_are_drawn_as_they_are() -> None:
    """Dollar signs are no formulas, and letters that no font has do not warn."""
    names = ["$x^2$ \\frac", "手書き_数字"]
    Z = np.random.default_rng(0).dirichlet(np.ones(4), 30)
    clusterer = with_graphs([Z, Z[:, ::-1]], names=names)
    labels = np.where(np.arange(30) < 9, "$a", "b$_1")
    for figure in (plot_graphs(clusterer, labels), plot_permutations(clusterer), plot_objective(clusterer)):
        assert drawn(figure)
        assert not any(text.get_parse_math() and "$" in text.get_text() for text in figure.findobj(Text))
    assert names[0] in texts(plot_permutations(clusterer))


def test_differences_show_every_repeat_and_the_mean() -> None:
    """Dots are the paired differences in points."""
    result = study_results.one_row()
    axes = plot_differences(result).axes[0]
    dots = np.sort(np.asarray(axes.collections[0].get_offsets())[:, 0])
    by_arm = {
        arm: [r.scores["acc"] for r in result.records if r.arm == arm and r.scores] for arm in ("aligned", "unaligned")
    }
    np.testing.assert_allclose(dots, np.sort(100 * (np.array(by_arm["aligned"]) - by_arm["unaligned"])))


def test_rows_without_a_difference_are_marked() -> None:
    """Failed rows and rows without labels stay in the picture."""
    assert "failed" in texts(plot_differences(study_results.failing_rows()))
    assert "no labels" in texts(plot_differences(study_results.some_labels()))
    assert any("correspond by construction" in text for text in texts(plot_differences(study_results.several_rows())))
    assert any("Nothing to compare" in text for text in texts(plot_differences(study_results.no_labels())))


@pytest.mark.slow
@pytest.mark.parametrize("width", [3.5, 7.0])
@pytest.mark.parametrize(
    "result",
    [
        study_results.one_row(repeats=1),
        study_results.hostile_names(),
        study_results.study(
            [study_results.MadeUpRow(f"data {at}", "lmvsc", (0.5, 0.6, 0.7)) for at in range(70)], repeats=2
        ),
    ],
    ids=["one repeat", "hostile names", "70 rows"],
)
def test_differences_of_any_result_can_be_drawn(result: StudyResult, width: float) -> None:
    """One row to many, on narrow and wide figures, with any name: without a warning."""
    figure = plot_differences(result, width=width)
    assert drawn(figure)
    assert ("the first 60 of 70 rows" in texts(figure)) == (len(result.summaries) == 70)


@pytest.mark.parametrize("width", [3.5, 7.0])
def test_sensitivity_has_a_line_for_each_number_of_anchors(width: float) -> None:
    """Zero and infinite lam are places on the axis like all others; controls are named."""
    figure = plot_sensitivity(study_results.sweep(), width=width)
    assert drawn(figure)
    against_lam, against_anchors = figure.axes[:2]
    assert [label.get_text() for label in against_lam.get_xticklabels()] == ["0", "0.01", "0.1", "1", "10", "inf"]
    shown = {text.get_text() for text in against_lam.texts}
    assert shown == {"m = 10", "m = 20", "m = 50", "unaligned", "concat"}
    assert {"lam = 0", "lam = inf"} <= {text.get_text() for text in against_anchors.texts}


def test_sensitivity_needs_a_sweep() -> None:
    """With one setting the figure says that there is none."""
    assert any("No sweep" in text for text in texts(plot_sensitivity(study_results.one_row())))


def test_names_of_lines_are_moved_apart_in_order() -> None:
    """No two closer than asked for, the order kept, and those that have room not moved."""
    moved = spread_apart([0.0, 0.1, 0.1, 9.0], 1.0)
    assert (np.diff(moved) >= 1 - 1e-12).all()
    assert moved[-1] == 9.0
    assert np.mean(moved[:3]) == pytest.approx(np.mean([0.0, 0.1, 0.1]))


@pytest.mark.slow
@pytest.mark.parametrize("format", ["png", "svg", "pdf"])
def test_the_same_figure_has_the_same_bytes(format: str) -> None:
    """Files carry neither dates nor versions, whatever the user's settings are, and those are left alone."""
    first = figure_bytes(plot_graphs(fitted(), make_simulated(0).labels), format)
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": None, "text.usetex": True}):
        before = dict(matplotlib.rcParams)
        second = figure_bytes(plot_graphs(fitted(), make_simulated(0).labels), format)
        assert dict(matplotlib.rcParams) == before
    assert first == second
    assert matplotlib.__version__.encode() not in first


def test_unknown_formats_and_themes_are_refused() -> None:
    """With the known ones in the message."""
    with pytest.raises(UnknownNameError, match="svg"):
        figure_bytes(Figure(), "gif")
    with pytest.raises(UnknownNameError, match="dark"):
        plot_objective(fitted(), theme="drak")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is written."""
    clusterer, result = fitted(), study_results.one_row()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"anchor-align\[report\]"):
        plot_graphs(clusterer)
    with pytest.raises(MissingExtraError, match=r"anchor-align\[report\]"):
        write_figures(result, tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_figures_are_written_under_names_that_are_safe_and_differ(tmp_path: Path) -> None:
    """Slashes, markup, length and collisions of names do no harm."""
    names = ["a/b", "A<b", "../../" + "手n" * 300]
    cases = [Showcase(Setting(name, "lmvsc", 8, 0.1), fitted(), None, {}) for name in names]
    written = write_figures(study_results.one_row(), tmp_path / "out", cases)
    assert len(written) == len(set(written)) == 3 * (1 + 3 * len(names))
    assert {path.parent for path in written} == {tmp_path / "out"}
    assert len({path.name.lower() for path in written}) == len(written)
    assert max(len(path.name) for path in written) < 80
    assert sorted(written) == sorted((tmp_path / "out").iterdir())
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert all(path.read_bytes().startswith(starts[path.suffix]) for path in written)


@pytest.mark.parametrize("width", [0, -1.0, 1e9, float("nan"), "wide", None, [3]])
def test_widths_that_no_figure_has_are_refused(width: Any) -> None:
    """One sentence, before anything is drawn."""
    for plot in (plot_graphs, plot_permutations, plot_objective):
        with pytest.raises(InputError, match="width must be"):
            plot(fitted(), width=width)
