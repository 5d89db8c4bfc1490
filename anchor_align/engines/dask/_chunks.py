"""One part of the rows for every chunk, computed by Dask where the chunk is.

Each visit of the chunks is one layer of tasks, written directly: a ``dask.delayed`` object for each takes milliseconds,
and a fit makes hundreds of visits.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import dask.array as da
import dask.threaded
import scipy.sparse as sp
from dask.base import DaskMethodsMixin
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph
from dask.sizeof import sizeof

from ...blocks import Parts, working
from ...errors import ClusterError

# Messages of Dask if kept chunks are lost, on a cluster and without one.
GONE = ("lost dependencies", "Missing dependency", "Found no accessible jobs")


@contextmanager
def explained() -> Iterator[None]:
    """Explain errors of a cluster that was closed or lost, or whose worker died."""
    try:
        yield
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise ClusterError(reason) from error


def _reason(error: Exception) -> str | None:
    names = {base.__name__ for base in type(error).__mro__}
    if "KilledWorker" in names:
        return (
            f"Dask gave up on a chunk whose worker died several times ({error}). Usually the memory limit of the "
            "worker is too low for the chunk: rechunk the views to fewer rows, or give the workers more memory."
        )
    if isinstance(error, (CancelledError, ValueError)) and any(text in str(error) for text in GONE):
        return (
            "The Dask cluster that kept these data was closed or lost: persisted views, or the result of a fit. "
            "Compute them again."
        )
    of_cluster = any(base.__module__.partition(".")[0] == "distributed" for base in type(error).__mro__)
    closed = type(error) is Exception and "after closing" in str(error)
    if of_cluster or closed or isinstance(error, (CancelledError, ConnectionError, TimeoutError)):
        first_line = str(error).partition("\n")[0][:200]
        return (
            f"The Dask cluster was closed or lost during the work ({type(error).__name__}: {first_line}). No result of "
            "the fit is kept; connect to a cluster and fit again."
        )
    return None


FAN_IN = 8  # results that are added at once, in a tree


@dataclass(frozen=True, eq=False)
class Chunked:
    """One item for every chunk: a key of the Dask graph, or a nested task on keys.

    ``sizes`` are the numbers of rows of the chunks; ``sources`` are the Dask collections of the keys.
    """

    items: Sequence[Any]
    sizes: tuple[int, ...]
    sources: tuple[Any, ...] = ()

    def zip(self, *others: Parts) -> Chunked:
        chunked = [self]
        for other in others:
            assert isinstance(other, Chunked)
            chunked.append(other)
        items = [(tuple, list(each)) for each in zip(*(each.items for each in chunked), strict=True)]
        return Chunked(items, self.sizes, tuple(source for each in chunked for source in each.sources))

    def map(self, function: Callable[..., Any], *shared: Any) -> Chunked:
        """``function(item, *shared)`` for every chunk, within the task that needs it."""
        # All tasks refer to one object: a worker gets it once for all its chunks.
        common = Tasks.of({_key("shared"): _Constant(shared)})
        call = _Call(function)
        return Chunked([(call, item, common.keys[0]) for item in self.items], self.sizes, (*self.sources, common))

    def once(self) -> Chunked:
        tasks = self.tasks()
        return Chunked(tasks.keys, self.sizes, (tasks,))

    def keep(self) -> Chunked:
        with explained():
            kept: Tasks = self.tasks().persist()
        return Chunked(kept.keys, self.sizes, (kept,))

    def total(self, function: Callable[..., Any], *shared: Any, then: Callable[[Any], Any] | None = None) -> Any:
        whole = self.map(function, *shared).tasks().tree()
        if then is not None:
            whole = Tasks.of({_key("then"): (then, whole.keys[0])}, [whole])
        with explained():
            return whole.compute()[0]

    def against(self, others: Parts, function: Callable[..., Any]) -> Chunked:
        if not isinstance(others, Chunked):
            return self.map(_compared, others, function)
        tasks = self.tasks()
        sums = []
        for key in tasks.keys:
            items = [(_Call(function), other, (_Constant.of_one, key)) for other in others.items]
            sums.append(Chunked(items, others.sizes, (*others.sources, tasks)).tasks().tree())
        return Chunked([each.keys[0] for each in sums], self.sizes, tuple(sums))

    def joined(self, meta: Any) -> Any:
        name = _key("anchor-align")
        beyond = (0,) * (meta.ndim - 1)
        layer = {(name, number, *beyond): item for number, item in enumerate(self.items)}
        graph = HighLevelGraph.from_collections(name, layer, dependencies=distinct(self.sources))
        return da.Array(graph, name, (self.sizes, *((size,) for size in meta.shape[1:])), meta=meta)

    def some(self, chunks: Sequence[int]) -> Chunked:
        return Chunked(
            [self.items[chunk] for chunk in chunks], tuple(self.sizes[chunk] for chunk in chunks), self.sources
        )

    def tasks(self) -> Tasks:
        name = _key(_name(self.items[0]))
        return Tasks.of({(name, number): (_itself, item) for number, item in enumerate(self.items)}, self.sources)


def _culled(graph: Any, keys: Any, **_: Any) -> Any:
    """Only the tasks that some keys need: the only optimisation."""
    return HighLevelGraph.merge(graph).cull(set(flatten(keys)))


class Tasks(DaskMethodsMixin):  # type: ignore[misc]  # Dask is typed in parts only
    """A Dask collection of the results of some tasks."""

    __dask_scheduler__ = staticmethod(dask.threaded.get)
    __dask_optimize__ = staticmethod(_culled)

    def __init__(self, graph: Any, keys: list[Hashable]) -> None:
        self.graph = graph
        self.keys = keys

    @classmethod
    def of(cls, layer: dict[Hashable, Any], sources: Sequence[Any] = ()) -> Tasks:
        graph = HighLevelGraph.from_collections(_key("layer"), layer, dependencies=distinct(sources))
        return cls(graph, list(layer))

    def tree(self) -> Tasks:
        """The sum of all results, added in a tree whose shape depends on their number only."""
        layer: dict[Hashable, Any] = {}
        level = self.keys
        name = _key("sum")
        while len(level) > 1:  # each level is a fraction of the one before
            groups = [level[at : at + FAN_IN] for at in range(0, len(level), FAN_IN)]
            level = [(name, len(layer) + number) for number in range(len(groups))]
            layer.update(zip(level, [(_sum, group) for group in groups], strict=True))
        return Tasks(Tasks.of(layer, [self]).graph, level)

    def __dask_graph__(self) -> Any:
        return self.graph

    def __dask_keys__(self) -> list[Hashable]:
        return self.keys

    def __dask_layers__(self) -> tuple[str, ...]:
        return tuple(self.graph.layers) if isinstance(self.graph, HighLevelGraph) else (str(self.keys[0]),)

    def __dask_tokenize__(self) -> Hashable:
        return tuple(self.keys)

    def __dask_postcompute__(self) -> tuple[Any, tuple[()]]:
        return list, ()

    def __dask_postpersist__(self) -> tuple[Any, tuple[Any, ...]]:
        return _rebuilt, (self.keys,)


def _rebuilt(graph: Any, keys: list[Hashable], *, rename: dict[str, str] | None = None) -> Tasks:
    """The collection after its tasks have run: the graph has their results, or futures."""
    return Tasks.of({key: graph[key] for key in keys})


@dataclass(frozen=True)
class _Constant:
    """A value in a task, hidden from Dask's search for keys."""

    value: Any

    @classmethod
    def of_one(cls, value: Any) -> _Constant:
        return cls((value,))


@dataclass(frozen=True, eq=False)
class _Call:
    """Runs on a worker with one thread: chunks are the unit of parallel work there."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.function.__name__.strip("_<>")

    def __call__(self, item: Any, shared: _Constant) -> Any:
        with working(threads=1):
            return self.function(item, *shared.value)


@sizeof.register(sp.sparray)  # type: ignore[untyped-decorator]
def _sizeof_sparse(array: Any) -> int:
    """Bytes of a sparse array. Dask only knows sparse matrices, and would not notice that memory runs out."""
    return sum(int(part.nbytes) for part in vars(array).values() if hasattr(part, "nbytes"))


def _compared(item: Any, others: Parts, function: Callable[..., Any]) -> Any:
    return others.total(function, item)


def _itself(value: Any) -> Any:
    return value


def _sum(values: Sequence[Any]) -> Any:
    return reduce(add, values)


def distinct(sources: Sequence[Any]) -> list[Any]:
    return list({id(source): source for source in sources}.values())


def _name(item: Any) -> str:
    return item[0].name if isinstance(item, tuple) and isinstance(item[0], _Call) else "chunk"


def _key(name: str) -> str:
    return f"{name}-{uuid.uuid4().hex}"
