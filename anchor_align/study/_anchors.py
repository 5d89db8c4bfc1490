"""Numbers of anchors that depend on the number of clusters, or differ between views."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from ..checks import check_whole_number
from ..errors import InputError

# What a run is given: one number for all views, one for each, or None for what the adapter finds.
Anchors: TypeAlias = int | tuple[int, ...] | None
Rule: TypeAlias = int | str | Sequence[int | str]


def anchors_for(rule: Rule, n_clusters: int) -> int | tuple[int, ...]:
    """Number of anchors: a whole number, or as many times the number of clusters as "2k" says; or one for each view.

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
        return tuple(_one(each, n_clusters) for each in rule)
    return _one(rule, n_clusters)


def anchors_text(n_anchors: Anchors) -> str:
    """Number of anchors, or one for each view as the command line takes them; or that the adapter finds it."""
    if isinstance(n_anchors, tuple):
        return ",".join(map(str, n_anchors))
    return "auto" if n_anchors is None else str(n_anchors)


def _one(rule: object, n_clusters: int) -> int:
    if isinstance(rule, str):
        match = re.fullmatch(r"([1-9]\d*)?(k?)", rule.strip().lower())
        if match is None or not match[0]:
            raise InputError(f"n_anchors must be a whole number >= 1, or 'k', '2k' and so on; got {rule!r}.")
        return int(match[1] or 1) * (n_clusters if match[2] else 1)
    return check_whole_number("n_anchors", rule, least=1)
