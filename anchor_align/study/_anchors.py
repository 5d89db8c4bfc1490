"""Numbers of anchors that depend on the number of clusters."""

from __future__ import annotations

import re

from ..checks import check_whole_number
from ..errors import InputError


def anchors_for(rule: int | str, n_clusters: int) -> int:
    """Number of anchors: a whole number, or as many times the number of clusters as "2k" says.

    Examples
    --------
    >>> anchors_for(50, n_clusters=10), anchors_for("2k", n_clusters=10), anchors_for("k", n_clusters=10)
    (50, 20, 10)
    """
    if isinstance(rule, str):
        match = re.fullmatch(r"([1-9]\d*)?(k?)", rule.strip().lower())
        if match is None or not match[0]:
            raise InputError(f"n_anchors must be a whole number >= 1, or 'k', '2k' and so on; got {rule!r}.")
        return int(match[1] or 1) * (n_clusters if match[2] else 1)
    return check_whole_number("n_anchors", rule, least=1)
