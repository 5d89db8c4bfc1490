"""Parts of a result: records of runs, their summaries, and where data and adapters come from."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from ..arrays import IndexArray
from ..clustering import AlignedClusterer
from ..fusion import FUSIONS
from ._differences import Difference
from ._vocabulary import DEFAULT_VERSUS, DONE

# Arms of every study; all fusions of this package; those that depend on ``lam``.
ARMS = tuple(fusion.name for fusion in FUSIONS if fusion.in_every_study)
ALL_ARMS = tuple(fusion.name for fusion in FUSIONS)
LAM_ARMS = tuple(fusion.name for fusion in FUSIONS if fusion.aligns)


@dataclass(frozen=True)
class Setting:
    """All that stays the same over the repeats.

    Attributes
    ----------
    dataset, adapter : str
    n_anchors : int, tuple of int or None
        A tuple: one number for each view. None: the adapter finds the number itself.
    lam : float
        Weight of the structure term; only arms that align depend on it.
    params : tuple of (str, object)
        Name and value of the adapter's settings that the user gave; the others have their defaults.
    options : tuple of (str, object)
        Name and value of the options "missing", "drop", "weights" and "many_to_one" that differ from their defaults.
    """

    dataset: str
    adapter: str
    n_anchors: int | tuple[int, ...] | None
    lam: float
    params: tuple[tuple[str, object], ...] = ()
    options: tuple[tuple[str, object], ...] = ()


def setting_key(setting: Setting, *, with_lam: bool = True) -> Hashable:
    """Key that is equal for equal settings, or, with ``with_lam=False``, for settings that differ in ``lam`` only."""
    # By repr: values such as lists cannot be hashed, and 1 and True are different settings.
    lam = setting.lam if with_lam else None
    return setting.dataset, setting.adapter, setting.n_anchors, lam, repr(setting.params), repr(setting.options)


@dataclass(frozen=True)
class Record:
    """One arm of one run.

    Attributes
    ----------
    setting : Setting
    arm : str
        Name of the fusion: "unaligned", "aligned" and so on; "baseline" for a baseline, which has no graphs to fuse.
    repeat : int
        Counted from 0.
    seed : int
        The adapter's ``random_state``; the same for all arms.
    scores : dict or None
        Scores by name, from 0 to 1; None if the run failed or the data have no labels.
    seconds : float or None
        Time from the views to the labels, on one thread. The time for the graphs, which all arms share, is part of
        the time of each arm. None if the run failed.
    status : {"done", "failed", "timeout", "memory"}
        "timeout": it took longer than the study allows. "memory": there was not enough memory.
    reason : str
        Why the run failed, in one line; else empty.
    objective, upper_bound : float or None
        Objective of the match, summed over the views, and a bound that no permutation exceeds; None where nothing was
        matched.
    agreement, anchors_in_use, evenness : float or None
        What the footing "agreement" chooses by, found without labels: agreement of the views' graphs (linear CKA, None
        for one view), evenness of the use of anchors, evenness of the sizes of the clusters. None if the run failed.
    warnings : tuple of str
        Warnings that were raised in the run.
    labels : ndarray of shape (n_samples,) or None
        Cluster of each sample; None if the run failed.
    """

    setting: Setting
    arm: str
    repeat: int
    seed: int
    scores: Mapping[str, float] | None
    seconds: float | None
    status: str = DONE
    reason: str = ""
    objective: float | None = None
    upper_bound: float | None = None
    agreement: float | None = None
    anchors_in_use: float | None = None
    evenness: float | None = None
    warnings: tuple[str, ...] = ()
    labels: IndexArray | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class ArmSummary:
    """One arm over all repeats.

    Attributes
    ----------
    setting : Setting
        Setting of the runs; on the footing "best", the setting with the highest mean of the study's score; on the
        footing "agreement", the setting that the agreement of the views chooses.
    n_settings : int
        Number of settings that this one was chosen from: 1 on the footing "fixed".
    n_done, n_failed : int
    mean, sd : dict
        By score; ``sd`` is that of a sample (n - 1). Empty if no run has scores; ``sd`` needs two runs.
    """

    setting: Setting
    n_settings: int
    n_done: int
    n_failed: int
    mean: Mapping[str, float]
    sd: Mapping[str, float]


@dataclass(frozen=True)
class Summary:
    """One row of the result: a data set and an adapter at one setting, or at the best of the grid.

    Attributes
    ----------
    footing : {"fixed", "agreement", "best"}
        "fixed": every setting is a row, nothing is chosen by label. "best": for each arm the setting with the highest
        mean score was chosen by label, as much of the literature does.
    dataset, adapter : str
    setting : Setting or None
        None on the footings "agreement" and "best": each arm has its own setting.
    arms : dict of ArmSummary by arm
    contrasts : dict of dict of Difference by pair of arms and score
        Without the pairs that cannot be compared: no labels, an arm that the adapter does not have, or all runs of one
        arm failed.
    failures : tuple of str
        Distinct reasons why runs failed.
    """

    footing: str
    dataset: str
    adapter: str
    setting: Setting | None
    arms: Mapping[str, ArmSummary]
    contrasts: Mapping[tuple[str, str], Mapping[str, Difference]]
    failures: tuple[str, ...] = ()

    @property
    def differences(self) -> Mapping[str, Difference]:
        """Aligned - unaligned by score; empty if the two were not compared."""
        return self.contrasts.get(DEFAULT_VERSUS, {})


@dataclass(frozen=True)
class DataInfo:
    """A data set of the study.

    Attributes
    ----------
    name : str
        As it appears in the result.
    source : str
        As the user gave it: a path, or the name of a bundled set.
    n_samples, n_clusters : int
    views : tuple of (str, int)
        Name and number of features of every view.
    has_labels : bool
    digest : str
        "sha256:" and the hash of the numbers in views and labels.
    rows_digest : int
        Hash of the samples of the views in any order. Seeds depend on it: labels serve scoring only.
    kinds : tuple of str
        Type of every view's matrix: "float64", "sparse float32" and so on.
    notes : tuple of str
        What the loader found out: keys, orientation.
    """

    name: str
    source: str
    n_samples: int
    n_clusters: int
    views: tuple[tuple[str, int], ...]
    has_labels: bool
    digest: str
    notes: tuple[str, ...] = ()
    rows_digest: int = 0
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class AdapterInfo:
    """An adapter of the study: its name, the distribution or file that it comes from, and the version."""

    name: str
    distribution: str
    version: str


@dataclass(frozen=True, eq=False)
class Showcase:
    """A typical repeat of an adapter on a data set.

    Attributes
    ----------
    setting : Setting
    repeat : int
        The repeat whose difference between the arms of the study's first pair is nearest the mean difference; the first
        one without labels.
    clusterer : AlignedClusterer
        Fitted with aligned fusion and the seed of the run.
    labels : ndarray of shape (n_samples,) or None
        True clusters, if they are known.
    accuracy : dict
        ACC of every arm of this run; empty without labels.
    """

    setting: Setting
    clusterer: AlignedClusterer
    labels: IndexArray | None
    accuracy: Mapping[str, float]
    repeat: int = 0
