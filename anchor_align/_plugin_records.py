"""What is known of plug-ins once they are loaded: adapters, failures, and the registry of both."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from .adapter import Adapter, FunctionAdapter
from .errors import UnknownNameError, unknown_name

DISABLE_VARIABLE = "ANCHOR_ALIGN_DISABLE_PLUGINS"

_LONGEST_TEXT = 300


@dataclass(frozen=True)
class Plugin:
    """Where a plug-in comes from.

    Parameters
    ----------
    distribution : str
        Name of the distribution; for a single file, its path as it was given.
    version : str
        Version of the distribution; for a single file, "sha256:" and the first digits of its content's hash.
    entry_point : str
        Name of the entry point; empty for a single file.

    Examples
    --------
    >>> print(Plugin("my-method", "1.2", "mine"))
    my-method 1.2 (mine)
    """

    distribution: str
    version: str
    entry_point: str

    @property
    def origin(self) -> str:
        """Distribution, version and entry point, to be read."""
        name = f"{self.distribution} {self.version}".strip()
        return f"{name} ({self.entry_point})" if self.entry_point else name

    def __str__(self) -> str:
        return self.origin


@dataclass(frozen=True)
class PluginFailure(Plugin):
    """A plug-in, or one of its adapters, that cannot be used, and why in one sentence.

    Examples
    --------
    >>> print(PluginFailure("my-method", "1.2", "mine", reason="ValueError: no."))
    my-method 1.2 (mine): ValueError: no.
    """

    reason: str
    traceback: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.origin}: {self.reason}"


@dataclass(frozen=True)
class AdapterRecord(Plugin):
    """An adapter that can be used, and where it comes from.

    Parameters
    ----------
    name : str
        What users type.
    summary : str
        First sentence or line of its docstring.
    prototype : Adapter
        Copied by :meth:`make`, never handed out.
    """

    name: str
    summary: str
    prototype: Adapter = field(repr=False, compare=False)

    @property
    def parameters(self) -> dict[str, Any]:
        """Settings and their defaults."""
        return _settable(clone(self.prototype), deep=False)

    @property
    def settings(self) -> dict[str, str]:
        """Settings and their defaults, to be read."""
        return {name: one_line(value, repr) for name, value in self.parameters.items()}

    def make(self, /, **params: Any) -> Adapter:
        """New instance with the settings ``params``.

        Raises
        ------
        UnknownNameError
            If the adapter has no setting of that name.
        """
        adapter: Adapter = clone(self.prototype)
        known = _settable(adapter, deep=True)
        for name in params:
            if not known:
                raise UnknownNameError(f"Adapter {self.name!r} has no settings; got {name!r}.")
            if name not in known:
                raise unknown_name(f"{self.name} parameter", name, known)
        adapter.set_params(**params)
        return adapter


@dataclass(frozen=True)
class Registry:
    """What was found: adapters in order, failures, and what the environment variable disables.

    Iterates over the adapters' records.

    Parameters
    ----------
    adapters : tuple of AdapterRecord
    failures : tuple of PluginFailure
    disabled : tuple of Plugin
        Not imported, because of ``ANCHOR_ALIGN_DISABLE_PLUGINS``.
    unmatched : tuple of str
        What that variable names but is not installed.

    Examples
    --------
    >>> from anchor_align import load_plugins
    >>> registry = load_plugins()
    >>> registry.names[:4]
    ('fmvacc', 'lmvsc', 'precomputed', 'sfmc')
    >>> registry.record("lmvsc").distribution
    'anchor-align'
    >>> registry.get("lmvsc", alpha=2.0).alpha
    2.0
    """

    adapters: tuple[AdapterRecord, ...] = ()
    failures: tuple[PluginFailure, ...] = ()
    disabled: tuple[Plugin, ...] = ()
    unmatched: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the adapters, in order."""
        return tuple(record.name for record in self.adapters)

    def __iter__(self) -> Iterator[AdapterRecord]:
        return iter(self.adapters)

    def __len__(self) -> int:
        return len(self.adapters)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def record(self, name: str) -> AdapterRecord:
        """Record of the adapter called ``name``.

        Raises
        ------
        UnknownNameError
            If there is none; says why if a plug-in of that name is disabled or failed to load.
        """
        for record in self.adapters:
            if record.name == name:
                return record
        raise UnknownNameError(f"{unknown_name('adapter', name, self.names)}{self._why_not(name)}")

    def get(self, name: str, /, **params: Any) -> Adapter:
        """New instance of the adapter called ``name``, with the settings ``params``."""
        return self.record(name).make(**params)

    def _why_not(self, name: object) -> str:
        wanted = name_key(str(name))
        if any(name_key(plugin.entry_point) == wanted for plugin in self.disabled):
            return f" The plug-in of that name is disabled by {DISABLE_VARIABLE}."
        for failure in self.failures:
            if name_key(failure.entry_point) == wanted:
                return f" The plug-in of that name failed to load: {failure}"
        count = len({(failure.distribution, failure.entry_point) for failure in self.failures})
        if not count:
            return ""
        return f" {count} plug-in{'s' * (count > 1)} failed to load; `anchor-align adapters` shows why."


def name_key(name: str) -> str:
    """Names that differ in case, or in "-", "_" and "." only, are the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def one_line(value: object, show: Callable[[object], str] = str) -> str:
    r"""Text of anything on one line, without control characters and not too long, even if ``show`` fails.

    Examples
    --------
    >>> one_line("two\nlines,\x1b[31m red")
    'two lines, [31m red'
    """
    try:
        text = show(value)
    except Exception:
        text = f"({type(value).__qualname__} that cannot be shown)"
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def _settable(adapter: Adapter, *, deep: bool) -> dict[str, Any]:
    # What identifies an adapter is no setting: results would go by the wrong name.
    fixed = {"name", *(FunctionAdapter().get_params() if isinstance(adapter, FunctionAdapter) else ())}
    return {name: value for name, value in adapter.get_params(deep=deep).items() if name not in fixed}
