"""Values that no function expects: of the wrong type, size or shape, not finite, or of an unusual layout."""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from anchor_align.arrays import is_sparse

Rng = np.random.Generator


class Odd:
    """An object without any method that a caller could use. The class can be called, as callbacks can."""

    def __init__(self, *_: Any) -> None:
        pass


def _recursive() -> Any:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def _do_nothing(*_: Any) -> None:
    pass


# Whole numbers that ask for too much work where they are accepted.
LARGE: list[Callable[[], Any]] = [lambda: 10**9, lambda: 2**63, lambda: 10**400, lambda: np.uint64(2**64 - 1)]
JUNK: list[Callable[[], Any]] = [
    lambda: None, lambda: True, lambda: np.False_, lambda: "", lambda: "text", lambda: b"bytes", lambda: -1, lambda: 0,
    lambda: 1, lambda: 2, lambda: 0.5, lambda: -0.0, lambda: 1e308, lambda: 5e-324, lambda: float("nan"),
    lambda: float("inf"), lambda: -float("inf"), lambda: 1j, lambda: np.int8(1), lambda: np.float32(2.5),
    lambda: np.float16(1.0), lambda: np.longdouble(0.1), lambda: np.array(3), lambda: np.array(0.5),
    lambda: np.array([]), lambda: np.array("a"), lambda: np.array(None), lambda: np.array([1, "a", None], dtype=object),
    lambda: np.array([1]), lambda: np.zeros((0, 0)), lambda: np.zeros((2, 0)), lambda: np.zeros((0, 3)),
    lambda: np.zeros((2, 2, 2)), lambda: np.array([["a", "b"]]), lambda: np.zeros(2, dtype=[("x", "f8")]),
    lambda: np.array(["2020"], dtype="M8[D]"), lambda: [], lambda: [[]], lambda: [[], []],
    lambda: [[1.0, 2.0], [3.0]], lambda: [None], lambda: ["a", "b"], lambda: (), lambda: {}, lambda: {"a": None},
    lambda: {1: 2}, lambda: set(), lambda: {1, 2}, Odd, lambda: Odd, lambda: _do_nothing, _recursive, lambda: range(3),
    lambda: iter(()), lambda: (each for each in ([1.0], [2.0])), lambda: slice(2), lambda: fractions.Fraction(1, 3),
    lambda: decimal.Decimal("0.1"), lambda: datetime.date(2020, 1, 1), lambda: ..., lambda: pd.NA, lambda: pd.NaT,
    lambda: pd.Series([1.0, 2.0]), lambda: pd.DataFrame({"a": ["x", "y"]}), lambda: pd.DataFrame(),
    lambda: np.ma.masked_array([[1.0, 2.0]], [[True, False]]), lambda: np.ma.masked,
    lambda: sp.csr_array(np.zeros((2, 3))), lambda: sp.coo_array(np.ones((2, 2))), lambda: memoryview(b"ab"),
    lambda: "\x00", lambda: "\u202eabc\x1b[31m", lambda: "a" * 10_000, lambda: "\ud800", lambda: NotImplemented,
    lambda: Exception("x"), lambda: -(10**5000),
]  # fmt: skip


def spoil(rng: Rng, given: Any, *, costly: bool = False) -> Any:
    """Something else in place of a value: junk, or the value with a fault."""
    if rng.random() < 0.5:
        if isinstance(given, np.ndarray) and given.dtype.kind in "fiub":
            return spoil_array(rng, given)
        if is_sparse(given):
            return spoil_sparse(rng, given.tocsr())
        if isinstance(given, list) and given:
            return _spoil_list(rng, given, costly)
    known = JUNK if costly else JUNK + LARGE
    return known[int(rng.integers(len(known)))]()


def _spoil_list(rng: Rng, given: list[Any], costly: bool) -> Any:
    at = int(rng.integers(len(given)))
    match int(rng.integers(6)):
        case 0:
            return given[:at] + given[at + 1 :]
        case 1:
            return [*given, given[at]]
        case 2:
            return tuple(given)
        case 3:
            return [given]
        case _:
            return [*given[:at], spoil(rng, given[at], costly=costly), *given[at + 1 :]]


def spoil_array(rng: Rng, given: np.ndarray) -> Any:
    """An array with a fault, or in a layout that few programs make."""
    floats = given.astype(np.float64)
    faults: list[Callable[[], Any]] = [
        lambda: _with_value(rng, floats), lambda: floats[..., None], lambda: floats.T, lambda: floats[:-1],
        lambda: floats[..., :-1], lambda: floats[:0], lambda: floats[..., :0], lambda: floats.ravel(),
        lambda: floats.astype(complex), lambda: floats.astype(object), lambda: floats.astype(str),
        lambda: floats.astype(bool), lambda: floats.astype(">f8"), lambda: np.asfortranarray(floats),
        lambda: floats[::-1], lambda: floats.astype(np.longdouble), lambda: -floats, lambda: floats * 0.0,
        lambda: floats * 1e300, lambda: floats * 1e-300, lambda: floats * 1e155, lambda: floats * 1e-160,
        lambda: np.ma.masked_less(floats, np.median(floats) if floats.size else 0.0), lambda: floats.tolist(),
        lambda: pd.DataFrame(floats) if floats.ndim == 2 else pd.Series(floats.ravel()), lambda: _read_only(floats),
        lambda: sp.coo_array(floats) if floats.ndim == 2 else floats, lambda: np.broadcast_to(floats[:1], floats.shape),
        lambda: floats.astype(np.float32) * np.float32(1e38), lambda: floats.astype(np.float16),
        lambda: np.full(floats.shape, 2**63, dtype=np.uint64), lambda: np.full(floats.shape, -(2**63), dtype=np.int64),
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        return faults[int(rng.integers(len(faults)))]()


def _with_value(rng: Rng, array: np.ndarray) -> np.ndarray:
    if array.size:
        array.ravel()[int(rng.integers(array.size))] = rng.choice(
            [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e200, 5e-324]
        )
    return array


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def spoil_sparse(rng: Rng, given: Any) -> Any:
    """A sparse array of another format, or with entries that no program should make."""
    made = given.copy()
    match int(rng.integers(9)):
        case 0:
            return made.asformat(str(rng.choice(["coo", "csc", "bsr", "dia", "dok", "lil"])))
        case 1:
            return sp.csr_matrix(made)
        case 2 if made.nnz:
            made.indices[int(rng.integers(made.nnz))] = rng.choice([-1, 10**6, made.shape[1]])
        case 3:
            made.indptr[int(rng.integers(len(made.indptr)))] = rng.choice([-5, 10**6, 0])
        case 4 if made.nnz:
            made.data[int(rng.integers(made.nnz))] = rng.choice([np.nan, np.inf, 1e308])
        case 5 if made.nnz > 1:
            made.indices[:] = made.indices[0]  # the same entry several times
        case 6:
            return sp.csr_array((made.data.astype(complex), made.indices, made.indptr), made.shape)
        case 7:
            made.indices = made.indices[::-1].copy()
    return made
