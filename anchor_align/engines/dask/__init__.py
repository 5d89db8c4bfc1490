"""The engine for Dask arrays. Only this folder imports Dask, when a Dask array is first used."""

from ...errors import missing_extra

try:
    import dask.array  # noqa: F401  # a test whether it is installed
except ImportError as error:
    raise missing_extra("Dask arrays", "dask", "dask") from error

from ._engine import DaskEngine

ENGINE = DaskEngine()

__all__ = ["ENGINE"]
