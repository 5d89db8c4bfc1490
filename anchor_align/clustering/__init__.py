"""From views to labels: the steps of a fit, prediction for new samples, the estimator, and settings without labels."""

from ._anchor_rules import AnchorRule, anchors_for
from ._assignment import Assignment
from ._candidates import Candidate, CandidateResult, ChoiceCost, ChoiceProgress
from ._choose import Choice, choice_cost, choose
from ._chosen_settings import choice_note
from ._cluster_curves import CAUTION, CURVE_SUMMARIES, ClusterCurve, ClusterCurves, cluster_number_curves
from ._criteria import Criteria, DrawCriteria, chosen_setting, stability
from ._estimator import AlignedClusterer
from ._fit_quality import FitQuality, fit_quality
from ._fuse import fuse
from ._load_model import clusterer_of, load
from ._pipeline import Pipeline, ViewGraphs, count_anchors
from ._progress import FitProgress, progress_text, time_text
from ._sample_order import in_order_of_fit, labels_of_data
from ._saved_models import ModelFacts, SavedModel
from ._views import Views, check_views

__all__ = [
    "CAUTION",
    "CURVE_SUMMARIES",
    "AlignedClusterer",
    "AnchorRule",
    "Assignment",
    "Candidate",
    "CandidateResult",
    "Choice",
    "ChoiceCost",
    "ChoiceProgress",
    "ClusterCurve",
    "ClusterCurves",
    "Criteria",
    "DrawCriteria",
    "FitProgress",
    "FitQuality",
    "ModelFacts",
    "Pipeline",
    "SavedModel",
    "ViewGraphs",
    "Views",
    "anchors_for",
    "check_views",
    "choice_cost",
    "choice_note",
    "choose",
    "chosen_setting",
    "cluster_number_curves",
    "clusterer_of",
    "count_anchors",
    "fit_quality",
    "fuse",
    "in_order_of_fit",
    "labels_of_data",
    "load",
    "progress_text",
    "stability",
    "time_text",
]
