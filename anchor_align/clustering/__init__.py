"""From views to labels: the steps of a fit, prediction for new samples, the estimator, and settings without labels."""

from ._anchor_rules import AnchorRule, anchors_for
from ._candidates import Candidate, CandidateResult, ChoiceCost, ChoiceProgress
from ._choose import Choice, choice_cost, choose
from ._cluster_curves import CAUTION, CURVE_SUMMARIES, ClusterCurve, ClusterCurves, cluster_number_curves
from ._criteria import Criteria, DrawCriteria, chosen_setting
from ._estimator import AlignedClusterer
from ._fuse import fuse
from ._pipeline import Pipeline, ViewGraphs, count_anchors
from ._views import Views, check_views

__all__ = [
    "CAUTION",
    "CURVE_SUMMARIES",
    "AlignedClusterer",
    "AnchorRule",
    "Candidate",
    "CandidateResult",
    "Choice",
    "ChoiceCost",
    "ChoiceProgress",
    "ClusterCurve",
    "ClusterCurves",
    "Criteria",
    "DrawCriteria",
    "Pipeline",
    "ViewGraphs",
    "Views",
    "anchors_for",
    "check_views",
    "choice_cost",
    "choose",
    "chosen_setting",
    "cluster_number_curves",
    "count_anchors",
    "fuse",
]
