"""A comparison study from Python: a built-in method and a new one, with and without alignment, and a report.

    python examples/study.py [DATA ...] [--html FILE] [--jobs N]

DATA are files, folders or names of bundled sets, as ``anchor-align datasets`` lists them. Finished runs are kept beside
the report: if you stop the study and start it again, it continues.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from anchor_align.report import answer, html_report, plot_differences, render
from anchor_align.study import StudyProgress, compare

MY_METHOD = Path(__file__).with_name("my_method.py")


def main() -> None:
    """Run the study, print its table, write the report and one figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=["simulated", "breast-cancer"])
    parser.add_argument("--html", type=Path, default=Path(tempfile.gettempdir()) / "study.html")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()

    def show(progress: StudyProgress) -> None:
        print(f"{progress.done} of {progress.total} runs, {progress.kept} from before: {progress.label}")

    result = compare(
        ["lmvsc", "random-samples"],
        arguments.data,
        plugins=[MY_METHOD],  # an adapter in one file
        n_anchors=["k", "4k"],
        params={"alpha": [0.1, 1.0]},  # for the adapters that have it
        repeats=5,
        footings=["fixed", "best"],  # a row for every setting; and the best of the grid, chosen by label
        jobs=arguments.jobs,
        cache=arguments.html.with_suffix(".cache"),
        pictures=True,
        callback=show,
    )
    print(answer(result))
    print(render(result, "table"))
    arguments.html.write_text(html_report(result), encoding="utf-8")
    plot_differences(result).savefig(arguments.html.with_suffix(".png"), dpi=200)
    print(f"the report is {arguments.html}")


if __name__ == "__main__":
    main()
