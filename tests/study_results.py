"""Made-up but realistic results of studies, for the tests of tables, figures and reports.

Nothing is run: scores are drawn around the means given for each arm.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from anchor_align.study import ARMS, SCORES, AdapterInfo, DataInfo, Record, Setting, StudyResult, summarise

SCRIPT_NAME = "<script>alert(1)</script>"
OTHER_ARMS = ("sharpened", "mean of <i>two</i>")
IMAGE_NAME = '"><img src=x onerror="document.title=\'hacked\'">'


@dataclass(frozen=True)
class MadeUpRow:
    """Runs of one row to make up: what is planned, and how well each arm does.

    ``means`` are the accuracies of unaligned, aligned and concat; None gives data without labels. ``failed`` maps
    repeats to reasons; ``matched`` is False for adapters whose anchors correspond by construction.
    """

    dataset: str
    adapter: str
    means: tuple[float, float, float] | None
    n_anchors: int | None = 20
    lam: float = 0.1
    params: tuple[tuple[str, object], ...] = ()
    spread: float = 0.03
    failed: Mapping[int, str] = field(default_factory=dict)
    matched: bool = True

    @property
    def setting(self) -> Setting:
        """The setting that all records of the row share."""
        return Setting(self.dataset, self.adapter, self.n_anchors, self.lam, self.params)


def study(rows: Sequence[MadeUpRow], *, kind: str = "compare", repeats: int = 10, command: str = "") -> StudyResult:
    """A whole result from its rows."""
    records = [record for number, row in enumerate(rows) for record in _records(row, number, repeats)]
    pairs = list(dict.fromkeys((row.dataset, row.adapter) for row in rows))
    footings = ("fixed", "best") if len(rows) > len(pairs) else ("fixed",)
    labelled = {row.dataset: row.means is not None for row in rows}
    names = [name for _, name in pairs]
    return StudyResult(
        kind=kind,
        records=tuple(records),
        summaries=summarise(records, score="acc", footings=footings),
        data=tuple(_data_info(name, has_labels) for name, has_labels in labelled.items()),
        adapters=tuple(AdapterInfo(name, "anchor-align", "0.1.0") for name in dict.fromkeys(names)),
        score="acc",
        repeats=repeats,
        seed=0,
        reference="consensus",
        command=command or f"anchor-align {kind} {' '.join(dict.fromkeys(names))} --repeats {repeats} --seed 0",
        environment={"anchor-align": "0.1.0", "python": "3.13.5", "numpy": "2.3.0", "scikit-learn": "1.7.0"},
    )


def one_row(*, repeats: int = 10) -> StudyResult:
    """One data set, one adapter, alignment clearly better."""
    return study([MadeUpRow("digits", "lmvsc", (0.61, 0.88, 0.90))], repeats=repeats)


def several_rows(*, repeats: int = 10) -> StudyResult:
    """Three data sets and adapters: clearly better, no clear difference, worse, and identical by construction."""
    return study(
        [
            MadeUpRow("3sources", "lmvsc", (0.40, 0.44, 0.41)),
            MadeUpRow("3sources", "fmvacc", (0.41, 0.47, 0.47)),
            MadeUpRow("digits", "lmvsc", (0.61, 0.88, 0.90)),
            MadeUpRow("digits", "fmvacc", (0.69, 0.88, 0.93)),
            MadeUpRow("MSRC-v1", "lmvsc", (0.56, 0.56, 0.75), spread=0.06),
            MadeUpRow("MSRC-v1", "fmvacc", (0.66, 0.58, 0.73)),
            MadeUpRow("MSRC-v1", "sfmc", (0.81, 0.81, 0.70), n_anchors=50, matched=False),
        ],
        repeats=repeats,
    )


def failing_rows() -> StudyResult:
    """A row in which all runs failed, one in which some did, and one that is fine."""
    reason = "InputError: 400 anchors for 169 samples; n_anchors must be at most n_samples."
    return study(
        [
            MadeUpRow("digits", "lmvsc", (0.61, 0.88, 0.90)),
            MadeUpRow("3sources", "lmvsc", (0.40, 0.44, 0.41), failed=dict.fromkeys(range(5), reason)),
            MadeUpRow("3sources", "fmvacc", (0.40, 0.44, 0.41), failed={2: "ValueError: <b>no</b> & \"odd\" 'reason'"}),
        ],
        repeats=5,
    )


def no_labels() -> StudyResult:
    """One data set without labels: runs finish, and there is nothing to score."""
    return study([MadeUpRow("mydata", "lmvsc", None)], repeats=3)


def some_labels() -> StudyResult:
    """One data set with labels and one without."""
    return study([MadeUpRow("digits", "lmvsc", (0.61, 0.88, 0.90)), MadeUpRow("mydata", "lmvsc", None)])


def one_that_is_equal() -> StudyResult:
    """One data set on which alignment is better, and one on which it changes nothing in any repeat."""
    equal = MadeUpRow("simulated", "lmvsc", (1.0, 1.0, 1.0), spread=0.0)
    return study([MadeUpRow("digits", "lmvsc", (0.61, 0.88, 0.90)), equal])


def same_by_construction() -> StudyResult:
    """An adapter whose anchors correspond in all views: aligned and unaligned are the same runs."""
    return study([MadeUpRow("digits", "sfmc", (0.81, 0.81, 0.70), matched=False)])


def hostile_names() -> StudyResult:
    """Names that are markup, mathtext, paths, Unicode or very long."""
    names = [
        SCRIPT_NAME,
        IMAGE_NAME,
        "cost_in_$ and $x^2$ \\alpha & 100 %",
        "../../etc/passwd",
        "手書き数字-ΔЖ",
        "a_very_long_name_" * 17,
    ]
    rows = [MadeUpRow(name, "lmvsc", (0.5, 0.5 + 0.05 * at, 0.6)) for at, name in enumerate(names)]
    made = study(rows, repeats=4, command=f"anchor-align compare lmvsc --data '{SCRIPT_NAME}'")
    records = list(made.records)
    records[1] = replace(records[1], warnings=("<i>ConvergenceWarning</i>: 3 clusters found, not 4.",))
    return replace(made, records=tuple(records))


def sweep(*, repeats: int = 5) -> StudyResult:
    """Settings of lam, 0 and infinity among them, and anchors; two data sets."""
    lams = (0.0, 0.01, 0.1, 1.0, 10.0, float("inf"))
    rows = []
    for dataset, (at, m) in itertools.product(("3sources", "digits"), enumerate((10, 20, 50))):
        base = 0.45 if dataset == "3sources" else 0.62
        unaligned, concat = base - 0.03 * at, base + 0.2 + 0.02 * at
        for step, lam in enumerate(lams):
            aligned = base + 0.15 + 0.04 * at - 0.02 * abs(step - 2) ** 1.5
            rows.append(MadeUpRow(dataset, "fmvacc", (unaligned, aligned, concat), n_anchors=m, lam=lam, spread=0.02))
    return study(rows, kind="sweep", repeats=repeats)


def other_arms() -> StudyResult:
    """A sweep with two arms that reports know nothing about, as a plug-in may add them."""
    return with_arms(sweep(repeats=2), *OTHER_ARMS)


def with_arms(result: StudyResult, *names: str) -> StudyResult:
    """The result with more arms, which do as well as concat."""
    records = []
    for record in result.records:
        records.append(record)
        if record.arm == "concat":
            records += [replace(record, arm=name) for name in names]
    summaries = tuple(
        replace(row, arms={**row.arms, **dict.fromkeys(names, row.arms["concat"])}) for row in result.summaries
    )
    return replace(result, records=tuple(records), summaries=summaries)


def _records(row: MadeUpRow, number: int, repeats: int) -> list[Record]:
    """Three arms of every repeat; those that do not depend on lam are the same for every lam."""
    where = [ord(letter) for letter in f"{row.dataset}|{row.adapter}|{row.n_anchors}|{row.params}"]
    made = []
    for repeat, (at, arm) in itertools.product(range(repeats), enumerate(ARMS)):
        # Where nothing is matched, aligned and unaligned are the same run.
        source = at if row.matched or arm == "concat" else 0
        rng = np.random.default_rng([*where, repeat, source, number if arm == "aligned" and row.matched else 0])
        record = Record(row.setting, arm, repeat, 1000 + repeat, None, None)
        if repeat in row.failed:
            record = replace(record, status="failed", reason=row.failed[repeat])
        else:
            scores = None if row.means is None else _scores(row.means[at], row.spread, rng)
            matched = arm == "aligned" and row.matched
            objective, bound = (1.9 + 0.01 * repeat, 2.0) if matched else (None, None)
            labels = rng.permutation(np.repeat(np.arange(4), 25))
            record = replace(record, scores=scores, seconds=0.2 + 0.1 * at, objective=objective, upper_bound=bound)
            record = replace(record, agreement=0.5 + 0.01 * repeat, labels=labels)
        made.append(record)
    return made


def _scores(mean: float, spread: float, rng: np.random.Generator) -> dict[str, float]:
    accuracy = float(np.clip(mean + spread * rng.standard_normal(), 0, 1))
    return {score: accuracy * (1 - 0.05 * at) for at, score in enumerate(SCORES)}


def _data_info(name: str, has_labels: bool) -> DataInfo:
    return DataInfo(
        name=name,
        source=f"/data/{name}.mat",
        n_samples=2000,
        n_clusters=10,
        views=(("pix", 240), ("fou", 76), ("<fac>", 216)),
        has_labels=has_labels,
        digest="sha256:" + "0123456789abcdef" * 4,
        notes=("Views are the cells of 'X'; samples are rows.",),
    )
