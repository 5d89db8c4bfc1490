"""Array aliases shared by the numerical modules."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]
# A checked graph: a 2-D numeric ndarray as it came (no copy), or a CSR array or matrix.
Graph: TypeAlias = Any
# A view's graph as users hand it over: ndarray, memmap, DataFrame, scipy sparse or nested lists.
GraphLike: TypeAlias = Any


def is_dask(value: object) -> bool:
    """Whether something is a Dask collection; Dask is not imported for it."""
    return any(kind.__module__.partition(".")[0] in ("dask", "dask_expr") for kind in type(value).__mro__)


def is_sparse(Z: Graph) -> bool:
    """Whether a graph is a scipy sparse array or matrix."""
    return bool(sp.issparse(Z))
