"""Products of anchor graphs with each other, summed over the samples a block at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ._graph_rows import LocalGraphSet
from ._mapping import block_rows, map_rows
from ._observed import PairSums, column_sums, observed_rows, pair_sums
from ._types import FloatArray, Graph, is_sparse


@dataclass(frozen=True, eq=False)
class Products:
    """What is summed up over the rows; ``+`` adds other rows."""

    matrix: FloatArray
    sums: FloatArray
    pairs: PairSums | None

    def __add__(self, other: Products) -> Products:
        with np.errstate(over="ignore", invalid="ignore"):
            matrix, sums = self.matrix + other.matrix, self.sums + other.sums
        pairs = None if self.pairs is None or other.pairs is None else self.pairs + other.pairs
        return Products(matrix, sums, pairs)


def sum_products(graphs: LocalGraphSet, callback: Callable[[int, int], object] | None = None) -> Products:
    """Products of all graphs with each other, over all rows."""
    n, total = graphs.n_samples, sum(graphs.sizes)
    width = max(graphs.width, total // 4)
    done = 0

    def multiply(rows: slice) -> Products:
        blocks, seen = graphs.blocks(rows), observed_rows(graphs, rows)
        products = _products(_side_by_side(blocks))
        return products if seen is None else replace(products, pairs=pair_sums(blocks, seen))

    products: Products | None = None
    for part in map_rows(multiply, n, width=width):
        products = part if products is None else products + part
        done = min(done + block_rows(width), n)
        if callback is not None:
            callback(done, n)
    assert products is not None
    return products


def count_entries(graphs: LocalGraphSet, view: int) -> int:
    """Entries of one graph that are not zero."""

    def count(rows: slice) -> int:
        Z = graphs.blocks(rows)[view]
        return int(np.count_nonzero(Z.data if is_sparse(Z) else Z))

    return sum(map_rows(count, graphs.n_samples, width=graphs.width))


def block_products(blocks: list[Graph]) -> FloatArray:
    """Products of all graphs' rows with each other, in double precision: float32 would lose digits in long sums."""
    return _multiplied(_side_by_side(blocks))


def _side_by_side(blocks: list[Graph]) -> list[Graph]:
    """The same numbers in double precision, in one array if they are dense."""
    if any(map(is_sparse, blocks)):
        return [Z.astype(np.float64, copy=False) for Z in blocks]
    return [np.concatenate(blocks, axis=1, dtype=np.float64)]


def _products(blocks: list[Graph]) -> Products:
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.concatenate([column_sums(Z) for Z in blocks])
    return Products(_multiplied(blocks), sums, None)


def _multiplied(blocks: list[Graph]) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        if len(blocks) == 1 and not is_sparse(blocks[0]):
            return np.asarray(blocks[0].T @ blocks[0])
        return _sparse_products(blocks)


def _sparse_products(blocks: list[Graph]) -> FloatArray:
    """Products pair by pair, where some blocks are sparse."""
    edges = np.cumsum([0, *(Z.shape[1] for Z in blocks)])
    products = np.empty((edges[-1], edges[-1]))
    for u, v in itertools.combinations_with_replacement(range(len(blocks)), 2):
        product = blocks[u].T @ blocks[v]
        product = product.toarray() if is_sparse(product) else product
        products[edges[u] : edges[u + 1], edges[v] : edges[v + 1]] = product
        products[edges[v] : edges[v + 1], edges[u] : edges[u + 1]] = product.T
    return products
