"""Whether a match is real: what shuffled samples reach, anchors that are nearly tied, and how near-ties are decided."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from masked_views import random_mask
from strategies import FloatArray, planted_graphs, random_graph

from anchor_align import AlignedClusterer, AnchorAligner, GramMatrices, InputError
from anchor_align.arrays import IndexArray
from anchor_align.errors import ChanceWarning
from anchor_align.matching import chance_notes, tie_notes
from anchor_align.matching._row_sample import cycles
from anchor_align.metrics import acc


def square_corners(seed: int) -> tuple[list[FloatArray], npt.NDArray[np.intp]]:
    """Two views of four clusters at the corners of a square; other clusters are opposite each other in view 1."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=400)
    corners = 4.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    places = (labels, np.array([0, 1, 3, 2])[labels])
    return [corners[at] + rng.normal(scale=0.6, size=(400, 2)) for at in places], labels


@pytest.mark.parametrize("seed", range(4))
def test_near_ties_are_decided_by_the_largest_anchors(seed: int) -> None:
    """The match with the largest objective is wrong by a hair: 77 % of the samples; the right one gives all."""
    views, labels = square_corners(seed)
    clusterer = AlignedClusterer("fmvacc", n_clusters=4, n_anchors=4, random_state=seed).fit(views)
    assert acc(labels, clusterer.labels_) == 1.0
    aligner = clusterer.aligner_
    assert aligner is not None
    assert aligner.exchangeable_.sum() > 0
    graphs = clusterer.anchor_graphs_.graphs
    plain = AnchorAligner(reference="consensus").fit(graphs)
    assert (plain.permutations_[1] != aligner.permutations_[1]).any()
    assert 0 < plain.objective_[1] - aligner.objective_[1] < 0.01
    # Known correspondences stay.
    seeds = np.column_stack(plain.permutations_)
    known = AnchorAligner(reference="consensus", near_ties="largest", seeds=seeds).fit(graphs)
    np.testing.assert_array_equal(known.permutations_[1], plain.permutations_[1])


@pytest.mark.parametrize("reference", [0, "consensus"])
def test_clear_matches_are_not_changed(reference: int | str) -> None:
    """Planted correspondences, with an objective far above chance and no ties."""
    graphs, _ = planted_graphs(np.random.default_rng(0), 300, 12, 3)
    plain, decided = (AnchorAligner(reference=reference, near_ties=how).fit(graphs) for how in ("objective", "largest"))
    np.testing.assert_array_equal(decided.permutations_, plain.permutations_)
    assert plain.above_chance_ is not None
    assert plain.above_chance_.all()
    assert not plain.exchangeable_.any()
    assert chance_notes(plain, ["a", "b", "c"]) == tie_notes(plain) == []


def test_unrelated_samples_are_matched_by_chance() -> None:
    """Shuffled rows reach what their graphs reached: the objective is within a few standard deviations."""
    graphs, _ = planted_graphs(np.random.default_rng(1), 3000, 6, 2)
    graphs[1] = graphs[1][np.random.default_rng(2).permutation(3000)]
    aligner = AnchorAligner(reference=0).fit(graphs)
    assert aligner.chance_ is not None
    assert aligner.chance_sd_ is not None
    assert np.isnan(aligner.chance_[0])
    assert abs(aligner.objective_[1] - aligner.chance_[1]) < 0.03 * aligner.chance_[1]
    assert 0 < aligner.chance_sd_[1] < 0.03
    np.testing.assert_array_equal(aligner.above_chance_, [True, False])
    (note,) = chance_notes(aligner, ["first", "second"])
    assert note == "second agrees with the other views hardly better than by chance"


@pytest.mark.parametrize("lam_scale", ["balanced", "paper"])
def test_chance_does_not_depend_on_how_graphs_come(lam_scale: str) -> None:
    """Dense or sparse, with Gram matrices or without, scaled, the same seed: the same numbers."""
    graphs, _ = planted_graphs(np.random.default_rng(3), 400, 5, 3)
    mask = random_mask(np.random.default_rng(3), 3, 400)
    options: dict[str, Any] = {"lam_scale": lam_scale, "reference": "consensus"}
    expected = AnchorAligner(**options).fit(graphs, mask=mask)
    grams = GramMatrices.from_graphs(graphs, mask=mask)
    others = [
        AnchorAligner(**options).fit([sp.csr_array(Z) for Z in graphs], mask=mask),
        AnchorAligner(**options).fit(grams, graphs=graphs, mask=mask),
    ]
    assert expected.chance_ is not None
    assert expected.chance_sd_ is not None
    for other in others:
        assert other.chance_ is not None
        assert other.chance_sd_ is not None
        np.testing.assert_allclose(other.chance_, expected.chance_)
        np.testing.assert_allclose(other.chance_sd_, expected.chance_sd_)
    assert (expected.objective_ > expected.chance_).all()


def test_unequal_counts_have_a_chance_level() -> None:
    """Padded anchors neither help nor harm."""
    graphs, _ = planted_graphs(np.random.default_rng(4), 300, 7, 3)
    graphs[1] = graphs[1][:, :5]
    aligner = AnchorAligner(reference="consensus").fit(graphs)
    assert aligner.above_chance_ is not None
    assert aligner.above_chance_.all()


def test_no_chance_without_samples() -> None:
    """Gram matrices, one view, infinite lam and matches that are not one-to-one have None."""
    graphs, _ = planted_graphs(np.random.default_rng(5), 100, 5, 2)
    grams = GramMatrices.from_graphs(graphs)
    for aligner in (
        AnchorAligner().fit(grams),
        AnchorAligner().fit(graphs[:1]),
        AnchorAligner(np.inf).fit(graphs),
        AnchorAligner(method="pfp-many-to-one", reference=0).fit(graphs),
    ):
        assert (aligner.chance_, aligner.chance_sd_, aligner.above_chance_) == (None, None, None)
        assert chance_notes(aligner, ["a", "b"]) == []
    with pytest.raises(InputError, match="graphs are for Gram matrices"):
        AnchorAligner().fit(graphs, graphs=graphs)
    with pytest.raises(InputError, match=r"The graphs have 50 samples.*the Gram matrices have 100"):
        AnchorAligner().fit(grams, graphs=[Z[:50] for Z in graphs])
    with pytest.raises(InputError, match="Unknown near_ties 'never'"):
        AnchorAligner(near_ties="never").fit(graphs)


def test_equal_anchors_are_counted() -> None:
    """Two columns that are the same could change places at no loss, and the note says so."""
    Z = random_graph(np.random.default_rng(6), 200, 5)
    Z[:, [1, 3]] = Z[:, [1, 3]].mean(axis=1, keepdims=True)
    aligner = AnchorAligner(reference=0).fit([Z, Z])
    np.testing.assert_array_equal(aligner.exchangeable_, [0, 2])
    assert tie_notes(aligner) == ["2 of 5 anchors could be exchanged with another at almost no loss"]


@pytest.mark.parametrize("storage", ["memory", "never"])
def test_clusterer_warns_of_a_view_at_chance(storage: str) -> None:
    """A view with its rows in another order is named; the others are not, and without it nothing is said."""
    rng = np.random.default_rng(7)
    labels = rng.integers(3, size=300)
    centres = 8.0 * rng.normal(size=(3, 3, 4))
    views = [centres[v][labels] + rng.normal(size=(300, 4)) for v in range(3)]
    options: dict[str, Any] = {"n_clusters": 3, "random_state": 0, "reference": 0, "storage": storage}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AlignedClusterer("lmvsc", **options).fit(views)
    views[2] = views[2][rng.permutation(300)]
    with pytest.warns(ChanceWarning, match=r"^View 2 agrees with the other views hardly better than by chance"):
        AlignedClusterer("lmvsc", **options).fit(views)


def test_cycles_take_one_permutation_to_the_other() -> None:
    """Each is closed: its columns have the same anchors before and after."""
    rng = np.random.default_rng(8)
    before, after = rng.permutation(9), rng.permutation(9)
    found: list[IndexArray] = cycles(before, after)
    assert sorted(np.concatenate(found).tolist()) == np.flatnonzero(before != after).tolist()
    for cycle in found:
        assert sorted(before[cycle]) == sorted(after[cycle])
