"""A scale for each view by agreement: what is chosen, what is not, and that the choice depends on the data only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import real_data

from anchor_align import AlignedClusterer, AnchorAlignError, InputError, get_adapter, load
from anchor_align.errors import ChanceWarning
from anchor_align.metrics import acc
from anchor_align_adapters import _scale_choice
from anchor_align_adapters._scale_choice import CLEARLY, LEAST_IN_USE, choose_scales, scales_by_agreement
from anchor_align_adapters.local import Local


def mixed_views(n: int = 300, seed: int = 0) -> tuple[list[Any], np.ndarray]:
    """Three views of the same clusters; the features of the last are in different units."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=n)
    views = [1 + 5 * np.eye(4, 8)[labels] + 0.5 * rng.standard_normal((n, 8)) for _ in range(3)]
    views[2] = np.column_stack([1e3 * rng.standard_normal((n, 2)), views[2]])
    return views, labels


def fitted(views: Any, k: int, scale: Any = "auto", mask: Any = None, **options: Any) -> AlignedClusterer:
    clusterer = AlignedClusterer(n_clusters=k, adapter_params={"scale": scale}, random_state=0, **options)
    return clusterer.fit(views, mask=mask)


def test_a_view_in_other_units_is_standardised() -> None:
    """Only that view; its agreement is clearly higher then, and the note says both."""
    views, labels = mixed_views()
    found = fitted(views, 4)
    assert found.chosen_["scale"] == ["unit", "unit", "standard"]
    unit, standard = found.chosen_["agreement in 'unit'"], found.chosen_["agreement in 'standard'"]
    assert standard[2] > CLEARLY * unit[2]
    assert acc(labels, found.labels_) == 1.0
    (note,) = found.notes_
    assert note.startswith("Adapter 'local' chose scale unit, unit, standard (agreement in 'unit' ")
    with pytest.warns(ChanceWarning, match="view|View"):
        assert fitted(views, 4, "unit").chosen_ == {}


@pytest.mark.parametrize("kind", ["shuffled", "float32", "sparse", "files"])
def test_the_choice_depends_on_the_rows_only(kind: str, tmp_path: Path) -> None:
    """Not on their order, precision or place; the clusters are the same, too."""
    views, _ = mixed_views()
    expected, given, order = fitted(views, 4), views, np.arange(300)
    if kind == "shuffled":
        order = np.random.default_rng(1).permutation(300)
        given = [X[order] for X in views]
    elif kind == "float32":
        given = [X.astype("f4") for X in views]
    elif kind == "sparse":
        given = [sp.csr_array(X) for X in views]
    elif kind == "files":
        for view, X in enumerate(views):
            np.save(tmp_path / f"{view}.npy", X)
        given = [np.load(tmp_path / f"{view}.npy", mmap_mode="r") for view in range(3)]
    found = fitted(given, 4, **({"storage": "disk"} if kind == "files" else {}))
    assert found.chosen_["scale"] == expected.chosen_["scale"]
    assert acc(expected.labels_[order], found.labels_) == 1.0


def test_a_list_repeats_the_choice(tmp_path: Path) -> None:
    """The same clusters; a saved model of either assigns new samples alike."""
    views, _ = mixed_views()
    chosen = fitted(views, 4)
    given = fitted(views, 4, chosen.chosen_["scale"])
    np.testing.assert_array_equal(given.labels_, chosen.labels_)
    for each in (chosen, given):
        each.save(tmp_path / "my.model")
        np.testing.assert_array_equal(load(tmp_path / "my.model").predict(views), chosen.labels_)


@pytest.mark.filterwarnings("ignore:Too few shared samples")
def test_missing_samples() -> None:
    """They are not read, and anchors are learned from all samples that a view has, as with a given list of scales."""
    views, labels = mixed_views()
    mask = np.random.default_rng(2).random((3, 300)) < 0.6
    mask[0, ~mask.any(axis=0)] = True
    for X, present in zip(views, mask, strict=True):
        X[~present] = np.nan
    found = fitted(views, 4, mask=mask)
    assert found.chosen_["scale"] == ["unit", "unit", "standard"]
    assert acc(labels, found.labels_) > 0.95
    given = fitted(views, 4, found.chosen_["scale"], mask=mask)
    np.testing.assert_array_equal(given.labels_, found.labels_)


def test_views_without_a_common_sample_keep_unit_rows() -> None:
    """The third view shares samples with nobody, so that nothing speaks for another scale of it."""
    views, _ = mixed_views()
    mask = np.ones((3, 300), dtype=bool)
    mask[2, :200] = mask[:2, 200:] = False
    scales, scores = choose_scales(views, ("unit", "standard"), [20] * 3, 10, 0, mask)
    assert scales[2] == "unit"
    assert scores["agreement in 'unit'"][2] == 0.0


def test_a_view_with_hardly_any_sample_keeps_unit_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounded sample has none of its samples, at least for some of these."""
    monkeypatch.setattr(_scale_choice, "MOST_ROWS", 50)
    views, _ = mixed_views(n=2000)
    for first in range(0, 60, 12):
        mask = np.ones((3, 2000), dtype=bool)
        mask[2] = (np.arange(2000) >= first) & (np.arange(2000) < first + 12)
        scales, _ = choose_scales(views, ("unit", "standard"), [40, 40, 6], 10, 0, mask)
        assert scales[2] == "unit"


def test_one_view_has_nothing_to_agree_with() -> None:
    """It keeps unit rows."""
    views, _ = mixed_views()
    assert fitted(views[:1], 4).chosen_ == {"scale": ["unit"]}


@pytest.mark.parametrize(
    ("gain", "in_use", "expected"),
    [
        (1.01 * CLEARLY, 1.0, "standard"),
        (0.99 * CLEARLY, 1.0, "unit"),
        (1.5, 0.99 * LEAST_IN_USE, "unit"),
    ],
)
def test_small_gains_and_degenerate_scales_change_nothing(gain: float, in_use: float, expected: str) -> None:
    """Two views in two scales; only the first view gains from the second scale."""
    pairs = np.full((4, 4), 0.1)
    pairs[0, 1] = pairs[1, 0] = 0.5
    pairs[2, 1] = pairs[1, 2] = 0.5 * gain
    found = scales_by_agreement(["unit", "standard"], pairs, np.array([[1.0, 1.0], [in_use, 1.0]]))
    assert found[0] == [expected, "unit"]


def test_views_change_together_if_they_gain_only_together() -> None:
    """Clusters that differ by the length of their samples: directions of one view say nothing about the other."""
    rng, labels = np.random.default_rng(0), np.repeat(np.arange(4), 50)
    lengths = (1.0 + 2.0 * labels)[:, None] + 0.1 * rng.standard_normal((200, 1))
    views = [lengths * (rng.random(5) + 0.5) + 0.05 * rng.standard_normal((200, 5)) for _ in range(2)]
    found = fitted(views, 4)
    assert found.chosen_["scale"] == ["standard", "standard"]
    assert acc(labels, found.labels_) == 1.0


def test_a_view_of_one_feature_is_standardised_although_nothing_agrees_before() -> None:
    """Unit rows of one positive feature are all equal, so that its agreement is zero; words keep unit rows."""
    rng = np.random.default_rng(1)
    labels = rng.integers(3, size=300)
    words = (rng.random((300, 400)) < 0.01 + 0.03 * (np.arange(400) % 3 == labels[:, None])).astype(float)
    views = [sp.csr_array(words), (10 + 5 * labels + rng.normal(size=300))[:, None]]
    found = fitted(views, 3)
    assert found.chosen_["agreement in 'unit'"][1] == 0.0
    assert found.chosen_["scale"] == ["unit", "standard"]
    assert acc(labels, found.labels_) == 1.0


def test_numbers_of_anchors_are_checked_before_the_choice() -> None:
    """The adapter called by itself says what is wrong in one sentence."""
    views, _ = mixed_views()
    wrong: list[tuple[Any, str]] = [
        ([5, 4], "n_anchors has 2 numbers for 3 views"),
        (None, "n_anchors"),
        ("a", "n_anchors"),
    ]
    for n_anchors, message in wrong:
        with pytest.raises(AnchorAlignError, match=message):
            get_adapter("local").choose_settings(views, n_anchors=n_anchors, random_state=0)


def test_the_choice_ends() -> None:
    """For any agreements: every change raises their sum."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        pairs = rng.random((10, 10))
        pairs = pairs + pairs.T
        assert len(scales_by_agreement(["unit", "standard"], pairs, np.ones((2, 5)))[0]) == 5


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (["unit"], "a list of 1 for 3 views"),
        ("automatic", "'auto'"),
        (["auto"] * 3, "Unknown scale of view 0: 'auto'"),
        (["unit", "unit", "nope"], "Unknown scale of view 2: 'nope'"),
        (3, "'auto'"),
    ],
)
def test_wrong_scales_are_one_sentence(scale: Any, message: str) -> None:
    """What was got and what was expected."""
    with pytest.raises(InputError, match=message):
        fitted(mixed_views()[0], 4, scale)


def test_different_numbers_of_anchors() -> None:
    """The choice works with a number for each view."""
    views, labels = mixed_views()
    found = fitted(views, 4, n_anchors=[20, 20, 30])
    assert found.chosen_["scale"] == ["unit", "unit", "standard"]
    assert acc(labels, found.labels_) > 0.97


def test_graphs_without_a_fit() -> None:
    """The adapter called by itself chooses as the fit does."""
    views, _ = mixed_views()
    found = fitted(views, 4)
    made = get_adapter("local").anchor_graphs(views, n_clusters=4, n_anchors=40, random_state=0)
    for Z, expected in zip(made.graphs, found.anchor_graphs_.graphs, strict=True):
        np.testing.assert_allclose(Z.toarray(), expected.toarray(), atol=1e-9)


def choosing(monkeypatch: pytest.MonkeyPatch, made: Any) -> AlignedClusterer:
    """``local``, if it chose something else."""
    monkeypatch.setattr(Local, "choose_settings", lambda self, views, **options: made)
    return AlignedClusterer("local", n_clusters=4, random_state=0)


def test_chosen_settings_are_those_of_the_whole_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of the graphs, the match, the embedding and new samples: as if the user had given them."""
    views, _ = mixed_views()
    settings = {"scale": "standard", "n_neighbors": 3, "directions": 3.0, "match_by_clusters": False}
    found = choosing(monkeypatch, (settings, {"score": [0.5, 1]})).fit(views)
    given = choosing(monkeypatch, ({}, {})).set_params(adapter_params=settings).fit(views)
    assert found.embedding_.shape == (300, 12)
    np.testing.assert_array_equal(found.embedding_, given.embedding_)
    np.testing.assert_array_equal(found.transform(views), found.embedding_)
    found.save(tmp_path / "my.model")
    loaded = load(tmp_path / "my.model")
    np.testing.assert_array_equal(loaded.transform(views), found.embedding_)
    assert loaded.chosen_ == found.chosen_
    # Another fit chooses again.
    assert found.adapter_.get_params() == loaded.adapter_.get_params() == Local().get_params()
    np.testing.assert_array_equal(loaded.fit(views[:2]).labels_, found.fit(views[:2]).labels_)
    found = choosing(monkeypatch, (settings, {"score": [0.5, 1]})).fit(views)
    assert found.chosen_ == {**settings, "score": [0.5, 1]}
    said = "chose scale standard; n_neighbors 3; directions 3.00; match_by_clusters False (score 0.50, 1)."
    assert found.notes_ == (f"Adapter 'local' {said}",)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"scale": "unit"}, r"'local' returned .* from choose_settings; expected two dicts"),
        (({"width": 1}, {}), "'local' chose 'width', which is not a setting of it"),
        (({}, {"n_neighbors": [0.5]}), "'local' returned a score with the name of a setting: 'n_neighbors'"),
        (({"directions": 0.5}, {}), "'local' returned settings that cannot be used: directions must be"),
        (({"n_neighbors": 0}, {}), "n_neighbors must be"),
    ],
)
def test_wrong_choices_of_an_adapter_are_one_sentence(monkeypatch: pytest.MonkeyPatch, made: Any, message: str) -> None:
    """Settings without scores, names that are no settings, scores that would hide a setting, wrong values."""
    with pytest.raises(AnchorAlignError, match=message):
        choosing(monkeypatch, made).fit(mixed_views()[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected", "least"),
    [("UCI-Digit_3v", ["standard", "unit", "unit"], 94.0), ("BBCSport", ["unit", "unit"], 90.0)],
)
def test_real_data(name: str, expected: list[str], least: float) -> None:
    """Measurements are standardised; word counts, whose standard features are degenerate, are not."""
    views, labels = real_data(name)
    found = fitted(views, len(np.unique(labels)))
    assert found.chosen_["scale"] == expected
    assert 100 * acc(labels, found.labels_) > least
