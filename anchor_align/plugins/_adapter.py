"""The contract of adapters: they make anchor graphs and may cluster the fused graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..arrays import BoolArray, FloatArray, Graph, IndexArray
from ..blocks import same_chunks
from ..checks import check_whole_number
from ..errors import AdapterError, InputError, InputTypeError
from ..graphs import spectral_labels
from ._adapter_calls import made_graphs


@dataclass(frozen=True, eq=False)
class AnchorGraphs:
    """The result of an adapter: anchor graphs, and data to make graphs of new samples.

    Parameters
    ----------
    graphs : list of array or sparse of shape (n_samples, n_anchors)
        One graph per view, finite. Rows should be >= 0 and sum to one; other graphs give a warning. Empty from
        :meth:`Adapter.learn_anchors`, and from a fit that keeps no graphs.
    anchors : list of array of shape (n_anchors, n_features of the view), optional
        Anchors in the coordinates of the adapter: scaled, if it scales the views.
    aligned : bool, default=False
        True if the columns of all views already correspond, for example because the same samples are the anchors of
        every view. They then stay in their order.
    state : object, optional
        Data that the adapter needs to make graphs of new samples. Only the adapter uses it. A model can be saved if the
        state, as the anchors and the settings of the adapter, is made of numbers, texts, True, False, None, arrays and
        CSR arrays of numbers, slices, and lists, tuples and dicts of these. It should not grow with the samples.
    """

    graphs: Sequence[Any]
    anchors: Sequence[Any] | None = None
    aligned: bool = False
    state: Any = None


class Adapter(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Base class of all adapters; this text is the contract.

    Constructor parameters are the settings of the method. Each has a default, is stored under its own name and is
    checked when it is used. These are scikit-learn's conventions: ``get_params``, ``set_params`` and ``clone`` work. An
    adapter keeps nothing between calls; data for :meth:`new_graphs` belong in ``AnchorGraphs.state``.

    Required
        ``name`` : class attribute, the name that users type: lower-case letters, digits, "-" and "_".

        :meth:`anchor_graphs` : called first, once for each fit. Or, for graphs larger than memory,
        :meth:`learn_anchors` and :meth:`new_graphs`: the second is then called for every block of samples, from several
        threads.

    Optional, each with a default
        ``chooses_n_anchors`` : class attribute; True for a method that finds the number of anchors. Other methods must
        return graphs with the given number of anchors. It also sets ``views_apart``: the views may have different
        numbers.

        ``works_on_dask`` : class attribute; True if :meth:`learn_anchors` accepts Dask arrays as views. It reads their
        rows through :func:`anchor_align.blocks.view_rows`; :meth:`new_graphs` gets the chunks as plain arrays, on the
        workers. If the adapter defines :meth:`view_weights` or :meth:`cluster`, they get graphs as Dask arrays.

        ``views_apart`` : class attribute or property; True if anchors and graph of a view depend on that view only. By
        default it is ``chooses_n_anchors``; a method that finds one number for common anchors sets it to False.
        :meth:`learn_anchors` may then get only the present samples of each view, so that their numbers differ, and a
        list of numbers of anchors, one for each view. For other adapters all views must have the same number of
        anchors, and with missing samples, anchors are learned from the samples that all views have.

        ``column_scaling`` : class attribute or setting; scale of the fused graph's columns before the default
        :meth:`cluster`. A number tau >= 0 divides each column by the root of its sum plus tau times the mean of all
        sums, so that anchors with many samples do not dominate. None: no scaling.

        ``directions`` : class attribute or setting; singular directions for each cluster in the default
        :meth:`cluster`, 1 or more. With more than 1, they are weighted by their singular values.

        ``match_by_clusters`` : class attribute or setting; True if anchors are matched by the clusters of a first
        clustering, that of the graphs side by side, before the objective decides between those of the same cluster. For
        adapters with the default :meth:`cluster`; not used if samples are missing.

        ``in_content_order`` : class attribute; True if the views may have their samples in another order, which depends
        on their content only. The results are put back in the order of the data. Then the order of the rows changes
        nothing, not even the last digit: for methods that enlarge rounding, or that break ties by the place of a
        sample. Only for data of at most 100,000 samples and 256 MB in memory or in files. Not for an adapter with data
        of its own that have a row for each sample.

        :meth:`default_n_anchors` : called before :meth:`anchor_graphs` if the user gives no number of anchors.

        :meth:`view_weights` : called with the graphs in their common order, before the mean.

        :meth:`cluster` : called with the fused graph, once for each fusion.

        :meth:`new_graphs` : called for samples that were not used to choose the anchors.

        :meth:`choose_settings` : called before anchors are learned; settings that depend on the data.

    Views, graphs and anchors are read-only for an adapter. Its results are checked: a wrong shape, NaN or more clusters
    than ``n_clusters`` give an error with the name of the adapter. The only source of randomness is ``random_state``,
    an int; :func:`view_seeds` makes one seed for each view from it.

    Examples
    --------
    A method is one class. A hook, found through an entry point, returns it (see :mod:`anchor_align.hookspecs`).

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
    column_scaling: float | None = None
    directions: float = 1.0
    match_by_clusters: bool = False
    in_content_order: bool = False

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Choose anchors in every view and make the anchor graphs. Required without :meth:`learn_anchors`.

        Parameters
        ----------
        views : list of ndarray or csr_array of shape (n_samples, n_features of the view)
            Finite, float32 or float64, read-only. They may be memmaps. For Dask arrays, if ``works_on_dask``, the
            graphs are Dask arrays; their chunks are made when they are needed.
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
        return replace(learned, graphs=made_graphs(self, views, learned).arrays())

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: Any, random_state: int
    ) -> AnchorGraphs:
        """Choose anchors in every view, without the graphs. :meth:`new_graphs` makes the graphs, also of these samples.

        With this method a fit can store its graphs on disk or not at all.

        Parameters
        ----------
        views : list of ndarray or csr_array of shape (n_samples, n_features of the view)
            Finite, read-only, of any real dtype: :class:`anchor_align.blocks.ScaledRows` reads them as floats.
        n_clusters, n_anchors, random_state : int
            As for :meth:`anchor_graphs`; if ``views_apart``, ``n_anchors`` may be a list.

        Returns
        -------
        AnchorGraphs
            With ``graphs=()``.
        """
        raise AdapterError(f"Adapter {self.name!r} does not define learn_anchors.")

    def graph_bytes(self, n_samples: int, n_anchors: int, itemsize: int) -> int:
        """Memory of one graph, with numbers of ``itemsize`` bytes. By default the graph is dense."""
        return n_samples * n_anchors * itemsize

    @property
    def views_apart(self) -> bool:
        """Whether anchors and graph of a view depend on that view only."""
        return self.chooses_n_anchors

    @property
    def works_by_blocks(self) -> bool:
        """Whether anchors are learned without making the graphs."""
        return type(self).learn_anchors is not Adapter.learn_anchors

    @property
    def weighs_views(self) -> bool:
        """Whether the adapter defines :meth:`view_weights`."""
        return type(self).view_weights is not Adapter.view_weights

    @property
    def clusters_spectrally(self) -> bool:
        """Whether the fused graph is clustered by the default :meth:`cluster`."""
        return type(self).cluster is Adapter.cluster

    def default_n_anchors(self, n_samples: int, n_clusters: int) -> int:
        """Number of anchors if the user gives none: two for each cluster, at most the number of samples."""
        return min(2 * n_clusters, n_samples)

    def choose_settings(
        self, views: Sequence[Any], *, n_anchors: Any, random_state: int, mask: BoolArray | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Choose settings from the data; the fit then uses a copy of the adapter with them. By default none.

        Parameters
        ----------
        views, n_anchors, random_state
            As for :meth:`learn_anchors`, but always with all samples of every view.
        mask : ndarray of bool of shape (n_views, n_samples), optional
            False where a sample is missing; such rows may hold anything.

        Returns
        -------
        settings, scores : dict
            The chosen settings, and the numbers behind the choice, by name; lists are by view. Users see both in
            ``AlignedClusterer.chosen_``.
        """
        return {}, {}

    def view_weights(self, graphs: Sequence[Graph], *, n_clusters: int, random_state: int) -> FloatArray | None:
        """Weight of every view in the mean of the graphs, >= 0. None (the default): equal weights."""
        return None

    def cluster(self, graph: Graph, *, n_clusters: int, random_state: int) -> IndexArray:
        """Cluster the fused graph.

        By default: k-means on the leading left singular vectors, with rows of unit length, as
        ``column_scaling`` and ``directions`` say.

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
        scaling, directions = self.column_scaling, self.directions
        return spectral_labels(graph, n_clusters, random_state, column_scaling=scaling, directions=directions)

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> Sequence[Graph]:
        """Graphs of new samples on the anchors of ``learned``, the result of :meth:`anchor_graphs`."""
        raise InputError(f"Adapter {self.name!r} cannot make graphs of new samples: it does not define new_graphs.")


class FunctionAdapter(Adapter):
    """An adapter made from functions, for methods that are not classes.

    Parameters
    ----------
    name : str
    anchor_graphs_function : callable
        Called as ``f(views, n_clusters=..., n_anchors=..., random_state=...)``; returns :class:`AnchorGraphs` or a
        plain list of graphs.
    cluster_function : callable, optional
        Called as ``f(graph, n_clusters=..., random_state=...)``; returns labels. By default :meth:`Adapter.cluster`.
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
        if self.anchor_graphs_function is None:
            return super().anchor_graphs(views, n_clusters=n_clusters, n_anchors=n_anchors, random_state=random_state)
        options = {"n_clusters": n_clusters, "n_anchors": n_anchors, "random_state": random_state}
        made = self._call("anchor_graphs_function", views, **options)
        return made if isinstance(made, AnchorGraphs) else AnchorGraphs(made)

    @property
    def clusters_spectrally(self) -> bool:
        return self.cluster_function is None

    def cluster(self, graph: Graph, *, n_clusters: int, random_state: int) -> IndexArray:
        if self.cluster_function is None:
            return super().cluster(graph, n_clusters=n_clusters, random_state=random_state)
        labels: IndexArray = self._call("cluster_function", graph, n_clusters=n_clusters, random_state=random_state)
        return labels

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> Sequence[Graph]:
        if self.new_graphs_function is None:
            return super().new_graphs(views, learned)
        graphs: Sequence[Graph] = self._call("new_graphs_function", views, learned)
        return graphs

    def _call(self, which: str, *arguments: Any, **options: Any) -> Any:
        """Call a function of the user; raise an AdapterError if its parameters do not fit."""
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
        except ValueError:  # compiled functions may have no signature
            pass
        return function(*arguments, **options)


def view_seeds(random_state: int, n_views: int) -> list[int]:
    """One seed for each view, made from one number.

    With the same seed, random choices would be equal in all views; anchors would then seem to correspond.

    Examples
    --------
    >>> from anchor_align import view_seeds
    >>> len(set(view_seeds(0, 5)))
    5
    """
    seed, count = check_whole_number("random_state", random_state), check_whole_number("n_views", n_views)
    return [int(np.random.SeedSequence([seed, view]).generate_state(1)[0]) for view in range(count)]
