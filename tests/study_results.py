"""Made-up but realistic results of studies, for the tests of tables, figures and reports.

Nothing is run: scores are drawn around the means given for each arm.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from anchor_align.study import ARMS, SCORES, AdapterInfo, DataInfo, Record, Setting, StudyResult
from anchor_align.study._statistics import summarise

SCRIPT_NAME = "<script>alert(1)</script>"
IMAGE_NAME = '"><img src=x onerror="document.title=\'hacked\'">'


@dataclass(frozen=True)
class Cell:
    """Runs to make up: what is planned, and how well each arm does.

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
        """The setting that all records of the cell share."""
        return Setting(self.dataset, self.adapter, self.n_anchors, self.lam, self.params)


def study(cells: Sequence[Cell], *, kind: str = "compare", repeats: int = 10, command: str = "") -> StudyResult:
    """A whole result from its cells."""
    records = [record for number, cell in enumerate(cells) for record in _records(cell, number, repeats)]
    pairs = list(dict.fromkeys((cell.dataset, cell.adapter) for cell in cells))
    footings = ("fixed", "best") if len(cells) > len(pairs) else ("fixed",)
    labelled = {cell.dataset: cell.means is not None for cell in cells}
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
    return study([Cell("digits", "lmvsc", (0.61, 0.88, 0.90))], repeats=repeats)


def several_rows(*, repeats: int = 10) -> StudyResult:
    """Three data sets and adapters: clearly better, no clear difference, worse, and identical by construction."""
    return study(
        [
            Cell("3sources", "lmvsc", (0.40, 0.44, 0.41)),
            Cell("3sources", "fmvacc", (0.41, 0.47, 0.47)),
            Cell("digits", "lmvsc", (0.61, 0.88, 0.90)),
            Cell("digits", "fmvacc", (0.69, 0.88, 0.93)),
            Cell("MSRC-v1", "lmvsc", (0.56, 0.56, 0.75), spread=0.06),
            Cell("MSRC-v1", "fmvacc", (0.66, 0.58, 0.73)),
            Cell("MSRC-v1", "sfmc", (0.81, 0.81, 0.70), n_anchors=50, matched=False),
        ],
        repeats=repeats,
    )


def failing_rows() -> StudyResult:
    """A row in which all runs failed, one in which some did, and one that is fine."""
    reason = "InputError: 400 anchors for 169 samples; n_anchors must be at most n_samples."
    return study(
        [
            Cell("digits", "lmvsc", (0.61, 0.88, 0.90)),
            Cell("3sources", "lmvsc", (0.40, 0.44, 0.41), failed=dict.fromkeys(range(5), reason)),
            Cell("3sources", "fmvacc", (0.40, 0.44, 0.41), failed={2: "ValueError: <b>no</b> & \"odd\" 'reason'"}),
        ],
        repeats=5,
    )


def no_labels() -> StudyResult:
    """One data set without labels: runs finish, and there is nothing to score."""
    return study([Cell("mydata", "lmvsc", None)], repeats=3)


def some_labels() -> StudyResult:
    """One data set with labels and one without."""
    return study([Cell("digits", "lmvsc", (0.61, 0.88, 0.90)), Cell("mydata", "lmvsc", None)])


def same_by_construction() -> StudyResult:
    """An adapter whose anchors correspond in all views: aligned and unaligned are the same runs."""
    return study([Cell("digits", "sfmc", (0.81, 0.81, 0.70), matched=False)])


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
    cells = [Cell(name, "lmvsc", (0.5, 0.5 + 0.05 * at, 0.6)) for at, name in enumerate(names)]
    made = study(cells, repeats=4, command=f"anchor-align compare lmvsc --data '{SCRIPT_NAME}'")
    records = list(made.records)
    records[1] = replace(records[1], warnings=("<i>ConvergenceWarning</i>: 3 clusters found, not 4.",))
    return replace(made, records=tuple(records))


def sweep(*, repeats: int = 5) -> StudyResult:
    """Settings of lam, 0 and infinity among them, and anchors; two data sets."""
    lams = (0.0, 0.01, 0.1, 1.0, 10.0, float("inf"))
    cells = []
    for dataset, (at, m) in itertools.product(("3sources", "digits"), enumerate((10, 20, 50))):
        base = 0.45 if dataset == "3sources" else 0.62
        unaligned, concat = base - 0.03 * at, base + 0.2 + 0.02 * at
        for step, lam in enumerate(lams):
            aligned = base + 0.15 + 0.04 * at - 0.02 * abs(step - 2) ** 1.5
            cells.append(Cell(dataset, "fmvacc", (unaligned, aligned, concat), n_anchors=m, lam=lam, spread=0.02))
    return study(cells, kind="sweep", repeats=repeats)


def _records(cell: Cell, number: int, repeats: int) -> list[Record]:
    """Three arms of every repeat; those that do not depend on lam are the same for every lam."""
    where = [ord(letter) for letter in f"{cell.dataset}|{cell.adapter}|{cell.n_anchors}|{cell.params}"]
    made = []
    for repeat, (at, arm) in itertools.product(range(repeats), enumerate(ARMS)):
        # Where nothing is matched, aligned and unaligned are the same run.
        source = at if cell.matched or arm == "concat" else 0
        rng = np.random.default_rng([*where, repeat, source, number if arm == "aligned" and cell.matched else 0])
        record = Record(cell.setting, arm, repeat, 1000 + repeat, None, None)
        if repeat in cell.failed:
            record = replace(record, status="failed", reason=cell.failed[repeat])
        else:
            scores = None if cell.means is None else _scores(cell.means[at], cell.spread, rng)
            matched = arm == "aligned" and cell.matched
            objective, bound = (1.9 + 0.01 * repeat, 2.0) if matched else (None, None)
            record = replace(record, scores=scores, seconds=0.2 + 0.1 * at, objective=objective, upper_bound=bound)
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
