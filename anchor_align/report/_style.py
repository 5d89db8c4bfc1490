"""How all figures look, in a light and a dark theme, and how they become bytes that are the same on every run."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._validation import check_choice
from ..errors import missing_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
# Widths in inches: one column of a printed page, and both.
COLUMN, PAGE = 3.5, 7.0
SMALL, NORMAL = 6.5, 7.5
# Fonts that may be there for what matplotlib's own font lacks.
FALLBACK_FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Hiragino Sans",
    "Yu Gothic",
    "Microsoft YaHei",
    "PingFang SC",
)


@dataclass(frozen=True)
class Theme:
    """Colours of a theme.

    ``arms`` are told apart by all kinds of colour vision (vermilion, blue, violet, grey); ``accent`` is none of
    theirs. ``ramp`` runs from
    the background to the strongest colour in equal steps of lightness (OKLab), so that equal steps look equal.
    """

    background: str
    text: str
    muted: str
    faint: str
    accent: str
    arms: dict[str, str]
    ramp: tuple[str, ...] = field(repr=False)

    def shade(self, share: float) -> Any:
        """A colour of the ramp, from 0 (as the background) to 1."""
        return self.colormap()(share)

    def colormap(self) -> Colormap:
        """The ramp as matplotlib wants it."""
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("anchor-align", self.ramp)


THEMES = {
    "light": Theme(
        background="#ffffff",
        text="#1b1f24",
        muted="#59626d",
        faint="#d3d8de",
        accent="#a8326f",
        arms={"unaligned": "#c4500a", "aligned": "#0069a8", "rotated": "#6f4aa8", "concat": "#6b737c"},
        ramp=("#ffffff", "#c8e6f9", "#96caed", "#6aaede", "#3d91cd", "#0774b5", "#005994", "#003e6e", "#0b2545"),
    ),
    "dark": Theme(
        background="#14171c",
        text="#e8ebee",
        muted="#a7b0ba",
        faint="#3b424b",
        accent="#f09ac4",
        arms={"unaligned": "#ff9152", "aligned": "#5bb8f5", "rotated": "#c3a1f7", "concat": "#a9b1ba"},
        ramp=("#14171c", "#183047", "#1a4a72", "#226799", "#2e86be", "#42a5e1", "#69c4fe", "#a9e2ff", "#f2fbff"),
    ),
}


def get_theme(name: str) -> Theme:
    """A theme by name."""
    return THEMES[check_choice("theme", name, tuple(THEMES))]


def check_figures() -> None:
    """Refuse to go on without matplotlib, naming the extra that brings it."""
    try:
        import matplotlib  # noqa: F401  # whether it is there is the question
    except ImportError as error:
        raise missing_extra("Figures", "matplotlib", "report") from error


@contextmanager
def style(theme: Theme) -> Iterator[None]:
    """Matplotlib's settings while a figure is made or saved; the user's own are put back, and never mixed in."""
    check_figures()
    import matplotlib.style
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    settings: dict[str, Any] = {
        # Comes with matplotlib: the same picture on every machine.
        "font.family": ["DejaVu Sans", *(name for name in FALLBACK_FONTS if name in known)],
        "font.size": NORMAL,
        "axes.titlesize": NORMAL,
        "axes.labelsize": SMALL,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "text.parse_math": False,
        "text.color": theme.text,
        "axes.labelcolor": theme.muted,
        "axes.titlecolor": theme.text,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "axes.edgecolor": theme.muted,
        "axes.facecolor": theme.background,
        "figure.facecolor": theme.background,
        "savefig.facecolor": "auto",
        "axes.linewidth": 0.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.unicode_minus": True,
        "xtick.major.width": 0.5,
        "ytick.major.width": 0.5,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "lines.solid_capstyle": "round",
        "svg.hashsalt": "anchor-align",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
    }
    with matplotlib.style.context(["default", settings]):
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that is on no list of open ones; to be called within :func:`style`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03)  # type: ignore[union-attr, call-arg]
    return figure


def message_figure(message: str, theme: Theme, width: float) -> Figure:
    """A figure that says why there is none."""
    with style(theme):
        figure = new_figure(width, 0.7)
        figure.text(0.5, 0.5, message, ha="center", va="center", color=theme.muted, wrap=True)
    return figure


def bare(axes: Axes) -> None:
    """Take away frame and marks."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def figure_bytes(figure: Figure, format: str = "png", *, dpi: int = 300) -> bytes:
    """A figure as the content of a file, the same on every run: without dates, versions and random names.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    format : {"png", "svg", "pdf"}, default="png"
    dpi : int, default=300
        Pixels per inch of a PNG, and of images inside the other formats.

    Returns
    -------
    bytes

    Raises
    ------
    UnknownNameError
        If the format is none of these.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure_bytes(Figure(figsize=(1, 1)), "pdf")[:5]
    b'%PDF-'
    """
    check_choice("format", format, FORMATS)
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    file = io.BytesIO()
    with style(get_theme("light")), warnings.catch_warnings():
        # Letters that no font here has are drawn as boxes; a report is not the place to complain.
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        figure.savefig(file, format=format, dpi=dpi, metadata=metadata[format])
    return file.getvalue()
