"""Six views of scikit-learn's handwritten digits: what different people would measure on the same images."""

from __future__ import annotations

from math import factorial

import numpy as np

from .._types import FloatArray
from ._types import MultiViewData

INK = 16.0  # the darkest pixel
ORDER = 8  # of the largest Zernike moments
DIRECTIONS = 8


def load_digits_views() -> MultiViewData:
    """Pixels, frequencies, gradients, profiles, moments and strokes of 1797 digits of 8 x 8 pixels."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = np.asarray(digits.images, dtype=np.float64) / INK
    views = {
        "pixels": images.reshape(len(images), -1),
        "fourier": fourier(images),
        "gradients": gradients(images),
        "profiles": profiles(images),
        "zernike": zernike(images),
        "strokes": strokes(images),
    }
    return MultiViewData(list(views.values()), digits.target.astype(np.int64), list(views))


def fourier(images: FloatArray) -> FloatArray:
    """Magnitudes of the frequencies: the same wherever the digit is in the image."""
    padded = np.pad(images, ((0, 0), (4, 4), (4, 4)))
    magnitudes = np.abs(np.fft.rfft2(padded))
    # Low frequencies of both signs in one direction; the others of that direction are noise at this resolution.
    return np.concatenate([magnitudes[:, :5, :6], magnitudes[:, -4:, :6]], axis=1).reshape(len(images), -1)


def gradients(images: FloatArray) -> FloatArray:
    """Histograms of the direction of edges in nine overlapping windows."""
    down, right = np.gradient(images, axis=(1, 2))
    strength = np.hypot(down, right)
    turn = np.arctan2(down, right) / (2 * np.pi) * DIRECTIONS % DIRECTIONS
    lower = np.floor(turn).astype(np.intp)
    share = turn - lower
    channels = np.zeros((*images.shape, DIRECTIONS))
    for direction, part in ((lower, 1 - share), (lower + 1, share)):
        np.put_along_axis(channels, (direction % DIRECTIONS)[..., None], (strength * part)[..., None], axis=3)
    windows = [channels[:, i : i + 4, j : j + 4].sum(axis=(1, 2)) for i in (0, 2, 4) for j in (0, 2, 4)]
    features = np.concatenate(windows, axis=1)
    return np.asarray(features / (np.linalg.norm(features, axis=1, keepdims=True) + 1e-12))


def profiles(images: FloatArray) -> FloatArray:
    """Ink in each row and column, and how far in it begins from all four sides."""
    sums = [images.mean(axis=axis) for axis in (1, 2)]
    edges = []
    for axis in (1, 2):
        for turned in (images, np.flip(images, axis=axis)):
            seen = np.maximum.accumulate(turned, axis=axis)
            edges.append(1 - seen.mean(axis=axis))
    return np.concatenate([*sums, *edges], axis=1)


def zernike(images: FloatArray) -> FloatArray:
    """Magnitudes of Zernike moments: the same however the digit is turned, so that 6 and 9 are alike."""
    size = images.shape[1]
    y, x = (np.mgrid[:size, :size] + 0.5) / size * 2 - 1
    radius, angle = np.hypot(x, y) / np.sqrt(2), np.arctan2(y, x)
    basis = [
        (_radial(radius, n, m) * np.exp(-1j * m * angle)).ravel() * (n + 1)
        for n in range(1, ORDER + 1)
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
    """Shapes of the image in black and white: strokes that a line crosses, kinds of corners in each quarter, holes."""
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
