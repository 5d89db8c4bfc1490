"""Scaling of views, dense and sparse alike: a sparse view is never filled by subtracting its means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from anchor_align import InputError
from anchor_align.errors import unknown_name

from ._types import FloatArray, is_sparse

# Largest absolute values that can be squared and added up.
SMALLEST, LARGEST = 1e-100, 1e100
SCALES = ("spread", "standard", "unit", "max", None)


@dataclass(frozen=True, eq=False)
class ScaledView:
    """The scaled view ``matrix - shift``; the means of a sparse view are subtracted in products only.

    Attributes
    ----------
    matrix : ndarray or csr_array of shape (n_samples, n_features)
    shift : ndarray of shape (n_features,)
        Zero for a dense view, whose means are subtracted already.
    """

    matrix: Any
    shift: FloatArray

    def times(self, B: FloatArray) -> FloatArray:
        """Product of the view with a features x p matrix."""
        return np.asarray(self.matrix @ B - self.shift @ B)

    def weighted_sums(self, Z: FloatArray) -> FloatArray:
        """Z' times the view, for a samples x p matrix Z."""
        return np.asarray((self.matrix.T @ Z).T - np.outer(Z.sum(axis=0), self.shift))

    def square_norm(self) -> float:
        """Sum of all squared entries."""
        if not is_sparse(self.matrix):
            return float(np.vdot(self.matrix, self.matrix))
        n = self.matrix.shape[0]
        sums = np.asarray(self.matrix.sum(axis=0)).ravel()
        squares = float(np.vdot(self.matrix.data, self.matrix.data))
        return squares + float(n * (self.shift @ self.shift) - 2.0 * (self.shift @ sums))


@dataclass(frozen=True, eq=False)
class Scaler:
    """What was learned from a view; scales other samples of it in the same way.

    Attributes
    ----------
    centre : ndarray of shape (n_features,) or None
    divisor : ndarray of shape (n_features,) or (1,), or None
    unit : bool
        Whether samples are scaled, each on its own.
    """

    centre: FloatArray | None = None
    divisor: FloatArray | None = None
    unit: bool = False

    def __call__(self, X: Any) -> ScaledView:
        """Scale a view."""
        if self.unit:
            return ScaledView(_unit_rows(X), np.zeros(X.shape[1]))
        if is_sparse(X):
            centre = np.zeros(X.shape[1]) if self.centre is None else self.centre
            if self.divisor is None:
                return ScaledView(X, centre)
            divisors = np.broadcast_to(self.divisor, X.shape[1])[X.indices].astype(X.dtype)
            return ScaledView(sp.csr_array((X.data / divisors, X.indices, X.indptr), X.shape), centre / self.divisor)
        if self.centre is not None:
            X = X - self.centre.astype(X.dtype)
        if self.divisor is not None:
            X = X / self.divisor.astype(X.dtype)
        return ScaledView(X, np.zeros(X.shape[1], dtype=X.dtype))


def learn_scaler(X: Any, scale: str | None) -> Scaler:
    """Learn how to scale a view.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    scale : {"spread", "standard", "unit", "max", None}
        "spread": the view divided by the root mean square standard deviation of its features. "standard": every feature
        to mean 0 and standard deviation 1, constant features to 0. "unit": every sample to a mean square of 1, samples
        that are all zero stay so. "max": the view divided by its largest absolute entry. None: as it is.
    """
    if scale is None:
        return Scaler()
    if not isinstance(scale, str) or scale not in SCALES:
        raise unknown_name("scale", scale, [name for name in SCALES if name])
    if scale == "unit":
        return Scaler(unit=True)
    if scale == "max":
        entries = X.data if is_sparse(X) else X
        return Scaler(divisor=_divisor(np.abs(entries).max(initial=0.0, keepdims=True).reshape(1)))
    mean, spread = _moments(X)
    if scale == "spread":
        return Scaler(divisor=_divisor(np.sqrt(np.mean(spread**2, keepdims=True))))
    return Scaler(mean, np.where(spread > 0, spread, np.inf))


def _unit_rows(X: Any) -> Any:
    """Rows divided by their root mean square, in two steps lest squares overflow or vanish."""
    if is_sparse(X):
        lengths = np.diff(X.indptr)
        largest = np.asarray(abs(X).max(axis=1).toarray(), dtype=np.float64).ravel()
        entries = X.data / np.repeat(_divisor(largest), lengths)
        squares = np.bincount(np.repeat(np.arange(X.shape[0]), lengths), entries**2, X.shape[0]) / X.shape[1]
        entries = (entries / np.repeat(_divisor(np.sqrt(squares)), lengths)).astype(X.dtype)
        return sp.csr_array((entries, X.indices, X.indptr), X.shape)
    largest = _divisor(np.abs(X).max(axis=1, keepdims=True)).astype(X.dtype)
    X = X / largest
    X /= _divisor(np.sqrt(np.mean(X**2, axis=1, keepdims=True))).astype(X.dtype)
    return X


def _divisor(size: FloatArray) -> FloatArray:
    """What has no extent is divided by one."""
    return np.where(size > 0, size, 1.0)


def _moments(X: Any) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of every feature; spread that is rounding noise only counts as none."""
    if is_sparse(X):
        mean, variance = mean_variance_axis(sp.csr_matrix(X, dtype=np.float64), axis=0)
        spread = np.sqrt(variance)
        low, high = (np.asarray(edge.toarray()).ravel() for edge in (X.min(axis=0), X.max(axis=0)))
    else:
        mean = X.mean(axis=0, dtype=np.float64)
        spread = X.std(axis=0, dtype=np.float64)
        low, high = X.min(axis=0), X.max(axis=0)
    noise = 8.0 * np.finfo(X.dtype).eps * np.maximum(np.abs(low), np.abs(high))
    return mean, np.where((low < high) & (spread > noise), spread, 0.0)


def scale_views(views: Any, scale: str | None) -> tuple[list[ScaledView], list[Scaler]]:
    """Scale all views, each on its own; the scalers do the same to other samples."""
    for view, X in enumerate(views):
        _check_size(X, view)
    scalers = [learn_scaler(X, scale) for X in views]
    return apply_scalers(views, scalers), scalers


def apply_scalers(views: Any, scalers: list[Scaler]) -> list[ScaledView]:
    """Scale views as learned."""
    return [scaler(X) for scaler, X in zip(scalers, views, strict=True)]


def _check_size(X: Any, view: int) -> None:
    """Squares of the largest entry, and their sums, must neither overflow nor vanish."""
    largest = float(np.abs(X.data if is_sparse(X) else X).max(initial=0.0))
    if largest and not SMALLEST <= largest <= LARGEST:
        raise InputError(
            f"View {view}'s largest absolute value is {largest:.1e}; expected {SMALLEST:g} to {LARGEST:g}. "
            "Multiply the view by a constant."
        )
