"""The nearest graph with k connected components, where the rows of the graph are in parts: chunks of a Dask array.

The rounds are those of :mod:`._rank`. A part keeps its own entries of G and P; what travels is of the size of the
anchors. With row degrees d, column degrees w and the m x m matrix M = P' diag(1 / d) P, T' T is M with rows and columns
divided by sqrt(w): one reduction gives the spectrum. M also says which anchors have a sample in common, and so the
components. Thresholds of the columns take one more reduction: an entry that the projection of a part of a column drops
is dropped by that of the whole column too, so that few entries can be left, and only these are sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from anchor_align.blocks import Parts, ScaledRows, joined, view_rows

from ._rank import FIRST_ANCHOR_SCALE, Segments, Support, _iterate, entries_of, largest_eigenpairs
from ._types import FloatArray, IndexArray, is_sparse

# Entries of a column that are sent at most. Equal ones may all be left over: they are then counted where they are.
MOST_TOPS = 1024


@dataclass(frozen=True, eq=False)
class PartsResult:
    """The graph found, in parts, and how many components it has."""

    entries: Entries
    n_components: int
    n_iter: int

    @property
    def graph(self) -> Parts:
        """CSR arrays, as wide as the graph that was looked at."""
        return self.entries.parts.map(_graph)

    @property
    def labels(self) -> Any:
        """Component of every sample; a Dask array. For as few components as there may be clusters."""
        _, component = self.entries.components
        lone = self.entries.parts.total(_lone_rows) if self.entries.sums.n_lone else []
        labels = self.entries.parts.map(_labels, component, lone)
        return joined(labels.keep(), np.empty(0, dtype=np.intp))


def rank_constrained_rows(G: Any, n_components: int) -> PartsResult:
    """:func:`~._rank.rank_constrained_graph` of a Dask array with CSR chunks."""
    return _nearest(view_rows(G).parts().map(_part_of_rows), n_components)


def rank_constrained_parts(graphs: Parts, n_components: int) -> PartsResult:
    """The same of a graph that comes in parts, CSR arrays."""
    return _nearest(graphs.map(Part), n_components)


def _nearest(parts: Parts, k: int, max_iter: int = 50) -> PartsResult:
    entries, n_iter = _iterate(PartsSupport(parts.keep()), k, max_iter)
    return PartsResult(entries, entries.components[0], n_iter)


class Part(Support):
    """The entries of some rows of a graph.

    Its own rows and columns are those that have entries here: ``filled`` are the rows among the part's, of which there
    are ``n_rows`` from the row ``first`` on, and ``used`` are the columns among the graph's ``width``.
    """

    def __init__(self, G: Any, first: int = 0) -> None:
        full = entries_of(G)
        self.first = first
        self.n_rows, self.width = full.shape
        self.filled = np.flatnonzero(np.diff(full.indptr))
        self.used = np.flatnonzero(np.bincount(full.indices, minlength=self.width))
        super().__init__(full[self.filled][:, self.used])

    def __sizeof__(self) -> int:
        """Bytes; what Dask goes by."""
        segments = (*vars(self.row_segments).values(), *vars(self.column_segments).values())
        return sum(getattr(each, "nbytes", 0) for each in (*vars(self).values(), *segments))

    def spread(self, of_columns: Any) -> FloatArray:
        """Numbers of the columns used, among zeros for the others."""
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
    def sums(self) -> Sums:
        """One pass."""
        sums: Sums = self.parts.total(_sums)
        return sums

    @cached_property
    def components(self) -> tuple[int, IndexArray]:
        """Number of components, and that of every anchor; samples without entries come after those of the anchors."""
        used = self.sums.used
        count, found = connected_components(self.sums.gram[np.ix_(used, used)] > 0, directed=False)
        component = np.full(len(self.sums.gram), -1)
        component[used] = found
        return int(count) + self.sums.n_lone, component


@dataclass(frozen=True, eq=False)
class Sums:
    """P' diag(1 / d) P, the column degrees, and the number of rows without entries; ``+`` joins parts."""

    gram: FloatArray
    degrees: FloatArray
    n_lone: int

    def __add__(self, other: Sums) -> Sums:
        """Of the rows of both."""
        return Sums(self.gram + other.gram, self.degrees + other.degrees, self.n_lone + other.n_lone)

    @property
    def used(self) -> IndexArray:
        """Columns that have entries."""
        return np.flatnonzero(self.degrees)


@dataclass(frozen=True, eq=False)
class PartsSpectrum:
    """Largest eigenvalues of T' T and the singular vectors V over sqrt(2), zero for columns without entries."""

    entries: Entries
    eigenvalues: FloatArray
    V: FloatArray

    def first_places(self) -> tuple[Parts, FloatArray]:
        """The singular vectors."""
        return self._of_rows(0.5), FIRST_ANCHOR_SCALE * self.V

    def places(self) -> tuple[Parts, FloatArray]:
        """The singular vectors over the roots of the degrees."""
        return self._of_rows(1.0), self._over_roots

    @cached_property
    def _over_roots(self) -> FloatArray:
        degrees = self.entries.sums.degrees
        return np.asarray(self.V / np.sqrt(np.where(degrees != 0, degrees, 1.0))[:, None])

    def _of_rows(self, power: float) -> Parts:
        """U = T V / sqrt(eigenvalues), which only a row's own entries are needed for."""
        return self.entries.parts.map(_places, self._over_roots / np.sqrt(self.eigenvalues), power)


class PartsSupport:
    """As :class:`~._rank.Support`, in parts."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.values = Entries(parts.zip(parts.map(_own_values)))

    def spectrum(self, values: Entries, k: int) -> PartsSpectrum:
        """Singular vectors of the normalised graph, over sqrt(2), and its k largest eigenvalues."""
        sums, used = values.sums, values.sums.used
        roots = np.sqrt(sums.degrees[used])
        eigenvalues, found = largest_eigenpairs(sums.gram[np.ix_(used, used)] / roots / roots[:, None], k)
        V = np.zeros((len(sums.gram), len(eigenvalues)))
        V[used] = found / np.sqrt(2.0)
        return PartsSpectrum(values, eigenvalues, V)

    def components(self, values: Entries) -> tuple[int, IndexArray]:
        """Number of connected components, and the component of every anchor."""
        return values.components

    def project(self, a: Parts, b: FloatArray, lam: float) -> Entries:
        """Mean of the projections of all rows, and of all columns, of g_ij - lam / 2 |a_i - b_j|^2 on the simplex."""
        targets = self._parts.zip(self._parts.zip(a).map(_target, b, lam).keep())
        values = targets.map(_project, *_column_thresholds(targets)).keep()
        return Entries(self._parts.zip(values))


def _column_thresholds(targets: Parts) -> tuple[FloatArray, FloatArray]:
    """Largest entry of every column, and the threshold of its projection, less that entry."""
    tops = targets.total(_tops)
    largest, thresholds, counts = tops.thresholds()
    # With some of the entries, thresholds are too low: go on with Michelot's method where the others are.
    exact = bool((tops.left_out - largest <= thresholds).all())
    while not exact:
        sums, now = targets.total(_above, largest, thresholds)
        thresholds = (sums - 1.0) / np.maximum(now, 1.0)
        exact = np.array_equal(now, counts)
        counts = now
    return largest, thresholds


@dataclass(frozen=True, eq=False)
class Tops:
    """Entries that the projection of each column keeps, ordered by column; ``+`` joins parts.

    ``left_out`` is the largest entry of each column that it might keep too, but there were too many of them.
    """

    columns: IndexArray
    values: FloatArray
    left_out: FloatArray

    @classmethod
    def at_most(cls, columns: IndexArray, values: FloatArray, left_out: FloatArray) -> Tops:
        """The largest of some entries that are ordered by column."""
        if not len(columns) or np.bincount(columns).max() <= MOST_TOPS:
            return cls(columns, values, left_out)
        order = np.lexsort((-values, columns))
        columns, values = columns[order], values[order]
        few = np.arange(len(columns)) - np.searchsorted(columns, columns) < MOST_TOPS
        left_out = left_out.copy()
        np.maximum.at(left_out, columns[~few], values[~few])
        return cls(columns[few], values[few], left_out)

    def __add__(self, other: Tops) -> Tops:
        """Of the rows of both."""
        columns = np.concatenate([self.columns, other.columns])
        order = np.argsort(columns, kind="stable")
        columns, values = columns[order], np.concatenate([self.values, other.values])[order]
        _, _, kept = _segments(columns).cut(values)
        return self.at_most(columns[kept], values[kept], np.maximum(self.left_out, other.left_out))

    def thresholds(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Largest entry of every column, the threshold less that entry, and how many entries are above it."""
        segments = _segments(self.columns)
        _, found, kept = segments.cut(self.values)
        present = self.columns[segments.starts]
        largest, thresholds = np.zeros_like(self.left_out), np.zeros_like(self.left_out)
        largest[present] = np.maximum.reduceat(self.values, segments.starts)
        thresholds[present] = found[segments.starts]
        return largest, thresholds, np.bincount(self.columns[kept], minlength=len(largest)).astype(np.float64)


def _segments(columns: IndexArray) -> Segments:
    """Segments of equal numbers."""
    counts = np.bincount(columns)
    return Segments(counts[counts > 0])


def _part_of_rows(rows: ScaledRows) -> Part:
    return Part(rows.array, rows.first)


def _own_values(part: Part) -> FloatArray:
    return part.values


def _row_degrees(part: Part, values: FloatArray) -> FloatArray:
    return np.bincount(part.rows, values, part.shape[0]).astype(np.float64, copy=False)


def _sums(item: Values) -> Sums:
    part, values = item
    scaled = part.matrix(values / np.sqrt(_row_degrees(part, values))[part.rows])
    product = scaled.T @ scaled
    gram = np.zeros((part.width, part.width))
    gram[np.ix_(part.used, part.used)] = product.toarray() if is_sparse(product) else product
    degrees = part.spread(np.bincount(part.columns, values, len(part.used)))
    return Sums(gram, degrees, part.n_rows - len(part.filled))


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
    # Samples without entries are components of their own.
    labels = component.max() + 1 + np.searchsorted(lone, part.first + np.arange(part.n_rows))
    labels[part.filled] = of_filled
    return np.asarray(labels, dtype=np.intp)
