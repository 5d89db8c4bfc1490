"""Checks of a plug-in: its hooks, its adapters, baselines and fusions, and no side effects on the process."""

from __future__ import annotations

import contextlib
import inspect
import os
import random
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
import pluggy
from sklearn.base import clone

from .. import hookspecs
from ..checks import is_iterable
from ..fusion import Fusion
from ._adapter import Adapter, FunctionAdapter
from ._baseline import Baseline
from ._records import AdapterRecord, BaselineRecord, FusionRecord, Plugin, one_line


@contextlib.contextmanager
def contained(seed: int | None = None) -> Iterator[None]:
    """Restore the state of the process at the end, and send printed output to stderr.

    Restored are stderr, the working directory, the warning filters, numpy's error state and the global random
    generators. With ``seed`` the generators start from it: code that uses them, against the rules, is then repeatable.
    A child process that the code forks ends here: it would go on as a second study.
    """
    stderr, process = sys.stderr, os.getpid()
    python_state, numpy_state = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002  # not used: kept
    try:
        if seed is not None:
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002  # for the code that uses it
        with contextlib.redirect_stdout(sys.stderr), _same_directory(), warnings.catch_warnings(), np.errstate():
            yield
    finally:
        if os.getpid() != process:
            os._exit(1)
        sys.stderr = stderr
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002


def _same_directory() -> contextlib.AbstractContextManager[None]:
    """Return to the working directory at the end, if it still exists."""
    try:
        return contextlib.chdir(os.getcwd())
    except OSError:
        return contextlib.nullcontext()


# Results of each hook, as named in messages.
HOOKS = {
    "anchor_align_adapters": "adapters",
    "anchor_align_baselines": "baselines",
    "anchor_align_fusions": "fusions",
}

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")

# A plug-in may request adapters while it is loaded, but not itself.
_LOADING: ContextVar[frozenset[Plugin]] = ContextVar("_LOADING", default=frozenset())


class Refusal(Exception):
    """A plug-in or adapter cannot be used; the message is the reason for users."""


def create_manager() -> pluggy.PluginManager:
    """Fresh plug-in manager that knows the hooks.

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
    """Any error of a plug-in, also an exit of a script, becomes a reason to refuse it."""
    try:
        yield
    except (Refusal, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise Refusal(f"{what}: {describe(error)}") from error


def describe(error: BaseException) -> str:
    kind, text = type(error).__name__, one_line(error)
    (frame,) = traceback.extract_tb(error.__traceback__, limit=-1)
    # The text of a syntax error has the place; frames of the import system and of this package do not help.
    if not isinstance(error, SyntaxError) and not frame.filename.startswith(("<", str(Path(__file__).parents[1]))):
        text += f" ({Path(frame.filename).name}, line {frame.lineno})"
    return f"{kind}: {text}" if text else kind


@contextlib.contextmanager
def loading(plugin: Plugin) -> Iterator[None]:
    """Undo changes that a plug-in makes to the process while it is loaded, and keep stdout for results."""
    if plugin in _LOADING.get():
        raise Refusal("is being loaded: it requests all plug-ins, or plug-ins that are loaded after it")
    token = _LOADING.set(_LOADING.get() | {plugin})
    try:
        with contained():
            yield
    finally:
        _LOADING.reset(token)


def offers(plugin: object) -> dict[str, list[object]]:
    manager = create_manager()
    items: dict[str, list[object]] = {}
    with step("its hook failed"):
        try:
            manager.register(plugin)
            manager.check_pending()
        except pluggy.PluginValidationError as error:
            raise Refusal(f"expected a hook {' or '.join(HOOKS)} without arguments: {error}") from None
        for hook, what in HOOKS.items():
            caller = getattr(manager.hook, hook)
            if not caller.get_hookimpls():
                if hasattr(plugin, hook):
                    raise Refusal(f"{plugin!r} has a function {hook!r} that is not marked with @hookimpl")
                continue
            items[hook] = []
            for result in caller():
                if not is_iterable(result):
                    raise Refusal(f"its hook returned {result!r}; expected a list of {what}")
                items[hook] += result
            if not items[hook]:
                raise Refusal(f"its hook returned no {what}; expected a list of them")
    if not items:
        raise Refusal(f"{plugin!r} defines no hook {' or '.join(map(repr, HOOKS))}")
    return items


def check_adapter(plugin: Plugin, item: Any) -> AdapterRecord:
    kind = item if isinstance(item, type) else type(item)
    if not issubclass(kind, Adapter):
        raise Refusal(f"offers {one_line(item, repr)}, which is not an Adapter")
    label = kind.__qualname__
    with step(f"{label} cannot be used"):
        # A private copy. scikit-learn makes copies in the same way, so this also checks its conventions.
        prototype: Adapter = clone(kind() if item is kind else item)
        name = prototype.name
        _check_name(name, label)
        if kind.anchor_graphs is Adapter.anchor_graphs and not prototype.works_by_blocks:
            raise Refusal(f"{label} does not define anchor_graphs")
        if prototype.works_by_blocks and kind.new_graphs is Adapter.new_graphs:
            raise Refusal(f"{label} defines learn_anchors without new_graphs")
        if isinstance(prototype, FunctionAdapter) and not callable(prototype.anchor_graphs_function):
            raise Refusal(f"{label} {name!r} has no anchor_graphs_function")
        _check_methods(prototype, Adapter, label)
        # A FunctionAdapter is described by its function.
        summary = _summary(getattr(prototype, "anchor_graphs_function", kind))
    return AdapterRecord(**vars(plugin), name=name, summary=summary, prototype=prototype)


def check_baseline(plugin: Plugin, item: Any) -> BaselineRecord:
    kind = item if isinstance(item, type) else type(item)
    if not issubclass(kind, Baseline):
        raise Refusal(f"offers {one_line(item, repr)}, which is not a Baseline")
    label = kind.__qualname__
    with step(f"{label} cannot be used"):
        prototype: Baseline = clone(kind() if item is kind else item)
        _check_name(prototype.name, label)
        if kind.fit_predict is Baseline.fit_predict:
            raise Refusal(f"{label} does not define fit_predict")
        _check_methods(prototype, Baseline, label)
    return BaselineRecord(**vars(plugin), name=prototype.name, summary=_summary(kind), prototype=prototype)


def check_fusion(plugin: Plugin, item: Any) -> FusionRecord:
    kind = item if isinstance(item, type) else type(item)
    if not issubclass(kind, Fusion):
        raise Refusal(f"offers {one_line(item, repr)}, which is not a Fusion")
    label = kind.__qualname__
    with step(f"{label} cannot be used"):
        fusion: Fusion = kind() if item is kind else item
        _check_name(fusion.name, label)
        if fusion.name == "mean":
            raise Refusal(f"{label} has the name 'mean', which `fuse` uses for the fusion 'aligned'")
        colours = fusion.colours
        if colours is not None and (len(colours) != 2 or not all(map(_COLOUR.fullmatch, colours))):
            raise Refusal(f"{label} has the colours {colours!r}; expected two, each as '#rrggbb'")
        _check_methods(fusion, Fusion, label)
    return FusionRecord(**vars(plugin), name=fusion.name, fusion=fusion)


def _summary(documented: Any) -> str:
    return one_line((documented.__doc__ or "").strip().partition("\n\n")[0])


def _check_name(name: object, label: str) -> None:
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise Refusal(f"{label} has the name {name!r}; expected lower-case letters, digits, '-' and '_'")


def _check_methods(offered: Adapter | Baseline | Fusion, contract: type, label: str) -> None:
    for name, method in vars(contract).items():
        if name.startswith("_") or not inspect.isfunction(method):
            continue
        expected = list(inspect.signature(method).parameters.values())[1:]
        by_name = [each.name for each in expected if each.kind is each.KEYWORD_ONLY]
        by_place = expected[: len(expected) - len(by_name)]
        try:
            inspect.signature(getattr(offered, name)).bind(*by_place, **dict.fromkeys(by_name))
        except TypeError as error:
            call = ", ".join([*(each.name for each in by_place), *(f"{each}=" for each in by_name)])
            raise Refusal(f"{name} of {label} cannot be called as {name}({call}): {error}") from None
