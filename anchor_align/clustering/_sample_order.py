"""The order in which a fit goes over the samples.

Some methods enlarge rounding, and sums over samples round differently in another order; some break ties by the place of
a sample. Samples in an order that depends on their content only give such methods the same input, whatever the order of
the rows in the data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Graph, IndexArray, is_sparse
from ..blocks import number_by_appearance, read_only, read_rows
from ..graphs import store
from ..plugins import Adapter
from ._views import Views

# Larger data are not copied. They fit in this order as they do in any other, except for rounding.
MOST_SAMPLES, MOST_BYTES = 100_000, 2**28


def allows_content_order(adapter: Adapter, views: Views) -> bool:
    """Whether a fit may take the samples in an order of their content."""
    small = views.n_samples <= MOST_SAMPLES and sum(n_bytes(X) for X in views.matrices) <= MOST_BYTES
    return adapter.in_content_order and small and not views.distributed


def in_order_of_fit(adapter: Adapter, views: Views, *, by_content: bool | None = None) -> Views:
    """The views as a fit takes them: samples by content, samples with names by name, or as they are.

    ``by_content`` is False if there is no room for the copy; by default it is what adapter and views allow.
    """
    if allows_content_order(adapter, views) if by_content is None else by_content:
        return views.in_order(views.content_order(), on_disk=False)
    order = views.order_of_names if views.is_named else None
    return views if order is None else views.in_order(order)


def labels_of_data(labels: IndexArray, rows: IndexArray | None) -> IndexArray:
    """Labels of a fit in the order of the data, numbered in the order in which clusters first appear in it.

    ``rows`` are the rows of the data, in the order of the fit; None if it is the same.
    """
    return labels if rows is None else number_by_appearance(labels[np.argsort(rows)])[0]


def number_labels(labels: IndexArray, fitted: Views) -> IndexArray:
    """Labels of a fit, in its order. Clusters are numbered as they first appear in the data, or in its sorted names."""
    if fitted.rows is None:
        return labels
    order = fitted.order_of_names if fitted.is_named else np.argsort(fitted.rows)
    numbered = labels.copy()
    if order is not None:
        numbered[order] = number_by_appearance(labels[order])[0]
    return numbered


def graphs_in_order(graphs: Sequence[Graph], order: IndexArray) -> list[Graph]:
    """Rows of graphs in another order, read-only. They are stored where the fit stores graphs."""
    width = sum(Z.shape[1] for Z in graphs)
    stored = store(lambda part: [read_rows(Z, order[part]) for Z in graphs], len(order), width=width)
    return [read_only(Z) for Z in stored]


def n_bytes(X: object) -> int:
    """Memory of a view."""
    return int(X.data.nbytes + X.indices.nbytes if is_sparse(X) else X.nbytes)  # type: ignore[attr-defined]
