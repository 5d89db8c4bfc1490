"""Scaling of views: learned in one pass over the rows, applied when rows are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchor_align import InputError
from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import ColumnStats, ScaledRows, is_distributed, scaled_rows
from anchor_align.checks import check_choice
from anchor_align.errors import view_name

SMALLEST, LARGEST = 1e-100, 1e100  # largest absolute values that can be squared and added up
SINGLE = 1e-12, 1e12  # the same in single precision, with room for sums over features and samples
SCALES = ("spread", "standard", "unit", "max")


@dataclass(frozen=True, eq=False)
class Scaler:
    """The scale of a view, for other samples too. ``unit``, ``known`` and ``double`` as in ``ScaledRows``."""

    centre: FloatArray | None = None
    divisor: FloatArray | None = None
    unit: bool = False
    known: ColumnStats | None = None
    double: bool = False

    def __call__(self, X: Any) -> ScaledRows:
        return ScaledRows(X, self.centre, self.divisor, self.unit, self.known, self.double)

    def plain(self) -> dict[str, Any]:
        """The scale as numbers and arrays by name, so that a model can be saved."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Scaler:
        known = plain["known"]
        return cls(**{**plain, "known": None if known is None else ColumnStats(**known)})


def learn_scaler(X: Any, scale: str | None, view: int = 0) -> Scaler:
    """Learn the scale of a view; ``view`` is its number, for messages.

    "spread" divides the view by the root mean square standard deviation of its features. "standard" gives every feature
    mean 0 and standard deviation 1; constant features become 0. "unit" gives every sample a mean square of 1; samples
    of zeros stay zero. "max" divides the view by its largest absolute entry. None does not scale.
    """
    if scale is not None:
        check_choice("scale", scale, SCALES)
    raw = ScaledRows(X)
    stats = raw.stats()
    # Squares of the largest entry, and their sums, must neither overflow nor vanish.
    if stats.largest and not SMALLEST <= stats.largest <= LARGEST:
        raise InputError(
            f"View {view_name(view)}'s largest absolute value is {stats.largest:.1e}; "
            f"expected {SMALLEST:g} to {LARGEST:g}. Multiply the view by a constant."
        )
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
    """Standard deviation of every feature; zero if it is only rounding noise."""
    spread = np.sqrt(stats.variance)
    noise = 8.0 * np.finfo(dtype).eps * np.maximum(np.abs(stats.low), np.abs(stats.high))
    return np.where((stats.low < stats.high) & (spread > noise), spread, 0.0)


def scales_of_views(scale: Any, n_views: int) -> list[str | None]:
    """The scale of each view: one for all, or a list with one for each."""
    if not isinstance(scale, (list, tuple)):
        return [scale] * n_views
    if len(scale) != n_views:
        raise InputError(f"scale is a list of {len(scale)} for {n_views} views; expected one for each, or one for all.")
    for view, each in enumerate(scale):
        if each is not None:
            check_choice(f"scale of view {view_name(view)}:", each, SCALES)
    return list(scale)


def scale_views(views: Sequence[Any], scale: Any) -> tuple[list[ScaledRows], list[dict[str, Any]]]:
    """Scaled views, and the plain scales for other samples."""
    scales = scales_of_views(scale, len(views))
    scalers = [learn_scaler(X, each, view) for view, (X, each) in enumerate(zip(views, scales, strict=True))]
    return [scaler(X) for scaler, X in zip(scalers, views, strict=True)], [scaler.plain() for scaler in scalers]


def apply_scalers(views: Sequence[Any], scalers: Sequence[dict[str, Any]]) -> list[ScaledRows]:
    return [Scaler.from_plain(scaler)(X) for scaler, X in zip(scalers, views, strict=True)]


class _SideBySide:
    """Dense views side by side, one block of rows at a time."""

    def __init__(self, views: Sequence[ScaledRows]) -> None:
        self._views = views
        self.shape = views[0].shape[0], sum(X.shape[1] for X in views)
        self.dtype = np.result_type(*(X.dtype for X in views))

    def __getitem__(self, rows: slice | IndexArray) -> Any:
        return np.hstack([scaled_rows(X, rows)[0] for X in self._views])


def side_by_side(views: Sequence[ScaledRows]) -> ScaledRows:
    """All features of all views; sparse if one view is, and then without the shift of sparse views."""
    if is_distributed(views[0].array):
        kind = sp.csr_array if any(X.sparse for X in views) else np.empty
        shape, dtype = (0, sum(X.shape[1] for X in views)), np.result_type(*(X.dtype for X in views))
        parts = views[0].parts().zip(*(X.parts() for X in views[1:]))
        return ScaledRows(parts.map(_side_by_side).joined(kind(shape, dtype=dtype)))
    if any(X.sparse for X in views):
        return ScaledRows(_side_by_side(views))
    return ScaledRows(_SideBySide(views))


def _side_by_side(views: Sequence[ScaledRows]) -> Any:
    rows = [scaled_rows(X, slice(None))[0] for X in views]
    return sp.hstack(rows, format="csr") if any(map(is_sparse, rows)) else np.hstack(rows)
