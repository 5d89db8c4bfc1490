"""Scaling of views: learned in one pass over the rows, done on the way to whoever needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align import InputError
from anchor_align.blocks import ColumnStats, ScaledRows, is_dask, joined, scaled_rows, view_rows
from anchor_align.errors import unknown_name

from ._types import FloatArray, IndexArray, is_sparse

# Largest absolute values that can be squared and added up.
SMALLEST, LARGEST = 1e-100, 1e100
# The same in single precision, with room for sums over features and samples.
SINGLE = 1e-12, 1e12
SCALES = ("spread", "standard", "unit", "max", None)


@dataclass(frozen=True, eq=False)
class Scaler:
    """What was learned from a view; scales other samples of it in the same way.

    Attributes
    ----------
    centre, divisor : ndarray of shape (n_features,) or None
    unit : bool
        Whether samples are scaled, each on its own.
    known : ColumnStats or None
        Of the view that was learned from.
    double : bool
        Whether blocks are worked on in double precision, because single precision cannot hold their squares.
    """

    centre: FloatArray | None = None
    divisor: FloatArray | None = None
    unit: bool = False
    known: ColumnStats | None = None
    double: bool = False

    def __call__(self, X: Any) -> ScaledRows:
        """Scale a view."""
        return view_rows(X, self.centre, self.divisor, self.unit, self.known, self.double)


def learn_scaler(X: Any, scale: str | None, view: int = 0) -> Scaler:
    """Learn how to scale a view.

    Parameters
    ----------
    X : ndarray, csr_array or Dask array of shape (n_samples, n_features)
    scale : {"spread", "standard", "unit", "max", None}
        "spread": the view divided by the root mean square standard deviation of its features. "standard": every feature
        to mean 0 and standard deviation 1, constant features to 0. "unit": every sample to a mean square of 1, samples
        that are all zero stay so. "max": the view divided by its largest absolute entry. None: as it is.
    view : int, default=0
        For the message if the numbers cannot be used.
    """
    if scale is not None and (not isinstance(scale, str) or scale not in SCALES):
        raise unknown_name("scale", scale, [name for name in SCALES if name])
    raw = view_rows(X)
    stats = raw.stats()
    _check_size(stats, view)
    least, most = SINGLE
    double = bool(stats.largest) and not least <= stats.largest <= most
    if scale == "unit":
        return Scaler(unit=True, double=double)
    if scale == "standard":
        spread = _spread(stats, raw.dtype)
        return Scaler(stats.mean, np.where(spread > 0, spread, np.inf), known=stats, double=double)
    divisor = None
    if scale == "max":
        divisor = stats.largest
    elif scale == "spread":
        divisor = float(np.sqrt(np.mean(_spread(stats, raw.dtype) ** 2)))
    return Scaler(divisor=np.full(X.shape[1], divisor) if divisor else None, known=stats, double=double)


def _spread(stats: ColumnStats, dtype: np.dtype[Any]) -> FloatArray:
    """Standard deviation of every feature; spread that is rounding noise only counts as none."""
    spread = np.sqrt(stats.variance)
    noise = 8.0 * np.finfo(dtype).eps * np.maximum(np.abs(stats.low), np.abs(stats.high))
    return np.where((stats.low < stats.high) & (spread > noise), spread, 0.0)


def scale_views(views: Sequence[Any], scale: str | None) -> tuple[list[ScaledRows], list[Scaler]]:
    """Scale all views, each on its own; the scalers do the same to other samples."""
    scalers = [learn_scaler(X, scale, view) for view, X in enumerate(views)]
    return apply_scalers(views, scalers), scalers


def apply_scalers(views: Sequence[Any], scalers: Sequence[Scaler]) -> list[ScaledRows]:
    """Scale views as learned."""
    return [scaler(X) for scaler, X in zip(scalers, views, strict=True)]


def _check_size(stats: ColumnStats, view: int) -> None:
    """Squares of the largest entry, and their sums, must neither overflow nor vanish."""
    if stats.largest and not SMALLEST <= stats.largest <= LARGEST:
        raise InputError(
            f"View {view}'s largest absolute value is {stats.largest:.1e}; expected {SMALLEST:g} to {LARGEST:g}. "
            "Multiply the view by a constant."
        )


class _SideBySide:
    """Dense views next to each other, a block of rows at a time."""

    def __init__(self, views: Sequence[ScaledRows]) -> None:
        self._views = views
        self.shape = views[0].shape[0], sum(X.shape[1] for X in views)
        self.dtype = np.result_type(*(X.dtype for X in views))

    def __getitem__(self, rows: slice | IndexArray) -> Any:
        return np.hstack([scaled_rows(X, rows)[0] for X in self._views])


def side_by_side(views: Sequence[ScaledRows]) -> ScaledRows:
    """All features of all views; sparse if one view is, and then without the shift of sparse views."""
    if is_dask(views[0].array):
        kind = sp.csr_array if any(X.sparse for X in views) else np.empty
        shape, dtype = (0, sum(X.shape[1] for X in views)), np.result_type(*(X.dtype for X in views))
        parts = views[0].parts().zip(*(X.parts() for X in views[1:]))
        return view_rows(joined(parts.map(_side_by_side), kind(shape, dtype=dtype)))
    if any(X.sparse for X in views):
        return ScaledRows(_side_by_side(views))
    return ScaledRows(_SideBySide(views))


def _side_by_side(views: Sequence[ScaledRows]) -> Any:
    rows = [scaled_rows(X, slice(None))[0] for X in views]
    return sp.hstack(rows, format="csr") if any(map(is_sparse, rows)) else np.hstack(rows)
