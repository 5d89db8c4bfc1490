"""From views to labels: the steps of a fit, prediction for new samples, and the estimator."""

from ._estimator import AlignedClusterer
from ._fuse import fuse
from ._pipeline import Pipeline, ViewGraphs, count_anchors
from ._views import Views, check_views

__all__ = ["AlignedClusterer", "Pipeline", "ViewGraphs", "Views", "check_views", "count_anchors", "fuse"]
