"""Our own code is not for plug-ins to change: what one replaces while it is loaded is put back, and it is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

OUR_PACKAGES = ("anchor_align", "anchor_align_adapters")
_ABSENT = object()


class Patched(Exception):
    """Says what a plug-in replaced."""


@contextmanager
def guarded() -> Iterator[None]:
    """Undo changes to our modules and classes; raise if there were any."""
    before = {owner: dict(vars(owner)) for owner in _ours()}
    try:
        yield
    finally:
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
    # Modules gain names as others are imported; classes do not.
    looked_at = list(names) if isinstance(owner, ModuleType) else [*names, *(n for n in vars(owner) if n not in names)]
    for name in looked_at:
        value = names.get(name, _ABSENT)
        if vars(owner).get(name, _ABSENT) is value:
            continue
        if value is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, value)
        home = owner.__name__ if isinstance(owner, ModuleType) else f"{owner.__module__}.{owner.__name__}"
        yield f"{home}.{name}"
