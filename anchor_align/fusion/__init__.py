"""One graph from the graphs of all views: one object for each fusion, and the weights of the views."""

from ._fused_rows import FusedRows as FusedRows
from ._fused_rows import Recipe as Recipe
from ._fused_rows import is_finite as is_finite
from ._fusion import FUSIONS as FUSIONS
from ._fusion import Fusion as Fusion
from ._weights import AUTO as AUTO
from ._weights import LEAST_WEIGHT as LEAST_WEIGHT
from ._weights import agreement_weights as agreement_weights
from ._weights import check_weights as check_weights
from ._weights import is_auto as is_auto
