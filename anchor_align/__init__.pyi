"""Public names and where they come from; ``__init__.py`` loads them on first use."""

from .clustering import AlignedClusterer as AlignedClusterer
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
from .plugins import Baseline as Baseline
from .plugins import FunctionAdapter as FunctionAdapter
from .plugins import as_baseline as as_baseline
from .plugins import get_adapter as get_adapter
from .plugins import get_baseline as get_baseline
from .plugins import get_fusion as get_fusion
from .plugins import list_adapters as list_adapters
from .plugins import list_baselines as list_baselines
from .plugins import list_fusions as list_fusions
from .plugins import load_plugins as load_plugins
from .plugins import view_seeds as view_seeds
from .simplex import project_rows_on_simplex as project_rows_on_simplex
from .simplex import simplex_least_squares as simplex_least_squares

__version__: str
