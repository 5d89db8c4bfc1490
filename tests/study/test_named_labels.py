"""Labels of a study that name their samples: they are paired by name wherever the views have names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anchor_align import InputError
from anchor_align.data import make_simulated
from anchor_align.study import compare

DATA = make_simulated(0)
NAMES = [f"s{row}" for row in range(DATA.n_samples)]
SHUFFLED = np.random.default_rng(0).permutation(DATA.n_samples)
VIEWS = [pd.DataFrame(X, index=NAMES) for X in DATA.views]
LABELS = pd.Series(DATA.labels, index=NAMES)


def accuracy(views: Sequence[Any], labels: object) -> float:
    study = compare("lmvsc", (views, labels), n_anchors=4, repeats=1, fusions=["concat"])
    scores = next(record.scores for record in study.records if record.arm == "concat")
    assert scores is not None
    return scores["acc"]


def test_labels_in_another_order_are_scored_by_name() -> None:
    assert accuracy(VIEWS, LABELS.iloc[SHUFFLED]) == accuracy(VIEWS, DATA.labels) > 0.9


def test_labels_follow_views_that_were_joined() -> None:
    """Labels without names cannot follow, and are refused."""
    joined = [VIEWS[0].iloc[SHUFFLED], VIEWS[1]]
    assert accuracy(joined, LABELS) == accuracy(VIEWS, DATA.labels)
    with pytest.raises(InputError, match="labels have no names"):
        accuracy(joined, DATA.labels)


def test_labels_of_other_samples_are_refused() -> None:
    with pytest.raises(InputError, match="the views have a sample 's3', and the labels do not name it"):
        accuracy(VIEWS, LABELS.rename({"s3": "elsewhere"}))
    with pytest.raises(InputError, match="the labels name the sample 's4' more than once"):
        accuracy(VIEWS, pd.concat([LABELS, LABELS.iloc[4:5]]))


def test_without_names_on_both_sides_the_order_counts() -> None:
    """A column of a filtered table has an index that says nothing about arrays."""
    plain = [X.to_numpy() for X in VIEWS]
    assert accuracy(plain, LABELS) == accuracy(VIEWS, LABELS.reset_index(drop=True)) > 0.9
