"""Methods and data that are given as objects: instances, classes, functions and arrays."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import __version__
from ..data import MultiViewData
from ..errors import InputError, InputTypeError
from ..plugins import Adapter, AdapterRecord, Baseline, BaselineRecord, FunctionAdapter, Registry, as_baseline, one_line
from ._cache import IN_MEMORY
from ._data_sets import DataSpec

OUR_PACKAGES = ("anchor_align", "anchor_align_adapters")


@dataclass(frozen=True)
class GivenMethods:
    """Names of methods in their order, and a record for each that is an object."""

    names: tuple[str, ...]
    records: tuple[AdapterRecord | BaselineRecord, ...] = ()

    @classmethod
    def adapters(cls, values: Any) -> GivenMethods:
        """Names, instances, classes, or functions that make graphs; a dict has names for objects."""
        return cls._of(values, "adapter", _adapter)

    @classmethod
    def rivals(cls, values: Any) -> GivenMethods:
        """The same for adapters and baselines; a function goes from views to labels."""
        return cls._of(values, "rival", _rival)

    @classmethod
    def _of(cls, values: Any, what: str, make: Any) -> GivenMethods:
        names, records = [], []
        for name, value in _named(values):
            if isinstance(value, str) and name in ("", value):
                names.append(value)
                continue
            if isinstance(value, str):
                raise InputError(
                    f"The {what} {name!r} is the name {value!r}; a dict has names for objects only, and may stand in a "
                    f"list: [{value!r}, {{{name!r}: ...}}]."
                )
            record = _record(make(value), name, what)
            if record.name in names:
                raise InputError(
                    f"The {what} {record.name!r} is given twice; a dict gives each its name, as in "
                    f"{{'{record.name} 2': ...}}."
                )
            names.append(record.name)
            records.append(record)
        return cls(tuple(names), tuple(records))


def with_methods(registry: Registry, records: tuple[AdapterRecord | BaselineRecord, ...]) -> Registry:
    """The registry with methods that were given as objects. They hide installed ones of the same name."""
    names = {record.name for record in records}
    adapters = [record for record in records if isinstance(record, AdapterRecord)]
    baselines = [record for record in records if isinstance(record, BaselineRecord)]
    return replace(
        registry,
        adapters=(*adapters, *(each for each in registry.adapters if each.name not in names)),
        baselines=(*baselines, *(each for each in registry.baselines if each.name not in names)),
    )


def check_sendable(records: tuple[AdapterRecord | BaselineRecord, ...]) -> None:
    """Refuse objects that another process cannot have: it does not import the user's script.

    Raises
    ------
    InputTypeError
        With the name of the method.
    """
    for record in records:
        try:
            sendable = b"__main__" not in pickle.dumps(record)
        except Exception:  # objects raise anything when they are pickled
            sendable = False
        if not sendable:
            raise InputTypeError(
                f"Method {record.name!r} is an object that only this process has, and this study needs other "
                "processes (jobs > 1, a timeout, or plug-ins of others). Put the method into a file, for plugins."
            )


def data_specs(data: Any) -> list[DataSpec]:
    """Data sets of a study from all that :func:`anchor_align.study.compare` takes."""
    if isinstance(data, Mapping):
        specs = [replace(_spec(each), name=str(name)) for name, each in data.items()]
    elif _is_views(data) or _is_labelled(data) or not isinstance(data, list | tuple):
        specs = [_spec(data)]
    else:
        specs = [_spec(each) for each in data]
    if not specs:
        raise InputError("Got no data; expected one data set or more.")
    return specs


def _spec(data: Any) -> DataSpec:
    if isinstance(data, DataSpec):
        return data
    if callable(data):
        spec = _spec(data())
        return replace(spec, source=getattr(data, "__name__", spec.source))
    if _is_views(data):
        data = data, None
    if _is_labelled(data):
        views, labels = data
        names = [f"view {view}" for view in range(len(views))]
        # The index of a Series names samples.
        kept = labels if labels is None or hasattr(labels, "iloc") else np.asarray(labels)
        data = MultiViewData(list(views), kept, names)
    if isinstance(data, MultiViewData):
        return DataSpec("data in memory", data=data)
    if isinstance(data, str | os.PathLike):
        return DataSpec(os.fspath(data))
    raise InputTypeError(
        "Expected data as a name, a path, MultiViewData, DataSpec, a list of arrays, or a pair of such a list and "
        f"labels, got {type(data).__name__}."
    )


def _is_views(data: object) -> bool:
    """Whether these are the views of one data set: a list of tables of numbers."""
    return isinstance(data, list | tuple) and bool(data) and all(len(getattr(X, "shape", ())) == 2 for X in data)


def _is_labelled(data: object) -> bool:
    """Whether this is a pair of views and labels."""
    if not isinstance(data, tuple) or len(data) != 2 or not _is_views(data[0]):
        return False
    try:
        return data[1] is None or (not isinstance(data[1], str) and np.ndim(data[1]) == 1)
    except ValueError:  # lists of different lengths
        return False


def _named(values: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(values, Mapping):
        yield from ((str(name), value) for name, value in values.items())
        return
    for value in values if isinstance(values, list | tuple) else (values,):
        yield from _named(value) if isinstance(value, Mapping) else [("", value)]


def _adapter(value: Any) -> Adapter:
    made = value() if isinstance(value, type) and issubclass(value, Adapter | Baseline) else value
    if isinstance(made, Baseline):
        raise InputTypeError(f"{made.name!r} is a baseline, without anchor graphs; expected an adapter. Use against.")
    if isinstance(made, Adapter):
        return made
    if callable(made) and not isinstance(made, type):
        return FunctionAdapter(getattr(made, "__name__", "function"), made)
    raise InputTypeError(
        f"Expected an adapter by name, an instance or class of Adapter, or a function, got {one_line(value, repr)}."
    )


def _rival(value: Any) -> Adapter | Baseline:
    made = value() if isinstance(value, type) else value
    return made if isinstance(made, Adapter | Baseline) else as_baseline(made)


def _record(method: Adapter | Baseline, name: str, what: str) -> AdapterRecord | BaselineRecord:
    shown = name or method.name
    if not shown or ":" in shown or not shown.isprintable():
        raise InputError(f"The name of the {what} must be text without ':', got {shown!r}.")
    ours = type(method).__module__.partition(".")[0] in OUR_PACKAGES
    origin = ("anchor-align", __version__) if ours else (IN_MEMORY, "")
    summary = one_line((type(method).__doc__ or "").strip().partition("\n")[0])
    kind: Any = AdapterRecord if isinstance(method, Adapter) else BaselineRecord
    record: AdapterRecord | BaselineRecord = kind(*origin, "", shown, summary, method)
    return record
