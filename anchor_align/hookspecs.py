"""The hooks that plug-ins implement.

A plug-in is a module named in the entry-point group ``anchor_align`` of an installed distribution, or a single file.
It marks a function called ``anchor_align_adapters``, ``anchor_align_baselines`` or ``anchor_align_fusions`` with
:data:`~anchor_align.hookimpl`::

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

import pluggy

PROJECT = "anchor_align"

hookimpl = pluggy.HookimplMarker(PROJECT)
hookspec = pluggy.HookspecMarker(PROJECT)


@hookspec
def anchor_align_adapters() -> Iterable[object]:  # type: ignore[empty-body]
    """Return the adapters of this plug-in: subclasses of Adapter, or instances with their own settings."""


@hookspec
def anchor_align_baselines() -> Iterable[object]:  # type: ignore[empty-body]
    """Return the baselines of this plug-in: subclasses of Baseline, or instances with their own settings."""


@hookspec
def anchor_align_fusions() -> Iterable[object]:  # type: ignore[empty-body]
    """Return the fusions of this plug-in: subclasses of Fusion, or instances."""
