"""Names, numbers and settings as reports write them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import visible as visible
from ..study import Anchors, Setting, Summary
from ..study import anchors_text as anchors_text

MINUS = "\N{MINUS SIGN}"
NOTHING = "\N{EN DASH}"
ROUNDING_ERROR = 1e-10  # differences of scores below this are no differences
# Marks that turn the direction of all text after them.
DIRECTION_MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

_SCORE_NAMES = {"acc": "ACC", "nmi": "NMI", "fscore": "F-score", "ari": "ARI"}
_ASCII = str.maketrans({"±": "+-", MINUS: "-", NOTHING: "-", "—": "-", "…": "..."})


def printable(text: object) -> str:
    r"""Text of users on one line. What cannot be drawn or encoded, or turns the text around it, is left out.

    Examples
    --------
    >>> printable("two\nlines\x00")
    'two lines'
    """
    valid = str(text).encode("utf-8", "replace").decode("utf-8")
    shown = "".join(
        " " if unicodedata.category(letter) in ("Cc", "Zl", "Zp") or letter in DIRECTION_MARKS else letter
        for letter in valid
    )
    return " ".join(shown.split())


def shortened(text: object, length: int) -> str:
    """Text of at most ``length`` characters, cut in the middle: names often differ at their ends.

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


def encodable(text: str, encoding: str) -> str:
    """Text that a console or file with this encoding can take: ASCII for signs it does not have, codes for letters.

    Examples
    --------
    >>> encodable(f"{MINUS}3.0 ± 1.2", "ascii"), encodable("3.0 ± 1.2", "latin-1")
    ('-3.0 +- 1.2', '3.0 ± 1.2')
    """
    made = []
    for character in text:
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            character = character.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
        made.append(character)
    return "".join(made)


def score_name(score: str) -> str:
    return _SCORE_NAMES.get(score, printable(score))


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
    # The verdict follows from the sign of an end of an interval, however small that end is.
    return "0.0" if abs(value) < ROUNDING_ERROR else f"{100 * value:+.1f}".replace("-", MINUS)


def p_text(p: float | None) -> str:
    """A p-value with two digits, or "<0.001".

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


def count(n: int, what: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "repeat"), count(1200, "sample")
    ('1 repeat', '1,200 samples')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def number_text(value: float) -> str:
    """A setting that is a number, without digits it does not need.

    Examples
    --------
    >>> number_text(0.1), number_text(10.0), number_text(float("inf"))
    ('0.1', '10', 'inf')
    """
    return f"{value:.12g}"


def value_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return number_text(value) if isinstance(value, float) else repr(value)


def params_text(params: Iterable[tuple[str, object]]) -> str:
    """Settings of an adapter; "defaults" if there are none.

    Examples
    --------
    >>> params_text([("alpha", 0.5), ("scale", "unit")])
    'alpha=0.5, scale=unit'
    """
    return ", ".join(f"{name}={value_text(value)}" for name, value in params) or "defaults"


def option_texts(options: Iterable[tuple[str, object]]) -> list[str]:
    """How the views were used, where this is not the default.

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


def setting_text(setting: Setting, *, with_lam: bool = True) -> str:
    """A setting without its data set and adapter; ``lam`` is there unless an arm does not depend on it."""
    parts = [f"m = {anchors_text(setting.n_anchors)}"]
    parts += [f"lam = {number_text(setting.lam)}"] if with_lam else []
    parts += [params_text(setting.params)] if setting.params else []
    parts += option_texts(setting.options)
    return printable(", ".join(parts))


def setting_labels(rows: Sequence[Summary]) -> list[str]:
    """What distinguishes the settings of rows of the same data set and adapter; empty where nothing does."""
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


@dataclass(frozen=True)
class Varying:
    """Which settings differ between rows, and which are the same in all of them.

    Attributes
    ----------
    anchors : bool
        Whether rows of one data set and adapter differ in the number of anchors.
    lam : bool
        Whether any rows differ in ``lam``.
    params : dict of set of str
        By adapter, the names of settings that rows of that adapter differ in.
    common : str
        What does not vary, for the caption; empty, or starting with "; ".
    """

    anchors: bool
    lam: bool
    params: dict[str, set[str]]
    common: str

    @property
    def any_params(self) -> bool:
        return any(self.params.values())

    def of(self, setting: Setting) -> list[tuple[str, object]]:
        """The adapter's settings that vary."""
        return [(name, value) for name, value in setting.params if name in self.params[setting.adapter]]


def varying(settings: Iterable[Setting]) -> Varying:
    rows = list(settings)
    anchors: dict[tuple[str, str], set[Anchors]] = {}
    values: dict[str, list[dict[str, str]]] = {}
    for setting in rows:
        anchors.setdefault((setting.dataset, setting.adapter), set()).add(setting.n_anchors)
        values.setdefault(setting.adapter, []).append({name: repr(value) for name, value in setting.params})
    params = {
        adapter: {name for each in given for name in each if len({other.get(name) for other in given}) > 1}
        for adapter, given in values.items()
    }
    lams = {setting.lam for setting in rows}
    common = [f"lam {number_text(lam)}" for lam in lams] if len(lams) == 1 else []
    common += option_texts(rows[0].options) if rows else []  # all rows of a study have the same options
    shared: dict[str, list[str]] = {}
    for adapter, names in params.items():
        first = next(setting for setting in rows if setting.adapter == adapter)
        same = [(name, value) for name, value in first.params if name not in names]
        if same:
            shared.setdefault(params_text(same), []).append(adapter)
    common += [f"{', '.join(adapters)} with {text}" for text, adapters in shared.items()]
    return Varying(
        anchors=any(len(found) > 1 for found in anchors.values()),
        lam=len(lams) > 1,
        params=params,
        common="".join(f"; {text}" for text in common),
    )
