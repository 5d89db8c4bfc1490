"""The contract of baselines: methods that go from views to labels, without anchor graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from ..arrays import Graph, IndexArray, is_sparse
from ..blocks import ScaledRows, as_floats, check_finite, check_graph, engine_of, join_tables, read_only
from ..checks import check_flag, check_whole_number
from ..errors import AdapterError, InputError, InputTypeError, shown
from ._adapter_calls import check_labels


class Baseline(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Base class of all baselines; this text is the contract.

    A baseline is a method that a study compares with adapters. It has no anchor graphs, so there is nothing to align.
    Constructor parameters are the settings of the method, by scikit-learn's conventions: each has a default, is stored
    under its own name and is checked when it is used. A baseline keeps nothing between calls.

    Required
        ``name`` : class attribute, the name that users type: lower-case letters, digits, "-" and "_". Adapters and
        baselines share their names: no baseline can have the name of an adapter.

        :meth:`fit_predict` : called once for each fit. Studies check the views before; :meth:`check_input` does the
        same for users who call the method themselves.

    The views are read-only. The labels are checked: one whole number for each sample, at most ``n_clusters`` different
    ones. The only source of randomness is ``random_state``, an int. A method that needs a matrix of samples x samples
    computes its memory first and raises a ``NotEnoughMemoryError`` if there is not enough.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import Baseline
    >>> class Thresholds(Baseline):
    ...     name = "thresholds"
    ...
    ...     def __init__(self, feature=0):
    ...         self.feature = feature
    ...
    ...     def fit_predict(self, views, *, n_clusters, random_state):
    ...         column = views[0][:, self.feature]
    ...         return np.searchsorted(np.quantile(column, np.arange(1, n_clusters) / n_clusters), column)
    >>> Thresholds().fit_predict([np.arange(6.0)[:, None]], n_clusters=3, random_state=0).tolist()
    [0, 0, 1, 1, 2, 2]
    """

    name: str = ""

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        """Find the clusters of all samples. Required.

        Parameters
        ----------
        views : list of ndarray or csr_array of shape (n_samples, n_features of the view)
            Finite, float32 or float64, read-only, with the same samples.
        n_clusters : int
        random_state : int
            The only source of randomness.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            At most ``n_clusters`` different labels.
        """
        raise AdapterError(f"Baseline {self.name!r} does not define fit_predict.")

    def check_input(self, views: Any, n_clusters: int) -> list[Graph]:
        """Check the views: finite numbers, the same samples in all, and at least one sample for each cluster.

        Tables that name their samples are put in the order of the first view.

        Returns
        -------
        list of ndarray or csr_array
            float32 or float64, read-only.

        Raises
        ------
        InputError
            If views or ``n_clusters`` cannot be used.
        """
        if isinstance(views, (str, bytes)) or not isinstance(views, Sequence):
            raise InputTypeError(f"Expected a list of views, samples x features each, got {type(views).__name__}.")
        tables = {str(view): X for view, X in enumerate(views)}
        found, _ = join_tables(tables, None, lambda X, view: check_graph(X, view, "features"))
        if not found:
            raise InputError("Got no view; expected one or more, samples x features each.")
        n = int(found[0].shape[0])
        for view, X in enumerate(found):
            if engine_of(X).distributed:
                raise InputTypeError(f"Baseline {self.name!r} needs views in memory; view {view} is on a cluster.")
            if X.shape[0] != n:
                raise InputError(f"View 0 has {n} samples; view {view} has {X.shape[0]}.")
        check_finite(found, [str(view) for view in range(len(found))], "views")
        if check_whole_number("n_clusters", n_clusters, least=1) > n:
            raise InputError(f"n_clusters must be at most the number of samples, {n}; got {n_clusters}.")
        return [read_only(as_floats(X)) for X in found]


class FunctionBaseline(Baseline):
    """A function from views to labels; see :func:`as_baseline`."""

    def __init__(self, function: Callable[..., Any] | None = None, name: str = "") -> None:
        self.function = function
        self.name = name

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        if self.function is None:
            return super().fit_predict(views, n_clusters=n_clusters, random_state=random_state)
        return np.asarray(self.function(views, n_clusters=n_clusters, random_state=random_state))


class ClustererBaseline(Baseline):
    """A scikit-learn clusterer on the views side by side, each divided by its spread; see :func:`as_baseline`."""

    def __init__(self, clusterer: Any = None, name: str = "", *, scaled: bool = True) -> None:
        self.clusterer = clusterer
        self.name = name
        self.scaled = scaled

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        clusterer = clone(self.clusterer)
        known = clusterer.get_params(deep=True)
        # A pipeline has these settings in its last step, a mixture calls the clusters components.
        steps = f"{clusterer.steps[-1][0]}__" if hasattr(clusterer, "steps") else ""
        wanted = {"n_clusters": n_clusters, "n_components": n_clusters, "random_state": random_state}
        if f"{steps}n_clusters" in known:
            del wanted["n_components"]
        clusterer.set_params(**{steps + key: value for key, value in wanted.items() if steps + key in known})
        matrices: list[Any] = self.check_input(views, n_clusters)
        if self.scaled:
            matrices = [X / _spread(X) for X in matrices]
        whole = sp.hstack(matrices, format="csr") if any(map(is_sparse, matrices)) else np.hstack(matrices)
        return np.asarray(clusterer.fit_predict(whole))


def as_baseline(clusterer: Any, name: str | None = None, *, scaled: bool = True) -> Baseline:
    """Make a baseline from a scikit-learn clusterer, which clusters the views side by side, or from a function.

    Parameters
    ----------
    clusterer : estimator with ``fit_predict``, or callable
        A function is called as ``f(views, n_clusters=..., random_state=...)`` and returns labels.
        For every fit a copy gets ``n_clusters`` (or ``n_components``) and ``random_state``, if it has these settings.
        For a pipeline they are set in its last step.
    name : str, optional
        Name in tables; by default the name of the class in lower case, or that of the function.
    scaled : bool, default=True
        Divide every view by the square root of the total variance of its features, so that all views count the same.
        A function gets the views as they are.

    Returns
    -------
    Baseline

    Raises
    ------
    InputTypeError
        If ``clusterer`` is neither a function nor an instance with ``fit_predict`` and ``get_params``, ``name`` is not
        text, or ``scaled`` is not True or False.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from anchor_align import as_baseline
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> baseline = as_baseline(KMeans(n_init=10))
    >>> acc(data.labels, baseline.fit_predict(data.views, n_clusters=4, random_state=0))
    1.0
    """
    if name is not None and not isinstance(name, str):
        raise InputTypeError(f"name must be the name of the baseline, got {shown(name)}.")
    check_flag("scaled", scaled)
    usable = all(callable(getattr(clusterer, each, None)) for each in ("fit_predict", "get_params"))
    if not usable and callable(clusterer) and not isinstance(clusterer, type):
        return FunctionBaseline(clusterer, getattr(clusterer, "__name__", "function") if name is None else name)
    if isinstance(clusterer, type) or not usable:
        raise InputTypeError(
            f"A baseline is made from a clusterer with fit_predict and get_params, got {shown(clusterer)}."
            + (" Pass an instance, not the class." if isinstance(clusterer, type) else "")
        )
    return ClustererBaseline(clusterer, type(clusterer).__name__.lower() if name is None else name, scaled=scaled)


def baseline_labels(baseline: Baseline, views: Any, *, n_clusters: int, random_state: int) -> IndexArray:
    """Checked labels of a baseline, numbered in the order in which clusters first appear."""
    checked = baseline.check_input(views, n_clusters)
    made = baseline.fit_predict(checked, n_clusters=n_clusters, random_state=random_state)
    return check_labels(f"Baseline {baseline.name!r}", made, checked[0].shape[0], n_clusters)[0]


def _spread(X: Any) -> float:
    """Square root of the total variance of the features; one for constant views."""
    return float(np.sqrt(ScaledRows(X).stats().variance.sum())) or 1.0
