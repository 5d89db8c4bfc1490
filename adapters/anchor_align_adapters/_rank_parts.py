"""The nearest graph with k connected components, for a graph in parts: chunks of a Dask array.

The rounds are those of :mod:`._rank`. A part keeps its own entries of G and P; the size of the data that are sent
depends on the anchors only. With row degrees d, column degrees w and the m x m matrix M = P' diag(1 / d) P, T' T is M
with rows and columns divided by sqrt(w): one reduction gives the spectrum. M also shows which anchors have a common
sample, and so the components. The thresholds of the columns need one more reduction. An entry that the projection of a
part of a column drops is also dropped by the projection of the whole column, so only few entries are sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from anchor_align.arrays import FloatArray, IndexArray, is_sparse
from anchor_align.blocks import Parts, ScaledRows

from ._rank import FIRST_ANCHOR_SCALE, Segments, Support, _iterate, entries_of, largest_eigenpairs

# Most entries of a column that are sent. Many equal entries may remain; they are then counted by the workers.
MOST_TOPS = 1024


@dataclass(frozen=True, eq=False)
class PartsResult:
    """The graph, in parts, and its number of components."""

    entries: Entries
    n_components: int
    n_iter: int

    @property
    def graph(self) -> Parts:
        """CSR arrays with the columns of the given graph."""
        return self.entries.parts.map(_graph)

    @property
    def labels(self) -> Any:
        """Component of every sample, as a Dask array. For few components, at most the number of clusters."""
        _, component = self.entries.components
        lone = self.entries.parts.total(_lone_rows) if self.entries.sums.n_lone else []
        labels = self.entries.parts.map(_labels, component, lone)
        return labels.keep().joined(np.empty(0, dtype=np.intp))


def rank_constrained_rows(G: Any, n_components: int) -> PartsResult:
    """:func:`~._rank.rank_constrained_graph` of a Dask array with CSR chunks."""
    return _nearest(ScaledRows(G).parts().map(_part_of_rows), n_components)


def rank_constrained_parts(graphs: Parts, n_components: int) -> PartsResult:
    return _nearest(graphs.map(Part), n_components)


def _nearest(parts: Parts, k: int, max_iter: int = 50) -> PartsResult:
    entries, n_iter = _iterate(PartsSupport(parts.keep()), k, max_iter)
    return PartsResult(entries, entries.components[0], n_iter)


class Part(Support):
    """The entries of some rows of a graph, without its empty rows and columns.

    ``filled`` are the rows with entries, of ``n_rows`` rows that start at row ``first`` of the graph. ``used`` are the
    columns with entries, of ``width`` columns.
    """

    def __init__(self, G: Any, first: int = 0) -> None:
        full = entries_of(G)
        self.first = first
        self.n_rows, self.width = full.shape
        self.filled = np.flatnonzero(np.diff(full.indptr))
        self.used = np.flatnonzero(np.bincount(full.indices, minlength=self.width))
        super().__init__(full[self.filled][:, self.used])

    def __sizeof__(self) -> int:
        segments = (*vars(self.row_segments).values(), *vars(self.column_segments).values())
        return sum(getattr(each, "nbytes", 0) for each in (*vars(self).values(), *segments))

    def own_values(self) -> FloatArray:
        return self.values

    def spread(self, of_columns: Any) -> FloatArray:
        """Values of the used columns, with zeros for the others."""
        wide = np.zeros(self.width)
        wide[self.used] = of_columns
        return wide


# A part, and values on it.
Values: TypeAlias = tuple[Part, FloatArray]


@dataclass(frozen=True, eq=False)
class Entries:
    """Values on the support: ``parts`` are of :data:`Values`."""

    parts: Parts

    @cached_property
    def sums(self) -> EntrySums:
        sums: EntrySums = self.parts.total(_sums)
        return sums

    @cached_property
    def components(self) -> tuple[int, IndexArray]:
        """Number of components, and the component of every anchor. Samples without entries come after the anchors."""
        used = self.sums.used
        count, found = connected_components(self.sums.gram[np.ix_(used, used)] > 0, directed=False)
        component = np.full(len(self.sums.gram), -1)
        component[used] = found
        return int(count) + self.sums.n_lone, component


@dataclass(frozen=True, eq=False)
class EntrySums:
    """P' diag(1 / d) P, the column degrees, and the number of rows without entries; ``+`` joins parts."""

    gram: FloatArray
    degrees: FloatArray
    n_lone: int

    def __add__(self, other: EntrySums) -> EntrySums:
        return EntrySums(self.gram + other.gram, self.degrees + other.degrees, self.n_lone + other.n_lone)

    @property
    def used(self) -> IndexArray:
        return np.flatnonzero(self.degrees)


@dataclass(frozen=True, eq=False)
class PartsSpectrum:
    """Largest eigenvalues of T' T and the singular vectors V over sqrt(2), zero for columns without entries."""

    entries: Entries
    eigenvalues: FloatArray
    V: FloatArray

    def first_places(self) -> tuple[Parts, FloatArray]:
        return self._of_rows(0.5), FIRST_ANCHOR_SCALE * self.V

    def places(self) -> tuple[Parts, FloatArray]:
        return self._of_rows(1.0), self._over_roots

    @cached_property
    def _over_roots(self) -> FloatArray:
        degrees = self.entries.sums.degrees
        return np.asarray(self.V / np.sqrt(np.where(degrees != 0, degrees, 1.0))[:, None])

    def _of_rows(self, power: float) -> Parts:
        """U = T V / sqrt(eigenvalues), which needs only the entries of the row."""
        return self.entries.parts.map(_places, self._over_roots / np.sqrt(self.eigenvalues), power)


class PartsSupport:
    """As :class:`~._rank.Support`, in parts."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.values = Entries(parts.zip(parts.map(Part.own_values)))

    def spectrum(self, values: Entries, k: int, component: IndexArray) -> PartsSpectrum:
        sums, used = values.sums, values.sums.used
        roots = np.sqrt(sums.degrees[used])
        eigenvalues, found = largest_eigenpairs(sums.gram[np.ix_(used, used)] / roots / roots[:, None], k)
        V = np.zeros((len(sums.gram), len(eigenvalues)))
        V[used] = found / np.sqrt(2.0)
        return PartsSpectrum(values, eigenvalues, V)

    def components(self, values: Entries) -> tuple[int, IndexArray]:
        return values.components

    def project(self, a: Parts, b: FloatArray, lam: float) -> Entries:
        targets = self._parts.zip(self._parts.zip(a).map(_target, b, lam).keep())
        values = targets.map(_project, *_column_thresholds(targets)).keep()
        return Entries(self._parts.zip(values))


def _column_thresholds(targets: Parts) -> tuple[FloatArray, FloatArray]:
    """Largest entry of every column, and the threshold of its projection minus that entry."""
    tops = targets.total(_tops)
    largest, thresholds, counts = tops.thresholds()
    # Thresholds from a part of the entries are too low: the workers continue with Michelot's method.
    exact = bool((tops.left_out - largest <= thresholds).all())
    while not exact:
        sums, now = targets.total(_above, largest, thresholds)
        # Never lower than before, even by rounding: fewer and fewer entries are above, so that this ends.
        thresholds = np.maximum(thresholds, (sums - 1.0) / np.maximum(now, 1.0))
        exact = np.array_equal(now, counts)
        counts = now
    return largest, thresholds


@dataclass(frozen=True, eq=False)
class Tops:
    """Entries that the projection of each column keeps, ordered by column; ``+`` joins parts.

    ``left_out`` is, for each column, the largest entry that might also be kept but was one too many to send.
    """

    columns: IndexArray
    values: FloatArray
    left_out: FloatArray

    @classmethod
    def at_most(cls, columns: IndexArray, values: FloatArray, left_out: FloatArray) -> Tops:
        if not len(columns) or np.bincount(columns).max() <= MOST_TOPS:
            return cls(columns, values, left_out)
        order = np.lexsort((-values, columns))
        columns, values = columns[order], values[order]
        few = np.arange(len(columns)) - np.searchsorted(columns, columns) < MOST_TOPS
        left_out = left_out.copy()
        np.maximum.at(left_out, columns[~few], values[~few])
        return cls(columns[few], values[few], left_out)

    def __add__(self, other: Tops) -> Tops:
        columns = np.concatenate([self.columns, other.columns])
        order = np.argsort(columns, kind="stable")
        columns, values = columns[order], np.concatenate([self.values, other.values])[order]
        _, _, kept = _segments(columns).cut(values)
        return self.at_most(columns[kept], values[kept], np.maximum(self.left_out, other.left_out))

    def thresholds(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Largest entry of every column, the threshold minus that entry, and the number of entries above it."""
        segments = _segments(self.columns)
        _, found, kept = segments.cut(self.values)
        present = self.columns[segments.starts]
        largest, thresholds = np.zeros_like(self.left_out), np.zeros_like(self.left_out)
        largest[present] = np.maximum.reduceat(self.values, segments.starts)
        thresholds[present] = found[segments.starts]
        return largest, thresholds, np.bincount(self.columns[kept], minlength=len(largest)).astype(np.float64)


def _segments(columns: IndexArray) -> Segments:
    counts = np.bincount(columns)
    return Segments(counts[counts > 0])


def _part_of_rows(rows: ScaledRows) -> Part:
    return Part(rows.array, rows.first)


def _row_degrees(part: Part, values: FloatArray) -> FloatArray:
    return np.bincount(part.rows, values, part.shape[0]).astype(np.float64, copy=False)


def _sums(item: Values) -> EntrySums:
    part, values = item
    scaled = part.matrix(values / np.sqrt(_row_degrees(part, values))[part.rows])
    product = scaled.T @ scaled
    gram = np.zeros((part.width, part.width))
    gram[np.ix_(part.used, part.used)] = product.toarray() if is_sparse(product) else product
    degrees = part.spread(np.bincount(part.columns, values, len(part.used)))
    return EntrySums(gram, degrees, part.n_rows - len(part.filled))


def _places(item: Values, of_columns: FloatArray, power: float) -> FloatArray:
    part, values = item
    scaled = values / (_row_degrees(part, values) ** power)[part.rows]
    return np.asarray(part.matrix(scaled) @ of_columns[part.used])


def _target(item: tuple[Part, FloatArray], b: FloatArray, lam: float) -> FloatArray:
    part, a = item
    return part.target(a, b[part.used], lam)


def _tops(item: Values) -> Tops:
    part, target = item
    _, _, kept = part.column_segments.cut(target[part.by_column])
    at = part.by_column[kept]
    return Tops.at_most(part.used[part.columns[at]], target[at], np.full(part.width, -np.inf))


def _above(item: Values, largest: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Sum and number of the entries above the threshold of their column."""
    part, target = item
    shifted = target - largest[part.used][part.columns]
    kept = shifted > thresholds[part.used][part.columns]
    columns, m = part.columns[kept], len(part.used)
    return np.array([part.spread(np.bincount(columns, shifted[kept], m)), part.spread(np.bincount(columns, None, m))])


def _project(item: Values, largest: FloatArray, thresholds: FloatArray) -> FloatArray:
    part, target = item
    by_column = target - largest[part.used][part.columns] - thresholds[part.used][part.columns]
    return np.asarray(0.5 * (part.row_segments.project(target) + np.maximum(by_column, 0.0)))


def _graph(item: Values) -> sp.csr_array:
    part, values = item
    edges = np.zeros(part.n_rows + 1, dtype=np.intp)
    edges[part.filled + 1] = np.diff(part.row_edges)
    return sp.csr_array((values, part.used[part.columns], np.cumsum(edges)), shape=(part.n_rows, part.width))


def _lone_rows(item: Values) -> list[int]:
    part, _ = item
    return [part.first + int(row) for row in np.setdiff1d(np.arange(part.n_rows), part.filled)]


def _labels(item: Values, component: IndexArray, lone: list[int]) -> IndexArray:
    part, values = item
    linked = values > 0
    of_filled = np.zeros(len(part.filled), dtype=np.intp)
    of_filled[part.rows[linked]] = component[part.used[part.columns[linked]]]
    # Each sample without entries is its own component.
    labels = component.max() + 1 + np.searchsorted(lone, part.first + np.arange(part.n_rows))
    labels[part.filled] = of_filled
    return np.asarray(labels, dtype=np.intp)
