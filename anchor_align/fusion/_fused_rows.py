"""A fused graph that is made from the graphs when it is needed, one block of rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import BoolArray, FloatArray, Graph, IndexArray, is_sparse
from ..blocks import Parts, map_rows, read_rows
from ..errors import AdapterError, InputError
from ..graphs import GramMatrices, GraphSet, Order, numbers_of_sample, permute_columns, store
from ._fusion import Fusion


@dataclass(frozen=True, eq=False)
class Recipe:
    """A fusion with its maps and weights."""

    fusion: Fusion
    maps: tuple[Order, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check what a plug-in's ``maps`` returned."""
        if len(self.maps) != len(self.weights):
            name, n_views = self.fusion.name, len(self.weights)
            raise AdapterError(f"Fusion {name!r} returned {len(self.maps)} maps for {n_views} views.")

    def of(self, graphs: Sequence[Graph], dtype: np.dtype[Any], present: BoolArray | None = None) -> Any:
        """Fuse the graphs of a few samples. Rows of missing samples are zero."""
        mapped = [self._mapped(Z, order, dtype) for Z, order in zip(graphs, self.maps, strict=True)]
        fused: Any = self.fusion.fuse(mapped, self.weights, present)
        n_rows = mapped[0].shape[0]
        is_array = type(fused) is np.ndarray or isinstance(fused, sp.csr_array)
        if not is_array or fused.ndim != 2 or fused.shape[0] != n_rows or fused.dtype.kind != "f":
            got = f"an array of shape {fused.shape} and dtype {fused.dtype}" if is_array else type(fused).__name__
            raise AdapterError(
                f"Fusion {self.fusion.name!r} returned {got} from fuse; "
                f"expected an ndarray or csr_array of floats with {n_rows} rows."
            )
        return fused

    def gram(self, grams: GramMatrices) -> FloatArray | None:
        """Gram matrix of the fused graph, from those of the graphs; None if it needs the rows.

        A class that inherits ``gram`` and has another ``fuse`` makes other rows than its ``gram`` describes.
        """
        kinds = type(self.fusion).__mro__
        described: Any = next(kind for kind in kinds if "gram" in vars(kind))
        used = getattr(self.fusion.fuse, "__func__", None)
        return self.fusion.gram(grams, self.maps, self.weights) if used is described.fuse else None

    def _mapped(self, Z: Graph, order: Order, dtype: np.dtype[Any]) -> Any:
        if self.fusion.multiplies:
            # Duplicate entries of a sparse row are added; small integers could overflow.
            return (Z.astype(dtype).toarray() if is_sparse(Z) else Z.astype(dtype, copy=False)) @ order.astype(dtype)
        return permute_columns(Z.astype(dtype, copy=is_sparse(Z)), order)

    def check_present(self, mask: BoolArray, numbers: IndexArray | None = None) -> None:
        """Every sample must be in a view with a weight > 0, or its mean is not defined.

        ``numbers`` are those of the samples in the data, if their order is another one.
        """
        if not self.fusion.weighs_views:
            return
        lost = np.flatnonzero(~mask[np.asarray(self.weights) > 0].any(axis=0))
        if lost.size:
            lost = lost if numbers is None else np.sort(numbers[lost])
            raise InputError(
                f"Sample {lost[0]} is only in views whose weight is zero ({lost.size} such samples); "
                "give one of its views a weight > 0, or leave it out."
            )


@dataclass(frozen=True, eq=False)
class FusedRows:
    """Rows of the fused graph."""

    graphs: GraphSet
    recipe: Recipe

    @cached_property
    def meta(self) -> Any:
        """A fused graph without rows: its width and kind."""
        return self.recipe.of(self.graphs.metas, self.dtype)

    @property
    def shape(self) -> tuple[int, int]:
        return self.graphs.n_samples, int(self.meta.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.graphs.dtype

    @property
    def width(self) -> int:
        entries = numbers_of_sample(self.graphs.typical_graphs) if is_sparse(self.meta) else self.shape[1]
        return self.graphs.width + entries

    def block(self, rows: slice) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            fused = self.recipe.of(self.graphs.block(rows), self.dtype, self.graphs.present(rows))
        if fused.shape[1] != self.shape[1]:
            raise AdapterError(
                f"Fusion {self.recipe.fusion.name!r} returned {fused.shape[1]} columns from fuse, and {self.shape[1]} "
                "when it was called without rows; expected the same number."
            )
        return fused

    def parts(self) -> Parts:
        return self.graphs.parts().map(FusedRows, self.recipe)

    def stored(self) -> Any:
        """All rows, in memory or in a file; chunks of a distributed array are made when they are needed."""
        return self.parts().map(FusedRows._all_rows).joined(self.meta)

    def _all_rows(self) -> Any:
        return store(lambda rows: [self.block(rows)], self.shape[0], width=self.width)[0]


def is_finite(graph: Graph) -> bool:
    """Whether all entries are finite. A finite sum shows it; a sum of finite entries may overflow."""
    entries = graph.data if is_sparse(graph) else graph
    n, width = len(entries), 1 if entries.ndim == 1 else entries.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = map_rows(lambda rows: read_rows(entries, rows).sum(dtype=np.float64), n, width=width)
        return bool(np.isfinite(sum(sums)) or np.isfinite(entries).all())
