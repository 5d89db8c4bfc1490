"""One case of the soak: a call, what may come of it, and what must not.

A call may return or raise an :class:`AnchorAlignError` of one line. It must not change its input, and the same call on
another number of threads must return the same to the last digit.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hostile_values import spoil
from threadpoolctl import ThreadpoolController

from anchor_align import AnchorAlignError

THREADS = (1, 3)
SPOILED = 0.4  # fraction of the calls with wrong arguments


class BrokenPromise(Exception):
    """The library did something that its documentation rules out."""


def promise(kept: object, text: str) -> None:
    """Raise an error unless the promise is kept."""
    if not kept:
        raise BrokenPromise(text)


@functools.cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()  # finding the libraries takes longer than many cases


def _nothing(_: Any) -> None:
    pass


@dataclasses.dataclass(frozen=True)
class Call:
    """A call with arguments by name.

    ``check`` looks at the result of arguments that were not spoiled. ``costly`` names the arguments in which a large
    number is a request for much work, not a mistake; ``safe`` names those that are never spoiled. ``same_again`` is
    False if the result holds times or random names.
    """

    function: Callable[..., Any]
    arguments: dict[str, Any]
    check: Callable[[Any], None] = _nothing
    costly: tuple[str, ...] = ()
    safe: tuple[str, ...] = ()
    same_again: bool = True
    spoiled: float = SPOILED


# An area draws a call from random numbers; the folder is for its files.
Area = Callable[[np.random.Generator, Path], Call]


def run_case(area: Area, seed: int, folder: Path) -> str:
    """Run one case twice, with equal arguments; returns "returned" or "refused"."""
    outcomes = []
    for threads in THREADS:
        rng = np.random.default_rng(seed)
        shutil.rmtree(folder)
        folder.mkdir()
        call = area(rng, folder)
        spoiled = rng.random() < call.spoiled and len(call.arguments) > len(call.safe)
        if spoiled:
            names = [name for name in call.arguments if name not in call.safe]
            for name in rng.choice(names, size=min(len(names), int(rng.integers(1, 3))), replace=False):
                call.arguments[name] = spoil(rng, call.arguments[name], costly=name in call.costly)
        before = fingerprint(call.arguments)
        with allowed_errors() as refused, warnings.catch_warnings(), _threads().limit(limits=threads):
            warnings.simplefilter("ignore")
            result = call.function(**call.arguments)
        promise(fingerprint(call.arguments) == before, "the input was changed")
        if not refused and not spoiled:
            call.check(result)
        unseeded = call.arguments.get("random_state", 0) is None  # every call may then draw other numbers
        if unseeded or not call.same_again:
            return "refused" if refused else "returned"
        outcomes.append(refused[0] if refused else fingerprint(result))
    promise(outcomes[0] == outcomes[1], f"{THREADS[0]} and {THREADS[1]} threads give different results")
    return "refused" if refused else "returned"


@contextmanager
def allowed_errors() -> Iterator[list[str]]:
    """Collect the message of an error that the library raises on purpose; others go on."""
    messages: list[str] = []
    try:
        yield messages
    except AnchorAlignError as error:
        # Addresses of objects differ from one call to the next.
        messages.append(re.sub("0x[0-9a-f]+", "0x", f"{type(error).__name__}: {error}"))
        lines = str(error).splitlines()
        # A list of plug-in failures is the one message of several lines, indented below the first.
        one_message = len(lines) >= 1 and all(line.startswith("  ") for line in lines[1:])
        promise(one_message, f"the message is not one line: {str(error)!r}")


def fingerprint(value: Any) -> str:
    """Hash of all numbers and texts in a value, to compare what was with what is."""
    state = hashlib.sha256()
    _feed(state, value, 12)
    return state.hexdigest()


def _feed(state: Any, value: Any, depth: int) -> None:
    state.update(type(value).__qualname__.encode())
    if depth == 0:
        return
    if isinstance(value, np.ma.MaskedArray):
        _feed(state, [np.asarray(value.data), np.ma.getmaskarray(value)], depth - 1)
    elif isinstance(value, np.ndarray):
        state.update(f"{value.dtype}{value.shape}".encode())
        state.update(repr(value.tolist()).encode() if value.dtype.hasobject else value.tobytes())
    elif sp.issparse(value):
        for name in ("data", "indices", "indptr", "row", "col", "offsets"):
            if isinstance(getattr(value, name, None), np.ndarray):
                _feed(state, getattr(value, name), depth - 1)
    elif isinstance(value, (pd.DataFrame, pd.Series)):
        _feed(state, [value.to_numpy(), list(value.index), str(getattr(value, "columns", ""))], depth - 1)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            _feed(state, [key, each], depth - 1)
    elif isinstance(value, (list, tuple)):
        for each in value:
            _feed(state, each, depth - 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _feed(state, {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}, depth - 1)
    elif isinstance(value, (bool, int, float, complex, str, bytes, np.generic, Path, set, frozenset)):
        state.update(_text(value).encode(errors="surrogatepass"))


def _text(value: Any) -> str:
    # Python refuses to write whole numbers of more than 4300 digits.
    return hex(value) if isinstance(value, int) else repr(value)
