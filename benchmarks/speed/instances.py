"""Matching problems from real data: pairs of views, FMVACC graphs, several numbers of anchors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from anchor_align import GramMatrices, get_adapter
from anchor_align.matching._scaled_grams import PairTerms, ScaledGrams

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

# Anchor counts by data set: no more than there are samples to tell anchors apart, the largest on the largest sets.
ANCHORS = {
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
LARGE_BETAS = (1.0,)
QUICK = {"digits": (10, 20, 50)}


@dataclass(frozen=True, eq=False)
class Instance:
    """One pair of views at one number of anchors."""

    name: str
    n_anchors: int
    beta: float
    terms: PairTerms


def instances(quick: bool, max_anchors: int) -> Iterator[Instance]:
    """All instances, smallest data first; ``quick`` uses scikit-learn's digits only."""
    for name, counts in (QUICK if quick else ANCHORS).items():
        views = read_views(name)[:3]
        for m, beta in itertools.product(counts, BETAS):
            if m > max_anchors or (m > 200 and beta not in LARGE_BETAS):
                continue
            adapter = get_adapter("fmvacc", beta=beta, max_iter=20, n_init=1)
            made = adapter.anchor_graphs(views, n_clusters=1, n_anchors=m, random_state=0)
            scaled = ScaledGrams(GramMatrices.from_graphs(made.graphs), 1.0, "balanced")
            pairs = list(itertools.combinations(range(len(views)), 2))
            for u, v in pairs if m <= 50 else pairs[:1]:
                yield Instance(f"{name} {u}-{v}", m, beta, scaled.pair(u, v))


def data_available() -> bool:
    """Whether the real data are on this machine."""
    return all((DATA / f"{name}.npz").exists() for name in ANCHORS)


def read_views(name: str) -> list[npt.NDArray[np.float64]]:
    """All views of a data set; "digits" are made from scikit-learn's."""
    if name == "digits":
        from sklearn.datasets import load_digits

        images = load_digits().images
        return [images.reshape(len(images), -1), np.abs(np.fft.rfft2(images)).reshape(len(images), -1)]
    with np.load(DATA / f"{name}.npz") as file:
        keys = sorted(key for key in file.files if key.startswith("view"))
        return [file[key].astype(np.float64) for key in keys]
