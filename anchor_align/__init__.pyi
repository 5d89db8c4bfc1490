"""Public names and where they come from; ``__init__.py`` loads them on first use."""

from .clustering import AlignedClusterer as AlignedClusterer
from .clustering import Candidate as Candidate
from .clustering import CandidateResult as CandidateResult
from .clustering import Choice as Choice
from .clustering import ChoiceCost as ChoiceCost
from .clustering import ChoiceProgress as ChoiceProgress
from .clustering import ClusterCurve as ClusterCurve
from .clustering import ClusterCurves as ClusterCurves
from .clustering import choice_cost as choice_cost
from .clustering import choose as choose
from .clustering import cluster_number_curves as cluster_number_curves
from .clustering import fuse as fuse
from .data import MultiViewData as MultiViewData
from .data import load_views as load_views
from .errors import AdapterError as AdapterError
from .errors import AnchorAlignError as AnchorAlignError
from .errors import ClusterError as ClusterError
from .errors import FileError as FileError
from .errors import InputError as InputError
from .errors import InputTypeError as InputTypeError
from .errors import MissingExtraError as MissingExtraError
from .errors import NotEnoughMemoryError as NotEnoughMemoryError
from .errors import PluginError as PluginError
from .errors import UnknownNameError as UnknownNameError
from .fusion import Fusion as Fusion
from .graphs import GramMatrices as GramMatrices
from .hookspecs import hookimpl as hookimpl
from .matching import AnchorAligner as AnchorAligner
from .matching import Progress as Progress
from .matching import align as align
from .plugins import Adapter as Adapter
from .plugins import AnchorGraphs as AnchorGraphs
from .plugins import FunctionAdapter as FunctionAdapter
from .plugins import get_adapter as get_adapter
from .plugins import get_fusion as get_fusion
from .plugins import list_adapters as list_adapters
from .plugins import list_fusions as list_fusions
from .plugins import load_plugins as load_plugins
from .plugins import view_seeds as view_seeds
from .simplex import project_rows_on_simplex as project_rows_on_simplex
from .simplex import simplex_least_squares as simplex_least_squares

__version__: str
