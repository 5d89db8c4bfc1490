"""Matching problems from real data: pairs of views, FMVACC graphs, several numbers of anchors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from results import Bench

from anchor_align import GramMatrices, get_adapter, load_views
from anchor_align.matching._scaled_grams import PairTerms, ScaledGrams

# Numbers of anchors by data set: no more than there are samples to tell anchors apart, the largest on the largest sets.
ANCHORS: dict[str, tuple[int, ...]] = {
    "3-Sources": (10, 20, 50),
    "MSRC-v1": (10, 20, 50, 100),
    "BBCSport": (10, 20, 50, 100),
    "100Leaves": (100, 200, 500),
    "UCI-Digit_3v": (10, 20, 50, 100, 200, 500),
    "BDGP_3v": (10, 20, 50, 100, 200),
    "Scene-15": (20, 50, 100, 200, 500, 1000),
    "Hdigit": (10, 50, 200, 1000),
}
# The paper's grid. beta = 100 spreads every sample over all anchors, which are then hard to tell apart.
BETAS = (0.01, 1.0, 100.0)
LARGE_BETAS = (1.0,)  # above 200 anchors


@dataclass(frozen=True, eq=False)
class Instance:
    """One pair of views at one number of anchors."""

    name: str
    n_anchors: int
    beta: float
    terms: PairTerms


def cases() -> Iterator[tuple[str, int, float]]:
    """Data set, number of anchors and beta of all graphs, smallest data first."""
    for name, counts in ANCHORS.items():
        for m, beta in itertools.product(counts, BETAS):
            if m <= 200 or beta in LARGE_BETAS:
                yield name, m, beta


def instances(bench: Bench, name: str, m: int, beta: float) -> Iterator[Instance]:
    """All pairs of the first three views; the first pair alone with more than 50 anchors."""
    views = float_views(bench, name)[:3]
    adapter = get_adapter("fmvacc", beta=beta, max_iter=20, n_init=1)
    made = adapter.anchor_graphs(views, n_clusters=1, n_anchors=m, random_state=0)
    scaled = ScaledGrams(GramMatrices.from_graphs(made.graphs), 1.0, "balanced")
    pairs = list(itertools.combinations(range(len(views)), 2))
    for u, v in pairs if m <= 50 else pairs[:1]:
        yield Instance(f"{name} {u}-{v}", m, beta, scaled.pair(u, v))


def float_views(bench: Bench, name: str) -> list[npt.NDArray[np.float64]]:
    """All views of a data set."""
    return [np.asarray(X, dtype=np.float64) for X in raw_views(bench, name)]


def raw_views(bench: Bench, name: str) -> list[Any]:
    """The same in the number types of the file."""
    return list(load_views(bench.path(name)).views)
