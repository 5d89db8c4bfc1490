"""Curves over the number of clusters: planted clusters have their peaks, and prediction strength is what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchor_align import InputError, cluster_number_curves
from anchor_align.clustering._cluster_curves import prediction_strength
from anchor_align.data import make_simulated
from anchor_align.errors import InputTypeError

VIEWS = make_simulated(0).views


@pytest.mark.slow
def test_planted_clusters_are_the_peak_of_every_curve() -> None:
    """Four clear clusters are seen by all four curves."""
    curves = cluster_number_curves(VIEWS, [2, 3, 4, 5, 6], "lmvsc", draws=2, random_state=0)
    assert curves.peaks == dict.fromkeys(("agreement", "stability", "prediction_strength", "gap"), 4)
    assert (curves.n_samples, curves.n_draws, curves.n_clusters) == (200, 2, (2, 3, 4, 5, 6))
    again = cluster_number_curves(VIEWS, [2, 3, 4, 5, 6], "lmvsc", draws=2, random_state=0)
    assert again == curves


def test_the_standard_deviation_is_that_over_draws_or_unknown() -> None:
    """Stability has one over pairs of draws, and none for a single pair: nothing is shown as certain that is not."""
    rng = np.random.default_rng(0)
    noise = [rng.random((60, 4)) for _ in range(2)]
    for draws, known in ((3, True), (2, False)):
        curves = cluster_number_curves(noise, [3, 5], "lmvsc", draws=draws, random_state=0).curves
        sd = {each.name: each.sd for each in curves}
        assert (sd["stability"] is not None and min(sd["stability"]) > 0) == known
        assert sd["prediction_strength"] is not None
    assert {each.sd for each in cluster_number_curves(noise, [3], "lmvsc", draws=1, random_state=0).curves} == {None}


def test_prediction_strength_is_the_weakest_cluster() -> None:
    """Pairs are counted one by one."""
    rng = np.random.default_rng(0)
    labels, predicted = rng.integers(3, size=60), rng.integers(3, size=60)
    expected = 1.0
    for cluster in range(3):
        members = np.flatnonzero(labels == cluster)
        together = predicted[members][:, None] == predicted[members][None]
        expected = min(expected, (together.sum() - len(members)) / (len(members) * (len(members) - 1)))
    assert prediction_strength(labels, predicted) == pytest.approx(expected)
    assert prediction_strength([0], [0]) == 0.0


@pytest.mark.slow
def test_one_view_one_draw_and_missing_samples() -> None:
    """Curves that need more are left out; samples may be missing; every step is counted."""
    calls: list[tuple[int, int]] = []
    curves = cluster_number_curves(
        VIEWS[:1], [3, 4], draws=1, random_state=0, callback=lambda done, total: calls.append((done, total))
    )
    assert [each.name for each in curves.curves] == ["prediction_strength", "gap"]
    assert calls == [(done, 6) for done in range(7)]
    mask = np.ones((2, 200), dtype=bool)
    mask[1, ::5] = False
    masked = cluster_number_curves(VIEWS, [2, 4, 6], "lmvsc", mask=mask, draws=2, random_state=0)
    assert masked.peaks["prediction_strength"] == 4


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"numbers": []}, InputError, "numbers is empty"),
        ({"numbers": [1, 2]}, InputError, "numbers must be a whole number >= 2, got 1"),
        ({"numbers": "2-9"}, InputTypeError, "such as range"),
        ({"numbers": [150]}, InputError, "Halves of 200 samples are too small for 150 clusters"),
        ({"adapter": "sfmc"}, InputError, "'sfmc' does not cluster spectrally"),
    ],
)
def test_wrong_numbers_are_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    """Errors name what was given."""
    with pytest.raises(error, match=message):
        cluster_number_curves(**{"views": VIEWS, "numbers": [2, 3], **arguments})
