"""Scores of a clustering against known classes.

Every score is a function of (true labels, found labels) and comes from one sparse contingency table: c_ij samples of
true class i in found cluster j, a_i samples in class i, b_j in cluster j, n in all. No n x n matrix is built, and
counts are exact integers, so scores that are ratios of counts are correctly rounded for any n.

Labels are a 1-D list, array or pandas Series of whole numbers (also stored as floats), text or booleans. The names of
the labels do not matter. Missing labels are an error.

If a definition divides zero by zero, there is no error and the score is the best possible:

==============================================  ===  ===  ======  =========  ======  ======  ===  =======
labels                                          acc  nmi  purity  precision  recall  fscore  ari  entropy
==============================================  ===  ===  ======  =========  ======  ======  ===  =======
the same groups (so always for n = 1)           1    1    1       1          1       1       1    0
k > 1 equal classes, all in one cluster         1/k  0    1/k     < 1        1       < 1     0    1
k > 1 classes of >= 2 samples, all singletons   k/n  < 1  1       1          0       0       0    0
one class of >= 2 samples, all singletons       1/n  0    1       1          0       0       0    0
==============================================  ===  ===  ======  =========  ======  ======  ===  =======

nmi and ari agree with scikit-learn there too.
"""

from ._contingency import Table as Table
from ._contingency import encode_labels as encode_labels
from ._scores import Scores, acc, ari, entropy, fscore, nmi, precision, purity, recall, score_all

__all__ = ["Scores", "acc", "ari", "entropy", "fscore", "nmi", "precision", "purity", "recall", "score_all"]
