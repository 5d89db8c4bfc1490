"""Numbers of anchors as users give them: whole numbers, or multiples of the number of clusters such as "2k"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from ..checks import check_whole_number
from ..errors import InputError, shown

# A number, or a multiple of the number of clusters such as "2k"; a list has one for each view.
AnchorRule: TypeAlias = int | str | Sequence[int | str]


def anchors_for(rule: AnchorRule, n_clusters: int) -> int | tuple[int, ...]:
    """Number of anchors, or one number for each view; "2k" means two anchors for each cluster.

    Examples
    --------
    >>> anchors_for(50, n_clusters=10), anchors_for("2k", n_clusters=10), anchors_for("k", n_clusters=10)
    (50, 20, 10)
    >>> anchors_for("k,2k,50", n_clusters=10), anchors_for(["k", 30], n_clusters=10)
    ((10, 20, 50), (10, 30))
    """
    if isinstance(rule, str) and "," in rule:
        rule = rule.split(",")
    if isinstance(rule, list | tuple):
        if not rule:
            raise InputError("n_anchors has an empty list; expected a number for each view.")
        return tuple(_anchors_of_view(each, n_clusters) for each in rule)
    return _anchors_of_view(rule, n_clusters)


def _anchors_of_view(rule: object, n_clusters: int) -> int:
    if isinstance(rule, str):
        match = re.fullmatch(r"([1-9]\d*)?(k?)", rule.strip().lower())
        if match is None or not match[0]:
            raise InputError(f"n_anchors must be a whole number >= 1, or 'k', '2k' and so on; got {shown(rule)}.")
        return int(match[1] or 1) * (n_clusters if match[2] else 1)
    return check_whole_number("n_anchors", rule, least=1)
