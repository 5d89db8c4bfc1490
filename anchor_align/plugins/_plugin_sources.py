"""Where plug-ins come from: installed distributions and single files. Nothing is loaded here."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..checks import check_not_empty, is_iterable
from ..errors import InputTypeError, PluginError
from ..hookspecs import PROJECT
from ._contract_checks import describe
from ._records import OUR_DISTRIBUTION, Plugin, PluginFailure, name_key, one_line

PLUGIN_FILE = "anchor_align_plugin_"  # prefix of the module names of single files

File = str | os.PathLike[str]


@dataclass(frozen=True)
class Source:
    """A plug-in before it is loaded."""

    plugin: Plugin
    load: Callable[[], object]
    imported: Callable[[], object] = lambda: None  # the same object if its module is already imported, else None

    @property
    def order(self) -> tuple[bool, str, str]:
        return not self.plugin.is_ours, name_key(self.plugin.distribution), self.plugin.entry_point

    @property
    def keys(self) -> set[str]:
        return {name_key(self.plugin.distribution), name_key(self.plugin.entry_point)}


def installed_sources() -> tuple[list[Source], list[PluginFailure]]:
    """Entry points of all distributions in the order of loading, and failures to read them."""
    sources: list[Source] = []
    failures: list[PluginFailure] = []
    seen: set[str] = set()
    # One distribution at a time: in importlib.metadata.entry_points() one malformed line would lose all plug-ins.
    for distribution in importlib.metadata.distributions():
        try:
            if distribution.entry_points.select(group=PROJECT) and name_key(distribution.name) not in seen:
                seen.add(name_key(distribution.name))
                # Imports use the first distribution on sys.path, which may have no plug-ins any more.
                first = importlib.metadata.distribution(distribution.name)
                points = first.entry_points.select(group=PROJECT)
                name, version = first.name, first.version  # each is a search in the metadata
                sources += [Source(Plugin(name, version, p.name), p.load, partial(_imported, p)) for p in points]
        except Exception as error:
            place = Path(str(getattr(distribution, "_path", "a distribution"))).name
            failures.append(PluginFailure(place, "", "", f"its metadata cannot be read: {describe(error)}"))
    if OUR_DISTRIBUTION not in seen:
        reason = "its own adapters are not found: install it, for example with `pip install -e .`"
        failures.append(PluginFailure(OUR_DISTRIBUTION, "", "", reason))
    sources.sort(key=lambda each: each.order)
    return sources, failures


def _imported(point: importlib.metadata.EntryPoint) -> object:
    found: object = sys.modules.get(point.module)
    for name in filter(None, (point.attr or "").split(".")):
        found = getattr(found, name, None)
    return found


def check_files(files: object) -> list[File]:
    """Paths of plug-in files, from one path or several."""
    listed: Any = [files] if isinstance(files, str | os.PathLike) else files
    if isinstance(listed, bytes | Mapping) or not is_iterable(listed):
        raise InputTypeError(f"Plug-in files must be a path or a list of paths, got {type(files).__name__}.")
    paths: list[File] = list(listed)
    for path in paths:
        if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
            raise InputTypeError(f"A plug-in file must be a path, got {one_line(path, repr)} ({type(path).__name__}).")
        check_not_empty(path)
    return paths


def read_files(files: Iterable[File]) -> list[Source]:
    """Single files as plug-ins: their content is read but not run."""
    sources = []
    for path in map(Path, files):
        if path.suffix != ".py":
            raise PluginError(f"Plug-in file {str(path)!r} is not a Python file (.py).")
        try:
            if path.exists() and not path.is_file():  # a pipe would be waited for
                raise PluginError(f"Plug-in file {str(path)!r} is not a file.")
            content = path.read_bytes()
        except (OSError, ValueError) as error:
            if isinstance(error, PluginError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise PluginError(f"Plug-in file {str(path)!r} cannot be read: {reason}.") from error
        plugin = Plugin(str(path), f"sha256:{hashlib.sha256(content).hexdigest()[:12]}", "")
        sources.append(Source(plugin, partial(_import_file, path.resolve(), content)))
    return sources


def _import_file(path: Path, content: bytes) -> types.ModuleType:
    # The name depends on path and content only, so adapters can be pickled to another process with the same file.
    name = f"{PLUGIN_FILE}{hashlib.sha256(os.fsencode(path) + content).hexdigest()[:16]}"
    if name not in sys.modules:
        module = types.ModuleType(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        try:
            # Not an import: it would write bytecode, and use it again after an edit within the same second.
            exec(compile(content, path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  # the user's plug-in
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
