"""Other people's code runs here: what it does to the rest of the process is undone, and stdout stays for results."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def contained(seed: int | None = None) -> Iterator[None]:
    """Put back what belongs to the whole process, and send what is printed to stderr.

    Kept are stderr, the working directory, the warning filters, numpy's error state and the states of the global random
    generators. With ``seed`` these start from it: code that draws from them, against the rules, is then repeatable.
    """
    stderr = sys.stderr
    python_state, numpy_state = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002  # not used: kept
    try:
        if seed is not None:
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002  # for the code that uses it
        with contextlib.redirect_stdout(sys.stderr), _same_directory(), warnings.catch_warnings(), np.errstate():
            yield
    finally:
        sys.stderr = stderr
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002


def _same_directory() -> contextlib.AbstractContextManager[None]:
    """Come back to the working directory, if it still exists."""
    try:
        return contextlib.chdir(os.getcwd())
    except OSError:
        return contextlib.nullcontext()
