"""What a saved model holds, written to and read from a file.

A model has what new samples need: anchors, the adapter's own data, the order of the anchors, directions of the
embedding and means of the clusters. It has no labels and nothing else that grows with the samples; adapters whose
clusters are not those of the nearest mean also keep the fused rows of up to about 10,000 samples.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import __version__
from ..errors import AnchorAlignError, FileError, InputError, PluginError, UnknownNameError
from ..fusion import Fusion, Recipe
from ..graphs import SpectralEmbedding
from ..plugins import Adapter, AnchorGraphs, FunctionAdapter, get_adapter, get_fusion
from ._chosen_settings import with_choice
from ._model_files import read_model, write_model
from ._prediction import KnownRows, Prediction
from ._views import Layout, check_views

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
        refuse_unknown(path, "parts", content, CONTENT)
        with _damaged(path):
            facts = ModelFacts(
                saved_by=str(content["saved_by"]),
                adapter=str(content["adapter"]["name"]),
                adapter_module=str(content["adapter"]["module"]),
                fusion=str(content["fusion"]),
                adapter_params=dict(content["adapter"]["params"]),
                parameters=dict(content["parameters"]),
                views={name: Layout(int(n), columns) for name, (n, columns) in content["views"].items()},
                n_anchors=tuple(map(int, content["sizes"])),
                n_samples=int(content["n_samples"]),
                cluster_sizes=tuple(map(int, content["cluster_sizes"])),
                weights=tuple(map(float, content["weights"])),
                n_known=0 if content["known"] is None else len(content["known"]["labels"]),
            )
        return cls(os.fspath(path), content, facts)

    def prediction(self, adapter: Adapter, fusion: Fusion | None = None) -> Prediction:
        """The steps for new samples, tried on two rows of zeros: a file that is wrong inside is found here."""
        fusion = self._fusion() if fusion is None else fusion
        with _damaged(self.path):
            content = self.content
            learned, known = content["learned"], content["known"]
            prediction = Prediction(
                with_choice(adapter, content.get("chosen", {})),
                AnchorGraphs((), learned["anchors"], bool(learned["aligned"]), learned["state"]),
                self.facts.n_anchors,
                Recipe(fusion, tuple(content["maps"]), self.facts.weights),
                SpectralEmbedding(content["projection"], content["singular_values"]),
                content["means"],
                None if known is None else KnownRows(known["graph"], known["labels"]),
            )
            k, names = len(self.facts.cluster_sizes), self.facts.views
            zeros = {name: np.zeros((2, each.n_features)) for name, each in names.items()}
            found = prediction.assigned(check_views(zeros))
            if prediction.means.shape[0] != k or not np.isfinite(prediction.means).all() or found["label"].max() >= k:
                raise ValueError(f"its {k} clusters and their means do not fit together")
            labels = None if prediction.known is None else prediction.known.labels
            if labels is not None and not (labels.dtype.kind in "iu" and 0 <= labels.min() <= labels.max() < k):
                raise ValueError(f"it has labels other than 0 to {k - 1}")
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


def refuse_unknown(path: str | os.PathLike[str], what: str, names: Iterable[str], known: Container[str]) -> None:
    """Refuse a model of a newer anchor-align: what it has beyond the known names may change its labels."""
    unknown = sorted(name for name in names if name not in known)
    if unknown:
        raise FileError(
            f"The model {os.fspath(path)} has {what} that this anchor-align does not know: "
            f"{', '.join(map(repr, unknown[:5]))}. Install the anchor-align that saved it, or save it again."
        )


@contextmanager
def _damaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever a file that is wrong inside causes into one sentence."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        said = reason if isinstance(error, AnchorAlignError) else f"{type(error).__name__}: {reason}"
        raise FileError(f"The model {os.fspath(path)} cannot be used: {said}. Save it again.") from error
