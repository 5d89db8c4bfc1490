"""Samples that views are made to lack, to see what that costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._observed import BoolArray, check_mask
from .._views import Views
from ..checks import check_number, check_whole_number
from ..errors import InputError

# Set apart from what adapters draw with the same seed.
_STREAM = 0xD209


def drop_mask(n_views: int, n_samples: int, rate: float, seed: int, observed: BoolArray | None = None) -> BoolArray:
    """Take samples away from views at random; every sample stays in at least one.

    Parameters
    ----------
    n_views, n_samples : int
    rate : float
        From 0 to less than 1: each view loses each sample with this probability. A sample that all views would lose
        stays in one of them, drawn at random.
    seed : int
        With the same seed, what a lower rate drops, a higher one drops too.
    observed : ndarray of bool of shape (n_views, n_samples), optional
        Which view had which sample before; by default every view had every sample.

    Returns
    -------
    ndarray of bool of shape (n_views, n_samples)
        A mask, as :meth:`anchor_align.AlignedClusterer.fit` takes it. A study's runs use that of their own seed.

    Examples
    --------
    >>> mask = drop_mask(3, 1000, 0.3, seed=0)
    >>> round(float(mask.mean()), 1), bool(mask.any(axis=0).all())
    (0.7, True)
    """
    rate = check_rate(rate)
    shape = check_whole_number("n_views", n_views, least=1), check_whole_number("n_samples", n_samples, least=1)
    rng = np.random.default_rng([check_whole_number("seed", seed, least=0), _STREAM])
    drawn = rng.random(shape)
    had = check_mask(observed, *shape)
    kept = had & (drawn >= rate)
    # The view that would lose it last: any of those that had it, with equal chances.
    last = np.where(had, drawn, -1.0).argmax(axis=0)
    lost = np.flatnonzero(~kept.any(axis=0))
    kept[last[lost], lost] = True
    return np.asarray(kept & had)


def dropped(views: Views, rate: float, seed: int) -> Views:
    """The same views without the samples that they lose."""
    if not rate:
        return views
    mask = drop_mask(len(views.matrices), views.n_samples, rate, seed, views.observed)
    return replace(views, observed=None if mask.all() else mask)


def check_rate(rate: object) -> float:
    """Share of samples that views lose."""
    value = check_number("drop", rate)
    if not 0 <= value < 1:
        raise InputError(f"drop must be a number >= 0 and < 1, got {rate!r}.")
    return value
