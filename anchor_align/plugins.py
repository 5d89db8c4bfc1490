"""Plug-ins: found through entry points, loaded one at a time, and refused one at a time.

A plug-in is a module named in the entry-point group ``anchor_align`` of an installed distribution, or a single file;
:mod:`anchor_align.hookspecs` shows one. Each is loaded on its own, with a manager of its own. One that cannot be used
becomes a :class:`PluginFailure` that says who and why; the others work as if it were not there.

Order, and who keeps a name
    The adapters of anchor-align come first, then those of other distributions by (distribution, entry point), then
    files in the order given. The first to offer a name keeps it; "-" and "_" count as the same. A name does not change
    hands because its owner failed to load, and the names of our own adapters are never given away.

What is undone
    Loading a plug-in must not change what a study computes. Whatever it prints goes to stderr; the working directory,
    the warning filters, numpy's error state and the states of the global random generators are put back. A plug-in that
    replaces parts of anchor-align while it is loaded is refused, and they are put back too. This is for accidents: a
    plug-in is a program that runs with your rights, and what its adapters do when they are called is theirs.

Disabling
    ``ANCHOR_ALIGN_DISABLE_PLUGINS`` holds names of distributions or of entry points, separated by commas. Those are not
    imported at all. Our own can be disabled too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ._plugin_checks import create_manager
from ._plugin_loading import File, load, read_files
from ._plugin_records import DISABLE_VARIABLE, AdapterRecord, Plugin, PluginFailure, Registry, one_line
from .adapter import Adapter
from .errors import PluginError

__all__ = [
    "DISABLE_VARIABLE",
    "AdapterRecord",
    "Plugin",
    "PluginFailure",
    "Registry",
    "create_manager",
    "get_adapter",
    "list_adapters",
    "load_plugins",
    "one_line",
]


def load_plugins(files: File | Iterable[File] = (), *, strict: bool = False) -> Registry:
    """Load all installed plug-ins, and single files.

    Parameters
    ----------
    files : path or list of paths, optional
        Python files with the hook, loaded last. They need not be on ``sys.path`` and shadow no module. The same
        content at the same path is loaded once; after an edit it is loaded anew, beside the old one.
    strict : bool, default=False
        Raise if any plug-in fails, instead of keeping a record.

    Returns
    -------
    Registry
        ``load_plugins("my.py").get("my-method")`` is an adapter for ``AlignedClusterer``.

    Raises
    ------
    PluginError
        If a file cannot be loaded completely: it was asked for. With ``strict``, if any plug-in cannot.

    Examples
    --------
    >>> from anchor_align import load_plugins
    >>> load_plugins("my_method.txt")
    Traceback (most recent call last):
    ...
    anchor_align.errors.PluginError: Plug-in file 'my_method.txt' is not a Python file (.py).
    """
    sources = read_files([files] if isinstance(files, str | os.PathLike) else files)
    registry = load(sources)
    paths = {source.plugin.distribution for source in sources}
    fatal = [failure for failure in registry.failures if strict or failure.distribution in paths]
    if len(fatal) == 1:
        raise PluginError(f"Plug-in failure: {fatal[0]}")
    if fatal:
        raise PluginError("\n  ".join([f"{len(fatal)} plug-in failures:", *map(str, fatal)]))
    return registry


def list_adapters() -> Registry:
    """What is installed: the adapters found, and the plug-ins that failed, with reasons.

    Returns
    -------
    Registry

    Examples
    --------
    >>> from anchor_align import list_adapters
    >>> [record.name for record in list_adapters() if record.distribution == "anchor-align"]
    ['fmvacc', 'lmvsc', 'precomputed', 'sfmc']
    """
    return load_plugins()


def get_adapter(name: str, /, **params: Any) -> Adapter:
    """New instance of an installed adapter.

    Plug-ins are loaded in their order up to the one that has the name: it keeps the name whatever comes later.

    Parameters
    ----------
    name : str
    **params
        The adapter's own settings.

    Returns
    -------
    Adapter

    Raises
    ------
    UnknownNameError
        If there is no such adapter, or it has no such setting.

    Examples
    --------
    >>> from anchor_align import get_adapter
    >>> get_adapter("lmvsc", alpha=2.0).alpha
    2.0
    >>> get_adapter("lmvsc", alhpa=2.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    anchor_align.errors.UnknownNameError: Unknown lmvsc parameter 'alhpa'; known: 'alpha', ... Did you mean 'alpha'?
    """
    return load(until=name).get(name, **params)
