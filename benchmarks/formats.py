"""Numbers as the pages show them; each function is a filter or a function of the templates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from anchor_align.study import paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUS, DASH = "\N{MINUS SIGN}", "\N{EN DASH}"
WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen",
)  # fmt: skip
NAMES = {
    "FMVACC_synthetic": "simulated, of the paper",
    "UCI-Digit_3v": "UCI-Digit",
    "BDGP_3v": "BDGP",
    "MNIST-60k_4v_constructed": "MNIST, four views",
    "mfeat": "Handwritten",
}


def data_name(name: str) -> str:
    """Name of a data set on the pages.

    >>> data_name("BDGP_3v"), data_name("MSRC-v1")
    ('BDGP', 'MSRC-v1')
    """
    return NAMES.get(name, name)


def fixed(value: float, digits: int = 1) -> str:
    """A number with so many decimals, thousands separated, with a real minus sign.

    >>> fixed(1234.56), fixed(60000, 0)
    ('1,234.6', '60,000')
    """
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int = 1) -> str:
    """A difference, with its sign; zero has a plus.

    >>> signed(2.25), signed(-0.04)
    ('+2.2', '+0.0')
    """
    return f"{round(value, digits) + 0.0:+,.{digits}f}".replace("-", MINUS)


def word(value: float) -> str:
    """A small whole number in words.

    >>> word(3.2), word(28)
    ('three', '28')
    """
    number = round(value)
    return WORDS[number] if 0 <= number < len(WORDS) else f"{number:,}"


def share(count: int, total: int) -> str:
    """How many of all.

    >>> share(4, 6), share(6, 6)
    ('four of six', 'all six')
    """
    return f"all {word(total)}" if count == total else f"{word(count)} of {word(total)}"


def mean_sd(values: Iterable[float], digits: int = 1) -> str:
    """Mean and standard deviation over draws; the mean alone of one.

    >>> mean_sd([50.0, 60.0]), mean_sd([50.0])
    ('55.0 ± 7.1', '50.0')
    """
    found = np.asarray(list(values), dtype=np.float64)
    text = fixed(float(found.mean()), digits)
    return text if len(found) < 2 else f"{text} ± {fixed(float(found.std(ddof=1)), digits)}"


def span(values: Iterable[float], digits: int = 1) -> str:
    """Least and largest value.

    >>> span([3.0, 1.25, 2.0])
    '1.2 to 3.0'
    """
    found = sorted(values)
    return f"{fixed(found[0], digits)} to {fixed(found[-1], digits)}"


def listed(values: Iterable[float | str], digits: int = 1) -> str:
    """A list in a sentence.

    >>> listed([3.0, 1.25, 2.0]), listed(["one", "two"])
    ('3.0, 1.2 and 2.0', 'one and two')
    """
    *first, last = (each if isinstance(each, str) else fixed(each, digits) for each in values)
    return f"{', '.join(first)} and {last}" if first else last


def difference(one: Sequence[float], other: Sequence[float], digits: int = 1) -> str:
    """Mean of one - other, with the 95 % interval of the exact sign-flip test over the pairs.

    >>> difference([3.0, 5.0, 4.0, 6.0, 3.0, 7.0], [1.0, 2.0, 3.0, 3.0, 1.0, 2.0])
    '+2.7 (+1.0 to +5.0)'
    """
    found = paired_difference(one, other)
    text = signed(found.mean or 0.0, digits)
    if found.low is None or found.high is None:
        return text
    return f"{text} ({signed(found.low, digits)} to {signed(found.high, digits)})"


def bold_highest(cells: Sequence[str], values: Sequence[float], digits: int = 1) -> list[str]:
    """The cells, bold where the value is the highest at the precision that is shown."""
    top = np.round(values, digits) == np.round(max(values), digits)
    return [f"**{cell}**" if bold else cell for cell, bold in zip(cells, top, strict=True)]


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, names: int | None = None) -> str:
    """A Markdown table; with ``names``, all columns but so many first ones are aligned to the right.

    >>> print(table(["data", "ACC"], [["digits", "90.1"]], names=1))
    | data | ACC |
    |---|---:|
    | digits | 90.1 |
    """
    number = len(head) if names is None else names
    lines = ["".join(f"| {cell} " if cell else "| " for cell in map(str, row)) + "|" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * number + "---:|" * (len(head) - number), *lines[1:]])


def padded_table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """A Markdown table with columns of one width; the names on the left say what the row above says only once.

    >>> print(padded_table(["data", "arm", "ACC"], [["digits", "aligned", "90.1"], ["digits", "concat", "9.1"]], "llr"))
    | data   | arm     |  ACC |
    | ------ | ------- | ---: |
    | digits | aligned | 90.1 |
    |        | concat  |  9.1 |
    """
    names = len(align) - len(align.lstrip("l"))
    lines, above = [list(head)], [""] * len(head)
    for row in rows:
        same = next((place for place in range(names - 1) if row[place] != above[place]), max(names - 1, 0))
        lines.append([""] * same + list(row[same:]))
        above = list(row)
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * (w - 1) + ("-" if side == "l" else ":") for w, side in zip(widths, align, strict=True)])
    pads = [(str.ljust if side == "l" else str.rjust, w) for w, side in zip(widths, align, strict=True)]
    return "\n".join(f"| {' | '.join(pad(c, w) for c, (pad, w) in zip(line, pads, strict=True))} |" for line in lines)


def light_and_dark(files: Iterable[str], picture: Callable[..., Figure]) -> dict[str, Figure]:
    """A figure for each file; those that end in ``_dark.png`` are for dark pages."""
    import matplotlib.style

    made = {}
    for file in files:
        dark = file.endswith("_dark.png")
        with matplotlib.style.context("dark_background" if dark else "default"):
            made[file] = picture(dark=dark)
    return made


def ranges(rows: Mapping[str, Mapping[str, tuple[float, float, float]]], colours: Mapping[str, str], x: str) -> Figure:
    """A line for each row, a mark for each of its series; each has a value and the ends of its range."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 0.9 + 0.42 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, series in enumerate(rows.values()):
        for shift, (name, (value, low, high)) in zip(
            np.linspace(-0.16, 0.16, len(series)), series.items(), strict=True
        ):
            axes.plot([low, high], [place + shift] * 2, color=colours[name], lw=1.2)
            axes.scatter(value, place + shift, color=colours[name], s=26, zorder=2, label=name)
    axes.set(yticks=range(len(rows)), yticklabels=list(rows), xlabel=x, ylim=(len(rows) - 0.5, -0.5))
    axes.grid(axis="x", color="#d3d8de", lw=0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    found = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(list(found.values()), list(found), loc="outside upper right", ncols=len(found), frameon=False)
    return figure
