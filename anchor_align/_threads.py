"""One thread where more would not help."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from threadpoolctl import threadpool_limits

# Numbers in all views up to which a second thread saves next to nothing.
SMALL = 2**23


def threads_for(numbers: int) -> AbstractContextManager[object]:
    """Limit small problems to one thread: their result is then the same, to the last digit, on every machine's setting.

    With several threads sums are rounded in another order. The difference is in the last digit, but k-means and
    alternating methods may turn it into another cluster for a sample that lies between two.
    """
    return threadpool_limits(1) if numbers <= SMALL else nullcontext()
