"""One part of the rows for every chunk, computed by Dask where the chunk is.

Each visit of the chunks is one layer of tasks that are written down directly: to make a ``dask.delayed`` object of each
takes milliseconds, and a fit makes hundreds of visits.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import dask.threaded
import scipy.sparse as sp
from dask.base import DaskMethodsMixin
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph
from dask.sizeof import sizeof

from .._mapping import working
from .._parts import Parts
from .failures import explained

# Results that are added up at once, in a tree.
FAN_IN = 8


@dataclass(frozen=True, eq=False)
class Chunked:
    """Something for every chunk: keys of Dask's graph, or recipes made of them that a single task will follow.

    Attributes
    ----------
    items : sequence of key or nested task
    sizes : tuple of int
        Numbers of rows of the chunks.
    sources : tuple of Dask collections
        Where the keys are from.
    """

    items: Sequence[Any]
    sizes: tuple[int, ...]
    sources: tuple[Any, ...] = ()

    def zip(self, *others: Parts) -> Chunked:
        """Tuples of what is there for the same chunk."""
        chunked = [self]
        for other in others:
            assert isinstance(other, Chunked)
            chunked.append(other)
        items = [(tuple, list(each)) for each in zip(*(each.items for each in chunked), strict=True)]
        return Chunked(items, self.sizes, tuple(source for each in chunked for source in each.sources))

    def map(self, function: Callable[..., Any], *shared: Any) -> Chunked:
        """``function(item, *shared)`` for every chunk, within the task that needs it."""
        # One object that all tasks refer to: a worker gets it once, whatever the number of its chunks.
        common = Tasks.of({_key("shared"): _Constant(shared)})
        call = _Call(function)
        return Chunked([(call, item, common.keys[0]) for item in self.items], self.sizes, (*self.sources, common))

    def once(self) -> Chunked:
        """The same, made once for all that needs it in one computation."""
        tasks = self.tasks()
        return Chunked(tasks.keys, self.sizes, (tasks,))

    def keep(self) -> Chunked:
        """The same, computed now and kept by the workers as long as somebody refers to it."""
        with explained():
            kept: Tasks = self.tasks().persist()
        return Chunked(kept.keys, self.sizes, (kept,))

    def total(self, function: Callable[..., Any], *shared: Any) -> Any:
        """Sum over all chunks; it comes to the client."""
        tasks = self.map(function, *shared).tasks()
        with explained():
            return tasks.tree().compute()[0]

    def against(self, others: Chunked, function: Callable[..., Any]) -> Chunked:
        """For every chunk the sum of ``function(other, item)`` over all chunks of others."""
        tasks = self.tasks()
        sums = []
        for key in tasks.keys:
            items = [(_Call(function), other, (_Constant.of_one, key)) for other in others.items]
            sums.append(Chunked(items, others.sizes, (*others.sources, tasks)).tasks().tree())
        return Chunked([each.keys[0] for each in sums], self.sizes, tuple(sums))

    def some(self, chunks: Sequence[int]) -> Chunked:
        """A few of the chunks."""
        return Chunked(
            [self.items[chunk] for chunk in chunks], tuple(self.sizes[chunk] for chunk in chunks), self.sources
        )

    def tasks(self) -> Tasks:
        """One task for every chunk."""
        name = _key(_name(self.items[0]))
        return Tasks.of({(name, number): (_itself, item) for number, item in enumerate(self.items)}, self.sources)


def _culled(graph: Any, keys: Any, **_: Any) -> Any:
    """What is needed for some keys, and nothing else: all that there is to optimise."""
    return HighLevelGraph.merge(graph).cull(set(flatten(keys)))


class Tasks(DaskMethodsMixin):  # type: ignore[misc]  # Dask is typed in parts only
    """A Dask collection of the results of some tasks.

    Parameters
    ----------
    graph : HighLevelGraph or dict
    keys : list of key
        Of the results.
    """

    __dask_scheduler__ = staticmethod(dask.threaded.get)
    __dask_optimize__ = staticmethod(_culled)

    def __init__(self, graph: Any, keys: list[Hashable]) -> None:
        self.graph = graph
        self.keys = keys

    @classmethod
    def of(cls, layer: dict[Hashable, Any], sources: Sequence[Any] = ()) -> Tasks:
        """All tasks of a layer, which may refer to keys of other collections."""
        graph = HighLevelGraph.from_collections(_key("layer"), layer, dependencies=distinct(sources))
        return cls(graph, list(layer))

    def tree(self) -> Tasks:
        """The sum of all results, added up in a tree whose shape depends on their number alone."""
        layer: dict[Hashable, Any] = {}
        level = self.keys
        name = _key("sum")
        while len(level) > 1:
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
    """The collection after its tasks were run: the graph holds their results, or futures of them."""
    return Tasks.of({key: graph[key] for key in keys})


@dataclass(frozen=True)
class _Constant:
    """Something that a task holds, hidden from Dask's search for keys."""

    value: Any

    @classmethod
    def of_one(cls, value: Any) -> _Constant:
        return cls((value,))


@dataclass(frozen=True, eq=False)
class _Call:
    """Runs on a worker: chunks are the unit of parallel work there, so each has one thread."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.function.__name__.strip("_<>")

    def __call__(self, item: Any, shared: _Constant) -> Any:
        with working(threads=1):
            return self.function(item, *shared.value)


@sizeof.register(sp.sparray)  # type: ignore[untyped-decorator]
def _sizeof_sparse(array: Any) -> int:
    """Bytes of a sparse array: Dask knows those of sparse matrices only, and would not see that memory runs out."""
    return sum(int(part.nbytes) for part in vars(array).values() if hasattr(part, "nbytes"))


def _itself(value: Any) -> Any:
    return value


def _sum(values: Sequence[Any]) -> Any:
    return reduce(add, values)


def distinct(sources: Sequence[Any]) -> list[Any]:
    """The same collections, each once."""
    return list({id(source): source for source in sources}.values())


def _name(item: Any) -> str:
    """What the cluster's dashboard calls the task."""
    return item[0].name if isinstance(item, tuple) and isinstance(item[0], _Call) else "chunk"


def _key(name: str) -> str:
    return f"{name}-{uuid.uuid4().hex}"
