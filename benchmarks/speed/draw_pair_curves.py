"""Draw the curves of bench_pair_curves.py from its stored result, for light and for dark pages.

A point is what a solver returns if it is stopped there. The fixed point does not keep its best iterate.

python tests/benchmarks/draw_pair_curves.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
STORED = HERE / "results" / "pair-curves.json"
PICTURE = HERE.parents[1] / "examples" / "images" / "pair_curves.png"
LAMS = (0.1, 1.0, 10.0)  # without a structure term every solver but the released one is exact
# Label, marker and colour on light and on dark pages.
STYLES = {
    "default": ("ascent (default)", "o", "#0b6bcb", "#5aa9f5"),
    "high": ('effort="high"', "D", "#12805c", "#4cc79b"),
    "released": ("fixed point, released", "s", "#c2410c", "#fb8c5a"),
    "pfp": ("fixed point, exact", "^", "#a16207", "#e0b341"),
    "frank-wolfe": ("Frank-Wolfe", "v", "#7c3aed", "#b794f6"),
    "POT": ("POT", "x", "#64748b", "#a3b1c2"),
    "graspologic": ("graspologic", "+", "#be185d", "#f472b6"),
}


def draw(records: list[dict[str, Any]], *, dark: bool) -> Figure:
    """A row for each lam, a column for each number of anchors."""
    sizes = sorted({r["m"] for r in records})
    figure = Figure(figsize=(12.5, 6.6), layout="constrained")
    grid = figure.subplots(len(LAMS), len(sizes), sharex=True, sharey="row", squeeze=False)
    for r in records:
        if r["lam"] not in LAMS:
            continue
        axes = grid[LAMS.index(r["lam"])][sizes.index(r["m"])]
        axes.axvline(1.0, color="#3b424b" if dark else "#d3d8de", linewidth=1, zorder=0)
        for name, (label, marker, *colours) in STYLES.items():
            if name in r["curves"]:
                times, values = zip(*sorted(r["curves"][name]), strict=True)
                axes.plot(
                    times, values, marker=marker, markersize=4, linewidth=1.1, color=colours[dark], label=label,
                    drawstyle="steps-post",
                )  # fmt: skip
        axes.set_xscale("log")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    for column, m in enumerate(sizes):
        grid[0][column].set_title(f"m = {m}", fontsize=10)
    for row, lam in enumerate(LAMS):
        grid[row][0].set_ylabel(f"lam = {lam:g}\nobjective / best", fontsize=9)
        lowest = min(min(v[-1][1] for v in r["curves"].values()) for r in records if r["lam"] == lam)
        grid[row][0].set_ylim(lowest - 0.1 * (1.0 - lowest) - 0.005, 1.005)
    figure.supxlabel("processor time / that of the released fixed point", fontsize=10)
    handles = {label: line for axes in grid.flat for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(handles), frameon=False)
    return figure


def main() -> None:
    """Write both pictures."""
    records = json.loads(STORED.read_text(encoding="utf-8"))["records"]
    for name, theme in ((PICTURE.name, "default"), (f"{PICTURE.stem}_dark.png", "dark_background")):
        dark = theme != "default"
        with mpl.style.context(theme):
            draw(records, dark=dark).savefig(
                PICTURE.with_name(name), dpi=110, metadata={"Software": None}, transparent=dark
            )


if __name__ == "__main__":
    main()
