"""Products of anchor graphs with each other, summed over blocks of samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, Graph, is_sparse
from ..blocks import block_rows, map_rows
from ._graph_sets import GraphSet
from ._missing import PairSums, column_sums, pair_sums


@dataclass(frozen=True, eq=False)
class GramSums:
    """Sums over rows; ``+`` adds the sums of other rows."""

    matrix: FloatArray
    sums: FloatArray
    pairs: PairSums | None

    def __add__(self, other: GramSums) -> GramSums:
        with np.errstate(over="ignore", invalid="ignore"):
            matrix, sums = self.matrix + other.matrix, self.sums + other.sums
        pairs = None if self.pairs is None or other.pairs is None else self.pairs + other.pairs
        return GramSums(matrix, sums, pairs)


def sum_products(graphs: GraphSet, callback: Callable[[int, int], object] | None = None) -> GramSums:
    n, total = graphs.n_samples, sum(graphs.sizes)
    width = max(graphs.width, total // 4)
    done = 0

    def multiply(rows: slice) -> GramSums:
        blocks, present = graphs.block(rows), graphs.present(rows)
        joined = _side_by_side(blocks)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.concatenate([column_sums(Z) for Z in joined])
        return GramSums(_multiplied(joined), sums, None if present is None else pair_sums(blocks, present))

    products: GramSums | None = None
    for part in map_rows(multiply, n, width=width):
        products = part if products is None else products + part
        done = min(done + block_rows(width), n)
        if callback is not None:
            callback(done, n)
    assert products is not None
    return products


def count_entries(graphs: GraphSet, view: int) -> int:
    def count(rows: slice) -> int:
        Z = graphs.block(rows)[view]
        return int(np.count_nonzero(Z.data if is_sparse(Z) else Z))

    return sum(map_rows(count, graphs.n_samples, width=graphs.width))


def block_products(blocks: list[Graph]) -> FloatArray:
    """Products of all graphs' rows with each other, in double precision: float32 loses digits in long sums."""
    return _multiplied(_side_by_side(blocks))


def _side_by_side(blocks: list[Graph]) -> list[Graph]:
    dense = [Z for Z in blocks if not is_sparse(Z)]
    if len(dense) < len(blocks):
        return [Z.astype(np.float64, copy=False) for Z in blocks]
    return [np.concatenate(dense, axis=1, dtype=np.float64)]


def _multiplied(blocks: list[Graph]) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        if len(blocks) == 1 and not is_sparse(blocks[0]):
            return np.asarray(blocks[0].T @ blocks[0])
        edges = np.cumsum([0, *(Z.shape[1] for Z in blocks)])
        products = np.empty((edges[-1], edges[-1]))
        for u, v in itertools.combinations_with_replacement(range(len(blocks)), 2):
            product = blocks[u].T @ blocks[v]
            product = product.toarray() if is_sparse(product) else product
            products[edges[u] : edges[u + 1], edges[v] : edges[v + 1]] = product
            products[edges[v] : edges[v + 1], edges[u] : edges[u + 1]] = product.T
        return products
