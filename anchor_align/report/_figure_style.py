"""The look of all figures, in a light and a dark theme, and the bytes of their files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..checks import check_choice, check_number
from ..errors import InputError, missing_extra
from ._arms import Arms
from ._formats import FIGURE_FORMATS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

# Widths in inches: one column of a printed page, and both.
COLUMN, PAGE = 3.5, 7.0
NARROWEST, WIDEST = 1.0, 100.0
SMALL, NORMAL = 6.5, 7.5
# Fonts, where installed, for letters that matplotlib's own font lacks.
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

    ``accent`` is the colour of no arm. ``ramp`` runs from the background to the strongest colour in equal steps of
    lightness (OKLab), so that equal steps look equal.
    """

    name: str
    background: str
    panel: str
    text: str
    muted: str
    faint: str
    accent: str
    ramp: tuple[str, ...] = field(repr=False)

    def arm(self, name: str, arms: Arms | None = None) -> str:
        """Colour of an arm; ``arms`` are all that are shown together, by default those of this package."""
        return (arms or Arms()).colour(self.name, name)

    def shade(self, share: float) -> Any:
        """A colour of the ramp, from 0 (as the background) to 1."""
        return self.colormap()(share)

    def colormap(self) -> Colormap:
        """The ramp as matplotlib wants it."""
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("anchor-align", self.ramp)


THEMES = {
    "light": Theme(
        name="light",
        background="#ffffff",
        panel="#f5f7f9",
        text="#1b1f24",
        muted="#59626d",
        faint="#d3d8de",
        accent="#a8326f",
        ramp=("#ffffff", "#c8e6f9", "#96caed", "#6aaede", "#3d91cd", "#0774b5", "#005994", "#003e6e", "#0b2545"),
    ),
    "dark": Theme(
        name="dark",
        background="#14171c",
        panel="#1c2127",
        text="#e8ebee",
        muted="#a7b0ba",
        faint="#3b424b",
        accent="#f09ac4",
        ramp=("#14171c", "#183047", "#1a4a72", "#226799", "#2e86be", "#42a5e1", "#69c4fe", "#a9e2ff", "#f2fbff"),
    ),
}


def get_theme(name: str) -> Theme:
    return THEMES[check_choice("theme", name, tuple(THEMES))]


def check_figures() -> None:
    """Raise an error that names the extra to install if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401  # only whether it can be imported counts
    except ImportError as error:
        raise missing_extra("Figures", "matplotlib", "report") from error


@contextmanager
def style(theme: Theme) -> Iterator[None]:
    """Matplotlib's settings while a figure is made or saved. The user's own settings are not used, and put back."""
    check_figures()
    import matplotlib.style
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    settings: dict[str, Any] = {
        # This font comes with matplotlib: the picture is the same on every machine.
        "font.family": ["DejaVu Sans", *(name for name in FALLBACK_FONTS if name in known)],
        **dict.fromkeys(("font.size", "axes.titlesize"), NORMAL),
        **dict.fromkeys(("axes.labelsize", "xtick.labelsize", "ytick.labelsize"), SMALL),
        "text.parse_math": False,
        **dict.fromkeys(("text.color", "axes.titlecolor"), theme.text),
        **dict.fromkeys(("axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), theme.muted),
        **dict.fromkeys(("axes.facecolor", "figure.facecolor"), theme.background),
        "savefig.facecolor": "auto",
        **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.5),
        **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 2.5),
        **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
        "axes.unicode_minus": True,
        "lines.solid_capstyle": "round",
        "svg.hashsalt": "anchor-align",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
    }
    with matplotlib.style.context(["default", settings]):
        yield


def check_width(width: object) -> float:
    """Width of a figure in inches: not so small that nothing fits, nor so large that no memory holds it."""
    inches = check_number("width", width, least=NARROWEST)
    if inches > WIDEST:
        raise InputError(f"width must be {WIDEST:g} inches or less, got {inches:g}.")
    return inches


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that pyplot does not know; to be called within :func:`style`."""
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


def remove_frame(axes: Axes) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def slim_colour_bar(figure: Figure, image: Any, axes: Any, **options: Any) -> Any:
    """A colour bar without frame and with few marks."""
    from matplotlib.ticker import MaxNLocator

    bar = figure.colorbar(image, ax=axes, **options)
    bar.outline.set_visible(False)
    bar.locator = MaxNLocator(4)
    bar.update_ticks()
    return bar


def figure_bytes(figure: Figure, format: str = "png", *, dpi: int = 300) -> bytes:
    """The content of a file with a figure. It is the same on every run: no dates, versions or random names.

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
    check_choice("format", format, FIGURE_FORMATS)
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    file = io.BytesIO()
    with style(get_theme("light")), warnings.catch_warnings():
        # Letters that no font here has are drawn as boxes; a report needs no warning about them.
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        figure.savefig(file, format=format, dpi=dpi, metadata=metadata[format])
    return file.getvalue()
