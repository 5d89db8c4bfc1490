"""Areas on studies: ``compare`` and its reports, plug-in files, and the words of the command line."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from case_checks import Call, promise
from random_data import mask_for, numbers, pick, stored

from anchor_align import AlignedClusterer, MultiViewData, load_plugins, report
from anchor_align.cli import main
from anchor_align.study import compare

Rng = np.random.Generator
NAMES = (
    "data",
    "=1+1",
    "<script>alert(1)</script>",
    "a\x1b[31mb",
    "a\u202eb",
    "a\nb",
    "$x_1$ & 50%",
    "../up",
    "x" * 300,
    "",
)


def _data(rng: Rng) -> MultiViewData:
    n, n_views = int(rng.integers(6, 40)), int(rng.integers(1, 4))
    made = [stored(rng, numbers(rng, n, int(rng.integers(2, 5)))) for _ in range(n_views)]
    return MultiViewData(
        made, np.arange(n) % int(rng.integers(1, 4)), [f"{pick(rng, *NAMES)}{v}" for v in range(n_views)]
    )


def _study_arguments(rng: Rng, folder: Path) -> dict[str, Any]:
    return {
        "adapters": pick(rng, "lmvsc", ["lmvsc"], ["fmvacc"], ["sfmc"], ["lmvsc", "sfmc"]),
        "data": {str(pick(rng, *NAMES)): _data(rng)},
        "n_anchors": pick(rng, None, 3, "k", ["k", 4]),
        "lam": pick(rng, 0.1, [0, 1.0], np.inf),
        "params": pick(rng, None, {"scale": "unit"}, {"kmeans": ["full", "sample"]}),
        "repeats": int(rng.integers(1, 3)),
        "seed": int(rng.integers(9)),
        "reference": pick(rng, "consensus", "auto", 0),
        "weights": pick(rng, None, None, "auto"),
        "many_to_one": False,
        "fusions": pick(rng, (), "rotated", ["rotated"]),
        "rotated": False,
        "missing": "error",
        "drop": pick(rng, 0.0, 0.0, 0.2),
        "score": pick(rng, "acc", "nmi"),
        "footings": pick(rng, ("fixed",), ["fixed", "best"]),
        "cache": pick(rng, None, folder / "cache"),
        "plugins": (),
        "pictures": False,
        "callback": None,
    }


def study_call(rng: Rng, folder: Path) -> Call:
    """A small study and its tables: every arm has a row, and tables hold nothing that a terminal would act on."""

    def study(**arguments: Any) -> dict[str, str]:
        result = compare(**arguments)
        return {form: report.render(result, form) for form in ("csv", "md", "latex", "table")} | {
            "answer": report.answer(result),
            "rows": str(len(result.records)),
        }

    arguments = _study_arguments(rng, folder)

    def check(texts: dict[str, str]) -> None:
        rows = list(csv.reader(io.StringIO(texts["csv"], newline="")))
        promise(len(rows) - 1 == int(texts["rows"]), "the CSV has not one line for each record")
        promise({len(row) for row in rows} == {len(rows[0])}, "lines of the CSV have different lengths")
        for name in ("md", "latex", "table", "answer"):
            promise("\x1b" not in texts[name] and "\u202e" not in texts[name], f"{name} has control characters")
        formulas = [cell for row in rows for cell in row if cell[:1] in ("=", "@")]
        promise(not formulas, f"a spreadsheet would compute {formulas[:1]}")
        promise(not re.search(r"(?<!\\)<script>", texts["md"]), "markdown has a script")

    return Call(study, arguments, check, costly=("repeats", "seed"), spoiled=0.6)


def report_call(rng: Rng, folder: Path) -> Call:
    """Reports and figures of a study: strict JSON, a page without foreign scripts, complete files."""
    arguments = _study_arguments(rng, folder) | {"pictures": True, "repeats": 1}
    which = int(rng.integers(3))

    def write(**arguments: Any) -> Any:
        result = compare(**arguments)
        json.loads(report.render(result, "json"), parse_constant=_no_constant)
        if which == 0:
            page = report.html_report(result)
            promise("<script>alert" not in page, "the page has a foreign script")
            return None
        if which == 1:
            files = report.write_results(result, folder / "out")
            promise(all(path.stat().st_size for path in files), "a file is empty")
            return None
        return report.figure_bytes(report.plot_differences(result), "png")[:8]

    return Call(write, arguments, costly=("repeats", "seed"), same_again=False, spoiled=0.0)


def _no_constant(word: str) -> None:
    promise(False, f"JSON has {word}")


def figure_call(rng: Rng, folder: Path) -> Call:
    """Figures of a fitted clusterer."""
    n = int(rng.integers(5, 40))
    X = [stored(rng, numbers(rng, n, 3)) for _ in range(int(rng.integers(1, 4)))]
    mask = mask_for(rng, len(X), n) if rng.random() < 0.3 else None
    settings: dict[str, Any] = {"n_clusters": int(rng.integers(1, 4)), "n_anchors": int(rng.integers(1, 6))}
    settings |= {"fusion": pick(rng, "aligned", "rotated", "unaligned", "concat"), "lam": pick(rng, 0.0, 0.1, np.inf)}
    name = pick(rng, "plot_graphs", "plot_fusion", "plot_permutations", "plot_objective")

    def plot(**options: Any) -> bytes:
        clusterer = AlignedClusterer("lmvsc", random_state=0, **settings).fit(X, mask=mask)
        drawn: bytes = report.figure_bytes(getattr(report, name)(clusterer, **options), "png")
        return drawn[:8]

    options: dict[str, Any] = {"theme": pick(rng, "light", "dark"), "width": pick(rng, 3.4, 7.0)}
    return Call(plot, options, costly=("width",))


# Accidents at the top of a file. A plug-in is a program: against bad intent there are only the workers of a study.
PLUGIN_LINES = (
    "raise SystemExit", "raise ZeroDivisionError", "1 / 0", "import no_such_module", "x = (", "\x00", "\u202e = 1",
    "def anchor_align_adapters(): pass", "import sys; sys.exit(3)", "import numpy; numpy.seterr(all='raise')",
    "import os; os.chdir('/')", "print('hello')", "import warnings; warnings.warn('x')", "__all__ = 3",
    "from anchor_align import *", "import random; random.seed(1)", "hookimpl(lambda: 1)",
)  # fmt: skip
OFFERS = (
    *["[Mine]"] * 4, "Mine", "None", "[None]", "[Mine, Mine]", "[Mine()]", "[int]", "1 / 0", "(x for x in [Mine])",
    "'Mine'",
)  # fmt: skip
PLUGIN_NAMES = (*["mine"] * 4, "lmvsc", "", "A B", "\u202e", "a\x1b", None, 3, "x" * 500)


def plugin_call(rng: Rng, folder: Path) -> Call:
    """``load_plugins`` of a broken file: a failure with a reason, and the process is as before."""
    import os
    import sys

    path = folder / "plugin.py"
    lines = ["from anchor_align import Adapter, AnchorGraphs, hookimpl", "class Mine(Adapter):"]
    lines += [f"    name = {pick(rng, *PLUGIN_NAMES)!r}", "    def anchor_graphs(self, views, **options): return None"]
    lines += ["@hookimpl", "def anchor_align_adapters():", f"    return {pick(rng, *OFFERS)}"]
    lines.insert(int(pick(rng, 1, 4, 7)), str(pick(rng, *PLUGIN_LINES)))
    path.write_text("\n".join(lines), errors="surrogatepass")

    def load(files: Any, strict: Any) -> Any:
        before = os.getcwd(), np.geterr(), sys.stdout
        try:
            registry = load_plugins(files, strict=strict)
        finally:
            promise((os.getcwd(), np.geterr(), sys.stdout) == before, "the process was changed")
        promise("lmvsc" in registry.names, "our own adapters are gone")
        return registry.names

    return Call(load, {"files": pick(rng, path, [path]), "strict": bool(rng.random() < 0.3)})


WORDS = (
    "compare", "sweep", "align", "adapters", "datasets", "lmvsc", "fmvacc", "sfmc", "precomputed", "nothing", "--data",
    "simulated", "--anchors", "2k", "k,k", "-1", "0", "1e9", "nan", "inf", "--lam", "--repeats", "1", "--seed", "--set",
    "alpha=1", "alpha=", "=", "alpha=x", "scale=None", "lmvsc.alpha=1,2", "--reference", "auto", "--weights", "1,1",
    "--format", "json", "csv", "--no-cache", "-q", "-o", "--help", "--drop", "0.2", "--clusters", "3", "--views",
    "--no-labels", "", "\u202e", "\x1b[31m", "--plugin", "/dev/null", "--footing", "best", "--rotated", "--fusion",
    "rotated", "--score", "--missing", "/dev/zero", "/", ".",
)  # fmt: skip


def words_call(rng: Rng, folder: Path) -> Call:
    """The command line with random words: an exit code, never a traceback, one line of error."""
    words = [str(word) for word in rng.choice(WORDS, size=int(rng.integers(0, 9)))]
    if rng.random() < 0.6:
        words = ["compare", "lmvsc", "--data", "simulated", "--repeats", "1", "--no-cache", "-q", *words]

    def run(words: list[str]) -> int:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(folder):
            try:
                code = main(words)
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 0
        promise(code in (0, 1, 2), f"exit code {code}")
        promise("Traceback" not in err.getvalue(), "a traceback")
        promise("\x1b" not in err.getvalue() and "\u202e" not in err.getvalue(), "control characters on stderr")
        promise(code == 0 or err.getvalue().strip() or out.getvalue().strip(), "a failure without a line")
        return code

    return Call(run, {"words": words}, safe=("words",))
