"""Scores of a clustering against known classes, each a function of (true labels, found labels)."""

from __future__ import annotations

from dataclasses import dataclass

from ..checks import check_choice
from ._contingency import Labels, tabulate

AVERAGES = ("arithmetic", "geometric", "max", "min")


@dataclass(frozen=True)
class Scores:
    """All scores of one clustering.

    Attributes
    ----------
    acc, nmi, purity, fscore, precision, recall, ari, entropy : float
        What the functions of these names return. Higher is better, except for ``entropy``.
    """

    acc: float
    nmi: float
    purity: float
    fscore: float
    precision: float
    recall: float
    ari: float
    entropy: float


def score_all(true: Labels, found: Labels, *, average: str = "arithmetic") -> Scores:
    """All scores, from one contingency table.

    Parameters
    ----------
    true, found : array-like of shape (n_samples,)
        Class and cluster of each sample.
    average : {"arithmetic", "geometric", "max", "min"}, default="arithmetic"
        Normaliser of :func:`nmi`.

    Returns
    -------
    Scores
        Frozen dataclass of floats.

    Raises
    ------
    InputError
        If labels are missing or of a kind that cannot be used, or the lengths differ.

    Examples
    --------
    >>> from anchor_align.metrics import score_all
    >>> scores = score_all([0, 0, 0, 1, 1, 2], ["b", "b", "a", "a", "a", "c"])
    >>> scores.precision, scores.recall, round(scores.acc, 4)
    (0.5, 0.5, 0.8333)
    """
    check_choice("average", average, AVERAGES)
    table = tabulate(true, found)
    return Scores(
        acc=table.acc(),
        nmi=table.nmi(average),
        purity=table.purity(),
        fscore=table.fscore(),
        precision=table.precision(),
        recall=table.recall(),
        ari=table.ari(),
        entropy=table.entropy(),
    )


def acc(true: Labels, found: Labels) -> float:
    """Accuracy under the best one-to-one matching of clusters to classes.

    Parameters
    ----------
    true, found : array-like of shape (n_samples,)
        Class and cluster of each sample.

    Returns
    -------
    float
        Fraction of matched samples, in (0, 1]. Symmetric.

    Notes
    -----
    The numbers of classes and clusters may differ; samples of a group without a partner count as errors. The
    matching is optimal at any size: with up to 2048 x 2048 groups or as many cells by the Hungarian method on a dense
    table, beyond that on the sparse table, whose time can grow with the square of the number of groups if the
    labellings have little in common.

    Examples
    --------
    >>> from anchor_align.metrics import acc
    >>> acc([0, 0, 1, 1], [7, 7, 3, 5])
    0.75
    """
    return tabulate(true, found).acc()


def nmi(true: Labels, found: Labels, *, average: str = "arithmetic") -> float:
    """Normalised mutual information: MI(true, found) / average(H(true), H(found)).

    Parameters
    ----------
    true, found : array-like of shape (n_samples,)
    average : {"arithmetic", "geometric", "max", "min"}, default="arithmetic"
        "arithmetic" is scikit-learn's default. Papers that score with the MATLAB function MutualInfo (LMVSC and its
        family) divide by the "max", which is never larger than any other choice.

    Returns
    -------
    float
        In [0, 1]. Symmetric. 1 for the same groups, also if there is only one; else 0 if either has only one group.

    Examples
    --------
    >>> from anchor_align.metrics import nmi
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 6), round(nmi([0, 0, 1, 1], [0, 0, 1, 2], average="max"), 6)
    (0.8, 0.666667)
    """
    check_choice("average", average, AVERAGES)
    return tabulate(true, found).nmi(average)


def purity(true: Labels, found: Labels) -> float:
    """Fraction of the samples that are in the largest class of their cluster.

    Parameters
    ----------
    true, found : array-like of shape (n_samples,)

    Returns
    -------
    float
        In (0, 1], never below :func:`acc`. Not symmetric: more clusters are never less pure, singletons score 1.

    Examples
    --------
    >>> from anchor_align.metrics import purity
    >>> purity([0, 0, 1, 1], [0, 1, 2, 3]), purity([0, 0, 1, 1], [0, 0, 0, 0])
    (1.0, 0.5)
    """
    return tabulate(true, found).purity()


def precision(true: Labels, found: Labels) -> float:
    """Fraction of the pairs of samples in one cluster that are of one class.

    Parameters
    ----------
    true, found : array-like of shape (n_samples,)

    Returns
    -------
    float
        In [0, 1]; ``precision(a, b) == recall(b, a)``. 1 if no two samples share a cluster, as in the MATLAB function
        compute_f that most multi-view papers score with.

    Examples
    --------
    >>> from anchor_align.metrics import precision
    >>> precision([0, 0, 1, 1], [0, 0, 1, 2]), precision([0, 0, 0, 1], [0, 0, 1, 1])
    (1.0, 0.5)
    """
    return tabulate(true, found).precision()


def recall(true: Labels, found: Labels) -> float:
    """Fraction of the pairs of samples of one class that are in one cluster.

    Parameters
    ----------
    true, found : array-like of shape (n_samples,)

    Returns
    -------
    float
        In [0, 1]; ``recall(a, b) == precision(b, a)``. 1 if no two samples share a class.

    Examples
    --------
    >>> from anchor_align.metrics import recall
    >>> recall([0, 0, 1, 1], [0, 0, 1, 2])
    0.5
    """
    return tabulate(true, found).recall()


def fscore(true: Labels, found: Labels) -> float:
    """Harmonic mean of the pairwise :func:`precision` and :func:`recall`.

    Parameters
    ----------
    true, found : array-like of shape (n_samples,)

    Returns
    -------
    float
        In [0, 1]. Symmetric. 1 if no two samples share a class or a cluster.

    Examples
    --------
    >>> from anchor_align.metrics import fscore
    >>> round(fscore([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.666667
    """
    return tabulate(true, found).fscore()


def ari(true: Labels, found: Labels) -> float:
    """Adjusted Rand index: agreement on pairs of samples, 0 on average for random labels with the same group sizes.

    Parameters
    ----------
    true, found : array-like of shape (n_samples,)

    Returns
    -------
    float
        In [-0.5, 1]. Symmetric. 1 exactly for the same groups.

    Examples
    --------
    >>> from anchor_align.metrics import ari
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0]), ari([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, -0.5)
    """
    return tabulate(true, found).ari()


def entropy(true: Labels, found: Labels) -> float:
    """Entropy of the classes within the clusters; lower is better.

    Parameters
    ----------
    true, found : array-like of shape (n_samples,)

    Returns
    -------
    float
        In [0, 1]: 0 if every cluster holds one class, 1 if every cluster holds all classes in equal parts. 0 if there
        is only one class. Not symmetric.

    Notes
    -----
    The definition of Zhao and Karypis (2004): the mean over clusters, weighted by size, of the entropy of the classes
    in the cluster, divided by the logarithm of the number of classes k. Papers that score with the MATLAB function
    compute_nmi report it in bits without that division: multiply by ``math.log2(k)`` to compare.

    Examples
    --------
    >>> from anchor_align.metrics import entropy
    >>> entropy([0, 0, 1, 1], [0, 0, 1, 2]), entropy([0, 0, 1, 1], [0, 1, 0, 1]), entropy([0, 0, 1, 1], [0, 0, 0, 0])
    (0.0, 1.0, 1.0)
    """
    return tabulate(true, found).entropy()
