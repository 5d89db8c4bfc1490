"""Array aliases shared by the adapters."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]


def is_sparse(X: Any) -> bool:
    """Whether this is a scipy sparse array or matrix."""
    return bool(sp.issparse(X))
