"""The pipeline on Dask: the one place that imports it, reached from the core when it meets a Dask array."""

from __future__ import annotations

from ..errors import missing_extra

try:
    import dask.array
except ImportError as error:
    raise missing_extra("Dask arrays", "dask", "dask") from error

__all__ = ["dask"]
