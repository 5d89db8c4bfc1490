"""The one hook that plug-ins implement.

A plug-in is a module named in the entry-point group ``anchor_align`` of an installed distribution, or a single file.
It marks a function called ``anchor_align_adapters`` with :data:`~anchor_align.hookimpl`::

    from anchor_align import Adapter, AnchorGraphs, hookimpl

    class MyAdapter(Adapter):
        name = "mymethod"
        ...

    @hookimpl
    def anchor_align_adapters():
        return [MyAdapter]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from .adapter import Adapter

PROJECT = "anchor_align"

hookimpl = pluggy.HookimplMarker(PROJECT)
hookspec = pluggy.HookspecMarker(PROJECT)


@hookspec
def anchor_align_adapters() -> Iterable[type[Adapter] | Adapter]:  # type: ignore[empty-body]
    """Adapters that this plug-in offers: subclasses of Adapter, or instances with settings of their own."""
