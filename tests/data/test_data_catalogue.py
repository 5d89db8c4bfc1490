"""Data sets that have a name: what they hold, and where they come from."""

from __future__ import annotations

import hashlib
import itertools
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

from anchor_align import AlignedClusterer, UnknownNameError, load_views
from anchor_align.data import catalogue, load_bundled
from anchor_align.data._catalogue import INK, strokes
from anchor_align.metrics import acc


@pytest.mark.parametrize("name", [each.name for each in catalogue()])
def test_catalogue_says_what_is_loaded(name: str) -> None:
    """Samples, clusters, names and sizes of the views; and the same on every call."""
    (entry,) = (each for each in catalogue() if each.name == name)
    data, again = load_bundled(name), load_views(name)
    assert data.n_samples == entry.n_samples
    assert data.n_clusters == entry.n_clusters
    assert tuple(zip(data.names, (X.shape[1] for X in data.views), strict=True)) == entry.views
    assert data.labels is not None
    assert data.labels.dtype == np.int64
    for X, other in zip(data.views, again.views, strict=True):
        assert np.isfinite(X).all()
        np.testing.assert_array_equal(X, other)


def test_unknown_name() -> None:
    """Lists the known ones."""
    with pytest.raises(UnknownNameError, match="Did you mean 'digits'"):
        load_bundled("digit")


def test_digits_are_ready_at_once() -> None:
    """In much less than a second."""
    load_bundled("digits")
    start = time.process_time()  # others may use the machine, too
    load_bundled("digits")
    assert time.process_time() - start < 1


@pytest.mark.slow
def test_every_view_of_the_digits_tells_them_apart() -> None:
    """K-means on each view alone is far above chance, and no two views say the same."""
    data = load_bundled("digits")
    found = [KMeans(10, n_init=3, random_state=0).fit_predict(X / X.std()) for X in data.views]
    for name, labels in zip(data.names, found, strict=True):
        assert acc(data.labels, labels) > 0.5, name
    for one, other in itertools.combinations(found, 2):
        assert acc(one, other) < 0.9


@pytest.mark.slow
def test_alignment_pays_on_the_digits() -> None:
    """Aligned fusion beats unaligned fusion of the same graphs clearly."""
    data = load_bundled("digits")
    scores = {
        fusion: np.mean(
            [
                acc(
                    data.labels,
                    AlignedClusterer("lmvsc", n_clusters=10, fusion=fusion, random_state=seed).fit(data.views).labels_,
                )
                for seed in range(3)
            ]
        )
        for fusion in ("unaligned", "aligned")
    }
    assert scores["aligned"] > scores["unaligned"] + 0.05


def test_strokes_count_holes() -> None:
    """A ring has one hole, two rings two, a bar none: Euler numbers 0, -1 and 1, on a scale of 4."""
    ring = np.zeros((8, 8))
    ring[1:4, 1:4] = INK
    ring[2, 2] = 0
    two = ring + np.roll(ring, 2, axis=0) * (np.arange(8) > 3)[:, None]
    bar = np.zeros((8, 8))
    bar[1:7, 3] = INK
    assert strokes(np.array([ring, two, bar]) / INK)[:, -1].tolist() == [0, -4, 4]


def test_mfeat_has_the_published_numbers() -> None:
    """The digest of the numbers, and what is known of them: digits in order, pixels from 0 to 6."""
    data = load_views("mfeat")
    assert data.names == ["factors", "fourier", "karhunen", "morphological", "pixel", "zernike"]
    assert data.labels is not None
    assert np.array_equal(data.labels, np.repeat(np.arange(10), 200))
    assert (data.views[4].min(), data.views[4].max()) == (0, 6)
    assert all(X.dtype == np.float64 and X.flags.c_contiguous for X in data.views)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(X).tobytes() for X in data.views)).hexdigest()
    assert digest == "b5c0843529c596d21af2f798778bd779332fd83d4d87b121ad73cb54840748fc"


def test_mfeat_is_the_published_file() -> None:
    """Every number of a .mat file as people publish it; skipped where that file is not at hand."""
    path = Path(__file__).resolve().parents[3] / "shared" / "data" / "wild" / "handwritten_numerals_v73.mat"
    if not path.exists():
        pytest.skip(f"{path.name} is not at hand")
    published = {X.shape[1]: X for X in load_views(path).views}
    for X in load_views("mfeat").views:
        np.testing.assert_array_equal(X, published[X.shape[1]])


def test_uci_digit_is_three_views_of_mfeat() -> None:
    """The paper's views, without a download."""
    data, every = load_views("uci-digit"), load_views("mfeat")
    assert data.names == ["factors", "fourier", "karhunen"]
    for X, other in zip(data.views, every.views[:3], strict=True):
        np.testing.assert_array_equal(X, other)


def test_mfeat_comes_with_its_attribution() -> None:
    """Author, source, licence and what was changed, beside the data; the catalogue has the same."""
    text = files("anchor_align.data").joinpath("mfeat.txt").read_text(encoding="utf-8")
    (entry,) = (each for each in catalogue() if each.name == "mfeat")
    assert entry.licence == "CC BY 4.0"
    for said in ("Duin", "CC BY 4.0", "archive.ics.uci.edu/dataset/72", "Changed:"):
        assert said in text
    assert "Duin" in entry.source
    assert all(each.licence and each.source for each in catalogue())
