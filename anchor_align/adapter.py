"""The plug-in contract: what a method supplies (anchor graphs) and consumes (the fused graph)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ._graph_rows import store
from ._made_graphs import graphs_by_block, graphs_by_chunk
from ._spectral import spectral_labels
from ._types import FloatArray, Graph, IndexArray, is_dask
from ._validation import same_chunks
from .errors import AdapterError, InputError, InputTypeError


@dataclass(frozen=True, eq=False)
class AnchorGraphs:
    """What an adapter makes of the views.

    Parameters
    ----------
    graphs : list of array or sparse of shape (n_samples, n_anchors)
        One graph per view, finite; by custom rows are >= 0 and sum to one, and others are warned of. Empty from
        :meth:`Adapter.learn_anchors`, and from a fit that keeps no graphs.
    anchors : list of array of shape (n_anchors, n_features of the view), optional
        In the coordinates that the adapter works in: scaled, if it scales.
    aligned : bool, default=False
        True says that the columns of all views correspond already, for instance because the same samples are the
        anchors of every view. They are then left in their order.
    state : object, optional
        Whatever the adapter needs to make graphs of new samples; only the adapter looks at it.
    """

    graphs: Sequence[Any]
    anchors: Sequence[Any] | None = None
    aligned: bool = False
    state: Any = None


class Adapter(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Base class of all adapters; this text is the contract.

    Constructor parameters are the method's own settings, each with a default, stored under their own names and
    checked when they are used: scikit-learn's conventions, so that ``get_params``, ``set_params`` and ``clone`` work.
    An adapter keeps nothing between calls; what :meth:`new_graphs` will need goes into ``AnchorGraphs.state``.

    Required
        ``name`` : class attribute, the name users type: lower-case letters, digits, "-" and "_".

        :meth:`anchor_graphs` : called first, once for each fit. Or, for graphs larger than memory,
        :meth:`learn_anchors` and :meth:`new_graphs`: the second is then called for one block of samples after the
        other, from several threads.

    Optional, each with a default
        ``chooses_n_anchors`` : class attribute; True for a method that finds the number of anchors on its own. Others
        must return graphs on as many anchors as they are told.

        ``works_on_dask`` : class attribute; True says that :meth:`learn_anchors` takes views that are Dask arrays. It
        reaches their rows through :func:`anchor_align.blocks.view_rows`; :meth:`new_graphs` gets one chunk after the
        other as plain arrays, on the workers. If :meth:`view_weights` and :meth:`cluster` are the adapter's own, they
        get graphs as Dask arrays.

        ``views_apart`` : class attribute or property; True says that anchors and graph of a view depend on that view
        alone. :meth:`learn_anchors` may then get views of different numbers of samples, as many as each of them has,
        and a list of numbers of anchors, one for each view. For other adapters all views must have the same number of
        anchors, and if some views lack samples, anchors are learned from the samples that all views have.

        :meth:`default_n_anchors` : called before :meth:`anchor_graphs` if the user names no number of anchors.

        :meth:`view_weights` : called with the graphs in their common order, before they are averaged.

        :meth:`cluster` : called with the fused graph, once for each way of fusing.

        :meth:`new_graphs` : called for samples that were not there when the anchors were chosen.

    Views, graphs and anchors handed to an adapter are read-only. What it returns is checked: a result of the wrong
    shape, with NaN or with more clusters than asked for is refused with the adapter's name. Randomness comes from
    ``random_state`` alone, an int; :func:`view_seeds` makes one seed of each view from it.

    Examples
    --------
    A method is one class; a hook, found through an entry point, offers it (see :mod:`anchor_align.hookspecs`).

    >>> import numpy as np
    >>> from anchor_align import Adapter, AlignedClusterer, AnchorGraphs, view_seeds
    >>> class RandomSamples(Adapter):
    ...     name = "random-samples"
    ...
    ...     def __init__(self, width=1.0):
    ...         self.width = width
    ...
    ...     def anchor_graphs(self, views, *, n_clusters, n_anchors, random_state):
    ...         graphs = []
    ...         for X, seed in zip(views, view_seeds(random_state, len(views))):
    ...             rows = np.random.default_rng(seed).choice(len(X), n_anchors, replace=False)
    ...             squares = ((X[:, None, :] - X[rows]) ** 2).sum(axis=2)
    ...             Z = np.exp(-squares / self.width)
    ...             graphs.append(Z / Z.sum(axis=1, keepdims=True))
    ...         return AnchorGraphs(graphs)
    >>> from anchor_align.data import make_simulated
    >>> views = make_simulated(0).views
    >>> labels = AlignedClusterer(RandomSamples(), n_clusters=4, n_anchors=20, random_state=0).fit_predict(views)
    >>> labels.shape
    (200,)
    """

    name: str = ""
    chooses_n_anchors: bool = False
    works_on_dask: bool = False
    views_apart: bool = False

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Choose anchors in every view and build the anchor graphs. Required, unless :meth:`learn_anchors` is there.

        Parameters
        ----------
        views : list of ndarray or csr_array of shape (n_samples, n_features of the view)
            Finite, float32 or float64, read-only. They may be memmaps. Of Dask arrays, if ``works_on_dask``, the
            graphs are Dask arrays, whose chunks are made when they are needed.
        n_clusters, n_anchors : int
        random_state : int
            The only source of randomness.

        Returns
        -------
        AnchorGraphs
        """
        if not self.works_by_blocks:
            raise AdapterError(f"Adapter {self.name!r} does not define anchor_graphs.")
        views = same_chunks(views, range(len(views)))
        learned = self.learn_anchors(views, n_clusters=n_clusters, n_anchors=n_anchors, random_state=random_state)
        if not isinstance(learned, AnchorGraphs):
            raise AdapterError(
                f"Adapter {self.name!r} returned {type(learned).__name__} from learn_anchors; expected AnchorGraphs."
            )
        if is_dask(views[0]):
            return replace(learned, graphs=graphs_by_chunk(self, views, learned).arrays())
        made = graphs_by_block(self, views, learned)
        return replace(learned, graphs=store(made.blocks, made.n_samples, width=made.width))

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: Any, random_state: int
    ) -> AnchorGraphs:
        """Choose anchors in every view, without the graphs; :meth:`new_graphs` makes them, also of these samples.

        With it a fit can keep its graphs on disk or keep none.

        Parameters
        ----------
        views : list of ndarray or csr_array of shape (n_samples, n_features of the view)
            Finite, read-only, and of any real dtype: :class:`anchor_align.blocks.ScaledRows` gives them as floats.
        n_clusters, n_anchors, random_state : int
            As for :meth:`anchor_graphs`; if ``views_apart``, ``n_anchors`` may be a list.

        Returns
        -------
        AnchorGraphs
            With ``graphs=()``.
        """
        raise AdapterError(f"Adapter {self.name!r} does not define learn_anchors.")

    def graph_bytes(self, n_samples: int, n_anchors: int, itemsize: int) -> int:
        """Memory that one graph takes, with numbers of ``itemsize`` bytes; a dense graph by default."""
        return n_samples * n_anchors * itemsize

    @property
    def works_by_blocks(self) -> bool:
        """Whether anchors are learned without making the graphs."""
        return type(self).learn_anchors is not Adapter.learn_anchors

    @property
    def weighs_views(self) -> bool:
        """Whether :meth:`view_weights` is the method's own."""
        return type(self).view_weights is not Adapter.view_weights

    @property
    def clusters_spectrally(self) -> bool:
        """Whether the fused graph is clustered as :meth:`cluster` does by default."""
        return type(self).cluster is Adapter.cluster

    def default_n_anchors(self, n_samples: int, n_clusters: int) -> int:
        """Number of anchors if the user names none: two for each cluster, no more than samples."""
        return min(2 * n_clusters, n_samples)

    def view_weights(self, graphs: Sequence[Graph], *, n_clusters: int, random_state: int) -> FloatArray | None:
        """Weight of every view in the mean of the graphs, >= 0; None (the default) weighs all the same."""
        return None

    def cluster(self, graph: Graph, *, n_clusters: int, random_state: int) -> IndexArray:
        """Cluster the fused graph.

        By default: the leading left singular vectors, one for each cluster, rows scaled to unit length, k-means.

        Parameters
        ----------
        graph : ndarray or csr_array of shape (n_samples, n_anchors), or side by side for "concat"
            Read-only.
        n_clusters : int
        random_state : int

        Returns
        -------
        ndarray of int of shape (n_samples,)
            At most ``n_clusters`` different labels.
        """
        return spectral_labels(graph, n_clusters, random_state)

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> Sequence[Graph]:
        """Graphs of new samples against the anchors of ``learned``, as :meth:`anchor_graphs` returned it."""
        raise InputError(f"Adapter {self.name!r} cannot make graphs of new samples: it does not define new_graphs.")


class FunctionAdapter(Adapter):
    """Adapter made from functions, for methods that cannot be subclassed.

    Parameters
    ----------
    name : str
    anchor_graphs_function : callable
        Called as ``f(views, n_clusters=..., n_anchors=..., random_state=...)``; returns :class:`AnchorGraphs` or a
        plain list of graphs.
    cluster_function : callable, optional
        Called as ``f(graph, n_clusters=..., random_state=...)``; returns labels. By default the graph is clustered as
        :meth:`Adapter.cluster` does.
    new_graphs_function : callable, optional
        Called as ``f(views, learned)``; returns a list of graphs of new samples.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import AlignedClusterer, FunctionAdapter
    >>> def thirds(views, *, n_clusters, n_anchors, random_state):
    ...     return [np.eye(n_anchors)[np.arange(len(X)) * n_anchors // len(X)] for X in views]
    >>> adapter = FunctionAdapter("thirds", thirds)
    >>> AlignedClusterer(adapter, n_clusters=3, n_anchors=3, random_state=0).fit_predict([np.zeros((6, 2))]).tolist()
    [0, 0, 1, 1, 2, 2]
    """

    def __init__(
        self,
        name: str = "",
        anchor_graphs_function: Callable[..., Any] | None = None,
        cluster_function: Callable[..., Any] | None = None,
        new_graphs_function: Callable[..., Any] | None = None,
    ) -> None:
        self.name = name
        self.anchor_graphs_function = anchor_graphs_function
        self.cluster_function = cluster_function
        self.new_graphs_function = new_graphs_function

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Call ``anchor_graphs_function``."""
        if self.anchor_graphs_function is None:
            return super().anchor_graphs(views, n_clusters=n_clusters, n_anchors=n_anchors, random_state=random_state)
        options = {"n_clusters": n_clusters, "n_anchors": n_anchors, "random_state": random_state}
        made = self._call("anchor_graphs_function", views, **options)
        return made if isinstance(made, AnchorGraphs) else AnchorGraphs(made)

    @property
    def clusters_spectrally(self) -> bool:
        """Whether there is no ``cluster_function``."""
        return self.cluster_function is None

    def cluster(self, graph: Graph, *, n_clusters: int, random_state: int) -> IndexArray:
        """Call ``cluster_function``, if there is one."""
        if self.cluster_function is None:
            return super().cluster(graph, n_clusters=n_clusters, random_state=random_state)
        labels: IndexArray = self._call("cluster_function", graph, n_clusters=n_clusters, random_state=random_state)
        return labels

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> Sequence[Graph]:
        """Call ``new_graphs_function``, if there is one."""
        if self.new_graphs_function is None:
            return super().new_graphs(views, learned)
        graphs: Sequence[Graph] = self._call("new_graphs_function", views, learned)
        return graphs

    def _call(self, which: str, *arguments: Any, **options: Any) -> Any:
        """Call a function of the user, and say so if it cannot be called in this way."""
        function = getattr(self, which)
        if not isinstance(self.name, str):
            raise InputTypeError(f"The name of a FunctionAdapter must be a text, got {type(self.name).__name__}.")
        if not callable(function):
            raise InputTypeError(f"Adapter {self.name!r}: {which} must be a function, got {type(function).__name__}.")
        try:
            inspect.signature(function).bind(*arguments, **options)
        except TypeError as error:
            call = ", ".join(["..." for _ in arguments] + [f"{name}=..." for name in options])
            raise AdapterError(f"Adapter {self.name!r}: {which} is called as f({call}): {error}.") from error
        except ValueError:  # compiled functions may not know their signature
            pass
        return function(*arguments, **options)


def view_seeds(random_state: int, n_views: int) -> list[int]:
    """One seed for each view, made from one number.

    A shared seed makes random choices alike in all views, which hides that their anchors do not correspond.

    Examples
    --------
    >>> from anchor_align import view_seeds
    >>> len(set(view_seeds(0, 5)))
    5
    """
    return [int(np.random.SeedSequence([random_state, view]).generate_state(1)[0]) for view in range(n_views)]
