"""Data sets that have a name: they are simulated, come with the package, or come with scikit-learn."""

from __future__ import annotations

import io
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from math import factorial
from typing import Any

import numpy as np

from ..arrays import FloatArray
from ..checks import MOST_SAMPLES, check_seed, check_whole_number
from ..errors import unknown_name
from ._multi_view_data import MultiViewData

INK = 16.0  # the darkest pixel of the digits
_ZERNIKE_ORDER = 8
_DIRECTIONS = 8
# File with the UCI multiple features; its views and their numbers of features.
MFEAT_FILE = "mfeat.npz.xz"
MFEAT_VIEWS = {"factors": 216, "fourier": 76, "karhunen": 64, "morphological": 6, "pixel": 240, "zernike": 47}
# Their numbers are stored as whole numbers: that many times larger.
MFEAT_SCALE = 1e8
MFEAT_INTEGERS = ("factors", "pixel")
UCI_DIGIT_VIEWS = ("factors", "fourier", "karhunen")
UCI_SOURCE = "UCI Machine Learning Repository, https://doi.org/10.24432"
# Where the four clusters lie in each view.
CENTRES = (
    ((0.55, 0.60), (-0.60, 0.55), (-0.55, -0.60), (0.60, -0.55)),
    ((0.00, 0.05), (0.00, 1.00), (0.85, -0.50), (-0.85, -0.50)),
)
SPREAD = 0.12


def make_simulated(random_state: Any = 0, *, n_per_cluster: int = 50) -> MultiViewData:
    """Simulate two views of four Gaussian clusters in the plane, as in the paper's first experiment.

    The paper gives the design (four clusters of 50 points in two dimensions), not the numbers: we chose centres and
    spread. Each view alone shows all clusters. The only difficulty is that the anchors of the two views come in
    different orders.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=0
        Seed. The same seed gives the same data.
    n_per_cluster : int, default=50
        Samples in each cluster, >= 1.

    Returns
    -------
    MultiViewData
        Two views of shape (4 * n_per_cluster, 2) and the labels 0 to 3, samples in random order.

    Examples
    --------
    >>> data = make_simulated(0)
    >>> [view.shape for view in data.views]
    [(200, 2), (200, 2)]
    """
    n_per_cluster = check_whole_number("n_per_cluster", n_per_cluster, least=1, most=MOST_SAMPLES)
    rng = np.random.default_rng(check_seed(random_state))
    labels = rng.permutation(np.repeat(np.arange(4), n_per_cluster))
    views = [np.asarray(centres)[labels] + SPREAD * rng.standard_normal((len(labels), 2)) for centres in CENTRES]
    return MultiViewData(views, labels, ["square", "star"])


@dataclass(frozen=True)
class DataSet:
    """A data set that has a name.

    Attributes
    ----------
    name : str
        What :func:`~anchor_align.load_views` takes.
    description : str
    n_samples, n_clusters : int
    views : tuple of (str, int)
        Name and number of features of each view.
    licence, source : str
        Under which licence it is, and where it comes from.
    """

    name: str
    description: str
    n_samples: int
    n_clusters: int
    views: tuple[tuple[str, int], ...]
    licence: str
    source: str


def _load_breast_cancer() -> MultiViewData:
    """Mean, standard error and worst value of ten measures of cell nuclei."""
    from sklearn.datasets import load_breast_cancer

    cancer = load_breast_cancer()
    views = [np.ascontiguousarray(part) for part in np.split(cancer.data, 3, axis=1)]
    return MultiViewData(views, cancer.target.astype(np.int64), ["mean", "error", "worst"])


def _load_digits() -> MultiViewData:
    """Pixels, frequencies, gradients, profiles, moments and strokes of 1797 digits of 8 x 8 pixels."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = np.asarray(digits.images, dtype=np.float64) / INK
    views = {
        "pixels": images.reshape(len(images), -1),
        "fourier": _fourier(images),
        "gradients": _gradients(images),
        "profiles": _profiles(images),
        "zernike": _zernike(images),
        "strokes": strokes(images),
    }
    return MultiViewData(list(views.values()), digits.target.astype(np.int64), list(views))


def _fourier(images: FloatArray) -> FloatArray:
    """Magnitudes of the frequencies: the same wherever the digit is in the image."""
    padded = np.pad(images, ((0, 0), (4, 4), (4, 4)))
    magnitudes = np.abs(np.fft.rfft2(padded))
    # Low frequencies of both signs in one direction; the others of that direction are noise at this resolution.
    return np.concatenate([magnitudes[:, :5, :6], magnitudes[:, -4:, :6]], axis=1).reshape(len(images), -1)


def _gradients(images: FloatArray) -> FloatArray:
    """Histograms of the direction of edges in nine overlapping windows."""
    down, right = np.gradient(images, axis=(1, 2))
    strength = np.hypot(down, right)
    turn = np.arctan2(down, right) / (2 * np.pi) * _DIRECTIONS % _DIRECTIONS
    lower = np.floor(turn).astype(np.intp)
    upper_weight = turn - lower
    channels = np.zeros((*images.shape, _DIRECTIONS))
    for direction, weight in ((lower, 1 - upper_weight), (lower + 1, upper_weight)):
        np.put_along_axis(channels, (direction % _DIRECTIONS)[..., None], (strength * weight)[..., None], axis=3)
    windows = [channels[:, i : i + 4, j : j + 4].sum(axis=(1, 2)) for i in (0, 2, 4) for j in (0, 2, 4)]
    features = np.concatenate(windows, axis=1)
    return np.asarray(features / (np.linalg.norm(features, axis=1, keepdims=True) + 1e-12))


def _profiles(images: FloatArray) -> FloatArray:
    """Ink in each row and column, and the distance from each of the four sides to the first ink."""
    sums = [images.mean(axis=axis) for axis in (1, 2)]
    edges = []
    for axis in (1, 2):
        for turned in (images, np.flip(images, axis=axis)):
            seen = np.maximum.accumulate(turned, axis=axis)
            edges.append(1 - seen.mean(axis=axis))
    return np.concatenate([*sums, *edges], axis=1)


def _zernike(images: FloatArray) -> FloatArray:
    """Magnitudes of Zernike moments: the same however the digit is turned, so that 6 and 9 are alike."""
    size = images.shape[1]
    y, x = (np.mgrid[:size, :size] + 0.5) / size * 2 - 1
    radius, angle = np.hypot(x, y) / np.sqrt(2), np.arctan2(y, x)
    basis = [
        (_radial(radius, n, m) * np.exp(-1j * m * angle)).ravel() * (n + 1)
        for n in range(1, _ZERNIKE_ORDER + 1)
        for m in range(n % 2, n + 1, 2)
    ]
    pixels = images.reshape(len(images), -1)
    return np.asarray(np.abs(pixels @ np.array(basis).T) / pixels.sum(axis=1, keepdims=True))


def _radial(radius: FloatArray, n: int, m: int) -> FloatArray:
    """Radial polynomial of order n and repetition m."""
    total = np.zeros_like(radius)
    for s in range((n - m) // 2 + 1):
        below = factorial(s) * factorial((n + m) // 2 - s) * factorial((n - m) // 2 - s)
        total += (-1) ** s * factorial(n - s) / below * radius ** (n - 2 * s)
    return total


def strokes(images: FloatArray) -> FloatArray:
    """Shapes in black and white: the strokes that a line crosses, the kinds of corners in each quarter, and holes."""
    black = np.pad(images >= 0.5, ((0, 0), (1, 1), (1, 1))).astype(np.int8)
    crossings = [(np.diff(black, axis=axis) > 0).sum(axis=axis)[:, 1:-1] for axis in (1, 2)]
    corners = black[:, :-1, :-1] + 2 * black[:, :-1, 1:] + 4 * black[:, 1:, :-1] + 8 * black[:, 1:, 1:]
    kinds = corners[..., None] == np.arange(1, 16)
    quarters = [kinds[:, i : i + 5, j : j + 5].sum(axis=(1, 2)) for i in (0, 4) for j in (0, 4)]
    total = kinds.sum(axis=(1, 2))
    # Euler number by counts of 2 x 2 patterns (Gray): with one black, three black, and two on a diagonal.
    one, three, diagonal = (
        total[:, [k - 1 for k in codes]].sum(axis=1) for codes in ((1, 2, 4, 8), (7, 11, 13, 14), (6, 9))
    )
    euler = (one - three - 2 * diagonal) / 4
    return np.column_stack([*crossings, *quarters, 4 * euler]).astype(np.float64)


def _load_mfeat() -> MultiViewData:
    """Six kinds of features of 2000 handwritten digits, 200 of each."""
    packed = files(__package__).joinpath(MFEAT_FILE).read_bytes()
    with np.load(io.BytesIO(lzma.decompress(packed))) as stored:
        stored_views = {name: np.ascontiguousarray(stored[name]) for name in MFEAT_VIEWS}
    # A whole number divided by a power of ten is the number that the decimal text of the source stands for.
    views = [X / (1.0 if name in MFEAT_INTEGERS else MFEAT_SCALE) for name, X in stored_views.items()]
    return MultiViewData(views, np.repeat(np.arange(10), 200), list(MFEAT_VIEWS))


def _load_uci_digit() -> MultiViewData:
    """The three views that the paper calls UCI-Digit."""
    data = _load_mfeat()
    views = [data.views[data.names.index(name)] for name in UCI_DIGIT_VIEWS]
    return MultiViewData(views, data.labels, list(UCI_DIGIT_VIEWS))


_SETS: tuple[tuple[DataSet, Callable[[], MultiViewData]], ...] = (
    (
        DataSet(
            "simulated",
            "four Gaussian clusters in the plane, seen in two views, as in the paper's first experiment",
            200,
            4,
            (("square", 2), ("star", 2)),
            "BSD-3-Clause",
            "drawn by anchor_align.data.make_simulated",
        ),
        make_simulated,
    ),
    (
        DataSet(
            "mfeat",
            "UCI multiple features: handwritten digits, measured in six ways",
            2000,
            10,
            tuple(MFEAT_VIEWS.items()),
            "CC BY 4.0",
            f"R. Duin, Multiple Features, {UCI_SOURCE}/C5HC70",
        ),
        _load_mfeat,
    ),
    (
        DataSet(
            "uci-digit",
            "three views of mfeat: the paper's UCI-Digit",
            2000,
            10,
            tuple((name, MFEAT_VIEWS[name]) for name in UCI_DIGIT_VIEWS),
            "CC BY 4.0",
            "as mfeat",
        ),
        _load_uci_digit,
    ),
    (
        DataSet(
            "digits",
            "handwritten digits of scikit-learn, 8 x 8 pixels, measured in six ways by anchor-align",
            1797,
            10,
            (("pixels", 64), ("fourier", 54), ("gradients", 72), ("profiles", 48), ("zernike", 24), ("strokes", 77)),
            "CC BY 4.0",
            f"E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, {UCI_SOURCE}/C50P49; as "
            "sklearn.datasets.load_digits has them",
        ),
        _load_digits,
    ),
    (
        DataSet(
            "breast-cancer",
            "cell nuclei of breast tumours (scikit-learn): mean, standard error and worst value of ten measures",
            569,
            2,
            (("mean", 10), ("error", 10), ("worst", 10)),
            "CC BY 4.0",
            "W. Wolberg, O. Mangasarian, N. Street and W. Street, Breast Cancer Wisconsin (Diagnostic), "
            f"{UCI_SOURCE}/C5DW2B; as sklearn.datasets.load_breast_cancer has them",
        ),
        _load_breast_cancer,
    ),
)
BUNDLED = tuple(each.name for each, _ in _SETS)


def catalogue() -> tuple[DataSet, ...]:
    """The data sets that :func:`~anchor_align.load_views` knows by name.

    Examples
    --------
    >>> [each.name for each in catalogue()]
    ['simulated', 'mfeat', 'uci-digit', 'digits', 'breast-cancer']
    """
    return tuple(each for each, _ in _SETS)


def load_bundled(name: str) -> MultiViewData:
    """Load a data set by its name in the :func:`catalogue`.

    Parameters
    ----------
    name : str

    Returns
    -------
    MultiViewData

    Raises
    ------
    UnknownNameError
        If there is no such set.

    Examples
    --------
    >>> data = load_bundled("breast-cancer")
    >>> data.names, [view.shape for view in data.views]
    (['mean', 'error', 'worst'], [(569, 10), (569, 10), (569, 10)])
    """
    for each, load in _SETS:
        if each.name == name:
            return load()
    raise unknown_name("data set", name, BUNDLED)
