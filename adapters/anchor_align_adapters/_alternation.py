"""FMVACC's anchors: orthogonal anchors and rows on the simplex, by alternation (the paper's Algorithm 1).

For one view X (samples x features) with m anchors A and graph Z the paper minimises

    |X - Z A|^2 + beta |Z|^2,   A A' = I,   Z >= 0,   Z 1 = 1,

each of A and Z in turn: A from the singular vectors of Z' X, Z by projecting the rows of X A' / (1 + beta) on the
simplex. With more anchors than features A cannot be orthogonal; it is then the least-squares solution, and the update
of Z is a projected gradient step, which cannot raise the objective either.

A round is one pass over the samples. Of each block it makes the product with A, the graph's rows and their product with
the block, from which the next A follows: the block is read once for both products. The graph of orthogonal anchors
depends on them alone and is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from anchor_align import simplex_least_squares
from anchor_align.blocks import (
    Parts,
    Products,
    RowSource,
    empty,
    map_rows,
    project_columns,
    read_rows,
    run_rows,
    scaled_rows,
    weighted_rows,
    weighted_sums,
    write_rows,
)

from ._types import FloatArray

# Pull of the anchors before, relative to what the samples say: enough to outweigh rounding.
INERTIA = 1e-3


@dataclass(frozen=True)
class Settings:
    """Checked parameters of the alternation."""

    beta: float
    orthogonal: bool
    max_iter: int
    tol: float

    def is_orthogonal(self, A: FloatArray) -> bool:
        """Whether the rows of A are orthonormal; there is no room for more of them than features."""
        return self.orthogonal and A.shape[0] <= A.shape[1]


@dataclass(frozen=True, eq=False)
class Alternated:
    """Anchors that the alternation ended with, and the objective after every round."""

    anchors: FloatArray
    history: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Sums:
    """What a round needs of the graph: Z' X, the column sums of Z, Z' Z, and the trace of Z A X'.

    Orthogonal anchors need the trace of Z' Z only, which is then all that ``gram`` holds.
    """

    products: FloatArray
    weights: FloatArray
    gram: FloatArray
    cross: float

    def __add__(self, other: Sums) -> Sums:
        """Of the samples of both."""
        return Sums(
            self.products + other.products,
            self.weights + other.weights,
            self.gram + other.gram,
            self.cross + other.cross,
        )


def alternate(X: RowSource, start: FloatArray, settings: Settings, *, warm: bool = False) -> Alternated:
    """Update anchors and graph in turn; the objective never rises.

    ``warm`` says that the first anchors come from the alternation with another beta, and not from k-means.
    """
    kind = OrthogonalAnchors if settings.is_orthogonal(start) else FreeAnchors
    model = kind(X, settings.beta)
    square_norm = X.stats().square_norm
    A = start
    sums = model.next_graph(A) if warm and isinstance(model, OrthogonalAnchors) else model.first_graph(A)
    history: list[float] = []
    for _ in range(settings.max_iter):
        before, A = A, model.next_anchors(sums, A)
        sums = model.next_graph(A)
        value = square_norm - 2.0 * sums.cross + model.square_size(sums, A)
        if history and value > history[-1]:  # by rounding: anchors that can hardly be told apart
            A = before
            break
        history.append(value)
        if len(history) > 1 and history[-2] - value <= settings.tol * abs(value):
            break
    return Alternated(A, tuple(history))


def best_graph(X: RowSource, A: FloatArray, settings: Settings) -> npt.NDArray[Any]:
    """The graph that minimises the objective for given anchors."""
    if not settings.is_orthogonal(A):
        rows, shift = scaled_rows(X, slice(None))
        return simplex_least_squares(rows, A + shift, settings.beta)
    Z = np.empty((X.shape[0], len(A)), dtype=X.dtype)
    products = Products(X, A / (1.0 + settings.beta))

    def project(rows: slice) -> None:
        Z[rows] = project_columns(products.of(X.block(rows)).astype(np.float64)).T

    run_rows(project, len(Z), width=X.shape[1] + 2 * len(A))
    return Z


class OrthogonalAnchors:
    """Orthonormal anchors; each sample's weights are the projection of its products with them."""

    def __init__(self, X: RowSource, beta: float) -> None:
        self._parts = X.parts()
        self._beta = beta

    def first_graph(self, A: FloatArray) -> Sums:
        """Sums of the graph that k-means anchors give."""
        return self._sums(A, 1.0)

    def next_graph(self, A: FloatArray) -> Sums:
        """Sums of the best graph for the anchors."""
        return self._sums(A, 1.0 + self._beta)

    def next_anchors(self, sums: Sums, A: FloatArray) -> FloatArray:
        """The best anchors for the graph.

        Directions that the sums leave open, those of anchors without samples for one, stay near where they were;
        rounding would choose them otherwise.
        """
        stay = INERTIA * np.linalg.norm(sums.products) / max(float(np.linalg.norm(A)), np.finfo(float).tiny)
        left, _, right = np.linalg.svd(sums.products + stay * A, full_matrices=False)
        return np.asarray(left @ right)

    def square_size(self, sums: Sums, A: FloatArray) -> float:
        """|Z A|^2 + beta |Z|^2."""
        return float((1.0 + self._beta) * sums.gram)

    def _sums(self, A: FloatArray, divisor: float) -> Sums:
        sums: Sums = self._parts.total(_orthogonal_sums, A, divisor)
        return sums


def _orthogonal_sums(X: RowSource, A: FloatArray, divisor: float) -> Sums:
    """Sums of the graph whose rows are projected products with the anchors, over the divisor."""
    products = Products(X, A / divisor)

    def of_block(rows: slice) -> Sums:
        block = X.block(rows)
        Y = products.of(block).astype(np.float64, copy=False)
        Z = project_columns(Y)
        return _sums_of(Z, Y, block, np.asarray(np.vdot(Z, Z)), divisor)

    return _total(X, of_block, X.shape[1] + 3 * len(A))


class FreeAnchors:
    """Anchors by least squares; each sample's weights take a projected gradient step, so the graph has to be kept."""

    def __init__(self, X: RowSource, beta: float) -> None:
        self._parts = X.parts()
        self._beta = beta
        self._graph = self._parts

    def first_graph(self, A: FloatArray) -> Sums:
        """Keep the graph that k-means anchors give."""
        return self._keep(self._parts.map(_first_step, A))

    def next_graph(self, A: FloatArray) -> Sums:
        """Keep a graph that is better for the anchors, if there is one."""
        return self._keep(self._parts.zip(self._graph).map(_next_step, A, self._beta))

    def next_anchors(self, sums: Sums, A: FloatArray) -> FloatArray:
        """The best anchors for the graph."""
        return np.asarray(np.linalg.pinv(sums.gram, hermitian=True) @ sums.products)

    def square_size(self, sums: Sums, A: FloatArray) -> float:
        """|Z A|^2 + beta |Z|^2."""
        return float(np.vdot(sums.gram, A @ A.T) + self._beta * np.trace(sums.gram))

    def _keep(self, steps: Parts) -> Sums:
        self._graph = steps.keep()
        sums: Sums = self._graph.total(_sums_of_step)
        return sums


@dataclass(frozen=True, eq=False)
class Step:
    """The graph of some samples, and its sums."""

    graph: npt.NDArray[Any]
    sums: Sums


def _first_step(X: RowSource, A: FloatArray) -> Step:
    """Projected products with the anchors."""
    return _step(X, A, lambda products, _: products)


def _next_step(item: tuple[RowSource, Step], A: FloatArray, beta: float) -> Step:
    """A projected gradient step from the graph before."""
    X, before = item
    gram = A @ A.T
    curvature = float(np.linalg.eigvalsh(gram)[-1]) + beta

    def target(products: FloatArray, rows: slice) -> FloatArray:
        Z = np.ascontiguousarray(read_rows(before.graph, rows).T, dtype=np.float64)
        return np.asarray(Z - (gram @ Z + beta * Z - products) / curvature) if curvature else Z

    return _step(X, A, target)


def _step(X: RowSource, A: FloatArray, target: Callable[[FloatArray, slice], FloatArray]) -> Step:
    """Graph of the projections of what ``target`` makes of the products with the anchors."""
    products = Products(X, A)
    graph = empty((X.shape[0], len(A)), X.dtype)

    def of_block(rows: slice) -> Sums:
        block = X.block(rows)
        Y = products.of(block).astype(np.float64, copy=False)
        Z = project_columns(target(Y, rows))
        write_rows(graph, rows, Z.T)
        return _sums_of(Z, Y, block, Z @ Z.T, 1.0)

    return Step(graph, _total(X, of_block, X.shape[1] + 4 * len(A)))


def _sums_of_step(step: Step) -> Sums:
    return step.sums


def _sums_of(Z: FloatArray, Y: FloatArray, block: Any, gram: FloatArray, divisor: float) -> Sums:
    """Sums of one block; Y holds the products of the samples with the anchors, over the divisor."""
    products = weighted_sums(Z.astype(block.dtype, copy=False), block)
    return Sums(products, Z.sum(axis=1), gram, divisor * float(np.vdot(Z, Y)))


def _total(X: RowSource, of_block: Callable[[slice], Sums], width: int) -> Sums:
    """Sums over all blocks, with the samples scaled."""
    parts: Iterable[Sums] = map_rows(of_block, X.shape[0], width=width)
    total = reduce(add, parts)
    return Sums(weighted_rows(X, total.products, total.weights), total.weights, total.gram, total.cross)
