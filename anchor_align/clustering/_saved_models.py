"""What a saved model holds, written to and read from a file.

A model has what new samples need: anchors, the adapter's own data, the order of the anchors, directions of the
embedding and means of the clusters. It has no labels and nothing else that grows with the samples; adapters whose
clusters are not those of the nearest mean also keep the fused rows of up to about 10,000 samples.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import __version__
from ..arrays import is_sparse
from ..blocks import check_join
from ..checks import check_choice, check_flag, check_whole_number
from ..errors import AnchorAlignError, FileError, InputError, PluginError, UnknownNameError, shown
from ..fusion import Fusion, Recipe, check_weights
from ..graphs import MISSING, SpectralEmbedding
from ..matching import check_lam
from ..plugins import Adapter, AnchorGraphs, FunctionAdapter, get_adapter, get_fusion
from ._chosen_settings import with_choice
from ._model_files import most_columns, read_model, write_model
from ._prediction import KnownRows, Prediction
from ._views import Layout, check_views

# Parameters of the clusterer that a model keeps.
SAVED = ("n_clusters", "n_anchors", "lam", "reference", "weights", "missing", "join", "many_to_one", "column_groups")
PARAMETERS = (*SAVED, "fusion", "random_state")
CONTENT = (
    *("saved_by", "adapter", "fusion", "parameters", "views", "n_samples", "cluster_sizes", "sizes", "maps", "weights"),
    *("learned", "projection", "singular_values", "means", "known"),
    *("permutations", "rotations", "view_weights", "chosen"),
)


@dataclass(frozen=True, eq=False)
class ModelFacts:
    """What ``anchor-align info`` shows about a model.

    Attributes
    ----------
    saved_by : str
        Version of anchor-align that saved the model.
    adapter, adapter_module, fusion : str
        Names of the method and of the fusion; ``adapter_module`` is the Python module of the method.
    adapter_params : dict
        Settings of the adapter.
    parameters : dict
        Parameters of the clusterer.
    views : dict
        Layout of every view, by name.
    n_anchors : tuple of int
        Number of anchors of every view.
    n_samples : int
        Number of samples of the fit.
    cluster_sizes : tuple of int
        Number of samples of the fit in every cluster.
    weights : tuple of float
        Weights of the views.
    n_known : int
        Rows of the fit that the model keeps; 0 if new samples get the nearest mean.
    """

    saved_by: str
    adapter: str
    adapter_module: str
    fusion: str
    adapter_params: Mapping[str, Any]
    parameters: Mapping[str, Any]
    views: Mapping[str, Layout]
    n_anchors: tuple[int, ...]
    n_samples: int
    cluster_sizes: tuple[int, ...]
    weights: tuple[float, ...]
    n_known: int


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model in memory: facts for people, and the plain content of the file."""

    path: str
    content: Mapping[str, Any]
    facts: ModelFacts

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SavedModel:
        """Read a file; nothing of the adapter is loaded or run."""
        content = read_model(path)
        _check_names(path, "parts", content, CONTENT)
        with _damaged(path):
            name, module, params = _entries("adapter", content["adapter"], ("name", "module", "params"))
            _require(type(params) is dict and all(type(each) is str for each in params), "settings", params)
            parameters, sizes, counts = content["parameters"], content["sizes"], content["cluster_sizes"]
            for text in (content["saved_by"], name, module, content["fusion"]):
                _require(type(text) is str, "saved_by, adapter or fusion", text)
            _require(type(parameters) is dict, "parameters", parameters)
            views = _layouts(content["views"], most_columns(os.path.getsize(path)))
            _require(type(sizes) is tuple and len(sizes) == len(views) and _are_counts(sizes), "sizes", sizes)
            _require(type(counts) is list and counts and _are_counts(counts), "cluster_sizes", counts)
            n_samples, weights = content["n_samples"], content["weights"]
            _require(type(n_samples) is int and n_samples == sum(counts), "n_samples", n_samples)
            _require(type(weights) is tuple and all(type(each) is float for each in weights), "weights", weights)
            _require(np.allclose(check_weights(weights, len(views)), weights), "weights", weights)
            _require(type(content["chosen"]) is dict, "chosen", content["chosen"])
            known = content["known"]
            n_known = 0 if known is None else len(_entries("known", known, ("graph", "labels"))[1])
        _check_names(path, "parameters", parameters, PARAMETERS)
        with _damaged(path):
            check_whole_number("n_clusters", parameters["n_clusters"], least=1)
            check_lam(parameters["lam"])
            check_choice("missing", parameters["missing"], MISSING)
            check_join(parameters["join"])
            check_flag("many_to_one", parameters["many_to_one"])
        facts = ModelFacts(
            saved_by=content["saved_by"],
            adapter=name,
            adapter_module=module,
            fusion=content["fusion"],
            adapter_params=params,
            parameters=parameters,
            views=views,
            n_anchors=sizes,
            n_samples=n_samples,
            cluster_sizes=tuple(counts),
            weights=weights,
            n_known=n_known,
        )
        return cls(os.fspath(path), content, facts)

    def prediction(self, adapter: Adapter, fusion: Fusion | None = None) -> Prediction:
        """The steps for new samples, tried on two rows of zeros: a file that is wrong inside is found here."""
        fusion = self._fusion() if fusion is None else fusion
        with _damaged(self.path):
            content, sizes, k = self.content, self.facts.n_anchors, len(self.facts.cluster_sizes)
            anchors, aligned, state = _entries("learned", content["learned"], ("anchors", "aligned", "state"))
            _require(anchors is None or (type(anchors) is list and len(anchors) == len(sizes)), "anchors", anchors)
            _check_orders("maps", content["maps"], sizes)
            _check_orders("permutations", content["permutations"], sizes)
            if content["rotations"] is not None:
                _check_orders("rotations", content["rotations"], sizes)
            if content["view_weights"] is not None:
                _check_array("view_weights", content["view_weights"], len(sizes))
            projection, means, known = content["projection"], content["means"], content["known"]
            width, n_directions = _check_array("projection", projection, None, None)
            _check_array("singular_values", content["singular_values"], n_directions)
            _check_array("means", means, k, n_directions)
            if known is not None:
                (n_known,) = _check_array("labels", known["labels"], None, kinds="iu")
                _check_array("known graph", known["graph"], n_known, width)
                _require(n_known and 0 <= known["labels"].min() <= known["labels"].max() < k, "labels", known["labels"])
            prediction = Prediction(
                with_choice(adapter, content["chosen"]),
                AnchorGraphs((), anchors, check_flag("aligned", aligned), state),
                sizes,
                Recipe(fusion, content["maps"], self.facts.weights),
                SpectralEmbedding(projection, content["singular_values"]),
                means,
                None if known is None else KnownRows(known["graph"], known["labels"]),
            )
            zeros = {name: np.zeros((2, each.n_features)) for name, each in self.facts.views.items()}
            found = prediction.assigned(check_views(zeros))
            _require(found["label"].max() < k, "labels of new samples", found["label"])
        return prediction

    def adapter(self) -> Adapter:
        facts = self.facts
        try:
            return get_adapter(facts.adapter, **facts.adapter_params)
        except (UnknownNameError, PluginError) as error:
            raise FileError(
                f"The model {self.path} needs the adapter {facts.adapter!r} of {facts.adapter_module!r}, which cannot "
                f"be used: {str(error).rstrip('.')}. Install its package, or pass the adapter: load(path, adapter=...) "
                "or --plugin FILE."
            ) from error

    def _fusion(self) -> Fusion:
        try:
            return get_fusion(self.facts.fusion)
        except (UnknownNameError, PluginError) as error:
            raise FileError(
                f"The model {self.path} needs the fusion {self.facts.fusion!r}, which is not installed. Install its "
                "package, or pass the fusion: load(path, fusion=...) or --plugin FILE."
            ) from error


def write_prediction(
    path: str | os.PathLike[str],
    prediction: Prediction,
    adapter: Adapter,
    layout: Mapping[str, Layout],
    parameters: Mapping[str, Any],
    cluster_sizes: list[int],
    others: Mapping[str, Any],
) -> None:
    """Save what new samples need.

    ``adapter`` has the settings of the user; ``others`` are attributes of the clusterer that are restored.
    """
    recipe, learned, known = prediction.recipe, prediction.learned, prediction.known
    function = adapter.new_graphs_function if isinstance(adapter, FunctionAdapter) else type(adapter).new_graphs
    if function in (None, Adapter.new_graphs):
        raise InputError(
            f"Adapter {adapter.name!r} cannot make graphs of new samples: it does not define new_graphs, so a saved "
            "model could not predict."
        )
    write_model(
        path,
        {
            "saved_by": __version__,
            "adapter": {
                "name": adapter.name,
                "module": type(adapter).__module__,
                "params": adapter.get_params(deep=False),
            },
            "fusion": recipe.fusion.name,
            "parameters": parameters,
            "views": {name: (each.n_features, each.columns) for name, each in layout.items()},
            "n_samples": sum(cluster_sizes),
            "cluster_sizes": cluster_sizes,
            "sizes": prediction.sizes,
            "maps": recipe.maps,
            "weights": recipe.weights,
            "learned": {
                "anchors": None if learned.anchors is None else list(learned.anchors),
                "aligned": learned.aligned,
                "state": learned.state,
            },
            "projection": prediction.embedding.projection,
            "singular_values": prediction.embedding.singular_values,
            "means": prediction.means,
            "known": None if known is None else {"graph": known.graph, "labels": known.labels},
            **others,
        },
    )


def _check_names(path: str | os.PathLike[str], what: str, names: Collection[str], known: Collection[str]) -> None:
    """Refuse a model that lacks a name, or of a newer anchor-align: what it has beyond these may change its labels."""
    unknown = sorted((name for name in names if name not in known), key=repr)
    if unknown:
        raise FileError(
            f"The model {os.fspath(path)} has {what} that this anchor-align does not know: "
            f"{', '.join(map(repr, unknown[:5]))}. Install the anchor-align that saved it, or save it again."
        )
    missing = [name for name in known if name not in names]
    if missing:
        raise FileError(f"The model {os.fspath(path)} lacks {what}: {', '.join(missing)}. Save it again.")


def _require(holds: object, what: str, got: object) -> None:
    if not holds:
        raise InputError(f"its {what} cannot be {shown(got)}")


def _entries(what: str, value: Any, names: Sequence[str]) -> list[Any]:
    """Values of a dict with just these names."""
    _require(type(value) is dict and set(value) == set(names), what, value)
    return [value[name] for name in names]


def _are_counts(values: Iterable[Any]) -> bool:
    return all(type(each) is int and each > 0 for each in values)


def _layouts(views: Any, most: int) -> dict[str, Layout]:
    """Layout of every view; together they have at most so many features."""
    _require(type(views) is dict and views and all(type(name) is str for name in views), "views", views)
    for pair in views.values():
        _require(type(pair) is tuple and len(pair) == 2 and _are_counts(pair[:1]), "features of a view", pair)
        _require(pair[1] is None or (type(pair[1]) is tuple and len(pair[1]) == pair[0]), "columns of a view", pair[1])
        hash(pair[1])
    total = sum(n for n, _ in views.values())
    _require(total <= most, "number of features", total)
    return {name: Layout(n, columns) for name, (n, columns) in views.items()}


def _check_array(what: str, value: Any, *sides: int | None, kinds: str = "f") -> tuple[int, ...]:
    """The shape of an array of finite numbers; None is any side."""
    _require(isinstance(value, np.ndarray | sp.csr_array) and value.dtype.kind in kinds, what, value)
    fits = len(value.shape) == len(sides) and all(s in (None, n) for s, n in zip(sides, value.shape, strict=True))
    _require(fits and np.isfinite(value.data if is_sparse(value) else value).all(), what, value)
    return tuple(value.shape)


def _check_orders(what: str, orders: Any, sizes: Sequence[int]) -> None:
    """For every view the anchor of each column, or -1, or a matrix, anchors x columns."""
    _require(isinstance(orders, list | tuple) and len(orders) == len(sizes), what, orders)
    for order, size in zip(orders, sizes, strict=True):
        if getattr(order, "ndim", 0) == 2:
            _check_array(what, order, size, None, kinds="biuf")
        else:
            _check_array(what, order, None, kinds="iu")
            _require(order.size and -1 <= order.min() <= order.max() < size, what, order)


@contextmanager
def _damaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever a file that is wrong inside causes into one sentence."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        said = reason if isinstance(error, AnchorAlignError) else f"{type(error).__name__}: {reason}"
        raise FileError(f"The model {os.fspath(path)} cannot be used: {said}. Save it again.") from error
