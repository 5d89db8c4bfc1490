"""What adapters return, checked before anybody relies on it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._graph_rows import MadeGraphs, common_dtype
from ._mapped import read_rows
from ._mapping import map_rows
from ._observed import BoolArray, ObservedGraphs
from ._rows import view_rows
from ._types import Graph, is_sparse
from ._validation import check_finite, check_graphs
from ._views import as_floats, read_only
from .errors import AdapterError, InputError

if TYPE_CHECKING:
    from ._dask.graphs import ChunkedGraphs

# Rounding below zero, and how far rows may be from one before a view or a sample weighs more than it should.
ROUNDING = 1e-6
ROW_TOLERANCE = 0.01
MOST_NAMED = 3
ALIKE = "only rows that are >= 0 and sum to one weigh all samples and views alike"


def check_made(
    name: str,
    made: Any,
    n_samples: int,
    n_views: int,
    first: int = 0,
    *,
    same_anchors: bool = True,
    warn: bool = True,
) -> list[Graph]:
    """Graphs as they may be used: one per view, finite, as many rows as samples, mostly the same number of anchors.

    ``first`` is the number of the first sample, for messages; ``warn`` says whether to warn of rows that are no shares.
    """
    with blamed(name, "graphs that cannot be used" + (f" for samples from {first} on" if first else "")):
        graphs = [as_floats(Z) for Z in check_graphs(made, same_anchors=same_anchors)]
        check_finite(graphs)
    if len(graphs) != n_views:
        raise AdapterError(f"Adapter {name!r} returned {len(graphs)} graphs for {n_views} views.")
    if graphs[0].shape[0] != n_samples:
        turned = " They look like anchors x samples." if graphs[0].shape[1] == n_samples else ""
        raise AdapterError(
            f"Adapter {name!r} returned graphs of {graphs[0].shape[0]} samples; expected {n_samples}.{turned}"
        )
    odd = odd_rows(graphs, [f"view {view}" for view in range(n_views)]) if warn else ""
    if odd:
        warnings.warn(f"Adapter {name!r} returned graphs with {odd}; {ALIKE}.", stacklevel=4)
    return [read_only(Z) for Z in graphs]


def odd_rows(graphs: Sequence[Graph], names: Sequence[str], observed: BoolArray | None = None) -> str:
    """Which graphs have negative entries, or rows that do not sum to one; empty if none has.

    ``observed`` says which view has which sample: other rows, and rows of NaN, are not looked at.
    """
    negative, unequal = [], []
    for view, (Z, name) in enumerate(zip(graphs, names, strict=True)):
        least, lowest, highest = _range_of_rows(Z, None if observed is None else observed[view])
        if least < -ROUNDING:
            negative.append(name)
        elif lowest < 1 - ROW_TOLERANCE or highest > 1 + ROW_TOLERANCE:
            unequal.append(name)
    found = {"negative entries": negative, "rows that do not sum to one": unequal}
    return " and ".join(f"{what} in {_named(which)}" for what, which in found.items() if which)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _range_of_rows(Z: Graph, seen: Any) -> tuple[float, float, float]:
    """Least entry, and least and largest sum of a row."""

    def find(rows: slice) -> tuple[float, float, float]:
        block = read_rows(Z, rows)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.ravel(block.sum(axis=1, dtype=np.float64))
        known = np.isfinite(sums) if seen is None else np.isfinite(sums) & seen[rows]
        if not known.any():
            return 0.0, 1.0, 1.0
        block = block if known.all() else block[known]
        return float(block.min()), float(sums[known].min()), float(sums[known].max())

    found = np.array(list(map_rows(find, Z.shape[0], width=Z.shape[1])))
    return float(found[:, 0].min()), float(found[:, 1].min()), float(found[:, 2].max())


@contextmanager
def blamed(name: str, what: str) -> Iterator[None]:
    """Say that the adapter returned what a check refuses."""
    try:
        yield
    except InputError as error:
        raise AdapterError(f"Adapter {name!r} returned {what}: {error}") from error


def graphs_by_block(
    adapter: Any, views: Sequence[Any], learned: Any, observed: BoolArray | None = None
) -> MadeGraphs | ObservedGraphs:
    """Graphs whose rows the adapter makes when they are needed; all blocks must be like the first rows.

    ``observed`` says which view has which sample: rows of others are zero.
    """
    n = int(views[0].shape[0])
    maker = _Maker(adapter, learned)
    first = maker.first(rows_of(views, slice(0, min(n, 2)), observed))

    def make(rows: slice) -> list[Graph]:
        return maker(rows_of(views, rows, observed), rows.start)

    sizes = tuple(int(Z.shape[1]) for Z in first)
    made = MadeGraphs(make, n, sizes, common_dtype(first), features_of(views) + 3 * sum(sizes))
    return made if observed is None else ObservedGraphs(made, observed)


def graphs_by_chunk(adapter: Any, views: Sequence[Any], learned: Any) -> ChunkedGraphs:
    """The same of Dask arrays: the adapter is called on the workers, once for every chunk."""
    from ._dask.graphs import made_graphs

    n = int(views[0].shape[0])
    maker = _Maker(adapter, learned)
    first = maker.first([view_rows(X).block(slice(0, min(n, 2))) for X in views])
    return made_graphs(views, maker, first)


class _Maker:
    """Calls an adapter for some samples, and checks what it returns."""

    def __init__(self, adapter: Any, learned: Any) -> None:
        self._adapter = adapter
        self._learned = learned
        self._kinds: list[str] = []

    def first(self, views: Sequence[Any]) -> list[Graph]:
        """Graphs of a few samples, which all others must be like."""
        graphs = self._make(views, 0)
        self._kinds = [_kind(Z) for Z in graphs]
        return graphs

    def __call__(self, views: Sequence[Any], first: int) -> list[Graph]:
        """Graphs of the samples from number ``first`` on."""
        graphs = self._make(views, first)
        for got, expected in zip(map(_kind, graphs), self._kinds, strict=True):
            if got != expected:
                raise AdapterError(
                    f"Adapter {self._adapter.name!r} returned graphs on {got} for samples from {first} on; "
                    f"for the first ones they were on {expected}."
                )
        return graphs

    def _make(self, views: Sequence[Any], first: int) -> list[Graph]:
        made = self._adapter.new_graphs([read_only(X) for X in views], self._learned)
        n, same_anchors = int(views[0].shape[0]), not self._adapter.views_apart
        return check_made(self._adapter.name, made, n, len(views), first, same_anchors=same_anchors, warn=False)


def _kind(Z: Graph) -> str:
    return f"{Z.shape[1]} anchors ({'sparse ' if is_sparse(Z) else ''}{Z.dtype})"


def rows_of(views: Sequence[Any], rows: slice, observed: BoolArray | None = None) -> list[Any]:
    """The same few samples of every view, which nobody can write to.

    In place of a sample that a view does not have is the first that it has: adapters are handed nothing but samples.
    """
    if observed is None:
        return [read_only(read_rows(X, rows)) for X in views]
    numbers = np.arange(rows.start, rows.stop)
    blocks = []
    for X, seen in zip(views, observed, strict=True):
        if seen.any():
            blocks.append(read_rows(X, np.where(seen[rows], numbers, np.argmax(seen))))
        else:  # nothing is known of it, and nothing will be looked at
            empty = (len(numbers), X.shape[1])
            blocks.append(sp.csr_array(empty, dtype=X.dtype) if is_sparse(X) else np.zeros(empty, dtype=X.dtype))
    return [read_only(block) for block in blocks]


def features_of(views: Sequence[Any]) -> int:
    """Numbers that one sample has in all views."""
    return sum(1 + X.nnz // X.shape[0] if is_sparse(X) else int(X.shape[1]) for X in views)
