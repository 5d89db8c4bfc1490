"""What a study finds: records of runs, their summaries, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._types import IndexArray

if TYPE_CHECKING:
    from ._showcase import Showcase

SCORES = ("acc", "nmi", "purity", "fscore", "ari")
ARMS = ("unaligned", "aligned", "concat")
# With the one that studies have on request; and those that depend on ``lam``.
ALL_ARMS = ("unaligned", "aligned", "rotated", "concat")
LAM_ARMS = ("aligned", "rotated")
FOOTINGS = ("fixed", "best")
DONE, FAILED = "done", "failed"


@dataclass(frozen=True)
class Setting:
    """What stays the same over the repeats of a run.

    Attributes
    ----------
    dataset, adapter : str
    n_anchors : int, tuple of int or None
        A tuple: one number for each view. None: the adapter finds the number on its own.
    lam : float
        Weight of the structure term; the aligned and the rotated arm depend on it, the others do not.
    params : tuple of (str, object)
        The adapter's settings that were given, by name; those not given are its defaults.
    options : tuple of (str, object)
        How the views were used, by name, where not as by default: "missing", "drop", "weights", "many_to_one".
    """

    dataset: str
    adapter: str
    n_anchors: int | tuple[int, ...] | None
    lam: float
    params: tuple[tuple[str, object], ...] = ()
    options: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class Record:
    """One arm of one run.

    Attributes
    ----------
    setting : Setting
    arm : {"unaligned", "aligned", "rotated", "concat"}
    repeat : int
        Counted from 0.
    seed : int
        What the adapter got as ``random_state``; the same for all arms.
    scores : dict or None
        Scores by name, from 0 to 1; None if the run failed or the data have no labels.
    seconds : float or None
        From the views to the labels, on one thread; the graphs that all arms share count for each. None if the run
        failed.
    status : {"done", "failed"}
    reason : str
        Why the run failed, in one line; else empty.
    objective, upper_bound : float or None
        Of the match, summed over the views, and what no permutation exceeds; None where nothing was matched.
    warnings : tuple of str
        What was warned of while it ran.
    labels : ndarray of shape (n_samples,) or None
        The clusters found; None if the run failed.
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
    warnings: tuple[str, ...] = ()
    labels: IndexArray | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class ArmSummary:
    """One arm over all repeats.

    Attributes
    ----------
    setting : Setting
        Where the arm was run; on the footing "best", the setting with the highest mean of the study's score.
    n_settings : int
        From how many settings this one was chosen by label: 1 on the footing "fixed".
    n_done, n_failed : int
    mean, sd : dict
        By score; ``sd`` is that of a sample (n - 1). Empty where there is nothing to average; ``sd`` needs two runs.
    """

    setting: Setting
    n_settings: int
    n_done: int
    n_failed: int
    mean: Mapping[str, float]
    sd: Mapping[str, float]


@dataclass(frozen=True)
class Difference:
    """aligned - unaligned of one score, paired by repeat.

    Attributes
    ----------
    n : int
        Number of pairs.
    mean : float
    low, high : float or None
        95 % interval of the mean (Student's t); None where it cannot be had: one pair, or a method without randomness.
    p : float or None
        Of the signed-rank test, two-sided, not corrected for the number of rows; None as above.
    verdict : str
        "aligned better", "unaligned better", "no clear difference" where the interval holds zero, "the same, nothing to
        align" where anchors correspond by construction, or why there is no interval.
    """

    n: int
    mean: float
    low: float | None
    high: float | None
    p: float | None
    verdict: str


@dataclass(frozen=True)
class Summary:
    """One row of the result: a data set and an adapter at one setting, or at the best of the grid.

    Attributes
    ----------
    footing : {"fixed", "best"}
        "fixed": every setting is a row, nothing is chosen by label. "best": for each arm the setting with the highest
        mean score was chosen by label, as much of the literature does.
    dataset, adapter : str
    setting : Setting or None
        None on the footing "best": the arms have settings of their own.
    arms : dict of ArmSummary by arm
    differences : dict of Difference by score
        Empty where there are no pairs: no labels, or no run of one of the arms finished.
    failures : tuple of str
        Distinct reasons why runs failed.
    """

    footing: str
    dataset: str
    adapter: str
    setting: Setting | None
    arms: Mapping[str, ArmSummary]
    differences: Mapping[str, Difference]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataInfo:
    """What is known of a data set of the study.

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
        Hash of the views alone, which seeds are made from: labels are for scoring only.
    kinds : tuple of str
        How every view is held: "float64", "sparse float32" and so on.
    notes : tuple of str
        What was worked out on loading: keys, orientation.
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
    """Which adapter was used: its name, and the distribution, or file, and version that it comes from."""

    name: str
    distribution: str
    version: str


@dataclass(frozen=True)
class StudyResult:
    """All of a study.

    Attributes
    ----------
    kind : {"compare", "sweep"}
    records : tuple of Record
        In the order of the plan: data, adapter, settings, anchors, lam, repeat, arm. All arms are there for every
        ``lam``; arms that do not depend on it are the same runs.
    summaries : tuple of Summary
    data : tuple of DataInfo
    adapters : tuple of AdapterInfo
    score : str
        The score that tables and pictures show, and that the best of a grid is chosen by.
    repeats, seed : int
    reference : str
        Reference of the alignment, as given.
    command : str
        The command that gives the same result.
    environment : dict
        Versions of Python and packages.
    showcases : tuple of Showcase
        Runs to look at; empty unless they were asked for.
    options : tuple of (str, object)
        As in every record's setting.
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

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that were run, in the order in which they are shown."""
        found = {record.arm for record in self.records}
        return tuple(arm for arm in ALL_ARMS if arm in found)

    @property
    def runs(self) -> tuple[Record, ...]:
        """Records without those that are there once more: arms that do not depend on ``lam`` are one run."""
        seen: dict[object, Record] = {}
        for record in self.records:
            setting = record.setting
            lam = setting.lam if record.arm in LAM_ARMS else None
            where = (setting.dataset, setting.adapter, setting.n_anchors, lam, repr(setting.params))
            seen.setdefault((*where, record.arm, record.repeat), record)
        return tuple(seen.values())

    @property
    def n_failed(self) -> int:
        """Number of runs without a result."""
        return sum(record.status == FAILED for record in self.runs)

    def of_footing(self, footing: str) -> tuple[Summary, ...]:
        """The rows on one footing."""
        return tuple(row for row in self.summaries if row.footing == footing)
