"""Result of a study: records of runs, their summaries, and where data and adapters come from."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from ..arrays import IndexArray
from ..clustering import AlignedClusterer
from ..fusion import FUSIONS, Fusion
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
        Name of the fusion: "unaligned", "aligned" and so on.
    repeat : int
        Counted from 0.
    seed : int
        The adapter's ``random_state``; the same for all arms.
    scores : dict or None
        Scores by name, from 0 to 1; None if the run failed or the data have no labels.
    seconds : float or None
        Time from the views to the labels, on one thread. The time for the graphs, which all arms share, is part of
        the time of each arm. None if the run failed.
    status : {"done", "failed", "timeout"}
        "timeout": it took longer than the study allows.
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
    views_digest : str
        Hash of the views alone. Seeds depend on it: labels serve scoring only.
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
    views_digest: str = ""
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


@dataclass(frozen=True)
class StudyResult:
    """Result of a study.

    Attributes
    ----------
    kind : {"compare", "sweep"}
    records : tuple of Record
        In the order of the plan: data, adapter, settings, anchors, lam, repeat, arm. Every ``lam`` has records of all
        arms; for arms that do not depend on ``lam`` these are the same runs.
    summaries : tuple of Summary
    data : tuple of DataInfo
    adapters : tuple of AdapterInfo
    score : str
        The score that figures show, and that chooses the best setting of a grid.
    repeats, seed : int
    reference : str
        Reference of the alignment, as given.
    command : str
        The command that gives the same result.
    environment : dict
        Versions of Python and packages.
    showcases : tuple of Showcase
        Fitted runs for figures; empty unless ``pictures`` was set.
    options : tuple of (str, object)
        The same as in every record's setting.
    fusions : tuple of Fusion
        The arms, in the order in which they are shown.
    more_scores : tuple of str
        Scores that tables show besides.
    versus : tuple of (str, str)
        Pairs of arms that are compared: first - second. Figures show the first pair.
    """

    kind: str
    records: tuple[Record, ...]
    summaries: tuple[Summary, ...]
    data: tuple[DataInfo, ...]
    adapters: tuple[AdapterInfo, ...]
    score: str
    repeats: int
    seed: int
    reference: str
    command: str
    environment: Mapping[str, str] = field(default_factory=dict)
    showcases: tuple[Showcase, ...] = field(default=(), repr=False)
    options: tuple[tuple[str, object], ...] = ()
    fusions: tuple[Fusion, ...] = field(default=FUSIONS, repr=False, compare=False)
    more_scores: tuple[str, ...] = ()
    versus: tuple[tuple[str, str], ...] = (DEFAULT_VERSUS,)

    @property
    def scores(self) -> tuple[str, ...]:
        """All scores that tables show."""
        return (self.score, *self.more_scores)

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that were run, in the order in which they are shown."""
        found = {record.arm for record in self.records}
        return tuple(fusion.name for fusion in self.fusions if fusion.name in found)

    @property
    def runs(self) -> tuple[Record, ...]:
        """Every run once: arms that do not depend on ``lam`` have the same run for every ``lam``."""
        with_lam = {fusion.name: fusion.aligns for fusion in self.fusions}
        distinct: dict[Hashable, Record] = {}
        for record in self.records:
            setting = setting_key(record.setting, with_lam=with_lam.get(record.arm, False))
            distinct.setdefault((setting, record.arm, record.repeat), record)
        return tuple(distinct.values())

    @property
    def n_failed(self) -> int:
        """Number of runs that failed or took too long."""
        return sum(record.status != DONE for record in self.runs)

    def of_footing(self, footing: str) -> tuple[Summary, ...]:
        """The rows on one footing."""
        return tuple(row for row in self.summaries if row.footing == footing)
