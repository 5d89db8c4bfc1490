"""What a plug-in must satisfy: its hook, the contract of its adapters, and no traces in the rest of the process."""

from __future__ import annotations

import contextlib
import inspect
import re
import traceback
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pluggy
from sklearn.base import clone

from . import hookspecs
from ._containment import contained
from ._plugin_records import AdapterRecord, Plugin, one_line
from .adapter import Adapter, FunctionAdapter

HOOK = hookspecs.anchor_align_adapters.__name__

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")

# A plug-in may ask for adapters while it is loaded, but not for itself.
_LOADING: ContextVar[frozenset[Plugin]] = ContextVar("_LOADING", default=frozenset())


class Refusal(Exception):
    """A plug-in or adapter cannot be used; the message is the reason that users read."""


def create_manager() -> pluggy.PluginManager:
    """Fresh plug-in manager that knows the hook.

    Examples
    --------
    >>> create_manager().hook.anchor_align_adapters()
    []
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Whatever a plug-in raises, scripts that exit included, becomes a reason to refuse it."""
    try:
        yield
    except (Refusal, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise Refusal(f"{what}: {describe(error)}") from error


def describe(error: BaseException) -> str:
    """Kind, message and place of an error."""
    kind, text = type(error).__name__, one_line(error)
    (frame,) = traceback.extract_tb(error.__traceback__, limit=-1)
    # A syntax error has the place in its text; frames of the import system and of ours help nobody.
    if not isinstance(error, SyntaxError) and not frame.filename.startswith(("<", str(Path(__file__).parent))):
        text += f" ({Path(frame.filename).name}, line {frame.lineno})"
    return f"{kind}: {text}" if text else kind


@contextlib.contextmanager
def loading(plugin: Plugin) -> Iterator[None]:
    """Undo what loading a plug-in does to the rest of the process, and keep stdout for results."""
    if plugin in _LOADING.get():
        raise Refusal("is being loaded: it asks for plug-ins that come after it, or for all")
    token = _LOADING.set(_LOADING.get() | {plugin})
    try:
        with contained():
            yield
    finally:
        _LOADING.reset(token)


def offers(plugin: object) -> list[object]:
    """Call the hook of one plug-in, with a manager of its own."""
    manager = create_manager()
    with step("its hook failed"):
        try:
            manager.register(plugin)
            manager.check_pending()
        except pluggy.PluginValidationError as error:
            raise Refusal(f"expected a hook {HOOK}() without arguments: {error}") from None
        if not manager.hook.anchor_align_adapters.get_hookimpls():
            why = "; the function of that name is not marked with @hookimpl" if hasattr(plugin, HOOK) else ""
            raise Refusal(f"{plugin!r} defines no hook {HOOK!r}{why}")
        items: list[object] = []
        for result in manager.hook.anchor_align_adapters():
            if not isinstance(result, Iterable):
                raise Refusal(f"its hook returned {result!r}; expected a list of adapters")
            items += result
    if not items:
        raise Refusal("its hook returned no adapters; expected a list of them")
    return items


def check_adapter(plugin: Plugin, item: Any) -> AdapterRecord:
    """Check one adapter, a class or an instance, against the contract."""
    kind = item if isinstance(item, type) else type(item)
    if not issubclass(kind, Adapter):
        raise Refusal(f"offers {one_line(item, repr)}, which is not an Adapter")
    label = kind.__qualname__
    with step(f"{label} cannot be used"):
        # A copy that only we have, made as scikit-learn will make others of it: its conventions are checked on the way.
        prototype: Adapter = clone(kind() if item is kind else item)
        name = prototype.name
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise Refusal(f"{label} has the name {name!r}; expected lower-case letters, digits, '-' and '_'")
        if kind.anchor_graphs is Adapter.anchor_graphs and not prototype.works_by_blocks:
            raise Refusal(f"{label} does not define anchor_graphs")
        if prototype.works_by_blocks and kind.new_graphs is Adapter.new_graphs:
            raise Refusal(f"{label} defines learn_anchors without new_graphs")
        if isinstance(prototype, FunctionAdapter) and not callable(prototype.anchor_graphs_function):
            raise Refusal(f"{label} {name!r} has no anchor_graphs_function")
        _check_methods(prototype, label)
        # A FunctionAdapter is described by its function.
        doc = getattr(prototype, "anchor_graphs_function", kind).__doc__ or ""
        summary = one_line(doc.strip().partition("\n\n")[0])
    return AdapterRecord(**vars(plugin), name=name, summary=summary, prototype=prototype)


def _check_methods(adapter: Adapter, label: str) -> None:
    """All methods can be called as the base class's."""
    for name, method in vars(Adapter).items():
        if name.startswith("_") or not inspect.isfunction(method):
            continue
        expected = list(inspect.signature(method).parameters.values())[1:]
        by_name = [each.name for each in expected if each.kind is each.KEYWORD_ONLY]
        by_place = expected[: len(expected) - len(by_name)]
        try:
            inspect.signature(getattr(adapter, name)).bind(*by_place, **dict.fromkeys(by_name))
        except TypeError as error:
            call = ", ".join([*(each.name for each in by_place), *(f"{each}=" for each in by_name)])
            raise Refusal(f"{name} of {label} cannot be called as {name}({call}): {error}") from None
