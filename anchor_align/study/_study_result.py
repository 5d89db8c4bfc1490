"""The result of a study as a whole."""

from __future__ import annotations

import html
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import MissingExtraError
from ..fusion import FUSIONS, Fusion
from ._results import AdapterInfo, ArmSummary, DataInfo, Record, Showcase, Summary, setting_key
from ._rivals import Rival, RivalSummary
from ._vocabulary import BASELINE, DEFAULT_VERSUS, DONE, SCORES

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
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
    methods : tuple of Rival
        Methods that are compared with each other, the first adapter with aligned fusion first; empty without rivals.
    rival_records : tuple of Record
        Runs of the rivals, in the same order and with the same seeds. Arms that are in ``records`` are not repeated.
    against : tuple of RivalSummary
        A row for every footing, data set and method.
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
    methods: tuple[Rival, ...] = ()
    rival_records: tuple[Record, ...] = ()
    against: tuple[RivalSummary, ...] = ()

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
    def all_records(self) -> tuple[Record, ...]:
        """Records of the adapters, then those of the rivals."""
        return (*self.records, *self.rival_records)

    @property
    def runs(self) -> tuple[Record, ...]:
        """Every run once: arms that do not depend on ``lam`` have the same run for every ``lam``."""
        with_lam = {fusion.name: fusion.aligns for fusion in self.fusions}
        distinct: dict[Hashable, Record] = {}
        for record in self.all_records:
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

    def to_frame(self) -> pd.DataFrame:
        """All records as a pandas DataFrame, a row for each: setting, arm, repeat, seed, scores, seconds and status.

        Examples
        --------
        >>> from anchor_align.study import compare
        >>> frame = compare("lmvsc", "simulated", n_anchors="k", repeats=3, against="kmeans").to_frame()
        >>> frame.groupby(["adapter", "arm"]).acc.mean().loc[["lmvsc", "kmeans"]].unstack().loc["kmeans", "baseline"]
        np.float64(1.0)
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("A table needs pandas, which is not installed: pip install pandas.") from error
        return pd.DataFrame([_frame_row(record) for record in self.all_records])

    def __repr__(self) -> str:
        return _repr_text(self)

    def _repr_html_(self) -> str:
        """The means of all methods and arms, for notebooks; :func:`anchor_align.report.html_report` has everything."""
        return _means_html(self)


def _repr_text(result: StudyResult) -> str:
    """One line: what was compared, and how many runs there are."""
    adapters = ", ".join(each.name for each in result.adapters)
    names = {each.name for each in result.adapters}
    rivals = [each.name for each in result.methods if each.name not in names]
    against = f" against {', '.join(rivals)}" if rivals else ""
    data = ", ".join(each.name for each in result.data)
    runs = result.runs
    failed = f", {result.n_failed} failed" if result.n_failed else ""
    return f"<StudyResult {result.kind}: {adapters}{against} on {data}; {len(runs)} runs{failed}>"


def _frame_row(record: Record) -> dict[str, object]:
    """A record without its labels, flat."""
    setting, scores = record.setting, record.scores or {}
    return {
        "dataset": setting.dataset,
        "adapter": setting.adapter,
        "n_anchors": setting.n_anchors,
        "lam": None if record.arm == BASELINE else setting.lam,
        **{f"param {name}": value for name, value in setting.params},
        **dict(setting.options),
        "arm": record.arm,
        "repeat": record.repeat,
        "seed": record.seed,
        **{name: scores.get(name) for name in SCORES},
        "seconds": record.seconds,
        "agreement": record.agreement,
        "status": record.status,
        "reason": record.reason,
    }


def _means_html(result: StudyResult) -> str:
    """A small table: data set, method, arm, and the mean and sd of every score of the study."""
    lines = [("data", "method", "arm", *result.scores)]
    for row in result.summaries:
        lines += [(row.dataset, row.adapter, name, *_means(arm, result)) for name, arm in row.arms.items()]
    for rival in result.against:
        if rival.summary is not None and rival.is_extra:
            lines.append((rival.dataset, rival.method.method, rival.method.arm, *_means(rival.summary, result)))
    head, *body = ("".join(f"<td>{html.escape(text)}</td>" for text in line) for line in lines)
    rows = "".join(f"<tr>{line}</tr>" for line in body)
    return f"<p>{html.escape(_repr_text(result))}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _means(arm: ArmSummary, result: StudyResult) -> list[str]:
    texts = []
    for score in result.scores:
        text = f"{100 * arm.mean[score]:.1f}" if score in arm.mean else "failed" if not arm.n_done else "none"
        texts.append(f"{text} ± {100 * arm.sd[score]:.1f}" if score in arm.sd else text)
    return texts
