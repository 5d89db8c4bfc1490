"""K-means over blocks of rows: all runs share each pass, and the data are not copied.

The algorithm, the k-means++ starts and the random numbers are those of scikit-learn's ``KMeans``, so it finds the same
clusters. Only the visits of the rows differ. scikit-learn centres a copy of all the data and finishes one run before
the next begins. Here rows come from a :class:`~anchor_align.blocks.ScaledRows`, which may be a file, and each pass
serves all runs: their centres together make one matrix product per block, wide enough for BLAS to run at full speed.
Sums of the clusters are updated with the rows that change clusters.
"""

from ._kmeans import SAME_INERTIA as SAME_INERTIA
from ._kmeans import KMeansResult, fit_kmeans
from ._kmeans import Nearness as Nearness
from ._kmeans import draw as draw
from ._kmeans import first_least as first_least
from ._kmeans import n_trials_for as n_trials_for
from ._lloyd import FarRow as FarRow
from ._lloyd import LloydRun as LloydRun
from ._lloyd import assign_rows as assign_rows
from ._lloyd import farthest_rows as farthest_rows
from ._lloyd import first_farthest as first_farthest
from ._lloyd import move_centres as move_centres

__all__ = ["KMeansResult", "fit_kmeans"]
