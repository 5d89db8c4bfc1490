"""Our own code is not for plug-ins to change: what one replaces while it is loaded is put back, and it is refused."""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType

# Takes seconds to import, and is needed by few.
SLOW_PACKAGES = ("anchor_align._dask",)
OUR_PACKAGES = ("anchor_align", "anchor_align_adapters")
_ABSENT = object()


class Patched(Exception):
    """Says what a plug-in replaced."""


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Undo changes to our modules and classes; raise if there were any."""
    _import_ours()
    before = {owner: dict(vars(owner)) for owner in _ours()}
    try:
        yield
    except Exception:
        _check(before)
        raise
    except BaseException:
        with contextlib.suppress(Patched):  # Ctrl-C is to stop the program, whatever else there is to say
            _check(before)
        raise
    _check(before)


@functools.cache
def _import_ours() -> None:
    """Import all our modules: one that a plug-in imports first could not be compared with what it was."""
    _import_package(OUR_PACKAGES[0])


def _import_package(name: str) -> None:
    package = importlib.import_module(name)
    for module in pkgutil.iter_modules(package.__path__, f"{name}."):
        if module.name in SLOW_PACKAGES:
            continue
        with contextlib.suppress(ImportError):  # an extra that is not installed
            importlib.import_module(module.name)
        if module.ispkg:
            _import_package(module.name)


def _check(before: dict[ModuleType | type, dict[str, object]]) -> None:
    replaced = [name for owner, names in before.items() for name in _put_back(owner, names)]
    if replaced:
        raise Patched(f"replaces {', '.join(replaced)}, which is not its own")


def _ours() -> Iterator[ModuleType | type]:
    """Our modules that are imported, and the classes defined in them."""
    for key, module in list(sys.modules.items()):
        if key.partition(".")[0] in OUR_PACKAGES:
            yield module
            yield from (v for v in list(vars(module).values()) if isinstance(v, type) and v.__module__ == key)


def _put_back(owner: ModuleType | type, names: dict[str, object]) -> Iterator[str]:
    """Restore the attributes of a module or class; names what had changed."""
    # Modules gain names as others are imported; classes gain none, but annotations are made when they are first read.
    looked_at = list(names) if isinstance(owner, ModuleType) else [*names, *(n for n in vars(owner) if n not in names)]
    for name in looked_at:
        value = names.get(name, _ABSENT)
        if vars(owner).get(name, _ABSENT) is value or name.startswith("__annot"):
            continue
        if value is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, value)
        home = owner.__name__ if isinstance(owner, ModuleType) else f"{owner.__module__}.{owner.__name__}"
        yield f"{home}.{name}"
