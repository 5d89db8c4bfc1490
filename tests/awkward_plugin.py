"""A plug-in in one file whose adapter behaves badly on request; loaded by path, as a user's would be."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from anchor_align import Adapter, AnchorGraphs, hookimpl, view_seeds

_CALLS: list[int] = []


class Odd(BaseException):
    """No Exception."""


class Unspeakable(Exception):
    """Cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError


class Awkward(Adapter):
    """Random graphs; ``mode`` says what goes wrong on the way."""

    name = "awkward"

    def __init__(self, mode: str = "fine", seconds: float = 0.0, log: str = "") -> None:
        self.mode = mode
        self.seconds = seconds
        self.log = log

    def default_n_anchors(self, n_samples: int, n_clusters: int) -> int:
        """Refuse to say if the mode says so."""
        if self.mode == "no default":
            raise RuntimeError("no idea")
        return super().default_n_anchors(n_samples, n_clusters)

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Graphs drawn at random."""
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{random_state}\n")
        time.sleep(self.seconds)
        match self.mode:
            case "fail":
                raise ZeroDivisionError("nothing\nto divide by")
            case "exit":
                sys.exit("gave up")
            case "die":
                os._exit(3)
            case "vanish":
                os._exit(0)
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "fork":
                os.fork()
            case "loop":
                while True:
                    pass
            case "print":
                print("printed to stdout")
                os.system("echo printed by a program")
            case "moody":
                # Works once in a process.
                if _CALLS:
                    raise MemoryError
                _CALLS.append(random_state)
            case "base":
                raise Odd("odd")
            case "cancelled":
                raise asyncio.CancelledError
            case "unspeakable":
                raise Unspeakable
            case "interrupt":
                raise KeyboardInterrupt
            case "scribble":
                views[0].flags.writeable = True
            case "warn":
                warnings.warn("anchors are few", stacklevel=2)
                warnings.warn("for programmers", DeprecationWarning, stacklevel=2)
        seeds = view_seeds(random_state, len(views))
        if self.mode == "sloppy":
            seeds = [random.randrange(2**32) + int(np.random.randint(2**16)) for _ in views]  # noqa: NPY002
        if self.mode == "careless":
            np.seterr(all="raise")
            os.chdir("/")
        return AnchorGraphs([np.random.default_rng(s).dirichlet(np.ones(n_anchors), len(views[0])) for s in seeds])

    def cluster(self, graph: Any, *, n_clusters: int, random_state: int) -> Any:
        """Refuse concatenated graphs if the mode says so."""
        if self.mode == "narrow" and graph.shape[1] > 8:
            raise ValueError("too wide")
        return super().cluster(graph, n_clusters=n_clusters, random_state=random_state)


@hookimpl
def anchor_align_adapters() -> list[type[Adapter]]:
    """The adapter of this file."""
    return [Awkward]
