"""What goes wrong on a cluster, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from ..errors import ClusterError

# What Dask says of chunks that were kept and are gone, on a cluster, and where they are looked for without one.
GONE = ("lost dependencies", "Missing dependency", "Found no accessible jobs")


@contextmanager
def explained() -> Iterator[None]:
    """Say what it means when a cluster goes away or a worker does not survive its work."""
    try:
        yield
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise ClusterError(reason) from error


def _reason(error: Exception) -> str | None:
    names = {base.__name__ for base in type(error).__mro__}
    if "KilledWorker" in names:
        return (
            f"Dask gave up on a chunk whose worker died several times ({error}). Mostly the worker's memory limit is "
            "too low for the chunk: rechunk the views to fewer rows, or give the workers more memory."
        )
    if isinstance(error, (CancelledError, ValueError)) and any(text in str(error) for text in GONE):
        return (
            "What a Dask cluster kept went away with it: views that were persisted, or the result of a fit. Make them "
            "anew."
        )
    of_cluster = any(base.__module__.partition(".")[0] == "distributed" for base in type(error).__mro__)
    closed = type(error) is Exception and "after closing" in str(error)
    if of_cluster or closed or isinstance(error, (CancelledError, ConnectionError, TimeoutError)):
        return (
            f"The Dask cluster went away during the work ({type(error).__name__}: {_first_line(error)}). Nothing of "
            "the fit is kept; connect to a cluster and fit again."
        )
    return None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
