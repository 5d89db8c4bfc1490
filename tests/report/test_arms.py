"""Arms that reports know nothing about, as plug-ins add them: names, sentences and colours."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
import study_results
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.text import Text
from numpy.typing import NDArray

from anchor_align.report import FORMATS, plot_sensitivity, render
from anchor_align.report._arms import Arms
from anchor_align.report._figure_style import THEMES
from anchor_align.study import ALL_ARMS

OTHERS = study_results.OTHER_ARMS
# How people see colours who lack one kind of cones (Machado, Oliveira & Fernandes, 2009), in linear RGB.
COLOUR_VISION = {
    "all cones": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}


def linear(colour: str) -> NDArray[np.float64]:
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    cones = [
        [0.41222147, 0.53633254, 0.05144599],
        [0.2119035, 0.68069955, 0.10739696],
        [0.08830246, 0.28171884, 0.6299787],
    ]
    axes = [
        [0.21045426, 0.79361779, -0.00407205],
        [1.9779985, -2.42859221, 0.45059371],
        [0.02590404, 0.78277177, -0.80867577],
    ]
    seen: NDArray[np.float64] = np.array(axes) @ np.cbrt(np.array(cones) @ rgb.clip(0, 1))
    return seen


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_the_arm(format: str) -> None:
    """Its name is there, and its scores: those of concat."""
    text = render(study_results.other_arms(), format, width=120)
    assert OTHERS[0] in text
    if format == "csv":
        lines = text.splitlines()
        concat = [line.replace(",concat,", f",{OTHERS[0]},") for line in lines if ",concat," in line]
        assert [line for line in lines if f",{OTHERS[0]}," in line] == concat


def test_figure_of_a_sweep_has_a_line_for_the_arm() -> None:
    """Named, in the colour that the page gives it too."""
    figure = plot_sensitivity(study_results.other_arms(), theme="dark")
    shown = {text.get_text(): text.get_color() for text in figure.axes[1].findobj(Text) if isinstance(text, Text)}
    for name in OTHERS:
        assert to_rgba(shown[name]) == to_rgba(Arms.named([*ALL_ARMS, *OTHERS]).colour("dark", name))


@pytest.mark.parametrize("theme", list(THEMES))
def test_colours_of_other_arms_can_be_told_from_all_and_read(theme: str) -> None:
    """Three arms more than reports know, by everybody's colour vision; as text they stand out from the background."""
    others = ["a", "b", "c"]
    colours = {name: linear(Arms.named((*ALL_ARMS, *others)).colour(theme, name)) for name in (*ALL_ARMS, *others)}
    for (one, first), (other, second) in itertools.combinations(colours.items(), 2):
        if other in others:
            for kind, seen in COLOUR_VISION.items():
                apart = float(np.linalg.norm(oklab(seen @ first) - oklab(seen @ second)))
                assert apart > 0.09, (one, other, kind)
    weights = np.array([0.2126, 0.7152, 0.0722])
    behind = weights @ linear(THEMES[theme].background)
    for name in others:
        dark, light = sorted([weights @ colours[name], behind])
        assert (light + 0.05) / (dark + 0.05) > 4.5


def test_names_of_formats_need_no_heavy_imports() -> None:
    """The command line reads them for its help."""
    heavy = "{'numpy', 'scipy', 'sklearn', 'matplotlib', 'rich'}"
    code = (
        f"import sys\nfrom anchor_align.report import FORMATS\nassert not {heavy} & set(sys.modules)\nprint(*FORMATS)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(FORMATS)
