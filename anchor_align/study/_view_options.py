"""How a study uses the views: numbers of anchors, samples that are dropped, weights."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np

from ..arrays import BoolArray
from ..checks import MOST_SAMPLES, check_choice, check_flag, check_number, check_whole_number, is_iterable
from ..clustering import AnchorRule, Views
from ..clustering import anchors_for as anchors_for
from ..errors import InputError, shown
from ..fusion import AUTO, Fusion, check_weights, is_auto
from ..graphs import MISSING, check_mask

# What a run uses: one number for all views, one for each, or None if the adapter finds the number itself.
Anchors: TypeAlias = int | tuple[int, ...] | None
Rule: TypeAlias = AnchorRule

# Separates the random numbers of drop_mask from those that adapters draw with the same seed.
_STREAM = 0xD209


@dataclass(frozen=True)
class ViewOptions:
    """Options that are the same for all runs of a study; :func:`anchor_align.study.compare` explains them."""

    missing: str = "error"
    drop: float = 0.0
    weights: str | tuple[float, ...] | None = None
    many_to_one: bool = False

    @classmethod
    def checked(cls, missing: str, drop: float, weights: Any, many_to_one: bool) -> ViewOptions:
        if is_auto(weights):
            weights = AUTO
        elif isinstance(weights, str):
            raise InputError(f"weights must be {AUTO!r} or a number for each view, got {shown(weights)}.")
        elif weights is not None:
            values = list(weights) if is_iterable(weights) else weights
            check_weights(values, len(values) if isinstance(values, list) else 1)
            weights = tuple(float(each) for each in values)
        return cls(
            check_choice("missing", missing, MISSING),
            _check_rate(drop),
            weights,
            check_flag("many_to_one", many_to_one),
        )

    @property
    def given(self) -> tuple[tuple[str, object], ...]:
        """Name and value of every option that differs from its default."""
        values = [(each, getattr(self, each.name)) for each in fields(self)]
        return tuple((each.name, value) for each, value in values if value != each.default)

    def identity(self, fusion: Fusion) -> dict[str, Any]:
        """The options that the result of an arm depends on.

        ``missing`` is not among them: it says how data are read, and the key of a run has a hash of what was read.
        """
        parts: dict[str, Any] = {"drop": repr(self.drop)} if self.drop else {}
        if self.weights is not None and fusion.weighs_views:
            parts["weights"] = self.weights if isinstance(self.weights, str) else [repr(w) for w in self.weights]
        if self.many_to_one and fusion.aligns:
            parts["many_to_one"] = True
        return parts

    def drop_samples(self, views: Views, seed: int) -> Views:
        """The same views, with the samples missing that they lose with this seed."""
        if not self.drop:
            return views
        mask = drop_mask(len(views.matrices), views.n_samples, self.drop, seed, views.mask)
        return replace(views, mask=None if mask.all() else mask)


def drop_mask(n_views: int, n_samples: int, rate: float, seed: int, mask: BoolArray | None = None) -> BoolArray:
    """Remove samples from views at random. Every sample stays in at least one view.

    Parameters
    ----------
    n_views, n_samples : int
    rate : float
        From 0 to less than 1: each view loses each sample with this probability. A sample that all views would lose
        stays in one of them, which is drawn at random.
    seed : int
        With the same seed, a higher rate drops all samples that a lower rate drops.
    mask : ndarray of bool of shape (n_views, n_samples), optional
        Which view has which sample before any is dropped; by default every view has every sample.

    Returns
    -------
    ndarray of bool of shape (n_views, n_samples)
        A mask for :meth:`anchor_align.AlignedClusterer.fit`. Runs of a study call this function with their own seed.

    Examples
    --------
    >>> mask = drop_mask(3, 1000, 0.3, seed=0)
    >>> round(float(mask.mean()), 1), bool(mask.any(axis=0).all())
    (0.7, True)
    """
    rate = _check_rate(rate)
    given = {"n_views": n_views, "n_samples": n_samples}
    shape = tuple(check_whole_number(name, n, least=1, most=MOST_SAMPLES) for name, n in given.items())
    rng = np.random.default_rng([check_whole_number("seed", seed, least=0), _STREAM])
    drawn = rng.random(shape)
    before = check_mask(mask, shape[0], shape[1])
    kept = before & (drawn >= rate)
    # A sample that all views lose stays in the view with the largest draw: each view has the same chance.
    last = np.where(before, drawn, -1.0).argmax(axis=0)
    lost = np.flatnonzero(~kept.any(axis=0))
    kept[last[lost], lost] = True
    return np.asarray(kept & before)


def _check_rate(rate: object) -> float:
    value = check_number("drop", rate)
    if not 0 <= value < 1:
        raise InputError(f"drop must be a number >= 0 and < 1, got {shown(rate)}.")
    return value


def anchors_text(n_anchors: Anchors) -> str:
    """Number of anchors, or numbers with commas as the command line takes them; "auto" if the adapter finds it."""
    if isinstance(n_anchors, tuple):
        return ",".join(map(str, n_anchors))
    return "auto" if n_anchors is None else str(n_anchors)
