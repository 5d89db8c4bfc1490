"""Calls of adapters, and checks of the results of adapters and baselines."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ..arrays import BoolArray, Graph, IndexArray, is_sparse
from ..blocks import (
    as_floats,
    check_finite,
    check_graphs,
    is_distributed,
    map_rows,
    number_by_appearance,
    read_only,
    read_rows,
)
from ..errors import AdapterError, InputError, view_name
from ..graphs import MadeGraphs, samples_of

# Tolerance for entries below zero, and for row sums other than one, which change the weight of a view or a sample.
ROUNDING = 1e-6
ROW_TOLERANCE = 0.01
MOST_NAMED = 3
ALIKE = "samples and views have equal weight only if rows are >= 0 and sum to one"


def check_made(
    name: str,
    made: Any,
    n_samples: int,
    n_views: int,
    first: int = 0,
    *,
    same_anchors: bool = True,
    numbers: IndexArray | None = None,
) -> list[Graph]:
    """Checked graphs of an adapter: one per view, finite, one row per sample.

    For messages: ``first`` is the number of the first sample; ``numbers`` are those of all samples if they are in
    another order than in the data.
    """
    with blamed(name, "graphs that cannot be used" + (f" for samples from {first} on" if first else "")):
        graphs = [as_floats(Z) for Z in check_graphs(made, same_anchors=same_anchors)]
        check_finite(graphs, numbers=numbers)
    if len(graphs) != n_views:
        raise AdapterError(f"Adapter {name!r} returned {len(graphs)} graphs for {n_views} views.")
    if graphs[0].shape[0] != n_samples:
        turned = " They look like anchors x samples." if graphs[0].shape[1] == n_samples else ""
        raise AdapterError(
            f"Adapter {name!r} returned graphs of {graphs[0].shape[0]} samples; expected {n_samples}.{turned}"
        )
    return [read_only(Z) for Z in graphs]


def check_labels(who: str, made: Any, n_samples: int, n_clusters: int) -> tuple[IndexArray, int]:
    """Labels of a method, numbered in the order in which clusters first appear, and the number of clusters."""
    try:
        found = made if is_distributed(made) else np.asarray(made)
    except ValueError:
        found = np.empty(0, dtype=object)
    if found.shape != (n_samples,) or found.dtype.kind not in "iub":
        raise AdapterError(
            f"{who} returned labels of shape {found.shape} and dtype {found.dtype}; expected {n_samples} whole numbers."
        )
    labels, n_found = number_by_appearance(found)
    if n_found > n_clusters:
        raise AdapterError(f"{who} returned {n_found} clusters; expected at most {n_clusters}.")
    return labels, n_found


def warn_of_odd_rows(name: str, graphs: Sequence[Graph]) -> None:
    odd = odd_rows(graphs, [f"view {view_name(view)}" for view in range(len(graphs))])
    if odd:
        warnings.warn(f"Adapter {name!r} returned graphs with {odd}; {ALIKE}.", stacklevel=5)


def odd_rows(graphs: Sequence[Graph], names: Sequence[str], mask: BoolArray | None = None) -> str:
    """Graphs with negative entries, or with rows that do not sum to one, as text; empty if there are none.

    Rows of missing samples (False in ``mask``) and rows of NaN are ignored.
    """
    negative, unequal = [], []
    for view, (Z, name) in enumerate(zip(graphs, names, strict=True)):
        least, lowest, highest = _range_of_rows(Z, None if mask is None else mask[view])
        if least < -ROUNDING:
            negative.append(name)
        elif lowest < 1 - ROW_TOLERANCE or highest > 1 + ROW_TOLERANCE:
            unequal.append(name)
    found = {"negative entries": negative, "rows that do not sum to one": unequal}
    more = {what: f" and {len(which) - MOST_NAMED} more" * (len(which) > MOST_NAMED) for what, which in found.items()}
    return " and ".join(f"{what} in {', '.join(found[what][:MOST_NAMED])}{more[what]}" for what in found if found[what])


def _range_of_rows(Z: Graph, present: BoolArray | None) -> tuple[float, float, float]:
    """Smallest entry, and smallest and largest sum of a row."""

    def find(rows: slice) -> tuple[float, float, float]:
        block = read_rows(Z, rows)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.ravel(block.sum(axis=1, dtype=np.float64))
        used = np.isfinite(sums) if present is None else np.isfinite(sums) & present[rows]
        if not used.any():
            return 0.0, 1.0, 1.0
        block = block if used.all() else block[used]
        return float(block.min()), float(sums[used].min()), float(sums[used].max())

    found = np.array(list(map_rows(find, Z.shape[0], width=Z.shape[1])))
    return float(found[:, 0].min()), float(found[:, 1].min()), float(found[:, 2].max())


@contextmanager
def blamed(name: str, what: str) -> Iterator[None]:
    """Raise an AdapterError if a check refuses the result of the adapter."""
    try:
        yield
    except InputError as error:
        raise AdapterError(f"Adapter {name!r} returned {what}: {error}") from error


class GraphMaker(Protocol):
    """The part of an adapter that makes graphs of samples; ``learned`` is the result of its learning step."""

    name: str

    @property
    def views_apart(self) -> bool: ...

    def new_graphs(self, views: Sequence[Any], learned: Any, /) -> Any: ...


def made_graphs(
    adapter: GraphMaker,
    views: Sequence[Any],
    learned: Any,
    mask: BoolArray | None = None,
    numbers: IndexArray | None = None,
) -> MadeGraphs:
    """Graphs whose rows the adapter makes when they are needed. Each block is checked; all must have the same type.

    ``numbers`` are those of the samples in the data, for messages; None if they have the same order.
    """
    maker = _CheckedMaker(adapter, learned)
    few = slice(0, min(int(views[0].shape[0]), 2))
    first = maker.first(samples_of(views, few, mask), None if numbers is None else numbers[few])
    return MadeGraphs(views, maker, first, mask, numbers)


class _CheckedMaker:
    """Calls an adapter for some samples, and checks its graphs."""

    def __init__(self, adapter: GraphMaker, learned: Any) -> None:
        self._adapter = adapter
        self._learned = learned
        self._kinds: list[str] = []

    def first(self, views: Sequence[Any], numbers: IndexArray | None) -> list[Graph]:
        """Graphs of a few samples; the type of all later graphs must be the same."""
        graphs = self._make(views, 0, numbers)
        self._kinds = [_kind(Z) for Z in graphs]
        return graphs

    def __call__(self, views: Sequence[Any], first: int, numbers: IndexArray | None = None) -> list[Graph]:
        graphs = self._make(views, first, numbers)
        for got, expected in zip(map(_kind, graphs), self._kinds, strict=True):
            if got != expected:
                these = f"samples from {first} on" if numbers is None else "some samples"
                raise AdapterError(
                    f"Adapter {self._adapter.name!r} returned graphs on {got} for {these}; "
                    f"for the first ones they were on {expected}."
                )
        return graphs

    def _make(self, views: Sequence[Any], first: int, numbers: IndexArray | None) -> list[Graph]:
        made = self._adapter.new_graphs([read_only(X) for X in views], self._learned)
        n, same_anchors = int(views[0].shape[0]), not self._adapter.views_apart
        first = first if numbers is None else 0
        return check_made(self._adapter.name, made, n, len(views), first, same_anchors=same_anchors, numbers=numbers)


def _kind(Z: Graph) -> str:
    return f"{Z.shape[1]} anchors ({'sparse ' if is_sparse(Z) else ''}{Z.dtype})"
