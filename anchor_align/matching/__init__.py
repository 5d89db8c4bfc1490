"""The correspondence of anchors: pairs of views, many views, certificates, chance. Its input are Gram matrices."""

from ._align_graphs import align
from ._aligner import AnchorAligner
from ._certificate import ambiguous
from ._many_views import Progress
from ._match_notes import chance_notes, tie_notes
from ._pair_solvers import EFFORTS as EFFORTS
from ._pair_solvers import METHODS as METHODS
from ._parameters import check_lam, check_reference
from ._scaled_grams import LAM_SCALES as LAM_SCALES

__all__ = [
    "AnchorAligner",
    "Progress",
    "align",
    "ambiguous",
    "chance_notes",
    "check_lam",
    "check_reference",
    "tie_notes",
]
