"""K-means over blocks of rows: all runs share each pass, and the data are not copied.

The algorithm, the k-means++ starts and the random numbers are those of scikit-learn's ``KMeans`` on rows in the order
of :func:`~anchor_align.blocks.row_order`. So it finds the same clusters, whatever the order of the rows. Of many rows,
only a sample is considered for the starts.

The visits of the rows differ. scikit-learn centres a copy of all the data and finishes one run before the next begins.
Here rows come from a :class:`~anchor_align.blocks.ScaledRows`, which may be a file, and each pass serves all runs:
their centres together make one matrix product per block, wide enough for BLAS to run at full speed. Sums of the
clusters are updated with the rows that change clusters.
"""

from ._kmeans import SAME_INERTIA as SAME_INERTIA
from ._kmeans import KMeansResult, fit_kmeans
from ._kmeans import draw as draw
from ._kmeans import find_starts as find_starts
from ._kmeans import start_rows as start_rows
from ._lloyd import FarRow as FarRow
from ._lloyd import LloydRun as LloydRun
from ._lloyd import assign_rows as assign_rows
from ._lloyd import farthest_rows as farthest_rows
from ._lloyd import first_farthest as first_farthest
from ._lloyd import move_centres as move_centres

__all__ = ["KMeansResult", "fit_kmeans"]
