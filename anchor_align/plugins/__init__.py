"""Plug-ins: found through entry points, loaded one at a time, and refused one at a time.

A plug-in is a module named in the entry-point group ``anchor_align`` of an installed distribution, or a single file;
:mod:`anchor_align.hookspecs` shows an example. Each plug-in is loaded separately, with its own manager. A plug-in that
cannot be used becomes a :class:`PluginFailure` with its name and the reason. The others are not affected.

Order of plug-ins, and names used twice
    The adapters of anchor-align come first, then other distributions by (distribution, entry point), then files in the
    given order. The first plug-in with a name keeps it; "-" and "_" count as the same. It keeps the name also if it
    fails to load. The names of the adapters of anchor-align are always reserved.

Changes that are undone
    Loading a plug-in must not change the results of a study. Its output goes to stderr. The working directory, the
    warning filters, the error state of numpy and the states of the global random generators are restored. This protects
    against accidents only: a plug-in is a program that runs with your rights.

Disabling
    ``ANCHOR_ALIGN_DISABLE_PLUGINS`` has names of distributions or entry points, separated by commas. These are not
    imported. The adapters of anchor-align can be disabled too.
"""

from ._adapter import Adapter as Adapter
from ._adapter import AnchorGraphs as AnchorGraphs
from ._adapter import FunctionAdapter as FunctionAdapter
from ._adapter import view_seeds as view_seeds
from ._adapter_calls import ALIKE as ALIKE
from ._adapter_calls import blamed as blamed
from ._adapter_calls import check_labels as check_labels
from ._adapter_calls import check_made as check_made
from ._adapter_calls import made_graphs as made_graphs
from ._adapter_calls import odd_rows as odd_rows
from ._adapter_calls import warn_of_odd_rows as warn_of_odd_rows
from ._baseline import Baseline as Baseline
from ._baseline import as_baseline as as_baseline
from ._baseline import baseline_labels as baseline_labels
from ._contract_checks import contained as contained
from ._contract_checks import create_manager
from ._loading import (
    get_adapter,
    get_baseline,
    get_fusion,
    list_adapters,
    list_baselines,
    list_fusions,
    load_plugins,
)
from ._loading import has_third_party as has_third_party
from ._loading import load_and_report as load_and_report
from ._plugin_sources import PLUGIN_FILE as PLUGIN_FILE
from ._plugin_sources import check_files as check_files
from ._records import (
    DISABLE_VARIABLE,
    AdapterRecord,
    BaselineRecord,
    FusionRecord,
    Plugin,
    PluginFailure,
    Registry,
    one_line,
)
from ._records import OUR_FUSIONS as OUR_FUSIONS
from ._records import Method as Method
from ._records import MethodRecord as MethodRecord

__all__ = [
    "DISABLE_VARIABLE",
    "AdapterRecord",
    "BaselineRecord",
    "FusionRecord",
    "Plugin",
    "PluginFailure",
    "Registry",
    "create_manager",
    "get_adapter",
    "get_baseline",
    "get_fusion",
    "list_adapters",
    "list_baselines",
    "list_fusions",
    "load_plugins",
    "one_line",
]
