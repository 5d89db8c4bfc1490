"""Fusions: one object for each, with all information that the rest of the package needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import BoolArray, FloatArray, Graph, is_sparse
from ..graphs import GramMatrices, Order, aligned_product
from ._rotation import rotations


class Fusion:
    """A fusion makes one graph from the graphs of all views. This text is the contract.

    The class itself is the weighted mean. A subclass overrides what differs. An instance keeps nothing between calls.

    Required
        ``name`` : class attribute, the name that users type: lower-case letters, digits, "-" and "_".

    Optional, each with a default
        ``summary`` : what the fusion does, in a few words for the report.

        ``colours`` : colours of the arm in figures and reports, on a light and on a dark background, as "#rrggbb". By
        default the report chooses.

        ``aligns`` : True if anchors are matched first, so that columns correspond. Otherwise anchors stay in their
        given order, and ``lam`` and the reference are not used.

        ``needs_spectral`` : True if the result is a matrix to embed and not a graph. Only adapters with spectral
        clustering can use it.

        ``weighs_views`` : False if fits and studies do not use the weights of the views.

        ``uses_grams`` : True if :meth:`maps` needs the Gram matrices.

        ``multiplies`` : True if :meth:`maps` returns matrices that multiply the graphs. Otherwise it returns orders of
        columns.

        ``in_every_study`` : True if every study has this arm. Other arms are selected by name.

        :meth:`maps` : called once, before the graphs are read.

        :meth:`fuse` : called with a few rows of all graphs at a time, from several threads. It is also called with zero
        rows, to learn the width and type of the result.

        :meth:`gram` : called if the Gram matrices of the graphs are known. It saves a pass over the rows. It belongs to
        the :meth:`fuse` of its own class: it is not called for a subclass with another one.

    Examples
    --------
    A mean with sharpened rows is a class of a few lines; the hook ``anchor_align_fusions`` returns it.

    >>> import numpy as np
    >>> from anchor_align import Fusion, fuse
    >>> class Sharpened(Fusion):
    ...     name = "sharpened"
    ...
    ...     def fuse(self, graphs, weights, present=None):
    ...         squares = super().fuse(graphs, weights, present) ** 2
    ...         return squares / squares.sum(axis=1, keepdims=True)
    >>> fuse([np.array([[0.5, 0.5], [0.9, 0.1]])], how=Sharpened()).round(3)
    array([[0.5  , 0.5  ],
           [0.988, 0.012]])
    """

    name: str = ""
    summary: str = ""
    colours: tuple[str, str] | None = None
    aligns: bool = True
    needs_spectral: bool = False
    weighs_views: bool = True
    uses_grams: bool = False
    multiplies: bool = False
    in_every_study: bool = False

    def maps(self, orders: Sequence[Order], grams: GramMatrices | None) -> Sequence[Order]:
        """Map the anchors of each view to the columns of the fused graph.

        Parameters
        ----------
        orders : list of ndarray
            The anchor of every common column, or -1; or a matrix of zeros and ones, anchors x common columns, if
            several anchors share a column.
        grams : GramMatrices or None
            Gram matrices of the graphs, anchors in their given order; None unless ``uses_grams``.

        Returns
        -------
        list of ndarray
            Orders or, if ``multiplies``, matrices of shape (anchors of the view, columns).
        """
        return orders

    def fuse(self, graphs: Sequence[Graph], weights: Sequence[float], present: BoolArray | None = None) -> Any:
        """Fuse the same few rows of all graphs.

        Parameters
        ----------
        graphs : list of ndarray or csr_array of shape (n_rows, n_columns)
            One for each view, with mapped columns, all of one dtype. Rows of missing samples are zero.
        weights : sequence of float
            One weight for each view; they sum to one.
        present : ndarray of bool of shape (n_views, n_rows), optional
            False where a sample is missing; None if no sample is missing.

        Returns
        -------
        ndarray or csr_array with n_rows rows
        """
        total = _weighted_sum(graphs, weights)
        if present is None:
            return total
        # Weighted sums over the views that have a sample become means. Over all views they are means already.
        divisors = np.where(present.all(axis=0), 1.0, np.asarray(weights) @ present).astype(total.dtype)
        if is_sparse(total):
            entries = total.data / np.repeat(divisors, np.diff(total.indptr))
            return sp.csr_array((entries, total.indices, total.indptr), total.shape)
        total /= divisors[:, None]
        return total

    def gram(self, grams: GramMatrices, maps: Sequence[Order], weights: Sequence[float]) -> FloatArray | None:
        """Gram matrix of the fused graph, from the Gram matrices of the graphs; None if it needs the rows.

        By default that of the weighted mean; None with missing samples: rows of the mean then have different weights.
        """
        if grams.pairs is not None:
            return None
        views = range(grams.n_views)
        return np.asarray(
            sum(
                weights[u] * weights[v] * aligned_product(grams.cross(u, v), maps[u], maps[v])
                for u in views
                for v in views
            )
        )

    def graph_bytes(self, graph: int, dense: int, n_views: int) -> int:
        """Largest memory of the fused graph, from the memory of one view's ``graph`` and of a ``dense`` graph."""
        return n_views * graph if graph < dense else graph

    def __repr__(self) -> str:
        return f"<fusion {self.name!r}>"


def _weighted_sum(graphs: Sequence[Graph], weights: Sequence[float]) -> Any:
    dtype = graphs[0].dtype
    if all(map(is_sparse, graphs)):
        total: Any = graphs[0] * dtype.type(weights[0])
        for Z, weight in zip(graphs[1:], weights[1:], strict=True):
            total = total + Z * dtype.type(weight)
        return sp.csr_array(total)
    total = np.zeros(graphs[0].shape, dtype=dtype)
    for Z, weight in zip(graphs, weights, strict=True):
        total += dtype.type(weight) * (Z.toarray() if is_sparse(Z) else Z)
    return total


class Unaligned(Fusion):
    """The mean of the graphs, anchors in their given order: the control that shows the effect of alignment."""

    name = "unaligned"
    summary = "the mean of the anchor graphs as they come"
    colours = "#c4500a", "#ff9152"
    aligns = False
    in_every_study = True


class Aligned(Fusion):
    """The mean of the aligned graphs."""

    name = "aligned"
    summary = "the mean of the graphs after their anchors are matched"
    colours = "#0069a8", "#5bb8f5"
    in_every_study = True


class Rotated(Fusion):
    """The mean of the aligned graphs, each rotated towards the others."""

    name = "rotated"
    summary = "the mean of the graphs after they are matched and then rotated towards each other"
    colours = "#6f4aa8", "#c3a1f7"
    needs_spectral = True
    uses_grams = True
    multiplies = True

    def maps(self, orders: Sequence[Order], grams: GramMatrices | None) -> Sequence[Order]:
        assert grams is not None
        return rotations(grams, orders)

    def graph_bytes(self, graph: int, dense: int, n_views: int) -> int:
        return dense


class Concat(Fusion):
    """The graphs side by side, which no alignment can change. Weights, over their mean, multiply columns."""

    name = "concat"
    summary = "the graphs side by side, which no alignment can change"
    colours = "#6b737c", "#a9b1ba"
    aligns = False
    weighs_views = False
    in_every_study = True

    def maps(self, orders: Sequence[Order], grams: GramMatrices | None) -> Sequence[Order]:
        # Side by side, there are no columns without an anchor.
        return [order[order >= 0] if order.ndim == 1 else order for order in orders]

    def fuse(self, graphs: Sequence[Graph], weights: Sequence[float], present: BoolArray | None = None) -> Any:
        factors = [graphs[0].dtype.type(weight * len(graphs)) for weight in weights]
        if all(map(is_sparse, graphs)):
            blocks = [Z * factor for Z, factor in zip(graphs, factors, strict=True)]
            return sp.csr_array(sp.hstack(blocks, format="csr"))
        edges = np.cumsum([0, *(Z.shape[1] for Z in graphs)])
        wide = np.empty((graphs[0].shape[0], edges[-1]), dtype=graphs[0].dtype)
        for Z, factor, left, right in zip(graphs, factors, edges[:-1], edges[1:], strict=True):
            wide[:, left:right] = factor * (Z.toarray() if is_sparse(Z) else Z)
        return wide

    def gram(self, grams: GramMatrices, maps: Sequence[Order], weights: Sequence[float]) -> FloatArray | None:
        views, factors = range(grams.n_views), np.asarray(weights) * grams.n_views
        blocks = [
            [factors[u] * factors[v] * aligned_product(grams.cross(u, v), maps[u], maps[v]) for v in views]
            for u in views
        ]
        return np.block(blocks)

    def graph_bytes(self, graph: int, dense: int, n_views: int) -> int:
        return n_views * graph


# Every list of fusions begins with these, in this order.
FUSIONS: tuple[Fusion, ...] = (Unaligned(), Aligned(), Rotated(), Concat())
