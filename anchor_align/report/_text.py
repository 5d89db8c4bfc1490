"""Words and numbers as reports write them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from ..study import LAM_ARMS, Setting, Summary
from ..study._anchors import anchors_text as anchors_text

MINUS = "\N{MINUS SIGN}"
NOTHING = "\N{EN DASH}"
DUST = 1e-10  # a difference of scores below this comes from rounding
# Marks that turn the direction of all text after them.
TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SCORE_NAMES = {"acc": "ACC", "nmi": "NMI", "purity": "purity", "fscore": "F-score", "ari": "ARI"}

_ASCII = str.maketrans({"±": "+-", MINUS: "-", NOTHING: "-", "—": "-", "…": "..."})


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
    """A score in percent.

    Examples
    --------
    >>> percent(0.91951)
    '92.0'
    """
    return f"{round(100 * value, 1) + 0.0:.1f}".replace("-", MINUS)


def points(value: float) -> str:
    """A difference of scores in points, with its sign.

    Examples
    --------
    >>> points(0.2691), points(0.0001), points(0.0)
    ('+26.9', '+0.0', '0.0')
    """
    # The sign of a small end of an interval is what the verdict follows from.
    return "0.0" if abs(value) < DUST else f"{100 * value:+.1f}".replace("-", MINUS)


def p_text(p: float | None) -> str:
    """A p-value with two digits, or that it is small.

    Examples
    --------
    >>> p_text(0.001953), p_text(0.0625), p_text(0.0001), p_text(1.0)
    ('0.002', '0.062', '<0.001', '1')
    """
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.2g}"


def interval_text(low: float | None, high: float | None) -> str:
    """Both ends of an interval, in points."""
    return NOTHING if low is None or high is None else f"{points(low)} to {points(high)}"


def number_text(value: float) -> str:
    """A setting that is a number, without digits it does not need.

    Examples
    --------
    >>> number_text(0.1), number_text(10.0), number_text(float("inf"))
    ('0.1', '10', 'inf')
    """
    return f"{value:.12g}"


def value_text(value: object) -> str:
    """Value of an adapter's setting."""
    if isinstance(value, str):
        return value
    return number_text(value) if isinstance(value, float) else repr(value)


def params_text(params: Iterable[tuple[str, object]], separator: str = ", ") -> str:
    """Settings of an adapter, or that they are its defaults.

    Examples
    --------
    >>> params_text([("alpha", 0.5), ("scale", "unit")])
    'alpha=0.5, scale=unit'
    """
    return separator.join(f"{name}={value_text(value)}" for name, value in params) or "defaults"


def option_texts(options: Iterable[tuple[str, object]]) -> list[str]:
    """How views were used, where not as by default.

    Examples
    --------
    >>> option_texts([("drop", 0.3), ("weights", (1.0, 0.5)), ("many_to_one", True)])
    ['drop 0.3', 'weights 1,0.5', 'many to one']
    """
    texts = []
    for name, value in options:
        shown = ",".join(map(number_text, value)) if isinstance(value, tuple) else value_text(value)
        texts.append(name.replace("_", " ") if value is True else f"{name} {shown}")
    return texts


def count(n: int, what: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "repeat"), count(1200, "sample")
    ('1 repeat', '1,200 samples')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def setting_text(setting: Setting, arm: str = "aligned") -> str:
    """A setting in full but for its data set and adapter; lam concerns some arms only."""
    parts = [f"m = {anchors_text(setting.n_anchors)}"]
    parts += [f"lam = {number_text(setting.lam)}"] if arm in LAM_ARMS else []
    parts += [params_text(setting.params)] if setting.params else []
    parts += option_texts(setting.options)
    return printable(", ".join(parts))


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
            parts += [f"lam = {number_text(row.setting.lam)}"] * many_lam
            parts += [params_text(row.setting.params)] * many_params
        labels.append(printable(", ".join(parts)))
    return labels


def visible(text: str) -> str:
    r"""Text in which nothing is hidden: control characters, line breaks and broken encodings are written out.

    Names come from files, and reasons from anywhere: neither may move the cursor or break a table.

    Examples
    --------
    >>> visible("a\x1b[2Jb\nc")
    'a\\x1b[2Jb\\nc'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def encodable(text: str, encoding: str) -> str:
    """Text that a console or file with this encoding can take: ASCII for signs it does not have, codes for letters.

    Examples
    --------
    >>> encodable(f"{MINUS}3.0 ± 1.2", "ascii"), encodable(f"{MINUS}3.0 ± 1.2", "latin-1")
    ('-3.0 +- 1.2', '-3.0 ± 1.2')
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_encodable_character(c, encoding) for c in text)
    return text


def _encodable_character(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return character.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return character
