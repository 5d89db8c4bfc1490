"""Methods that make anchor graphs, written on top of anchor-align, and baselines to compare them with."""

from ._scaling import scale_views as scale_views
from ._scaling import side_by_side as side_by_side
