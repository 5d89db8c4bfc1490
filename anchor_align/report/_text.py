"""Words and numbers as reports write them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from ..study import Setting, Summary

MINUS = "\N{MINUS SIGN}"
# Marks that turn the direction of all text after them.
TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SCORE_NAMES = {"acc": "ACC", "nmi": "NMI", "purity": "purity", "fscore": "F-score", "ari": "ARI"}


def printable(text: object) -> str:
    r"""Text of users on one line: what cannot be drawn or encoded, or turns the text around it, is left out.

    Examples
    --------
    >>> printable("two\nlines\x00")
    'two lines'
    """
    valid = str(text).encode("utf-8", "replace").decode("utf-8")
    shown = "".join(
        " " if unicodedata.category(letter) in ("Cc", "Zl", "Zp") or letter in TURNS else letter for letter in valid
    )
    return " ".join(shown.split())


def shortened(text: object, length: int) -> str:
    """At most ``length`` characters; what is left out is in the middle, because names often differ at their ends.

    Examples
    --------
    >>> shortened("a_very_long_name_of_data", 11)
    'a_ver…_data'
    """
    line = printable(text)
    if len(line) <= length:
        return line
    head = length // 2
    return f"{line[:head]}…{line[len(line) - (length - head - 1) :]}"


def score_name(score: str) -> str:
    """A score's usual name."""
    return SCORE_NAMES.get(score, printable(score))


def percent(value: float) -> str:
    """A share in percent, without the sign.

    Examples
    --------
    >>> percent(0.8812), percent(-0.0001)
    ('88.1', '0.0')
    """
    shown = f"{100 * value:.1f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown.replace("-", MINUS)


def points(value: float) -> str:
    """A difference in points, always with its sign.

    Examples
    --------
    >>> points(0.269), points(-1e-9), points(-0.012) == f"{MINUS}1.2"
    ('+26.9', '0.0', True)
    """
    shown = percent(value)
    return f"+{shown}" if value > 0 and float(shown) != 0 else shown


def p_value(p: float) -> str:
    """How a p-value follows the letter p.

    Examples
    --------
    >>> p_value(0.00195), p_value(0.2), p_value(1e-6)
    ('= 0.002', '= 0.20', '< 0.001')
    """
    if p < 0.001:
        return "< 0.001"
    return f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"


def number(value: float) -> str:
    """A setting such as lam, infinity included."""
    return "∞" if value == math.inf else f"{value:g}"


def count(n: int, what: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "repeat"), count(1200, "sample")
    ('1 repeat', '1,200 samples')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def anchors_text(n_anchors: int | None) -> str:
    """Number of anchors, or that the adapter finds it."""
    return "auto" if n_anchors is None else f"{n_anchors}"


def params_text(params: Sequence[tuple[str, object]]) -> str:
    """An adapter's settings in one line."""
    return ", ".join(f"{printable(name)} = {printable(value)}" for name, value in params)


def setting_text(setting: Setting, arm: str = "aligned") -> str:
    """A setting in full but for its data set and adapter; lam concerns the aligned arm alone."""
    lam = f"lam = {number(setting.lam)}" if arm == "aligned" else ""
    parts = [f"m = {anchors_text(setting.n_anchors)}", lam, params_text(setting.params)]
    return ", ".join(part for part in parts if part)


def setting_labels(rows: Sequence[Summary]) -> list[str]:
    """What tells apart the settings of rows of the same data set and adapter; empty where nothing does."""
    settings = [row.setting for row in rows if row.setting is not None]
    many_m = len({setting.n_anchors for setting in settings}) > 1
    many_lam = len({setting.lam for setting in settings}) > 1
    many_params = len({repr(setting.params) for setting in settings}) > 1
    labels = []
    for row in rows:
        parts = []
        if row.setting is not None:
            parts += [f"m = {anchors_text(row.setting.n_anchors)}"] * many_m
            parts += [f"lam = {number(row.setting.lam)}"] * many_lam
            parts += [params_text(row.setting.params) or "defaults"] * many_params
        labels.append(", ".join(parts))
    return labels
