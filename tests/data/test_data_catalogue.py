"""Data sets that have a name: bundled ones, and one from OpenML, for which a stand-in answers here."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import re
import time
import urllib.error
from email.message import Message
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import _openml

from anchor_align import AlignedClusterer, FileError, UnknownNameError, load_views
from anchor_align.data import catalogue, load_bundled
from anchor_align.data._catalogue import INK, UCI_PARTS, strokes
from anchor_align.metrics import acc


@pytest.mark.parametrize("name", [each.name for each in catalogue() if not each.online])
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
    start = time.perf_counter()
    load_bundled("digits")
    assert time.perf_counter() - start < 1


@pytest.mark.slow
def test_every_view_of_the_digits_tells_them_apart() -> None:
    """K-means on each view alone is far above chance, and no two views say the same."""
    data = load_bundled("digits")
    found = [KMeans(10, n_init=3, random_state=0).fit_predict(X / X.std()) for X in data.views]
    for name, labels in zip(data.names, found, strict=True):
        assert acc(data.labels, labels) > 0.5, name
    for one, other in itertools.combinations(found, 2):
        assert acc(one, other) < 0.9


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


class StandIn:
    """Answers as OpenML does, from memory."""

    def __init__(self, n_samples: int = 20) -> None:
        rng = np.random.default_rng(0)
        self.labels = {number: np.arange(n_samples) % 10 + 1 for _, number, _ in UCI_PARTS}
        self.tables = {number: rng.random((n_samples, d)).round(3) for _, number, d in UCI_PARTS}
        self.asked: list[str] = []

    def __call__(self, request: Any) -> Any:
        """Answer a request, or the address of one."""
        url = request if isinstance(request, str) else request.full_url
        self.asked.append(url)
        number = int(next(re.finditer(r"/(\d+)(?=/|$|\.)", url)).group(1))
        return _Response(self._answer(url, number))

    def _answer(self, url: str, number: int) -> bytes:
        if "/features/" in url:
            return json.dumps({"data_features": {"feature": self._features(number)}}).encode()
        if "/qualities/" in url:
            quality = {"name": "NumberOfInstances", "value": str(float(len(self.labels[number])))}
            return json.dumps({"data_qualities": {"quality": [quality]}}).encode()
        if "download" in url:
            return self._arff(number)
        description = {
            "id": str(number),
            "name": "mfeat",
            "version": "1",
            "status": "active",
            "format": "ARFF",
            "description": "digits",
            "file_id": str(number),
            "url": f"https://api.openml.org/data/v1/download/{number}/mfeat.arff",
            "md5_checksum": hashlib.md5(self._arff(number)).hexdigest(),
        }
        return json.dumps({"data_set_description": description}).encode()

    def _features(self, number: int) -> list[dict[str, str]]:
        plain = {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        width = self.tables[number].shape[1]
        numeric = [{"data_type": "numeric", "is_target": "false", "name": f"att{i + 1}"} for i in range(width)]
        target = {"data_type": "nominal", "is_target": "true", "name": "class"}
        return [{**plain, **each, "index": str(i)} for i, each in enumerate([*numeric, target])]

    def _arff(self, number: int) -> bytes:
        X, y = self.tables[number], self.labels[number]
        lines = ["@RELATION mfeat", *(f"@ATTRIBUTE att{i + 1} REAL" for i in range(X.shape[1]))]
        lines += ["@ATTRIBUTE class {1,2,3,4,5,6,7,8,9,10}", "@DATA"]
        lines += [",".join([*map(str, row), str(label)]) for row, label in zip(X, y, strict=True)]
        return "\n".join(lines).encode()


class _Response(io.BytesIO):
    def info(self) -> Message:
        return Message()


@pytest.fixture
def openml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn()
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr(_openml, "urlopen", stand_in)
    monkeypatch.setattr(_openml.time, "sleep", lambda seconds: None)
    return stand_in


def test_uci_digit_from_openml(openml: StandIn) -> None:
    """The paper's three views, in one order of samples; downloaded once."""
    data = load_views("uci-digit")
    assert data.names == ["factors", "fourier", "karhunen"]
    for X, (_, number, _) in zip(data.views, UCI_PARTS, strict=True):
        np.testing.assert_array_equal(X, openml.tables[number])
    np.testing.assert_array_equal(data.labels, np.arange(20) % 10)
    downloads = len(openml.asked)
    load_views("uci-digit")
    assert len(openml.asked) == downloads


def test_uci_digit_in_different_orders(openml: StandIn) -> None:
    """Parts that do not list the same samples are refused."""
    openml.labels[16] = openml.labels[16][::-1]
    with pytest.raises(FileError, match="mfeat-factors and mfeat-karhunen do not list the same samples"):
        load_views("uci-digit")


def test_uci_digit_with_other_features(openml: StandIn) -> None:
    """A data set that is not the expected one is refused."""
    openml.tables[14] = openml.tables[14][:, :70]
    with pytest.raises(FileError, match=r"mfeat-fourier \(number 14\) has shape \(20, 70\); expected 76 features"):
        load_views("uci-digit")


@pytest.mark.parametrize(
    "error",
    [
        urllib.error.URLError("Temporary failure in name resolution"),
        TimeoutError("timed out"),
        urllib.error.HTTPError("https://api.openml.org", 503, "Service Unavailable", Message(), io.BytesIO()),
        ConnectionResetError(104, "Connection reset by peer"),
    ],
)
def test_no_network(openml: StandIn, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """One sentence that says what failed and what to do."""

    def fail(request: object) -> None:
        raise error

    monkeypatch.setattr(_openml, "urlopen", fail)
    with pytest.raises(FileError, match=r"Cannot download mfeat-factors .*check the connection") as caught:
        load_views("uci-digit")
    assert "\n" not in str(caught.value)
