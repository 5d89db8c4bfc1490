"""FMVACC's anchors: orthogonal anchors and rows on the simplex, by alternation (the paper's Algorithm 1).

For one view X (samples x features) with m anchors A and graph Z the paper minimises

    |X - Z A|^2 + beta |Z|^2,   A A' = I,   Z >= 0,   Z 1 = 1,

over A and Z in turn: A from the singular vectors of Z' X, Z by projection of the rows of X A' / (1 + beta) on the
simplex. With more anchors than features A cannot be orthogonal. It is then the least-squares solution, and the update
of Z is a projected gradient step, which cannot raise the objective either.

A round is one pass over the samples. For each block it computes the product with A, the rows of the graph and their
product with the block, which gives the next A: the block is read once for both products. The graph of orthogonal
anchors depends only on them and is not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from anchor_align import simplex_least_squares
from anchor_align.arrays import FloatArray
from anchor_align.blocks import (
    Parts,
    Products,
    ScaledRows,
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

INERTIA = 1e-3  # weight of the previous anchors, relative to the samples: enough to outweigh rounding


@dataclass(frozen=True)
class Settings:
    """Checked parameters of the alternation."""

    beta: float
    orthogonal: bool
    max_iter: int
    tol: float

    def is_orthogonal(self, A: FloatArray) -> bool:
        """Whether the rows of A are orthonormal, which needs at least as many features as anchors."""
        return self.orthogonal and A.shape[0] <= A.shape[1]


@dataclass(frozen=True, eq=False)
class Alternated:
    """The last anchors of the alternation, and the objective after every round."""

    anchors: FloatArray
    history: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class GraphSums:
    """Sums of a graph for one round: Z' X, column sums of Z, Z' Z (orthogonal anchors: its trace), trace of Z A X'."""

    products: FloatArray
    weights: FloatArray
    gram: FloatArray
    cross: float

    def __add__(self, other: GraphSums) -> GraphSums:
        return GraphSums(
            self.products + other.products,
            self.weights + other.weights,
            self.gram + other.gram,
            self.cross + other.cross,
        )


def alternate(X: ScaledRows, start: FloatArray, settings: Settings, *, warm: bool = False) -> Alternated:
    """Update anchors and graph in turn; the objective never rises.

    ``warm`` is True if the first anchors come from an alternation with another beta, not from k-means.
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
        if history and value > history[-1]:  # by rounding: the anchors hardly differ
            A = before
            break
        history.append(value)
        if len(history) > 1 and history[-2] - value <= settings.tol * abs(value):
            break
    return Alternated(A, tuple(history))


def best_graph(X: ScaledRows, A: FloatArray, settings: Settings) -> npt.NDArray[Any]:
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

    def __init__(self, X: ScaledRows, beta: float) -> None:
        self._parts = X.parts()
        self._beta = beta

    def first_graph(self, A: FloatArray) -> GraphSums:
        return self._sums(A, 1.0)

    def next_graph(self, A: FloatArray) -> GraphSums:
        return self._sums(A, 1.0 + self._beta)

    def next_anchors(self, sums: GraphSums, A: FloatArray) -> FloatArray:
        """The best anchors for the graph.

        Directions that the sums do not determine, for example of anchors without samples, stay near their old value;
        otherwise rounding would choose them.
        """
        stay = INERTIA * np.linalg.norm(sums.products) / max(float(np.linalg.norm(A)), np.finfo(float).tiny)
        left, _, right = np.linalg.svd(sums.products + stay * A, full_matrices=False)
        return np.asarray(left @ right)

    def square_size(self, sums: GraphSums, A: FloatArray) -> float:
        return float((1.0 + self._beta) * sums.gram)

    def _sums(self, A: FloatArray, divisor: float) -> GraphSums:
        sums: GraphSums = self._parts.total(_orthogonal_sums, A, divisor)
        return sums


def _orthogonal_sums(X: ScaledRows, A: FloatArray, divisor: float) -> GraphSums:
    """Sums of the graph whose rows are the projected products with the anchors, over the divisor."""
    products = Products(X, A / divisor)

    def of_block(rows: slice) -> GraphSums:
        block = X.block(rows)
        Y = products.of(block).astype(np.float64, copy=False)
        Z = project_columns(Y)
        return _sums_of(Z, Y, block, np.asarray(np.vdot(Z, Z)), divisor)

    return _total(X, of_block, X.shape[1] + 3 * len(A))


class FreeAnchors:
    """Anchors by least squares. Weights of samples take a projected gradient step, so the graph is kept."""

    def __init__(self, X: ScaledRows, beta: float) -> None:
        self._parts = X.parts()
        self._beta = beta
        self._graph = self._parts
        self._rounding = float(np.finfo(X.dtype).eps ** 0.5)  # half of the digits

    def first_graph(self, A: FloatArray) -> GraphSums:
        return self._keep(self._parts.map(_first_step, A))

    def next_graph(self, A: FloatArray) -> GraphSums:
        """Keep the graph after a projected gradient step."""
        return self._keep(self._parts.zip(self._graph).map(_next_step, A, self._beta))

    def next_anchors(self, sums: GraphSums, A: FloatArray) -> FloatArray:
        """The shortest of the best anchors for the graph, in the directions that the sums determine.

        The paper's code keeps all directions above rounding. What it finds in the smallest ones has hardly a correct
        digit, and the rounds enlarge the rest, so that other anchors would be found on another processor.
        """
        return np.asarray(np.linalg.pinv(sums.gram, rcond=self._rounding, hermitian=True) @ sums.products)

    def square_size(self, sums: GraphSums, A: FloatArray) -> float:
        """|Z A|^2 + beta |Z|^2."""
        return float(np.vdot(sums.gram, A @ A.T) + self._beta * np.trace(sums.gram))

    def _keep(self, steps: Parts) -> GraphSums:
        self._graph = steps.keep()
        sums: GraphSums = self._graph.total(GraphStep.get_sums)
        return sums


@dataclass(frozen=True, eq=False)
class GraphStep:
    """The graph of some samples, and its sums."""

    graph: npt.NDArray[Any]
    sums: GraphSums

    def get_sums(self) -> GraphSums:
        return self.sums


def _first_step(X: ScaledRows, A: FloatArray) -> GraphStep:
    return _step(X, A, lambda products, _: products)


def _next_step(item: tuple[ScaledRows, GraphStep], A: FloatArray, beta: float) -> GraphStep:
    X, before = item
    gram = A @ A.T
    curvature = float(np.linalg.eigvalsh(gram)[-1]) + beta

    def target(products: FloatArray, rows: slice) -> FloatArray:
        Z = np.ascontiguousarray(read_rows(before.graph, rows).T, dtype=np.float64)
        return np.asarray(Z - (gram @ Z + beta * Z - products) / curvature) if curvature else Z

    return _step(X, A, target)


def _step(X: ScaledRows, A: FloatArray, target: Callable[[FloatArray, slice], FloatArray]) -> GraphStep:
    """Graph of the projections of ``target``, a function of the products with the anchors."""
    products = Products(X, A)
    graph = empty((X.shape[0], len(A)), X.dtype)

    def of_block(rows: slice) -> GraphSums:
        block = X.block(rows)
        Y = products.of(block).astype(np.float64, copy=False)
        Z = project_columns(target(Y, rows))
        write_rows(graph, rows, Z.T)
        return _sums_of(Z, Y, block, Z @ Z.T, 1.0)

    return GraphStep(graph, _total(X, of_block, X.shape[1] + 4 * len(A)))


def _sums_of(Z: FloatArray, Y: FloatArray, block: Any, gram: FloatArray, divisor: float) -> GraphSums:
    """Sums of one block; Y has the products of the samples with the anchors, over the divisor."""
    products = weighted_sums(Z.astype(block.dtype, copy=False), block)
    return GraphSums(products, Z.sum(axis=1), gram, divisor * float(np.vdot(Z, Y)))


def _total(X: ScaledRows, of_block: Callable[[slice], GraphSums], width: int) -> GraphSums:
    """Sums over all blocks, for the scaled samples."""
    total: GraphSums = reduce(add, map_rows(of_block, X.shape[0], width=width))
    return GraphSums(weighted_rows(X, total.products, total.weights), total.weights, total.gram, total.cross)
