"""The paper's ablation: gain from alignment and orthogonal anchors, on two footings, beside the published numbers.

    python examples/paper/ablation.py [DATA ...] [--draws N] [-j N] [--cache DIR] [--format md]

DATA are bundled sets, files, or folders of .mat and .npz files. All arms use the same anchors. Every table
shows the scores at a setting fixed beforehand (m = 2k, alpha = 1, beta = 1) and at the best of the paper's grid, chosen
by label (m in k, 2k, 5k; alpha or beta in 0.01, 1, 100), both over draws of anchors; lam is always 0.1 on the
balanced scale. If the sizes show that a data set is one of the paper's, the published numbers are below ours. With
``--cache`` finished runs are kept, and a stopped run continues.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footings import FOOTINGS, MINUS, NOTHING, Footing, best_in_each_draw, difference, footings_of, mean_sd, points
from paper_data import HELP, Found, find_data
from paper_numbers import CLAIMS, NOT_ORTHOGONAL, Claim, caveats, published
from text_table import FORMATS, paragraph, table_text

from anchor_align.errors import AnchorAlignError
from anchor_align.study import Record, Setting, StudyProgress, StudyResult, compare

SCORES = {"acc": "ACC", "nmi": "NMI", "fscore": "F-score", "purity": "purity"}
ANCHORS = ["k", "2k", "5k"]
WEIGHTS = [0.01, 1.0, 100.0]
FIXED_ANCHORS, FIXED_WEIGHT = 2, 1.0
DATA = "breast-cancer"
TABLES = ("alignment", "orthogonal", "own")
FOOTING_TEXT = (
    "fixed: m = 2k, alpha = 1, beta = 1. best of grid: the setting with the highest mean ACC by label, of nine: m in "
    "k, 2k, 5k, alpha or beta in 0.01, 1, 100. best, each draw: the highest ACC in every draw on its own, as in the "
    "paper. "
)


@dataclass(frozen=True)
class Ablation:
    """Runs of all methods on the data sets."""

    data: Sequence[Found]
    records: Sequence[Record]

    @property
    def arms(self) -> list[str]:
        """The arms of the study."""
        return list(dict.fromkeys(record.arm for record in self.records))

    def footings(self, data: Found, method: str) -> list[Footing]:
        """Scores of a method on a data set."""
        records = [r for r in self.records if (r.setting.dataset, method_of(r.setting)) == (data.name, method)]
        return footings_of(records, lambda setting: is_fixed(setting, data))


def method_of(setting: Setting) -> str:
    """Name of an adapter and setting in the tables."""
    return NOT_ORTHOGONAL if ("orthogonal", False) in setting.params else setting.adapter


def is_fixed(setting: Setting, data: Found) -> bool:
    """Whether this is the setting fixed beforehand."""
    weights = [value for name, value in setting.params if name in ("alpha", "beta")]
    return setting.n_anchors == FIXED_ANCHORS * data.n_clusters and weights == [FIXED_WEIGHT]


def alignment_tables(ablation: Ablation, format: str) -> list[str]:
    """One table for each score, all arms of lmvsc and fmvacc; what alignment changes; the settings that were best."""
    arms = ablation.arms
    pairs = [(data, method) for data in ablation.data for method in ("lmvsc", "fmvacc")]
    found = [(data, method, ablation.footings(data, method)) for data, method in pairs]
    texts, gains = [], []
    for score, title in SCORES.items():
        rows = []
        for data, method, footings in found:
            rows += [[data.name, method, each.name, *(each.cell(arm, score) for arm in arms)] for each in footings]
            said = {arm: published(data.known_as, score, method, arm) for arm in arms}
            if any(said.values()):
                rows.append([data.name, method, "published", *(text or NOTHING for text in said.values())])
            gain = _published_gain(said.get("unaligned"), said.get("aligned"))
            by_name = {each.name: each.gain(score) for each in footings}
            gains.append([title, data.name, method, *(by_name.get(name, NOTHING) for name in FOOTINGS), gain])
        header = ["data", "method", "footing", *arms]
        texts.append(table_text(f"Alignment: {title} in %", header, rows, format, names=3))
    caption = f"Aligned {MINUS} unaligned in points, paired by draw, with 95 % intervals (Student's t)"
    header = ["score", "data", "method", *FOOTINGS, "published"]
    texts.append(table_text(caption, header, gains, format, names=3))
    chosen = [[data.name, method, *_chosen(footings, arms)] for data, method, footings in found]
    caption = "Settings with the highest mean ACC, chosen by label, each with that ACC"
    return [*texts, table_text(caption, ["data", "method", *arms], chosen, format, names=2 + len(arms))]


def orthogonal_tables(ablation: Ablation, format: str) -> list[str]:
    """One table for each score: fmvacc with and without orthogonal anchors, aligned."""
    header = ["data", "footing", "not orthogonal", "orthogonal", "difference"]
    methods = (NOT_ORTHOGONAL, "fmvacc")
    found = [(data, [ablation.footings(data, method) for method in methods]) for data in ablation.data]
    texts = []
    for score, title in SCORES.items():
        rows = []
        for data, (loose, tight) in found:
            for pair in ((one, other) for one in loose for other in tight if one.name == other.name):
                change = difference(pair[0].arms["aligned"], pair[1].arms["aligned"], score)
                rows.append([data.name, pair[0].name, *(each.cell("aligned", score) for each in pair), change])
            said = [published(data.known_as, score, method, "aligned") for method in methods]
            if all(said):
                rows.append([data.name, "published", *(text or NOTHING for text in said), _published_gain(*said)])
        caption = f"Orthogonal anchors: {title} in %, fmvacc, aligned; difference paired by draw"
        texts.append(table_text(caption, header, rows, format, names=2))
    return texts


def own_table(data: Sequence[Found], run: Callable[..., StudyResult], format: str) -> list[str]:
    """ACC of methods in their own papers, for the data sets that were given."""
    rows = []
    for claim, each in ((claim, each) for claim in CLAIMS for each in data if each.known_as == claim.data):
        result = run(claim.adapter, {each.name: each.source}, n_anchors=claim.n_anchors, params=claim.params)
        best = best_in_each_draw(result.records, claim.arm)
        found = mean_sd([100 * scores["acc"] for scores in best.values()])
        rows.append([each.name, claim.adapter, claim.arm, _grid_text(claim), claim.accuracy, found])
    caption = "ACC in % of methods in their own papers; ours is the best of that grid by label, in each draw"
    header = ["data", "method", "fusion", "grid", "published", "ours"]
    return [table_text(caption, header, rows, format, names=4)] if rows else []


def _published_gain(before: str | None, after: str | None) -> str:
    if before is None or after is None:
        return NOTHING
    return points((float(after.split()[0]) - float(before.split()[0])) / 100)


def _chosen(footings: Sequence[Footing], arms: Sequence[str]) -> list[str]:
    """The best setting of every arm."""
    rows = [each.row for each in footings if each.row is not None and each.row.setting is None]
    texts = dict.fromkeys(arms, NOTHING)
    for arm, found in rows[0].arms.items() if rows else ():
        if found.mean:
            params = ", ".join(f"{n} = {value:g}" for n, value in found.setting.params if isinstance(value, float))
            texts[arm] = f"m = {found.setting.n_anchors}, {params}: {100 * found.mean['acc']:.1f}"
    return list(texts.values())


def _grid_text(claim: Claim) -> str:
    grid: dict[str, Sequence[object]] = {"m": claim.n_anchors, **claim.params}
    texts = {name: [f"{v:g}" if isinstance(v, float) else str(v) for v in values] for name, values in grid.items()}
    return "; ".join(f"{name} {'in' if len(v) > 1 else '='} {', '.join(v)}" for name, v in texts.items())


def _failures(records: Sequence[Record]) -> list[str]:
    failed = [r for r in records if r.reason]
    return list(
        dict.fromkeys(
            f"Failed: {r.setting.dataset}, {method_of(r.setting)}, m = {r.setting.n_anchors}, {r.arm}: {r.reason}"
            for r in failed
        )
    )


def _show(progress: StudyProgress) -> None:
    if sys.stderr.isatty():
        end = "\n" if progress.done == progress.total else ""
        print(f"\r{progress.done} of {progress.total} runs, {progress.kept} kept", end=end, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=[DATA], help=f"{HELP} [{DATA}]")
    parser.add_argument("--draws", type=int, default=5, help="draws of anchors [5]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES, help="which tables [all]")
    parser.add_argument("--rotated", action="store_true", help="one more arm: aligned graphs that are rotated too")
    parser.add_argument("--max-samples", type=int, default=5000, help="larger sets in a folder are left out [5000]")
    parser.add_argument("-j", "--jobs", type=int, default=min(4, os.cpu_count() or 1), help="processes [up to 4]")
    parser.add_argument("--cache", type=Path, help="folder in which finished runs are kept")
    parser.add_argument("--format", choices=FORMATS, default="table")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    """Run the studies for the tables, and print the tables."""
    parser = _parser()
    given = parser.parse_args(argv)
    format, tables = given.format, given.tables
    options: dict[str, Any] = {"repeats": given.draws, "seed": given.seed, "jobs": given.jobs, "cache": given.cache}

    def run(adapters: Any, data: dict[str, str], **grid: Any) -> StudyResult:
        return compare(adapters, data, callback=_show, **options, **grid)

    try:
        data = find_data(given.data, given.max_samples)
        texts: list[str] = []
        records: Sequence[Record] = ()
        if set(tables) & {"alignment", "orthogonal"}:
            adapters = ["lmvsc", "fmvacc"] if "alignment" in tables else ["fmvacc"]
            params: dict[str, Any] = {"alpha": WEIGHTS} if "alignment" in tables else {}
            params |= {"beta": WEIGHTS, "orthogonal": [True, False] if "orthogonal" in tables else True}
            sources = {each.name: each.source for each in data}
            records = run(adapters, sources, n_anchors=ANCHORS, params=params, rotated=given.rotated).records
        ablation = Ablation(data, records)
        texts += alignment_tables(ablation, format) if "alignment" in tables else []
        texts += orthogonal_tables(ablation, format) if "orthogonal" in tables else []
        texts += own_table(data, run, format) if "own" in tables else []
    except AnchorAlignError as error:
        parser.error(str(error))
    sets = "; ".join(f"{d.name}: n = {d.n_samples}, k = {d.n_clusters}, {len(d.widths)} views" for d in data)
    draws = "One draw" if given.draws == 1 else f"Mean ± sd over {given.draws} draws"
    print(paragraph(f"{sets}. {FOOTING_TEXT * bool(records)}{draws} of anchors.", format))
    for text in texts:
        print(f"\n{text}")
    for at, note in enumerate([*_failures(records), *caveats(each.known_as for each in data)]):
        print("\n" * (at == 0) + paragraph(note, format, "- "))


if __name__ == "__main__":
    main()
