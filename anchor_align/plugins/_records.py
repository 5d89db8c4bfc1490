"""Records of loaded plug-ins: adapters, baselines, fusions, failures, and the registry of all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sklearn.base import clone

from .. import __version__
from ..errors import UnknownNameError, unknown_name
from ..fusion import FUSIONS, Fusion
from ._adapter import Adapter, FunctionAdapter
from ._baseline import Baseline

DISABLE_VARIABLE = "ANCHOR_ALIGN_DISABLE_PLUGINS"
OUR_DISTRIBUTION = "anchor-align"

Method = TypeVar("Method", Adapter, Baseline)

_LONGEST_TEXT = 300


@dataclass(frozen=True)
class Plugin:
    """The origin of a plug-in.

    Parameters
    ----------
    distribution : str
        Name of the distribution; for a single file, the given path.
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
    def is_ours(self) -> bool:
        """Whether it is part of anchor-align. A single file never is: its path ends in ".py"."""
        return name_key(self.distribution) == OUR_DISTRIBUTION

    @property
    def origin(self) -> str:
        """Distribution, version and entry point, as text."""
        name = f"{self.distribution} {self.version}".strip()
        return f"{name} ({self.entry_point})" if self.entry_point else name

    def __str__(self) -> str:
        return self.origin


@dataclass(frozen=True)
class PluginFailure(Plugin):
    """A plug-in, or one of its methods, that cannot be used, and the reason in one sentence.

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
class MethodRecord(Plugin, Generic[Method]):
    """An adapter or a baseline, and its origin.

    Parameters
    ----------
    name : str
        The name that users type.
    summary : str
        First sentence or line of its docstring.
    prototype : Adapter or Baseline
        :meth:`make` returns copies of it.
    """

    name: str
    summary: str
    prototype: Method = field(repr=False, compare=False)

    @property
    def parameters(self) -> dict[str, Any]:
        """Settings and their defaults."""
        return _settable(clone(self.prototype), deep=False)

    @property
    def settings(self) -> dict[str, str]:
        """Settings and their defaults, as text."""
        return {name: one_line(value, repr) for name, value in self.parameters.items()}

    def make(self, /, **params: Any) -> Method:
        """New instance with the settings ``params``.

        Raises
        ------
        UnknownNameError
            If the method has no setting of this name.
        """
        method: Method = clone(self.prototype)
        known = _settable(method, deep=True)
        for name in params:
            if not known:
                kind = "Adapter" if isinstance(method, Adapter) else "Baseline"
                raise UnknownNameError(f"{kind} {self.name!r} has no settings; got {name!r}.")
            if name not in known:
                raise unknown_name(f"{self.name} parameter", name, known)
        method.set_params(**params)
        return method


@dataclass(frozen=True)
class AdapterRecord(MethodRecord[Adapter]):
    """An adapter and its origin."""


@dataclass(frozen=True)
class BaselineRecord(MethodRecord[Baseline]):
    """A baseline and its origin."""


@dataclass(frozen=True)
class FusionRecord(Plugin):
    """A fusion and its origin."""

    name: str
    fusion: Fusion = field(repr=False, compare=False)


OUR_FUSIONS = tuple(FusionRecord(OUR_DISTRIBUTION, __version__, "", each.name, each) for each in FUSIONS)


AnyRecord = TypeVar("AnyRecord", bound=AdapterRecord | BaselineRecord | FusionRecord)


@dataclass(frozen=True)
class Registry:
    """All plug-ins: adapters, baselines and fusions in order, failures, and disabled plug-ins.

    Iteration gives the records of the adapters.

    Parameters
    ----------
    adapters : tuple of AdapterRecord
    fusions : tuple of FusionRecord
        The fusions of this package come first.
    failures : tuple of PluginFailure
    disabled : tuple of Plugin
        Not imported, because of ``ANCHOR_ALIGN_DISABLE_PLUGINS``.
    unmatched : tuple of str
        Names in that variable that are not installed.
    baselines : tuple of BaselineRecord

    Examples
    --------
    >>> from anchor_align import load_plugins
    >>> registry = load_plugins()
    >>> registry.names[:4]
    ('fmcnof', 'fmvacc', 'lmvsc', 'local')
    >>> registry.record("lmvsc").distribution
    'anchor-align'
    >>> registry.get("lmvsc", alpha=2.0).alpha
    2.0
    """

    adapters: tuple[AdapterRecord, ...] = ()
    fusions: tuple[FusionRecord, ...] = OUR_FUSIONS
    failures: tuple[PluginFailure, ...] = ()
    disabled: tuple[Plugin, ...] = ()
    unmatched: tuple[str, ...] = ()
    baselines: tuple[BaselineRecord, ...] = ()

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
            If there is none. The message says if a plug-in of this name is disabled or failed to load.
        """
        return self._find("adapter", self.adapters, name)

    def method(self, name: str) -> AdapterRecord | BaselineRecord:
        """Record of the adapter or the baseline called ``name``.

        Raises
        ------
        UnknownNameError
            If there is none.
        """
        every: tuple[AdapterRecord | BaselineRecord, ...] = (*self.adapters, *self.baselines)
        return self._find("method", every, name)

    def get(self, name: str, /, **params: Any) -> Adapter:
        """New instance of the adapter called ``name``, with the settings ``params``."""
        return self.record(name).make(**params)

    def baseline(self, name: str, /, **params: Any) -> Baseline:
        """New instance of the baseline called ``name``, with the settings ``params``.

        Raises
        ------
        UnknownNameError
            If there is none, or it has no such setting.
        """
        return self._find("baseline", self.baselines, name).make(**params)

    def fusion(self, name: object) -> Fusion:
        """The fusion called ``name``.

        Raises
        ------
        UnknownNameError
            If there is none.
        """
        return self._find("fusion", self.fusions, name).fusion

    def _find(self, what: str, records: Sequence[AnyRecord], name: object) -> AnyRecord:
        for record in records:
            # Other things than names may compare in their own way.
            if isinstance(name, str) and record.name == name:
                return record
        known = [record.name for record in records]
        hint = ""
        text = name if isinstance(name, str) else None
        if what == "adapter" and any(record.name == text for record in self.baselines):
            hint = f" {name!r} is a baseline: an adapter is compared with it by --against {name}, or against=."
        elif what == "baseline" and any(record.name == text for record in self.adapters):
            hint = f" {name!r} is an adapter: get_adapter({name!r})."
        raise UnknownNameError(f"{unknown_name(what, name, known)}{hint}{self._why_not(name)}")

    def _why_not(self, name: object) -> str:
        wanted = name_key(name) if isinstance(name, str) else None
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
    """Key of a name: names that differ only in case, "-", "_" and "." are the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def one_line(value: object, show: Callable[[object], str] = str) -> str:
    r"""Text of any object on one line, without control characters and not too long, even if ``show`` fails.

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


def _settable(method: Adapter | Baseline, *, deep: bool) -> dict[str, Any]:
    # The name and the functions identify a method and are not settings: results would get the wrong name.
    fixed = {"name", *(FunctionAdapter().get_params() if isinstance(method, FunctionAdapter) else ())}
    return {name: value for name, value in method.get_params(deep=deep).items() if name not in fixed}
