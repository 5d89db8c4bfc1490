"""Results that several runs on the same views share."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

# Results that are kept; the oldest goes first.
MOST = 64


@dataclass(frozen=True, eq=False)
class _Made:
    value: Any
    warned: tuple[warnings.WarningMessage, ...]
    seconds: float


class Memo:
    """What was made of some views, by key; other views empty it."""

    def __init__(self) -> None:
        self._views: Hashable = None
        self._made: dict[Hashable, _Made] = {}
        self._seconds = 0.0

    def use(self, views: Hashable) -> None:
        """Say which views are worked on from now on."""
        if views != self._views:
            self._made.clear()
        self._views = views
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """Time that was saved since :meth:`use`: what a run on its own would have taken more."""
        return self._seconds

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` returns, or returned before; warnings are given again."""
        made = self._made.get(key)
        if made is None:
            started = time.perf_counter()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value = make()
            if isinstance(value, np.ndarray):  # whoever changed it would change it for all
                value.flags.writeable = False
            made = self._made[key] = _Made(value, tuple(caught), time.perf_counter() - started)
            if len(self._made) > MOST:
                del self._made[next(iter(self._made))]
        else:
            self._seconds += made.seconds
        for each in made.warned:
            warnings.warn(each.message, each.category, stacklevel=2)
        result: T = made.value
        return result
