"""Types of arrays and graphs, also for adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

if TYPE_CHECKING:
    from typing_extensions import TypeIs

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
DenseArray: TypeAlias = npt.NDArray[Any]
SparseArray: TypeAlias = "sp.csr_array[Any]"
# A checked graph, samples x anchors: an array or memmap of numbers, or a CSR array.
Graph: TypeAlias = "DenseArray | SparseArray"


class DataFrameLike(Protocol):
    """A table with named columns, as in pandas."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    def to_numpy(self) -> Any:
        """The numbers."""


class DistributedArray(Protocol):
    """An array whose rows are distributed: a Dask array."""

    @property
    def shape(self) -> tuple[Any, ...]:
        """Number of rows and of columns."""

    def compute(self) -> Any:
        """The numbers."""


# A graph as users give it: an array, nested lists, any sparse array or matrix, a DataFrame, or a Dask array.
GraphLike: TypeAlias = "npt.ArrayLike | sp.sparray | sp.spmatrix | DataFrameLike | DistributedArray"


def is_sparse(Z: object) -> TypeIs[SparseArray]:
    """Whether a graph is a scipy sparse array or matrix."""
    return bool(sp.issparse(Z))
